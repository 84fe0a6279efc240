"""Rules that could answer unseen combinations: the contestants of a forecast.

A rule is fitted to the seen cells once. It then answers any cell, and says what it would have answered for a seen cell
had a group of cells around it been left out. Numbers are answered by a number with a standard deviation on the scale on
which the rule adds up; classes by probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtri, softmax, stdtrit

from recombine.checks.curves import Curve
from recombine.checks.effects import EXACT, LEAST, Effects
from recombine.checks.modular import Floats, Ints
from recombine.checks.noisy import RowNoise, row_noise
from recombine.space import Codes
from recombine.support.table import Target

NODES = ndtri((np.arange(21) + 0.5) / 21)
"""Quantiles of a standard normal over which an answer is averaged on its way back from a scale."""
NEWTON = 12
SWEEPS = 40
"""The same of several classes, each by itself."""
REFITTED = 2_000_000
"""Cells × effects² × classes up to which a fit of log-odds is done again for every group left out."""
LEAST_FREEDOM = 5
"""Rows beyond the effects from which the noise of one row is estimated."""
SEVERAL = 5
"""Rows of another than the commonest class, for each cell, from which shares differ from chances as means of numbers
do."""
STEPS = 100
"""Newton's steps at most towards the variance between cells."""
WEIGHED = 3
"""Fits at most until the weights of cells with more and fewer rows settle."""
PAIRS_FREEDOM = 5
"""Degrees of freedom below which effects of pairs are fitted wholly anew for every group left out: their variances, of
which some subset fits anything, then do not know what is left out. Ranges held .2 to .7, not .9: none are given."""
LARGEST_LOGIT = 25.0
"""Variance up to which effects on a log-odds scale may grow: cells of one class alone would let them grow for ever."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Seen cells that have an answer."""

    codes: Ints
    shape: tuple[int, ...]
    rows: Floats
    """Rows of each cell."""
    answers: Floats
    """Mean answers (numbers), or shares of classes (cells × classes)."""
    pure: float | None
    """Variance of an answer within a cell (numbers), None without repeated rows."""
    curves: Mapping[int, Curve] = field(default_factory=dict)
    """What the factors that are numbers may do."""
    share: bool = True
    """Whether answers between 0 and 100 may be per cents."""
    spread: Floats | None = None
    """Sum of squares of each cell's rows around their mean (numbers)."""

    @classmethod
    def of(
        cls, codes: Codes, shape: tuple[int, ...], target: Target, curves: Mapping[int, Curve] | None = None
    ) -> Cells:
        """The cells of a table that have an answer."""
        use = target.count > 0
        rows = target.count[use].astype(np.float64)
        spare = float(rows.sum()) - len(rows)
        pure = float(target.spread[use].sum()) / spare if target.numeric and spare > 0 else None
        spread = target.spread[use] if pure else None
        return cls(codes[use].astype(np.int64), shape, rows, target.mean[use], pure, curves or {}, target.share, spread)

    @property
    def width(self) -> int:
        """Levels, and columns of curves."""
        return sum(self.curves[k].width if k in self.curves else n for k, n in enumerate(self.shape))

    def bent(self) -> Cells | None:
        """The same with curves in place of straight lines, where there are any to replace."""
        bent = {k: curve.bent() or curve for k, curve in self.curves.items() if curve.shape == "linear"}
        new = any(curve.shape == "spline" for curve in bent.values())
        return replace(self, curves={**self.curves, **bent}) if new else None

    def take(self, kept: NDArray[Any]) -> Cells:
        spread = None if self.spread is None else self.spread[kept]
        return replace(self, codes=self.codes[kept], rows=self.rows[kept], answers=self.answers[kept], spread=spread)

    @property
    def numeric(self) -> bool:
        return self.answers.ndim == 1

    @property
    def certain(self) -> bool:
        """Whether every cell has a single class."""
        return not self.numeric and bool((self.answers.max(axis=1) == 1).all())

    @property
    def quadratic(self) -> bool:
        """Whether losses are squared errors, or nearly so, as log losses are where several rows of a cell have another
        class than most."""
        if self.numeric or self.certain:
            return self.numeric
        return float(self.rows.mean()) * (1 - float(self.answers.mean(axis=0).max())) >= SEVERAL


