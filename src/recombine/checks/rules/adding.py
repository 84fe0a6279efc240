"""Numbers whose effects add up, on whatever scale: the rule that most forecasts recommend.

It is fitted to the means of seen cells, each by what it is worth, and answers with a number and a standard deviation on
its scale; on the way back from there an answer is averaged over what it may be.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import ndtri, stdtrit

from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.rules.effects import EXACT, LEAST_FREEDOM, Effects
from recombine.checks.rules.noisy import RowNoise, row_noise
from recombine.checks.rules.relearnt import relearnt
from recombine.checks.rules.scales import NODES, PLAIN, Scale, ranks, scaled
from recombine.checks.rules.seen_cells import Cells
from recombine.checks.rules.surface import designed
from recombine.checks.rules.weighing import likeliest, settled, variance
from recombine.support.table import Target

STEPS = 100
"""Newton's steps at most towards the variance between cells."""
WEIGHED = 3
"""Fits at most until the weights of cells with more and fewer rows settle."""
COUNTED = 3
"""Fits by which it settles what a case is worth where answers are shares of so many."""
SETTLED = 6
"""The same of cells that stand for more and fewer cases."""
PAIRS_FREEDOM = 5
"""Degrees of freedom below which effects of pairs are fitted wholly anew for every group left out: their variances, of
which some subset fits anything, then do not know what is left out. Ranges held .2 to .7, not .9: none are given."""


