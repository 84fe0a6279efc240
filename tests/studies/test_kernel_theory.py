"""The study at smoke scale: every claim judged, every figure drawn, and the sets it trains on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from recombine.figures import drawn_for, to_svg
from recombine.kernels import Kernel, fit_least_squares, problems
from recombine.runs import Context, Store
from recombine.runs.kernel import KernelRun, simplex
from recombine.runs.training import TrainingRun
from recombine.studies import STUDIES, StudyResult, conduct
from recombine.studies.kernel_theory import STUDY, sets
from recombine.studies.kernel_theory.image_runs import image_runs
from recombine.studies.kernel_theory.network_runs import dense_runs, learning_rate
from recombine.tasks import ImageTask


@pytest.fixture(scope="module")
def smoke(tmp_path_factory: pytest.TempPathFactory) -> StudyResult:
    return conduct(STUDY, "smoke", store=Store(tmp_path_factory.mktemp("store")), device="cpu")


def test_it_is_registered_and_every_claim_is_judged(smoke: StudyResult) -> None:
    assert STUDIES["kernel-theory"] is STUDY
    ids = [claim.claim.id for claim in smoke.claims]
    assert len(set(ids)) == len(ids) >= 45
    assert {claim.status for claim in smoke.claims} <= {"holds", "fails", "not fitted"}
    assert all(claim.claim.source for claim in smoke.claims)


def test_what_is_exact_holds_at_any_scale(smoke: StudyResult) -> None:
    status = {claim.claim.id: claim.status for claim in smoke.claims}
    exact = (
        "kernel-additive", "leak-theory-one", "leak-theory-two", "context-pairs-needed", "context-nested",
        "context-weights-shortcut", "equivalence-kernel", "equivalence-unequal", "ordering-kernel",
    )  # fmt: skip
    assert {name: status[name] for name in exact} == dict.fromkeys(exact, "holds")


def test_every_figure_draws_wide_and_narrow(smoke: StudyResult) -> None:
    for figure in STUDY.figures:
        for width in ("double", "phone"):
            with drawn_for(width):
                assert "<svg" in to_svg(figure.draw(figure.rows(smoke.tables[figure.table])))


def test_rich_networks_solve_equivalence_by_leaving_additivity(smoke: StudyResult) -> None:
    rows = smoke.tables["networks"].filter(pl.col("run") == "dense-equivalence-squared")
    rich = rows.filter(pl.col("sigma") == rows["sigma"].min())
    assert rich["right"].to_list() == [1.0] * len(rich)
    assert rich["additivity"].max() < 0.1


def test_predictions_follow_from_the_measured_salience(smoke: StudyResult) -> None:
    rows = smoke.tables["networks"].filter(pl.col("task") == "interpolation")
    assert np.allclose(rows["predicted_start"], 2 * rows["s1_start"].clip(0, 0.5))
    one = smoke.tables["networks"].filter(pl.col("task") == "extrapolation")
    s = one["s1_end"].clip(0, 0.5)
    assert np.allclose(one["predicted_end"], s / (1 - s))


def test_tables_of_one_run_alone_can_be_made(smoke: StudyResult, tmp_path: Path) -> None:
    runs = STUDY.runs("smoke", None)
    store = Store(tmp_path)
    one = runs["dense-invariance"].replace(members=(0,))
    from recombine.runs import get_or_compute

    tables = STUDY.tables(get_or_compute(store, {"dense-invariance": one}, device="cpu"))
    fresh = tables["networks"].row(0, named=True)
    whole = smoke.tables["networks"].filter((pl.col("run") == "dense-invariance") & (pl.col("member") == 0))
    assert fresh["margin"] == pytest.approx(whole["margin"][0], abs=1e-4)


def test_plans_exist_at_every_scale_without_any_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RECOMBINE_DATA", raising=False)
    for scale in ("smoke", "quick", "paper"):
        runs = STUDY.runs(scale, None)
        assert len({run.address for run in runs.values()}) == len(runs)
    paper = image_runs("paper", None)
    sources = {run.task.source for run in paper.values() if isinstance(run, TrainingRun)}  # type: ignore[attr-defined]
    assert sources == {"mnist", "cifar10-part"}
    assert all(isinstance(run.task, ImageTask) for run in paper.values() if isinstance(run, TrainingRun))


def test_the_paper_scale_is_the_papers_grid() -> None:
    run = dense_runs("paper", None)["dense-extrapolation"]
    assert isinstance(run, TrainingRun)
    assert isinstance(run.init_scale, tuple)
    counts = {s: run.init_scale.count(s) for s in set(run.init_scale)}
    assert counts == {10.0**-k: 24 if k == 0 else 6 for k in range(7)}
    assert run.model.width == 1000  # type: ignore[attr-defined]


def test_learning_rates_are_stable_for_the_lazy_kernel() -> None:
    task = sets.addition("extrapolation")
    assert learning_rate(1.0, task, 1000) == pytest.approx(learning_rate(1.0, task, 500) / 2)
    assert learning_rate(1e-6, task, 1000) == 0.05
    assert learning_rate(1e-6, sets.context(3, "logistic"), 1000) == 0.3


def test_exceptions_are_trained_against_the_order() -> None:
    plain, odd = problems.transitive_ordering(5), sets.ordering_with_exceptions(5, ((0, 4),))
    assert len(odd.train) == len(plain.train) + 2
    told = {tuple(c): y for c, y in zip(odd.train.tolist(), odd.targets.tolist(), strict=True)}
    assert (told[0, 4], told[4, 0]) == (-1.0, 1.0)
    assert not ((odd.test == [0, 4]).all(axis=1)).any()


def test_a_kernel_run_agrees_with_the_solver(tmp_path: Path) -> None:
    problem = problems.addition([2], values=range(-2, 3))
    run = KernelRun(problems={"five": sets.task(problem)}, saliences=((0.2,), (0.4,)), effects=True)
    tables = run.compute(Context("cpu", tmp_path)).tables
    table = tables["kernels"]
    assert table["slope"].to_list() == pytest.approx([0.2 / 0.8, 0.4 / 0.6])
    outputs = fit_least_squares(Kernel.from_normalized([0.4]), problem.train, problem.targets).predict(problem.test)
    assert table["error"][1] == pytest.approx(float(np.square(outputs - problem.test_targets).mean()))
    assert table["additive_error"].max() < 1e-12
    weights = tables["effects"].filter(pl.col("kernel") == 1)
    assert weights["conjunction"].to_list() == ["", "1", "2", "1·2"]


def test_the_simplex_holds_every_kernel_that_can_fit() -> None:
    places = np.array(simplex(10))
    assert len(places) == 45
    rest = 1 - 3 * places.sum(axis=1)
    assert rest.min() == pytest.approx(0.1)
    assert places[:, 0].min() > 0
    assert places[:, 1].min() == 0
