"""Axes that several charts share: one that doubles and can show zero, and ticks for small panels."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import altair as alt
import polars as pl


def along(values: pl.Series, log: bool, width: int, domain: tuple[float, float] | None = None) -> dict[str, Any]:
    """Scale and axis of the quantity a line runs along.

    With ``log`` it doubles; where it holds 0 (the step before training) it is log(1 + x), which has a place for it."""
    limits: dict[str, Any] = {"domain": list(domain)} if domain else {}
    if not log:
        scale = alt.Scale(zero=False, nice=False, **limits)
        return {"scale": scale, "axis": alt.Axis(tickCount=max(3, width // 90))}
    if values.min() == 0:
        scale = alt.Scale(type="symlog", constant=1, nice=False, **limits)
    else:
        scale = alt.Scale(type="log", base=2, nice=False, **limits)
    ticks = powers_of_two(values.drop_nulls().to_list(), most=max(4, width // 55))
    return {"scale": scale, "axis": alt.Axis(values=ticks, format=".9~g")}


def powers_of_two(values: Iterable[float], most: int = 7) -> list[float]:
    """Ticks for a doubling axis: 0 where it occurs, then powers of two, thinned evenly and ending with the last."""
    found = list(values)
    positive = [value for value in found if value > 0]
    if not positive:
        return [0.0]
    first, last = math.ceil(math.log2(min(positive)) - 1e-9), math.floor(math.log2(max(positive)) + 1e-9)
    stride = max(1, math.ceil((last - first + 1) / most))
    ticks = [2.0**power for power in range(last, first - 1, -stride)][::-1]
    return ([0.0] if 0 in found else []) + ticks


def ends(low: float, high: float, **title: Any) -> alt.Axis:
    """Both ends and the middle where they are round, else a few round places between: all the ticks a small panel has
    room for."""
    values = [low, (low + high) / 2, high]
    if any(value not in (round(value), float(f"{value:.2g}")) for value in (low, high)):
        values = _round_places(low, high)
    # Without a precision of its own, the scale's is taken, and 12 is drawn as 1e+1.
    look: dict[str, Any] = {"grid": False, "domain": False, "ticks": False, "labelPadding": 3}
    # The labels at both ends stay within the panel, or they would run into those of its neighbours.
    return alt.Axis(values=values, format=".6~g", labelFlush=True, **look, **title)


def _round_places(low: float, high: float) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten, of which at most four lie from low to high."""
    size = 10.0 ** math.floor(math.log10((high - low) / 4))
    step = next(size * k for k in (1, 2, 5, 10, 20) if math.floor(high / (size * k)) - math.ceil(low / (size * k)) < 4)
    return [float(f"{k * step:.12g}") for k in range(math.ceil(low / step), math.floor(high / step) + 1)]
