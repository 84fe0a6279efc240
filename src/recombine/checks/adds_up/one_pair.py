"""Which pair of levels lies apart from a sum of effects, as a product does that is dear in one region alone?

    (e · c)² / |c|²,    c = what single effects leave of 1[both levels]

of every pair of levels of two factors, with e what single effects leave of the answers: a t-test of one number, where
an F test of two factors spreads it over all of their pairs. t supposes one noise without long tails. So a pair has at
least two rows, and its p-value is the largest of that times the number of pairs, and of

    that beside the noise of either level alone    a level that scatters more has larger means of few rows
    that without each answer, where not below .01  two large errors hardly ever meet in a pair of levels

Leaving out an answer is to give it an effect of its own, which moves e · c by c_i e_i / P_ii, with P_ii the share that
single effects leave of it. Of a pair that is one combination its furthest row is left out: that takes no more than the
standard error of its rows off their mean.
"""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from recombine.checks.adds_up.recurring import f_test
from recombine.checks.adds_up.unequal import Noise, unequal
from recombine.checks.as_read import shown
from recombine.checks.exact.modular import Floats, Ints
from recombine.space import FactorSpace, Level, quoted

MOST_WORK = 100_000_000
"""Cells × effects + effects × pairs of levels up to which all pairs are looked at."""
STANDS = 0.01
"""The p-value that a pair needs without any one answer."""
TOLD = 1e-9
"""Share of a pair's indicator that single effects leave at least."""
MOST_TRIED = 50
"""Pairs of which it is asked whether they stand, those with the smallest p-values."""
Place = tuple[int, int, int, int]
"""A factor, the code of its level, another factor, the code of its."""


@dataclass(frozen=True)
class Pair:
    """Two levels whose combinations lie apart from a sum of effects."""

    factors: tuple[str, str]
    levels: tuple[str, str]
    by: float
    """How far, on the scale of the test."""
    alone: bool = False
    """Whether nothing is seen to contradict that all else adds up: beside repeated rows, or by tests of single ones."""

    @classmethod
    def of(cls, at: Place, names: Sequence[str], levels: Sequence[Sequence[Level]], by: float, alone: bool) -> Pair:
        j, k, *codes = at
        one, two = (quoted(levels[f][c]) if levels else str(c) for f, c in zip((j, k), codes, strict=True))
        return cls((names[j], names[k]), (one, two), by, alone)

    def at(self, space: FactorSpace) -> Place:
        """The places of its factors, and its codes."""
        j, k = (space.names.index(name) for name in self.factors)
        codes = ([quoted(v) for v in space.factors[f].levels or ()] for f in (j, k))
        one, two = (own.index(level) for own, level in zip(codes, self.levels, strict=True))
        return j, k, one, two

    @property
    def which(self) -> str:
        return " with ".join(f"{name} {level}" for name, level in zip(self.factors, self.levels, strict=True))

    @property
    def words(self) -> str:
        return f"{self.which} lies apart from a sum (by {shown(self.by)})"


@dataclass(frozen=True, eq=False)
class Apart:
    """Where it is, how far off, and its p-value among all pairs."""

    at: Place
    by: float
    p_value: float

    def indicator(self, codes: Ints) -> Floats:
        """1 in its combinations (cells × 1)."""
        return _where(codes, self.at)[:, None].astype(np.float64)


@dataclass(frozen=True, eq=False)
class Fitted:
    """What single effects, spanned by ``basis``, leave of answers that weigh ``root``², of ``rows`` rows each; beside
    it the ``noise`` of repeated rows (squares, freedom), ``within`` each combination. None: of what is left."""

    codes: Ints
    basis: Floats
    left: Floats
    root: Floats
    rows: Floats
    noise: tuple[float, float] | None
    within: Noise | None
    rounding: float

    def rest(self, gain: float, more: int) -> tuple[float, float]:
        """What so many further effects leave, if no noise is known."""
        freedom = len(self.left) - self.basis.shape[1] - more
        return max(float(self.left @ self.left) - gain, freedom * self.rounding), freedom

    def beyond(self, column: Floats) -> Floats:
        """What single effects leave of a column."""
        own = self.root * column
        return np.asarray(own - self.basis @ (self.basis.T @ own))


