"""A claim: a sentence of a paper, the figure it published, the figure measured here, and whether it holds.

The criterion is declared before anything runs; evaluating it reads stored tables only, so changing a threshold never
trains again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from recombine.measures.interval import Interval, interval

if TYPE_CHECKING:
    import polars as pl

Status = Literal["holds", "fails", "not fitted"]
Tables = Mapping[str, "pl.DataFrame"]

FITTED_SHARE = 0.8
"""A claim about networks that fit is judged only where at least this share of the members fitted."""


@dataclass(frozen=True)
class Evidence:
    """What a claim is judged by: one value a member that fitted, in one group or in several (for an order)."""

    groups: tuple[tuple[float, ...], ...]
    members: int
    paired: bool = False
    """Whether position i in every group is the same member (seeds shared), so that differences are taken by member."""

    @classmethod
    def of(cls, *groups: ArrayLike, members: int | None = None, paired: bool = False) -> Evidence:
        rows = tuple(tuple(np.asarray(g, dtype=float).ravel().tolist()) for g in groups)
        return cls(rows, members if members is not None else max(len(r) for r in rows), paired)

    @property
    def fitted(self) -> int:
        return min(len(group) for group in self.groups)


@dataclass(frozen=True)
class Sign:
    """Holds if the interval lies wholly on the claimed side of ``than``."""

    side: Literal["above", "below"]
    than: float = 0.0

    def __str__(self) -> str:
        return f"sign: the interval lies {self.side} {self.than:g}"

    def figure(self, evidence: Evidence) -> Interval:
        return interval(evidence.groups[0])

    def holds(self, figure: Interval, published: float | None) -> bool:
        return figure.low > self.than if self.side == "above" else figure.high < self.than


@dataclass(frozen=True)
class Order:
    """Holds if each group lies below the next: the interval of every neighbouring difference excludes zero.

    The figure is the smallest of these differences."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        return "order: " + " < ".join(self.names)

    def figure(self, evidence: Evidence) -> Interval:
        steps = [_difference(a, b, evidence.paired) for a, b in zip(evidence.groups, evidence.groups[1:], strict=False)]
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
        return interval(evidence.groups[0])

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
    evidence: Callable[[Tables], Evidence]
    published: float | None = None
    source: str = ""
    """Where the paper says it."""
    unit: str = ""
    explanation: str = ""
    """Our best explanation, shown where the claim does not hold."""

    def evaluate(self, tables: Tables) -> ClaimResult:
        evidence = self.evidence(tables)
        enough = evidence.members > 0 and evidence.fitted >= max(1, math.ceil(FITTED_SHARE * evidence.members))
        figure = self.criterion.figure(evidence) if evidence.fitted else Interval(math.nan, math.nan, math.nan, ())
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


def _difference(first: Sequence[float], second: Sequence[float], paired: bool) -> Interval:
    """The interval of mean(second) − mean(first): by member where members are shared, Welch's otherwise."""
    a, b = np.asarray(first), np.asarray(second)
    if paired:
        return interval(b - a)
    mean = float(b.mean() - a.mean())
    if len(a) < 2 or len(b) < 2:
        return Interval(mean, math.nan, math.nan, (mean,))
    from scipy.stats import ttest_ind

    if a.std() == 0 and b.std() == 0:
        return Interval(mean, mean, mean, (mean,))
    bounds = ttest_ind(b, a, equal_var=False).confidence_interval(0.95)
    return Interval(mean, float(bounds.low), float(bounds.high), (mean,))
