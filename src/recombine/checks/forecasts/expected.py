"""The error to expect on asked combinations, as found by `forecast`, and the answers of the recommended rule."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import ndtri, stdtrit

from recombine.checks.adds_up.one_pair import Pair, Place
from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.forecasts import forecast_words
from recombine.checks.forecasts.apart import Apart
from recombine.checks.forecasts.gaps import Gap
from recombine.checks.forecasts.harder import Harder
from recombine.checks.forecasts.own_range import OwnRange
from recombine.checks.holes.by_answer import ByAnswer
from recombine.checks.holes.ends_early import EndsEarly
from recombine.checks.holes.never_run import NeverRun
from recombine.checks.holes.unreached import Corner
from recombine.checks.rules.adding import Adding
from recombine.checks.rules.cut_short import Series
from recombine.checks.rules.drifted import Drift
from recombine.checks.rules.rule import Rule
from recombine.checks.rules.scales import PLAIN, Scale
from recombine.checks.rules.substitution import Substitution
from recombine.support.table import Target

SHOWN = (
    "rule", "error", "low", "high", "metric", "constant", "explained", "explains", "stand_ins", "distinct", "cells",
    "substitution", "wrong", "wrong_constant", "by_draw", "levels", "realised",
    "error_many_rows", "by_drift", "other_blocks", "shared", "worst_error", "worst_high",
)  # fmt: skip
CHANCES = "with the chance of the class (no range: one by the fit held too seldom on planted tables)"


@dataclass(frozen=True)
class RuleError:
    """One rule of the contest."""

    rule: str
    error: float
    explained: float | None
    """Share of the constant's error (numbers: squared error) that the rule takes away; None where that has none."""
    beats: bool
    """Whether it is better than the constant beyond chance."""
    uncharged: float
    """The error as tried, before something is added for what was learnt from the stand-ins."""


@dataclass(frozen=True, eq=False)
class Estimates:
    """Answers of the recommended rule to cells."""

    answers: Floats
    """Numbers, or probabilities (cells × classes)."""
    low: Floats | None
    """Infinite where the range is open: of a rank scale, which ends with the smallest and largest seen answer."""
    high: Floats | None
    row_low: Floats | None = None
    """Of a single new row, where ``low`` and ``high`` are those of the mean of several."""
    row_high: Floats | None = None
    covered: np.ndarray[Any, Any] | None = None
    """Of substitution: which cells it covers; the others get the commonest class."""

    def within(self, low: float, high: float) -> Estimates:
        """Cut where answers cannot be."""
        if low == -math.inf and high == math.inf:
            return self
        ends = ("answers", "low", "high", "row_low", "row_high")
        return replace(self, **{n: np.clip(v, low, high) for n in ends if (v := getattr(self, n)) is not None})