def furthest(fitted: Fitted, shape: Sequence[int], curves: Container[int]) -> Apart | None:
    """The pair with the smallest p-value; None where there are none, or too many."""
    found, tried = list[tuple[float, Place]](), 0
    for j, k in itertools.combinations([k for k in range(len(shape)) if k not in curves], 2):
        if fitted.basis.size + fitted.basis.shape[1] * shape[j] * shape[k] > MOST_WORK:
            return None
        gains, codes = _gains(fitted, j, k, shape[k])
        tried += _different(codes, fitted.codes[:, [j, k]], shape[k])
        for gain, code in zip(gains, codes, strict=True):
            found.append((_p(fitted, gain, 1), (j, k, int(code // shape[k]), int(code % shape[k]))))
    if not found or fitted.rest(0.0, 2)[1] < 1:
        return None
    best: Apart | None = None
    for p, at in sorted(found)[:MOST_TRIED]:
        if best is not None and p * tried >= best.p_value:
            break
        own, by = _stands(fitted, at, p * tried)
        if best is None or own < best.p_value:
            best = Apart(at, by, min(own, 1.0))
    return best


def _gains(fitted: Fitted, j: int, k: int, size: int) -> tuple[Floats, Ints]:
    """The sums of squares that the pairs of levels of two factors take away, each by itself, and which these are."""
    key, at = np.unique(fitted.codes[:, j].astype(np.int64) * size + fitted.codes[:, k], return_inverse=True)
    whole = np.bincount(at, fitted.root**2)
    shared = np.stack([np.bincount(at, fitted.root * q) for q in fitted.basis.T])
    sizes, sums = whole - (shared**2).sum(axis=0), np.bincount(at, fitted.root * fitted.left)
    told = (sizes > TOLD * whole) & (np.bincount(at, fitted.rows) >= 2)
    return sums[told] ** 2 / sizes[told], key[told]


def _different(found: Ints, codes: Ints, size: int) -> int:
    """How many of these pairs differ: those with both levels of a factor that has two are mirrored."""
    for own, other in zip(codes.T, (found % size, found // size), strict=True):
        if len(np.unique(own)) == 2:
            return len(np.unique(other))
    return len(found)


def _p(fitted: Fitted, gain: float, more: int, rest: tuple[float, float] | None = None) -> float:
    left, freedom = fitted.noise or rest or fitted.rest(gain, more)
    return f_test(gain, 1, left, freedom) if freedom >= 1 else 1.0


def _stands(fitted: Fitted, at: Place, p: float) -> tuple[float, float]:
    """A p-value among all pairs as it is where a pair stands, else larger; and how far off the pair is."""
    here = _where(fitted.codes, at)
    column = fitted.beyond(here.astype(np.float64))
    size, by = float(column @ column), float(column @ fitted.left) / float(column @ column)
    if p >= STANDS:
        return p, by
    if fitted.within is not None:
        p = max(p, unequal(by**2 * size, column[:, None] / np.sqrt(size), False, fitted.within))
    p = max(p, *_beside_own_noise(fitted, at, column, by, size))
    without = max(_without_any(fitted, at, here, column), default=0.0)
    return (p if without < STANDS else max(p, without)), by


def _beside_own_noise(fitted: Fitted, at: Place, column: Floats, by: float, size: float) -> Iterator[float]:
    """p-values beside the noise of either level alone."""
    left, spare = fitted.left - by * column, 1 - (fitted.basis**2).sum(axis=1) - column**2 / size
    for k, code in zip(at[:2], at[2:], strict=True):
        known = None if fitted.within is None else fitted.within.of_level(k, code)
        if known is None:
            here = fitted.codes[:, k] == code
            freedom = float(spare[here].sum())
            known = max(float((left[here] ** 2).sum()), freedom * fitted.rounding), freedom
        yield f_test(by**2 * size, 1, *known) if known[1] > TOLD else 1.0


def _without_any(fitted: Fitted, at: Place, here: Floats, column: Floats) -> Iterator[float]:
    """p-values without each combination of either level, or without one row of a pair that is one combination."""
    size, sum_of = float(column @ column), float(column @ fitted.left)
    only = int(here.sum()) == 1
    for i in np.flatnonzero((fitted.codes[:, at[0]] == at[2]) | (fitted.codes[:, at[1]] == at[3])).tolist():
        spare = 1 - float(fitted.basis[i] @ fitted.basis[i])
        if spare <= TOLD:  # its own effects tell it, whatever it is
            continue
        if only and fitted.rows[i] > 1:
            yield from [_without_a_row(fitted, i, size, sum_of / size)] if here[i] else []
            continue
        less, moved = column[i] ** 2 / spare, column[i] * fitted.left[i] / spare
        if size - less <= TOLD * size or (sum_of - moved) * sum_of <= 0:
            yield 1.0
            return
        gain = (sum_of - moved) ** 2 / (size - less)
        left, freedom = fitted.rest(gain + fitted.left[i] ** 2 / spare, 2)
        yield _p(fitted, gain, 2, (left, freedom))


def _without_a_row(fitted: Fitted, i: int, size: float, by: float) -> float:
    """p-value of a combination without the row that is furthest off."""
    if fitted.within is None:
        return 1.0
    rows, whole = fitted.rows[i], fitted.root[i] ** 2
    off = np.sqrt(fitted.within.squares[i] / (rows * (rows - 1)))
    left = 1 / (1 / (whole * (rows - 1) / rows) - 1 / whole + 1 / size)
    return _p(fitted, max(abs(by) - off, 0.0) ** 2 * left, 1)


def _where(codes: Ints, at: Place) -> Floats:
    return np.asarray((codes[:, at[0]] == at[2]) & (codes[:, at[1]] == at[3]))
