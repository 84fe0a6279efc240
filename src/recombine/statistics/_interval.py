"""A mean, its interval, and what the interval is over."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """A mean with a two-sided interval (nan where there is none); where each unit has a value of its own, these too."""

    mean: float
    low: float = math.nan
    high: float = math.nan
    values: tuple[float, ...] = ()
    over: str = "members"
    """What varies, in the plural: members, combinations, examples."""
    count: int = 0
    """How many of them there are; as many as there are values, unless it is said."""

    def __post_init__(self) -> None:
        if not self.count:
            object.__setattr__(self, "count", len(self.values))

    @property
    def bounded(self) -> bool:
        return math.isfinite(self.low) and math.isfinite(self.high)

    @property
    def whom(self) -> str:
        """What the interval is over, with its number."""
        return f"{self.count:,} {self.over if self.count != 1 else self.over.removesuffix('s')}"

    def __str__(self) -> str:
        return f"{self.mean:.3g} [{self.low:.3g}, {self.high:.3g}], {self.whom}" if self.bounded else f"{self.mean:.3g}"

    def within(self, low: float, high: float) -> Interval:
        """The same figure where nothing beyond these bounds is possible."""
        if not self.bounded:
            return self
        return replace(self, mean=min(max(self.mean, low), high), low=max(self.low, low), high=min(self.high, high))

    def to_dict(self) -> dict[str, float | str | int | None]:
        numbers = {name: getattr(self, name) for name in ("mean", "low", "high")}
        plain = {name: value if math.isfinite(value) else None for name, value in numbers.items()}
        return {**plain, "over": self.over, "count": self.count}


def t_quantile(level: float, freedom: float) -> float:
    """How many standard errors a two-sided t-interval reaches to either side."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + level) / 2))
