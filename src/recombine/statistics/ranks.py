"""Rank correlations of one number per network with another, and what they would be with another choice of settings.

Networks that were trained on the same rows are not independent. So what is left out or drawn anew is never a network
but its *setting*, with all networks in it. Jackknife pseudo-values p_i = ρ + (n − 1)(ρ̄ − ρ_i), with ρ_i the figure
without setting i and ρ̄ the mean of these, are one value per setting with mean ρ, and their `interval` is that of ρ
(Tukey 1958). In three planted cases of 7 settings with 8 networks it covered 92 to 95 %, drawing settings with
replacement 84 to 94 %; in one of 18 settings 90 and 94 % (250 draws each).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recombine.statistics._interval import FloatArray

FEWEST = 3
SHORT = 1024
"""Columns of at most so many numbers are ranked once: a jackknife asks for the same ones with every other column."""


def spearman(first: ArrayLike, second: ArrayLike) -> float | None:
    """Spearman's ρ, ties at their mean rank; null where a side does not vary or there are fewer than three pairs."""
    return _correlation(ranks(first), ranks(second))


def partial_spearman(first: ArrayLike, second: ArrayLike, given: ArrayLike) -> float | None:
    """ρ of what the ranks of ``given`` (n, or n × numbers) leave unexplained of both ranks; null where that is
    nothing."""
    known = np.asarray(given, dtype=np.float64)
    columns = known[:, None] if known.ndim == 1 else known
    design = np.column_stack([np.ones(len(columns)), *(ranks(column) for column in columns.T)])
    left = []
    for side in (ranks(first), ranks(second)):
        rest = side - design @ np.linalg.lstsq(design, side, rcond=None)[0]
        # Rounding is no variation.
        left.append(np.where(np.abs(rest) < 1e-9 * len(side), 0.0, rest))
    return _correlation(left[0], left[1])


def jackknife(
    statistic: Callable[[NDArray[np.int64]], float | None], settings: Sequence[Hashable]
) -> dict[Hashable, float] | None:
    """One pseudo-value per setting: ``statistic`` of the rows it is given, with all rows and without each setting.

    ``settings`` names the setting of every row. Null where the statistic has no value, with all rows or without one
    setting, or where there are fewer than three settings."""
    names = list(dict.fromkeys(settings))
    if len(names) < FEWEST:
        return None
    place = {name: i for i, name in enumerate(names)}
    of = np.array([place[name] for name in settings])
    whole = statistic(np.arange(len(of)))
    without = [statistic(np.flatnonzero(of != i)) for i in range(len(names))]
    found = [value for value in without if value is not None]
    if whole is None or len(found) < len(without):
        return None
    mean = float(np.mean(found))
    return {name: whole + (len(names) - 1) * (mean - value) for name, value in zip(names, found, strict=True)}


def ranks(values: ArrayLike) -> FloatArray:
    """As scipy's ``rankdata``, at a tenth of its cost for short columns, of which a jackknife ranks thousands."""
    numbers = np.asarray(values, dtype=np.float64)
    return _ranked_before(numbers.tobytes()) if len(numbers) <= SHORT else _ranked(numbers)


def _ranked(numbers: FloatArray) -> FloatArray:
    if np.isnan(numbers).any():
        return np.full(len(numbers), np.nan)
    order = numbers.argsort()
    ordered, found = numbers[order], np.empty(len(numbers))
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])[: len(numbers)])
    ends = np.append(starts[1:], len(numbers))[: len(starts)]
    found[order] = np.repeat((starts + ends + 1) / 2, ends - starts)
    return found


@lru_cache(maxsize=2048)
def _ranked_before(numbers: bytes) -> FloatArray:
    found = _ranked(np.frombuffer(numbers))
    found.flags.writeable = False  # it is given to everyone who asks
    return found


def _correlation(first: FloatArray, second: FloatArray) -> float | None:
    if len(first) < FEWEST or np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    both = np.stack([first, second])
    both -= both.mean(axis=1, keepdims=True)
    products = both @ both.T  # as numpy's corrcoef, bit for bit, without what that asks of its arguments first
    products *= np.true_divide(1, len(first) - 1)
    spread = np.sqrt(np.diagonal(products))
    return float(np.clip(products[0, 1] / spread[0] / spread[1], -1, 1))
