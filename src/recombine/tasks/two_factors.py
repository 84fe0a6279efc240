"""Three tasks of one form: two factors with ten levels each, and an answer that has one part per factor.

Levels a and b are seen together where b − a is one of some offsets (mod 10), so every task has the same splits. What
an answer says of each factor can be read off it: the level with the highest score in its part.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from recombine.description import Description
from recombine.space import FactorSpace, categorical
from recombine.support import Explicit
from recombine.tasks.bumps import BumpTask
from recombine.tasks.digit_pairs import DigitPairs
from recombine.tasks.draws import Draws
from recombine.tasks.losses import cross_entropy
from recombine.tasks.task import Task

LEVELS = 10
SHARP = 8.0


class TwoFactors(Description, Task):
    """Combinations (a, b) with b − a in ``offsets`` are trained on, all others asked for."""

    offsets: tuple[int, ...] = Field(min_length=1)

    @cached_property
    def space(self) -> FactorSpace:
        return FactorSpace((categorical("first", LEVELS), categorical("second", LEVELS)))

    @cached_property
    def train(self) -> Explicit:
        grid = self.space.grid()
        return Explicit(self.space, grid[np.isin((grid[:, 1] - grid[:, 0]) % LEVELS, self.offsets)])

    @cached_property
    def test(self) -> Explicit:
        grid = self.space.grid()
        return Explicit(self.space, grid[~self.train.contains(grid)])

    @property
    @abstractmethod
    def numbers(self) -> tuple[int, int]:
        """How many numbers an input and an answer have."""

    @abstractmethod
    def says(self, outputs: Tensor) -> tuple[Tensor, ...]:
        """Scores (examples × levels) of each factor, read off answers."""

    @abstractmethod
    def part(self, component: int) -> slice:
        """The places of an input's last dimension that show a factor."""

    def scores(self, outputs: Tensor, targets: Tensor) -> Mapping[str, Tensor]:
        """``error``: 1 for a learner that always says the same, whatever it is shown."""
        return {"error": self.error(outputs, targets)}

    @abstractmethod
    def error(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """The error of each example over that of the best constant answer."""


class DigitTask(TwoFactors):
    """Two handwritten digits side by side: which two? Asked with images that were never trained on."""

    kind: ClassVar[str] = "together-digits"

    @cached_property
    def _pairs(self) -> DigitPairs:
        return DigitPairs()

    @property
    def numbers(self) -> tuple[int, int]:
        return 2 * self._pixels, 2 * LEVELS

    def part(self, component: int) -> slice:
        return slice(component * self._pixels, (component + 1) * self._pixels)

    def says(self, outputs: Tensor) -> tuple[Tensor, ...]:
        return outputs[..., :LEVELS], outputs[..., LEVELS:]

    def examples(self, points: Tensor, draws: Draws) -> tuple[Tensor, Tensor]:
        return self._flat(self._pairs.compose(points, draws, "held out")), points

    def trained_examples(self, points: Tensor, draws: Draws) -> tuple[Tensor, Tensor]:
        """Examples of any points, made of training images."""
        return self._flat(self._pairs.compose(points, draws, "train")), points

    def batch(self, draws: Draws, size: int) -> tuple[Tensor, Tensor]:
        points = self._train_points(draws.keys.device)
        chosen = draws("combination").integers(len(points), (*draws.lead, size))
        return self.trained_examples(points[chosen], draws)

    @cached_property
    def _pixels(self) -> int:
        """Of one digit."""
        channels, height, width = self._pairs.shape
        return channels * height * width // 2

    def _flat(self, images: Tensor) -> Tensor:
        """The pixels of the first digit, then those of the second."""
        return torch.cat([images[..., self._pairs.part(k)].flatten(-3) for k in (0, 1)], -1)

    def losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        return cross_entropy(outputs.unflatten(-1, (2, LEVELS)), targets).sum(-1)

    def error(self, outputs: Tensor, targets: Tensor) -> Tensor:
        wrong = outputs.unflatten(-1, (2, LEVELS)).argmax(-1) != targets
        share: Tensor = wrong.to(outputs.dtype).mean(-1) / (1 - 1 / LEVELS)
        return share


class _Drawn(TwoFactors):
    """One-hot codes of both levels, and an answer that is a table of numbers."""

    @property
    def numbers(self) -> tuple[int, int]:
        return 2 * LEVELS, self._table.shape[-1]

    def part(self, component: int) -> slice:
        return slice(component * LEVELS, (component + 1) * LEVELS)

    def examples(self, points: Tensor, draws: Draws) -> tuple[Tensor, Tensor]:
        hot = torch.nn.functional.one_hot(points, LEVELS).flatten(-2).to(torch.get_default_dtype())
        return hot, self._table.to(points.device)[points[..., 0], points[..., 1]]

    def losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        return (outputs - targets).square().sum(-1) / self._spread

    def error(self, outputs: Tensor, targets: Tensor) -> Tensor:
        return self.losses(outputs, targets)

    @property
    @abstractmethod
    def _table(self) -> Tensor:
        """The right answers (levels × levels × numbers)."""

    @cached_property
    def _spread(self) -> float:
        """The squared error of the mean answer, mean over the grid."""
        answers = self._table.flatten(0, 1)
        return float((answers - answers.mean(0)).square().sum(-1).mean())


class BumpsTask(_Drawn):
    """A bump drawn at column a and row b of a picture: what each factor draws is multiplied."""

    kind: ClassVar[str] = "together-bumps"

    @cached_property
    def _table(self) -> Tensor:
        levels = torch.arange(LEVELS)
        points = torch.cartesian_prod(levels, levels)
        return BumpTask(side=LEVELS, holdout="none").pictures(points).reshape(LEVELS, LEVELS, -1)

    def says(self, outputs: Tensor) -> tuple[Tensor, ...]:
        """Sums over rows say the column, sums over columns the row; sharpened, so that a right answer is certain."""
        picture = outputs.unflatten(-1, (LEVELS, LEVELS))
        return SHARP * picture.sum(-2), SHARP * picture.sum(-1)


class SumsTask(_Drawn):
    """Each level of each factor has a vector of its own, all at right angles; the answer is the sum of the two."""

    kind: ClassVar[str] = "together-sums"

    @cached_property
    def _vectors(self) -> Tensor:
        """(factors × levels × numbers)"""
        drawn = Draws.single(0, "vectors of levels").normal((2 * LEVELS, 2 * LEVELS), torch.float64)
        turned: Tensor = torch.linalg.qr(drawn)[0]
        return turned.to(torch.get_default_dtype()).reshape(2, LEVELS, 2 * LEVELS)

    @cached_property
    def _table(self) -> Tensor:
        table: Tensor = self._vectors[0][:, None] + self._vectors[1][None, :]
        return table

    def says(self, outputs: Tensor) -> tuple[Tensor, ...]:
        """How far the answer points along the vector of each level; sharpened, so that a right answer is certain."""
        first, second = self._vectors.to(outputs)
        return SHARP * (outputs @ first.T), SHARP * (outputs @ second.T)
