"""Swap, information, variance, influence, one step: models with known answers first."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from fixed_models import linear
from torch import Tensor, nn

from recombine import measures
from recombine.errors import InputError
from recombine.measures._information import estimate
from recombine.measures._one_step import gradient_terms
from recombine.space import FactorSpace
from recombine.support import Explicit, full, leave_out
from recombine.tasks import Draws, FixedTask, Task, ToyBoth, ToyTask, cross_entropy
from recombine.training import Ensemble, train


class Labels(Task):
    """Two components of ten levels, shown as their own one-hot codes; the answer is the first."""

    space = FactorSpace.of(one=10, two=10)
    train = Explicit(space, [(a, (a + o) % 10) for a in range(10) for o in (0, 1)])
    test = ~train

    def part(self, component: int) -> slice:
        return slice(10 * component, 10 * component + 10)

    def examples(self, points: Tensor, draws: Draws) -> tuple[Tensor, Tensor]:
        hot = torch.nn.functional.one_hot(points, 10).float()
        return hot.flatten(-2), points[..., 0]

    def losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        return cross_entropy(outputs, targets)


def reader(first: float, second: float) -> Callable[[], nn.Module]:
    """A linear model whose scores are first · e(z₁) + second · e(z₂)."""

    def build() -> nn.Module:
        model = nn.Linear(20, 10)
        with torch.no_grad():
            model.weight.copy_(torch.cat([first * torch.eye(10), second * torch.eye(10)], 1))
            model.bias.zero_()
        return model

    return build


def fresh(model: Any, task: Task, members: int = 2) -> Ensemble:
    return train(model, task, members=members, steps=0, batch_size=4)


def by(table: pl.DataFrame, key: str, value: str) -> dict[Any, list[float]]:
    return {name[0]: part[value].to_list() for name, part in table.group_by(key, maintain_order=True)}


def test_swap_is_zero_for_what_is_ignored_and_one_for_what_alone_is_read() -> None:
    table = measures.swap(fresh(reader(60.0, 0.0), Labels()), Labels(), 300)
    assert by(table, "component", "flip") == {"one": [1, 1], "two": [0, 0]}
    assert by(table, "component", "tv")["two"] == [0, 0]
    assert min(by(table, "component", "tv")["one"]) > 1 - 1e-9
    other = measures.swap(fresh(reader(0.0, 60.0), Labels()), Labels(), 300)
    assert by(other, "component", "flip") == {"one": [0, 0], "two": [1, 1]}


def test_swap_follows_the_larger_score() -> None:
    # Both digits are read, the second more: exchanging the first changes the answer never, the second always.
    table = measures.swap(fresh(reader(1.0, 2.0), Labels()), Labels(), 300)
    assert by(table, "component", "flip") == {"one": [0, 0], "two": [1, 1]}
    assert all(0 < value < 1 for value in by(table, "component", "tv")["one"])


def test_swap_without_parts_changes_the_combination_and_nothing_else() -> None:
    space = FactorSpace.of(a=2, b=3)
    codes = torch.as_tensor(space.grid())
    inputs = torch.cat([codes.float(), -codes.float(), torch.ones(6, 1)], 1)
    task = FixedTask(space, full(space), full(space), inputs, codes[:, 0], codes, cross_entropy)

    def build() -> nn.Module:
        model = nn.Linear(5, 2, bias=False)
        with torch.no_grad():
            model.weight.copy_(torch.tensor([[0.0, 0, 0, 0, 5], [10.0, 0, 0, 0, 0]]))
        return model

    assert by(measures.swap(fresh(build, task), task, 64), "component", "flip") == {"a": [1, 1], "b": [0, 0]}


def mixture(copies: float, levels: int = 10) -> np.ndarray[Any, Any]:
    """P(ŷ, y_j, y_i) for uniform labels and ŷ = y_j with probability ``copies``, else y_i."""
    table = np.zeros((levels, levels, levels))
    for j in range(levels):
        for i in range(levels):
            table[j, j, i] += copies / levels**2
            table[i, j, i] += (1 - copies) / levels**2
    return table


def test_conditional_information_of_known_tables() -> None:
    same, other = 0.82, 0.02
    exact = -same * math.log(same) - 9 * other * math.log(other) + 0.9 * (0.8 * math.log(0.8) + 0.2 * math.log(0.2))
    found = float(measures.conditional_information(mixture(0.2)))
    assert abs(found - exact) < 1e-12
    assert round(found, 5) == 0.41653
    assert float(measures.conditional_information(mixture(0.0))) == 0
    assert abs(float(measures.conditional_information(mixture(1.0))) - math.log(10)) < 1e-12
    # ŷ = y_j ⊕ y_i: nothing alone, one bit once y_i is known.
    parity = np.zeros((2, 2, 2))
    for j in range(2):
        for i in range(2):
            parity[j ^ i, j, i] = 0.25
    assert abs(float(measures.conditional_information(parity)) - math.log(2)) < 1e-12
    # A common cause: ŷ and y_j are both copies of y_i, so that nothing is left between them.
    common = np.zeros((3, 3, 3))
    common[range(3), range(3), range(3)] = [0.5, 0.3, 0.2]
    assert float(measures.conditional_information(common)) == 0
    # One binary channel with error e in each stratum: ln 2 − h(e).
    channel = np.array([[0.45, 0.05], [0.05, 0.45]])[:, :, None] * np.array([0.25, 0.75])
    entropy = -0.1 * math.log(0.1) - 0.9 * math.log(0.9)
    assert abs(float(measures.conditional_information(channel)) - (math.log(2) - entropy)) < 1e-12
    assert measures.conditional_information(np.stack([mixture(0.2), mixture(0.0)])).shape == (2,)


@pytest.mark.parametrize("count", [4_000, 200_000])
def test_the_corrected_estimate_from_samples_covers_the_truth(count: int) -> None:
    rng = np.random.default_rng(1)
    i, j = rng.integers(10, size=(2, count))
    answer = np.where(rng.random(count) < 0.2, j, i)
    found = estimate(answer, j, i, shuffles=16)
    assert found.low < 0.41653 < found.high
    assert found.p == 1 / 17
    if count > 100_000:
        assert abs(found.corrected - 0.41653) < 0.01
    none = estimate(i, j, i, shuffles=16)
    assert none.plugin == none.null == 0
    noise = estimate(rng.integers(10, size=count), j, i, shuffles=16)
    assert abs(noise.corrected) < 4 * noise.null / math.sqrt(16)
    assert noise.p > 1 / 17 or noise.corrected < noise.null / 10


def test_information_of_models_with_known_answers() -> None:
    table = measures.information(fresh(reader(60.0, 0.0), Labels()), Labels(), 3000, 4)
    assert by(table, "component", "plugin")["two"] == [0, 0]
    assert all(abs(v - math.log(10)) < 0.02 for v in by(table, "component", "plugin")["one"])
    assert set(table.columns) == {"member", "component", "information", "plugin", "null", "p", "error"}


def test_variance_splits_additive_scores_exactly() -> None:
    table = by(measures.variance(fresh(reader(2.0, 1.0), Labels()), Labels(), 2), "part", "share")
    # Both parts are one-hot codes, so their variances are as 2² to 1²; nothing is noise, nothing an interaction.
    assert table["1"] == pytest.approx([0.8, 0.8], abs=1e-6)
    assert table["2"] == pytest.approx([0.2, 0.2], abs=1e-6)
    assert table["1·2"] == pytest.approx([0, 0], abs=1e-9)
    assert table["within"] == pytest.approx([0, 0], abs=1e-9)
    with pytest.raises(InputError, match="at least 2"):
        measures.variance(fresh(reader(2.0, 1.0), Labels()), Labels(), 1)


def test_influence_by_component_is_the_norm_of_the_weights() -> None:
    table = measures.component_influence(fresh(reader(3.0, 1.0), Labels()), Labels(), 50)
    # d(ŷ_y − mean ŷ)/dx has the norm s · √(0.9² + 9 · 0.1²) at each part.
    norm = math.sqrt(0.81 + 0.09)
    assert by(table, "component", "influence")["one"] == pytest.approx([3 * norm] * 2, rel=1e-6)
    assert by(table, "component", "share")["two"] == pytest.approx([0.25] * 2, rel=1e-6)


def test_wrong_answers_snap_to_seen_pairs() -> None:
    task = Labels()
    copies = measures.nearest_seen(fresh(reader(0.0, 60.0), task), task, 2)
    # It answers with the second digit, and (b, b) was seen.
    assert copies["snapped"].to_list() == [1, 1]
    assert copies["unseen"].to_list() == [0, 0]
    assert copies["chance"].to_list() == pytest.approx([2 / 9] * 2)
    assert copies["combinations"].to_list() == [10, 10]
    assert copies["perplexity"].to_list() == pytest.approx([10, 10])
    right = measures.nearest_seen(fresh(reader(60.0, 0.0), task), task, 2)
    assert right["snapped"].to_list() == [None, None]
    assert right["unseen"].to_list() == [1, 1]
    # Every one of the 80 pairs that are asked is answered as often as the others.
    assert right["combinations"].to_list() == [80, 80]
    assert right["perplexity"].to_list() == pytest.approx([80, 80])


def constant(scores: list[float]) -> Callable[[], nn.Module]:
    """A model of two inputs that always says the same."""

    def build() -> nn.Module:
        model = nn.Linear(2, len(scores))
        with torch.no_grad():
            model.weight.zero_()
            model.bias.copy_(torch.tensor(scores))
        return model

    return build


def test_answers_to_both_are_a_combination() -> None:
    task = ToyBoth()
    # (1, 1) is asked; the answer is (1, 0), which training saw, as it did all that are wrong.
    wrong = measures.nearest_seen(fresh(constant([0.0, 1.0, 1.0, 0.0]), task), task, 16).row(0, named=True)
    assert wrong == {
        "member": 0, "unseen": 0.0, "snapped": 1.0, "chance": 1.0, "combinations": 1, "perplexity": 1.0
    }  # fmt: skip
    right = measures.nearest_seen(fresh(constant([0.0, 1.0, 0.0, 1.0]), task), task, 16).row(0, named=True)
    assert (right["unseen"], right["snapped"], right["combinations"]) == (1.0, None, 1)
    three = linear([([[0.0, 0.0]] * 3, [0.0, 1.0, 0.0])])
    with pytest.raises(InputError, match="one of 2 and of 2 classes"):
        measures.nearest_seen(three, task, 4)
    # (1, 1) has x₁ uniform on (0, 1]; answered with (1, 1) where x₁ > ½ and with (0, 1) elsewhere: half and half.
    by_first = linear([([[0.0, 0.0], [2.0, 0.0], [0.0, 0.0], [0.0, 0.0]], [1.0, 0.0, 0.0, 1.0])])
    halves = measures.nearest_seen(by_first, task, 4096).row(0, named=True)
    assert halves["combinations"] == 2
    assert halves["perplexity"] == pytest.approx(2, abs=0.01)
    assert halves["unseen"] == pytest.approx(0.5, abs=0.04)


def test_a_hard_answer_is_informative_and_has_no_derivative() -> None:
    table = measures.hard_answer(fresh(reader(60.0, 0.0), Labels()), Labels(), 3000)
    assert table["moves"].to_list() == [0, 0]
    assert all(abs(v - math.log(10)) < 0.02 for v in table["information"])


def test_the_terms_of_the_outputs_add_up_to_the_gradient() -> None:
    task = ToyTask()
    ensemble = fresh(lambda: nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 2)), task)
    inputs, targets = task.batch(Draws.single(0), 64)
    assert isinstance(inputs, Tensor)
    terms = gradient_terms(ensemble, task, inputs, targets).sum(1)
    for row, member in enumerate(ensemble.members):
        module = ensemble.member(member)
        task.losses(module(inputs), targets).mean().backward()
        grads = {name: p.grad for name, p in module.named_parameters()}
        torch.testing.assert_close(terms[row], ensemble.layout.row(grads, torch.float32))  # type: ignore[arg-type]


def test_one_step_leaves_the_ensemble_and_adds_what_the_step_added() -> None:
    task = Labels()
    ensemble = fresh(lambda: nn.Linear(20, 10), task)
    before = ensemble.flat.clone()
    still = measures.one_step(ensemble, task, lr=0.0)
    assert torch.equal(ensemble.flat, before)
    assert still["added"].to_list() == [0] * 4
    assert still["before"].to_list() == still["after"].to_list()
    moved = measures.one_step(ensemble, task, lr=0.5)
    assert moved["added"].min() > 0
    assert 0 < moved["cancellation"].min() <= moved["cancellation"].max() <= 1
    # A linear model's step is lr times its gradient, so twice the rate adds twice as much.
    twice = measures.one_step(ensemble, task, lr=1.0)
    assert twice["added"].to_list() == pytest.approx([2 * v for v in moved["added"].to_list()], rel=1e-4)


class Middle(ToyBoth):
    """The toy with both answers at the mean of its noise, each combination once: expectations are exact."""

    kind = "middle"

    def examples(self, points: Tensor, draws: Draws) -> tuple[Tensor, Tensor]:
        return points - 0.5, points

    def batch(self, draws: Draws, size: int) -> tuple[Tensor, Tensor]:
        inputs, targets = self.whole(draws.keys.device)
        assert isinstance(inputs, Tensor)
        return inputs.expand(*draws.lead, -1, -1), targets.expand(*draws.lead, -1, -1)


@pytest.mark.parametrize(("other", "across"), [("redundant", 1 / 12), ("uninformative", 0.0), ("independent", 1 / 36)])
def test_one_step_of_a_linear_model_with_two_answers_is_known(other: Any, across: float) -> None:
    task, rate = Middle(other=other), 0.3
    table = measures.step_matrix(fresh(constant([0.0] * 4), task), task, lr=rate, count=40)
    assert table["before"].to_list() == [0] * 8
    for row in table.iter_rows(named=True):
        expected = rate * (1 / 4 if row["output"] == row["component"] else across)
        assert row["added"] == pytest.approx(expected, abs=1e-7)
        # The weights of one answer are not those of the other, so its own term gives all of it.
        assert row["alone"] == pytest.approx(expected, abs=1e-7)
        assert row["cancellation"] == pytest.approx(math.sqrt(1 / 2), rel=1e-6)
    # With the noise, the same in expectation.
    noisy = ToyBoth(other=other)
    close = measures.step_matrix(fresh(constant([0.0] * 4), noisy), noisy, lr=rate, batch=100_000, count=40)
    assert close["added"].to_list() == pytest.approx(table["added"].to_list(), abs=0.005 * rate)


def test_terms_of_two_answers_can_cancel() -> None:
    task = Middle()

    class Shared(nn.Module):
        """One number for both answers, read with opposite signs: what one gains the other loses."""

        def __init__(self) -> None:
            super().__init__()
            self.number = nn.Parameter(torch.zeros(1))

        def forward(self, x: Tensor) -> Tensor:
            score, none = self.number * torch.ones_like(x[..., 0]), torch.zeros_like(x[..., 0])
            return torch.stack([none, score, none, -score], -1)

    table = measures.step_matrix(fresh(Shared, task), task, lr=1.0, count=8)
    assert table["cancellation"].to_list() == pytest.approx([0] * 8, abs=1e-6)
    with pytest.raises(InputError, match="one answer only"):
        measures.step_matrix(fresh(constant([0.0, 0.0]), ToyTask()), ToyTask())


def test_resistance_by_hand() -> None:
    rows = [(0, 0, 0.1, 0.1), (0, 10, 0.9, 0.3), (0, 20, 1.0, 0.6)]
    control = [(0, 0, 0.1, 0.1), (0, 10, 0.5, 0.5), (0, 20, 0.9, 0.8), (7, 0, 0.0, 0.0), (7, 20, 0.0, 0.0)]

    def frame(values: list[tuple[int, int, float, float]]) -> pl.DataFrame:
        flat = [(m, s, v, a) for m, s, t, u in values for v, a in (("trained", t), ("unseen", u))]
        return pl.DataFrame(flat, schema=["member", "step", "view", "accuracy"], orient="row")

    found = measures.resistance(frame(rows), frame(control)).row(0, named=True)
    assert found["resistance"] == pytest.approx(0.2)
    assert found["gap"] == pytest.approx(0.4)
    # Areas by the trapezoidal rule: A (0.5 + 0.95) / 2, control (0.3 + 0.7) / 2.
    assert found["speed"] == pytest.approx(0.725 - 0.5)
    assert found["lowest"] == pytest.approx(0.1)
    early = measures.resistance(frame(rows), frame(control), until=10)
    assert early["speed"].to_list() == pytest.approx([0.2])
    assert early["member"].to_list() == [0]
    with pytest.raises(InputError, match="no column 'view'"):
        measures.resistance(frame(rows).drop("view"), frame(control))


def test_views_of_a_task_without_its_own_are_its_supports() -> None:
    task = Labels()
    table = measures.views(fresh(reader(60.0, 0.0), task), task, 64)
    assert table["view"].unique(maintain_order=True).to_list() == ["trained", "unseen"]
    assert table["loss"].max() < 1e-6  # type: ignore[operator]
    toy = ToyTask()
    seen = measures.views(fresh(lambda: nn.Linear(2, 2), toy), toy, 64)
    assert seen.columns == ["member", "view", "loss", "accuracy"]
    assert leave_out(toy.space, {"y1": 1, "y2": 1}) is not None
