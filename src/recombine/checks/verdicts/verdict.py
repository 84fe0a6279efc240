"""The answer to "which unseen combinations can be answered": a frozen value with a status for each query.

status   seen < determined < extrapolation < undetermined < unseen level, exact under effects that add up
verdict  the worst status of all asked combinations; where that is "determined" and the table has answers, it stays so
         only if the seen answers do not contradict adding up ("assumption rejected") and adding up explains something
         of combinations that are left out, also of those of a level that errs far more than the others, the forecast's
         interval does not reach beyond all that seen answers differ by, curves are known between the seen values of
         numbers that are asked about there, and slopes where a level was not seen so far out, what is asked about does
         not lie in the part of a fraction that was never run, in a corner that nothing seen reaches or, beyond chance,
         where fitted answers are low or high, none of the answers looks like a code for missing, no level is a total of
         others, and no drift that is found could hardly be told from a factor ("assumption unsupported"); if they
         contradict it in the answer's own units and both hold on the scale of the recommended rule, it is "determined
         on a log scale"
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from recombine.checks.adds_up.tested import Additivity, scale_of
from recombine.checks.asked.query import WORDS, Query
from recombine.checks.columns.confounding import Confounding
from recombine.checks.exact._coverage import Coverage
from recombine.checks.exact.advice import Advice
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.exact.witness import Direction, direction, sums
from recombine.checks.forecasts.expected import Forecast
from recombine.checks.forecasts.forecast_words import said
from recombine.checks.forecasts.one_row import scattered
from recombine.checks.holes.nested import Within, may_not_exist
from recombine.checks.plans.planned import Plan
from recombine.checks.plans.run_sheet import run_sheet
from recombine.checks.verdicts import exported
from recombine.checks.verdicts.best import best
from recombine.checks.verdicts.conditions import met
from recombine.checks.verdicts.doubt import BESIDE, DOUBT, less_than_safe, not_shown, nowhere_shown, spoilt
from recombine.checks.verdicts.elsewhere import elsewhere
from recombine.checks.verdicts.prediction import Prediction
from recombine.checks.verdicts.sentence import paragraphs
from recombine.result import Result
from recombine.space import Codes, FactorSpace, Level
from recombine.support.table import Target

if TYPE_CHECKING:
    import polars as pl

    from recombine.checks.columns.blocks import Shifts


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
    units: bool = False
    """Whether rows of combinations seem to be in several units."""
    coded: bool = False
    """Whether one number among the answers may stand for missing ones: then nothing that is said holds."""
    totals: dict[str, list[Level]] = field(default_factory=dict)
    """Levels that are totals of others, by factor: they answer no question, and nothing tried with them holds."""
    within: tuple[Within, ...] = ()
    """Factors each of whose levels lies in one of another's, where the grid asks about others."""
    texts: frozenset[str] = frozenset()
    """Factors whose column, of a frame, holds texts: also where these are written as whole numbers."""
    plan: Plan | None = field(default=None, repr=False)
    """The rows to collect for a purpose, where one was named."""
    unplanned: str = ""
    """Why there is no plan where a purpose was named."""
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
            whole = told is None or (told.beats and told.tells and not spoilt(self) and told.curves_known)
            whole = whole and (told is None or told.by_answer is None)
            some = told is not None and (told.untold or told.corner is not None)
            return None if whole and not some else "unsupported"
        if self.additivity.rejected:
            return "rejected"
        return "unsupported" if not_shown(self) else None

    @property
    def beside(self) -> str:
        """What the verdict would hide, for the end of a headline: of one worse than “determined” a doubt, of that one
        levels that err far more than the others, or that little speaks for it."""
        if self.doubt:
            return ("" if self.determined else BESIDE[self.doubt]) + self.for_some
        levels = [] if self.forecast is None else [a.name for a in self.forecast.apart]
        named = levels if len(levels) < 3 else [levels[0], f"{len(levels) - 1:,} more levels"]
        if levels:
            return f", with far larger errors for {' and '.join(named)}"
        return less_than_safe(self) if self.worst == "determined" else ""

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
        return self.assumes + (f", {DOUBT[self.doubt]}{self.for_some}" if self.doubt else "")

    @property
    def for_some(self) -> str:
        """What a doubt is about, where it is about some of what is asked alone."""
        if not self.doubts_some or self.forecast is None:
            return ""
        levels = " and ".join(a.name for a in self.forecast.untold)
        corner = "" if self.forecast.corner is None else f" {self.forecast.corner.where}"
        return (f" for {levels}" + " and" * bool(corner) if levels else "") + corner

    @property
    def rule(self) -> str:
        """The rule that answers: least squares where nothing was tried."""
        return self.forecast.rule if self.forecast is not None else "additive"

    @property
    def seen_pieces(self) -> list[dict[str, list[Level]]]:
        """Without those of one level that was never seen."""
        return [piece for piece in self.pieces if all(piece.values())]

    @property
    def by_sums(self) -> bool:
        """Whether the rule that answers adds up what “determined” supposes to add up."""
        assumed = "additive" if self.order == 1 else "pairs"
        return self.rule == (f"{assumed} on a {self.scale} scale" if self.scale else assumed)

    def in_words(self, status: str, query: Query | None = None) -> str:
        """What a status says of combinations, or of one, with what speaks against it."""
        if query is not None and query.prediction is not None and self.shifts is not None:
            new = self.shifts.unshown.words(query.codes, self.shifts.name, self.shifts.average_one)
            return f"{self._status_words(status, query)}{new}"
        return self._status_words(status, query)

    def _status_words(self, status: str, query: Query | None) -> str:
        if status in WORDS or not (self.doubt if query is None else self.doubt_of(query)):
            return WORDS.get(status) or f"determined if {self.assumes}"
        beside = ", answered by substitution, which does not suppose that" if self.rule == "substitution" else ""
        if beside and query is None and self.forecast is not None and not self.forecast.covers_all:
            beside += ", or the commonest class"
        elif beside and query is not None and not query.covered:
            beside = ", answered by the commonest class, since substitution does not cover it"
        return f"determined only if {self.rests}{beside}{'' if query is None else self._pair_of(query)}"

    def _pair_of(self, query: Query) -> str:
        """That a combination has the pair of levels that lies apart from a sum."""
        told = self.forecast
        if told is None or told.pair is None or not told.off_by(query.codes):
            return ""
        return f"; {told.pair[0].words}, and its range reaches as far"

    def rule_of(self, query: Query) -> str | None:
        """What its answer is from: rows that were observed, the rule, or the commonest class."""
        if query.prediction is None:
            return None
        return "observed" if query.rows else "constant" if query.covered is False else self.rule

    def doubt_of(self, query: Query) -> str | None:
        """What speaks against the status of a combination that is determined if effects add up."""
        if query.status not in ("determined", "extrapolation") or self.doubt is None:
            return None
        return self.doubt if self.doubts(query.codes) else None

    def doubts(self, cell: Sequence[int]) -> bool:
        """Whether a doubt is about this combination."""
        told = self.forecast
        if self.doubt is None or told is None or not self.doubts_some:
            return self.doubt is not None
        corner = told.corner is not None and told.corner.holds(cell)
        return corner or any(cell[a.at[0]] == a.at[1] for a in told.untold)

    @property
    def doubts_some(self) -> bool:
        """Whether nothing but levels apart, or a corner that nothing seen reaches, is doubted."""
        return self.doubt == "unsupported" and not nowhere_shown(self)

    @property
    def determined(self) -> bool:
        """Whether training determines everything that was asked, if effects add up."""
        return self.worst in ("seen", "determined")

    def fails(self, conditions: Sequence[str]) -> list[str]:
        """Which of these conditions are met: "undetermined", "assumption" (effects are not shown to add up, also
        where there are no answers to show it), "slip" (a note names answers that may be wrong or in another unit),
        "error=X" (the forecast error, or that of a level far harder than the others, or of other blocks where each lies
        in one level, is above X, or there is no forecast), "high=X" (the upper end of such an interval is)."""
        return [text for text in conditions if met(self, text)]

    def best(self, end: Literal["max", "min"]) -> dict[str, Any]:
        """The asked combinations with the largest or smallest answers, and how many cannot be told from the first."""
        return best(self, end)

    @property
    def suggestions(self) -> list[dict[str, Level]]:
        """The combinations to collect."""
        return self.space.decode(self.advice.cells)

    @property
    def may_not_exist(self) -> str:
        """What is said beside the combinations to collect, those of the plan where there is one, of which some may not
        exist."""
        cells = self.advice.cells if self.plan is None else self.plan.cells
        return may_not_exist(self.within, self.space, cells)

    def run_sheet(self) -> pl.DataFrame:
        """The rows to collect, numbered as they should be run, with an empty column for each answer: those of the plan,
        or else those that determine what is asked, in random order."""
        answer = None if self.answers is None else self.answers.name
        if self.plan is not None:
            return run_sheet(self.space, self.plan.cells, self.plan.costs, self.plan.repeats, answer)
        order = np.random.default_rng(self.settings.get("seed", 0)).permutation(len(self.advice.cells))
        return run_sheet(self.space, self.advice.cells[order], self.advice.costs[order], (), answer)

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
            return exported.summed(self, sums(self.known, codes, work=self.known.rank)[0])
        return {"direction": self.named(direction(self.known, codes[0]))}

    @property
    def adds_on(self) -> str | None:
        """The scale on which the sums behind “determined” are taken; None: the answer's own."""
        return "log-odds" if self.answers is not None and self.answers.classes is not None else self.scale

    def sentence(self) -> str:
        """The verdict in a few sentences, the forecast first."""
        return " ".join(self.paragraphs)

    @property
    def paragraphs(self) -> tuple[str, ...]:
        """The same in parts: the forecast, what the verdict rests on, what the forecast supposes; without a forecast
        the second alone."""
        return paragraphs(self)

    @property
    def expected(self) -> str:
        """The forecast in one sentence."""
        return "" if self.forecast is None else said(self.forecast, doubted=self.doubt is not None)

    @property
    def elsewhere(self) -> str | None:
        """What adding up explained in real tables like this one."""
        if self.forecast is None or self.forecast.metric != "rmse":
            return None
        return elsewhere(len(self.space), len(self.known.codes) / self.space.size)

    @property
    def of_means(self) -> str:
        """What forecast and ranges are of, where it is not single rows."""
        rows = self.answers if self.answers is not None and self.answers.scatter is not None else None
        means = [] if rows is None else ["means of combinations"]
        average = [] if self.shifts is None else [self.shifts.average_one]
        scale = None if self.forecast is None else self.forecast.scale
        said = f", around which single rows scatter {scattered(rows, scale)}" if rows is not None else ""
        return " on ".join([*means, *average]) + said

    def reached(self, everything: str) -> str:
        """What collecting the advised combinations determines: all that is asked, but for numbers that stay outside."""
        left = self.advice.outside
        them = f"the {left:,} with a number" if left > 1 else "the one with a number"
        return f"{everything} but {them} outside the seen range" if left else everything

    def words_of(self, query: Query) -> dict[str, Any]:
        """One query as plain JSON values."""
        return exported.query_record(self, query)

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
