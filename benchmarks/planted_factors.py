"""Learners of three or four factors, of which the last is ignored where unseen, rightly ignored, or used
(`verdicts.py`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import recombine as rc
from planted_grid import FAILS, Planted, learner, with_errors
from recombine.mechanisms import MeasureResult

NAMES = ("a", "b", "c", "d")


@dataclass(frozen=True)
class Block:
    """Eight rows of each combination of three or four factors, the last with two or five levels."""

    codes: Any
    shape: tuple[int, ...]
    unseen: Any
    fresh: Any

    @classmethod
    def of(cls, rng: np.random.Generator) -> Block:
        last = int(rng.choice([2, 5]))
        shape = (*((5, 5) if rng.integers(2) else (4, 3, 4)), last)
        while True:
            hidden = rng.random(shape) < 0.3
            if all((~hidden).any(axis=tuple(np.delete(np.arange(len(shape)), j))).all() for j in range(len(shape))):
                break
        codes = np.indices(shape).reshape(len(shape), -1).T.repeat(8, axis=0)
        unseen = hidden.ravel().repeat(8)
        return cls(codes, shape, unseen, ~unseen & (np.tile(np.arange(8), hidden.size) < 2))

    @property
    def known(self) -> Any:
        return ~self.unseen & ~self.fresh

    @property
    def last(self) -> str:
        return NAMES[len(self.shape) - 1]

    def effects(self, rng: np.random.Generator, last: float, numbers: int = 1) -> Any:
        """Rows × numbers: effects of levels, added up; those of the last factor are ``last`` times as large."""
        each = [rng.normal(size=(n, numbers)) for n in self.shape]
        each[-1] = last * (each[-1] - each[-1].mean(0)) / each[-1].std(0)
        return sum(effect[self.codes[:, j]] for j, effect in enumerate(each))

    def usual(self, y: Any, factors: slice) -> Any:
        """For each row the mean training answer of its levels of some factors, or the most frequent class; of all rows,
        where training has none of these."""
        of = np.ravel_multi_index(self.codes[:, factors].T, self.shape[factors])
        text = y.dtype.kind in "US"

        def middle(values: Any) -> Any:
            return max(sorted({*values}), key=list(values).count) if text else values.mean()

        found = {k: middle(y[self.known & (of == k)]) for k in np.unique(of[self.known])}
        rest = middle(y[self.known])
        return np.array([found.get(k, rest) for k in of])

    def summed(self, y: Any) -> Any:
        """What least squares over the levels of all factors but the last says."""
        x = np.hstack([np.eye(n)[self.codes[:, j]] for j, n in enumerate(self.shape[:-1])])
        return x @ np.linalg.lstsq(x[self.known], y[self.known], rcond=None)[0]

    def measured(self, y: Any, p: Any) -> MeasureResult:
        names = NAMES[: len(self.shape)]
        table = {name: self.codes[:, j] for j, name in enumerate(names)}
        table |= {"y": y, "p": p, "part": np.where(self.unseen | self.fresh, "test", "train")}
        return rc.measure_predictions(table, names, target="y", prediction="p", split="part=test")


def classes(rng: np.random.Generator, block: Block, last: float) -> tuple[Any, Any]:
    """The class whose scores add up to most, and the same with a few labels amiss."""
    names = np.array(["x", "y", "z", "w"])
    right = names[:1]
    while len({*right}) < 2:  # Of few combinations all may have the same.
        right = names[block.effects(rng, last, int(rng.integers(2, 5))).argmax(1)]
    return right, with_errors(rng, right, rng.choice([0, 0.03]))


@learner
def one_factor_of_several_ignored(rng: np.random.Generator) -> Planted:
    """Where unseen, by the mean of its other levels or by a sum over these."""
    block = Block.of(rng)
    right = block.effects(rng, 1.5)[:, 0]
    y = right + 0.1 * right.std() * rng.normal(size=len(right))
    p = block.summed(y) if rng.integers(2) else block.usual(y, slice(0, -1))
    return Planted(block.measured(y, np.where(block.unseen, p, right)), FAILS, (f"{block.last} ignored",))


@learner
def one_factor_of_several_ignored_for_classes(rng: np.random.Generator) -> Planted:
    block = Block.of(rng)
    right, y = classes(rng, block, 2.0)
    p = np.where(block.unseen, block.usual(y, slice(0, -1)), right)
    return Planted(block.measured(y, p), (*FAILS, "unclear"), (f"{block.last} ignored",))


def four(rng: np.random.Generator) -> tuple[Block, Any]:
    """A block of four factors, and effects of all of them, added up (rows × numbers)."""
    while len((block := Block.of(rng)).shape) < 4:
        pass
    return block, block.effects(rng, rng.uniform(1, 1.5), int(rng.integers(2, 5)))


@learner
def two_factors_of_four_ignored(rng: np.random.Generator) -> Planted:
    """The last two where unseen: each answer is the mean of its other levels."""
    block, effects = four(rng)
    right = effects[:, 0]
    y = right + 0.1 * right.std() * rng.normal(size=len(right))
    result = block.measured(y, np.where(block.unseen, block.usual(y, slice(0, 2)), right))
    return Planted(result, FAILS, ("c and d ignored",), ("c ignored", "d ignored"))


@learner
def two_factors_of_four_ignored_for_classes(rng: np.random.Generator) -> Planted:
    block, effects = four(rng)
    right = np.array(["x", "y", "z", "w"])[effects.argmax(1)]
    y = with_errors(rng, right, rng.choice([0, 0.03]))
    result = block.measured(y, np.where(block.unseen, block.usual(y, slice(0, 2)), right))
    return Planted(result, (*FAILS, "unclear"), ("c and d ignored",), ("c ignored", "d ignored"))


@learner
def random_errors_of_four_factors(rng: np.random.Generator) -> Planted:
    """Where unseen: another class at half of the combinations, or a number that is off at each."""
    block, effects = four(rng)
    at = tuple(block.codes.T)
    if rng.integers(2):
        right = np.array(["x", "y", "z", "w"])[effects.argmax(1)]
        moved = block.unseen & (rng.random(block.shape) < 0.5)[at]
        return Planted(block.measured(right, with_errors(rng, right, 1.0 * moved)), (*FAILS, "unclear"))
    right = effects[:, 0]
    off = rng.normal(size=block.shape)[at] * right.std() * rng.uniform(0.6, 1.5)
    return Planted(block.measured(right, right + np.where(block.unseen, off, 0.0)), FAILS)


@learner
def a_factor_that_does_not_matter(rng: np.random.Generator) -> Planted:
    """It is ignored, and rightly."""
    block = Block.of(rng)
    right = block.effects(rng, 0.0)[:, 0]
    y = right + 0.2 * right.std() * rng.normal(size=len(right))
    return Planted(block.measured(y, block.summed(y)), ("composes", "unclear"))


@learner
def a_shortcut_beside_a_factor_that_does_not_matter(rng: np.random.Generator) -> Planted:
    block = Block.of(rng)
    right = block.effects(rng, 0.0)[:, 0]
    y = right + 0.1 * right.std() * rng.normal(size=len(right))
    return Planted(block.measured(y, np.where(block.unseen, block.usual(y, slice(0, 1)), right)), FAILS,
                   ("shortcut by a",))  # fmt: skip


@learner
def random_errors_of_several_factors(rng: np.random.Generator) -> Planted:
    block = Block.of(rng)
    if rng.integers(2):
        right, y = classes(rng, block, 1.0)
        return Planted(block.measured(y, with_errors(rng, right, 0.4 * block.unseen)), FAILS)
    right = block.effects(rng, 1.0)[:, 0]
    off = rng.normal(size=block.shape)[tuple(block.codes.T)] * right.std()
    return Planted(block.measured(right, right + np.where(block.unseen, rng.uniform(0.6, 1.5) * off, 0.0)), FAILS)
