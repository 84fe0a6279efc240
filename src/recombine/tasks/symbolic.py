"""Symbolic tasks: a combination is its one-hot codes side by side, and the answer is one number.

x = [e(z_1), …, e(z_C)]: the "disentangled" input of Lippl & Stachenfeld (2025), whose kernel is k/C for k shared
components. Which combinations train, which are asked and what the answers are is data: addition, context dependence,
equivalence, order and any other rule are the same class with other tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from recombine.description import Description
from recombine.errors import InputError
from recombine.space import FactorSpace, categorical
from recombine.support import Explicit
from recombine.tasks.draws import Draws
from recombine.tasks.losses import squared_error
from recombine.tasks.task import Task

Code = tuple[int, ...]
Loss = Literal["squared error", "logistic"]


class SymbolicTask(Description, Task):
    """``seen`` combinations with their ``answers``, ``asked`` ones with ``asked_answers``, over ``levels`` a component.

    The loss is squared error, or log(1 + exp(−y f)) for answers ±1."""

    kind: ClassVar[str] = "symbolic"

    levels: tuple[int, ...] = Field(min_length=1)
    seen: tuple[Code, ...] = Field(min_length=1)
    answers: tuple[float, ...]
    asked: tuple[Code, ...]
    asked_answers: tuple[float, ...]
    loss: Loss = "squared error"

    @classmethod
    def of(
        cls, levels: Any, train: Any, targets: Any, test: Any, test_targets: Any, loss: Loss = "squared error"
    ) -> Any:
        """From arrays: combinations (n × C) and answers (n), as `recombine.kernels.Problem` holds them."""
        return cls(
            levels=tuple(int(n) for n in levels),
            seen=tuple(map(tuple, np.asarray(train).tolist())),
            answers=tuple(np.asarray(targets, dtype=float).tolist()),
            asked=tuple(map(tuple, np.asarray(test).tolist())),
            asked_answers=tuple(np.asarray(test_targets, dtype=float).tolist()),
            loss=loss,
        )

    def model_post_init(self, _context: Any) -> None:
        if len(self.seen) != len(self.answers) or len(self.asked) != len(self.asked_answers):
            raise InputError("a symbolic task needs one answer per combination, for those seen and for those asked.")
        if self.loss == "logistic" and any(abs(y) != 1 for y in (*self.answers, *self.asked_answers)):
            raise InputError("the logistic loss needs answers +1 and −1 only.")
        both = set(self.seen) & set(self.asked)
        if both:
            raise InputError(f"the combination {min(both)} is both seen and asked; ask for it or train on it.")

    @cached_property
    def space(self) -> FactorSpace:
        return FactorSpace(tuple(categorical(f"item_{c + 1}", n) for c, n in enumerate(self.levels)))

    @cached_property
    def train(self) -> Explicit:
        return Explicit(self.space, self.seen)

    @cached_property
    def test(self) -> Explicit:
        return Explicit(self.space, self.asked)

    @cached_property
    def _answers(self) -> Tensor:
        """The answer at every place of the grid; not a number where the task has none."""
        table = torch.full((self.space.size,), float("nan"))
        for codes, answers in ((self.seen, self.answers), (self.asked, self.asked_answers)):
            if codes:
                table[torch.as_tensor(self.space.index(np.array(codes)))] = torch.tensor(answers, dtype=table.dtype)
        return table

    def answer(self, points: Tensor) -> Tensor:
        """The answers (… × 1) at points (… × C)."""
        # A sum, not a product of matrices: there is none for whole numbers on a GPU.
        places = (points * torch.as_tensor(self.space._strides, device=points.device)).sum(-1)
        return self._answers.to(points.device)[places].unsqueeze(-1)

    def examples(self, points: Tensor, draws: Draws) -> tuple[Tensor, Tensor]:
        hot = [torch.nn.functional.one_hot(points[..., c], n) for c, n in enumerate(self.levels)]
        return torch.cat(hot, -1).float(), self.answer(points)

    def losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        return logistic(outputs, targets) if self.loss == "logistic" else squared_error(outputs, targets)

    def scores(self, outputs: Tensor, targets: Tensor) -> Mapping[str, Tensor]:
        """The output itself, its target, and whether both lie on the same side of zero."""
        right = (outputs * targets > 0).to(outputs.dtype)
        return {"output": outputs[:, 0], "target": targets[:, 0], "accuracy": right[:, 0]}


def logistic(outputs: Tensor, targets: Tensor) -> Tensor:
    """Mean of log(1 + exp(−target · output)) over all but the batch dimension; targets are +1 and −1."""
    return torch.nn.functional.softplus(-outputs * targets).flatten(1).mean(-1)
