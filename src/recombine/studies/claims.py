"""A claim: a sentence of a paper, the figure it published, the figure measured here, and whether it holds.

The criterion is declared before anything runs; evaluating it reads stored tables only, so changing a threshold never
trains again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from recombine.statistics import Interval, difference, interval, share_interval

if TYPE_CHECKING:
    import polars as pl

Status = Literal["holds", "fails", "not fitted"]
Tables = Mapping[str, "pl.DataFrame"]

CORRELATION = (-1.0, 1.0)
"""The limits of a correlation."""

FITTED_SHARE = 0.8
"""A claim about networks that fit is judged only where at least this share of the members fitted."""


@dataclass(frozen=True)
class Evidence:
    """What a claim is judged by: one value a member that fitted, in one group or in several (for an order)."""

    groups: tuple[tuple[float, ...], ...]
    asked: tuple[int, ...]
    """How many members each group would have, had all of them fitted."""
    paired: bool = False
    """Whether position i in every group is the same member (seeds shared), so that differences are taken by member."""
    counted: bool = False
    """Whether each value is 0 or 1, so that the figure is a share of members."""
    limits: tuple[float, float] = (-math.inf, math.inf)
    """Between which the figure must lie: its interval, which knows nothing of them, is cut there."""

    def __post_init__(self) -> None:
        if len(self.asked) != len(self.groups):
            raise ValueError(f"{len(self.groups)} groups need as many numbers of members, got {len(self.asked)}")
        if self.paired and len({len(group) for group in self.groups}) > 1:
            raise ValueError(f"paired groups have one value a member each, got {[len(g) for g in self.groups]}")

    @classmethod
    def of(
        cls,
        *groups: ArrayLike,
        members: int | Sequence[int] | None = None,
        paired: bool = False,
        counted: bool = False,
        limits: tuple[float, float] = (-math.inf, math.inf),
    ) -> Evidence:
        """``members`` says how many there were, fitted or not, in every group or in each; default: as many as the
        largest group has."""
        rows = tuple(tuple(np.asarray(g, dtype=float).ravel().tolist()) for g in groups)
        if members is None:
            members = max(len(r) for r in rows)
        asked = (members,) * len(rows) if isinstance(members, int) else tuple(members)
        return cls(rows, asked, paired, counted, limits)

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


Reader = Callable[[Tables], Evidence]
"""Reads a claim's evidence out of the study's tables."""


@dataclass(frozen=True)
class Sign:
    """Holds if the interval lies wholly on the claimed side of ``than``."""

    side: Literal["above", "below"]
    than: float = 0.0

    def __str__(self) -> str:
        return f"sign: the interval lies {self.side} {self.than:g}"

    def figure(self, evidence: Evidence) -> Interval:
        return _one(evidence)

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
        steps = [difference(a, b, evidence.paired) for a, b in pairwise(evidence.groups)]
        # One that has no interval cannot be told from zero, so it decides.
        return min(steps, key=lambda step: -math.inf if math.isnan(step.low) else step.low)

    def holds(self, figure: Interval, published: float | None) -> bool:
        return figure.low > 0


@dataclass(frozen=True)
class Value:
    """Holds if the published figure lies within ``tolerance`` of the measured one and the interval is no wider."""

    tolerance: float

    def __str__(self) -> str:
        t = f"{self.tolerance:g}"
        return f"value: within {t} of the published figure, by an interval no wider than ±{t}"

    def figure(self, evidence: Evidence) -> Interval:
        return _one(evidence)

    def holds(self, figure: Interval, published: float | None) -> bool:
        if published is None:
            raise ValueError("a value criterion needs a published figure")
        narrow = figure.high - figure.low <= 2 * self.tolerance
        return narrow and abs(figure.mean - published) <= self.tolerance


Criterion = Sign | Order | Value


@dataclass(frozen=True)
class Claim:
    """A sentence, its criterion, and how its evidence is read from the study's tables."""

    id: str
    sentence: str
    criterion: Criterion
    evidence: Reader
    published: float | None = None
    source: str = ""
    """Where the paper says it."""
    unit: str = ""
    explanation: str = ""
    """Our best explanation, shown where the claim does not hold."""

    def evaluate(self, tables: Tables) -> ClaimResult:
        evidence = self.evidence(tables)
        enough = evidence.members > 0 and evidence.fitted >= max(1, math.ceil(FITTED_SHARE * evidence.members))
        figure = self.criterion.figure(evidence) if all(evidence.groups) else Interval(math.nan, math.nan, math.nan, ())
        status: Status = "not fitted"
        if enough:
            status = "holds" if self.criterion.holds(figure, self.published) else "fails"
        return ClaimResult(self, figure, evidence.fitted, evidence.members, status)


@dataclass(frozen=True)
class ClaimResult:
    """A claim with its measured figure and its status."""

    claim: Claim
    figure: Interval
    fitted: int
    members: int
    status: Status

    def to_dict(self) -> dict[str, Any]:
        return {
            "id": self.claim.id,
            "sentence": self.claim.sentence,
            "criterion": str(self.claim.criterion),
            "published": self.claim.published,
            "measured": _number(self.figure.mean),
            "low": _number(self.figure.low),
            "high": _number(self.figure.high),
            "members": self.members,
            "status": self.status,
        }


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _one(evidence: Evidence) -> Interval:
    """The interval of the first group: of a mean, or of a share where members are counted."""
    values = evidence.groups[0]
    found = share_interval(values) if evidence.counted else interval(values)
    least, most = evidence.limits
    return replace(found, low=max(found.low, least), high=min(found.high, most))
