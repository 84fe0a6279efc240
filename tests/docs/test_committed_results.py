"""What README and docs say of the committed results is what the committed results say."""

from __future__ import annotations

import importlib.util
import json
import re
from datetime import datetime
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest

ROOT = Path(__file__).parents[2]


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("quoted", ROOT / "docs" / "quoted.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


quoted = load()
PAGES = {str(page.relative_to(ROOT)): page for page in quoted.pages()}


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_every_quoted_figure_is_the_committed_one(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert quoted.filled(text) == text, "run `python docs/quoted.py`"
    assert text.count("<!--= ") == text.count("<!--/-->") == len(quoted.MARK.findall(text)), "a mark is not closed"


def test_the_readme_quotes_results_and_counts_every_committed_study() -> None:
    readme = PAGES["README.md"].read_text(encoding="utf-8")
    marks = quoted.MARK.findall(readme)
    assert "table" in marks
    assert len(marks) > 10, "figures of results are not typed"
    folders = {path.parent.name for path in (ROOT / "results").glob("*/study.json")}
    assert set(re.findall(r"^\| `([a-z-]+)` \|", readme, re.MULTILINE)) == folders == set(quoted.PAPERS)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    row = {"whose": "paper", "status": "holds", "how": "value matched", "measured": -0.4567, "low": -0.51, "high": 1.0}
    more = {"members": 12, "fitted": 11, "published": 0.5}
    other = {"whose": "ours", "status": "not fitted", "how": None}
    awaited = other | {"status": "not run"}
    narrow = {"whose": "", "status": "", "how": "", "measured": 0.1234, "low": 0.123, "high": 0.1238}
    table = pl.DataFrame(
        {"run": ["a b", "a b", "c"], "step": [4, 4, 4], "x": [0.1, 0.3, None], "ok": [True, False, True]}
    )
    (tmp_path / "results" / "one" / "tables").mkdir(parents=True)
    table.write_parquet(tmp_path / "results" / "one" / "tables" / "t.parquet")
    monkeypatch.setattr(quoted, "ROOT", tmp_path)
    monkeypatch.setattr(quoted, "claims", lambda study: {"c": row | more, "d": other, "e": narrow, "f": awaited})
    monkeypatch.setattr(quoted, "PAPERS", {"one": "", "two": ""})


@pytest.mark.parametrize(
    ("mark", "shown"),
    [
        ("one/c", "−.46"),
        ("-one/c", ".46"),
        ("one/c:low", "−.51"),
        ("-one/c:low", "−1.00"),
        ("-one/c:high", ".51"),
        ("one/c:range", "from −.51 to 1.00"),
        ("-one/c:range", "from −1.00 to .51"),
        ("-one/c:interval", ".46 [−1.00, .51]"),
        ("one/e:interval", ".1234 [.1230, .1238]"),  # as many decimals as the interval carries, two at least
        ("one/c:published", ".50"),
        ("one/c:members", "12"),
        ("one/c:fitted", "11"),
        ("count:paper:holds", "2"),
        ("count:paper:value-matched", "2"),
        ("count:paper:inside", "2"),
        ("count:paper:fails", "0"),
        ("count:ours:not-fitted", "2"),
        ("count:ours:not-run", "2"),
        ("count:ours:all", "4"),
        ("one@t:x:mean", ".20"),
        ("one@t:x:max:run=a_b,step=4", ".30"),
        ("one@t:x:count", "2"),
        ("one@t:ok:count:run=a_b", "1"),
    ],
)
@pytest.mark.usefixtures("told")
def test_a_mark_is_filled_in(mark: str, shown: str) -> None:
    assert quoted.filled(f"a <!--= {mark} -->old\nvalue<!--/--> b") == f"a <!--= {mark} -->{shown}<!--/--> b"


@pytest.mark.usefixtures("told")
def test_a_mark_that_names_no_claim_is_an_error() -> None:
    with pytest.raises(KeyError, match="gone"):
        quoted.filled("<!--= one/gone -->0<!--/-->")


SECONDS = re.findall(r'"([a-z-]+)": ([0-9.]+),', (ROOT / "docs" / "scale.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("study", "seconds"), SECONDS, ids=[study for study, _ in SECONDS])
def test_the_gpu_seconds_of_the_scale_page_are_the_committed_ones(study: str, seconds: str) -> None:
    """Their sum, or less where runs overlapped: not less than the time in which at least one was on the GPU."""
    runs = json.loads((ROOT / "results" / study / "study.json").read_text(encoding="utf-8"))["runs"].values()
    began = {run["address"]: datetime.fromisoformat(run["started"]).timestamp() for run in runs}
    on_gpu = sorted((run for run in runs if run["device"] == "cuda"), key=lambda run: began[run["address"]])
    busy = end = 0.0
    for run in on_gpu:
        start, stop = began[run["address"]], began[run["address"]] + run["seconds"]
        busy += max(0.0, stop - max(start, end))
        end = max(end, stop)
    assert busy - 1 <= float(seconds) <= sum(run["seconds"] for run in on_gpu) + 0.05
