"""The seen cells of a table that have an answer: what every rule of a forecast is fitted to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recombine.checks.exact.curves import Curve
from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.rules.weighing import AskedWeights
from recombine.space import Codes
from recombine.support.table import Target

SEVERAL = 5
"""Rows of another than the commonest class, for each cell, from which shares differ from chances as means of numbers
do."""
MOST = 0.6
"""Share of the cells that hold the commonest class alone from which a class is rare."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Seen cells that have an answer."""

    codes: Ints
    shape: tuple[int, ...]
    rows: Floats
    """Rows of each cell."""
    answers: Floats
    """Mean answers (numbers), or shares of classes (cells × classes)."""
    pure: float | None
    """Variance of an answer within a cell (numbers), None without repeated rows."""
    curves: Mapping[int, Curve] = field(default_factory=dict)
    """What the factors that are numbers may do."""
    share: bool = True
    """Whether answers between 0 and 100 may be per cents."""
    spread: Floats | None = None
    """Sum of squares of each cell's rows around their mean (numbers)."""
    weights: Floats | None = None
    """What the rows of each cell weigh together; None: 1 each."""
    asked: AskedWeights | None = None
    """The same of cells that are asked about."""
    per_cent: bool = False
    """Whether the whole of which answers may be shares is 100, also where none is above 1."""
    reach: tuple[float, float] | None = None
    """The smallest and largest answer of single rows (numbers), where they are kept."""
    cases: Floats | None = None
    """Of how many cases each answer is a share, where they are."""
    never_empty: Floats | None = None
    """The answers as a scale of logarithms has them, of these."""
    whole: float = 1.0
    """What all cases are."""

    @classmethod
    def of(
        cls,
        codes: Codes,
        shape: tuple[int, ...],
        target: Target,
        curves: Mapping[int, Curve] | None = None,
        asked: AskedWeights | None = None,
    ) -> Cells:
        """The cells of a table that have an answer."""
        use = target.count > 0
        rows = target.count[use].astype(np.float64)
        spare = float(rows.sum()) - len(rows)
        pure = float(target.spread[use].sum()) / spare if target.numeric and spare > 0 else None
        spread = target.spread[use] if pure else None
        weights = None if target.weights is None else target.weights[use]
        cases, moved = (None, None) if target.cases is None else (target.cases[use], target.never_empty[use])
        return cls(
            codes[use].astype(np.int64), shape, rows, target.mean[use], pure, curves or {}, target.share, spread,
            weights, asked, target.per_cent, target.reach if target.numeric else None, cases, moved,
            target.whole if target.numeric else 1.0,
        )  # fmt: skip

    @property
    def weight(self) -> Floats:
        """How many rows of typical noise each cell's mean is worth, by their noise alone."""
        return self.rows if self.weights is None else self.weights

    @property
    def width(self) -> int:
        """Levels, and columns of curves."""
        return sum(self.curves[k].width if k in self.curves else n for k, n in enumerate(self.shape))

    def bent(self) -> Cells | None:
        """The same with curves in place of straight lines, where there are any to replace."""
        bent = {k: curve.bent() or curve for k, curve in self.curves.items() if curve.shape == "linear"}
        new = any(curve.shape == "spline" for curve in bent.values())
        return replace(self, curves={**self.curves, **bent}) if new else None

    def between(self, asked: Ints) -> bool:
        """Whether a number is asked about at a value that no seen cell has."""
        return any(not np.isin(asked[:, k], self.codes[:, k]).all() for k in self.curves)

    def take(self, kept: NDArray[Any]) -> Cells:
        own = ("rows", "answers", "spread", "weights", "cases", "never_empty")
        some: dict[str, Any] = {name: None if (each := getattr(self, name)) is None else each[kept] for name in own}
        return replace(self, codes=self.codes[kept], **some)

    def thin(self, codes: Ints) -> NDArray[np.bool_]:
        """Which of these cells have a level that a single seen cell shows: without that one nothing is known of it."""
        found = np.zeros(len(codes), dtype=bool)
        for k, size in enumerate(self.shape):
            if k not in self.curves:
                found |= np.bincount(self.codes[:, k], minlength=size)[codes[:, k]] == 1
        return found

    @property
    def numeric(self) -> bool:
        return self.answers.ndim == 1

    @property
    def certain(self) -> bool:
        """Whether every cell has a single class."""
        return not self.numeric and bool((self.answers.max(axis=1) == 1).all())

    @property
    def quadratic(self) -> bool:
        """Whether losses are squared errors, or nearly so, as log losses are where several rows of a cell have another
        class than most."""
        if self.numeric or self.certain:
            return self.numeric
        return float(self.rows.mean()) * (1 - float(self.answers.mean(axis=0).max())) >= SEVERAL

    @property
    def commonest_alone(self) -> NDArray[np.bool_]:
        """Which cells hold the commonest class alone, where most do: there a rule that says it a little more often
        everywhere gains, by chance as well. Else none."""
        alone = np.zeros(len(self.codes), dtype=bool)
        if not self.numeric:
            pure = self.answers == 1
            alone = pure[:, int(pure.sum(axis=0).argmax())]
        return alone if alone.mean() > MOST else np.zeros_like(alone)
