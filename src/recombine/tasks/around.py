"""A task around another, with its space, its supports and its scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from torch import Tensor

from recombine.description import Description
from recombine.space import FactorSpace
from recombine.support import Support
from recombine.tasks.task import Task


class Around(Description, Task):
    """Asks what ``task`` asks; how it is shown is each kind's own."""

    kind: ClassVar[str]

    task: Task

    @property
    def space(self) -> FactorSpace:
        return self.task.space

    @property
    def train(self) -> Support:
        return self.task.train

    @property
    def test(self) -> Support:
        return self.task.test

    def losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        return self.task.losses(outputs, targets)

    def scores(self, outputs: Tensor, targets: Tensor) -> Mapping[str, Tensor]:
        return self.task.scores(outputs, targets)
