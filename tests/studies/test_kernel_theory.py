"""The sets, the labels, the tables and the readings of the study, by exact answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from recombine.kernels import Kernel, fit_least_squares, problems
from recombine.kernels.closed_forms import context_margin_least_squares
from recombine.runs import Context, Store, get_or_compute
from recombine.runs.kernel import KernelRun, simplex
from recombine.runs.training import Measured, TrainingRun
from recombine.studies.claims import Claim
from recombine.studies.kernel_theory import STUDY, sets
from recombine.studies.kernel_theory.image_claims import CONTEXT_ACCURACY
from recombine.studies.kernel_theory.settings import SIZES, learning_rate, settings
from recombine.studies.kernel_theory.tables import phase, reading_of_contexts, weights
from recombine.studies.study import shares_of
from recombine.studies.tables import kept
from recombine.tasks import ImageTask, PerMember


def claim(name: str) -> Claim:
    return next(claim for claim in STUDY.claims if claim.id == name)


def networks(rows: list[dict[str, object]]) -> dict[str, pl.DataFrame]:
    always = {"network": "dense", "loss": "squared error", "sigma": 1.0, "fitted": True}
    return {"networks": pl.DataFrame([{**always, **row} for row in rows])}


def test_predictions_follow_from_the_measured_salience(tmp_path: Path) -> None:
    planned = STUDY.planned("smoke")
    names = ("dense-interpolation", "dense-extrapolation", "dense-cd3-squared", "convnet-cd3-d0")
    short = {name: planned[name].run.replace(members=(0, 1), steps=5) for name in names}
    shown = (
        Measured(measure=measure, name=name, arguments={"count": 4, "trained": True})
        for measure, name in (("per_combination", "trained_combinations"), ("additivity", "additivity_trained"))
    )
    short[names[3]] = short[names[3]].replace(measured=(*short[names[3]].measured, *shown))
    tables = kept(STUDY, planned, get_or_compute(Store(tmp_path), short, device="cpu"))
    by_run = {name: tables["networks"].filter(pl.col("run") == name) for name in names}
    two, one, dense, images = by_run.values()
    assert np.allclose(two["predicted_start"], 2 * two["s1_start"].clip(0, 0.5))
    s = one["s1_end"].clip(0, 0.5)
    assert np.allclose(one["predicted_end"], s / (1 - s))
    assert one["predicted_margin_start"].null_count() == 2
    assert dense["unseen_accuracy"].to_list() == dense["right"].to_list()
    inside = dense.filter(3 * pl.col("s1_start") + 3 * pl.col("s2_start") <= 1)
    exact = context_margin_least_squares(inside["s1_start"].to_numpy(), inside["s2_start"].to_numpy())
    assert np.allclose(inside["predicted_margin_start"], exact)
    # No tangent kernel was measured on images, so none predicts.
    assert images["predicted_margin_tangent_start"].null_count() == 2
    assert images["predicted_margin_end"].null_count() == 0
    assert dense["sigma"].to_list() == [1.0, 0.1]
    # Slopes are taken four times along training, and the last of them is the network's.
    along = tables["along"].filter(pl.col("run") == "convnet-cd3-d0")
    assert along.filter(pl.col("step") == 5)["slope"].to_list() == images["slope"].to_list()
    for table, column in (("trained", "slope"), ("by_images", "unseen_accuracy"), ("by_images", "additivity")):
        both = tables[table].filter(pl.col("run") == "convnet-cd3-d0")
        new, old = (both.filter(pl.col("images") == which)[column].to_list() for which in ("new", "trained"))
        assert new == images[column].to_list() != old
    assert images["predicted_all_end"].null_count() == images["predicted_all_start"].null_count() == 0
    assert tables["salience"].filter(pl.col("run") == names[0])["anchors"].unique().to_list() == [2]


def test_how_much_trained_images_weigh_in_published_accuracies() -> None:
    """Planted: each network's new images lie 3 parts below what is published, its trained ones 7 above."""
    rows = [
        {"task": f"cd{k}", "distance": at, "member": member, "images": images,
         "unseen_accuracy": CONTEXT_ACCURACY[k][at] + (part + 0.001 * (member - 1)) * at / 100}
        for k in (1, 2) for at in (5, 20) for member in range(3) for images, part in (("new", -0.3), ("trained", 0.7))
    ]  # fmt: skip
    assert reading_of_contexts(pl.DataFrame(rows))["weight"].mean() == pytest.approx(0.3)
    assert reading_of_contexts(pl.DataFrame(rows[::2])).is_empty()


def test_every_setting_is_told_by_its_labels() -> None:
    """What tells runs apart in the tables: no two network runs share all labels."""
    for size in SIZES.values():
        told = [
            tuple(s.labels.get(name) for name in ("network", "family", "task", "loss", "distance"))
            for s in settings(size, None).values()
            if isinstance(s.run, TrainingRun)
        ]
        assert len(set(told)) == len(told)


def test_the_paper_scale_is_the_papers_grid() -> None:
    planned = STUDY.planned("paper")
    run = planned["dense-extrapolation"].run
    assert isinstance(run, TrainingRun)
    assert isinstance(run.init_scale, tuple)
    assert planned["dense-extrapolation"].labels["sigma"] == run.init_scale
    counts = {s: run.init_scale.count(s) for s in set(run.init_scale)}
    assert counts == {10.0**-k: 24 if k == 0 else 6 for k in range(7)}
    tasks = [s.run.task for s in planned.values() if isinstance(s.run, TrainingRun)]
    pictures = [task.task if isinstance(task, PerMember) else task for task in tasks]
    assert {task.source for task in pictures if isinstance(task, ImageTask)} == {"mnist", "cifar10-part"}
    shares = shares_of(planned)
    assert shares["dense-cd3-logistic"].steps == 1
    assert (shares["convnet-cd1-d20"].data, shares["convnet-cd1-d20"].steps) == (1.0, 0.1)
    assert shares["convnet-interpolation-d20"].steps == pytest.approx(1 / 3, abs=1e-4)
    assert (shares["vit-interpolation-d0"].data, shares["vit-interpolation-d0"].members) == (0.09, 0.3)
    assert "dense-invariance" not in shares


