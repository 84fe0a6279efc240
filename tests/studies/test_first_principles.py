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
from recombine.studies.first_principles.evidence import beside, follows, foretold, ranked, recovered, recovered_all
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


def test_ranks_count_members_that_a_row_lacks() -> None:
    names = ["orthogonal", "orthogonal-monolithic", "alpha"]
    whole = _networks({name: [ROWS[name].r2] * 4 for name in names})
    gone = (pl.col("run") == "alpha") & (pl.col("member") == 1)
    lost = whole.with_columns(pl.when(gone).then(float("nan")).otherwise("r2_all").alias("r2_all")).filter(
        ~((pl.col("run") == "alpha") & (pl.col("member") == 3))
    )
    found = ranked("r2_all", "published_r2")({"networks": lost, "published": published(whole)})
    assert (found.groups, found.members) == (((1.0, 1.0),), 4)


def _told(holds: dict[str, list[float]], fails: dict[str, list[float]]) -> dict[str, pl.DataFrame]:
    networks = _networks({name: [1 - loss for loss in values] for name, values in (holds | fails).items()})
    verdicts = pl.DataFrame(
        {"run": [*holds, *fails], "family": ["vectors"] * (len(holds) + len(fails)),
         "promises": [True] * len(holds) + [False] * len(fails)}
    )  # fmt: skip
    return {"networks": networks, "verdicts": verdicts}


def test_a_verdict_is_judged_over_settings() -> None:
    """One bad setting among four, the same with every seed: that is one value, not eight."""
    tables = _told(
        {f"h{i}": [0.01 * i] * 8 for i in range(4)}, {f"f{i}": [0.01 * i + 0.3 * (i == 0)] * 8 for i in range(4)}
    )
    found = foretold(["vectors"], "promises")(tables)
    assert found.groups == (pytest.approx((0, 0.01, 0.02, 0.03)), pytest.approx((0.3, 0.01, 0.02, 0.03)))
    claim = next(claim for claim in STUDY.claims if claim.id == "verdict-vectors")
    assert claim.evaluate(tables).status == "fails"
    every = _told({f"h{i}": [0.01 * i] * 8 for i in range(4)}, {f"f{i}": [0.01 * i + 0.3] * 8 for i in range(4)})
    assert claim.evaluate(every).status == "holds"


def test_a_setting_of_which_few_fitted_is_not_averaged_in() -> None:
    tables = _told({f"h{i}": [0.1] * 4 for i in range(5)}, {f"f{i}": [0.2] * 4 for i in range(5)})
    lost = (pl.col("run") == "f0") & (pl.col("member") < 2)
    tables["networks"] = tables["networks"].with_columns((pl.col("fitted") & ~lost).alias("fitted"))
    found = foretold(["vectors"], "promises")(tables)
    assert [len(group) for group in found.groups] == [5, 4]
    assert (found.fitted, found.members) == (4, 5)


def test_a_run_beside_another_and_errors_that_go_together() -> None:
    networks = _networks({"a": [0.9, 0.8, 0.7], "b": [0.5, 0.7, 0.1]})
    assert beside("a", "b", "r2_all")({"networks": networks}).groups[0] == pytest.approx((0.4, 0.1, 0.6))
    lost = networks.with_columns(fitted=~((pl.col("run") == "b") & (pl.col("member") == 0)))
    found = beside("a", "b", "r2_all")({"networks": lost})
    assert (found.groups[0], found.members) == (pytest.approx((0.1, 0.6)), 3)
    fit = pl.DataFrame(
        [{"run": "a", "member": m, "step": s, "seen": 2.0**-s, "unseen": 2.0 ** (s * (-3 if m else 3))}
         for m in range(2) for s in range(4)]
    )  # fmt: skip
    assert follows("a")({"networks": networks, "fit": fit}).groups[0] == pytest.approx((-1, 1))


def test_errors_of_two_components_are_paired_by_member() -> None:
    """Component 1 is worse by .1 in every member; one error is missing on either side."""
    rows = [{"run": "a", "component": k, "member": m, "error": m + 0.1 * k} for k in (0, 1) for m in range(4)]
    rows[1]["error"], rows[6]["error"] = None, float("nan")
    tables = {"networks": _networks({"a": [0.9] * 4}), "recovery": pl.DataFrame(rows)}
    found = recovered("a", [0, 1])(tables)
    assert found.groups == (pytest.approx((0, 3)), pytest.approx((0.1, 3.1)))
    assert (found.fitted, found.members) == (2, 4)
    assert recovered_all("a", [0, 1])(tables).groups[0] == pytest.approx((0.1, 3.1))


def test_collapsed_members_are_counted_as_a_share() -> None:
    claim = next(claim for claim in STUDY.claims if claim.id == "alpha-collapses")
    networks = _networks({"alpha": [0.9] * 3}, fitted=False)
    assert claim.evaluate({"networks": networks}).status == "fails"
    two = claim.evaluate({"networks": networks.with_columns(collapsed=pl.col("member") < 2)})
    assert (two.status, two.fitted, two.members) == ("holds", 3, 3)
    assert 0 < two.figure.low < two.figure.mean < two.figure.high < 1
