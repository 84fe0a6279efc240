"""Ticks of small panels."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from recombine.figures.axes import ends


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [(0.0, 1.0, [0.0, 0.5, 1.0]), (-0.125, 5.375, [0.0, 2.0, 4.0]), (-6.05, 1.15, [-6.0, -4.0, -2.0, 0.0])],
)
def test_ends_are_ticks_where_they_are_round(low: float, high: float, ticks: list[float]) -> None:
    assert ends(low, high).to_dict()["values"] == ticks


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_there_are_few_ticks_and_all_lie_inside(low: float, size: float) -> None:
    ticks = ends(low, low + size).to_dict()["values"]
    assert 1 <= len(ticks) <= 4
    assert all(low - 1e-9 * (abs(low) + size) <= tick <= low + size + 1e-9 * (abs(low) + size) for tick in ticks)
