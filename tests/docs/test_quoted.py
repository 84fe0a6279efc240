"""Marks of ``docs/quoted.py`` that read tables and records of runs, on results made up here."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("quoted_here", ROOT / "docs" / "quoted.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    folder = tmp_path / "results" / "one"
    (folder / "tables").mkdir(parents=True)
    claim = {"id": "c", "measured": 0.99942, "low": 0.9993, "high": 0.9995, "members": 8, "fitted": 7}
    (folder / "claims.json").write_text(json.dumps({"claims": [claim]}), encoding="utf-8")
    run = {"members": 4, "steps": 200, "strategy": "captured", "device": "cuda", "seconds": 19.6}
    runs = {"a": run, "b": run | {"device": "cpu"}, "c": run | {"seconds": 1.2}}
    (folder / "study.json").write_text(json.dumps({"runs": runs}), encoding="utf-8")
    rows = {
        "run": ["a", "a", "a", "b"],
        "layers": ["stage_4|readout", "stage_[34]|readout", r"layers\.3\.", "all of them"],
        "step": [4, 4, 8, 8],
        "passed": [True, False, True, None],
        "gap": [-0.5, -0.25, -0.001, None],
    }
    pl.DataFrame(rows).write_parquet(folder / "tables" / "masks.parquet")
    looks = {"look": ["a b", "c"], "value": [0.25, 1.0], "low": [-0.125, 1.0], "high": [0.5, 1.0]}
    pl.DataFrame(looks).write_parquet(folder / "tables" / "looks.parquet")
    (tmp_path / "benchmarks" / "results").mkdir(parents=True)
    planted = (
        "| kind | right | all | share |\n|---|---|---|---|\n| a b | 9 of 10 | 12 | 0.5 |\n| c | 7 of 9 | 3 | – |\n"
    )
    (tmp_path / "benchmarks" / "results" / "planted.md").write_text(planted, encoding="utf-8")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "PAPERS", {"one": ""})
    return module


@pytest.mark.parametrize(
    ("mark", "shown"),
    [
        ("one@masks:gap:mean", "−.25"),
        ("one@masks:gap:mean.4", "−.2503"),
        ("one@masks:gap:mean:run=a,step=4", "−.38"),
        ("one@masks:gap:mean.3:run=a,step=4", "−.375"),
        ("one@masks:gap:min:run=a", "−.50"),
        ("one@masks:gap:max:run=a", ".00"),
        ("one@masks:gap:count", "3"),
        ("one@masks:passed:count:run=a", "2"),
        ("one@masks:passed:count:layers^stage_[34]", "0"),
        ("one@masks:layers:count:layers=all_of_them", "1"),
        ("one@masks:layers:count:layers=stage_4|readout", "1"),
        ("one@masks:layers:count:layers^stage_", "2"),
        (r"one@masks:layers:count:layers^layers\.", "1"),
        ("one@masks:run:n_unique", "2"),
        ("one@looks:value:interval:look=a_b", ".25 [−.12, .50]"),
        ("one/c", ".99942"),
        ("one/c:measured.3", ".999"),
        ("one/c:interval.2", "1.00 [1.00, 1.00]"),
        ("run:one/a:members", "4"),
        ("run:one/a:seconds", "20"),
        ("run:one/a:strategy", "captured"),
        ("runs:all", "3"),
        ("runs:cuda", "2"),
        ("seconds:one", "21"),
        ("benchmark:planted:a_b:3", ".5"),
        ("benchmark:planted:all:1", "16 of 19"),
        ("benchmark:planted:all:2", "15"),
    ],
)
def test_a_figure_of_a_table_or_of_a_run_is_filled_in(quoted: ModuleType, mark: str, shown: str) -> None:
    assert quoted.filled(f"a <!--= {mark} -->0<!--/--> b") == f"a <!--= {mark} -->{shown}<!--/--> b"


@pytest.mark.parametrize("mark", ["one@masks:gap:count:run=gone", "run:one/gone:steps", "one/gone",
                                  "benchmark:planted:gone:1"])  # fmt: skip
def test_what_is_not_there_is_an_error_and_never_a_zero(quoted: ModuleType, mark: str) -> None:
    with pytest.raises(KeyError, match="gone"):
        quoted.filled(f"<!--= {mark} -->0<!--/-->")


def test_an_interval_is_of_one_row(quoted: ModuleType) -> None:
    with pytest.raises(KeyError, match="no counts in column 0"):
        quoted.filled("<!--= benchmark:planted:all:0 -->0<!--/-->")
    with pytest.raises(KeyError, match="has 2 rows"):
        quoted.filled("<!--= one@looks:value:interval -->0<!--/-->")


def test_no_mark_begins_a_line() -> None:
    """A comment at the beginning of a line ends the paragraph; the table of studies and the entries are meant to."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
    lines = (line.lstrip() for page in pages for line in page.read_text(encoding="utf-8").splitlines())
    meant = {"<!--= table -->", "<!--= bibtex -->"}
    assert [line for line in lines if line.startswith("<!--= ") and line not in meant] == []


