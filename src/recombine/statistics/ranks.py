"""Rank correlations of one number per network with another, and what they would be with another choice of settings.

Networks that were trained on the same rows are not independent. So what is left out or drawn anew is never a network
but its *setting*, with all networks in it. Jackknife pseudo-values p_i = ρ + (n − 1)(ρ̄ − ρ_i), with ρ_i the figure
without setting i and ρ̄ the mean of these, are one value per setting with mean ρ, and their `interval` is that of ρ
(Tukey 1958). In three planted cases of 7 settings with 8 networks it covered 92 to 95 %, drawing settings with
replacement 84 to 94 %; in one of 18 settings 90 and 94 % (250 draws each).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recombine.statistics._interval import FloatArray

FEWEST = 3
ROUNDING = 1e-9
MOST = 2**21
"""So many numbers are looked at at once."""
SHORT = 1024
"""Columns of at most so many numbers are ranked once: a jackknife asks for the same ones with every other column."""


def spearman(first: ArrayLike, second: ArrayLike) -> float | None:
    """Spearman's ρ, ties at their mean rank; null where a side does not vary or there are fewer than three pairs."""
    return _correlation(ranks(first), ranks(second))


def partial_spearman(first: ArrayLike, second: ArrayLike, given: ArrayLike) -> float | None:
    """ρ of what the ranks of ``given`` (n, or n × numbers) leave unexplained of both ranks; null where that is
    nothing."""
    columns = _columns(given)
    design = np.column_stack([np.ones(columns.shape[1]), *map(ranks, columns)])
    both = np.column_stack([ranks(first), ranks(second)])
    rest = both - design @ np.linalg.lstsq(design, both, rcond=None)[0]
    return _correlation(*_varying(rest).T)


def jackknife(
    statistic: Callable[[NDArray[np.int64]], float | None], settings: Sequence[Hashable]
) -> dict[Hashable, float] | None:
    """One pseudo-value per setting: ``statistic`` of the rows it is given, with all rows and without each setting.

    ``settings`` names the setting of every row. Null where the statistic has no value, with all rows or without one
    setting, or where there are fewer than three settings."""
    names, of = _places(settings)
    without = (statistic(np.flatnonzero(of != i)) for i in range(len(names)))
    return _pseudo_values(names, statistic(np.arange(len(of))), without) if len(names) >= FEWEST else None


def jackknife_spearman(
    first: ArrayLike, second: ArrayLike, settings: Sequence[Hashable], given: ArrayLike | None = None
) -> dict[Hashable, float] | None:
    """`jackknife` of `spearman`, or of `partial_spearman` where something is ``given``, for many settings at once."""
    (names, of), held = _places(settings), () if given is None else _columns(given)
    if len(names) < FEWEST:
        return None
    whole = spearman(first, second) if given is None else partial_spearman(first, second, given)
    columns = [np.asarray(side, dtype=np.float64) for side in (first, second, *held)]
    pieces = -(-len(names) * len(of) * len(columns) // MOST)
    without = (_without(columns, of, some) for some in np.array_split(np.arange(len(names)), pieces))
    found = np.concatenate(list(without)).tolist()
    return _pseudo_values(names, whole, (None if np.isnan(rho) else rho for rho in found))


def _places(settings: Sequence[Hashable]) -> tuple[list[Hashable], NDArray[np.int64]]:
    """The names of settings, and the place of each row's among them."""
    names = list(dict.fromkeys(settings))
    place = {name: i for i, name in enumerate(names)}
    return names, np.array([place[name] for name in settings], dtype=np.int64)


def _pseudo_values(
    names: list[Hashable], whole: float | None, without: Iterable[float | None]
) -> dict[Hashable, float] | None:
    each = list(without)
    found = [value for value in each if value is not None]
    if whole is None or len(found) < len(each):
        return None
    mean = float(np.mean(found))
    return {name: whole + (len(names) - 1) * (mean - value) for name, value in zip(names, found, strict=True)}


def _without(columns: list[FloatArray], of: NDArray[np.int64], some: NDArray[np.int64]) -> FloatArray:
    """ρ of the first two columns, given the others, without each of some settings; not a number where there is none."""
    kept = of != some[:, None]
    first, second, *held = (np.where(kept, _ranks_without(column, of, some), 0.0) for column in columns)
    both, enough = np.stack([first, second], axis=-1), kept.sum(1)
    if held:  # rows of zeros take no part
        basis, sizes, _ = np.linalg.svd(np.stack([kept, *held], axis=-1), full_matrices=False)
        basis *= (sizes > np.finfo(float).eps * max(basis.shape[1:]) * sizes[:, :1])[:, None]
        both = _varying(both - basis @ (basis.transpose(0, 2, 1) @ both))
    both = np.where(kept[..., None], both - both.sum(1, keepdims=True) / enough[:, None, None], 0.0)
    products = both.transpose(0, 2, 1) @ both
    spread = np.sqrt(np.diagonal(products, axis1=1, axis2=2))
    varies = (np.ptp(both, axis=1) > ROUNDING * len(of)).all(-1) & (enough >= FEWEST)
    found = np.full(len(some), np.nan)
    np.divide(products[:, 0, 1], spread.prod(-1), out=found, where=varies)
    return np.asarray(np.clip(found, -1, 1))


def _ranks_without(values: FloatArray, of: NDArray[np.int64], some: NDArray[np.int64]) -> FloatArray:
    """The ranks of all numbers among those that are not of a setting, for each of some settings."""
    rows = np.flatnonzero(np.isin(of, some))
    rows = rows[of[rows].argsort(kind="stable")]
    left, starts = values[rows, None], np.flatnonzero(np.diff(of[rows], prepend=-1))
    return ranks(values) - np.add.reduceat((left < values) + 0.5 * (left == values), starts, axis=0)


def _columns(given: ArrayLike) -> FloatArray:
    return np.atleast_2d(np.asarray(given, dtype=np.float64).T)


def _varying(rest: FloatArray) -> FloatArray:
    """What is left of ranks; rounding is no variation."""
    return np.where(np.abs(rest) < ROUNDING * rest.shape[-2], 0.0, rest)


def ranks(values: ArrayLike) -> FloatArray:
    """As scipy's ``rankdata``, at a tenth of its cost for short columns, of which a jackknife ranks thousands."""
    numbers = np.asarray(values, dtype=np.float64)
    return _ranked_before(numbers.tobytes()) if len(numbers) <= SHORT else _ranked(numbers)


def _ranked(numbers: FloatArray) -> FloatArray:
    if np.isnan(numbers).any():
        return np.full(len(numbers), np.nan)
    order = numbers.argsort()
    ordered, found = numbers[order], np.empty(len(numbers))
    if not (ordered[1:] == ordered[:-1]).any():
        found[order] = np.arange(1, len(numbers) + 1)
        return found
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
    if len(first) < FEWEST or first.max() == first.min() or second.max() == second.min():
        return None
    both = np.stack([first, second])
    both -= both.mean(axis=1, keepdims=True)
    products = both @ both.T  # as numpy's corrcoef, bit for bit, without what that asks of its arguments first
    products *= np.true_divide(1, len(first) - 1)
    spread = np.sqrt(np.diagonal(products))
    return float(np.clip(products[0, 1] / spread[0] / spread[1], -1, 1))
