"""Names, levels and predictions that hold programs or paths are shown as text, and make no path of their own."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest
import torch
from texts import LEVELS, TEXTS, assert_harmless

import recombine  # noqa: F401 - says how results are drawn
from recombine.checks import CheckResult, check
from recombine.cli import main
from recombine.errors import InputError
from recombine.figures.cache import cached_in
from recombine.figures.export import file_name as figure_file_name
from recombine.mechanisms import MeasureResult, measure_predictions
from recombine.models import Perceptron
from recombine.reporting import write_study
from recombine.reporting.measured import write_measured
from recombine.structure import Dissection, MaskSettings, Protocol, dissect, grid
from recombine.studies import Claim, Figure, Notes, Paper, Published, Study, StudyResult, cells
from recombine.tasks import Problems

FIRST, SECOND = TEXTS["script"], TEXTS["path"]


def predictions() -> pl.DataFrame:
    """Every two of the texts as a combination; half of them seen, the answers and predictions texts as well."""
    pairs = list(itertools.product(LEVELS, LEVELS))
    rng = np.random.default_rng(0)
    answer = [LEVELS[(i + j) % 3] for i, j in itertools.product(range(len(LEVELS)), repeat=2)]
    said = [a if rng.random() < 0.6 else LEVELS[4 + k % 3] for k, a in enumerate(answer)]
    part = ["test" if k % 2 else "train" for k in range(len(pairs))]
    columns = {FIRST: [a for a, _ in pairs], SECOND: [b for _, b in pairs], "y": answer, "p": said, "part": part}
    return pl.DataFrame(columns)


@pytest.fixture(scope="module", autouse=True)
def drawn_once(drawings: Path) -> Iterator[None]:
    with cached_in(drawings):
        yield


@pytest.fixture(scope="module")
def checked() -> CheckResult:
    return check(predictions(), [FIRST, SECOND], target="y", split="part=test")


@pytest.fixture(scope="module")
def measured() -> MeasureResult:
    return measure_predictions(predictions(), [FIRST, SECOND], target="y", prediction="p", split="part=test")


@pytest.fixture(scope="module")
def dissection() -> Dissection:
    def problems(column: int) -> Problems:
        x = torch.randn(60, 2, generator=torch.Generator().manual_seed(column))
        targets = (x[:, column] > 0).long()
        x[:, 1 - column] = 0
        return Problems(x, targets)

    net = Perceptron(widths=(2, 2))
    model = net()
    with torch.no_grad():
        model[0].weight.copy_(torch.tensor([[-1.0, -1.0], [1.0, 1.0]]))  # type: ignore[index,operator,union-attr]
        model[0].bias.zero_()  # type: ignore[index,operator,union-attr]
    protocol = Protocol(settings=grid(starts=(0.05,), lrs=(0.05,), base=MaskSettings(epochs=1)), seeds=1)
    return dissect(
        model, problems(0), problems(1), names=(FIRST, TEXTS["attribute"]), protocol=protocol, controls=False
    )


@pytest.fixture(scope="module")
def study() -> StudyResult:
    from recombine.figures import members

    table = pl.DataFrame(
        {"run": FIRST, "setting": LEVELS * 3, "member": range(len(LEVELS) * 3), "value": [0.5] * len(LEVELS) * 3}
    )
    said = TEXTS["script"] + TEXTS["template"] + TEXTS["latex"]
    paper = Paper(said, said, 2020, said, TEXTS["link"])
    fails = cells("value", "t").below()
    claim = Claim("c", said, fails, published=Published(0.5, said), source=said, unit=said)
    figure = Figure("f", said, said, "t", lambda t: members(t, value="value", group="setting"))
    notes = Notes(deviations=(said,), reasons={"c": (said, said)})
    declared = Study(
        "hostile",
        said,
        said,
        paper,
        {"smoke": None},
        lambda *_: {},
        {"t": "members"},
        (claim,),
        (figure,),
        notes=notes,
        says=said,
        file=said,
    )
    provenance = {"run": {"address": "0" * 64, "command": said, "commit": said, "device": said}}
    tables = {"t": table}
    return StudyResult(declared, "smoke", declared.judge(tables, {}), tables, provenance)


def everything_below(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


@pytest.mark.parametrize("name", ["checked", "measured", "dissection"])
def test_a_page_shows_texts_as_text(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    result: Any = request.getfixturevalue(name)
    page = assert_harmless(result.save(tmp_path / "page.html").read_text(encoding="utf-8"))
    assert "<script>document" in page.text
    assert len(page.text) < 400_000
    drawing = result.save(tmp_path / "picture.svg").read_text(encoding="utf-8")
    assert_harmless(drawing)
    for element in ElementTree.fromstring(drawing).iter():
        assert element.tag.rpartition("}")[2] not in ("script", "foreignObject", "a")
    json.loads(result.save(tmp_path / "data.json").read_text(encoding="utf-8"))
    assert {path.name for path in everything_below(tmp_path)} == {"page.html", "picture.svg", "data.json"}


def test_the_files_of_a_measured_learner(measured: MeasureResult, tmp_path: Path) -> None:
    out = tmp_path / "out"
    page = assert_harmless(write_measured(measured, out).read_text(encoding="utf-8"), beside=True)
    assert "<script>document" in page.text
    assert {path.relative_to(out).parts[0] for path in everything_below(out)} == {
        "index.html", "figures", "tables", "measure.json",
    }  # fmt: skip
    assert set(tmp_path.iterdir()) == {out}
    for file in out.rglob("*.tex"):
        assert "\\input" not in file.read_text(encoding="utf-8")
    table = pl.read_csv(out / "tables" / "combinations.csv", infer_schema=False)
    # Data as they are, but for what a spreadsheet would calculate.
    assert set(table[FIRST]) == {f"'{text}" if text.startswith("=") else text for text in LEVELS}


def test_the_files_of_a_study(study: StudyResult, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert [claim.status for claim in study.claims] == ["fails"]  # so that its explanation is shown
    page = assert_harmless(write_study(study, out).read_text(encoding="utf-8"), beside=True)
    assert page.text.count("<script>document") >= 12
    assert "Would settle it: <script>document" in page.text
    assert set(tmp_path.iterdir()) == {out}
    assert "\\input" not in (out / "claims.tex").read_text(encoding="utf-8")
    assert "<script" not in (out / "claims.md").read_text(encoding="utf-8").replace("\\<", "")
    for file in out.rglob("*.svg"):
        assert_harmless(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["../up", "a/b", "", ".", "..", "a\0b", "C:\\x", "x" * 5000])
def test_no_name_of_a_table_or_figure_becomes_a_path(study: StudyResult, tmp_path: Path, name: str) -> None:
    out, bare = tmp_path / "deep" / "out", replace(study.study, figures=(), claims=(), notes=Notes())
    with pytest.raises(InputError, match="cannot name a file"):
        write_study(replace(study, study=bare, claims=(), tables={name: study.tables["t"]}), out)
    with pytest.raises(InputError, match="cannot name a file"):
        figure_file_name(name)
    assert {path.name for path in tmp_path.rglob("*") if path.is_dir()} <= {"deep", "out", "figures", "tables"}
    assert len(list(tmp_path.iterdir())) <= 1


@pytest.mark.parametrize("verb", ["check", "measure"])
def test_a_terminal_is_not_steered(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.chdir(tmp_path)
    names = ["[bold]a[/]", "\u202eb\x1b[31m"]
    predictions().rename({FIRST: names[0], SECOND: names[1]}).write_parquet("t.parquet")
    more = ["--prediction", "p"] if verb == "measure" else []
    with pytest.raises(SystemExit) as ended:
        main([verb, "t.parquet", "--factors", ",".join(names), "--target", "y", "--split", "part=test", *more])
    said = capsys.readouterr()
    assert ended.value.code == 0
    assert "[bold]a[/]" in said.out
    assert "\\u202eb\\x1b[31m" in said.out
    steering = [c for c in said.out if not c.isprintable() and c != "\n"]
    assert steering == []
    assert len(said.out) < 100_000
    assert set(tmp_path.iterdir()) == {tmp_path / "t.parquet"}


def test_an_error_is_one_printable_line_of_bounded_length(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pl.DataFrame({text: ["x"] for text in LEVELS}).write_parquet(tmp_path / "t.parquet")
    for factors in ("absent", TEXTS["terminal"] + "absent", "x" * 100_000):
        with pytest.raises(SystemExit) as ended:
            main(["check", str(tmp_path / "t.parquet"), "--factors", factors])
        err = capsys.readouterr().err
        assert ended.value.code == 2
        assert err.count("\n") == 1
        assert err.removesuffix("\n").isprintable()
        assert len(err) < 20_000


def test_in_a_browser_nothing_runs_and_nothing_is_loaded(
    opened: Any,
    checked: CheckResult,
    measured: MeasureResult,
    dissection: Dissection,
    study: StudyResult,
    tmp_path: Path,
) -> None:
    results: dict[str, Any] = {"check": checked, "measure": measured, "dissect": dissection}
    files = [result.save(tmp_path / f"{name}.html") for name, result in results.items()]
    files.append(checked.save(tmp_path / "check.svg"))
    files.append(write_study(study, tmp_path / "study"))
    for file in files:
        with opened(file.as_uri()) as tab:
            for cell in tab.locator(".cells td").all()[:: len(LEVELS) + 1]:
                cell.hover()
                assert ":" in tab.locator(".said").inner_text()
            assert tab.title() != "owned"
        loaded = [url for url in tab.asked if url != file.as_uri() and not url.startswith("data:image/")]
        assert tab.said + loaded == [], file.name
    assert "owned" not in sys.modules
