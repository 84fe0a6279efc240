"""A plan: rows to collect, how precise the answers are with them, and both in words.

Precision is the standard error of the asked answers under least squares, in units of one row's noise (or of the answer,
where the noise is known): √(xᵀ(XᵀX)⁻¹x).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from recombine.checks.as_read import shown
from recombine.checks.exact.identifiability import SCALES
from recombine.checks.exact.modular import Floats
from recombine.checks.plans.noise import times_off
from recombine.checks.plans.outright import Outright
from recombine.space import Codes, FactorSpace

Units = Literal["answer", "share", "chance", "noise"]
TRAINED = "of training"
TOLD_APART = 1.5
"""Times the noise at one end of the answers from which that at the other is told beside it."""
SETTLED = 15
"""Degrees of freedom from which more tell the noise little better."""
LONGER = 2
"""Times as many rows as would settle the noise by which a plan has to be longer than with the noise as estimated."""
BOUGHT_BY_TWO = (
    "on planted tables of two factors whose levels act together, the answers afterwards erred as much as after as many "
    "unseen rows drawn at random (0.91 to 1.04 times); a row tells of its own combination"
)
BOUGHT = (
    "on planted tables of three factors the answers afterwards erred 0.43 to 0.74 times as much as after as many "
    "unseen rows drawn at random where one pair acted together, and about as much (0.87 to 1.02 times) where all "
    "pairs did"
)
"""Of rows chosen as if effects add up where they do not (`benchmarks/plans.py`)."""
AT_SEEN = (
    "rows are planned at seen levels of every factor; if a factor's levels cannot be had again (a day), name it with "
    "--block (blocks)"
)


@dataclass(frozen=True, eq=False)
class Plan:
    """Rows to collect, in the order in which to visit them."""

    cells: Codes
    costs: Floats
    before: float | None
    """Typical standard error (root mean square) of the asked answers before; None: some are not determined."""
    after: float | None
    worst: float | None
    bound: float
    """No plan of this price, of the cells considered, has a smaller typical error; or no plan fewer rows."""
    fewest: int | None
    """Where a precision was asked for: no plan has fewer rows."""
    enough: bool
    """Whether every asked answer is determined (and as precise as asked)."""
    noise: float
    rule: str | None
    """The rule around which the noise was estimated; None where it was given or is the unit."""
    changes: float
    """Price of the changes of factors between rows, in this order."""
    changes_bound: float
    assumes: str
    """What the errors rest on."""
    scale: str | None = None
    """The scale on which effects add up, where it is not the answer's own; the noise is that on this scale."""
    typical: float | None = None
    """How far a small step on this scale moves a typical answer: on a log scale the answer itself."""
    units: Units = "noise"
    """What errors are in: the answer's units, shares of the answer (on a log scale), the chance of a class, or the
    noise of one row."""
    untold: str = ""
    """Why the error asked for is none on the scale: then only what determines the asked answers is planned."""
    far: int = 0
    """Asked combinations outside the seen range of a number, of which the errors do not tell."""
    left: int = 0
    """How many of them are outside it also with these rows."""
    whole: bool = False
    """Whether the errors are over all combinations, where some were seen and nothing narrower was asked about."""
    block: str | None = None
    """What all the rows are in a new one of (a day, a plate), whose shift is estimated with them."""
    shift: tuple[float, float] = (0.0, 0.0)
    """How far a single row of a further block is off by that one's shift alone: before the plan and after it."""
    floor: float | None = None
    """The largest error after any number of rows, where that is above the error asked for: then none are planned."""
    forecast: str | None = None
    """The rule of the forecast that stands beside it, whose error is another one."""
    doubted: bool = False
    """Whether what the errors rest on is contradicted or not shown, or pairs answer: then none is told in words."""
    outright: Outright | None = None
    """What it costs to measure all that is asked."""
    freedom: float | None = None
    """Degrees of freedom that the noise was estimated with; None where it was given or is the unit."""
    as_estimated: int | None = None
    """Where rows until an error were planned on the most that these allow: how few would do with the estimate, the
    first ones unless all are in visiting order."""
    unsure: bool = False
    """Whether no rows reach it with the most that these allow: then they are planned on the estimate."""
    also: tuple[str, ...] = ()
    """The scales ("": the answer's own) on which the error has to be reached as well, since the seen answers do not
    tell them from this one; what is told is told on the one that asks for most."""
    caveat: str = ""
    """Why the error asked for, or that after a budget, may be out of reach also where nothing speaks against what the
    errors rest on."""
    repeats: tuple[str, ...] = ()
    """Of each row: the run that it repeats, or that training has it; empty where it is new."""
    uneven: tuple[float, float] | None = None
    """The noise of a row where answers are lowest and where they are highest, if errors are reckoned by that."""
    seed: int | None = None
    """Of the random order in which the rows stand."""

    @property
    def promised(self) -> bool:
        """Whether what was asked for may be relied on: the rows do it for every asked answer, also with the most that
        the noise may be, and nothing speaks against what their errors rest on."""
        return self.enough and not (self.left or self.doubted or self.unsure)

    def in_runs(self, seed: int) -> Plan:
        """The rows as they should be run: in random order, so that what drifts from run to run looks like no factor's
        effect, those first that may do; in visiting order where changing a factor has a price."""
        if self.visited:
            return self
        rng, first = np.random.default_rng(seed), self.as_estimated or 0
        order = np.concatenate([rng.permutation(first), first + rng.permutation(len(self.cells) - first)])
        cells = self.cells[order]
        seen = {tuple(c) for c, said in zip(self.cells.tolist(), self.repeats, strict=True) if said == TRAINED}
        repeats = repeats_in(cells, [tuple(cell) in seen for cell in cells.tolist()])
        return replace(self, cells=cells, costs=self.costs[order], repeats=repeats, seed=seed)

    @property
    def visited(self) -> bool:
        """Whether the rows stand in the order in which to visit them."""
        return bool(self.changes or self.changes_bound)

    @property
    def order(self) -> str:
        """In which order the rows stand."""
        if self.visited:
            least = f"and {self.changes_bound:g} at least in any"
            return f"changes from row to row cost {self.changes:g} in this order, {least}"
        return "" if self.seed is None else f"runs in random order (seed {self.seed})"

    @property
    def words(self) -> str:
        if self.untold:
            return self._sentence() + self._either() + ("" if self.outright is None else self.outright.words)
        if self.after is None or self.floor is not None:
            return self._sentence() + self._either()
        rows = f"{self._either()}{self._compared()}{self.caveat if len(self.cells) else ''}"
        told = self._without_errors() if self.doubted else f"{self._sentence()}{rows}"
        asked = self.outright
        dear = asked is not None and (self.costs.sum() >= asked.price or (self.doubted and self.fewest is not None))
        return told + (asked.words if asked is not None and dear else "")

    @property
    def _open(self) -> list[str]:
        """What effects may do, by the seen answers."""
        return [SCALES[scale] if scale else "add up" for scale in (self.scale or "", *self.also)]

    @property
    def either_way(self) -> str:
        """What the seen answers do not tell and the rows do not hang on; nothing where they rest on one way."""
        *first, last = self._open
        return f"whether effects {', '.join(first)} or {last}" if first else ""

    def _either(self) -> str:
        """That the seen answers leave open on which scale effects add up."""
        if not self.also:
            return ""
        does = self._open
        which = f" The seen answers do not tell {self.either_way}"
        if self.untold or self.floor is not None or not self.enough:
            return f"{which}: rows have to do either way."
        either = "these rows do" if len(self.cells) else "no rows are needed"
        return f"{which}: {either} either way, and what is told is for effects that {does[0]}, which asks for most."

    def _without_errors(self) -> str:
        by = "" if self.forecast is None else f"; the answers are those of the rule “{self.forecast}”"
        most = self._noise_size(self.noise_range[1])
        noise = "" if self.as_estimated is None else f", with a noise of {most}, the most that it may be,"
        of = " for the error asked for, in the chance of a class," if self.units == "chance" else ""
        least = "" if not self.fewest else f", in which case{noise}{of} no plan has fewer than {self.fewest:,}"
        once = " and each asked combination once before any again (as they are chosen, not as they are run)"
        why = "no standard error is told that rests on it, as more rows do not average away what it misses"
        if not len(self.cells):
            already = "every asked answer is as precise already" if not self.unsure else "none is known to do"
            return f"no rows: {already} if {self.assumes}; {why}{by}."
        told = f"{self.rows_in_words}, chosen as if {self.assumes}{least},{once}: {why}{by}."
        return f"{told} What such rows buy: {BOUGHT_BY_TWO if self.cells.shape[1] < 3 else BOUGHT}."

    def _compared(self) -> str:
        """What the errors are of, for who compares them with others."""
        if self.units == "noise" and self.forecast is None:
            return ""
        text = " This is how far noise moves a plain fit (least squares, not shrunken)"
        if self.units not in ("noise", "chance"):
            was, now = self.new_row.values()
            before = "" if was is None or not len(self.cells) else f" ({self.size(was)} before)"
            own = f" on a further {self.block}, with its own noise and the shift of its {self.block} "
            own += f"({self.size(self.shift[1])}, which rows on one {self.block} hardly lessen),"
            own = ", with its own noise," if self.block is None else own
            text += f"; a new row{own} would be {self.size(now or 0.0)} off{before}"
        if self.forecast is None:
            return f"{text}."
        also = "which holds the noise of the answers and what the rule misses as well"
        return f"{text}. The forecast is of another error, that of the rule “{self.forecast}”, {also}."

    @property
    def new_row(self) -> dict[str, float | None]:
        """How far a single new row is off, typically: the standard error, its own noise and the shift of its block."""
        if self.units == "chance":  # a class is right or wrong
            return {"before": None, "after": None}
        ends = {"before": (self.before, self.shift[0]), "after": (self.after, self.shift[1])}
        noise = self.noise * (self.typical if self.units == "answer" and self.typical else 1.0)
        return {when: None if e is None else math.hypot(e, noise, shift) for when, (e, shift) in ends.items()}

    @property
    def noise_range(self) -> tuple[float, float]:
        """Between which the noise lies in nine of ten tables, by its degrees of freedom; itself where it is known."""
        low, high = times_off(self.freedom)
        return self.noise * low, self.noise * high

    @property
    def worst_high(self) -> float | None:
        """The largest error with the most that the noise may be."""
        return None if self.worst is None else self.worst * times_off(self.freedom)[1]

    @property
    def rows_in_words(self) -> str:
        on = f" on one new {self.block}" if self.block else ""
        return f"{len(self.cells):,} row{'s' if len(self.cells) != 1 else ''}{on}"

    def _sentence(self) -> str:
        around = "" if self.rule is None else f" around the rule “{self.rule}”, what it misses included"
        on = f" on the {self.scale} scale" if self.scale else ""
        there = on if self.scale != "log" else " of the answer"
        known = f"with a noise of {self._noise_size(self.noise)}{there} per row{around}{self._ends}"
        if self.units == "noise":
            unit = f"in units of one row's noise{on}" + (", which is not known" if self.fewest is not None else "")
        elif self.units == "chance":
            unit = "in the chance of a class, each taken where noise may move it most"
        elif self.units == "share":
            unit = f"in per cent of the answer, {known}"
        else:
            largest = "" if self.scale is None else ", each answer taken where noise may move it most"
            unit = known if self.fewest is None else f"in the answer's units{largest}, {known}"
        rows, allowed = self.rows_in_words, self._allowed() if self.units in ("answer", "share") else ""
        outside = f"{self.far:,} asked outside the seen range {'is' if self.far == 1 else 'are'} left out"
        unit += f"; {outside}" if self.far else ""
        if self.untold:
            return self.not_promised()
        if self.after is None and self.far and self.enough:
            return f"{rows}; every asked answer lies outside the seen range: no standard error is told."
        if self.after is None:
            return f"{rows} leave some asked answers undetermined."
        was = "some were not determined before" if self.before is None else f"{self.size(self.before)} before"
        what = "all combinations, seen ones too," if self.whole else "the asked answers"
        what += f" of an average {self.block}" * bool(self.block)
        if self.floor is not None:
            on = f"on one new {self.block}" if self.block else "of those that can be collected"
            least = f"the largest standard error of {what} stays at {self.size(self.floor)} ({unit})"
            more = "; rows on several of these would lower it" if self.block else ""
            more += f"; {rows} determine what is asked" if len(self.cells) else ""
            least = f"with any number of rows {on}, if {self.assumes}, {least}{more}"
            return f"the precision asked for is out of reach: {least}.{allowed}"
        text = f"after {rows}, if {self.assumes}, the typical standard error of {what} is "
        text = f"{text}{self.size(self.after)} ({was}; {unit})"
        worst = self.size(self.worst or 0.0)
        if self.fewest is not None and not len(self.cells):
            return self._none_needed(worst, unit) + allowed
        if self.fewest is not None and not self.enough:
            return f"{text}; the precision asked for is not reached.{allowed}"
        if self.fewest is not None:
            least = f"no plan does it in fewer than {self.fewest:,} rows"
            least += ", perhaps none in fewer than these" if self.fewest < len(self.cells) else ""
            if self.as_estimated is None:
                return f"{text}; the largest is {worst}, and {least}{self._fewer()}.{allowed}"
            most = f" These rows are planned on {self._noise_size(self.noise_range[1])}, where the largest is "
            most += f"{self.size(self.worst_high or 0.0)}: there {least}."
            return f"{text}; the largest is {worst}.{allowed}{most}{self._fewer()}"
        return f"{text}; no choice of the same price gets below {self.size(self.bound)}.{allowed}"

    @property
    def _ends(self) -> str:
        """That the noise grows or falls with the answer, where that is much."""
        low, high = self.uneven or (1.0, 1.0)
        if max(low, high) < TOLD_APART * min(low, high):
            return ""
        ends = f"{self._noise_size(low)} where answers are lowest, {self._noise_size(high)} where they are highest"
        return f" (about {ends}: errors are reckoned by that)"

    def _allowed(self) -> str:
        """How far the noise may be from its estimate, and errors with it."""
        if self.freedom is None:
            return ""
        (low, high), ends = times_off(self.freedom), [self._noise_size(end) for end in self.noise_range]
        few = f"{self.freedom:,.0f} degree{'s' * (round(self.freedom) != 1)} of freedom"
        times = f"and errors {low:.2g} to {high:.2g} times as large"
        return f" The noise, estimated with {few}, may be {ends[0]} to {ends[1]} (90 %), {times}."

    def _none_needed(self, worst: str, unit: str) -> str:
        """That no row is needed, which an estimated noise must allow at its most."""
        if not self.unsure:
            at_most = self._at_most() if self.freedom else ""
            return f"every asked answer is as precise already, if {self.assumes}: at worst {worst}{at_most} ({unit})."
        only = f"no row is needed if {self.assumes} and the noise is what it was estimated to be"
        return f"{only}: at worst {worst} ({unit}){self._fewer()}."

    def _at_most(self) -> str:
        """The largest error with the most that the noise may be."""
        return f", or {self.size(self.worst_high or 0.0)} with a noise of {self._noise_size(self.noise_range[1])}"

    def _fewer(self) -> str:
        """How few rows do with the noise as estimated, or that these do no more."""
        if self.unsure:
            return f"; with a noise of {self._noise_size(self.noise_range[1])} what is asked for is out of reach"
        if self.as_estimated is None or self.as_estimated >= len(self.cells):
            return ""
        if not self.as_estimated:
            return f" With the noise as estimated none would be needed. {self.again}".rstrip()
        first, again = "" if self.visited else "the first ", self.again or "Run these and ask again."
        return f" With the noise as estimated {first}{self.as_estimated:,} would do. {again}"

    @property
    def again(self) -> str:
        """That rows of seen combinations tell the noise, where few degrees of freedom make the plan long."""
        if self.freedom is None or self.as_estimated is None or self.doubted or self.block or self.visited:
            return ""
        repeats = math.ceil(SETTLED - self.freedom)
        if repeats < 1 or len(self.cells) - self.as_estimated <= LONGER * repeats:
            return ""
        low, high = times_off(SETTLED)
        which = f"{repeats} seen combination{'s' * (repeats > 1)}"
        told = f"the noise is then {low:.2g} to {high:.2g} times its estimate (90 %), and the plan mostly shorter"
        return f"Or first run {which} again and ask again: {told}."

    def size(self, error: float) -> str:
        return shown(error, share=self.units == "share")

    def _noise_size(self, noise: float) -> str:
        return shown(noise, share=self.scale == "log")

    def not_promised(self) -> str:
        """That no error in the answer's units can be planned for, and why."""
        one = len(self.cells) == 1
        first = f"; {self.rows_in_words} determine{'s' * one} what is asked: "
        first += f"collect {'it' if one else 'them'} and ask again"
        first = first if len(self.cells) else "; rows for a budget are planned without such a promise"
        unit = "the chance of a class" if self.units == "chance" else "the answer's units"
        return f"no rows are promised to reach the error asked for, in {unit}: {self.untold}{first}."

    def to_dict(self, space: FactorSpace) -> dict[str, Any]:
        told = {"before": self.before, "after": self.after, "worst": self.worst, "bound": self.bound}
        return {
            "rows": space.decode(self.cells),
            "costs": [float(c) for c in self.costs],
            "repeats": list(self.repeats),
            "error": dict.fromkeys(told) if self.doubted else told,
            "new_row": self.new_row,
            "fewest": self.fewest,
            "enough": self.promised,
            "noise": self.noise,
            "freedom": self.freedom,
            "uneven": None if self.uneven is None else list(self.uneven),
            "noise_range": list(self.noise_range),
            "worst_high": None if self.doubted else self.worst_high,
            "as_estimated": self.as_estimated,
            "rule": self.rule,
            "assumes": self.assumes,
            "scale": self.scale,
            "typical": self.typical,
            "units": self.units,
            "untold": self.untold,
            "also": list(self.also),
            "outside": self.far,
            "block": self.block,
            "shift": dict(zip(("before", "after"), self.shift, strict=True)),
            "floor": self.floor,
            "doubted": self.doubted,
            "unsure": self.unsure,
            "outright": None if self.outright is None else vars(self.outright),
            "order": "visiting" if self.visited else "random",
            "changes": {"cost": self.changes, "bound": self.changes_bound},
            "words": self.words,
        }


def repeats_in(cells: Codes, seen: Sequence[bool]) -> tuple[str, ...]:
    """Of each row, the earlier run that it repeats, or that training has it."""
    first: dict[tuple[int, ...], int] = {}
    runs = [first.setdefault(tuple(cell), i) for i, cell in enumerate(cells.tolist(), 1)]
    return tuple(
        f"of run {run}" if run < i else TRAINED if has else ""
        for i, (run, has) in enumerate(zip(runs, seen, strict=True), 1)
    )
