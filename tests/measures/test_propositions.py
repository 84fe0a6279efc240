"""What Li et al. (2020) prove of influence, where it can be worked out: propositions 1, 2 and 3, and where they end."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st
from torch import Tensor, nn

from recombine import measures
from recombine.measures._one_step import gradient_terms
from recombine.space import FactorSpace
from recombine.support import full
from recombine.tasks import Draws, Task
from recombine.training import train


def information(joint: np.ndarray) -> float:
    """I(A; B) of weights (A × B)."""
    return float(measures.conditional_information(joint[:, :, None]))


@pytest.mark.parametrize("levels", [2, 3, 12])
def test_the_converse_of_proposition_1_fails_on_a_ring(levels: int) -> None:
    """Y = X + U around a ring, U drawn evenly: Y moves with X at the rate 1 everywhere, and says nothing of it. Without
    U it says all."""
    x, u = np.meshgrid(np.arange(levels), np.arange(levels), indexing="ij")
    joint = np.zeros((levels, levels))
    np.add.at(joint, (x, (x + u) % levels), 1.0)
    assert information(joint) == pytest.approx(0, abs=1e-12)
    assert information(np.eye(levels)) == pytest.approx(np.log(levels))


weights = st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=4, max_size=4)


@given(weights, *[st.lists(st.integers(0, 2), min_size=4, max_size=4)] * 2)
def test_proposition_2_an_answer_that_says_more_of_y_says_as_much_of_x(
    table: list[list[int]], before: list[int], after: list[int]
) -> None:
    """Ŷ is made of X alone, so I(X; Ŷ) ≥ I(Y; Ŷ), whatever the joint weights of X and Y; where a change of the answer
    adds to I(Y; Ŷ), I(X; Ŷ) is above zero after it."""
    joint = np.array(table, dtype=float) + 1e-3
    says, told = [], []
    for answer in (before, after):
        chosen = np.eye(3)[answer]
        says.append(information(joint.T @ chosen))
        told.append(information(joint.sum(1)[:, None] * chosen))
    assert all(of_x >= of_y - 1e-12 for of_x, of_y in zip(told, says, strict=True))
    if says[1] > says[0] + 1e-9:
        assert told[1] > 0


class Line(Task):
    """X = ±1 and Y = slope · X, by squared error: what one step does to w of ŷ = w x is w − 2 lr (w − slope)."""

    space = FactorSpace.of(x=2)
    train = test = full(space)

    def __init__(self, slope: float) -> None:
        self.slope = slope

    def examples(self, points: Tensor, draws: Draws) -> tuple[Tensor, Tensor]:
        x = 2.0 * points.float() - 1
        return x, self.slope * x

    def losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        return (outputs - targets).square().sum(-1)


def starting_at(weight: float) -> Callable[[], nn.Module]:
    def build() -> nn.Module:
        model = nn.Linear(1, 1, bias=False)
        torch.nn.init.constant_(model.weight, weight)
        return model

    return build


@pytest.mark.parametrize(
    ("slope", "start", "lr", "after"),
    [(2.0, 0.0, 0.1, 0.4), (0.0, 0.0, 0.1, 0.0), (2.0, -1.0, 1 / 6, 0.0), (2.0, 2.0, 0.1, 2.0)],
    ids=["X helps", "X says nothing", "the step ends at zero", "nothing is left to learn"],
)
def test_proposition_3_one_step_of_a_line(slope: float, start: float, lr: float, after: float) -> None:
    """Where X can lower the loss, ∂Ŷ/∂X ≠ 0 after the step — but for one length of the step from the wrong side, from
    which the loss falls (9 to 4) and the slope is zero: what is proved is “almost surely”."""
    task = Line(slope)
    ensemble = train(starting_at(start), task, members=1, steps=0, batch_size=4)
    inputs, targets = task.batch(Draws.single(0), 8)
    assert isinstance(inputs, Tensor)
    moved = ensemble.flat - lr * gradient_terms(ensemble, task, inputs, targets).sum(1)
    weight = ensemble.layout.split(moved)["weight"]
    assert weight.item() == pytest.approx(after, abs=1e-6)
