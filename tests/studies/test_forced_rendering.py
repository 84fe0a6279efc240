"""The forced-rendering study: its tables by hand, its runs at every scale, and the whole of it at smoke scale."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import torch

from recombine.figures.export import specification
from recombine.runs import Store
from recombine.studies import SCALES, StudyResult, conduct
from recombine.studies.forced_rendering import STUDY, runs
from recombine.studies.forced_rendering.evidence import layers, slope
from recombine.studies.forced_rendering.kernel_runs import counts
from recombine.studies.forced_rendering.network_runs import LABELS
from recombine.studies.forced_rendering.scores import by_kind, rank_correlations, replicates, spearman
from recombine.studies.forced_rendering.tables import first_enough, slopes


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> StudyResult:
    return conduct(STUDY, "smoke", store=Store(tmp_path_factory.mktemp("store")), members=2, device="cpu")


def test_runs_are_described_at_every_scale() -> None:
    for scale in SCALES:
        found = runs(scale, None)
        assert len({run.address for run in found.values()}) == len(found)
    quick = runs("quick", None)
    assert all(quick[name].members >= 8 for name in quick if name in LABELS)  # type: ignore[attr-defined]
    assert "embedding-regularised" in runs("paper", None)
    assert {n.split("-")[1] for n in runs("paper", None) if n.startswith("need-")} == {"12", "20", "28"}


def test_perceptrons_at_paper_scale_can_draw_what_they_see() -> None:
    """What a perceptron draws is an affine function of its last hidden layer. The paper's 256 units leave a third of
    what the gate allows at best; the units of these leave nothing."""
    pictures, blank = (run := runs("paper", None)["mlp-one-hot"]).task.whole()[1], run.task.blank_error  # type: ignore[attr-defined]
    energy = torch.linalg.svdvals(pictures.flatten(1).double()).square()

    def left(units: int) -> float:
        return float(energy[units + 1 :].sum() / pictures.numel() / blank)

    assert 0.003 < left(256) < 0.004
    assert left(run.model.widths[-2]) == 0.0  # type: ignore[attr-defined]


def test_claims_have_ids_and_criteria() -> None:
    ids = [claim.id for claim in STUDY.claims]
    assert len(set(ids)) == len(ids)
    assert all(claim.source for claim in STUDY.claims)


def test_smoke_judges_every_claim_and_gives_no_verdict_on_networks_that_did_not_fit(result: StudyResult) -> None:
    assert [claim.claim.id for claim in result.claims] == [claim.id for claim in STUDY.claims]
    status = {claim.claim.id: claim.status for claim in result.claims}
    assert status["fails-mlp-one-hot"] == "not fitted"
    assert status["score-output"] == "not fitted"
    assert status["kernel-locates-none"] == "holds"
    assert status["kernel-stripes-locate"] == "holds"
    assert status["kernel-stripes-picture"] == "holds"


def test_every_figure_can_be_drawn_from_a_few_steps(result: StudyResult) -> None:
    for figure in STUDY.figures:
        assert figure.draw(figure.rows(result.tables[figure.table])) is not None


def test_every_picture_has_its_own_target_beside_it() -> None:
    """Two kinds of networks of one size that were asked for different combinations."""
    cells = pl.DataFrame({"row": [0, 0, 1, 1], "column": [0, 1, 0, 1], "member": [0] * 4, "output": [0.5] * 4})
    asked = {"mlp-one-hot": ("perceptron", 0), "cnn": ("CNN", 0), "coordinate": ("coordinates", 1)}
    parts = [
        cells.with_columns(
            pl.lit(run).alias("run"), pl.lit(kind).alias("kind"), pl.lit(at).alias("x"), pl.lit(at).alias("y"),
            ((pl.col("row") == at) & (pl.col("column") == at)).cast(pl.Float64).alias("target"),
        )
        for run, (kind, at) in asked.items()
    ]  # fmt: skip
    (figure,) = (f for f in STUDY.figures if f.id == "pictures")
    sets = list(specification(figure.draw(pl.concat(parts)))["datasets"].values())
    shown = [list(dict.fromkeys(row["facet"] for row in rows)) for rows in sets]
    assert shown == [["the target", "perceptron", "CNN"], ["the target", "coordinates"]]
    bumps = [next(row for row in rows if row["facet"] == "the target" and row["value"] == 1.0) for rows in sets]
    assert [(bump["x"], bump["y"]) for bump in bumps] == [(-1.0, -1.0), (0.0, 0.0)]


def test_a_claim_without_its_runs_is_not_fitted() -> None:
    assert {claim.evaluate({}).status for claim in STUDY.claims} == {"not fitted"}


def test_examples_needed_between_two_counts() -> None:
    examples = np.array([10.0, 40.0])
    assert first_enough(examples, np.array([0.8, 1.0]), 0.9) == pytest.approx(20)
    # The smallest count is enough: how few would be is not known, unless none is possible below.
    assert first_enough(examples, np.array([0.95, 1.0]), 0.9) is None
    assert first_enough(examples, np.array([0.95, 1.0]), 0.9, least=8) == 10
    assert first_enough(examples, np.array([0.95, 1.0]), 0.9, least=7) is None
    assert first_enough(examples, np.array([0.1, 0.2]), 0.9) is None


def test_slope_of_a_known_power() -> None:
    rows = [
        {"learner": "l", "side": side, "stripes": 0, "member": 0, "examples": n, "located": float(n >= side**2),
         "over_blank": 1.0, "fitted": True}
        for side in (4, 8, 16) for n in (side, side**2 - 1, side**2, 2 * side**2)
    ]  # fmt: skip
    table = slopes(pl.DataFrame(rows))
    assert table.filter(pl.col("criterion") == "placed")["slope"][0] == pytest.approx(2, abs=0.02)
    assert table.filter(pl.col("criterion") == "drawn")["slope"][0] is None


def test_a_slope_of_smallest_counts_is_none() -> None:
    """Every count that was tried is enough, so that the slope would be that of the counts tried."""

    def need(stripes: int, side: int, member: int, n: int, fitted: bool = True) -> dict[str, object]:
        return {"learner": "l", "side": side, "stripes": stripes * side, "member": member, "located": 1.0,
                "examples": n + stripes * side, "over_blank": 0.1, "fitted": fitted}  # fmt: skip

    sides = (8, 16, 32)
    alone = [need(0, side, m, k * side**2 // 4) for side in sides for m in range(3) for k in (1, 2)]
    found = slopes(pl.DataFrame(alone)).filter(pl.col("criterion") == "placed")
    assert found["slope"].to_list() == [None] * 3
    # With stripes no set is smaller than they are: a few bumps more are as few as there can be.
    striped = [need(2, side, 0, 4) for side in sides]
    known = slopes(pl.DataFrame(striped)).filter(pl.col("criterion") == "placed")["slope"][0]
    assert known == pytest.approx(np.polyfit(np.log(sides), np.log([4 + 2 * s for s in sides]), 1)[0])


def test_a_member_that_never_fitted_is_counted() -> None:
    rows = [
        {"learner": "l", "side": side, "stripes": 0, "member": m, "examples": n, "located": float(n >= side**2),
         "over_blank": 1.0, "fitted": m > 0}
        for m in range(3) for side in (4, 8) for n in (side, side**2 - 1, side**2)
    ]  # fmt: skip
    found = slope("l", False)({"slopes": slopes(pl.DataFrame(rows))})
    assert (found.fitted, found.members) == (2, 3)


def test_layers_are_paired_by_member() -> None:
    """The second layer is lower by .1 in every member; a member without one of the scores joins no pair."""
    networks = pl.DataFrame({"run": ["a"] * 4, "member": range(4), "fitted": [True] * 4})
    rows = [
        {"run": "a", "where": "all", "role": role, "member": m, "additive": m - at}
        for role, at in (("input", 0.0), ("output", 0.1))
        for m in range(4)
    ]
    table = pl.DataFrame(rows)
    table = table.filter(~((pl.col("role") == "input") & (pl.col("member") == 1))).with_columns(
        pl.when((pl.col("role") == "output") & (pl.col("member") == 2))
        .then(None)
        .otherwise("additive")
        .alias("additive")
    )
    found = layers("a", ["output", "input"], "additive")({"networks": networks, "layers": table})
    assert found.groups == (pytest.approx((-0.1, 2.9)), (0.0, 3.0))
    assert (found.fitted, found.members) == (2, 4)


def test_counts_grow_by_root_two_and_end_before_the_square() -> None:
    found = counts(8)
    assert found[:4] == [4, 6, 8, 11]
    assert found[-1] == 51
    assert found == sorted(set(found))


def test_spearman_by_hand() -> None:
    assert spearman(np.array([1.0, 2, 3, 4]), np.array([1.0, 8, 27, 64])) == pytest.approx(1)
    assert spearman(np.array([1.0, 2, 3]), np.array([3.0, 2, 1])) == pytest.approx(-1)
    assert spearman(np.ones(4), np.arange(4.0)) is None


def scored(error: dict[str, float], score: dict[str, float], members: int = 4) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Networks whose error, and whose product share at two layers, hang on their kind alone."""
    networks = pl.DataFrame(
        [{"run": run, "member": m, "fitted": True, "over_blank": error[run], "nonnegative": 0.1 * m,
          "seen_over_blank": 0.001} for run in error for m in range(members)],
        schema_overrides={"member": pl.Int32},
    )  # fmt: skip
    scores = pl.DataFrame(
        [{"run": run, "member": m, "role": role, "where": "all", "multiplicative": score[run],
          "additive": 0.5, "combined": 0.5, "rescaled": 0.5, "orthogonality": 0.5, "probe_seen": None}
         for run in error for m in range(members) for role in ("last hidden", "output")],
        schema_overrides={"member": pl.Int32, "probe_seen": pl.Float64},
    )  # fmt: skip
    return networks, scores