def _list(quoted: ModuleType, *rows: str) -> None:
    folder = quoted.ROOT / "docs" / "printed"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "one.csv").write_text("\n".join(["where,what,printed,within,ours,note", *rows]), encoding="utf-8")


def test_every_printed_figure_stands_beside_ours_or_its_cost(quoted: ModuleType) -> None:
    ours = "masks:gap:run=a"  # −.5, −.25 and −.001
    _list(quoted, f"F,near,-.3,0.1,{ours},", f"F,far,-.5,0.1,{ours},tried", f"F,times,-.2,x1.3,{ours},",
          f"F,one of them,-.4,among,{ours},", f"G,half,.875,0.01,{ours.replace('gap', 'gap*0.5+1')},",
          f"G,signed,-.3,sign,{ours},", "G,not run,2,0.1,,left::3 GPU h",
          "G,no figure,2,0.1,,missed::tried", f"G,the same anyway,-.3,among,{ours},no test::why",
          f"G h,as rounded,0.00,among,{ours},", f"G h,beyond rounding,0.000,among,{ours},tried",
          f"G h,from a half to 1.1,-.5,x2:1.1,{ours},", f"G h,not to 1.3,-.2,x2:1.1,{ours},tried")  # fmt: skip
    counts = {"matched": 6, "missed": 4, "left": 1, "not-told": 1, "no-test": 1, "all": 13, "all:F": 4, "all:-F": 9,
              "matched:G_h": 2, "missed:G_h": 2, "missed:-G_h": 2, "outside": 0}  # fmt: skip
    for verdict, count in counts.items():
        mark = f"<!--= printed:one:{verdict} -->"
        assert quoted.filled(f"{mark}<!--/-->") == f"{mark}{count}<!--/-->"
    shown = quoted.filled("<!--= printed:one --><!--/-->")
    assert "**F**" in shown
    assert "| far | −.5 | −.250 [−.870, .369] | missed (± .1): tried |" in shown
    assert "| one of them | −.4 | −.500 to −.001 | matched |" in shown
    assert "| not run | 2 |  | left: 3 GPU h |" in shown
    assert "| the same anyway | −.3 | −.500 to −.001 | no test: why |" in shown
    told = [quoted._outside({"within": "0.1", "printed": at}, [0.4, 0.41, 0.42]) for at in ("0.41", "0.45")]
    assert told == [False, True]
    with pytest.raises(KeyError, match="no heading"):
        quoted.filled("<!--= printed:one:matched:Gone --><!--/-->")


@pytest.mark.parametrize("row", ["F,far,-.5,0.1,masks:gap:run=a,", "F,left,2,0.1,,left::much", "F,x,2,0.1,,no test::"])
def test_a_printed_figure_without_a_reason_or_a_cost_is_an_error(quoted: ModuleType, row: str) -> None:
    _list(quoted, row)
    with pytest.raises(KeyError, match="no reason, or no cost"):
        quoted.filled("<!--= printed:one --><!--/-->")


@pytest.mark.parametrize("row", ["F,far,-.5,0.1,masks:gap:run=a,tried, and again", "F,far,-.5,0.1,masks:gap:run=a"])
def test_a_row_that_a_comma_split_is_an_error(quoted: ModuleType, row: str) -> None:
    _list(quoted, row)
    with pytest.raises(KeyError, match="fields"):
        quoted.filled("<!--= printed:one --><!--/-->")
