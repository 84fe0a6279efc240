"""The page of all studies: an answer in one screen, a chapter per paper, what was committed beside what is fresh."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from markupsafe import escape

import recombine as rc
from recombine.errors import InputError
from recombine.reporting import overview_page, study_page, write_overview
from recombine.reporting.overview import overall
from recombine.studies.study import StudyResult

Make = Callable[..., Any]


@pytest.fixture(scope="module")
def two(result: StudyResult) -> list[StudyResult]:
    other = replace(result, study=replace(result.study, name="other", title="Another: paper", says="It says <so>."))
    return [result, other]


@pytest.fixture(scope="module")
def page(two: list[StudyResult]) -> str:
    return overview_page(two)


def test_every_study_has_a_card_and_a_chapter(page: str, two: list[StudyResult]) -> None:
    assert page.count('<article class="card">') == page.count('<section class="chapter"') == 2
    for result in two:
        assert f'<h2 id="{result.study.name}">' in page
        assert f'href="{result.study.name}/index.html"' in page
    assert "It says &lt;so&gt;." in page


def test_headings_are_in_order_and_identifiers_unique(page: str) -> None:
    levels = [int(level) for level in re.findall(r"<h([1-6])", page)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    ids = re.findall(r'\sid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(ids)


def test_the_page_runs_and_loads_nothing(page: str) -> None:
    assert "<script" not in page
    assert not re.findall(r'src="', page)
    assert all(not link.startswith("//") for link in re.findall(r'href="([^"]+)"', page))


def test_the_counts_of_all_studies_are_added_up(page: str, two: list[StudyResult]) -> None:
    """The papers' apart from ours."""
    told = overall(two)
    assert told.startswith(
        "Of 8 claims of the papers 6 hold and 2 fail. 0 of the 2 that hold beside a published figure match its value. "
        "Of 2 questions of ours 0 hold and 2 could not be judged"
    )
    assert str(escape(told)) in page
    (papers, ours) = (result.counts(whose) for result in two[:1] for whose in ("paper", "ours"))
    assert papers == {"holds": 3, "fails": 1, "open": 0, "not fitted": 0, "not run": 0}
    assert ours == {"holds": 0, "fails": 0, "open": 0, "not fitted": 1, "not run": 0}
    (card, *_) = re.findall(r'<article class="card">.*?</article>', page, re.DOTALL)
    lines = re.findall(r"<p><span class=.fine.>(?:The paper|Ours).*", card)
    verdicts = [" ".join(unescape(re.sub("<[^>]*>", "", line)).split()) for line in lines]
    assert verdicts == ["The paper's: ✓ 3 hold ✗ 1 fails", "Ours: – 1 not fitted"]


@pytest.mark.parametrize("scale", ["smoke", "quick", "paper"])
def test_committed_verdicts_stand_beside_fresh_ones_of_a_smaller_scale(
    two: list[StudyResult], scale: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = next(claim.claim.id for claim in two[0].claims if claim.status == "holds")
    second = next(claim.claim.id for claim in two[0].claims if claim.status != "holds")
    carried = {
        "gradient-toy": {
            first: {"status": "fails", "how": None, "measured": 123.0, "low": 120.0, "high": 126.0},
            second: {"status": "not fitted", "how": None, "measured": None, "low": None, "high": None},
            "no longer declared": {"status": "holds"},
        },
        "a study that has gone": {"x": {"status": "holds"}},
    }
    monkeypatch.setattr("recombine.reporting.study.carried", lambda: carried)
    bare = [replace(one, scale=scale, study=replace(one.study, figures=())) for one in two]
    shown = 0 if scale == "paper" else 1
    pages = (study_page(bare[0]), overview_page(bare))
    own, overview = (" ".join(re.sub("<[^>]*>", "", page).split()) for page in pages)
    assert own.count("at paper scale: ") == 2 * shown
    assert own.count("at paper scale: ✗ fails, 123 [120, 126]") == shown
    assert own.count("at paper scale: – not fitted, –") == overview.count("at paper scale: ") == shown
    assert "at paper scale: " not in study_page(bare[1])


def test_writing_gives_one_page_and_one_a_study(two: list[StudyResult], tmp_path: Path) -> None:
    few = [replace(one, study=replace(one.study, figures=one.study.figures[:1]), claims=one.claims[:2]) for one in two]
    page = write_overview(few, tmp_path)
    assert page == tmp_path / "index.html"
    for link in re.findall(r'href="([^"#:]+)"', page.read_text(encoding="utf-8")):
        assert (tmp_path / link).is_file(), link


def test_what_failed_is_explained_once_and_what_was_run_is_said(page: str, two: list[StudyResult]) -> None:
    failed = [claim for claim in two[0].claims if claim.status != "holds"]
    assert failed
    assert page.count("<summary>What did not replicate or could not be judged, and why: 2 of 5 claims") == len(two)
    (explained,) = (claim for claim in failed if claim.explanation)
    assert page.count(str(escape(explained.explanation))) == page.count(str(escape(explained.settles))) == len(two)
    assert page.count("2 runs of 256 members on cpu (2 cores), 81.0 s of computing.") == len(two)


def test_the_picture_of_a_card_is_the_lead_figure_in_short(result: StudyResult) -> None:
    curves = next(figure for figure in result.study.figures if figure.table == "curves")
    unseen = pl.col("curve").str.starts_with("unseen")
    study = replace(result.study, figures=(curves,), in_short=lambda rows: rows.filter(unseen))
    card, _, chapter = overview_page([replace(result, study=study, claims=())]).partition('class="chapter"')
    # X₂ is set with an index, so the text before it ends there.
    assert ">unseen, X<" in card
    assert ">seen, X<" not in card
    assert "<svg" not in chapter  # figures are on the page of the study
    (width,) = re.findall(r'viewBox="0 0 ([\d.]+)', card)
    assert float(width) <= 360


def test_where_nothing_is_left_in_short_all_is_shown(result: StudyResult) -> None:
    study = replace(result.study, figures=result.study.figures[:1], in_short=lambda rows: rows.clear())
    assert '<article class="card">' in overview_page([replace(result, study=study, claims=())])


def test_nothing_to_show_is_an_error() -> None:
    with pytest.raises(InputError, match="at least one"):
        overview_page([])


def test_report_takes_a_result_several_or_a_folder(
    result: StudyResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrote: list[tuple[Any, Path]] = []
    for name in ("write_study", "write_overview"):
        monkeypatch.setattr(f"recombine.reporting.overview.{name}", lambda what, out: wrote.append((what, out)) or out)
    assert rc.report(result, tmp_path) == tmp_path / "gradient-toy"
    assert rc.report([result, result], str(tmp_path)) == tmp_path
    rc.report(Path(__file__).parents[2] / "results" / "gradient-toy")
    assert wrote[:2] == [(result, tmp_path / "gradient-toy"), ([result, result], tmp_path)]
    ((committed,), where) = wrote[2]
    assert (committed.study.name, committed.scale, where) == ("gradient-toy", "paper", Path("recombine-report"))
    checked = rc.check({"one": ["a", "a", "b"], "two": ["x", "y", "x"]}, factors=["one", "two"])
    assert rc.report(checked, tmp_path).read_text("utf-8").startswith("<!")
    with pytest.raises(InputError, match="holds no results of a study"):
        rc.report(tmp_path / "nowhere")
    with pytest.raises(InputError, match="a page is made of results"):
        rc.report(["gradient-toy"])  # type: ignore[list-item]
