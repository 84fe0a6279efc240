"""Losses and scores by combination, the gap, and R², of models whose answers are known."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
import torch
from fixed_models import Sum, linear
from torch import nn

from recombine.errors import InputError
from recombine.measures import gap, interval, per_combination, r_squared
from recombine.space import FactorSpace
from recombine.support import full
from recombine.tasks import FixedTask, squared_error
from recombine.training import Ensemble

TASK = Sum()
EXACT, BLIND, WILD = ([[1.0, 2.0]], [0.0]), ([[1.0, 0.0]], [0.0]), ([[math.inf, 0.0]], [0.0])


def test_every_combination_of_every_member_is_listed_with_its_known_loss() -> None:
    table = per_combination(linear([EXACT, BLIND], [3, 8]), TASK, count=4)
    assert table.columns == ["member", "a", "b", "seen", "count", "loss", "accuracy"]
    assert len(table) == 2 * 6
    assert table["count"].unique().to_list() == [4]
    assert table.filter(pl.col("member") == 3)["loss"].to_list() == [0] * 6
    blind = table.filter(pl.col("member") == 8)
    assert blind["loss"].to_list() == [(2 * b) ** 2 for b in blind["b"]]
    assert blind["accuracy"].to_list() == [float(b == 0) for b in blind["b"]]
    assert blind["seen"].to_list() == [b < 2 for b in blind["b"]]
    assert blind.select("a", "b").rows() == [(a, b) for a in range(2) for b in range(3)]


def test_chosen_combinations_keep_their_order() -> None:
    table = per_combination(linear([BLIND]), TASK, points=np.array([[1, 2], [0, 0]]), count=1)
    assert table.select("a", "b", "seen", "loss").rows() == [(1, 2, False, 16.0), (0, 0, True, 0.0)]


def test_examples_are_shared_by_members_and_hang_on_the_seed() -> None:
    noisy = Sum(noise=1.0)
    table = per_combination(linear([EXACT, EXACT]), noisy, count=8)
    assert (
        table.filter(pl.col("member") == 0)["loss"].to_list() == table.filter(pl.col("member") == 1)["loss"].to_list()
    )
    assert table.equals(per_combination(linear([EXACT, EXACT]), noisy, count=8))
    assert not table.equals(per_combination(linear([EXACT, EXACT]), noisy, count=8, seed=1))
    mean = per_combination(linear([EXACT]), noisy, count=20_000)["loss"].mean()
    expected = 5 / 12 + 9 / 4  # E(u₁ + 2u₂)²
    assert mean == pytest.approx(expected, rel=0.02)


def test_chunks_of_combinations_change_nothing_but_the_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = per_combination(linear([BLIND, EXACT]), TASK, count=4)
    monkeypatch.setattr("recombine.measures.gaps.CHUNK_EXAMPLES", 8)
    assert per_combination(linear([BLIND, EXACT]), TASK, count=4).equals(whole)
    assert r_squared(linear([BLIND]), TASK, count=4)["r2"].to_list() == pytest.approx([r2_blind(True), r2_blind(False)])


def r2_blind(seen: bool) -> float:
    """1 − Σ(2b)² / Σ(y − ȳ)², by hand."""
    points = [(a, b) for a in range(2) for b in range(3) if (b < 2) == seen]
    y = np.array([a + 2 * b for a, b in points])
    return float(1 - sum((2 * b) ** 2 for _, b in points) / ((y - y.mean()) ** 2).sum())


def test_r_squared_by_hand() -> None:
    table = r_squared(linear([EXACT, BLIND], [1, 5]), TASK, count=3)
    assert table.columns == ["member", "split", "r2"]
    assert table.rows()[0] == (1, "seen", 1.0)
    assert table.filter(pl.col("member") == 5)["r2"].to_list() == pytest.approx([r2_blind(True), r2_blind(False)])
    mean = linear([([[0.0, 0.0]], [1.5])])  # the mean of the seen targets 0, 2, 1, 3
    assert r_squared(mean, TASK, count=3).filter(pl.col("split") == "seen")["r2"].to_list() == pytest.approx([0])


def test_r_squared_of_targets_that_do_not_vary_is_missing() -> None:
    space = FactorSpace.of(a=2)
    task = FixedTask(
        space, full(space), full(space), torch.zeros(2, 2), torch.ones(2, 1), torch.tensor([[0], [1]]), squared_error
    )
    table = r_squared(linear([EXACT]), task, count=2)
    assert table.rows() == [(0, "seen", None)]


def test_r_squared_refuses_outputs_that_would_broadcast() -> None:
    wide = linear([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0])])
    with pytest.raises(InputError, match="R² needs outputs of the shape of the targets"):
        r_squared(wide, TASK)


def test_the_gap_by_hand() -> None:
    table = per_combination(linear([BLIND, ([[1.0, 1.0]], [0.0])]), TASK, count=2)
    found = gap(table)
    # member 0 is right at b = 0; member 1 too: seen 1/2, unseen 0 for both
    assert (found.score, found.seen.values, found.unseen.values) == ("accuracy", (0.5, 0.5), (0.0, 0.0))
    assert found.gap.values == (0.5, 0.5)
    assert (found.diverged, found.worst_count) == (0, 2)
    losses = gap(table, "loss", larger_is_better=False)
    assert losses.seen.values == (2.0, 0.5)  # mean of 0, 4, 0, 4 and of 0, 1, 0, 1
    assert losses.unseen.values == (16.0, 4.0)
    assert losses.gap == interval([-14.0, -3.5])
    assert losses.worst_score.values == (16.0, 4.0)


def test_the_worst_combination_is_the_worst_over_members() -> None:
    crooked = ([[0.0, 2.0]], [0.0])  # wrong by a²: only where a = 1
    losses = gap(per_combination(linear([crooked, crooked, EXACT]), TASK, count=1), "loss", larger_is_better=False)
    assert losses.worst == {"a": 1, "b": 2}
    assert losses.worst_score == interval([1.0, 1.0, 0.0])
    best = gap(per_combination(linear([crooked, crooked, EXACT]), TASK, count=1), "loss", larger_is_better=True)
    assert best.worst == {"a": 0, "b": 2}


def test_members_that_diverged_are_counted_and_set_aside() -> None:
    table = per_combination(linear([BLIND, WILD, EXACT]), TASK, count=2)
    found = gap(table)
    assert found.diverged == 1
    assert found.seen.values == (0.5, 1.0)
    assert found.unseen.values == (0.0, 1.0)
    with pytest.raises(InputError, match="a gap needs members that did not diverge"):
        gap(per_combination(linear([WILD]), TASK, count=2))


def test_bad_requests() -> None:
    table = per_combination(linear([BLIND]), TASK, count=1)
    with pytest.raises(InputError, match="no column 'acuracy'; it has member, a, b"):
        gap(table, "acuracy")
    with pytest.raises(InputError, match="both seen and unseen"):
        gap(table.filter(pl.col("seen")))
    with pytest.raises(InputError, match="the support is empty"):
        per_combination(linear([BLIND]), TASK, points=np.empty((0, 2)))
    with pytest.raises(InputError, match="factor 'b' goes from 0 to 2"):
        per_combination(linear([BLIND]), TASK, points=np.array([[0, 3]]))
    space = FactorSpace.of(loss=2)
    task = FixedTask(
        space, full(space), full(space), torch.zeros(2, 2), torch.zeros(2, 1), torch.tensor([[0], [1]]), squared_error
    )
    with pytest.raises(InputError, match="a factor called 'loss' would clash"):
        per_combination(linear([BLIND]), task)


@pytest.mark.parametrize(
    ("levels", "expected"),
    [([1, 2.5], [1.0, 2.5]), (["x", 3], ["x", "3"]), ([True, "no"], ["True", "no"]), ([7, 8], [7, 8])],
)
def test_levels_of_several_kinds_share_a_column(levels: list[object], expected: list[object]) -> None:
    space = FactorSpace.of(a=levels)  # type: ignore[arg-type]
    task = FixedTask(
        space, full(space), full(space), torch.zeros(2, 2), torch.zeros(2, 1), torch.tensor([[0], [1]]), squared_error
    )
    assert per_combination(linear([BLIND]), task, count=1)["a"].to_list() == expected


def test_a_factor_called_like_a_score_is_not_overwritten() -> None:
    space = FactorSpace.of(accuracy=2)
    rows = torch.tensor([[0], [1]])
    task = FixedTask(
        space, full(space), full(space), torch.zeros(2, 2), torch.zeros(2, 1), rows, squared_error,
        scores=lambda o, t: {"accuracy": o[:, 0]},
    )  # fmt: skip
    with pytest.raises(InputError, match="'accuracy' would clash with the score of that name"):
        per_combination(linear([BLIND]), task, count=1)


def test_a_looped_ensemble_gives_the_same_table() -> None:
    one = linear([BLIND, EXACT])
    assert per_combination(one, TASK, count=3).equals(per_combination(_looped(one), TASK, count=3))


def _looped(ensemble: Ensemble) -> Ensemble:
    again = Ensemble.of(ensemble.tensors(), ensemble.members, lambda: nn.Linear(2, 1).double())
    again.looped = True
    return again
