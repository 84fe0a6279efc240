"""The answer to "which unseen combinations can be answered": a frozen value with a status for each query.

status   seen < determined < extrapolation < undetermined < unseen level, exact under effects that add up
verdict  the worst status of all asked combinations; where that is "determined" and the table has answers, it stays so
         only if the seen answers do not contradict adding up ("assumption rejected") and adding up explains something
         of combinations that are left out, also of those of a level that errs far more than the others, the forecast's
         interval does not reach beyond all that seen answers differ by, and none of these looks like a code for missing
         ("assumption unsupported"); if they contradict it in the answer's own units and both hold on the scale of the
         recommended rule, it is "determined on a log scale"
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from recombine.checks import exported
from recombine.checks._coverage import Coverage
from recombine.checks.additivity import Additivity
from recombine.checks.advice import Advice
from recombine.checks.apart import Apart
from recombine.checks.best import best
from recombine.checks.confounding import Confounding
from recombine.checks.corner import supposed
from recombine.checks.elsewhere import elsewhere
from recombine.checks.expected import Forecast, apart, shown
from recombine.checks.headed import gists
from recombine.checks.identifiability import STATUSES, Identifiability
from recombine.checks.planned import Plan
from recombine.checks.prediction import Prediction
from recombine.checks.witness import Direction, Terms, direction, sums
from recombine.errors import InputError, unknown
from recombine.result import Result
from recombine.space import Codes, FactorSpace, Level
from recombine.support.table import Target

if TYPE_CHECKING:
    import polars as pl

    from recombine.checks.blocks import Shifts

THEORY = {
    "seen": "it is one of the training combinations",
    "determined": "a signed sum of seen combinations gives it, if effects add up (additive identifiability)",
    "extrapolation": "determined as others are, but a number lies outside the range of values that training shows",
    "undetermined": "effects can shift so that it changes and no seen answer does (additive identifiability)",
    "unseen level": "one of its levels never occurs in training (compositional support)",
}
WORDS = {
    "seen": "seen in training",
    "extrapolation": "determined only if the curve goes on outside the seen range",
    "undetermined": "not determined by this data",
    "unseen level": "level never seen",
}
REPLACED = "levels that answered alike wherever both were seen replace each other, whether or not effects add up"
PER_ROW = "This log loss is that of one row, averaged over combinations that count alike."
DOUBT = {"rejected": "which the seen combinations contradict", "unsupported": "which is not shown"}
UNTOLD = "by the forecast the answers may err by more than all seen answers differ"
BESIDE = {"rejected": ", and effects do not simply add up", "unsupported": ", and that effects add up is not shown"}


@dataclass(frozen=True)
class Query:
    """One asked combination and everything said about it."""

    codes: tuple[int, ...]
    status: str
    leverage: float | None = None
    min_cut: int | None = None
    shrinkage: float | None = None
    """What a wide network would give, as a share of the sum of seen effects: no estimate of ours."""
    prediction: float | str | None = None
    """What was observed, of a seen combination; else by the rule that the forecast recommends, None where nothing
    determines it."""
    low: float | None = None
    """Nine of ten numbers lie from ``low`` to ``high``; infinite where the range is open: a rank scale does not tell
    how far beyond the smallest or largest seen answer one lies."""
    high: float | None = None
    row_low: float | None = None
    """Ends of the range of a single new row, where ``low`` and ``high`` are those of the mean of several."""
    row_high: float | None = None
    probabilities: dict[str, float] | None = None
    covered: bool | None = None
    """Whether substitution, where that is the rule, covers it: else its answer is the commonest class."""
    rows: int | None = None
    """Of a seen combination: in how many rows it was answered."""
    smoothed: float | str | None = None
    """Of a seen combination: what the rule says, which learns from the others too."""
    network: float | str | None = None
    """What a wide network would answer: no estimate of ours."""
    parts: dict[str, float] | None = None
    terms: Terms | None = None
    direction: int | None = None


@dataclass(frozen=True, eq=False)
class CheckResult(Result):
    """What `check` found."""

    kind: ClassVar[str] = "check"

    space: FactorSpace
    order: int
    known: Identifiability = field(repr=False)
    row_counts: np.ndarray[Any, Any] = field(repr=False)
    asked: str
    """In words: what was asked about."""
    counts: dict[str, int] | None
    """Exact numbers by status, or None where the grid is too large."""
    share: dict[str, float] | None
    """Sampled shares by status where ``counts`` is None."""
    total: int
    """How many combinations are asked about."""
    worst: str
    rank_train: int
    rank_needed: int
    queries: tuple[Query, ...] = field(repr=False)
    directions: tuple[Direction, ...] = field(repr=False)
    advice: Advice = field(repr=False)
    coverage: Coverage = field(repr=False)
    pieces: tuple[dict[str, list[Level]], ...] = field(repr=False)
    groups: dict[str, list[list[Level]]] | None = field(repr=False)
    confounding: Confounding = field(repr=False)
    additivity: Additivity | None = field(repr=False)
    rescaled: Additivity | None = field(repr=False)
    """The same on the scale of the recommended rule, if that is another one and adding up is rejected or not shown."""
    answers: Target | None = field(repr=False)
    """What the seen combinations answered."""
    prediction: Prediction | None = field(repr=False)
    forecast: Forecast | None = field(repr=False)
    unseen_levels: dict[str, list[Level]] = field(repr=False)
    shifts: Shifts | None = None
    """What was taken off the answers for days, plates and the like."""
    notes: tuple[str, ...] = ()
    slips: int = 0
    """How many of the notes, the first ones, are of answers that may be slips."""
    coded: bool = False
    """Whether one number among the answers may stand for missing ones: then nothing that is said holds."""
    texts: frozenset[str] = frozenset()
    """Factors whose column, of a frame, holds texts: also where these are written as whole numbers."""
    plan: Plan | None = field(default=None, repr=False)
    """The rows to collect for a purpose, where one was named."""
    settings: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def verdict(self) -> str:
        """The worst status of all asked combinations, or what speaks against adding up where it rests on that."""
        if self.worst != "determined":
            return self.worst
        if self.scale is not None and not self.doubt:
            return f"determined on a {self.scale} scale"
        return f"assumption {self.doubt}" if self.doubt else "determined"

    @property
    def doubt(self) -> Literal["rejected", "unsupported"] | None:
        """What the table's own answers say against “determined”, whatever else is undetermined: that effects do not add
        up, or nothing that shows that they do."""
        if self.additivity is None or self.worst == "seen":
            return None
        if self.scale is not None:
            told = self.forecast
            shown = told is None or (told.beats and told.tells and not self.coded and not told.untold)
            return None if shown else "unsupported"
        if self.additivity.rejected:
            return "rejected"
        return "unsupported" if self._not_shown() else None

    @property
    def beside(self) -> str:
        """What the verdict would hide, for the end of a headline: of one worse than “determined” a doubt, of that one
        levels that err far more than the others."""
        if self.doubt:
            return ("" if self.determined else BESIDE[self.doubt]) + self._for_levels
        levels = [] if self.forecast is None else [a.name for a in self.forecast.apart]
        named = levels if len(levels) < 3 else [levels[0], f"{len(levels) - 1:,} more levels"]
        return f", with far larger errors for {' and '.join(named)}" if levels else ""

    @property
    def scale(self) -> str | None:
        """The scale on which effects add up ("log", "log-odds", "rank") where in the answer's own units they do not."""
        return scale_of(self.rescaled)

    @property
    def assumes(self) -> str:
        """What “determined” rests on."""
        return self.known.assumes(self.space.names, self.scale)

    @property
    def rests(self) -> str:
        """What “determined” rests on, with what the table's answers say against it."""
        return self.assumes + (f", {DOUBT[self.doubt]}{self._for_levels}" if self.doubt else "")

    @property
    def _for_levels(self) -> str:
        levels = " and ".join(a.name for a in self.doubted_levels)
        return f" for {levels}" if levels else ""

    @property
    def rule(self) -> str:
        """The rule that answers: least squares where nothing was tried."""
        return self.forecast.rule if self.forecast is not None else "additive"

    @property
    def by_sums(self) -> bool:
        """Whether the rule that answers adds up what “determined” supposes to add up."""
        assumed = "additive" if self.order == 1 else "pairs"
        return self.rule == (f"{assumed} on a {self.scale} scale" if self.scale else assumed)

    def in_words(self, status: str, query: Query | None = None) -> str:
        """What a status says of combinations, or of one, with what speaks against it."""
        if status in WORDS or not (self.doubt if query is None else self.doubt_of(query)):
            return WORDS.get(status) or f"determined if {self.assumes}"
        beside = ", answered by substitution, which does not suppose that" if self.rule == "substitution" else ""
        if beside and query is None and self.forecast is not None and not self.forecast.covers_all:
            beside += ", or the commonest class"
        elif beside and query is not None and not query.covered:
            beside = ", answered by the commonest class, since substitution does not cover it"
        return f"determined only if {self.rests}{beside}"

    def rule_of(self, query: Query) -> str | None:
        """What its answer is from: rows that were observed, the rule, or the commonest class."""
        if query.prediction is None:
            return None
        return "observed" if query.rows else "constant" if query.covered is False else self.rule

    def doubt_of(self, query: Query) -> str | None:
        """What speaks against the status of a combination that is determined if effects add up."""
        if query.status not in ("determined", "extrapolation") or self.doubt is None:
            return None
        only = self.doubted_levels
        return self.doubt if not only or any(query.codes[a.at[0]] == a.at[1] for a in only) else None

    @property
    def doubted_levels(self) -> tuple[Apart, ...]:
        """Where nothing but levels apart is doubted: these."""
        untold = () if self.forecast is None or self.doubt != "unsupported" else self.forecast.untold
        return untold if untold and self._not_shown() == _untold(untold) else ()

    @property
    def determined(self) -> bool:
        """Whether training determines everything that was asked, if effects add up."""
        return self.worst in ("seen", "determined")

    def fails(self, conditions: Sequence[str]) -> list[str]:
        """Which of these conditions are met: "undetermined", "assumption" (effects are not shown to add up, also
        where there are no answers to show it), "error=X" (the forecast error, or that of a level far harder than the
        others, is above X, or there is no forecast), "high=X" (the upper end of such an interval is)."""
        return [text for text in conditions if self._fails(text)]

    def _fails(self, condition: str) -> bool:
        if condition == "undetermined":
            return not self.determined
        if condition == "assumption":
            return self.worst != "seen" and (self.additivity is None or self.doubt is not None)
        name, _, value = condition.partition("=")
        try:
            most = float(value)
        except ValueError:
            most = math.nan
        if name not in ("error", "high"):
            known = ("undetermined", "assumption", "error=NUMBER", "high=NUMBER")
            raise unknown("condition to fail on", condition, known)
        if not most >= 0:
            raise InputError(f"cannot fail on {condition!r}; write {name}=NUMBER, in the units of the forecast.")
        return self.worst != "seen" and (self.forecast is None or getattr(self.forecast, f"worst_{name}") > most)

    def best(self, end: Literal["max", "min"]) -> dict[str, Any]:
        """The asked combinations with the largest or smallest answers, and how many cannot be told from the first."""
        return best(self, end)

    @property
    def suggestions(self) -> list[dict[str, Level]]:
        """The combinations to collect."""
        return self.space.decode(self.advice.cells)

    def run_sheet(self) -> pl.DataFrame:
        """The rows to collect, numbered as they should be run, with an empty column for each answer: those of the plan,
        or else those that determine what is asked, in random order."""
        answer = None if self.answers is None else self.answers.name
        if self.plan is not None:
            return exported.run_sheet(self.space, self.plan.cells, self.plan.costs, self.plan.repeats, answer)
        order = np.random.default_rng(self.settings.get("seed", 0)).permutation(len(self.advice.cells))
        return exported.run_sheet(self.space, self.advice.cells[order], self.advice.costs[order], (), answer)

    def combination(self, codes: tuple[int, ...] | Codes) -> dict[str, Level]:
        return {
            f.name: f.levels[int(c)] for f, c in zip(self.space.factors, codes, strict=True) if f.levels is not None
        }

    def witness(self, combination: dict[str, Level]) -> dict[str, Any]:
        """Why any combination is determined or not: {"sum": [[coefficient, levels], …], "scale": where they add up}, or
        {"direction": [[effect, value], …]}.
        """
        codes = self.space.encode([combination])
        if self.known.rows.contains(codes)[0]:
            terms = sums(self.known, codes, work=self.known.rank)[0]
            return self._sum(terms)
        return {"direction": self.named(direction(self.known, codes[0]))}

    def _sum(self, terms: Terms | None) -> dict[str, Any]:
        listed = None if terms is None else [[str(c), list(self.combination(row).values())] for c, row in terms]
        return {"sum": listed, "scale": self.adds_on}

    @property
    def adds_on(self) -> str | None:
        """The scale on which the sums behind “determined” are taken; None: the answer's own."""
        return "log-odds" if self.answers is not None and self.answers.classes is not None else self.scale

    def sentence(self) -> str:
        """The verdict in a sentence or two, the forecast first."""
        said = self._verdict_words()
        said += " A seen answer may be a slip, a note names it: look at that first." if self.slips else ""
        said += gists(self.notes)
        if self.asked.endswith("not asked about"):  # who left one cell blank may have meant all that is missing
            said += f" Asked about are only {self.asked} (--grid)."
        if self.forecast is None:
            return said
        of = f"This is of {self.of_means}{self.forecast.against_many}. " if self.of_means else ""
        of += f"{PER_ROW} {self._wrong()} " if self.forecast.metric == "log loss" else ""
        of += self._substituted() if self.rule == "substitution" else ""
        return f"{self.expected} {of}{said} {supposed(self)}"

    def _substituted(self) -> str:
        """What substitution is, and what it covers."""
        return f"Substitution: {REPLACED}; it {self.forecast.substituted if self.forecast is not None else ''}. "

    def _wrong(self) -> str:
        """How often the likeliest class was wrong, for who cannot read a log loss."""
        found = self.forecast
        if found is None or found.wrong is None or found.wrong_constant is None:
            return ""
        rule, same = apart(found.wrong, found.wrong_constant, share=True)
        said = f"On combinations left out, which count alike, its likeliest class was wrong in {rule}"
        said += f", the commonest in {same}"
        return said + (": for a class alone take the commonest." if found.wrong > found.wrong_constant else ".")

    @property
    def expected(self) -> str:
        """The forecast in one sentence."""
        return "" if self.forecast is None else self.forecast.said(doubted=self.doubt is not None)

    @property
    def elsewhere(self) -> str | None:
        """What adding up explained in real tables like this one."""
        if self.forecast is None or self.forecast.metric != "rmse":
            return None
        return elsewhere(len(self.space), len(self.known.codes) / self.space.size)

    @property
    def of_means(self) -> str:
        """What forecast and ranges are of, where it is not single rows."""
        scatter = self.answers.scatter if self.answers is not None else None
        means = [] if scatter is None else ["means of combinations"]
        average = [] if self.shifts is None else [f"an average {self.shifts.name}"]
        said = f", around which single rows scatter by {shown(scatter)}" if scatter is not None else ""
        return " on ".join([*means, *average]) + said

    def _verdict_words(self) -> str:
        missing = self.rank_needed - self.rank_train
        cells = f"{missing:,} further combination{'s' if missing != 1 else ''}"
        if self.worst == "seen":
            return "Every combination asked about was seen in training."
        sums = self.assumes
        if self.worst == "determined":
            every = f"Every combination asked about is determined if {sums}"
            if self.additivity is None:
                return f"{every}."
            if self.rescaled is not None and self.scale is not None and not self.doubt:
                scaled = f"on the {self.scale} scale ({self.rescaled.evidence or self.rescaled.test})"
                plain = (
                    f"it is ({self._evidence})"
                    if self.additivity.rejected
                    else f"that is not shown: {self._not_shown()}"
                )
                plain = f"in the answer's own units {plain}"
                return f"{every}: adding up is not rejected {scaled}; {plain}."
            if self.verdict == "assumption rejected" and self.rule == "surface":
                answers = "the answers are those of a surface of lines, squares and products"
                return f"The seen combinations contradict effects that add up ({self._evidence}); {answers} instead."
            if self.verdict == "assumption rejected":
                return f"{every}, which the seen combinations contradict ({self._evidence})."
            if self.verdict == "determined":
                best = self.forecast.scale if self.forecast is not None else None
                on = f"; adding up does best on a {best.name} scale" if best is not None else ""
                return f"{every}, and the seen combinations do not contradict that{on}{self._rather()}."
            return f"{every}, but that is not shown{self._for_levels}: {self._not_shown()}."
        how = f"would determine {self.reached('all of them')}"
        how = how if self.advice.enough else "would be needed, but no allowed set suffices"
        if self.worst == "extrapolation":
            where = f"Some numbers asked about lie outside {self._ranges()}"
            even = "already" if self.doubt == "rejected" else "even inside"
            said = f", {DOUBT[self.doubt]} {even} ({self._against()})" if self.doubt else ""
            bent = "; the answers are those of the rule “curved”, whose curve was not tried there"
            said += bent if self.rule == "curved" else ""
            return f"{where}: answers there hold only if {sums} that far out{said}."
        caveat = f" if {sums}" if self.doubt or self.worst == "unseen level" else ""
        caveat += f", {DOUBT[self.doubt]} ({self._against()})" if self.doubt else ""
        if self.worst == "undetermined":
            return f"Some combinations are not determined by this data even if {sums}; {cells} {how}{caveat}."
        return f"Some combinations use levels that training never shows; {cells} {how}{caveat}."

    def _rather(self) -> str:
        """Which answers to take where sums are not contradicted and another rule answers."""
        found = self.forecast
        sums = ("additive", "constant", "pairs" if self.order > 1 else "additive")
        if found is None or found.assumed is None or found.rule.startswith(sums):
            return ""
        if not (less := found.less_than_sums()) or found.error >= found.assumed.error:
            as_much = f"; the answers given are of the rule “{found.rule}”, which errs about as much as sums"
            return as_much + (f" ({less})" if less else "")
        less = f"it erred less on combinations left out ({less}), though that may be chance"
        return f"; take the answers given, of the rule “{found.rule}”: {less}"

    def reached(self, everything: str) -> str:
        """What collecting the advised combinations determines: all that is asked, but for numbers that stay outside."""
        left = self.advice.outside
        them = f"the {left:,} with a number" if left > 1 else "the one with a number"
        return f"{everything} but {them} outside the seen range" if left else everything

    def _against(self) -> str:
        return self._evidence if self.doubt == "rejected" else self._not_shown()

    def _not_shown(self) -> str:
        """Why nothing shows that effects add up (a test of few combinations may miss what is there); none: it is."""
        found = self.forecast
        if found is None:
            return "it could not be tried on combinations left out, a note says why"
        if found.aliased:
            return "interactions may hide behind single effects (aliased), a note names them"
        if self.coded:
            return "some answers may be codes for missing, a note names them"
        tried, same = found.assumed, "the same answer for all"
        if self.scale is not None and not found.beats:
            less = self._less(found.error, found.constant, same)
            return f"on combinations left out the rule “{found.rule}” errs {less}"
        if self.scale is not None and not found.tells:
            return UNTOLD
        if self.scale is not None and found.untold:
            return _untold(found.untold)
        if tried is not None and (tried.error >= found.constant or found.rule == "constant"):
            return f"on combinations left out it is not clearly better than {same}"
        if tried is not None and not tried.beats:
            return f"on combinations left out it errs {self._less(tried.error, found.constant, same)}"
        if self.additivity is not None and self.additivity.repeats:
            return self.additivity.words.rstrip(".")
        if (there := self.rescaled) is not None and there.rejected:
            where = f"on the {there.scale} scale, where sums do best"
            return f"{where}, the seen combinations contradict them ({there.evidence})"
        if self.additivity is not None and self.additivity.rejected is None:
            return f"nothing here tests it, {self.additivity.words.rstrip('.')}"
        if self.additivity is not None and self.additivity.untested:
            return self.additivity.untested
        if tried is not None and not found.beats:
            less = self._less(found.error, found.constant, same)
            return f"on combinations left out the rule “{found.rule}” errs {less}"
        if tried is not None and found.outdone:
            less = found.less_than_sums()
            by = f" ({less})" if less else ", where each counts by its rows"
            return f"on combinations left out the rule “{found.rule}” errs less beyond chance{by}"
        if not found.tells:
            return UNTOLD
        return _untold(found.untold)

    def _less(self, error: float, than: float, same: str) -> str:
        assert self.forecast is not None
        one, two = apart(error, than, self.forecast.share)
        few = f"which on {self.forecast.distinct:,} of them may be chance"
        return f"{'hardly ' if one == two else ''}less than {same} ({one} against {two}), {few}"

    @property
    def _evidence(self) -> str:
        return self.additivity.evidence if self.additivity is not None else ""

    def _ranges(self) -> str:
        """What training shows of each number."""
        seen = [(self.space.factors[k], curve.seen) for k, curve in self.known.curves.items()]
        ends = [(f.name, *((f.levels or ())[int(s[i])] for i in (0, -1))) for f, s in seen]
        beside = "" if self.order == 1 else ", or outside what it shows with their other levels"
        return "what training shows (" + ", ".join(f"{n} {a:g} to {b:g}" for n, a, b in ends) + ")" + beside

    def words_of(self, query: Query) -> dict[str, Any]:
        """One query as plain JSON values."""
        record: dict[str, Any] = {
            "combination": self.combination(query.codes),
            "status": query.status,
            "doubt": self.doubt_of(query),
            "words": self.in_words(query.status, query),
            "theory": THEORY[query.status],
            "leverage": query.leverage,
            "min_cut": query.min_cut,
            "shrinkage": query.shrinkage,
            "prediction": query.prediction,
            "low": finite(query.low),
            "high": finite(query.high),
            "rule": self.rule_of(query),
            "network": query.network,
            "witness": None,
        }
        if query.row_low is not None:
            record |= {"row_low": finite(query.row_low), "row_high": finite(query.row_high)}
        if sides := [s for s, end in (("below", query.low), ("above", query.high)) if end is not finite(end)]:
            record["open"] = sides
        if query.rows is not None:
            record |= {"rows": query.rows, "smoothed": query.smoothed}
        if query.probabilities is not None:
            record["probabilities"] = query.probabilities
        if query.parts is not None:
            record["parts"] = query.parts
        if query.terms is not None:
            record["witness"] = self._sum(query.terms)
        elif query.direction is not None:
            record["witness"] = {"direction": query.direction}
        return record

    def to_frame(self) -> pl.DataFrame:
        """One row per query: factor columns (as text where levels are of mixed kinds), then status and numbers. What a
        network would say, which is no estimate, is in `queries` and the JSON alone."""
        return exported.frame(self)

    def to_dict(self) -> dict[str, Any]:
        """The object that ``--json`` prints."""
        return exported.record(self)

    def named(self, effects: Direction) -> list[list[Any]]:
        """[[{factor: level, …}, integer], …]: add any multiple and no training answer changes."""
        names = self.space.names
        return [
            [{names[k]: (self.space.factors[k].levels or ())[level] for k, level in levels}, value]
            for levels, value in effects.items()
        ]


def finite(end: float | None) -> float | None:
    """An end as JSON can write it: none where the range is open."""
    return None if end is None or math.isinf(end) else end


def _untold(levels: Sequence[Apart]) -> str:
    """What is said of levels apart whose combinations nothing is shown to tell from each other."""
    if not levels:
        return ""
    a, more = levels[0], f", nor for {len(levels) - 1:,} more levels" if len(levels) > 1 else ""
    few = f"{a.name} errs far more than the others and was seen in too few combinations to try it there"
    left = (
        f"combinations of {a.name}, which errs far more than the others, are left out, it errs by {shown(a.left_out)}"
    )
    tried = f"where {left}, one answer for all of {a.name} by {shown(a.own_mean)}"
    return (tried if a.own_mean == a.own_mean else few) + more


def scale_of(rescaled: Additivity | None) -> str | None:
    """The scale of this test, where effects add up there."""
    return rescaled.scale if rescaled is not None and rescaled.rejected is False else None


__all__ = ["STATUSES", "THEORY", "CheckResult", "Query"]
