"""A claim: a sentence, whose it is, what is compared, the figure that was published, and whether it holds here.

The criterion is declared before anything runs; judging reads tables only, so changing a threshold never trains again.
The ledger of a claim says no more than was shown: where the published figure comes from, how far our runs are from the
paper's, over which unit the interval is, how many members fitted, and what all of them give.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from recombine.statistics import Interval, crossed_interval, difference, interval, share_interval
from recombine.studies.faithful import Shares
from recombine.studies.readings import Tables, paired

if TYPE_CHECKING:
    from recombine.studies._cells import Quantity

Status = Literal["holds", "fails", "open", "not fitted", "not run"]
How = Literal["value matched", "within the tolerance", "direction only", "no published figure"]
Whose = Literal["paper", "ours"]
ReadFrom = Literal["printed", "figure", "released"]

WHOSE: dict[Whose, str] = {"paper": "claims of the paper", "ours": "questions of ours"}

FITTED_SHARE = 0.8
"""A claim about networks that fit is judged only where at least this share of the units fitted."""
VALUE_SHARE = 0.1
"""With less than this share of the paper's steps a figure is compared by its direction only."""
NO_FIGURE = Interval(math.nan, math.nan, math.nan, ())
SMALL = 0.1
"""A tolerance is small beside a figure where it is at most this share of it."""
READ_FROM: dict[ReadFrom, str] = {
    "printed": "printed in the paper",
    "figure": "read off a figure of the paper",
    "released": "computed from what the authors released",
}


@dataclass(frozen=True)
class Published:
    """A figure that was published: its value, where it stands, and how it was read. Ours are never called so."""

    value: float
    where: str
    read_from: ReadFrom = "printed"


@dataclass(frozen=True)
class Evidence:
    """What a claim is judged by: one value per unit, in one group or in several (for an order)."""

    groups: tuple[tuple[float, ...], ...]
    asked: tuple[int, ...]
    """How many units each group would have, had all of them fitted."""
    paired: bool = False
    """Whether position i in every group is the same unit, so that differences are taken by unit."""
    counted: bool = False
    limits: tuple[float, float] = (-math.inf, math.inf)
    runs: frozenset[str] = frozenset()
    crossed: tuple[tuple[Any, Any], ...] = ()
    """The row and column of each unit, where these are taken as drawn and not the units one by one."""
    there: bool = True
    """Whether everything that it is read from was run."""
    least: int = 1
    """How many units it takes to ask."""
    short: tuple[int, int] | None = None
    """How many steps its runs have and how many it takes to ask, where these are more."""

    @property
    def too_few(self) -> bool:
        return self.there and min(self.asked) < self.least

    @property
    def whole(self) -> bool:
        """Whether all units fitted."""
        return all(len(group) == asked for group, asked in zip(self.groups, self.asked, strict=True))

    @property
    def fitted(self) -> int:
        return len(self.groups[self._worst])

    @property
    def members(self) -> int:
        return self.asked[self._worst]

    @property
    def _worst(self) -> int:
        """The group of which the smallest share fitted, the smallest of several: what an order of it is worth."""
        sizes = [(len(group), asked) for group, asked in zip(self.groups, self.asked, strict=True)]
        return min(range(len(sizes)), key=lambda i: (sizes[i][0] / sizes[i][1] if sizes[i][1] else 0.0, sizes[i][1]))


def corrected(looks: int) -> float:
    """The level of each of so many intervals that all of them hold 19 times in 20 (Bonferroni)."""
    return 1 - 0.05 / looks


class _OfOne:
    """A criterion of the first group: of its mean, or of a share where units are counted."""

    looks: int = 1

    def figure(self, evidence: Evidence) -> Interval:
        values, level = evidence.groups[0], corrected(self.looks)
        if evidence.crossed:
            found = crossed_interval(values, evidence.crossed, level)
        else:
            found = share_interval(values, level) if evidence.counted else interval(values, level)
        least, most = evidence.limits
        return replace(found, low=max(found.low, least), high=min(found.high, most))


@dataclass(frozen=True)
class Sign(_OfOne):
    """Holds if the interval lies wholly on the claimed side of ``than``. Where the figure is the best of several
    ``looks``, its interval is corrected for their number."""

    side: Literal["above", "below"]
    than: float = 0.0
    looks: int = 1

    def __str__(self) -> str:
        wider = f", corrected for {self.looks} looks," if self.looks > 1 else ""
        return f"sign: the interval{wider} lies {self.side} {self.than:g}"

    def holds(self, figure: Interval, published: float | None) -> bool:
        return figure.low > self.than if self.side == "above" else figure.high < self.than