def test_a_score_that_orders_kinds_is_found() -> None:
    error = {run: 10.0**-i for i, run in enumerate(list(LABELS)[:6])}
    networks, scores = scored(error, {run: 1 - value / 20 for run, value in error.items()})
    table = rank_correlations(replicates(networks, scores), by_kind(networks, scores))
    best = table.row(0, named=True)
    assert best["score"].startswith("multiplicative")
    assert (best["rho"], best["pooled"], best["networks"], best["kinds"]) == pytest.approx((-1, -1, 24, 6))
    claim = next(claim for claim in STUDY.claims if claim.id == "score-output")
    assert claim.evaluate({"by_kind": by_kind(networks, scores)}).status == "holds"


def test_seeds_are_no_kinds() -> None:
    """Eight kinds in an order that is right but for two: however many seeds say so, it is what eight kinds say."""
    kinds = list(LABELS)[:8]
    error = {run: 10.0**-i for i, run in enumerate(kinds)}
    score = {run: float(place) for run, place in zip(kinds, (0, 4, 2, 3, 1, 7, 6, 5), strict=True)}
    networks, scores = scored(error, score, members=16)
    seeds = replicates(networks, scores).filter(pl.col("score") == "multiplicative, output")["rho"]
    assert seeds.unique().to_list() == pytest.approx([-1 + 6 * 26 / 504])  # 1 − 6 Σd² / (n³ − n), turned
    claim = next(claim for claim in STUDY.claims if claim.id == "score-output")
    found = claim.evaluate({"by_kind": by_kind(networks, scores)})
    assert (found.status, found.fitted, found.members) == ("fails", 8, 8)
    assert found.figure.mean == pytest.approx(seeds[0])
    assert found.figure.high > -0.5