class Adding:
    """Numbers: effects of single factors (order 1) or pairs (order 2) add up on a scale; order 0 is the mean."""

    def __init__(self, name: str, cells: Cells, order: int, scale: Scale = PLAIN, free: bool = False) -> None:
        self.name, self.scale = f"{name} on a {scale.name} scale" if scale.name else name, scale
        moved = cells.never_empty if scale.of_logarithms else None
        self.cells, self._y = cells, scale.forth(cells.answers if moved is None else moved)
        self.surprise = np.zeros(0)
        """Standard deviations by which each cell left out last was missed."""
        self.density: Floats | None = None
        """Log density, in the answer's units and up to a constant, of each of these by its forecast; None of ranks,
        whose way back is learnt, and where pairs take up nearly all."""
        self.variance = np.zeros(0)
        """Of each of these, that of its forecast in the answer's units."""

        design = designed(cells)
        walks = order > 0 and not free and not design  # of few designed points a walk meets nearly all

        def fit(noise: Floats) -> Effects:
            return Effects(cells.codes, cells.shape, self._y, noise, order, curves=cells.curves, free=free, walks=walks)

        self.one_row = self._one_row()
        """The noise of one row on the scale, where rows of some levels scatter more than others'."""
        self.effects = self._weighed(fit)
        self.sure = 1 / self.effects.noise
        """What a squared error of each cell counts where rules are compared: less where few rows make its mean."""
        self._told: dict[tuple[int, frozenset[int]], tuple[float, float]] = {}
        self.saturated = order > 1 and not free and self.effects.freedom < PAIRS_FREEDOM
        """Whether pairs take up nearly all that the seen cells tell."""
        tried = order > 1 and not (free or design or self.saturated)
        self.relearnt = relearnt(self.effects) if tried else None
        """What pairs learnt with the cells that are left out, where that is known."""

    def _weighed(self, fit: Callable[[Floats], Effects]) -> Effects:
        """The fit by what the mean of n rows is worth, u = b + p / n, with p the variance of one row around its cell.
        b, how far cells are off the rule, is set so that Σ left² / u is its degrees of freedom (Paule and Mandel
        1982), or 0. Where all cells have as many rows, or no rows differ, every cell is worth the same."""
        within, between, self._asked = self._within(), 0.0, (0.0, 1.0)
        self._share: float | None = None
        self._usual = 1.0
        if self.cells.weights is not None and self.one_row is None:
            return self._by_weights(fit, self.cells.weights)
        if within is None:
            return fit(np.ones(len(self._y)))
        for _ in range(WEIGHED):
            found = fit(between + within)
            self._asked = between, float((between + within).mean())
            before, between = between, _beyond(self._y - found.design @ found.beta, within, found.freedom)
            if abs(between - before) <= 0.2 * (between + float(within.min())):
                break
        return found

    def _by_weights(self, fit: Callable[[Floats], Effects], weights: Floats) -> Effects:
        """The fit where rows stand for more or fewer cases: how much of a row's variance that makes is learnt with it
        (`weighing`), from repeated rows too."""
        spare = float(self.cells.rows.sum()) - len(weights)
        pure = spare * (self._pure() or 0.0)
        for _ in range(1 if self.cells.cases is None else COUNTED):
            tried = dict[float, Effects]()

            def look(share: float, weights: Floats = weights, tried: dict[float, Effects] = tried) -> float:
                found = tried[share] = fit(variance(share, weights))
                left = self._y - found.design @ found.beta
                return likeliest(left, found.unheld, weights, pure, spare if pure else 0.0)

            self._share = settled(look, SETTLED)
            u = variance(self._share, weights)
            self._asked = self._share, float(u.mean())
            found = tried.get(self._share) or fit(u)
            if self.cells.cases is not None and self.cells.weights is not None:
                own = self._of_a_case(found.design @ found.beta)
                self._usual *= float(np.average(own, weights=1 / self.cells.weights))
                weights = self.cells.weights / self._of_a_case(found.design @ found.beta)
        return found

    def _of_a_case(self, place: Floats) -> Floats:
        """The variance of one case at these places, over that of one on average."""
        answers, whole = self.cells.never_empty, self.cells.whole
        if answers is None:
            return np.ones(len(place))
        share = np.clip(self.scale.back(place), answers.min(), answers.max()) / whole
        return np.asarray(self.scale.of_a_case(share, whole) / self._usual)

    @property
    def weighed(self) -> bool:
        """Whether cells count by their rows."""
        return bool(np.ptp(self.sure) > 0)

    def _own(self, codes: Ints, dealt: bool = False) -> Floats:
        """The noise of an asked cell, over the mean of the seen ones': by what it weighs, else of the mean of as many
        rows as seen cells have."""
        inverse = self._inverse_weight(codes, dealt)
        if self._share is not None:
            if self.cells.cases is not None:
                inverse = inverse * self._of_a_case(self.effects.predict(codes, noise=0.0)[0])
            return np.asarray((self._share + (1 - self._share) * inverse) / self._asked[1])
        if self.one_row is None:
            return np.ones(len(codes))
        between, mean = self._asked
        return np.asarray((between + self.one_row.of(codes)[0] * inverse) / mean)

    def _inverse_weight(self, codes: Ints, dealt: bool = False) -> Floats:
        """1 / weight of each asked cell; where it is not told the mean of seen ones, or these ``dealt`` out."""
        seen, asked = 1 / self.cells.weight, self.cells.asked
        usual = np.full(len(codes), float(seen.mean()))
        if dealt and self.cells.weights is not None:
            usual = np.quantile(seen, np.random.default_rng(0).permutation((np.arange(len(codes)) + 0.5) / len(codes)))
        told = np.full(len(codes), np.nan) if asked is None else asked.of(codes)
        return np.where(np.isnan(told), usual, 1 / told)

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
        if cells.cases is not None or cells.spread is None or slope is None or not (slope**2 > 0).all():
            return None
        found = row_noise(cells.codes, cells.rows, cells.spread / slope**2, cells.curves)
        return found if found is not None and found.own else None

    def _within(self) -> Floats | None:
        """The variance of each cell's mean around what very many rows would give, on the scale; None where all have the
        same. One row's is taken to be the same everywhere on it, but for levels that are noisier."""
        cells = self.cells
        if self.one_row is not None:
            return self.one_row.of(cells.codes)[0] / cells.weight
        if np.ptp(cells.weight) == 0 or (pure := self._pure()) is None:
            return None
        return pure / cells.rows

    def _pure(self) -> float | None:
        """The variance of one row around its cell, on the scale."""
        cells, slope = self.cells, self._slopes()
        if not cells.pure or slope is None:
            return None
        steep = float(np.average(slope**2, weights=cells.rows - 1))
        return cells.pure / steep if steep > 0 else None

    @property
    def charge(self) -> float:
        """How many times larger squared errors are than those of cells left out at the variances that these helped to
        set. Pairs that do nothing cost what the sums beside them do."""
        cells = len(self._y)
        counted = cells / max(cells - 1 - self.variances, 1)
        return counted if self.relearnt is None else max(counted, self.relearnt)

    @property
    def freedom(self) -> float:
        """Cells beyond the effects; where errors are charged for what pairs learnt, each tells so much less."""
        return self.effects.freedom / (1.0 if self.relearnt is None else self.charge)

    def at_most(self, errors: int) -> int:
        """How many of these are independent: of eight cells and six effects, two errors are."""
        return max(1, min(errors, round(self.freedom)))

    @property
    def variances(self) -> float:
        """Learnt with the cells that are left out: of each block one, less where answers hardly depend on it. To learn
        by how much effects are shrunk, to s times what they were, costs 2 (1 − s) degrees of freedom (Stein 1981).
        Pairs count where what they learnt was not tried."""
        fit = self.effects
        if fit.free or self.saturated:
            return 0.0
        levels = [len(block.subset) == 1 and not block.curves for block in fit.blocks]
        most = fit.size - np.array(levels, dtype=np.int64)  # the effects of a factor's levels add to zero
        counts = [self.relearnt is None or len(block.subset) == 1 for block in fit.blocks]
        return float(np.clip(2 * (1 - fit.settled / most), 0.0, 1.0)[counts].sum())

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
    def noise_freedom(self) -> float:
        """Degrees of freedom that the noise of one row rests on: of what the rule leaves and of repeated rows."""
        return self.effects.freedom + float(self.cells.rows.sum()) - len(self._y)

    @property
    def noise(self) -> float | None:
        cells, freedom = self.cells, self.noise_freedom
        left = float((cells.weight * (cells.answers - self.answer(cells.codes)) ** 2).sum())
        left += (cells.pure or 0.0) * (float(cells.rows.sum()) - len(self._y))
        exact = left <= EXACT * float((cells.weight * (cells.answers - cells.answers.mean()) ** 2).sum())
        return None if freedom < LEAST_FREEDOM or exact else float(np.sqrt(left / freedom))

    def answer(self, codes: Ints) -> Floats:
        return self._mean(*self.effects.predict(codes, self._own(codes)), self.scale)

    def left_out(self, groups: Sequence[Ints]) -> Floats:
        place, sd = np.array([self._anew(g) for g in groups]).T if self.saturated else self.effects.left_out(groups)
        self._held_against(np.array([int(group[0]) for group in groups]), place, sd)
        if not self.scale.learnt:
            return self._mean(place, sd, self.scale)[:, None]
        same = dict[bytes, list[int]]()  # of few cells the same are left out again and again
        for i, group in enumerate(groups):
            same.setdefault(np.sort(group).tobytes(), []).append(i)
        found = np.empty((len(groups), 1))
        for at in same.values():
            found[at, 0] = self._mean(place[at], sd[at], ranks(np.delete(self.cells.answers, groups[at[0]])))
        return found

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
            place, sd = self.effects.learnt_without(group)
            self._told[asked] = float(place[0]), float(sd[0])
        return self._told[asked]

    def interval(
        self, codes: Ints, deviations: float | Floats, besides: float | Floats = 0.0, known: float | Floats = 0.0
    ) -> tuple[Floats, Floats]:
        """So many standard deviations around the mean of a cell; ``besides``: and what a single row is off it;
        ``known``: what it may be off in this direction. Open (infinite) on the side where a way back that is learnt
        from the answers ends."""
        place, sd = self.effects.predict(codes, self._own(codes))
        few = self.effects.between(codes, lambda freedom: float(stdtrit(freedom, 0.95) / ndtri(0.95)) ** 2 - 1)
        half = np.hypot(deviations * np.sqrt(sd**2 + few), besides)  # steps between values are learnt from few of them
        below, above = place - half + np.minimum(known, 0.0), place + half + np.maximum(known, 0.0)
        low, high = self.scale.back(below), self.scale.back(above)
        if not self.scale.learnt:
            return low, high
        return (
            np.where(below <= self._y.min(), -math.inf, low),
            np.where(above >= self._y.max(), math.inf, high),
        )

    def unsure(self, codes: Ints) -> float:
        """Mean squared standard error of answers, by the fit."""
        place, sd = self.effects.predict(codes, noise=0.0)
        return float(((self.scale.back(place + sd) - self.scale.back(place - sd)) ** 2 / 4).mean())

    def scatter_beyond(self, codes: Ints, target: Target) -> float | Floats:
        """How far, nine times in ten, a row is off the mean of its cell: beyond what `interval` holds for such means.
        0 where no combination has several rows."""
        beyond = np.maximum(1 - self._inverse_weight(codes), 0.0)
        if self.one_row is not None:
            each, freedom = self.one_row.of(codes)
            return np.asarray(stdtrit(freedom, 0.95) * np.sqrt(each * beyond))
        there = target if self.scale is PLAIN else scaled(target, self.scale)
        rows = there.count[there.count > 0]
        spare = int((rows - 1).sum())
        if not spare:
            return 0.0
        each_row = float(there.spread[there.count > 0].sum()) / spare
        if self.cells.weights is not None:
            return np.asarray(stdtrit(spare, 0.95) * np.sqrt(each_row * beyond))
        return float(stdtrit(spare, 0.95)) * float(np.sqrt(max(each_row * (1 - float(np.mean(1 / rows))), 0.0)))

    def varies(self, codes: Ints, dealt: bool = False) -> Floats:
        """The variance of an answer around its forecast, in the answer's units; ``dealt``: where nobody says what an
        answer weighs as if it were what the seen ones do, and not that of a typical one."""
        return self._variance(*self.effects.predict(codes, self._own(codes, dealt)))

    def _variance(self, place: Floats, sd: Floats) -> Floats:
        if self.scale is PLAIN:
            return sd**2
        return np.asarray(self.scale.back(place[:, None] + sd[:, None] * NODES).var(axis=1))

    @staticmethod
    def _mean(place: Floats, sd: Floats, scale: Scale) -> Floats:
        if scale is PLAIN:
            return place
        return scale.mean(place, sd)


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