@dataclass(frozen=True)
class Order:
    """Holds if each group lies below the next: the interval of every neighbouring difference excludes zero.

    The figure is the weakest of these differences: that whose interval reaches lowest."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        return "order: " + " < ".join(self.names)

    def figure(self, evidence: Evidence) -> Interval:
        if evidence.crossed:
            apart = [[y - x for x, y in zip(a, b, strict=True)] for a, b in pairwise(evidence.groups)]
            steps = [crossed_interval(values, evidence.crossed) for values in apart]
        else:
            steps = [difference(a, b, evidence.paired) for a, b in pairwise(evidence.groups)]
        # One that has no interval cannot be told from zero, so it decides.
        return min(steps, key=lambda step: -math.inf if math.isnan(step.low) else step.low)

    def holds(self, figure: Interval, published: float | None) -> bool:
        return figure.low > 0


@dataclass(frozen=True)
class Value(_OfOne):
    """Holds if the published figure lies within ``tolerance`` of the measured one and the interval is no wider. What we
    worked out of a formula is no published figure: it is named as what ``theory`` gives."""

    tolerance: float
    theory: float | None = None

    def __str__(self) -> str:
        t = f"{self.tolerance:g}"
        figure = "the published figure" if self.theory is None else f"{self.theory:g}, the figure of theory"
        return f"value: within {t} of {figure}, by an interval no wider than ±{t}"

    def holds(self, figure: Interval, published: float | None) -> bool:
        wanted = published if self.theory is None else self.theory
        if wanted is None:
            raise ValueError("a value criterion needs a published figure, or one of theory")
        narrow = figure.high - figure.low <= 2 * self.tolerance
        return narrow and abs(figure.mean - wanted) <= self.tolerance


Criterion = Sign | Order | Value


@dataclass(frozen=True)
class Test:
    """What is compared, and by which criterion. ``nothing`` is the figure of a world in which nothing is going on."""

    __test__: ClassVar[bool] = False  # pytest takes classes of this name for tests

    quantities: tuple[Quantity, ...]
    criterion: Criterion
    pair: tuple[str, ...] | None = None
    nothing: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.criterion, Sign):
            return
        side, than = self.criterion.side, self.criterion.than
        if self.nothing is None and than == 0:
            object.__setattr__(self, "nothing", 0.0)
        if self.nothing is None:
            raise ValueError(f"{self.criterion}: say what the figure is where nothing is going on (nothing=…)")
        if (self.nothing > than) if side == "above" else (self.nothing < than):
            raise ValueError(f"{self.criterion} holds where nothing is going on ({self.nothing:g}): it cannot fail")

    def read(self, tables: Tables, everyone: bool = False) -> Evidence:
        readings = [quantity.read(tables, everyone) for quantity in self.quantities]
        if self.pair is not None:
            readings = paired(readings, self.pair)
        groups, asked = zip(*((reading.values(), reading.asked.height) for reading in readings), strict=True)
        first, runs = self.quantities[0], frozenset().union(*(reading.runs for reading in readings))
        places = tuple(readings[0].found.select(first.unit).iter_rows()) if first.crossed else ()
        there, least = all(reading.there for reading in readings), max(reading.least for reading in readings)
        paired_up = self.pair is not None
        short = next((reading.short for reading in readings if reading.short), None)
        return Evidence(groups, asked, paired_up, first.counted, first.limits, runs, places, there, least, short)

    @property
    def tables(self) -> set[str]:
        """The tables that it reads."""
        return set().union(*(quantity.tables for quantity in self.quantities))

    @property
    def unit(self) -> tuple[str, ...]:
        """The columns that tell the units of the interval apart."""
        return self.pair or self.quantities[0].unit


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper, or a question of ours, with its test."""

    id: str
    sentence: str
    test: Test
    whose: Whose = "paper"
    published: Published | None = None
    source: str = ""
    """Where the paper says it, or why we ask."""
    unit: str = ""
    """What the figure is of: accuracy, nats, R² …"""
    runs: tuple[str, ...] = ()
    """The runs it rests on, where its table does not say."""

    def evaluate(self, tables: Tables, shares: Mapping[str, Shares] | None = None) -> ClaimResult:
        """Judge it. ``shares``: how much of the paper's setting each run has."""
        evidence = self.test.read(tables)
        runs = self.runs or tuple(sorted(evidence.runs))
        if evidence.too_few:
            counts = (evidence.fitted, evidence.members)
            return ClaimResult(self, NO_FIGURE, *counts, "not run", needs=evidence.least, runs=runs)
        enough = evidence.members > 0 and evidence.fitted >= max(1, math.ceil(FITTED_SHARE * evidence.members))
        figure = self._figure(evidence)
        # One unit has no interval, so nothing can be said for or against.
        enough = enough and math.isfinite(figure.low)
        published = self.published.value if self.published else None
        status: Status = "not fitted" if evidence.there else "not run"
        if enough:
            status = "open" if self._leaves_open(figure) else "fails"
            status = "holds" if self.test.criterion.holds(figure, published) else status
        share = Shares.least([shares[run] for run in runs if shares and run in shares])
        all_of_them = figure if evidence.whole else self._figure(self.test.read(tables, everyone=True))
        counts = (evidence.fitted, evidence.members)
        return ClaimResult(self, figure, *counts, status, all_of_them, share, runs=runs, short=evidence.short)

    def _leaves_open(self, figure: Interval) -> bool:
        """Whether only its width keeps it from holding: the mean alone would meet the criterion, and so would the
        published figure (or that of theory), which the interval holds."""
        criterion, wanted = self.test.criterion, self.published.value if self.published else None
        if isinstance(criterion, Value) and criterion.theory is not None:
            wanted = criterion.theory
        if wanted is None or not figure.low <= wanted <= figure.high:
            return False
        return all(criterion.holds(Interval(at, at, at, ()), wanted) for at in (wanted, figure.mean))

    def _figure(self, evidence: Evidence) -> Interval:
        if not all(evidence.groups):
            return NO_FIGURE
        return self.test.criterion.figure(evidence)


