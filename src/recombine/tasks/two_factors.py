"""Six tasks of one form: two factors with ten levels each, and an answer off which the level of each can be read.

Tasks differ in what is shown, codes or noisy signals, in what is asked, classes or numbers, and in how answers are
made. The *main-effect share* is how much of an answer's variance over the grid is a sum of one part per factor:

            shown     asked     made by                             main-effect share
    digits  images    classes   one class per factor                1
    signals signals   classes   one class per factor                1
    sums    codes     numbers   adding vectors                      1
    stripes signals   numbers   “or” of a column and a row          14/17
    bumps   codes     numbers   multiplying profiles                .49
    signs   codes     numbers   multiplying signs                   0

Levels a and b are seen together where b − a is one of some offsets (mod 10), or where the pair is listed, so every task
has the same splits.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from functools import cache, cached_property
from itertools import count
from typing import Any, ClassVar

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from recombine.description import Description
from recombine.errors import InputError
from recombine.space import FactorSpace, categorical
from recombine.support import Explicit
from recombine.tasks.bumps import BumpTask
from recombine.tasks.digit_pairs import DigitPairs
from recombine.tasks.draws import Draws
from recombine.tasks.losses import cross_entropy
from recombine.tasks.task import Task

LEVELS = 10
SHARP = 8.0
"""By how much a right answer's score of its level is above that of the next, about: as good as certain."""
SIGNAL, NOISE, TRAINED = 24, 0.4, 100
"""Numbers of a signal, the deviation of its noise where prototypes have 1, and signals of a level to train on."""
STRIPE, WORD = 3, 5
"""How wide a stripe is, and how many signs stand for a level."""


