"""What lies beside the page: figures, tables, and the claims for other documents."""

from __future__ import annotations

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import altair as alt
import polars as pl
import pytest

from recombine import __version__
from recombine.errors import InputError
from recombine.reporting import claims_latex, claims_markdown, write_study
from recombine.reporting.escaped import markdown_text
from recombine.reporting.export import measured_parts, measured_text
from recombine.reporting.latex import latex_text
from recombine.reporting.study import write_results
from recombine.statistics import Interval
from recombine.studies import cells
from recombine.studies.claims import ClaimResult, Test
from recombine.studies.study import StudyResult

CELLS = cells("accuracy", "final")


@pytest.fixture(scope="module")
def written(result: StudyResult, tmp_path_factory: pytest.TempPathFactory) -> Path:
    page = write_study(result, tmp_path_factory.mktemp("study") / "out")
    assert page.name == "index.html"
    return page.parent


def test_every_figure_is_there_for_two_columns_and_for_one(written: Path, result: StudyResult) -> None:
    for figure in result.study.figures:
        stem = written / "figures" / figure.id
        ET.parse(stem.with_suffix(".svg"))
        assert stem.with_suffix(".pdf").read_bytes().startswith(b"%PDF-")
        assert pl.read_csv(stem.with_suffix(".csv")).height == result.tables[figure.table].height
        assert json.loads(stem.with_suffix(".vl.json").read_text())["datasets"]
        narrow = ET.parse(stem.with_name(f"{figure.id}-column.svg")).getroot()
        assert float(narrow.attrib["width"]) == 312, "3.25 inches at 96 pixels per inch"
        scale = 0.75 * 312 / float(narrow.attrib["viewBox"].split()[2])
        sizes = [float(e.attrib["font-size"][:-2]) for e in narrow.iter() if e.tag.endswith("text")]
        assert min(sizes) * scale >= 6, "points, so that it can be read in print"
        assert stem.with_name(f"{figure.id}-column.pdf").read_bytes().startswith(b"%PDF-")


def test_tables_and_claims_come_back_as_they_were(written: Path, result: StudyResult) -> None:
    for name, table in result.tables.items():
        assert pl.read_parquet(written / "tables" / f"{name}.parquet").equals(table)
    assert json.loads((written / "claims.json").read_text()) == json.loads(result.to_json())


def test_committed_results_are_tables_claims_and_each_figure_once(
    written: Path, result: StudyResult, tmp_path: Path
) -> None:
    """No page: it can be made again from them."""
    few = replace(result, study=replace(result.study, figures=result.study.figures[:1]))
    write_results(few, tmp_path)
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    tables = {f"tables/{name}.parquet" for name in result.tables}
    texts = {"claims.json", "claims.md", "claims.tex", "study.json"}
    assert found == {f"figures/{result.study.figures[0].id}.svg", "figures/claims.svg"} | tables | texts
    for name in found:
        assert (tmp_path / name).read_bytes() == (written / name).read_bytes(), name


def test_nothing_half_written_is_left(written: Path) -> None:
    assert [path for path in written.rglob("*") if path.name.startswith(".")] == []


def test_a_figure_that_cannot_be_drawn_leaves_the_earlier_page(written: Path, result: StudyResult) -> None:
    before = (written / "index.html").read_bytes()
    broken = replace(result.study.figures[0], table="curvs")
    with pytest.raises(InputError, match="did you mean 'curves'"):
        write_study(replace(result, study=replace(result.study, figures=(broken,))), written)
    assert (written / "index.html").read_bytes() == before


def test_a_table_whose_name_is_no_file_name_is_refused(result: StudyResult, tmp_path: Path) -> None:
    bare = replace(
        result, study=replace(result.study, figures=()), claims=(), tables={"../up": pl.DataFrame({"a": [1]})}
    )
    with pytest.raises(InputError, match="cannot name a file"):
        write_study(bare, tmp_path / "out")
    assert not (tmp_path / "up.parquet").exists()


def test_a_result_draws_and_saves_itself(result: StudyResult, tmp_path: Path) -> None:
    assert repr(result).startswith("<StudyResult: gradient-toy at quick scale. Of 4 claims of the paper 3 hold and")
    assert isinstance(result.plot(), alt.LayerChart)
    assert ET.parse(result.save(tmp_path / "claims.svg")).getroot().tag.endswith("svg")
    small = replace(result, study=replace(result.study, figures=()))
    assert "<h1>" in small.save(tmp_path / "page.html").read_text()


def test_markdown_is_one_row_a_claim(result: StudyResult) -> None:
    text = claims_markdown(result.claims)
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert len(lines) == 2 + len(result.claims)
    assert lines[2].startswith("| wrong-quarter: After 1024 steps")
    assert "- stable: The boundary keeps moving" in text
    assert {line.replace("\\|", "").count("|") for line in lines} == {9}
    assert lines[2].endswith("| ✓ holds, no published figure |")
    assert lines[4].endswith("| ✓ holds, direction only |")
    assert lines[5].endswith("| ✗ fails |")


