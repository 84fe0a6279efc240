"""Tasks: examples of any combination, batches over the train support, fixed sets row by row."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from recombine.errors import InputError
from recombine.space import FactorSpace
from recombine.support import Explicit, full, leave_out
from recombine.tasks import Draws, FixedTask, ToyBoth, ToyTask, correct, cross_entropy, squared_error

SPACE = FactorSpace.of(a=2, b=3)


def fixed(rows: list[list[int]], train: Any = None, **more: Any) -> FixedTask:
    number = torch.arange(len(rows), dtype=torch.float32)
    inputs = torch.stack([number, -number], dim=1)
    some = full(SPACE) if train is None else train
    return FixedTask(SPACE, some, ~some, inputs, number, torch.tensor(rows), loss=None, **more)


def test_losses_are_torchs_own_without_the_mean() -> None:
    torch.manual_seed(0)
    logits, labels = torch.randn(7, 4, dtype=torch.float64), torch.arange(7) % 4
    expected = functional.cross_entropy(logits, labels, reduction="none")
    torch.testing.assert_close(cross_entropy(logits, labels), expected, rtol=1e-12, atol=1e-12)
    a, b = torch.randn(7, 2, 3), torch.randn(7, 2, 3)
    torch.testing.assert_close(squared_error(a, b), functional.mse_loss(a, b, reduction="none").mean((1, 2)))
    assert correct(torch.tensor([[0.0, 1.0], [2.0, 1.0]]), torch.tensor([1, 1])).tolist() == [1, 0]
    assert float(cross_entropy(torch.tensor([[1000.0, -1000.0]]), torch.tensor([1]))) == 2000


def test_shapes_that_would_broadcast_are_refused() -> None:
    with pytest.raises(InputError, match=r"outputs have shape \(5, 1\) and targets \(5,\)"):
        squared_error(torch.zeros(5, 1), torch.zeros(5))


@pytest.mark.parametrize(("second", "train"), [("redundant", 3), ("uninformative", 4)])
def test_the_toy_is_the_paper_s(second: Any, train: int) -> None:
    task = ToyTask(second=second)
    assert len(task.train.explicit()) == train
    assert task.test.explicit().combinations() == [{"y1": 1, "y2": 1}]
    draws = Draws.of([0, 1], range(3), seed=0)
    inputs, targets = task.batch(draws, 500)
    assert isinstance(inputs, Tensor)
    assert inputs.shape == (3, 2, 500, 2)
    assert targets.shape == (3, 2, 500)
    assert torch.equal(inputs[..., 0] > 0, targets == 1) or ((inputs[..., 0] == 0) & (targets == 1)).any()
    assert inputs.max() <= 1
    assert inputs.min() > -1
    both = ((inputs > 0).all(-1)).double().mean()
    assert float(both) == 0 if second == "redundant" else abs(float(both) - 0.25) < 5 * np.sqrt(0.1875 / 3000)
    again, _ = task.batch(Draws.of([1], range(2, 3), seed=0), 500)
    assert torch.equal(again[0, 0], inputs[2, 1])  # type: ignore[index]


def test_an_independent_toy_draws_each_as_often_as_the_redundant_one() -> None:
    """Without (1, 1) one of three has Y₁ = 1, and one of three Y₂ = 1; independently both in one of nine."""
    for second, corner in (("redundant", 0.0), ("half", 1 / 18), ("independent", 1 / 9)):
        task = ToyTask(second=second)  # type: ignore[arg-type]
        inputs, targets = task.batch(Draws.of([0, 1], range(3), seed=0), 2000)
        assert isinstance(inputs, Tensor)
        ones = (inputs > 0).double()
        error = 5 * math.sqrt(2 / 9 / 12000)
        assert ones.mean((0, 1, 2)).tolist() == pytest.approx([1 / 3, 1 / 3], abs=error)
        assert float(targets.double().mean()) == pytest.approx(1 / 3, abs=error)
        assert float(ones.prod(-1).mean()) == pytest.approx(corner, abs=error)
    assert len(ToyTask(second="independent").train.explicit()) == 4


def test_half_a_redundancy_lies_midway_in_every_combination() -> None:
    """So the expected gradient of a first step, which is linear in how often each is drawn, lies midway, too."""
    shares = {}
    for second in ("redundant", "half", "independent"):
        points = ToyTask(second=second)._train_points("cpu")  # type: ignore[arg-type]
        counts = torch.bincount(2 * points[:, 0] + points[:, 1], minlength=4).double()
        shares[second] = (counts / counts.sum()).tolist()
    midway = [(a + b) / 2 for a, b in zip(shares["redundant"], shares["independent"], strict=True)]
    assert shares["half"] == pytest.approx(midway, abs=1e-12)
    assert len(ToyTask(second="half").train.explicit()) == 4


def test_the_whole_toy_has_each_combination_once() -> None:
    inputs, targets = ToyTask().whole()
    assert isinstance(inputs, Tensor)
    assert (inputs > 0).long().tolist() == ToyTask().train.explicit().codes.tolist() == [[0, 0], [0, 1], [1, 0]]
    assert targets.tolist() == [0, 0, 1]


def test_the_playground_loss_is_squared_tanh() -> None:
    task = ToyTask(loss="squared tanh")
    outputs = torch.tensor([[0.3, -0.2], [50.0, -50.0]])
    expected = 0.5 * ((np.tanh(0.3) + 1) ** 2 + (np.tanh(-0.2) - 1) ** 2)
    got = task.losses(outputs, torch.tensor([1, 0]))
    assert got[0].item() == pytest.approx(expected, rel=1e-6)
    assert got[1].item() == pytest.approx(0, abs=1e-12)
    assert task.address != ToyTask().address


def test_a_fixed_set_goes_through_its_training_rows_once_an_epoch() -> None:
    rows = [[0, 0], [0, 1], [1, 2], [0, 0], [1, 1], [0, 2]]
    task = fixed(rows, leave_out(SPACE, {"a": 1, "b": 2}))
    inputs, targets = task.batch(Draws.of([0, 1, 2], range(5), seed=3), 2)
    assert isinstance(inputs, Tensor)
    assert torch.equal(inputs[..., 0], targets)
    assert torch.equal(inputs[..., 1], -targets)
    for member in range(3):
        seen = targets[:, member].flatten().tolist()
        assert sorted(seen[:5]) == sorted(seen[5:]) == [0, 1, 3, 4, 5]
    assert not torch.equal(targets[:, 0], targets[:, 1])
    _, everything = task.whole()
    assert everything.tolist() == [0, 1, 3, 4, 5]


def test_examples_of_a_fixed_set_have_the_combination_asked_for() -> None:
    rows = [[0, 0], [0, 1], [1, 2], [0, 0], [1, 1], [0, 0]]
    task = fixed(rows)
    points = torch.tensor([[0, 0], [1, 1]]).repeat_interleave(600, 0)
    _, targets = task.examples(points, Draws.single(0))
    assert set(targets[600:].tolist()) == {4}
    counts = torch.bincount(targets[:600].long(), minlength=6)
    assert counts[[1, 2, 4]].sum() == 0
    assert float(((counts[[0, 3, 5]] - 200) ** 2 / 200).sum()) < 13.8  # 99.9 % point of χ², 2 degrees
    with pytest.raises(InputError, match=r"no example has the combination \{'a': 1, 'b': 0\}"):
        task.examples(torch.tensor([[1, 0]]), Draws.single(0))


def test_fixed_sets_of_several_inputs_stay_tuples() -> None:
    rows = torch.tensor([[0, 0], [1, 1]])
    pair = (torch.arange(2.0), torch.arange(2.0) * 10)
    task = FixedTask(SPACE, full(SPACE), full(SPACE), pair, torch.zeros(2), rows, loss=squared_error)
    inputs, _ = task.whole()
    assert isinstance(inputs, tuple)
    assert [part.tolist() for part in inputs] == [[0, 1], [0, 10]]
    assert task.scores(torch.zeros(1), torch.zeros(1)) == {}


def test_fixed_sets_that_cannot_be_used_are_refused() -> None:
    with pytest.raises(InputError, match="as many rows; targets have 2"):
        FixedTask(
            SPACE, full(SPACE), full(SPACE), torch.zeros(3, 1), torch.zeros(2), torch.zeros(2, 2).long(), loss=None
        )
    with pytest.raises(InputError, match="the training support is empty"):
        fixed([[0, 0]], Explicit(SPACE, [[1, 1]]))
    with pytest.raises(InputError, match="factor 'b' goes from 0 to 2, got 3"):
        fixed([[0, 3]])


def test_an_empty_training_support_is_an_error() -> None:
    class Empty(ToyTask):
        @property
        def train(self) -> Any:  # type: ignore[override]
            return Explicit(self.space, [])

    with pytest.raises(InputError, match="the training support is empty"):
        Empty().batch(Draws.of([0], range(1), 0), 2)


def test_the_toy_with_both_answers_has_the_inputs_of_the_toy() -> None:
    for other in ("redundant", "uninformative", "independent"):
        both, toy = ToyBoth(other=other), ToyTask(second=other)  # type: ignore[arg-type]
        draws = Draws.of([0, 1], range(3), seed=4)
        (inputs, targets), (same, first) = both.batch(draws, 20), toy.batch(draws, 20)
        assert isinstance(inputs, torch.Tensor)
        assert isinstance(same, torch.Tensor)
        assert torch.equal(inputs, same)
        assert torch.equal(targets[..., 0], first)
        assert torch.equal((inputs > 0).long(), targets)
        assert len(both.train.explicit()) == (3 if other == "redundant" else 4)
        assert both.test.explicit().codes.tolist() == [[1, 1]]


def test_both_answers_are_charged_and_scored_by_hand() -> None:
    task = ToyBoth()
    outputs = torch.tensor([[2.0, 0, 0, 3], [0, 2, 0, 3], [0, 0, 0, 0]])
    targets = torch.tensor([[0, 1], [0, 1], [1, 0]])
    right_by = {score: math.log1p(math.exp(-score)) for score in (3, 2, 0, -2)}
    expected = [right_by[2] + right_by[3], right_by[-2] + right_by[3], 2 * right_by[0]]
    assert task.losses(outputs, targets).tolist() == pytest.approx(expected, rel=1e-6)
    scores = {name: value[:2].tolist() for name, value in task.scores(outputs, targets).items()}
    assert scores == {"accuracy": [1, 0], "first": [1, 0], "second": [1, 1]}
    assert (task.answer_part(0), task.answer_part(1)) == (slice(0, 2), slice(2, 4))
    with pytest.raises(InputError, match="both answers need 4 outputs"):
        task.losses(outputs[:, :3], targets)


def test_rows_of_seen_combinations_are_held_out_and_asked_about() -> None:
    rows = [[0, 0]] * 10 + [[0, 1]] * 4 + [[1, 2]] * 5
    task = fixed(rows, leave_out(SPACE, {"a": 1, "b": 2}))
    trained = set(task.whole()[1].tolist())
    assert set(task.trained_on.nonzero()[:, 0].tolist()) == trained
    assert len(trained & set(range(10))) == 8
    assert trained >= set(range(10, 14)), "a fifth of four rows is none"
    points = torch.tensor([[0, 0], [0, 1], [1, 2]]).repeat_interleave(200, 0)
    asked = task.examples(points, Draws.single(0))[1]
    assert set(asked[:200].tolist()) == set(range(10)) - trained
    assert set(asked[200:400].tolist()) == set(range(10, 14))
    assert set(asked[400:].tolist()) == set(range(14, 19))
    assert set(task.trained_examples(points[:200], Draws.single(0))[1].tolist()) == trained & set(range(10))
    assert set(fixed(rows, leave_out(SPACE, {"a": 1, "b": 2}), held_out=0).whole()[1].tolist()) == set(range(14))
    for given in (torch.arange(19) < 6, [0, 1, 2, 3, 4, 5], np.arange(6)):
        assert fixed(rows, leave_out(SPACE, {"a": 1, "b": 2}), test_rows=given).whole()[1].tolist() == [*range(6, 14)]


def test_a_fixed_set_says_which_places_show_a_factor_and_refuses_what_is_no_row() -> None:
    task = fixed([[0, 0], [1, 1]], part={"b": slice(1, 2)})
    assert (task.part(0), task.part(1)) == (None, slice(1, 2))
    for wrong, message in (
        ({"held_out": 1.0}, "held_out is 1.0"),
        ({"test_rows": [2]}, "numbers of rows from 0 to 1"),
        ({"test_rows": [0.5]}, "a mask of 2 rows"),
        ({"test_rows": [0, 1]}, "no row is left to train on"),
        ({"part": {"c": slice(1)}}, "unknown factor 'c'"),
    ):
        with pytest.raises(InputError, match=message):
            fixed([[0, 0], [1, 1]], **wrong)