class TwoFactors(Description, Task):
    """Combinations (a, b) with b − a in ``offsets``, or those in ``pairs``, are trained on, all others asked for."""

    offsets: tuple[int, ...] = ()
    pairs: tuple[tuple[int, int], ...] = Field(default=())
    noisy: ClassVar[bool] = False
    """Whether a combination has many inputs; it is then asked with some that were never trained on."""

    def model_post_init(self, _context: Any) -> None:
        if bool(self.offsets) == bool(self.pairs):
            raise InputError("give the combinations that are seen as offsets or as pairs, one of the two.")

    @cached_property
    def space(self) -> FactorSpace:
        return FactorSpace((categorical("first", LEVELS), categorical("second", LEVELS)))

    @cached_property
    def train(self) -> Explicit:
        if self.pairs:
            return Explicit(self.space, self.pairs)
        grid = self.space.grid()
        return Explicit(self.space, grid[np.isin((grid[:, 1] - grid[:, 0]) % LEVELS, self.offsets)])

    @cached_property
    def test(self) -> Explicit:
        grid = self.space.grid()
        return Explicit(self.space, grid[~self.train.contains(grid)])

    @property
    def numbers(self) -> tuple[int, int]:
        """How many numbers an input and an answer have."""
        return self._shown, self._answered

    @property
    @abstractmethod
    def _shown(self) -> int: ...

    @property
    @abstractmethod
    def _answered(self) -> int: ...

    @abstractmethod
    def says(self, outputs: Tensor) -> tuple[Tensor, ...]:
        """Scores (examples × levels) of each factor, read off answers."""

    @abstractmethod
    def error(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """The error of each example over that of the best constant answer."""

    @abstractmethod
    def answers(self, points: Tensor) -> Tensor:
        """What is to be said."""

    @abstractmethod
    def shown(self, points: Tensor, draws: Draws, trained: bool) -> Tensor:
        """Inputs: numbers of the first factor, then as many of the second; of those ``trained`` on, or others."""

    def part(self, component: int) -> slice:
        """The places of an input's last dimension that show a factor."""
        each = self._shown // 2
        return slice(component * each, (component + 1) * each)

    def examples(self, points: Tensor, draws: Draws) -> tuple[Tensor, Tensor]:
        return self.shown(points, draws, trained=False), self.answers(points)

    def trained_examples(self, points: Tensor, draws: Draws) -> tuple[Tensor, Tensor]:
        return self.shown(points, draws, trained=True), self.answers(points)

    def batch(self, draws: Draws, size: int) -> tuple[Tensor, Tensor]:
        points = self._train_points(draws.keys.device)
        chosen = draws("combination").integers(len(points), (*draws.lead, size))
        return self.trained_examples(points[chosen], draws)

    def scores(self, outputs: Tensor, targets: Tensor) -> Mapping[str, Tensor]:
        """``error``: 1 for a learner that always says the same, whatever it is shown."""
        return {"error": self.error(outputs, targets)}


class _Codes(TwoFactors):
    """One-hot codes of both levels are shown."""

    def shown(self, points: Tensor, draws: Draws, trained: bool) -> Tensor:
        return torch.nn.functional.one_hot(points, LEVELS).flatten(-2).to(torch.get_default_dtype())

    @property
    def _shown(self) -> int:
        return 2 * LEVELS


class _Signals(TwoFactors):
    """Each level of each factor has a prototype of its own, which is shown with noise."""

    noisy: ClassVar[bool] = True

    def shown(self, points: Tensor, draws: Draws, trained: bool) -> Tensor:
        factors = torch.arange(2, device=points.device)
        signals = self._prototypes.to(points.device)[factors, points]
        if trained:
            chosen = draws("signal").integers(TRAINED, points.shape)
            noise = self._trained_noise.to(points.device)[factors, points, chosen]
        else:
            noise = draws("noise").normal((*points.shape, SIGNAL), signals.dtype)
        return (signals + NOISE * noise).flatten(-2)

    @property
    def _shown(self) -> int:
        return 2 * SIGNAL

    @cached_property
    def _prototypes(self) -> Tensor:
        """(factors × levels × numbers)"""
        return Draws.single(0, "prototypes").normal((2, LEVELS, SIGNAL), torch.get_default_dtype())

    @cached_property
    def _trained_noise(self) -> Tensor:
        """(factors × levels × signals × numbers)"""
        return Draws.single(0, "trained noise").normal((2, LEVELS, TRAINED, SIGNAL), torch.get_default_dtype())


class _Classes(TwoFactors):
    """Both levels are asked for."""

    @property
    def _answered(self) -> int:
        return 2 * LEVELS

    def answers(self, points: Tensor) -> Tensor:
        return points

    def says(self, outputs: Tensor) -> tuple[Tensor, ...]:
        return outputs[..., :LEVELS], outputs[..., LEVELS:]

    def losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        return cross_entropy(outputs.unflatten(-1, (2, LEVELS)), targets).sum(-1)

    def error(self, outputs: Tensor, targets: Tensor) -> Tensor:
        wrong = outputs.unflatten(-1, (2, LEVELS)).argmax(-1) != targets
        share: Tensor = wrong.to(outputs.dtype).mean(-1) / (1 - 1 / LEVELS)
        return share


class _Numbers(TwoFactors):
    """A row of numbers is asked for."""

    def answers(self, points: Tensor) -> Tensor:
        if points.device not in self._kept:
            self._kept[points.device] = self._table.to(points.device), self._reader.to(points.device)
        return self._kept[points.device][0][points[..., 0], points[..., 1]]

    @cached_property
    def _kept(self) -> dict[torch.device, tuple[Tensor, Tensor]]:
        """The table and the reader where they are used: a step that is captured on a GPU can move nothing there."""
        return {}

    def _reader_at(self, outputs: Tensor) -> Tensor:
        return (self._kept[outputs.device][1] if outputs.device in self._kept else self._reader).to(outputs)

    @cached_property
    def _reader(self) -> Tensor:
        """What levels are read off answers by, where that takes more than adding numbers up."""
        return torch.zeros(0)

    def losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        return (outputs - targets).square().sum(-1) / self._spread

    def error(self, outputs: Tensor, targets: Tensor) -> Tensor:
        return self.losses(outputs, targets)

    @property
    @abstractmethod
    def _table(self) -> Tensor:
        """The right answers (levels × levels × numbers)."""

    @property
    def _answered(self) -> int:
        return self._table.shape[-1]

    @cached_property
    def _spread(self) -> float:
        """The squared error of the mean answer, mean over the grid."""
        answers = self._table.flatten(0, 1)
        return float((answers - answers.mean(0)).square().sum(-1).mean())


class DigitTask(_Classes):
    """Two handwritten digits side by side: which two?"""

    kind: ClassVar[str] = "together-digits"
    noisy: ClassVar[bool] = True

    @cached_property
    def _images(self) -> DigitPairs:
        return DigitPairs()

    @cached_property
    def _shown(self) -> int:
        channels, height, width = self._images.shape
        return channels * height * width

    def shown(self, points: Tensor, draws: Draws, trained: bool) -> Tensor:
        images = self._images.compose(points, draws, "train" if trained else "held out")
        return torch.cat([images[..., self._images.part(k)].flatten(-3) for k in (0, 1)], -1)


class SignalsTask(_Signals, _Classes):
    """Two noisy signals one after the other: of which two levels?"""

    kind: ClassVar[str] = "together-signals"


class SumsTask(_Codes, _Numbers):
    """Each level of each factor has a vector of its own, all at right angles; the answer is the sum of the two."""

    kind: ClassVar[str] = "together-sums"

    @cached_property
    def _vectors(self) -> Tensor:
        """(factors × levels × numbers)"""
        drawn = Draws.single(0, "vectors of levels").normal((2 * LEVELS, 2 * LEVELS), torch.float64)
        turned: Tensor = torch.linalg.qr(drawn)[0]
        return turned.to(torch.get_default_dtype()).reshape(2, LEVELS, 2 * LEVELS)

    @cached_property
    def _reader(self) -> Tensor:
        return self._vectors

    @cached_property
    def _table(self) -> Tensor:
        table: Tensor = self._vectors[0][:, None] + self._vectors[1][None, :]
        return table

    def says(self, outputs: Tensor) -> tuple[Tensor, ...]:
        """How far the answer points along the vector of each level."""
        first, second = self._reader_at(outputs)
        return SHARP * (outputs @ first.T), SHARP * (outputs @ second.T)


class StripesTask(_Signals, _Numbers):
    """A picture, black where the column a or the row b passes, each three wide and going round at the edge.

    A pixel is c + r − c r; with p = 3/10 the share of pixels in a stripe, 2 (1 − p) / (2 − p) of the variance adds
    up."""

    kind: ClassVar[str] = "together-stripes"

    @cached_property
    def _stripes(self) -> Tensor:
        """(levels × places)"""
        levels = torch.arange(LEVELS)
        return ((levels[None, :] - levels[:, None]) % LEVELS < STRIPE).to(torch.get_default_dtype())

    @cached_property
    def _reader(self) -> Tensor:
        return SHARP / (LEVELS - STRIPE) * self._stripes.T

    @cached_property
    def _table(self) -> Tensor:
        column, row = self._stripes[:, None, None, :], self._stripes[None, :, :, None]
        return torch.maximum(column, row).flatten(-2)

    def says(self, outputs: Tensor) -> tuple[Tensor, ...]:
        """How much of the stripe of each level is there, in sums over rows and over columns."""
        picture = outputs.unflatten(-1, (LEVELS, LEVELS))
        there = self._reader_at(outputs)
        return picture.sum(-2) @ there, picture.sum(-1) @ there


class BumpsTask(_Codes, _Numbers):
    """A bump drawn at column a and row b of a picture: what each factor draws is multiplied."""

    kind: ClassVar[str] = "together-bumps"

    @cached_property
    def _table(self) -> Tensor:
        levels = torch.arange(LEVELS)
        points = torch.cartesian_prod(levels, levels)
        return BumpTask(side=LEVELS, holdout="none").pictures(points).reshape(LEVELS, LEVELS, -1)

    def says(self, outputs: Tensor) -> tuple[Tensor, ...]:
        """Sums over rows say the column, sums over columns the row."""
        picture = outputs.unflatten(-1, (LEVELS, LEVELS))
        return SHARP * picture.sum(-2), SHARP * picture.sum(-1)


class SignsTask(_Codes, _Numbers):
    """Each level of each factor has a word of five signs; the answer is the product of every sign of the one with every
    sign of the other. In each place as many levels have + as −: without the other factor, nothing is known of any
    product."""

    kind: ClassVar[str] = "together-signs"

    @cached_property
    def _table(self) -> Tensor:
        first, second = (_words(name).to(torch.get_default_dtype()) for name in ("first", "second"))
        return torch.einsum("ai,bj->abij", first, second).flatten(2)

    @cached_property
    def _reader(self) -> Tensor:
        """(numbers × pairs), such that the score of a right pair is that of the most alike and `SHARP`"""
        answers = self._table.flatten(0, 1)
        alike = (answers @ answers.T).fill_diagonal_(-torch.inf)
        return SHARP / (WORD**2 - float(alike.max())) * answers.T

    def says(self, outputs: Tensor) -> tuple[Tensor, ...]:
        """How alike the answer is to that of each pair, over all levels of the other factor."""
        pairs = (outputs @ self._reader_at(outputs)).unflatten(-1, (LEVELS, LEVELS))
        return pairs.logsumexp(-1), pairs.logsumexp(-2)


@cache
def _words(factor: str) -> Tensor:
    """(levels × signs), no two of them equal or opposite, since opposite words of both factors have equal products."""
    draws = Draws.single(0, f"signs of the {factor} factor")
    for attempt in count():
        places = draws(f"{attempt}").uniform((WORD, LEVELS)).argsort(-1)
        words = torch.where(places < LEVELS // 2, 1.0, -1.0).T
        if (words @ words.T).fill_diagonal_(0).abs().max() < WORD:
            break
    return words
