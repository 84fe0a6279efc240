"""The answer to "which unseen combinations can be answered": a frozen value with a status for each query.

status   seen < determined < undetermined < unseen level; the verdict is the worst status of all asked combinations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from recombine.checks._coverage import Coverage
from recombine.checks.additivity import Additivity
from recombine.checks.advice import Advice
from recombine.checks.confounding import Confounding
from recombine.checks.identifiability import STATUSES, Identifiability
from recombine.checks.planning import Plan
from recombine.checks.prediction import Prediction
from recombine.checks.witness import Direction, Terms, direction, sums
from recombine.result import Result
from recombine.space import Codes, FactorSpace, Level

if TYPE_CHECKING:
    import polars as pl

SCHEMA = 1
FULL_STRENGTH = 0.95
"""A share of the rule from which shrinkage is not worth a word."""

THEORY = {
    "seen": "it is one of the training combinations",
    "determined": "additive identifiability: its indicator row lies in the row space of training",
    "undetermined": "additive identifiability: a free direction changes it and no training answer",
    "unseen level": "compositional support (First Principles, Def. 2): one of its levels never occurs in training",
}


@dataclass(frozen=True)
class Query:
    """One asked combination and everything said about it."""

    codes: tuple[int, ...]
    status: str
    leverage: float | None = None
    min_cut: int | None = None
    shrinkage: float | None = None
    prediction: float | str | None = None
    parts: dict[str, float] | None = None
    terms: Terms | None = None
    direction: int | None = None

    @property
    def words(self) -> str:
        if self.status == "seen":
            return "seen in training"
        if self.status == "undetermined":
            return "not determined by this data"
        if self.status == "unseen level":
            return "level never seen"
        if self.shrinkage is None or self.shrinkage >= FULL_STRENGTH:
            return "answerable"
        return f"answerable, but expect shrinkage × {self.shrinkage:.2f}"


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
    prediction: Prediction | None = field(repr=False)
    unseen_levels: dict[str, list[Level]] = field(repr=False)
    notes: tuple[str, ...] = ()
    plan: Plan | None = field(default=None, repr=False)
    """The rows to collect for a purpose, where one was named."""
    settings: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def verdict(self) -> str:
        """The worst status of all asked combinations."""
        return self.worst

    @property
    def determined(self) -> bool:
        """Whether training determines everything that was asked."""
        return self.worst in ("seen", "determined")

    @property
    def suggestions(self) -> list[dict[str, Level]]:
        """The combinations to collect."""
        return self.space.decode(self.advice.cells)

    def combination(self, codes: tuple[int, ...] | Codes) -> dict[str, Level]:
        return {
            f.name: f.levels[int(c)] for f, c in zip(self.space.factors, codes, strict=True) if f.levels is not None
        }

    def witness(self, combination: dict[str, Level]) -> dict[str, Any]:
        """Why any combination is determined or not: {"sum": [[coefficient, levels], …]} or {"direction": [[effect,
        value], …]}.
        """
        codes = self.space.encode([combination])
        if self.known.rows.contains(codes)[0]:
            terms = sums(self.known, codes, work=self.known.rank)[0]
            return {
                "sum": None if terms is None else [[str(c), list(self.combination(row).values())] for c, row in terms]
            }
        return {"direction": self._direction(direction(self.known, codes[0]))}

    def sentence(self) -> str:
        """The verdict in one sentence."""
        missing = self.rank_needed - self.rank_train
        cells = f"{missing:,} further combination{'s' if missing != 1 else ''}"
        if self.worst == "seen":
            return "Every combination asked about was seen in training."
        if self.worst == "determined":
            return "Every combination asked about is determined by the training data under additive effects" + (
                f" of order {self.order}." if self.order > 1 else "."
            )
        how = "would settle all of them" if self.advice.enough else "would be needed, but no allowed set suffices"
        if self.worst == "undetermined":
            return f"Some combinations are not determined by this data, whatever the learner; {cells} {how}."
        return f"Some combinations use levels that training never shows; {cells} {how}."

    def words_of(self, query: Query) -> dict[str, Any]:
        """One query as plain JSON values."""
        record: dict[str, Any] = {
            "combination": self.combination(query.codes),
            "status": query.status,
            "words": query.words,
            "theory": THEORY[query.status],
            "leverage": query.leverage,
            "min_cut": query.min_cut,
            "shrinkage": query.shrinkage,
            "prediction": query.prediction,
            "witness": None,
        }
        if query.parts is not None:
            record["parts"] = query.parts
        if query.terms is not None:
            record["witness"] = {"sum": [[str(c), list(self.combination(row).values())] for c, row in query.terms]}
        elif query.direction is not None:
            record["witness"] = {"direction": query.direction}
        return record

    def to_frame(self) -> pl.DataFrame:
        """One row a query: factor columns (as text where levels are of mixed kinds), then status and numbers."""
        import polars as pl

        columns: dict[str, Any] = {}
        for k, factor in enumerate(self.space.factors):
            levels = factor.levels or ()
            values = [levels[q.codes[k]] for q in self.queries]
            mixed = len({type(v) for v in levels}) > 1
            columns[factor.name] = [str(v) for v in values] if mixed else values
        for name in ("status", "words", "leverage", "min_cut", "shrinkage"):
            key = name if name not in columns else f"check: {name}"
            columns[key] = pl.Series([getattr(q, name) for q in self.queries], dtype=_frame_types(pl)[name])
        says = [q.prediction for q in self.queries]
        columns["prediction" if "prediction" not in columns else "check: prediction"] = pl.Series(
            [s if isinstance(s, str) else None for s in says] if any(isinstance(s, str) for s in says) else says,
            dtype=pl.String if any(isinstance(s, str) for s in says) else pl.Float64,
        )
        return pl.DataFrame(columns)

    def to_dict(self) -> dict[str, Any]:
        """The object that ``--json`` prints."""
        return {
            "schema": SCHEMA,
            "verdict": self.verdict,
            "sentence": self.sentence(),
            "asked": {"what": self.asked, "total": self.total},
            "order": self.order,
            "rank": {"train": self.rank_train, "needed": self.rank_needed},
            "counts": self.counts,
            "share": self.share,
            "factors": {f.name: len(f.levels or ()) for f in self.space.factors},
            "train": {"rows": int(self.row_counts.sum()), "combinations": len(self.known.codes)},
            "unseen_levels": self.unseen_levels,
            "queries": [self.words_of(q) for q in self.queries],
            "directions": [self._direction(d) for d in self.directions],
            "suggestions": self.suggestions,
            "advice": {
                "needed": self.advice.needed,
                "cost": self.advice.cost,
                "costs": [float(c) for c in self.advice.costs],
                "lower_bound": self.advice.lower_bound,
                "exact": self.advice.exact,
                "enough": self.advice.enough,
                "listed": self.advice.listed,
                "method": self.advice.method,
            },
            "plan": None if self.plan is None else self.plan.to_dict(self.space),
            "pieces": list(self.pieces),
            "groups": self.groups,
            "coverage": self._coverage(),
            "confounding": {
                "pairs": [_plain(vars(a)) for a in self.confounding.pairs],
                "thin": self.confounding.thin,
                "combinations": self.confounding.combinations,
            },
            "additivity": None if self.additivity is None else _plain(vars(self.additivity)),
            "learner": None if self.prediction is None else self._learner(self.prediction),
            "notes": list(self.notes),
            "settings": self.settings,
        }

    def _direction(self, effects: Direction) -> list[list[Any]]:
        """[[{factor: level, …}, integer], …]: add any multiple and no training answer changes."""
        names = self.space.names
        return [
            [{names[k]: (self.space.factors[k].levels or ())[level] for k, level in levels}, value]
            for levels, value in effects.items()
        ]

    def _coverage(self) -> dict[str, Any]:
        names = self.space.names
        report: dict[str, Any] = {"skipped": list(self.coverage.skipped)}
        for t in (1, 2, 3):
            possible, seen, missing = self.coverage.total(t)
            report[str(t)] = {
                "possible": possible,
                "seen": seen,
                "missing": missing,
                "factors": [
                    {
                        "factors": [names[k] for k in i.factors],
                        "possible": i.possible,
                        "seen": i.seen,
                        "missing": i.missing,
                        "unused": i.unused,
                        "examples": [
                            [(self.space.factors[k].levels or ())[c] for k, c in zip(i.factors, row, strict=True)]
                            for row in i.examples
                        ],
                    }
                    for i in self.coverage.strength(t)
                ],
            }
        return report

    def _learner(self, prediction: Prediction) -> dict[str, Any]:
        shortcut = prediction.shortcut
        return {
            "learner": prediction.learner,
            "salience": list(prediction.salience),
            "shortcut": None if shortcut is None else {**_plain(vars(shortcut)), "factors": list(shortcut.factors)},
        }


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in values.items()}


def _frame_types(pl: Any) -> dict[str, Any]:
    return {
        "status": pl.String,
        "words": pl.String,
        "leverage": pl.Float64,
        "min_cut": pl.Int64,
        "shrinkage": pl.Float64,
    }


__all__ = ["FULL_STRENGTH", "SCHEMA", "STATUSES", "THEORY", "CheckResult", "Query"]
