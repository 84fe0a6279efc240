"""Odd-one-out problems as something to train on: a combination is what the odd item keeps and breaks."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

import torch
from pydantic import Field
from torch import Tensor

from recombine.description import Description
from recombine.errors import InputError
from recombine.space import FactorSpace, categorical
from recombine.support import Explicit
from recombine.tasks.draws import Draws
from recombine.tasks.keeping import Keeping
from recombine.tasks.losses import correct, cross_entropy
from recombine.tasks.odd_one_out.problems import Family, ProblemSet, Source, Split, build
from recombine.tasks.task import Task

LEVELS = ("broken", "kept")


class OddOneOutTask(Keeping, Description, Task):
    """Problems of ``family`` made of items of ``source``; the answer is the place of the odd one.

    Training draws from ``problems`` fixed ones in an order reshuffled each epoch; everything that is measured is asked
    with ``held_out`` others, which share no item with them. The factors are the rules, and the combination of a problem
    is what its odd item keeps: accuracy by combination tells which broken rule is noticed."""

    kind: ClassVar[str] = "odd-one-out task"

    source: Any
    family: Family = Family()
    problems: int = Field(default=10_000, ge=1)
    held_out: int = Field(default=1_000, ge=1)
    seed: int = 0

    def model_post_init(self, _context: Any) -> None:
        if not isinstance(self.source, Source):
            raise InputError(f"items come from Contours, Sentences or a FactorTable, not {type(self.source).__name__}.")
        self.family.odd_kinds(self.source.rules)

    @cached_property
    def space(self) -> FactorSpace:
        return FactorSpace(tuple(categorical(rule, LEVELS) for rule in self.source.rules))

    @cached_property
    def train(self) -> Explicit:
        return Explicit(self.space, self.family.odd_kinds(self.source.rules).long().numpy())

    @property
    def test(self) -> Explicit:
        """The same kinds of problems: what is held out are problems and items, not combinations."""
        return self.train

    def split(self, name: Split) -> ProblemSet:
        """The problems of a split."""
        if name not in self._made:
            count = self.problems if name == "train" else self.held_out
            self._made[name] = build(self.source, self.family, count, split=name, seed=self.seed)
        return self._made[name]

    def batch(self, draws: Draws, size: int) -> tuple[Tensor, Tensor]:
        order = draws("order").shuffled(self.problems, size)
        inputs, targets, _ = self._tensors("train", order.device)
        return inputs[order], targets[order]

    def whole(self, device: torch.device | str = "cpu") -> tuple[Tensor, Tensor]:
        inputs, targets, _ = self._tensors("train", torch.device(device))
        return inputs, targets

    def examples(self, points: Tensor, draws: Draws) -> tuple[Tensor, Tensor]:
        """For each point, a held-out problem whose odd item keeps just that."""
        inputs, targets, odd = self._tensors("test", points.device)
        bits = 1 << torch.arange(points.shape[-1], device=points.device)
        # Not as a product: those of whole numbers are not there on a GPU.
        kinds, asked = (odd * bits).sum(-1), (points.long() * bits).sum(-1)
        order = kinds.argsort(stable=True)
        first = torch.searchsorted(kinds[order], asked)
        count = torch.searchsorted(kinds[order], asked, right=True) - first
        if (count == 0).any():
            missing = self.space.decode(points[count == 0][:1].long().cpu().numpy())[0]
            raise InputError(f"no held-out problem has an odd item that keeps {missing}; hold out more.")
        rows = order[first + (draws("problem").uniform(count.shape, torch.float64) * count).long()]
        return inputs[rows], targets[rows]

    def losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        return cross_entropy(outputs, targets)

    def scores(self, outputs: Tensor, targets: Tensor) -> Mapping[str, Tensor]:
        return {"accuracy": correct(outputs, targets)}

    def _tensors(self, name: Split, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
        """Inputs, targets and odd kinds of a split, kept on the device they are used on."""
        problems = self.split(name)
        inputs, targets, odd = self.kept(name, device, lambda: (problems.inputs, problems.targets, problems.odd))
        return inputs, targets, odd

    @cached_property
    def _made(self) -> dict[Split, ProblemSet]:
        return {}