class Rule(Protocol):
    """What takes part in a forecast."""

    name: str

    def answer(self, codes: Ints) -> Floats:
        """Answers in the units of the table, or probabilities of classes."""

    def left_out(self, groups: Sequence[Ints]) -> Floats:
        """The answer to the first cell of each group by the fit without the group (groups × 1, or × classes)."""


@dataclass(frozen=True)
class Scale:
    """A scale on which effects may add up."""

    name: str
    forth: Callable[[Floats], Floats]
    back: Callable[[Floats], Floats]
    learnt: bool = False
    """Whether the way back is learnt from the answers: it then has to forget those that are left out."""
    ends: tuple[float, float] = (-math.inf, math.inf)
    """What answers on it cannot leave."""


PLAIN = Scale("", lambda y: y, lambda z: z)


def ranks(y: Floats) -> Scale:
    """Normal scores of the ranks."""
    places = ndtri((np.arange(len(y)) + 0.5) / len(y))
    values, first = np.unique(np.sort(y), return_index=True)
    middle = np.add.reduceat(places, first) / np.diff(np.append(first, len(y)))
    return Scale("rank", lambda v: np.interp(v, values, middle), lambda z: np.interp(z, middle, values), learnt=True)


def scales(y: Floats, share: bool = True) -> list[Scale]:
    """Scales that these answers allow: log above zero, log-odds of shares (or, if they may be, per cents), ranks
    always."""
    found = []
    low, high = float(y.min()), float(y.max())
    if low > 0 and high > 2 * low:
        found.append(Scale("log", np.log, np.exp))
    top = 1.0 if high <= 1 else 100.0
    if low >= 0 and 0.5 * top < high <= top and high > low and (share or top == 1):
        edge = 0.5 * top / len(y)
        found.append(
            Scale(
                "log-odds",
                lambda v: np.log((v + edge) / (top - v + edge)),
                lambda z: (top + 2 * edge) * expit(z) - edge,
                ends=(0.0, top),
            )
        )
    return [*found, ranks(y)] if len(np.unique(y)) > 8 else found


def scaled(target: Target, scale: Scale) -> Target:
    """Answers on a scale: means of cells, and what rows differ by in a cell as far as the scale is straight there."""
    use, mean, spread = target.count > 0, target.mean.copy(), target.spread.copy()
    y = mean[use]
    near = np.maximum(np.sqrt(spread[use] / target.count[use]), 1e-4 * np.ptp(y))
    above, below = np.minimum(y + near, y.max()), np.maximum(y - near, y.min())
    spread[use] *= ((scale.forth(above) - scale.forth(below)) / (above - below)) ** 2
    mean[use] = scale.forth(y)
    return replace(target, mean=mean, spread=spread)