def test_learning_rates_are_stable_for_the_lazy_kernel() -> None:
    task = sets.addition("extrapolation")
    assert learning_rate(1.0, task, 1000) == pytest.approx(learning_rate(1.0, task, 500) / 2)
    assert learning_rate(1e-6, task, 1000) == 0.05
    assert learning_rate(1e-6, sets.context(3, "logistic"), 1000) == 0.3


def test_exceptions_are_trained_against_the_order() -> None:
    plain, odd = problems.transitive_ordering(5), problems.ordering_with_exceptions(5, ((0, 4),))
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


def test_a_phase_says_what_each_kernel_solves() -> None:
    rows = [
        {"sweep": sweep, "fit": "f", "kernel": kernel, "s1": 0.1, "s2": 0.1, "problem": f"CD-{k}", "right": right,
         "margin": float(k)}
        for sweep, kernel, rights in (("context", 0, (1, 1, 1)), ("context", 1, (1, 1, 0)), ("depth", 6, (1, 0, 0)),
                                      ("depth", 0, (0.5, 0, 0)), ("leak", 0, (1, 1, 1)))
        for k, right in enumerate(map(float, rights), 1)
    ]  # fmt: skip
    table = phase(pl.DataFrame(rows))
    assert table["solved"].to_list() == ["all three", "CD-1 and CD-2", "CD-1", "none"]
    assert table["depth"].to_list() == [None, None, "R²", "1"]
    assert table["margin_cd3"].to_list() == [3.0] * 4


def test_weights_of_signs_hang_on_what_is_right_alone() -> None:
    def told(problem: str, kernel: int, right: float) -> dict[str, object]:
        return {"sweep": "depth", "fit": "hard margin", "problem": problem, "kernel": kernel, "right": right}

    table = weights(pl.DataFrame([told("CD-3", 6, 1.0), told("CD-2", 6, 1.0), told("CD-3", 2, 0.0)]))
    assert (table["weight"] - table["printed"]).abs().max() < 6e-4  # type: ignore[operator]
    turned = weights(pl.DataFrame([told("CD-3", 6, 0.0), told("CD-3", 2, 1.0), told("CD-2", 6, 0.5)]))
    failed, solved = (turned.filter(kernel=kernel, problem="CD-3")["weight"].to_numpy() for kernel in (6, 2))
    assert failed == pytest.approx(table.filter(kernel=2)["weight"].to_numpy())
    assert solved == pytest.approx(table.filter(kernel=6, problem="CD-3")["weight"].to_numpy())
    half = turned.filter(problem="CD-2")
    assert (half["weight"] - half["printed"]).abs().mean() > 0.05  # neither: it counts, as far off


def test_networks_of_one_seed_count_once() -> None:
    rows: list[dict[str, object]] = [
        {"run": f"dense-{task}", "task": task, "member": m, "slope": 0.8, "predicted_start": 0.8 - 0.01 * m - off}
        for m in range(3)
        for task, off in (("both", 0.0), ("asymmetric", 0.02))
    ]
    found = claim("leak-predicted").test.read(networks(rows))
    assert found.groups[0] == pytest.approx((0.01, 0.02, 0.03))
    rows[2]["fitted"] = False
    left = claim("leak-predicted").test.read(networks(rows))
    assert (left.groups[0], left.members) == (pytest.approx((0.01, 0.03)), 3)


def test_the_worst_depth_decides_whether_all_solve_it() -> None:
    solved: list[dict[str, object]] = [
        {"run": f"deep{d}-equivalence", "network": "deep", "task": "equivalence", "member": m, "right": 1.0}
        for d in range(1, 5)
        for m in range(6)
    ]
    assert claim("equivalence-deep").evaluate(networks(solved)).status == "holds"
    deepest = [{**row, "right": 0.7 if row["run"] == "deep4-equivalence" else 1.0} for row in solved]
    assert claim("equivalence-deep").evaluate(networks(deepest)).status == "fails"


def test_the_richest_are_those_of_the_smallest_sigma_of_their_run() -> None:
    rows: list[dict[str, object]] = [
        {"run": "dense-both", "task": "both", "member": m, "sigma": s, "slope": s}
        for m, s in enumerate((1.0, 0.1, 1e-3, 1e-3))
    ]
    assert claim("leak-rich-both").test.read(networks(rows)).groups == ((1e-3, 1e-3),)


def test_a_figure_of_theory_is_matched_and_never_called_published() -> None:
    rows: list[dict[str, object]] = [
        {"run": "dense-invariance", "task": "invariance", "member": m, "margin": 0.74 + 0.01 * (-1) ** m}
        for m in range(8)
    ]
    found = claim("invariance-lazy").evaluate(networks(rows))
    assert (found.status, found.how, found.to_dict()["published"]) == ("holds", "no published figure", None)
    assert "0.743, the figure of theory" in str(found.claim.test.criterion)
    far = [{**row, "margin": 0.9} for row in rows]
    assert claim("invariance-lazy").evaluate(networks(far)).status == "fails"
