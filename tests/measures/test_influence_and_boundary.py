"""Slopes and boundaries of classifiers that can be solved by hand."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
import torch
from fixed_models import linear

from recombine.errors import InputError
from recombine.measures import boundary, decision_map, influence
from recombine.space import FactorSpace
from recombine.support import full
from recombine.tasks import Draws, FixedTask, ToyTask, squared_error

TASK = ToyTask()
ZERO = [0.0, 0.0]


def classifier(*rows: tuple[float, float, float]) -> object:
    """p(1) = σ(a x₁ + b x₂ + c) for each (a, b, c)."""
    return linear([([ZERO, [a, b]], [0.0, c]) for a, b, c in rows])


def test_influence_is_the_mean_slope_of_a_logistic_unit() -> None:
    rows = [(2.0, -0.5, 0.3), (0.0, 0.0, 0.0), (1.0, 3.0, -1.0)]
    table = influence(classifier(*rows), TASK, count=64)  # type: ignore[arg-type]
    assert table.columns == ["member", "input", "influence"]
    points = torch.as_tensor(TASK.space.grid()).repeat_interleave(64, 0)
    x, _ = TASK.examples(points, Draws.single(0, "influence"))
    for member, (a, b, c) in enumerate(rows):
        p = torch.sigmoid(a * x[:, 0].double() + b * x[:, 1].double() + c)
        slope = (p * (1 - p)).mean()
        got = table.filter(pl.col("member") == member)["influence"].to_list()
        assert got == pytest.approx([abs(a) * float(slope), abs(b) * float(slope)], rel=1e-9)
    assert table.filter(pl.col("member") == 1)["influence"].to_list() == [0, 0]


def test_influence_of_either_outcome_is_the_same_for_two_classes_and_shrinks_with_certainty() -> None:
    sure, unsure = classifier((40.0, 0.0, 100.0)), classifier((4.0, 0.0, 0.0))
    one, other = influence(unsure, TASK, outcome=1, count=16), influence(unsure, TASK, outcome=0, count=16)  # type: ignore[arg-type]
    assert one["influence"].to_list() == pytest.approx(other["influence"].to_list(), rel=1e-12)
    assert influence(sure, TASK, count=16)["influence"][0] < 1e-9  # type: ignore[arg-type]


def test_influence_looks_at_all_four_quarters_alike() -> None:
    """A unit that is steep on the unseen quarter only still shows its slope."""
    steep = classifier((30.0, 30.0, -30.0))
    got = influence(steep, TASK, count=4000)["influence"][0]  # type: ignore[arg-type]
    # E|a| p(1 − p) over [−1, 1]²: the density of x₁ + x₂ at 1 is 1/4, and ∫ p(1 − p) d(30 s) = 1.
    assert got == pytest.approx(0.25, rel=0.05)


def test_influence_needs_one_input_tensor() -> None:
    space = FactorSpace.of(a=2)
    rows = torch.tensor([[0], [1]])
    task = FixedTask(
        space, full(space), full(space), (torch.zeros(2, 1), torch.zeros(2, 1)), torch.zeros(2, 1), rows, squared_error
    )
    with pytest.raises(InputError, match="one input tensor"):
        influence(classifier((1.0, 0.0, 0.0)), task)  # type: ignore[arg-type]


def test_the_boundary_of_a_line_is_the_line() -> None:
    rows = [(1.0, 0.0, 0.0), (1.0, 0.5, -0.2), (1.0, 0.0, 5.0), (1.0, 0.0, -5.0)]
    table = boundary(classifier(*rows), TASK, lines=5, points=2001)  # type: ignore[arg-type]
    assert table.columns == ["member", "x2", "x1"]
    assert table.filter(pl.col("member") == 2)["x2"].to_list() == [-1, -0.5, 0, 0.5, 1]
    for member, (_, b, c) in enumerate(rows):
        mine = table.filter(pl.col("member") == member)
        expected = np.clip([-b * x2 - c for x2 in mine["x2"]], -1, 1)
        assert np.abs(mine["x1"].to_numpy() - expected).max() <= 1 / 2001 + 1e-9


def test_a_boundary_that_opens_to_the_left_gives_the_share_of_the_line() -> None:
    table = boundary(classifier((-1.0, 0.0, -0.5)), TASK, lines=3, points=4000)  # type: ignore[arg-type]
    assert table["x1"].to_list() == pytest.approx([0.5] * 3, abs=1e-3)  # class 1 on [−1, −½]: a quarter of the line


def test_the_map_tells_the_class_at_the_middle_of_each_cell() -> None:
    table = decision_map(classifier((1.0, -1.0, 0.0), (-1.0, 0.0, 0.0)), TASK, resolution=4)  # type: ignore[arg-type]
    assert table.columns == ["member", "x1", "x2", "choice"]
    assert len(table) == 2 * 16
    assert sorted(set(table["x1"])) == [-0.75, -0.25, 0.25, 0.75]
    first = table.filter(pl.col("member") == 0)
    assert first["choice"].to_list() == [int(x1 > x2) for x1, x2 in first.select("x1", "x2").rows()]
    second = table.filter(pl.col("member") == 1)
    assert second["choice"].to_list() == [int(x1 < 0) for x1 in second["x1"]]
    off = decision_map(classifier((1.0, 0.0, 0.0)), TASK, resolution=2, low=0.0, high=4.0)  # type: ignore[arg-type]
    assert off.select("x1", "x2").rows() == [(1, 1), (1, 3), (3, 1), (3, 3)]


def test_known_constants() -> None:
    p = 1 / (1 + math.exp(-2.0))
    table = influence(classifier((0.5, 0.0, 2.0)), TASK, count=1)  # type: ignore[arg-type]
    assert 0.5 * 0.25 >= table["influence"][0] > 0
    assert abs(table["influence"][0] - 0.5 * p * (1 - p)) < 0.03
