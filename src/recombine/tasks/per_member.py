"""A task of each member's own: the same space and rule, with what the task draws once drawn anew for every member.

Where a task has one choice of pictures, or one map from digits to values, members that share it differ by their start
alone, and an interval over them says nothing about other choices. Here member m learns the task with a seed that is a
hash of (seed, m), so what it learns does not depend on who is trained beside it.
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import torch
from torch import Tensor

from recombine.errors import InputError
from recombine.tasks.around import Around
from recombine.tasks.draws import Draws, key
from recombine.tasks.task import Task


class PerMember(Around):
    """``task`` with another ``seed`` for each member: `of` gives a member's own. What is measured along training is
    measured member by member, each on its own task."""

    kind: ClassVar[str] = "per-member"

    numbered: bool = False
    """Member m has the task's seed + m, as authors number theirs, instead of a hash."""

    def of(self, member: int) -> Task:
        """The task that a member learns."""
        if member not in self._own:
            if "seed" not in getattr(type(self.task), "model_fields", ()):
                raise InputError(f"{type(self.task).__name__} has no seed, so members cannot each have one.")
            seed: int = self.task.seed  # type: ignore[attr-defined]
            mine = seed + member if self.numbered else key(seed, member, "task") >> 33
            self._own[member] = self.task.replace(seed=mine)  # type: ignore[attr-defined]
        return self._own[member]

    @cached_property
    def _own(self) -> dict[int, Task]:
        return {}

    def batch(self, draws: Draws, size: int) -> tuple[Tensor, Tensor]:
        # Read at once: a GPU is waited for at every number that is read from it.
        members = torch.as_tensor(draws.members).tolist()
        parts = [self.of(member).batch(draws.one(i), size) for i, member in enumerate(members)]
        inputs, targets = zip(*parts, strict=True)
        return torch.cat(inputs, dim=1), torch.cat(targets, dim=1)

    def examples(self, points: Tensor, draws: Draws) -> tuple[Tensor, Tensor]:
        raise InputError("each member has a task of its own: ask a member about task.of(member).")
