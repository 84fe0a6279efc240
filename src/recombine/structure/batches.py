"""The problems of each step, drawn by (seed, step): what is trained beside a mask does not change them."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from recombine.tasks import Draws, Problems
from recombine.training.stack import cast


class Batches:
    """Batches for masks trained together. Where all have the same problems and seed, there is one batch for all."""

    def __init__(
        self,
        sets: Sequence[Problems],
        seeds: Sequence[int],
        size: int,
        device: torch.device,
        dtype: torch.dtype,
        purpose: str = "problems",
    ) -> None:
        self.size, self.device, self.purpose = size, device, purpose
        self.members = [(id(problems), seed) for problems, seed in zip(sets, seeds, strict=True)]
        self.shared = len(set(self.members)) == 1
        # One copy on the device of each set, whatever number of masks is trained on it.
        self.tensors = {
            id(problems): (
                *(cast(part.to(device), dtype) for part in problems.parts),
                problems.targets.to(device),
            )
            for problems in sets
        }

    def block(self, steps: range) -> tuple[Tensor, ...]:
        """Input tensors and targets: (steps × batch × …), or (steps × masks × batch × …) where they differ."""
        drawn = {member: self._draw(*member, steps) for member in dict.fromkeys(self.members)}
        if self.shared:
            return drawn[self.members[0]]
        columns = [drawn[member] for member in self.members]
        return tuple(torch.stack(parts, 1) for parts in zip(*columns, strict=True))

    def _draw(self, which: int, seed: int, steps: range) -> tuple[Tensor, ...]:
        tensors = self.tensors[which]
        draws = Draws.of([0], steps, seed, self.device)(self.purpose)
        rows = draws.shuffled(len(tensors[-1]), self.size)[:, 0]
        return tuple(part[rows] for part in tensors)