class Adding:
    """Numbers: effects of single factors (order 1) or pairs (order 2) add up on a scale; order 0 is the mean."""

    def __init__(self, name: str, cells: Cells, order: int, scale: Scale = PLAIN, free: bool = False) -> None:
        self.name, self.scale = f"{name} on a {scale.name} scale" if scale.name else name, scale
        self.cells, self._y = cells, scale.forth(cells.answers)
        self.surprise = np.zeros(0)
        """Standard deviations by which each cell left out last was missed."""
        self.density: Floats | None = None
        """Log density, in the answer's units and up to a constant, of each of these by its forecast; None of ranks,
        whose way back is learnt, and where pairs take up nearly all."""
        self.variance = np.zeros(0)
        """Of each of these, that of its forecast in the answer's units."""

        def fit(noise: Floats) -> Effects:
            return Effects(cells.codes, cells.shape, self._y, noise, order, curves=cells.curves, free=free)

        self.one_row = self._one_row()
        """The noise of one row on the scale, where rows of some levels scatter more than others'."""
        self.effects = self._weighed(fit)
        self.sure = 1 / self.effects.noise
        """What a squared error of each cell counts where rules are compared: less where few rows make its mean."""
        self._told: dict[tuple[int, frozenset[int]], tuple[float, float]] = {}
        self.saturated = order > 1 and not free and self.effects.freedom < PAIRS_FREEDOM
        """Whether pairs take up nearly all that the seen cells tell."""

    def _weighed(self, fit: Callable[[Floats], Effects]) -> Effects:
        """The fit by what the mean of n rows is worth, u = b + p / n, with p the variance of one row around its cell.
        b, how far cells are off the rule, is set so that Σ left² / u is its degrees of freedom (Paule and Mandel
        1982), or 0. Where all cells have as many rows, or no rows differ, every cell is worth the same."""
        within, between, self._asked = self._within(), 0.0, (0.0, 1.0)
        if within is None:
            return fit(np.ones(len(self._y)))
        for _ in range(WEIGHED):
            found = fit(between + within)
            self._asked = between, float((between + within).mean())
            before, between = between, _beyond(self._y - found.design @ found.beta, within, found.freedom)
            if abs(between - before) <= 0.2 * (between + float(within.min())):
                break
        return found

    @property
    def weighed(self) -> bool:
        """Whether cells count by their rows."""
        return bool(np.ptp(self.sure) > 0)

    def _own(self, codes: Ints) -> Floats:
        """The noise of the mean of as many rows as seen cells have, over the mean of theirs."""
        if self.one_row is None:
            return np.ones(len(codes))
        between, mean = self._asked
        return np.asarray((between + self.one_row.of(codes)[0] * float((1 / self.cells.rows).mean())) / mean)

    def guessed(self, codes: Ints) -> Floats:
        """How many times as wide ranges are because the noise of a level was learnt from few rows, as t has it."""
        if self.one_row is None:
            return np.ones(len(codes))
        return np.asarray(stdtrit(self.one_row.of(codes)[1], 0.95) / stdtrit(self.one_row.freedom, 0.95))

    @property
    def noisy(self) -> dict[tuple[int, int], float]:
        """Levels (place of the factor, code) whose rows scatter more, and how many times as far."""
        return {} if self.one_row is None else {at: self.one_row.times(at) for at in self.one_row.own}

    def _slopes(self) -> Floats | None:
        """How much the answer changes with its scale at each cell; None where all are the same."""
        y, near = self._y, 0.1 * float(self._y.std())
        return (self.scale.back(y + near) - self.scale.back(y - near)) / (2 * near) if near > 0 else None

    def row_variance(self) -> Floats:
        """The variance of one row of each cell in the answer's units, where repeated rows tell."""
        slope = self._slopes()
        if self.one_row is None or slope is None:
            return np.full(len(self._y), self.cells.pure or 0.0)
        return np.asarray(self.one_row.of(self.cells.codes)[0] * slope**2)

    def _one_row(self) -> RowNoise | None:
        cells, slope = self.cells, self._slopes()
        if cells.spread is None or slope is None or not (slope > 0).all():
            return None
        found = row_noise(cells.codes, cells.rows, cells.spread / slope**2, cells.curves)
        return found if found is not None and found.own else None

    def _within(self) -> Floats | None:
        """The variance of each cell's mean around what very many rows would give, on the scale; None where all have the
        same. One row's is taken to be the same everywhere on it, but for levels that are noisier."""
        cells, slope = self.cells, self._slopes()
        if self.one_row is not None:
            return self.one_row.of(cells.codes)[0] / cells.rows
        if not cells.pure or np.ptp(cells.rows) == 0 or slope is None:
            return None
        steep = float(np.average(slope**2, weights=cells.rows - 1))
        return cells.pure / steep / cells.rows if steep > 0 else None

    @property
    def variances(self) -> int:
        """Learnt with the cells that are left out."""
        return 0 if self.effects.free or self.saturated else len(self.effects.blocks)

    def evenly_left_out(self, asked: Ints) -> tuple[Floats, float]:
        """The answer to every cell without it, as if all had the same leverage, and the variance of asked answers over
        theirs."""
        place, sd = self.effects.evenly_left_out()
        self._held_against(np.arange(len(self._y)), place, sd)
        nearer = float(
            (self.effects.predict(asked, self._own(asked))[1] ** 2).mean() / max(float((sd**2).mean()), 1e-300)
        )
        return self._mean(place, sd, self.scale)[:, None], nearer

    @property
    def noise(self) -> float | None:
        cells, freedom = self.cells, self.effects.freedom + float(self.cells.rows.sum()) - len(self._y)
        left = float((cells.rows * (cells.answers - self.answer(cells.codes)) ** 2).sum())
        left += (cells.pure or 0.0) * (float(cells.rows.sum()) - len(self._y))
        exact = left <= EXACT * float((cells.rows * (cells.answers - cells.answers.mean()) ** 2).sum())
        return None if freedom < LEAST_FREEDOM or exact else float(np.sqrt(left / freedom))

    def answer(self, codes: Ints) -> Floats:
        return self._mean(*self.effects.predict(codes, self._own(codes)), self.scale)

    def left_out(self, groups: Sequence[Ints]) -> Floats:
        place, sd = np.array([(self._anew if self.saturated else self.effects.left_out)(g) for g in groups]).T
        self._held_against(np.array([int(group[0]) for group in groups]), place, sd)
        if not self.scale.learnt:
            return self._mean(place, sd, self.scale)[:, None]
        ways = [ranks(np.delete(self.cells.answers, group)) for group in groups]
        return np.array([self._mean(place[[i]], sd[[i]], way) for i, way in enumerate(ways)])

    def _held_against(self, firsts: Ints, place: Floats, sd: Floats) -> None:
        """Keep how well these cells were told."""
        sd = np.maximum(sd, 1e-300)
        self.surprise, self.variance = np.abs(self._y[firsts] - place) / sd, self._variance(place, sd)
        slope = np.ones(len(self._y)) if self.scale is PLAIN else self._slopes()
        told = not (self.scale.learnt or self.saturated or slope is None or not (slope > 0).all())
        self.density = -(self.surprise**2) / 2 - np.log(sd * slope[firsts]) if told and slope is not None else None

    def _anew(self, group: Ints) -> tuple[float, float]:
        asked = int(group[0]), frozenset(group.tolist())
        if asked not in self._told:  # of a design the same few are left out again and again
            self._told[asked] = self.effects.learnt_without(group) or self._fitted_without(group)
        return self._told[asked]

    def _fitted_without(self, group: Ints) -> tuple[float, float]:
        kept, c = np.setdiff1d(np.arange(len(self._y)), group), self.cells
        fitted = Effects(c.codes[kept], c.shape, self._y[kept], self.effects.noise[kept], 2, curves=c.curves)
        place, sd = fitted.predict(c.codes[group[:1]])
        return float(place[0]), float(sd[0])

    def interval(self, codes: Ints, deviations: float | Floats, besides: float | Floats = 0.0) -> tuple[Floats, Floats]:
        """So many standard deviations around the mean of a cell; ``besides``: and what a single row is off it. Open
        (infinite) on the side where a way back that is learnt from the answers ends."""
        place, sd = self.effects.predict(codes, self._own(codes))
        half = np.hypot(deviations * sd, besides)
        low, high = self.scale.back(place - half), self.scale.back(place + half)
        if not self.scale.learnt:
            return low, high
        return (
            np.where(place - half <= self._y.min(), -math.inf, low),
            np.where(place + half >= self._y.max(), math.inf, high),
        )

    def unsure(self, codes: Ints) -> float:
        """Mean squared standard error of answers, by the fit."""
        place, sd = self.effects.predict(codes, noise=0.0)
        return float(((self.scale.back(place + sd) - self.scale.back(place - sd)) ** 2 / 4).mean())

    def scatter_beyond(self, codes: Ints, target: Target) -> float | Floats:
        """How far, nine times in ten, a row is off the mean of its cell: beyond what `interval` holds for such means.
        0 where no combination has several rows."""
        if self.one_row is not None:
            each, freedom = self.one_row.of(codes)
            return np.asarray(stdtrit(freedom, 0.95) * np.sqrt(each * (1 - float((1 / self.cells.rows).mean()))))
        there = target if self.scale is PLAIN else scaled(target, self.scale)
        rows = there.count[there.count > 0]
        spare = int((rows - 1).sum())
        if not spare:
            return 0.0
        variance = float(there.spread[there.count > 0].sum()) / spare * (1 - float(np.mean(1 / rows)))
        return float(stdtrit(spare, 0.95)) * float(np.sqrt(max(variance, 0.0)))

    def varies(self, codes: Ints) -> Floats:
        """The variance of an answer around its forecast, in the answer's units."""
        return self._variance(*self.effects.predict(codes, self._own(codes)))

    def _variance(self, place: Floats, sd: Floats) -> Floats:
        if self.scale is PLAIN:
            return sd**2
        return np.asarray(self.scale.back(place[:, None] + sd[:, None] * NODES).var(axis=1))

    @staticmethod
    def _mean(place: Floats, sd: Floats, scale: Scale) -> Floats:
        if scale is PLAIN:
            return place
        return np.asarray(scale.back(place[:, None] + sd[:, None] * NODES).mean(axis=1))


