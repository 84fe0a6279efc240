"""The first-principles study: the published table, its runs at every scale, its tables by hand, and the whole at
smoke scale."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from recombine.models import Compositional, Upsampler
from recombine.runs import Store
from recombine.studies import SCALES, StudyResult, conduct, find_study
from recombine.studies.first_principles import STUDY, runs
from recombine.studies.first_principles.evidence import beside, follows, foretold, ranked
from recombine.studies.first_principles.rows import ROWS
from recombine.studies.first_principles.sprite_runs import PAPER_STEPS, TABLE
from recombine.studies.first_principles.tables import published
from recombine.tasks import SpriteTask
from recombine.tasks.sprites import HardOcclusion, Over, SoftOcclusion


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> StudyResult:
    return conduct(STUDY, "smoke", store=Store(tmp_path_factory.mktemp("store")), members=2, device="cpu")


def test_it_is_found_by_name() -> None:
    assert find_study("first-principles") is STUDY


def test_runs_are_described_at_every_scale() -> None:
    for scale in SCALES:
        found = runs(scale, None)
        assert len({run.address for run in found.values()}) == len(found)
    quick: dict[str, Any] = dict(runs("quick", None))
    assert all(run.members >= 8 for name, run in quick.items() if name != "verdicts")


def test_paper_scale_is_the_papers_setting_and_begins_with_the_published_rows() -> None:
    found: dict[str, Any] = dict(runs("paper", None))
    assert list(found)[: len(ROWS)] == list(ROWS)
    orthogonal, alone = found["orthogonal"], found["orthogonal-monolithic"]
    task = orthogonal.task
    assert isinstance(task, SpriteTask)
    assert (task.side, task.raster, task.samples) == (64, "pil", 100_000)
    assert task.composition == HardOcclusion()
    model = orthogonal.model
    assert isinstance(model, Compositional)
    assert model.composition == SoftOcclusion()
    assert sum(p.numel() for p in model().parameters()) == 554_950
    assert sum(p.numel() for p in alone.model().parameters()) == 587_779
    assert isinstance(alone.model, Upsampler)
    alpha = found["alpha"].model
    assert alpha.composition == Over()
    assert sum(p.numel() for p in alpha().parameters()) == 277_604
    assert TABLE["paper"].steps == PAPER_STEPS == orthogonal.steps
    assert TABLE["paper"].batch == 512


def test_claims_have_ids_sources_and_no_value_is_asked_of_a_short_training() -> None:
    ids = [claim.id for claim in STUDY.claims]
    assert len(set(ids)) == len(ids)
    assert all(claim.source for claim in STUDY.claims)
    assert {f"row-{name}" for name in ROWS} <= set(ids)
    assert not any(str(claim.criterion).startswith("value") for claim in STUDY.claims)


def test_smoke_judges_every_claim_and_draws_every_figure(result: StudyResult) -> None:
    assert [claim.claim.id for claim in result.claims] == [claim.id for claim in STUDY.claims]
    status = {claim.claim.id: claim.status for claim in result.claims}
    assert status["row-orthogonal"] == status["vector-composes"] == "not fitted"
    for figure in STUDY.figures:
        assert figure.draw(figure.rows(result.tables[figure.table])) is not None


def test_smoke_has_verdicts_before_training(result: StudyResult) -> None:
    told = {row["run"]: row for row in result.tables["verdicts"].iter_rows(named=True)}
    assert told["vector"]["promises"]
    assert not told["gap"]["A2"]
    assert not told["vector-gap-40"]["promises"]
    assert not told["alpha"]["A3"]
    assert told["orthogonal"]["support_holds"]
    assert not told["orthogonal"]["A0"]


def test_a_claim_without_its_runs_is_not_fitted() -> None:
    assert {claim.evaluate({}).status for claim in STUDY.claims} == {"not fitted"}


def _networks(values: dict[str, list[float]], fitted: bool = True) -> pl.DataFrame:
    rows = [
        {"run": run, "kind": run, "family": "vectors", "member": i, "fitted": fitted, "collapsed": False,
         "r2_all": value, "r2_batches_all": value, "mse_all": 1 - value, "loss": 1 - value}
        for run, members in values.items() for i, value in enumerate(members)
    ]  # fmt: skip
    return pl.DataFrame(rows)


def test_published_stands_beside_measured() -> None:
    table = published(_networks({"orthogonal": [0.5, 0.7], "alpha": [0.9, 0.9]}))
    row = table.row(0, named=True)
    assert (row["published_r2"], row["r2"], row["members"]) == pytest.approx((0.951, 0.6, 2))
    assert row["r2_low"] < 0.6 < row["r2_high"]


def test_ranks_follow_the_published_order_or_reverse_it() -> None:
    names = ["orthogonal", "orthogonal-monolithic", "alpha"]
    right = _networks({name: [ROWS[name].r2, ROWS[name].r2 / 2] for name in names})
    tables = {"networks": right, "published": published(right)}
    assert ranked("r2_all", "published_r2")(tables).groups == ((1.0, 1.0),)
    wrong = _networks({name: [-ROWS[name].r2] * 2 for name in names})
    assert ranked("r2_all", "published_r2")({"networks": wrong, "published": published(wrong)}).groups == (
        (-1.0, -1.0),
    )


def test_what_a_verdict_foretold() -> None:
    networks = _networks({"a": [0.9, 0.8], "b": [0.5, 0.5]})
    verdicts = pl.DataFrame({"run": ["a", "b"], "family": ["vectors"] * 2, "promises": [True, False]})
    found = foretold(["vectors"], "promises")({"networks": networks, "verdicts": verdicts})
    assert sorted(found.groups[0]) == pytest.approx([0.3, 0.4])


def test_a_run_beside_another_and_errors_that_go_together() -> None:
    networks = _networks({"a": [0.9, 0.8], "b": [0.5, 0.7]})
    assert beside("a", "b", "r2_all")({"networks": networks}).groups[0] == pytest.approx((0.3, 0.2))
    fit = pl.DataFrame(
        [{"run": "a", "member": m, "step": s, "seen": 2.0**-s, "unseen": 2.0 ** (s * (-3 if m else 3))}
         for m in range(2) for s in range(4)]
    )  # fmt: skip
    assert follows("a")({"networks": networks, "fit": fit}).groups[0] == pytest.approx((-1, 1))
