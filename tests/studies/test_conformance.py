"""What every study must do: run small, draw, verify itself, and claim nothing that cannot fail."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from recombine.reporting import study_page
from recombine.reporting.html import inline_svg
from recombine.studies import SCALES, STUDIES, Claim, Notes, StudyResult, cells, rising, run_study, verify
from recombine.studies.claims import Value
from recombine.studies.committed import carried, read_results, read_tables, verdicts
from recombine.studies.conformance import unfailing
from recombine.studies.study import Study
from recombine.studies.variation import asked

RESULTS = Path(__file__).parents[2] / "results"
MEMBERS = 2
"""As in the tests of the command line, so that what is trained there is not trained here."""


@pytest.fixture(scope="module", params=list(STUDIES))
def study(request: pytest.FixtureRequest) -> Study[Any]:
    return STUDIES[request.param]


@pytest.fixture(scope="module")
def smoke(study: Study[Any], shared_store: Path) -> StudyResult:
    members = MEMBERS if asked(study, "smoke", MEMBERS) else None  # as many as there are is refused
    return run_study(study, "smoke", store=shared_store, members=members, device="cpu")


@pytest.fixture(scope="module")
def results(study: Study[Any]) -> StudyResult:
    return read_results(RESULTS / study.name)


def test_it_runs_at_smoke_scale_and_judges_every_claim(study: Study[Any], smoke: StudyResult) -> None:
    assert [claim.claim.id for claim in smoke.claims] == [claim.id for claim in study.claims]
    assert [c.claim.id for c in smoke.claims if c.status == "not run" and not c.explanation] == []
    assert set(smoke.provenance) == set(study.runs("smoke", MEMBERS))
    for name in study.tables:
        if name in smoke.tables:
            assert smoke.tables[name].columns[0] == "run"
            assert not smoke.tables[name].is_empty(), name


def test_its_figures_and_page_are_drawn(study: Study[Any], smoke: StudyResult,
                                        monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """Each for both widths, of which one is rendered: the narrow one is a specification of the same marks."""

    def wide_alone(wide: Any, narrow: Any, alt_text: str, name: str) -> Any:
        assert narrow.spec["config"]
        return inline_svg(wide, alt_text, name)

    monkeypatch.setattr("recombine.reporting.drawing.responsive", wide_alone)
    page = study_page(smoke, links=False)
    assert study.title.split(":")[0] in page
    assert page.count("<figure") >= len(study.figures)


def test_fresh_results_verify(smoke: StudyResult, committed: Callable[[StudyResult], Path]) -> None:
    found = verify(smoke.study, committed(smoke))
    assert found.problems == ()
    assert found.claims == len(smoke.claims)
    assert found.compared > 0


def test_scales_and_addresses(study: Study[Any]) -> None:
    planned = {scale: study.runs(scale) for scale in SCALES}
    for scale, runs in planned.items():
        assert len({run.address for run in runs.values()}) == len(runs), scale
    assert {r.address for r in study.runs("smoke", 5).values()} == {r.address for r in study.runs("smoke", 5).values()}


def test_names_are_given_once(study: Study[Any]) -> None:
    for names in ([c.id for c in study.claims], [f.id for f in study.figures]):
        assert len(set(names)) == len(names)
    ids = {claim.id for claim in study.claims}
    assert set(study.notes.reasons) <= ids, set(study.notes.reasons) - ids
    assert set(study.notes.captions) <= {figure.id for figure in study.figures}
    assert study.notes.deviations


REFERS = re.compile(
    r"So (it|they|does|do)\b|There,? |They |It (does|do|generalizes|resembles|foretells|puts|turns) |… |And |But "
    r"|With(out)? it\b|That part|Among them"
)
"""How a sentence begins that goes on from the one before."""


def test_a_claim_is_understood_by_itself(study: Study[Any]) -> None:
    """Figures and exports put claims in another order, or show one alone."""
    referring = [claim.sentence for claim in study.claims if REFERS.match(claim.sentence)]
    assert not referring


def test_every_claim_can_fail(study: Study[Any], results: StudyResult) -> None:
    assert unfailing(study, results.tables, tries=3) == []  # what holds on two of three is tried on twenty more


def test_committed_claims_and_tables_are_what_the_study_says(study: Study[Any], results: StudyResult,
                                                             monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """All of `study verify` but the member that it trains again."""
    monkeypatch.setattr("recombine.studies.verification._again", lambda *_: ("none", 1, [], False))
    monkeypatch.setattr("recombine.studies.verification.read_results", lambda *_: results)  # read once, just now
    assert verify(study, RESULTS / study.name).problems == ()


def test_what_does_not_hold_is_explained(results: StudyResult) -> None:
    open_ = [c for c in results.claims if c.status != "holds"]
    assert [c.claim.id for c in open_ if not (c.explanation and c.settles)] == []


def test_published_figures_are_published(study: Study[Any]) -> None:
    for claim in study.claims:
        told = f"{claim.source} {claim.published.where if claim.published else ''}"
        assert "fact sheet" not in told
        released = claim.published is not None and claim.published.read_from == "released"
        valued = claim.test.criterion
        # A question of ours asks for a published value of other runs than those nearest to the paper's.
        assert claim.whose == "paper" or claim.published is None or released or isinstance(valued, Value), claim.id
        assert not isinstance(valued, Value) or claim.published is not None or valued.theory is not None


def test_the_package_carries_the_committed_verdicts() -> None:
    assert carried() == json.loads(json.dumps(verdicts(RESULTS)))


TOY = STUDIES["gradient-toy"]
"""What is planted is no study's: only its name is."""


def test_an_order_of_two_columns_can_fail_where_one_is_the_larger_in_every_row() -> None:
    """Dealt among rows each column keeps its mean; a sum that is the larger by its formula is still found."""
    rows = pl.DataFrame({"run": ["a"] * 8, "member": range(8), "before": [5.0 + i for i in range(8)],
                         "after": [0.1 * i for i in range(8)]})  # fmt: skip
    falls = Claim("falls", "It falls.", rising(cells("after", "made"), cells("before", "made"),
                                               names=("after", "before"), pair="member"))  # fmt: skip
    always = Claim("always", "It rises.", rising(cells("after", "made"), cells(pl.col("after") + 9, "made"),
                                                 names=("x", "more"), pair="member"))  # fmt: skip
    planted = replace(TOY, claims=(falls, always), tables={"made": next(iter(TOY.tables.values()))}, derived={},
                      notes=Notes(), figures=())  # fmt: skip
    assert [u.claim for u in unfailing(planted, {"made": rows})] == ["always"]


def test_a_planted_claim_that_cannot_fail_is_found() -> None:
    """A quantity that is large whatever the tables hold: the conformance suite must say so."""
    tables = read_tables(TOY, RESULTS / TOY.name)
    large = [5.0 + 0.1 * i for i in range(8)]
    made = {"made": (lambda t: pl.DataFrame({"run": t["run"][:8], "member": range(8), "x": large}),
                     next(iter(TOY.tables)))}  # fmt: skip
    claim = Claim("always", "It is large.", cells("x", "made").above(1.0, nothing=0.0))
    planted = replace(TOY, claims=(claim,), derived=made, notes=Notes(), figures=())
    assert [(u.claim, u.where) for u in unfailing(planted, tables)] == [("always", "nothing")]