def _beyond(left: Floats, within: Floats, freedom: float) -> float:
    """The variance b with Σ left² / (b + within) = freedom, 0 where that is less without any: by Newton's steps, which
    never go too far since the sum is convex."""
    between = 0.0
    for _ in range(STEPS):
        worth = left / (between + within)
        over = float(worth @ left) - freedom
        if over <= 1e-6 * freedom:
            break
        between += over / float(worth @ worth)
    return between


class Odds:
    """Classes: effects add up on log-odds, of two classes those of the second, of more those of all: the chance of a
    class is exp η over the sum of all (iterated least squares)."""

    def __init__(self, name: str, cells: Cells, order: int) -> None:
        self.name, self._cells = name, cells
        self._targets = cells.answers[:, 1:] if cells.answers.shape[1] == 2 else cells.answers
        self.fits = self._fit(order)
        self.variances = len(self.fits[0].blocks)
        self._again = len(cells.codes) * len(self.fits[0].beta) ** 2 * len(self.fits) < REFITTED

    def _fit(self, order: int) -> list[Effects]:
        cells, classes = self._cells, self._targets.shape[1]
        base = np.clip(np.average(self._targets, axis=0, weights=cells.rows), 0.02, 0.98)
        eta = np.tile(np.log(base / (1 - base) if classes == 1 else base), (len(self._targets), 1))
        known, several = np.ones(1), classes > 1
        for _ in range(SWEEPS if several else NEWTON):
            working, weight = _working(eta, self._targets)
            fits = [
                Effects(cells.codes, cells.shape, z, 1 / (w * cells.rows), order, known, cells.curves, fixed=several)
                for z, w in zip(working.T, weight.T, strict=True)
            ]
            beta = _centred(np.stack([fit.beta for fit in fits], axis=1))
            known = np.minimum(_in_common(fits, beta, base) if several else fits[0].theta, LARGEST_LOGIT)
            moved = fits[0].design @ beta
            still, eta = np.abs(moved - eta).max() < 1e-3, np.clip(moved, -8, 8)
            if still:
                break
        return fits

    def answer(self, codes: Ints) -> Floats:
        return _shares(np.stack([fit.answers(codes) for fit in self.fits], axis=1))

    def left_out(self, groups: Sequence[Ints]) -> Floats:
        """Fitted again where that is cheap, else one Newton step from the whole fit; the blocks' variances stay."""
        if self._again:
            return _shares(np.array([self._refit(group) for group in groups]))
        return _shares(np.array([[fit.left_out(group)[0] for fit in self.fits] for group in groups]))

    def _refit(self, group: Ints) -> Floats:
        kept = np.ones(len(self._targets), dtype=bool)
        kept[group] = False
        x, rows, share = self.fits[0].dense[kept], self._cells.rows[kept], self._targets[kept]
        beta = _centred(np.stack([fit.beta for fit in self.fits], axis=1))
        for _ in range(NEWTON):
            working, weight = _working(np.clip(x @ beta, -8, 8), share)
            moved = np.empty_like(beta)
            for c, fit in enumerate(self.fits):
                weighted = x * (weight[:, c] * rows)[:, None]
                moved[:, c] = np.linalg.solve(weighted.T @ x + np.diag(fit.precision()), weighted.T @ working[:, c])
            moved = _centred(moved)
            still, beta = np.abs(moved - beta).max() < 1e-3, moved
            if still:
                break
        return np.asarray(self.fits[0].dense[group[0]] @ beta)


