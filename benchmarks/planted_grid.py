"""A grid of two factors with rows that are hidden, trained on or held out, and answers over it: what learners are
planted in (`planted_kinds.py`, `planted_by_heart.py`, `planted_columns.py`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import recombine as rc
from recombine.mechanisms import MeasureResult

REMARKS = ("Put right", "other names", "surer than right", "by its own rows", "Look first at", "gives the answer away",
           "nearly every row has its own", "go against", "answered clearly worse",
           "predictions were put beside test rows", "how test rows were predicted", "embers part ways",
           "stand beside their own rows", "predictions were put beside rows (")  # fmt: skip
"""What is said of how predictions are written and where they were put, of probabilities, of single combinations, of one
level, of factors that are of no use in new rows and of a collapse: words it is known by."""


@dataclass(frozen=True)
class Planted:
    """What was measured, the verdicts that are right, the mechanisms that are there (empty: none is), any of which is
    to be named, and those that may be named besides."""

    result: MeasureResult
    verdicts: tuple[str, ...]
    mechanisms: tuple[str, ...] = ()
    besides: tuple[str, ...] = ()
    remark: str = ""
    """What is to be said besides, one of `REMARKS`; no other may be, …"""
    remarks: tuple[str, ...] = ()
    """… but for these."""

    @property
    def wrong(self) -> bool:
        """Whether a mechanism is named, or something remarked, that is not there."""
        text = " ".join([self.result.sentence(), *self.result.notes])
        said = {remark for remark in REMARKS if remark in text}
        said -= {remark for remark in said if any(own and own.startswith(remark) and own in text for own in self.said)}
        return not ({*self.result.mechanisms} <= {*self.mechanisms, *self.besides} and said <= {*self.said})

    @property
    def said(self) -> tuple[str, ...]:
        away = ("gives the answer away",) * any(m.startswith("shortcut") for m in self.mechanisms)  # So it may.
        return (self.remark, *self.remarks, *away)

    @property
    def named(self) -> bool:
        """Whether what was planted is named, or remarked."""
        if self.remark:
            return self.remark in " ".join([self.result.sentence(), *self.result.notes])
        return any(m in self.mechanisms for m in self.result.mechanisms)


LEARNERS: dict[str, Callable[[np.random.Generator], Planted]] = {}


def learner(build: Callable[[np.random.Generator], Planted]) -> Callable[[np.random.Generator], Planted]:
    LEARNERS[build.__name__.replace("_", " ")] = build
    return build


FAILS = ("fails", "partly")
UNTOLD = (*FAILS, "unclear")


@dataclass(frozen=True)
class Grid:
    """Rows of a grid of two factors: which combinations are unseen, which rows of seen ones are not trained on."""

    a: Any
    b: Any
    unseen: Any
    fresh: Any

    @classmethod
    def of(cls, rng: np.random.Generator, rows: int, sides: tuple[int, int] | None = None) -> Grid:
        n, m = sides or tuple(rng.integers(6, 10, size=2))
        while True:
            hidden = rng.random((n, m)) < rng.uniform(0.25, 0.45)
            if (~hidden).any(0).all() and (~hidden).any(1).all() and hidden.sum() >= 10:
                break
        a, b = np.indices((n, m)).reshape(2, -1).repeat(rows, axis=1)
        place = np.tile(np.arange(rows), n * m)
        return cls(a, b, hidden[a, b], ~hidden[a, b] & (place >= rows - max(1, rows // 4)) & (rows > 1))

    @classmethod
    def trained_on_alone(cls, rng: np.random.Generator, rows: tuple[int, ...] = (1, 3), *more: Any) -> Grid:
        """One or several rows per combination, and no new rows of seen ones."""
        grid = cls.of(rng, int(rng.choice(rows)), *more)
        return replace(grid, fresh=np.zeros_like(grid.fresh))

    @property
    def known(self) -> Any:
        """Rows that are trained on."""
        return ~self.unseen & ~self.fresh

    def fails(self) -> tuple[str, ...]:
        """Failing; or, where combinations have single training rows alone, that it cannot be told: noise that is known
        by heart, or overfitting of a learner that reads more than the factors, could give the same rows."""
        return FAILS if self.fresh.any() or len(self.a) > len({*zip(self.a, self.b, strict=True)}) else UNTOLD

    def said_by(self, learner: Any, y: Any) -> Any:
        """What a learner of scikit-learn answers that is told the levels, one column each."""
        return learner.fit(self.levels[self.known], y[self.known]).predict(self.levels)

    def summed(self, y: Any, *more: Any) -> Any:
        """What least squares over levels, and more columns, answers."""
        x = np.concatenate([self.levels, *more], 1)
        return x @ np.linalg.lstsq(x[self.known], y[self.known], rcond=None)[0]

    @property
    def levels(self) -> Any:
        """One column per level."""
        return np.concatenate([np.eye(f.max() + 1)[f] for f in (self.a, self.b)], 1)

    def measured(self, y: Any, p: Any, **more: Any) -> MeasureResult:
        part = np.where(self.unseen | self.fresh, "test", "train")
        table = {"a": self.a, "b": self.b, "y": y, "p": p, "part": part, **more}
        return rc.measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")

    def level(self, y: Any, factor: Any) -> Any:
        """For each row, the most frequent training answer of its level."""
        known = self.known
        usual = {}
        for value in np.unique(factor):
            texts = [str(t) for t in y[known & (factor == value)]]
            usual[value] = max(sorted(set(texts)), key=texts.count)
        return np.array([usual[value] for value in factor])


def classes(rng: np.random.Generator, grid: Grid) -> Any:
    """A class for each combination: of one factor, of both added up, or at random."""
    k = int(rng.integers(3, 6))
    kind = rng.integers(3)
    if kind == 0:
        code = grid.a % k
    elif kind == 1:
        code = (grid.a + grid.b) % k
    else:
        code = rng.integers(k, size=(grid.a.max() + 1, grid.b.max() + 1))[grid.a, grid.b]
    return np.array([f"class {c}" for c in code])


def numbers(rng: np.random.Generator, grid: Grid, interaction: float) -> Any:
    """A sum of effects of levels and, times ``interaction``, a product of others."""
    one, two = rng.normal(size=(2, 20)), rng.normal(size=(2, 20))
    return one[0][grid.a] + one[1][grid.b] + interaction * two[0][grid.a] * two[1][grid.b]


def blurred(rng: np.random.Generator, y: Any, share: float) -> Any:
    """The numbers with noise, a share of their spread."""
    return y + share * y.std() * rng.normal(size=len(y))


def with_errors(rng: np.random.Generator, y: Any, share: Any) -> Any:
    """The answers with a share of them replaced by another class at random."""
    names = np.unique(y)
    place = np.searchsorted(names, y)
    moved = names[(place + rng.integers(1, len(names), size=len(y))) % len(names)]
    return np.where(rng.random(len(y)) < share, moved, y)


def neighbours(rng: np.random.Generator, grid: Grid, y: Any) -> Any:
    """For each combination, another answer that was trained on and whose combination differs in one factor."""
    rows, found = np.stack([grid.a, grid.b], 1), y.copy()
    for i in range(len(y)):
        mine = (rows == rows[i]).all(1)
        near = np.flatnonzero(grid.known & ((rows != rows[i]).sum(1) == 1) & (y != y[i]))
        if mine[:i].any():
            found[i] = found[mine][0]
        elif len(near):
            found[i] = y[rng.choice(near)]
    return found
