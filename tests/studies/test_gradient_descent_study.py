"""The study gradient-descent: its runs, its claims, and all of it once at the smallest scale."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
import torch
from torch import nn

from recombine.models import Perceptron
from recombine.runs.run import Context
from recombine.runs.training import Measured
from recombine.studies.gradient_descent import STUDY
from recombine.studies.gradient_descent.claims import early, optimizer_pairs
from recombine.studies.gradient_descent.evolution import EvolutionRun
from recombine.studies.gradient_descent.settings import EVOLUTION
from recombine.studies.gradient_descent.steps import LOOKS, MORE, ONE, RISEN, directed, steps_apart, steps_first
from recombine.tasks import ToyBoth, ToyTask
from recombine.training import Ensemble

VIEWS = ("trained", "unseen")
TOY = Perceptron(widths=(2, 8, 8, 8, 2), start="playground")


def _judged(name: str, **tables: pl.DataFrame) -> Any:
    return next(claim for claim in STUDY.claims if claim.id == name).evaluate(tables)


def test_the_paper_s_settings_are_the_paper_s() -> None:
    runs = STUDY.runs("paper", None)
    pair, scan = runs["pair-a"].resolved(), runs["scan-a"].resolved()  # type: ignore[attr-defined]
    assert pair["batch_size"] == 64
    assert pair["steps"] == 200
    assert pair["members"] >= 64
    assert pair["optimizer"]["lr"] == 0.001
    assert pair["model"]["shape"] == [1, 28, 56]
    assert scan["batch_size"] == 256
    assert scan["steps"] == 2000
    assert scan["members"] >= 8
    assert scan["task"]["longest"] == 48
    # The ends of the sweep are the main runs, computed once.
    assert runs["strength-1"].task == runs["pair-a"].task  # type: ignore[attr-defined]
    # B′ and the other architectures are their controls' runs in everything but what they are.
    for name, words in (("scan-b", "uniform"), ("scan-apart", "apart"), ("scan-without", "without")):
        assert runs[name].replace(task=runs["scan-a"].task).address == runs["scan-a"].address  # type: ignore[attr-defined]
        assert runs[name].task.words == words  # type: ignore[attr-defined]
    assert runs["three-a"].replace(model=runs["pair-a"].model).address == runs["pair-a"].address  # type: ignore[attr-defined]
    for name in ("steps", "both-steps"):
        first, *others = (runs[f"{name}-{side}"] for side in ("a", "b", "alike"))
        assert {run.replace(task=first.task).address for run in others} == {first.address}  # type: ignore[attr-defined]
    steps, one = runs["steps-a"].resolved(), runs["one-step-a"].resolved()
    assert {name: steps[name] for name in ("task", "model", "members", "seed", "optimizer")} == {
        name: one[name] for name in ("task", "model", "members", "seed", "optimizer")
    }
    few = STUDY.runs("quick", 5)
    assert {run.resolved()["members"] for run in few.values()} == {5}
    assert pair["model"]["start"] == "tensorflow"


def test_a_claim_whose_runs_are_not_there_at_a_scale_is_not_run() -> None:
    views = [(run, m, 200, view, 0.9, True) for run in ("pair-a", "pair-b") for m in range(4) for view in VIEWS]
    table = pl.DataFrame(views, schema=["run", "member", "step", "view", "accuracy", "fitted"], orient="row")
    missing, there = _judged("three-resistance", pairs=table), _judged("pair-resistance-b", pairs=table)
    assert (missing.status, missing.members) == ("not run", 0)
    assert missing.missing.startswith("No run here gives what it is read from")
    half = _judged("pair-resistance-b", pairs=table.filter(run="pair-a"))
    assert (half.status, half.missing) == ("not run", "Of what it compares there is pair-a alone here.")
    assert (there.status, there.figure.mean) == ("fails", 0)


def test_answers_that_say_nothing_are_counted() -> None:
    """Proposition 1 is about informative answers: the others are no evidence, and not left out of the count."""
    rows = [("pair-a", m, 0.5 if m < 2 else 0.0, 0.0, True) for m in range(8)]
    table = pl.DataFrame(rows, schema=["run", "member", "information", "moves", "fitted"], orient="row")
    claim = _judged("pair-hard-answer", hard=table)
    assert (claim.fitted, claim.members, claim.status) == (2, 8, "not fitted")


def test_two_searches_of_different_size_must_both_fit() -> None:
    """Ten searches without gradients all fit, and ten of forty by gradient descent."""
    rows = [
        (name, "toy", name, "A", m, base + 0.001 * m, name == EVOLUTION or m < 10)
        for name, count, base in (("SGD", 40, 0.5), (EVOLUTION, 10, 0.9))
        for m in range(count)
    ]
    schema = ["run", "task", "optimizer", "setting", "member", "unseen", "fitted"]
    claim = _judged("optimizer-special", optimizers=pl.DataFrame(rows, schema=schema, orient="row"))
    assert (claim.fitted, claim.members, claim.status) == (10, 40, "not fitted")


def test_the_early_curves_by_hand() -> None:
    """Mean heights by the trapezoidal rule: pairs up to step 100, SCAN up to 25."""
    rows = [("r", 0, step, "trained", accuracy, 1 - accuracy, True)
            for step, accuracy in ((0, 0.0), (50, 1.0), (100, 1.0), (150, 0.0))]  # fmt: skip
    schema = ["run", "member", "step", "view", "accuracy", "loss", "fitted"]
    table = pl.DataFrame(rows, schema=schema, orient="row")
    found = early(table, table.filter(pl.col("step") < 100).with_columns(pl.col("step") // 2))
    assert found["accuracy"].to_list() == [0.75, 0.5]
    assert found["loss"].to_list() == [0.25, 0.5]
    assert found.columns == ["run", "view", "member", "accuracy", "loss", "fitted"]
    short = early(table.filter(pl.col("step") < 100), table.filter(pl.col("step") < 1))
    assert short.is_empty(), "these end before what is asked"
    assert (_judged("pair-speed", early=short).status, _judged("scan-speed", early=short).status) == 2 * ("not run",)


def test_evolution_lowers_the_loss_without_gradients_and_again_alike(tmp_path: Path) -> None:
    run = EvolutionRun(
        task=ToyTask(), model=TOY, members=3, generations=40, batch_size=64, stop_below=0.2,
        measured=(Measured(measure="views", arguments={"count": 256}),),
    )  # fmt: skip
    with torch.no_grad():
        first = run.compute(Context("cpu", tmp_path))
    again = run.compute(Context("cpu", tmp_path))
    assert first.tables["members"].equals(again.tables["members"])
    assert first.tables["members"]["final_loss"].max() < 0.6  # type: ignore[operator]
    trained = first.tables["views"].filter(pl.col("view") == "trained")
    assert trained["accuracy"].mean() > 0.75  # type: ignore[operator]
    fewer = run.replace(members=2).compute(Context("cpu", tmp_path))
    assert fewer.tables["members"].equals(first.tables["members"].head(2))


def test_optimisers_are_compared_by_member_and_pair_by_pair() -> None:
    """Costs of .3, .3 and .1 and a little by member; a member that did not get there is in no pair."""
    cost, rows = {"SGD": 0.3, "Adam": 0.3, "sign": 0.1}, []
    for name, value in cost.items():
        for member in range(6):
            for side, unseen in (("A", 0.9 - value - 0.01 * (member % 3)), ("B", 0.9)):
                rows.append(("toy", name, side, member, unseen, (name, member) != ("Adam", 5)))
    schema = ["task", "optimizer", "setting", "member", "unseen", "fitted"]
    found = optimizer_pairs(pl.DataFrame(rows, schema=schema, orient="row"))
    pairs = [("SGD", "Adam", 5), ("SGD", "sign", 6), ("Adam", "sign", 5)]
    assert found.select("one", "other", "members").rows() == pairs
    assert [round(value, 6) for value in found["difference"]] == [0.0, 0.2, 0.2]
    assert (found["holm"] >= found["p"]).all()


def _linear(weight: list[list[float]], members: int) -> Ensemble:
    of = torch.tensor(weight).expand(members, -1, -1)
    parts = {"weight": of, "bias": torch.ones(of.shape[:2])}
    return Ensemble.of(parts, tuple(range(members)), lambda: nn.Linear(2, len(weight)))


def test_slopes_of_a_linear_model_with_their_sign() -> None:
    """ŷ is the score of 1 less the mean of both: of scores 3x₁ and 2x₁ − 5x₂ the slopes are −½ and −5/2."""
    first, second = [[3.0, 0.0], [2.0, -5.0]], [[1.0, 0.0], [1.0, 8.0]]
    of_one = directed(_linear(first, 2), ToyTask(), count=16)
    assert of_one.select("member", "output", "component").rows() == [(m, "y1", c) for m in (0, 1) for c in ("y1", "y2")]
    assert of_one["tilt"].to_list() == [-0.5, -2.5] * 2
    assert of_one["influence"].to_list() == [0.5, 2.5] * 2
    assert of_one["share"].to_list() == pytest.approx([1 / 6, 5 / 6] * 2)
    both = directed(_linear(first + second, 1), ToyBoth(), count=16)
    assert both.select("output", "component", "tilt").rows() == [
        ("y1", "y1", -0.5), ("y1", "y2", -2.5), ("y2", "y1", 0.0), ("y2", "y2", 4.0)
    ]  # fmt: skip


def _along(rise: dict[str, float], start: float = 0.04) -> pl.DataFrame:
    """Slopes along X₂ of 20 members that grow by ``rise`` a step, a little apart; X₁ has 1, tilts are downwards."""
    rows = []
    for side, each in rise.items():
        for member in range(20):
            for step in (0, *LOOKS):
                size = start + 0.001 * (member % 5) + each * step * (1 + 0.1 * (member % 3))
                for component, value in (("y1", 1.0), ("y2", size)):
                    rows.append((f"steps-{side}", ONE, member, "y1", component, step, value, value / 2, -value, True))
    schema = ["run", "answers", "member", "output", "component", "step", "influence", "share", "tilt", "fitted"]
    return pl.DataFrame(rows, schema=schema, orient="row")


def test_the_first_look_that_lies_above_0_decides() -> None:
    steps = _along({"a": 0.001, "b": 0.0, "alike": 0.001})
    apart = steps_apart(steps)
    first = steps_first(steps, apart)
    assert apart.filter(question=MORE)["difference"].to_list() == pytest.approx([0.001095 * step for step in LOOKS])
    assert (apart.filter(question=MORE)["low"] < apart.filter(question=MORE)["difference"]).all()
    assert first.filter(question=MORE)["step"].unique().to_list() == [1]
    assert first.filter(question=RISEN)["apart"].mean() == pytest.approx(0.001095)
    tables = {"steps": steps, "steps_first": first}
    expected = {"steps-added": "holds", "steps-added-alike": "fails", "steps-risen": "holds", "steps-own": "fails",
                "steps-side": "fails", "both-steps-added": "not run"}  # fmt: skip
    assert {name: _judged(name, **tables).status for name in expected} == expected


def test_runs_that_end_before_the_last_early_look_decide_what_they_show_and_nothing_else() -> None:
    """Of 32 steps: a rise within them is one within 64; that there is none says nothing of the rest."""
    steps = _along({"a": 0.001, "b": 0.0, "alike": 0.001})
    for last, alike in ((32, "not run"), (64, "fails")):
        some = steps.filter(pl.col("step") <= last)
        first = steps_first(some, steps_apart(some))
        found = [_judged(name, steps_first=first).status for name in ("steps-added", "steps-added-alike")]
        assert found == ["holds", alike]


def test_looks_after_the_early_ones_decide_nothing() -> None:
    """A falls below B until step 64 and rises above it afterwards."""
    steps = _along({"a": 0.0, "b": 0.0, "alike": 0.0})
    late = pl.when(pl.col("run") == "steps-a", pl.col("component") == "y2").then(
        pl.when(pl.col("step") > 64).then(0.01).otherwise(-0.001 * pl.col("step").sqrt())
    ).otherwise(0)  # fmt: skip
    steps = steps.with_columns(pl.col("influence") + late)
    found = steps_first(steps, steps_apart(steps)).filter(question=MORE)
    assert found["step"].unique().to_list() == [1]
    assert _judged("steps-added", steps_first=found).status == "fails"