@dataclass(frozen=True)
class ClaimResult:
    """A claim with its measured figure, its status, and what that rests on."""

    claim: Claim
    figure: Interval
    fitted: int
    members: int
    status: Status
    everyone: Interval = NO_FIGURE
    """The figure of all members, those that did not fit among them."""
    shares: Shares = field(default_factory=Shares)
    explanation: str = ""
    """Why it does not hold, as far as the tables say."""
    settles: str = ""
    """The experiment that would settle it."""
    needs: int | None = None
    """How many units it takes to ask, where there were fewer."""
    short: tuple[int, int] | None = None
    """How many steps its runs have and how many it takes to ask, where these are more."""
    runs: tuple[str, ...] = ()
    """The runs that it was read from; none where its table does not say."""
    absent: str = ""
    """Which label no run of the study has, at any scale, in a sentence: it may be misspelt."""
    changed: tuple[str, ...] = ()
    """What a variation changes of these and not of all runs, and of the claim itself."""

    @property
    def how(self) -> How | None:
        """In which sense it holds; None where it does not. A value counts as matched only where the claim asks for one,
        so that a wide interval cannot match it, our runs have a tenth of the paper's steps, and it lies in our interval
        or the tolerance is small beside it; signs and orders are directions, whatever they come to."""
        if self.status != "holds":
            return None
        if (published := self.claim.published) is None:
            return "no published figure"
        criterion, value = self.claim.test.criterion, published.value
        if not isinstance(criterion, Value) or self.shares.steps is None or self.shares.steps < VALUE_SHARE:
            return "direction only"
        near = criterion.tolerance <= SMALL * abs(value)
        inside = self.figure.low <= value <= self.figure.high
        return "value matched" if near or inside else "within the tolerance"

    @property
    def missing(self) -> str:
        """What it lacks to be asked, as far as its tables say; empty where it was asked."""
        if self.status != "not run":
            return ""
        if self.absent:
            return self.absent
        if self.short:
            return "It speaks of {1} steps, and its runs have {0} here.".format(*self.short)
        if self.needs:
            units = "members" if self.claim.test.unit[-1] == "member" else "units"
            return f"It takes {self.needs} {units} to ask, and there are {self.members} here."
        if self.runs and not self.claim.runs:
            return f"Of what it compares there is {', '.join(self.runs[:3])}{' …' * (len(self.runs) > 3)} alone here."
        return "No run here gives what it is read from, or none goes on for as long as it asks."

    def to_dict(self) -> dict[str, Any]:
        claim, published = self.claim, self.claim.published
        return {
            "id": claim.id,
            "sentence": claim.sentence,
            "whose": claim.whose,
            "criterion": str(claim.test.criterion),
            "nothing": claim.test.nothing,
            "published": published.value if published else None,
            "published_in": f"{published.where} ({READ_FROM[published.read_from]})" if published else None,
            "measured": _number(self.figure.mean),
            "low": _number(self.figure.low),
            "high": _number(self.figure.high),
            "unit": claim.unit,
            "over": (" × " if claim.test.quantities[0].crossed else ", ").join(claim.test.unit),
            "fitted": self.fitted,
            "members": self.members,
            "everyone": [_number(v) for v in (self.everyone.mean, self.everyone.low, self.everyone.high)],
            "shares": self.shares.to_dict(),
            "status": self.status,
            "how": self.how,
            **({"changed": "; ".join(self.changed)} if self.changed else {}),
        }

    def explained(self, explanation: str, settles: str) -> ClaimResult:
        return replace(self, explanation=explanation, settles=settles)


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
