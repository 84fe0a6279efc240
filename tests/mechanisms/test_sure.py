"""Probabilities that are surer than right are said to be, of unseen combinations and of seen ones; others are not."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import recombine as rc
from recombine.mechanisms import MeasureResult, measure_predictions
from recombine.support import Explicit
from recombine.tasks import cross_entropy

A, B = np.indices((7, 7)).reshape(2, -1).repeat(12, axis=1)
UNSEEN = (A + 2 * B) % 5 == 0
FRESH = ~UNSEEN & (np.tile(np.arange(12), 49) < 4)
SHARE = np.where(A % 2, 0.75, 0.25)
Y = np.where(np.random.default_rng(0).random(len(A)) < SHARE, "yes", "no")


def measured(p: object, prediction: object = "p", **more: object) -> MeasureResult:
    table = {"a": A, "b": B, "y": Y, "part": np.where(UNSEEN | FRESH, "test", "train")}
    table |= p if isinstance(p, dict) else {"p": p}
    return measure_predictions(table, ["a", "b"], target="y", prediction=prediction, split="part=test", **more)


def note(result: MeasureResult) -> str:
    return "".join(n for n in result.notes if "surer than right" in n)


def pushed(at: object) -> object:
    return np.where(at, np.where(SHARE > 0.5, 0.98, 0.02), SHARE)


def test_who_is_surer_than_right_where_unseen_is_told_so_and_how_it_is_elsewhere():
    right = float(((Y == "yes") == (SHARE > 0.5))[UNSEEN].mean())
    said = note(measured(pushed(UNSEEN)))
    assert f"has 0.98 on average and is right in {right:.2f}, {0.98 - right:.2f} [" in said
    assert said.endswith(": what calibrates them there would not do so on unseen ones.")
    everywhere = note(measured(pushed(True)))
    assert "; on seen ones 0.2" in everywhere
    assert "what calibrates" not in everywhere


@pytest.mark.parametrize(("given", "said"), [(0.9, False), (0.6, True)])
def test_few_rows_that_are_all_right_may_be_lucky_and_not_less_sure_than_right(given, said):
    first = np.tile(np.arange(12), 49) == 0
    table = {"a": A, "b": B, "y": A % 2, "part": np.where(UNSEEN, "test", "train")}
    table["p"] = np.where(A % 2, given + 0.001 * B, 1 - given - 0.001 * B)
    rows = {name: values[first] for name, values in table.items()}
    result = measure_predictions(rows, ["a", "b"], target="y", prediction="p", split="part=test")
    assert any("less sure than right" in n for n in result.notes) == said


def test_what_being_surer_costs_is_said_once():
    rows = ~FRESH
    table = {"a": A, "b": B, "y": Y, "p": pushed(UNSEEN), "part": np.where(UNSEEN, "test", "train")}
    table = {name: values[rows] for name, values in table.items()}
    result = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    assert "log loss" not in result.why
    assert ". The log loss is " in note(result)
    assert "log loss" not in note(measured(pushed(UNSEEN)))  # Where it is why the verdict is what it is.


def test_a_probability_a_class_and_one_of_two_are_the_same():
    one, both = measured(pushed(UNSEEN)), {"p_no": 2 - 2 * pushed(UNSEEN), "p_yes": 2 * pushed(UNSEEN)}
    two = measured({name: value / 2 for name, value in both.items()}, [*both])
    assert note(one) == note(two)
    assert one.scores()["unseen"]["confidence"] == pytest.approx(0.98)


@pytest.mark.parametrize("p", [SHARE, 0.5 + (SHARE - 0.5) / 2, pushed(~UNSEEN)], ids=["right", "unsure", "elsewhere"])
def test_who_is_not_surer_than_right_where_unseen_is_told_nothing(p):
    assert note(measured(p)) == ""


def test_errors_that_are_rare_and_were_said_to_be_rarer_are_told():
    """Three of a hundred are wrong, where one of a thousand is said to be: within the margin, and thirty times it."""
    a, b, unseen, fresh = (values.repeat(8) for values in (A, B, UNSEEN, FRESH))
    wrong = np.random.default_rng(1).random(len(a)) < 0.03
    p = np.where((a % 2 == 1) != wrong, 0.999, 0.001)
    table = {"a": a, "b": b, "y": a % 2, "p": p, "part": np.where(unseen | fresh, "test", "train")}
    result = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    assert result.unseen.mean < 0.05
    assert "has 1.00 on average and is right in 0.9" in note(result)


def test_a_network_is_held_to_the_softmax_of_its_outputs():
    space = rc.FactorSpace.of(a=7, b=7)
    codes = torch.as_tensor(np.stack([A, B], 1))
    train = Explicit(space, np.unique(codes.numpy()[~UNSEEN], axis=0))
    task = rc.FixedTask(space, train, ~train, codes.float(), torch.as_tensor((Y == "yes").astype(int)), codes,
                        loss=cross_entropy)  # fmt: skip

    def model(x: torch.Tensor, odds: float) -> torch.Tensor:
        side = odds * (2 * (x[:, 0] % 2) - 1)
        return torch.stack([0 * side, side], 1)

    assert "has 0.98 on average" in note(rc.measure(lambda x: model(x, float(np.log(0.98 / 0.02))), task))
    assert note(rc.measure(lambda x: model(x, float(np.log(3))), task)) == ""


def test_probabilities_worse_than_shares_do_not_compose_however_right_the_classes_are():
    result = measured(pushed(UNSEEN))
    assert result.verdict == "partly"
    assert "where always giving training's shares costs 0." in result.why
    assert measured(SHARE).verdict == "composes"