def test_latex_is_a_booktabs_table_bold_only_where_a_claim_holds(result: StudyResult) -> None:
    text = claims_latex(result.claims, "100 % & more", "tab:gradient_toy")
    lines = text.partition(r"\endfoot")[2].replace("\\addlinespace\n", "").splitlines()[1:-2]
    assert [place for place, line in enumerate(lines) if r"\emph" in line] == [0, 9], "the paper's four, then ours"
    rows, below = ([line for line in lines if sign in line] for sign in (" & ", "footnotesize"))
    assert len(rows) == len(below) == len(result.claims)
    assert [line.endswith("*") for line in lines] == [line not in below for line in lines], "no page ends there"
    assert [r"\textbf" in row for row in rows] == [claim.status == "holds" for claim in result.claims]
    assert all(row.replace(r"\&", "").count("&") == 4 for row in rows)
    figure, bounds = measured_parts(result.claims[0])
    assert rf"\textbf{{{latex_text(figure)}\newline {latex_text(bounds)}}}" in rows[0]
    for part in (r"\toprule", r"\midrule", r"\bottomrule", r"\caption{100\,\% \& more}", r"\label{tab:gradient-toy}"):
        assert part in text
    assert "X$_2$" in text
    assert rf"{{{latex_text(str(result.claims[0].claim.test.criterion))}}}" in below[0]


def test_a_long_latex_table_breaks_over_pages_and_a_short_one_does_not(result: StudyResult) -> None:
    short, long = (claims_latex((result.claims * 2)[:count], "many", "tab:x") for count in (3, 4))
    assert r"\begin{tabular}" in short
    assert "longtable" not in short
    assert long.count(r"\begin{longtable}") == long.count(r"\endhead") == long.count("booktabs,array,longtable") == 1
    assert "tabular" not in long


def test_what_would_be_shown_as_zeros_alone_is_shown_in_powers(result: StudyResult) -> None:
    tiny = replace(result.claims[0], figure=Interval(2e-9, 1e-9, 3e-9))
    assert measured_text(tiny) == "2e−09 [1e−09, 3e−09]"


@pytest.mark.parametrize(("test", "figure", "shown"), [
    (CELLS.above(0), (0.15, 0.01, 0.3), "0.15 [0.01, 0.30]"),
    (CELLS.above(0), (0.15, -0.01, 0.3), "0.1 [0.0, 0.3]"),
    (CELLS.below(0.5, nothing=0.5), (0.31, 0.12, 0.4996), "0.3100 [0.1200, 0.4996]"),
    (CELLS.near(0.1, theory=1.0), (0.8962, 0.8, 0.99), "0.896 [0.800, 0.990]"),
])  # fmt: skip
def test_a_figure_is_rounded_so_that_its_criterion_judges_what_is_shown_as_it_judged_the_figure(
    result: StudyResult, test: Test, figure: tuple[float, float, float], shown: str
) -> None:
    claim = replace(result.claims[0].claim, test=test)
    assert measured_text(replace(result.claims[0], claim=claim, figure=Interval(*figure))) == shown


def test_markdown_says_of_which_paper_runs_and_version_it_is(written: Path, result: StudyResult) -> None:
    caption, *_ = (text := (written / "claims.md").read_text()).splitlines()
    for part in (
        f"Made with recombine {__version__}: study gradient-toy at quick scale, 2 runs.", result.address,
        "Published: Yuanpeng Li, Gradient Descent Resists Compositionality, OpenReview (2022) https://",
    ):  # fmt: skip
        assert part in caption
    assert markdown_text(result.command) in caption
    assert text.endswith("\n}\n```\n")
    assert "@misc{li2022gradient," in text
    assert "@misc{recombine," in text
    cited = (written / "claims.bib").read_text()
    assert cited == text.partition("```bibtex\n")[2].removesuffix("```\n"), "one source"
    assert all(f"% {line.strip()}\n" in (written / "claims.tex").read_text() for line in cited.splitlines())


def test_text_stays_text() -> None:
    assert markdown_text("a|b *c* _d_ [e](f) <g>\nh `i`") == r"a\|b \*c\* \_d\_ \[e\](f) \<g\> h \`i\`"
    assert markdown_text("- a-b --seed") == r"\- a-b \-\-seed"
    assert markdown_text("----") == r"\-\-\-\-"


def test_a_claim_nobody_could_judge_shows_dashes(result: StudyResult) -> None:
    nothing = ClaimResult(
        result.claims[0].claim, Interval(float("nan"), float("nan"), float("nan"), ()), 0, 8, "not fitted"
    )
    row = claims_markdown([nothing]).splitlines()[2]
    assert "| paper | – | – | 0 of 8 fitted |" in row


def test_no_floor_above_imports_the_drawing_library() -> None:
    code = "import sys, recombine.studies.study, recombine.result; print('altair' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "False\n"
