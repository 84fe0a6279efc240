"""Measuring what is asked outright, in place of answering it: what that costs, and why it may be needed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from recombine.checks.as_read import shown
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.exact.modular import Floats
from recombine.checks.forecasts.expected import Forecast
from recombine.checks.plans.noise import times_off
from recombine.space import Codes

FAR = 2.0
"""Times the error asked for, above which a forecast is far from it."""


@dataclass(frozen=True)
class Outright:
    """The asked combinations that were never seen, each measured."""

    cells: int
    price: float
    """Of a row of each."""
    times: int | None = None
    """How many rows of each bring the standard error of its own mean to what was asked for, by the noise of a row."""
    noise: float | None = None
    """Of a row; where it was estimated, the most that its degrees of freedom allow."""
    freedom: float | None = None

    @property
    def words(self) -> str:
        which = f"each of the {self.cells:,} asked combinations" if self.cells > 1 else "the one asked combination"
        price = "" if self.price == self.cells else f" ({self.price:g} in all)"
        once = f" Measuring {which} once costs {self.cells:,} row{'s' if self.cells > 1 else ''}{price}"
        if self.times is None or self.noise is None:
            return f"{once}."
        more = f"; {self.times} times ({self.times * self.cells:,} rows)" if self.times > 1 else ", which"
        reached = f"is as precise as asked for, whatever effects do, with a noise of {shown(self.noise)} per row"
        if self.freedom is not None:
            reached += f", the most that its {self.freedom:,} degree{'s' * (self.freedom != 1)} of freedom allow (95 %)"
        return f"{once}{more} {reached}."


def outright(
    known: Identifiability, asked: Codes, pool: Codes, prices: Floats, error: float | None, noise: float | None,
    freedom: int | None = None,
) -> Outright | None:  # fmt: skip
    """None where nothing unseen is asked, or some of it cannot be collected. ``freedom`` is that of a noise which was
    estimated."""
    new = {tuple(row) for row in asked[~known.members.contains(asked)].tolist()}
    here = np.array([tuple(row) in new for row in pool.tolist()], dtype=bool)
    if not new or here.sum() < len(new):
        return None
    most = None if noise is None else noise * times_off(freedom)[1]
    times = None if error is None or most is None else max(1, math.ceil((most / error) ** 2 - 1e-6))
    return Outright(len(new), float(prices[here].sum()), times, most, None if noise is None else freedom)


def not_averaged(told: Forecast, asked: float | None, after: float | None) -> str:
    """Where repeats do not tell noise from what the rule misses: that more rows may not reach an error far below the
    forecast, the one asked for or the one that a plan would leave."""
    error = after if asked is None else asked
    if error is None or told.metric != "rmse" or told.error <= FAR * error:
        return ""
    why = "Too few combinations were measured again to tell noise from what the rule misses, which is not averaged away"
    which = "such an error" if asked is None else "the error asked for"
    return f" {why}: {which} may be out of reach (the forecast is {shown(told.error)})."
