from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st
from torch import Tensor, nn

from recombine.errors import InputError
from recombine.kernels import Kernel, fit_least_squares, problems
from recombine.measures import additivity, effects
from recombine.measures._additivity import anova, explained, seen_conjunctions
from recombine.tasks import SymbolicTask
from recombine.training import train

SQUARE = SymbolicTask.of(**vars(problems.addition([0], values=[0, 1, 2])))
"""Asked: the 2 × 2 block of items 1 and 2."""


class Table(nn.Module):
    """Answers from a table, whatever its parameters."""

    def __init__(self, values: list[list[float]]) -> None:
        super().__init__()
        self.register_buffer("values", torch.tensor(values))
        self.idle = nn.Parameter(torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        return torch.einsum("bi,bj,ij->b", x[:, :3], x[:, 3:], self.values)[:, None] + 0 * self.idle


def answered(values: list[list[float]]) -> dict[str, object]:
    ensemble = train(lambda: Table(values), SQUARE, steps=0, batch_size=None)
    row: dict[str, object] = additivity(ensemble, SQUARE, count=1).row(0, named=True)
    return row


def test_a_sum_over_items_is_additive_whatever_it_says_of_seen_pairs() -> None:
    row = answered([[9.0, -3.0, 5.0], [2.0, 1.0, 3.0], [8.0, 4.0, 6.0]])
    assert row["additivity"] == pytest.approx(1.0, abs=1e-12)
    assert row["adjusted"] == pytest.approx(1.0, abs=1e-12)
    assert (row["rank"], row["combinations"]) == (3, 4)


def test_a_single_unseen_pair_that_stands_out_by_hand() -> None:
    # Of the variance ¾ of (1, 0, 0, 0), the interaction of a 2 × 2 table keeps ¼: R² = ⅔, and nothing is left of it
    # after correcting for three numbers fitted to four.
    row = answered([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    assert row["additivity"] == pytest.approx(2 / 3)
    assert row["adjusted"] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("constant", [0.0, 0.1, 7.3])
def test_a_constant_output_is_additive(constant: float) -> None:
    assert answered([[constant] * 3] * 3)["additivity"] == 1.0


def test_what_any_output_would_match_has_no_adjusted_figure() -> None:
    task = SymbolicTask.of(**vars(problems.context_dependence(1)), loss="logistic")
    design = seen_conjunctions(task.test.codes, task.train.codes)
    _, adjusted, rank = explained(np.array([[1.0, -1.0]]), design)
    assert adjusted is None
    assert rank == 2


def test_the_left_out_pair_of_features_is_no_seen_conjunction() -> None:
    task = SymbolicTask.of(**vars(problems.context_dependence(3)), loss="logistic")
    design = seen_conjunctions(task.test.codes, task.train.codes)
    # Two contexts, each a sum over 3 + 3 features: 2 · (3 + 3 − 1) free numbers for 18 combinations.
    assert np.linalg.matrix_rank(design) == 10


@given(st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_kernel_machines_are_additive(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = problems.context_dependence(int(rng.integers(2, 4)))
    a, b, _ = rng.dirichlet(np.ones(3)) / 3
    answers = rng.normal(size=len(problem.train))
    outputs = fit_least_squares(Kernel.from_normalized(np.array([a, b])), problem.train, answers).predict(problem.test)
    raw, _, _ = explained(outputs[None], seen_conjunctions(problem.test, problem.train))
    assert raw[0] == pytest.approx(1.0, abs=1e-10)


def test_effects_add_up_and_sum_to_zero() -> None:
    table = np.random.default_rng(0).normal(size=(2, 3, 4, 2))
    parts = anova(table)
    assert np.allclose(sum(parts.values()), table)
    for subset, part in parts.items():
        for component in subset:
            assert np.allclose(part.sum(axis=component + 1), 0)


def test_weights_of_conjunctions_by_hand() -> None:
    ensemble = train(lambda: Table([[1.0, 1, 1], [2, 2, 2], [3, 3, 3]]), SQUARE, steps=0, batch_size=None)
    table = effects(ensemble, SQUARE, count=1)
    found = dict(zip(table["conjunction"], table["weight"], strict=True))
    assert found == pytest.approx({"": 2.0, "1": 2 / 3, "2": 0.0, "1·2": 0.0}, abs=1e-6)


def test_a_task_without_unseen_combinations_is_an_error() -> None:
    whole = SymbolicTask(levels=(2,), seen=((0,), (1,)), answers=(0.0, 1.0), asked=(), asked_answers=())
    ensemble = train(lambda: nn.Linear(2, 1), whole, steps=0, batch_size=None)
    with pytest.raises(InputError, match="unseen"):
        additivity(ensemble, whole, count=1)
