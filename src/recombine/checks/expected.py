"""The error to expect on asked combinations, as found by `forecast`, and how it is said."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from recombine.checks.adding import Adding
from recombine.checks.apart import Apart
from recombine.checks.corner import Corner
from recombine.checks.gaps import Gap
from recombine.checks.harder import Harder
from recombine.checks.modular import Floats, Ints
from recombine.checks.never_run import NeverRun
from recombine.checks.own_range import OwnRange
from recombine.checks.rules import Rule
from recombine.checks.scales import PLAIN, Scale
from recombine.checks.substitution import Substitution
from recombine.space import about
from recombine.support.table import Target

SHOWN = (
    "rule", "error", "low", "high", "metric", "constant", "explained", "explains", "stand_ins", "distinct", "cells",
    "substitution", "level", "wrong", "wrong_constant", "by_draw", "levels", "realised",
    "error_many_rows", "other_blocks", "shared", "worst_error", "worst_high",
)  # fmt: skip
CHANCES = "with the chance of the class (no range: one by the fit held too seldom on planted tables)"
LESS = 0.8
"""Share of the error up to which the error against means of very many rows is worth saying."""
NOTHING_TOLD = 0.99
"""Width of the interval of a share that tells nothing; of another error, that width over its upper end."""
MOST_APART = 3
"""Levels apart that are named."""


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
    apart: tuple[Apart, ...] = ()
    """Levels that are asked about and err or scatter so much more that the forecast is not for them."""
    gaps: tuple[Gap, ...] = ()
    """Numbers that are asked about between seen values, where what their curves do makes most of the error."""
    own_ranges: tuple[OwnRange, ...] = ()
    """Numbers that are asked about beyond what was seen of them at a level, where its slope is not known."""
    levels: float = 1.0
    """How many times larger errors are expected at the levels that are asked about than at those it was tried on."""
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
    corner: Corner | None = None
    """Asked combinations that nothing seen reaches, where these are many."""
    bounds: tuple[float, float] = (-math.inf, math.inf)
    """What answers cannot leave, where the table tells: answers and ranges are cut there, and hold as often."""

    @property
    def recommended(self) -> Rule | None:
        return self._best

    @property
    def ranged(self) -> bool:
        """Whether answers have ranges: not where pairs take up nearly all that the seen combinations tell."""
        rule = self._best
        return isinstance(rule, Adding) and not rule.saturated

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
        return self.said(doubted=False)

    def said(self, doubted: bool) -> str:
        """The same; ``doubted``: what “determined” rests on is contradicted or not shown."""
        what = {"rmse": "a root-mean-square error of", "error rate": "a share wrong of", "log loss": "a log loss of"}
        error, constant = apart(self.error, self.constant, self.share)
        errs = f"errs {'in' if self.share else 'by'} {constant}"
        gain = f"the same answer for all {errs}" + (", hardly different" if error == constant else "")
        gain += "" if self.beats else ", and the difference may be chance"
        if self.rule == "constant":
            error = shown(self.error, self.share)
            gain = "no rule that was tried is clearly better than the same answer for all"
        by = f"rule “{self.rule}”"
        if self.rule == "substitution" and self.substitution and not self.covers_all:
            by += f" where it covers ({self.substitution['covered']:,}) and the commonest class elsewhere"
        which = "adding up would determine" if doubted else f"{'are' if self.cells != 1 else 'is'} determined"
        untold = (self.share or self.small) and self.high - self.low > NOTHING_TOLD * (1.0 if self.share else self.high)
        low, high = (shown(end, self.share) for end in (self.low, self.high))
        within = f"90 %: {low} to {high}" if self.level == "90 %" else f"{low} to {high}, {self.level}"
        within = "how near cannot be told from so few" if untold else within
        if self.span == 0:
            within = "all seen answers are the same, so nothing tells how others differ"
        elif self.span is not None and self.high > self.span and not untold:
            within += f"; that end tells nothing, as all seen answers lie within {shown(self.span)}"
        many = f"{self.cells:,}" if self.cells < 10**15 else about(self.cells)
        return (
            f"Expect {what[self.metric]} {error} ({within}) on the "
            f"{many} unseen combination{'s' if self.cells != 1 else ''} that {which}, by the "
            f"{by}; {gain}.{self._elsewise()}"
        )

    def _elsewise(self) -> str:
        """What to expect instead on asked combinations of levels that are far harder than the others."""
        said = [
            f" On the {a.asked if a.asked > 1 else 'one'} of them with {a.factor} {a.level} expect about "
            f"{shown(a.error)} instead ({shown(a.low)} to {shown(a.high)}); others err by about {shown(a.elsewhere)}."
            for a in self.apart[:MOST_APART]
        ]
        more = len(self.apart) - len(said)
        said += [f" So it is with {more:,} more levels (JSON: forecast.apart)."] if more else []
        return "".join([*said, *(self._most(h) for h in self.mostly)])

    def _most(self, level: Harder) -> str:
        which = "all" if level.asked == self.cells else f"the {level.asked:,}"
        at = f"{level.factor} {level.level}, which errs more where it is seen"
        return f" On {which} of them with {at}, expect about {shown(level.error)} instead."

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
    def against_many(self) -> str:
        """The error against means of very many rows, where that is clearly less."""
        many = self.error_many_rows
        if self.shared:
            return "; repeats share part of that (a note says how), so nothing is said against means of very many rows"
        if many is None or many > LESS * self.error:
            return ""
        return f"; against means of very many rows expect about {shown(many)}"

    @property
    def drawn(self) -> str:
        """How much of the error is a matter of which combinations were drawn to be left out."""
        by = shown(self.by_draw, self.share)
        return f"another draw of the combinations left out (--seed) moves the error by about {by} (standard deviation)"

    @property
    def level(self) -> str:
        """How often the interval holds: as it is meant to, except where planted tables have shown that it does not."""
        if self.aliased:
            return "if no interaction hides behind a single effect"
        if self.unrun is not None:
            return "if nothing acts that would show only in the fraction that was never run"
        if self.corner is not None:
            return "if effects add up in a corner that nothing seen reaches"
        if self.own_ranges:
            return f"if {self.own_ranges[0].number} does the same whatever {self.own_ranges[0].factor} is"
        if self.small:
            held = "5 times in 6" if self.share else "3 times in 4"
            return f"meant for 90 %, held about {held} on planted tables this small"
        if self.gaps:
            return (
                "meant for 90 %, held about 2 times in 3 on planted curves where most of it is, as with "
                f"{self.gaps[0].factor} here, of what happens between seen values: a smooth curve errs less, a peak "
                "between them more"
            )
        if self.scale is not None and self.scale.name == "log":
            return "meant for 90 %, held about 5 times in 6 on planted tables whose effects multiply"
        if self.scale is not None and self.scale.name == "rank":
            return "meant for 90 %, held about 3 times in 4 on planted tables with such answers"
        return "90 %"

    @property
    def substituted(self) -> str:
        """What substitution covers and how often it was right, beside a guess."""
        told = self.substitution
        if told is None:
            return ""
        words = f"covers {told['covered']:,} of {told['asked']:,}"
        if told["right"] is None or told["guessed"] is None:
            return f"{words}; it covers no stand-in, so it was not tried"
        right = f"it had {per_cent(told['right'])} right, the commonest class {per_cent(told['guessed'])}"
        words += f"; of {told['tried']:,} stand-ins that it covers {right}"
        if self.covers_all:
            more = any(r.rule == self.rule == "substitution" and r.uncharged < r.error for r in self.rules)
            return words + ("; the forecast is larger, since the rule was chosen by them" if more else "")
        left = f"the other {told['asked'] - told['covered']:,} get the commonest class"
        if told["elsewhere"] is None:
            return f"{words}; {left}, which was not tried on such"
        return f"{words}; {left}, which was right in {per_cent(told['elsewhere'])} of the stand-ins not covered"

    @property
    def covers_all(self) -> bool:
        """Whether substitution covers every asked cell."""
        return self.substitution is not None and self.substitution["covered"] == self.substitution["asked"]

    @property
    def choice(self) -> str:
        """How the recommended rule was chosen: of classes not by the errors that are shown."""
        charged = [f"{r.rule} {shown(r.uncharged)}" for r in self.rules if r.uncharged != r.error]
        if self.metric == "rmse" or not charged:
            apart = f"by at most 0.5 % or a third of a standard error{self._few}"
            scale = (
                "; of sums on several scales that on which the seen answers are likelier, unless it clearly errs more"
            )
            said = f"recommended is the rule of the smallest error, or a simpler one that is worse {apart}"
            lost = any(rule.rule.endswith(" scale") for rule in self._smaller)
            return f"{said}{scale if self.scale is not None or lost else ''}{self._on}"
        who = "they and their choice" if self.share else "they"
        added = f"before something was added for what {who} learnt from the stand-ins ({', '.join(charged)})"
        gains = " and that still errs less than the same answer for all" if self.metric == "log loss" else ""
        return f"recommended is the rule whose error was smallest {added}{gains}, or a simpler one that was as good"

    @property
    def unlike_shown(self) -> str:
        """Why the recommended rule is not that of the smallest error, as they are shown; none where it is."""
        return self.choice if self._smaller else ""

    @property
    def _smaller(self) -> list[RuleError]:
        """Rules of a smaller error than the recommended one, as they are shown."""
        own = next((r.error for r in self.rules if r.rule == self.rule), self.error)
        return [r for r in self.rules if r.error < own and shown(r.error, self.share) != shown(own, self.share)]

    def less_than_sums(self) -> str:
        """That the rule errs less than the assumed one, in numbers: those that are shown, or else those that it was
        chosen by, before something was added for what it learnt, beside those shown; none where neither are less."""
        own = next((r for r in self.rules if r.rule == self.rule), None)
        if own is None or self.assumed is None:
            return ""
        with_it = " against ".join(apart(self.error, self.assumed.error, self.share))
        charged = f", before something is added for what each learnt; {with_it} with it"
        for one, two, how in (
            (self.error, self.assumed.error, ""), (own.uncharged, self.assumed.uncharged, charged),
        ):  # fmt: skip
            rule, sums = apart(one, two, self.share)
            if one < two and rule != sums:
                return f"{rule} against {sums} of sums{how}"
        return ""

    @property
    def _few(self) -> str:
        """What the means of few rows count in that choice."""
        if not isinstance(self._best, Adding) or not self._best.weighed:
            return ""
        weigh = self._best.cells.weights is not None
        return f"; there {'rows that weigh little' if weigh else 'means of few rows'} count less"

    @property
    def _on(self) -> str:
        """What the recommended rule's scale means, where people may not know."""
        odds = "; on a log-odds scale effects multiply the odds (60 % are odds of 60 to 40)"
        return odds if self.scale is not None and self.scale.name == "log-odds" else ""

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

    def to_dict(self) -> dict[str, Any]:
        shown = {name: getattr(self, name) for name in SHOWN}
        listed = {
            "rules": [vars(rule) for rule in self.rules],
            "harder": [{k: v for k, v in vars(h).items() if k != "at"} for h in self.harder],
            "apart": [level.to_dict() for level in self.apart],
            "gaps": [vars(gap) for gap in self.gaps],
            "own_ranges": [own.to_dict() for own in self.own_ranges],
        }
        return {**shown, **listed, "choice": self.choice}

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
            wide[codes[:, k] == code] *= 1.0 if level.at in rule.noisy else level.error / all_cells
        if self.suspect is not None:
            (k, code), times = self.suspect
            wide[codes[:, k] == code] *= times
        off = np.sqrt(sum((own.slopes.off(codes) ** 2 for own in self.own_ranges), np.zeros(len(codes))))
        ends = rule.interval(codes, wide, off)
        if target is None or target.scatter is None:
            return Estimates(answers, *ends)
        return Estimates(answers, *ends, *rule.interval(codes, wide, np.hypot(off, rule.scatter_beyond(codes, target))))