@dataclass(frozen=True, eq=False)
class Forecast:
    """The error to expect on the asked combinations that training determines."""

    rule: str
    error: float
    """Of numbers against the mean of a combination, of as many rows as seen ones have: its noise is part of it. Where
    rows weigh, against answers that weigh what the asked ones do, or else what seen ones do."""
    low: float
    high: float
    metric: str
    constant: float
    explained: float | None
    rules: tuple[RuleError, ...]
    stand_ins: int
    distinct: int
    """Seen cells of which the stand-ins were drawn, some of them for several asked cells."""
    cells: int
    """Asked cells that it is about."""
    assumed: RuleError | None
    """The rule that “determined” rests on; None where it does not take part."""
    substitution: dict[str, Any] | None = None
    answer: str = ""
    """The column that is answered, where it has a name."""
    _best: Rule | None = field(default=None, repr=False)
    _deviations: float = field(default=0.0, repr=False)
    small: bool = False
    """Whether it rests on so few combinations that its interval holds less often than it is meant to."""
    wrong: float | None = None
    """Beside a log loss: share of the stand-ins' rows whose class is not the one that the rule finds likeliest."""
    wrong_constant: float | None = None
    """The same of the commonest class for all."""
    outdone: bool = False
    """Whether the recommended rule is no sum of single effects on any scale and errs less than the assumed one beyond
    chance."""
    scale_told: bool = False
    """Whether sums on the scale of the recommended rule err less than in the answer's own units beyond chance."""
    span: float | None = None
    """How far apart the seen answers lie (numbers)."""
    by_draw: float = 0.0
    """Standard deviation of the error over draws of stand-ins, hence over seeds; the interval holds much more."""
    realised: dict[str, float] | None = None
    """Where asked combinations that are determined carry answers, which nothing was learnt from: how many these are
    ("cells"), the error there, and that of the same answer for all ("constant")."""
    harder: tuple[Harder, ...] = ()
    """Levels that are asked about and err more than others where they are seen (numbers)."""
    suspect: tuple[tuple[int, int], float] | None = None
    """A level that responds unlike the others, or may, by a test, and how many times as wide its ranges are."""
    pair: tuple[Pair, Place] | None = None
    """A pair of levels that lies apart from a sum, where sums answer: ranges reach as far there."""
    apart: tuple[Apart, ...] = ()
    """Levels that are asked about and err or scatter so much more that the forecast is not for them."""
    gaps: tuple[Gap, ...] = ()
    """Numbers that are asked about between seen values, where what their curves do makes most of the error."""
    own_ranges: tuple[OwnRange, ...] = ()
    """Numbers that are asked about beyond what was seen of them at a level, where its slope is not known."""
    levels: float = 1.0
    """How many times larger errors are expected where it is asked about than where it was tried: by the errors of the
    levels there, and by the fit, which has fewer cells where one is left out."""
    error_many_rows: float | None = None
    """What is left of the error against means of very many rows (numbers, where repeated rows tell their noise):
    without the noise that the means behind ``error`` have of their own."""
    other_blocks: float | None = None
    """The error to expect of as many other blocks than the seen ones, where each lies in one level of a factor."""
    other_blocks_high: float = 0.0
    """The upper end of that."""
    shared: bool = False
    """Whether repeated rows share runs, days or the like with those of other combinations: then nothing tells the noise
    of a mean, and nothing is said against means of very many rows."""
    aliased: bool = False
    """Whether an interaction may hide behind single effects: then nothing that is left out shows what is asked."""
    unrun: NeverRun | None = None
    """The part of a fraction that was never run, where what is asked about lies in it."""
    drift: Drift | None = None
    """A drift that was found."""
    by_drift: float | None = None
    """What it adds, over what there is without: of a squared error over that error, of a log loss four times over what
    the rule gains on the same answer for all. None where error and interval do not hold it."""
    corner: Corner | None = None
    """Asked combinations that nothing seen reaches, where these are many."""
    by_answer: ByAnswer | None = None
    """Asked combinations of low or high fitted answers, beyond chance."""
    series: Series | None = None
    """Those that were cut short to stand in for asked ones beyond their end."""
    early: EndsEarly | None = None
    """The same by name."""
    bounds: tuple[float, float] = (-math.inf, math.inf)
    """What answers cannot leave, where the table tells: answers and ranges are cut there, and hold as often."""

    @property
    def cut_as_asked(self) -> bool:
        """Whether what nothing seen reaches, if anything, are ends of series, and others were cut as short."""
        told, there = self.early, self.corner
        return told is not None and (there is None or {*there.factors} == {told.series.factor, told.series.steps})

    @property
    def recommended(self) -> Rule | None:
        return self._best

    @property
    def ranged(self) -> bool:
        """Whether answers have ranges: not where pairs take up nearly all that the seen combinations tell."""
        rule = self._best
        return isinstance(rule, Adding) and not rule.saturated

    @property
    def drifts(self) -> bool:
        """Whether a drift makes most of the error, or nobody knows how much of it."""
        return self.drift is not None and (self.by_drift is None or self.by_drift >= 1)

    @property
    def by_pairs(self) -> bool:
        return self.rule.startswith("pairs")

    @property
    def share(self) -> bool:
        """Whether errors are shares of answers, which are shown in per cent."""
        return self.metric == "error rate"

    @property
    def explains(self) -> bool | None:
        """Whether the rule that is assumed beats the constant beyond chance."""
        return None if self.assumed is None else self.assumed.beats

    @property
    def words(self) -> str:
        """The forecast in one sentence."""
        return forecast_words.said(self, doubted=False)

    @property
    def mostly(self) -> tuple[Harder, ...]:
        """The hardest level that most of the asked combinations have, where it is not apart."""
        apart = {a.at for a in self.apart}
        return tuple(h for h in self.harder if 2 * h.asked > self.cells and h.at not in apart)[:1]

    @property
    def curves_known(self) -> bool:
        """Whether curves are known between seen values of numbers, and where a level was not seen so far out."""
        return all(gap.known for gap in self.gaps) and not self.own_ranges

    @property
    def untold(self) -> tuple[Apart, ...]:
        """Levels apart whose combinations the rule is not shown to tell from each other."""
        return tuple(a for a in self.apart if not a.shown)

    @property
    def worst_error(self) -> float:
        """The error to expect where it is largest: of all asked combinations, of a harder level that the first lines
        name, or of other blocks."""
        named = [*(a.error for a in self.apart), *(h.error for h in self.mostly)]
        return max(self.error, *named, self.other_blocks or 0.0)

    @property
    def worst_high(self) -> float:
        return max(self.high, self.worst_error, *(a.high for a in self.apart), self.other_blocks_high)

    @property
    def tells(self) -> bool:
        """Whether the interval ends before all that seen answers differ by."""
        return self.span is None or self.high <= self.span

    @property
    def covers_all(self) -> bool:
        """Whether substitution covers every asked cell."""
        return self.substitution is not None and self.substitution["covered"] == self.substitution["asked"]

    @property
    def scale(self) -> Scale | None:
        """Where the rule adds up on another scale than the answer's own: that one."""
        return self._best.scale if isinstance(self._best, Adding) and self._best.scale is not PLAIN else None

    @property
    def beats(self) -> bool:
        """Whether the rule is better than the constant beyond chance."""
        return any(rule.beats for rule in self.rules if rule.rule == self.rule)

    @property
    def noise(self) -> float | None:
        """Standard deviation of one row around the rule, in the answer's units, where enough rows tell."""
        return self._best.noise if isinstance(self._best, Adding) else None

    @property
    def noise_freedom(self) -> float | None:
        """Degrees of freedom that it rests on."""
        return self._best.noise_freedom if isinstance(self._best, Adding) else None

    def to_dict(self) -> dict[str, Any]:
        shown = {name: getattr(self, name) for name in SHOWN}
        listed = {
            "rules": [vars(rule) for rule in self.rules],
            "harder": [{k: v for k, v in vars(h).items() if k != "at"} for h in self.harder],
            "apart": [level.to_dict() for level in self.apart],
            "gaps": [vars(gap) for gap in self.gaps],
            "early": None if self.early is None else self.early.to_dict(),
            "by_answer": None if self.by_answer is None else vars(self.by_answer),
            "own_ranges": [own.to_dict() for own in self.own_ranges],
        }
        return {**shown, "level": forecast_words.level(self), **listed, "choice": forecast_words.choice(self)}

    def estimate(self, codes: Ints, target: Target | None = None) -> Estimates:
        """With ``target``, the answers of the seen cells, also the range of a single new row."""
        return self._estimate(codes, target).within(*self.bounds)

    def _estimate(self, codes: Ints, target: Target | None) -> Estimates:
        assert self._best is not None
        answers, rule = self._best.answer(codes), self._best
        if isinstance(rule, Substitution):
            return Estimates(answers, None, None, covered=rule.covered(codes))
        if not isinstance(rule, Adding) or not self.ranged:
            return Estimates(answers, None, None)
        wide = self._deviations * rule.guessed(codes)
        for level in self.harder:  # the others' ranges stay: what makes these levels noisy widened them already
            share, (k, code) = level.seen / len(rule.cells.codes), level.at
            all_cells = np.sqrt(share * level.error**2 + (1 - share) * level.elsewhere**2)
            if level.at not in rule.noisy:  # nine of ten stand-ins may all be of calmer levels: as t has it at least
                here, least = codes[:, k] == code, float(stdtrit(level.seen, 0.95))
                wide[here] = np.maximum(wide[here], least) * level.error / all_cells
        if self.suspect is not None:
            (k, code), times = self.suspect
            wide[codes[:, k] == code] *= times
        off = np.sqrt(sum((own.slopes.off(codes) ** 2 for own in self.own_ranges), np.zeros(len(codes))))
        off = off if self.drift is None else np.hypot(off, float(ndtri(0.95)) * self.drift.off(codes))
        known = np.array([self.off_by(cell) for cell in codes.tolist()]) if self.pair is not None else 0.0
        ends = rule.interval(codes, wide, off, known)
        if target is None or target.scatter is None:
            return Estimates(answers, *ends)
        beside = np.hypot(off, rule.scatter_beyond(codes, target))
        return Estimates(answers, *ends, *rule.interval(codes, wide, beside, known))

    def off_by(self, cell: Sequence[int]) -> float:
        """How far a combination lies apart from a sum with the pair of levels that does; 0 of others."""
        if self.pair is None:
            return 0.0
        pair, (j, k, one, two) = self.pair
        return pair.by if (cell[j], cell[k]) == (one, two) else 0.0
