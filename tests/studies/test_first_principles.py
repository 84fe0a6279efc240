"""The first-principles study: the paper's own setting, and its derived tables and claims by hand."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from recombine.models import Compositional, Upsampler
from recombine.studies.first_principles import STUDY
from recombine.studies.first_principles.runs import LONG, ROWS
from recombine.studies.first_principles.tables import follows, foretold, published, ranks, verdicts
from recombine.tasks import SpriteTask
from recombine.tasks.sprites import HardOcclusion, Over, SoftOcclusion

R2 = {name: row.published[0] for name, row in ROWS.items() if row.published}
THREE = ("orthogonal", "orthogonal-monolithic", "alpha")


def test_paper_scale_is_the_papers_setting_and_begins_with_the_published_rows() -> None:
    settings = STUDY.planned("paper")
    found: dict[str, Any] = {name: setting.run for name, setting in settings.items()}
    assert list(found)[: len(ROWS)] == list(ROWS)
    orthogonal, alone = found["orthogonal"], found["orthogonal-monolithic"]
    task, model, alpha = orthogonal.task, orthogonal.model, found["alpha"].model
    assert isinstance(task, SpriteTask)
    assert (task.side, task.raster, task.samples) == (64, "pil", 100_000)
    assert task.composition == HardOcclusion()
    assert isinstance(model, Compositional)
    assert isinstance(alone.model, Upsampler)
    assert (model.composition, alpha.composition) == (SoftOcclusion(), Over())
    counts = [sum(p.numel() for p in described().parameters()) for described in (model, alone.model, alpha)]
    assert counts == [554_950, 587_779, 277_604]
    assert orthogonal.batch_size == 512
    assert settings["orthogonal"].faithful is not None
    shares = settings["orthogonal"].faithful.shares(orthogonal)
    assert (shares.steps, shares.members, shares.data, shares.size) == pytest.approx((1 / 392, 0.6, 1, 1))


def test_only_published_rows_have_a_setting_of_the_papers() -> None:
    for scale in STUDY.scales:
        known = {name for name, setting in STUDY.planned(scale).items() if setting.faithful}
        assert known == {*ROWS, *LONG} & STUDY.planned(scale).keys()


def _networks(values: dict[str, list[float]], fitted: bool = True, family: str = "vectors") -> pl.DataFrame:
    rows: list[dict[str, Any]] = [
        {"run": run, "kind": run, "family": family, "support": "orthogonal", "member": i, "fitted": fitted,
         "collapsed": False, "r2_id": 1.0, "r2_all": value, "r2_ood": value, "r2_batches_all": value,
         "mse_all": 1 - value, "loss": 1 - value}
        for run, members in values.items() for i, value in enumerate(members)
    ]  # fmt: skip
    return pl.DataFrame(rows)


def _judged(name: str, tables: dict[str, pl.DataFrame]) -> Any:
    return next(claim for claim in STUDY.claims if claim.id == name).evaluate(tables)


def test_published_stands_beside_measured() -> None:
    table = published(_networks({"orthogonal": [0.5, 0.7], "alpha": [0.9, 0.9]}))
    row = table.row(0, named=True)
    assert (row["published_r2"], row["r2"], row["members"]) == pytest.approx((0.951, 0.6, 2))
    assert row["r2_low"] < 0.6 < row["r2_high"]


def test_ranks_follow_the_published_order_or_reverse_it() -> None:
    right = _networks({name: [R2[name], R2[name] / 2] for name in THREE}, family="sprites")
    assert ranks(right, published(right))["r2"].to_list() == pytest.approx([1, 1])
    wrong = _networks({name: [-R2[name]] * 2 for name in THREE}, family="sprites")
    assert ranks(wrong, published(wrong))["r2"].to_list() == pytest.approx([-1, -1])


def test_ranks_with_and_without_collapsed_members() -> None:
    """Member 1 collapses in the row that is published as the best: over the other rows it is in order."""
    names = (*THREE, "random")
    gone = (pl.col("run") == "alpha") & (pl.col("member") == 1)
    networks = _networks({name: [R2[name]] * 2 for name in names}, family="sprites").with_columns(
        gone.alias("collapsed")
    )
    networks = networks.with_columns(r2_all=pl.when(gone).then(-1.0).otherwise("r2_all"))
    found = ranks(networks, published(networks)).sort("member")
    assert found["r2"].to_list() == pytest.approx([1, -0.2])
    assert found["r2_kept"].to_list() == pytest.approx([1, 1])
    assert found["rows_kept"].to_list() == [4, 3]


def test_ranks_count_members_that_a_row_lacks() -> None:
    whole = _networks({name: [R2[name]] * 4 for name in THREE}, family="sprites")
    alpha, member = pl.col("run") == "alpha", pl.col("member")
    lost = whole.with_columns(r2_all=pl.when(alpha & (member == 1)).then(float("nan")).otherwise("r2_all"))
    found = _judged("ranked-r2", {"ranks": ranks(lost.filter(~(alpha & (member == 3))), published(whole))})
    assert (found.figure.values, found.members) == (pytest.approx((1, 1)), 4)


def _told(holds: dict[str, list[float]], fails: dict[str, list[float]]) -> dict[str, pl.DataFrame]:
    networks = _networks({name: [1 - loss for loss in values] for name, values in (holds | fails).items()})
    count, others = len(holds), len(fails)
    assumptions = pl.DataFrame(
        {"run": "verdicts", "setting": [*holds, *fails], "composition": "addition", "promises": True, "A0": True,
         "A1": True, "A2": [True] * count + [False] * others, "A3": True, "A4": None, "verdict": ""}
    )  # fmt: skip
    return {"networks": networks, "foretold": foretold(verdicts(assumptions, networks), networks)}


def test_a_verdict_is_judged_over_settings() -> None:
    """One bad setting among four, the same with every seed: that is one value, not eight."""
    holds = {f"h{i}": [0.01 * i] * 8 for i in range(4)}
    found = _judged("verdict-vectors", _told(holds, {f"f{i}": [0.01 * i + 0.3 * (i == 0)] * 8 for i in range(4)}))
    assert (found.status, found.members, found.figure.mean) == ("fails", 4, pytest.approx(0.075))
    every = _told(holds, {f"f{i}": [0.01 * i + 0.3] * 8 for i in range(4)})
    assert _judged("verdict-vectors", every).status == "holds"


def test_a_setting_with_an_unknown_assumption_is_in_neither_group() -> None:
    tables = _told({f"h{i}": [0.1] * 4 for i in range(3)}, {f"f{i}": [0.2] * 4 for i in range(3)})
    unknown = (pl.col("run") == "h0").alias("unknown")
    assumptions = tables["foretold"].select("run", *(f"A{i}" for i in range(5))).unique(maintain_order=True)
    known = assumptions.with_columns(A3=pl.when(unknown).then(None).otherwise("A3")).rename({"run": "setting"})
    known = known.with_columns(run=pl.lit("verdicts"), promises=True)
    told = verdicts(known, tables["networks"])
    assert told["holds"].to_list() == [None, True, True, False, False, False]
    assert told["support_holds"].to_list() == [None, True, True, False, False, False]
    tables["foretold"] = foretold(told.with_columns(verdict=pl.lit("")), tables["networks"])
    assert _judged("verdict-vectors", tables).members == 2


def test_a_setting_that_did_not_fit_is_not_averaged_in() -> None:
    tables = _told({f"h{i}": [0.1] * 4 for i in range(5)}, {f"f{i}": [0.2] * 4 for i in range(5)})
    lost = (pl.col("run") == "f0") & (pl.col("member") < 2)
    tables["foretold"] = tables["foretold"].with_columns(fitted=pl.col("fitted") & ~lost)
    found = _judged("verdict-vectors", tables)
    assert (found.fitted, found.members) == (4, 5)


def test_what_a_gap_costs_is_compared_by_member() -> None:
    networks = _networks(
        {"gap-shifted": [0.9, 0.8], "shifted": [0.95, 0.85], "gap-plain": [0.3, 0.1], "soft": [0.5, 0.4]}
    )
    found = _judged("shift-closes-gap", {"networks": networks})
    assert found.figure.values == pytest.approx((0.15, 0.25))


def test_errors_that_go_together() -> None:
    fit = pl.DataFrame(
        [{"run": "vector", "kind": "", "member": m, "fitted": True, "step": s, "seen": 2.0**-s,
          "unseen": 2.0 ** (s * (-3 if m else 3))} for m in range(2) for s in range(4)]
    )  # fmt: skip
    assert follows(fit).sort("member")["correlation"].to_list() == pytest.approx([-1, 1])
    assert follows(fit.filter(pl.col("step") < 2))["correlation"].null_count() == 2


def test_errors_of_two_components_are_paired_by_member() -> None:
    """Component 0 is worse by .1 in every member; one error is missing on either side."""
    rows: list[dict[str, Any]] = [
        {"run": "vector-gap-40", "component": k, "member": m, "fitted": True, "error": m + 0.1 * (1 - k)}
        for k in (0, 1)
        for m in range(4)
    ]
    rows[1]["error"], rows[6]["error"] = None, float("nan")
    table = pl.DataFrame(rows)
    found = _judged("gap-hurts-its-component", {"recovery": table})
    assert (found.figure.mean, found.fitted, found.members) == (pytest.approx(0.1), 2, 4)
    worse = _judged("vector-recovered", {"recovery": table.with_columns(run=pl.lit("vector"))})
    assert worse.figure.values == pytest.approx((0.1, 3.1))


def test_collapsed_members_are_counted_as_a_share() -> None:
    networks = _networks({"alpha": [0.9] * 3}, fitted=False)
    assert _judged("alpha-collapses", {"networks": networks}).status == "fails"
    one, two = (
        _judged("alpha-collapses", {"networks": networks.with_columns(collapsed=pl.col("member") < n)}) for n in (1, 2)
    )
    assert (one.status, two.status, two.fitted, two.members) == ("fails", "holds", 3, 3)
    assert 0 < two.figure.low < two.figure.mean < two.figure.high < 1