def _working(eta: Floats, share: Floats) -> tuple[Floats, Floats]:
    """Answers and weights of the least-squares problem that one Newton step solves. Of several classes each by itself:
    with weights p what these have in common adds up to nothing, as (diag p − p pᵀ) diag(1/p) r = r where Σ r = 0."""
    if eta.shape[1] == 1:
        p = expit(eta)
        weight = np.maximum(p * (1 - p), 1e-3)
    else:
        p = softmax(eta, axis=1)
        weight = np.maximum(p, 1e-3)
    return eta + (share - p) / weight, weight


def _centred(beta: Floats) -> Floats:
    """The smallest effects with the same chances: what all classes have in common changes none."""
    return beta if beta.shape[1] == 1 else beta - beta.mean(axis=1, keepdims=True)


def _in_common(fits: Sequence[Effects], beta: Floats, share: Floats) -> Floats:
    """The variance of each block's effects on all classes. These add to zero, so of what a class settles by itself its
    share is not its own: Σ (1 − p_c) is one class less, as Σ n p_c (1 − p_c) is what few rows n tell."""
    sums = np.add.reduceat(np.square(beta).sum(axis=1), np.cumsum([1, *fits[0].size[:-1]]))
    settled = np.sum([(1 - p) * fit.settled for p, fit in zip(share, fits, strict=True)], axis=0)
    return np.asarray(np.maximum(sums / np.maximum(settled, 1e-6), LEAST))


def _shares(eta: Floats) -> Floats:
    """Chances of all classes."""
    if eta.shape[1] == 1:
        return np.concatenate([1 - expit(eta), expit(eta)], axis=1)
    return np.asarray(softmax(eta, axis=1))


class Mean:
    """Classes: every combination has the shares of all."""

    name = "constant"

    def __init__(self, cells: Cells) -> None:
        self._shares = cells.answers.mean(axis=0)

    def answer(self, codes: Ints) -> Floats:
        return np.tile(self._shares, (len(codes), 1))

    def left_out(self, groups: Sequence[Ints]) -> Floats:
        """With the groups left in: without its own cell the larger of two equal classes is always the other one."""
        return np.tile(self._shares, (len(groups), 1))


__all__ = ["PLAIN", "Adding", "Cells", "Mean", "Odds", "Rule", "Scale", "scaled"]
