"""The first-principles study: the paper's own setting, and its derived tables and claims by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import polars as pl
import pytest

from recombine.models import Compositional, Upsampler
from recombine.studies.first_principles import STUDY
from recombine.studies.first_principles.figures import _rows, _rows_show
from recombine.studies.first_principles.runs import FAR, LONG, LONG_STEPS, PAPER_STEPS, ROWS, WHOLE
from recombine.studies.first_principles.tables import (
    follows,
    foretold,
    jumps,
    modes,
    published,
    ranks,
    verdicts,
)
from recombine.tasks import SpriteTask
from recombine.tasks.sprites import HardOcclusion, Over, SoftOcclusion

R2 = {name: row.published[0] for name, row in ROWS.items() if row.published}
THREE = ("orthogonal", "orthogonal-monolithic", "alpha")


def test_paper_scale_is_the_papers_setting_and_begins_with_the_published_rows() -> None:
    settings = STUDY.planned("paper")
    found: dict[str, Any] = {name: setting.run for name, setting in settings.items()}
    assert list(found)[: len(ROWS)] == list(LONG)
    orthogonal, alone = found["orthogonal-long"], found["orthogonal-monolithic-long"]
    task, model, alpha = orthogonal.task, orthogonal.model, found["alpha-long"].model
    assert isinstance(task, SpriteTask)
    assert (task.side, task.raster, task.samples) == (64, "pil", 100_000)
    assert task.composition == HardOcclusion()
    assert isinstance(model, Compositional)
    assert isinstance(alone.model, Upsampler)
    assert (model.composition, alpha.composition) == (SoftOcclusion(), Over())
    counts = [sum(p.numel() for p in described().parameters()) for described in (model, alone.model, alpha)]
    assert counts == [554_950, 587_779, 277_604]
    assert orthogonal.batch_size == 512
    assert settings["orthogonal-long"].faithful is not None
    shares = settings["orthogonal-long"].faithful.shares(orthogonal)
    assert (shares.steps, shares.members, shares.data, shares.size) == pytest.approx((40 / 392, 1, 1, 1))


def test_only_published_rows_have_a_setting_of_the_papers() -> None:
    for scale in STUDY.scales:
        known = {name for name, setting in STUDY.planned(scale).items() if setting.faithful}
        assert known == {*ROWS, *LONG, *FAR, *WHOLE} & STUDY.planned(scale).keys()


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


def _rho(networks: pl.DataFrame, column: str = "r2") -> list[float]:
    """By member; every row of the table that was ranked says the same."""
    found = ranks(networks, published(networks)).select("member", column).unique().sort("member")
    return found[column].to_list()


def test_ranks_follow_the_published_order_or_reverse_it() -> None:
    assert _rho(_networks({name: [R2[name], R2[name] / 2] for name in THREE})) == pytest.approx([1, 1])
    assert _rho(_networks({name: [-R2[name]] * 2 for name in THREE})) == pytest.approx([-1, -1])


def test_ranks_with_and_without_collapsed_members() -> None:
    """Member 1 collapses in the row that is published as the best: over the other rows it is in order."""
    names = (*THREE, "random")
    gone = (pl.col("run") == "alpha") & (pl.col("member") == 1)
    networks = _networks({name: [R2[name]] * 2 for name in names}, family="sprites").with_columns(
        gone.alias("collapsed")
    )
    networks = networks.with_columns(r2_all=pl.when(gone).then(-1.0).otherwise("r2_all"))
    assert _rho(networks) == pytest.approx([1, -0.2])
    assert _rho(networks, "r2_kept") == pytest.approx([1, 1])
    assert _rho(networks, "rows_kept") == [4, 3]


def test_ranks_are_of_the_members_that_every_row_has() -> None:
    """Rows have unequally many; one of those that all have has no figure, and counts as asked."""
    whole = _networks({name: [R2[name]] * (3 if name == "alpha" else 4) for name in THREE}, family="sprites")
    lost = (pl.col("run") == "alpha") & (pl.col("member") == 1)
    networks = whole.with_columns(r2_all=pl.when(lost).then(float("nan")).otherwise("r2_all"))
    found = _judged("ranked-r2", {"ranks": ranks(networks, published(networks))})
    assert (found.figure.values, found.members) == (pytest.approx((1, 1)), 3)


def test_every_published_row_has_a_tenth_of_the_steps_and_a_claim_by_value() -> None:
    planned = STUDY.planned("paper")
    assert set(LONG) == {f"{name}-long" for name in ROWS}
    for name, part in LONG.items():
        run: Any = planned[name].run
        assert (run.steps, run.members) == (LONG_STEPS, part.members)
        assert run.steps / PAPER_STEPS >= 0.1
    ids = {claim.id for claim in STUDY.claims}
    by_mode = {"long-diagonal-05-high", "long-diagonal-05-low"}
    assert {*(f"long-{name}" for name in ROWS if name != "diagonal-05"), *by_mode} <= ids


@pytest.mark.parametrize(
    ("values", "held"),
    [
        ([0.38] * 6 + [0.9] * 4, {"composes", "does-not", "between"}),
        ([0.38] * 3 + [0.9] * 7, {"composes", "does-not", "between"}),
        ([0.38] * 8 + [0.9] * 2, {"does-not", "between"}),  # two of ten could be one in twenty
        ([0.9] * 10, {"composes", "between"}),
        ([0.36 + 0.06 * i for i in range(10)], {"composes", "does-not"}),  # one wide mode: spread evenly
        ([0.64 + 0.02 * i for i in range(-5, 5)], {"composes", "does-not"}),  # one mode in the middle
    ],
)
def test_two_modes_are_told_from_one(values: list[float], held: set[str]) -> None:
    tables = {"networks": _networks({"diagonal-05-long": values})}
    asked = ("composes", "does-not", "between")
    assert {name for name in asked if _judged(f"diagonal-05-{name}", tables).status == "holds"} == held


def test_two_supports_are_alike_or_not() -> None:
    """An equivalence fails where the difference is there, and is open where members leave it so."""

    def judged(apart: float, noise: float) -> str:
        base = [0.94 + 0.001 * i for i in range(5)]
        normal = [value + apart + noise * (-1) ** i for i, value in enumerate(base)]
        networks = _networks({"orthogonal-long": base, "normal-long": normal})
        return str(_judged("normal-as-uniform", {"networks": networks}).status)

    assert [judged(0.0, 0.001), judged(0.006, 0.001), judged(0.0, 0.01)] == ["holds", "fails", "open"]


def test_alpha_is_judged_where_it_did_not_collapse() -> None:
    values = [0.97] * 5 + [-0.06] * 7
    networks = _networks({"alpha-long": values, "orthogonal-long": [0.93, 0.94] * 3}).with_columns(
        collapsed=pl.col("r2_all") < 0, fitted=pl.col("r2_all") > 0
    )
    found = {name: _judged(name, {"networks": networks}) for name in ("row-alpha", "long-alpha", "alpha-collapses")}
    assert {name: result.status for name, result in found.items()} == dict.fromkeys(found, "holds")
    assert (found["long-alpha"].members, found["alpha-collapses"].figure.mean) == (5, pytest.approx(7 / 12))
    kept = modes(networks)
    assert kept["collapsed"].sum() == 7
    assert kept["high"].null_count() == kept.height
    band = modes(_networks({"diagonal-05-long": [0.9, 0.4, float("nan")], "diagonal-05": [0.9]}))
    assert band["mode"].to_list() == ["high", "low", None]


def test_the_published_table_is_drawn_with_what_is_there() -> None:
    values = {"orthogonal-whole": [0.8, 0.9], "orthogonal-long": [0.94, 0.95], "gap": [0.6] * 3, "shared-far": [0.6]}
    networks = _networks(values).with_columns(side=pl.lit(16))
    rows = _rows(networks)
    assert rows["label"].unique(maintain_order=True).to_list() == [
        "orthogonal-long\n2 members, 10\u00a0% of the steps", "orthogonal-whole\n2 members, 100\u00a0% of the steps",
        "gap\n3 members, 16 pixels",
    ]  # fmt: skip
    assert rows.filter(pl.col("run") == "gap").select("published", "lowest", "highest").row(0) == (0.895, 0.888, 0.906)
    assert _rows_show(rows) == (
        "Of 2 rows 1 have a tenth of the paper's steps or more; trained as long as each was, 0 of these are within "
        "0.02 of the published R²"
    )
    assert _rows_show(rows.filter(pl.col("steps").is_null())) == ""


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


def test_jumps_tell_when_how_high_and_how_long() -> None:
    """Member 0 falls steadily, 1 jumps to three times itself for five readings (three readings on, most of the next
    five are back), 2 to five times itself for good; what happens in the first thousand steps does not count."""
    steps = range(40, 4040, 40)
    errors = {
        0: [1 - s / 8000 for s in steps],
        1: [9.0 if s == 400 else 3.0 if 2000 <= s < 2200 else 1.0 for s in steps],
        2: [5.0 if s >= 3000 else 1.0 for s in steps],
    }
    rows = [(m, s, e) for m, told in errors.items() for s, e in zip(steps, told, strict=True)]
    history = pl.DataFrame(rows, schema=["member", "step", "loss"], orient="row")
    run, planned = cast(Any, SimpleNamespace(table=lambda _: history)), STUDY.planned("paper")
    found = jumps(run, planned["star-long"])
    assert found is not None
    assert found.row(0, named=True)["times"] < 1
    assert found.rows()[1:] == [(1, 2000, 3.0, 120), (2, 3000, 5.0, None)]
    assert jumps(run, planned["soft"]) is None