def per_cent(share: float, decimals: int = 0) -> str:
    """A share as a person reads it; 100 % only where it is all."""
    most = 100.0 if share >= 1 else 100 - 10.0**-decimals
    return f"{min(100 * share, most):.{decimals}f} %"


def shown(value: float, share: bool = False) -> str:
    """Three digits, and no power of ten where people write thousands; a share in per cent."""
    if share:
        return f"{shown(100 * value)} %"
    return f"{value:,.0f}" if 1_000 <= abs(value) < 1e9 else f"{value:.3g}"


def range_of(low: float, high: float, say: Callable[[float], str] = shown) -> str:
    """A range as people say it, also one that is open at an end."""
    if math.isinf(low) or math.isinf(high):
        ends = [f"{say(end)} or {which}" for end, which in ((low, "more"), (high, "less")) if math.isfinite(end)]
        return ends[0] if ends else "any number"
    return f"{say(low)} to {say(high)}"


def apart(one: float, two: float, share: bool = False) -> tuple[str, str]:
    """Two values as shown, with a fourth digit where three do not tell them apart."""
    if share:
        first, second = apart(100 * one, 100 * two)
        return f"{first} %", f"{second} %"
    if shown(one) != shown(two) or f"{one:.4g}" == f"{two:.4g}" or abs(one) >= 1_000:
        return shown(one), shown(two)
    return f"{one:#.4g}", f"{two:#.4g}"
