"""The forced-rendering study: its tables by hand, its runs at every scale, and the whole of it at smoke scale."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from recombine.runs import Store
from recombine.studies import SCALES, StudyResult, conduct
from recombine.studies.forced_rendering import STUDY, runs
from recombine.studies.forced_rendering.kernel_runs import counts
from recombine.studies.forced_rendering.network_runs import LABELS
from recombine.studies.forced_rendering.scores import rank_correlations, replicates, spearman
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


def test_a_claim_without_its_runs_is_not_fitted() -> None:
    assert {claim.evaluate({}).status for claim in STUDY.claims} == {"not fitted"}


def test_examples_needed_between_two_counts() -> None:
    examples = np.array([10.0, 40.0])
    assert first_enough(examples, np.array([0.8, 1.0]), 0.9) == pytest.approx(20)
    assert first_enough(examples, np.array([0.95, 1.0]), 0.9) == 10
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


def test_counts_grow_by_root_two_and_end_before_the_square() -> None:
    found = counts(8)
    assert found[:4] == [4, 6, 8, 11]
    assert found[-1] == 51
    assert found == sorted(set(found))


def test_spearman_by_hand() -> None:
    assert spearman(np.array([1.0, 2, 3, 4]), np.array([1.0, 8, 27, 64])) == pytest.approx(1)
    assert spearman(np.array([1.0, 2, 3]), np.array([3.0, 2, 1])) == pytest.approx(-1)
    assert spearman(np.ones(4), np.arange(4.0)) is None


def test_a_score_that_orders_kinds_is_found() -> None:
    kinds = list(LABELS)[:6]
    error = {run: 10.0**-i for i, run in enumerate(kinds)}
    networks = pl.DataFrame(
        [{"run": run, "member": m, "fitted": True, "over_blank": error[run], "nonnegative": 0.1 * m,
          "seen_over_blank": 0.001} for run in kinds for m in range(4)],
        schema_overrides={"member": pl.Int32},
    )  # fmt: skip
    layers = pl.DataFrame(
        [{"run": run, "member": m, "role": role, "where": "all", "multiplicative": 1 - error[run] / 20,
          "additive": 0.5, "combined": 0.5, "rescaled": 0.5, "orthogonality": 0.5, "probe_seen": None}
         for run in kinds for m in range(4) for role in ("last hidden", "output")],
        schema_overrides={"member": pl.Int32, "probe_seen": pl.Float64},
    )  # fmt: skip
    table = rank_correlations(networks, layers, replicates(networks, layers))
    best = table.row(0, named=True)
    assert best["score"].startswith("multiplicative")
    assert (best["rho"], best["pooled"], best["networks"], best["kinds"]) == pytest.approx((-1, -1, 24, 6))
