"""Measures taken along training: which, and at which steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recombine.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from recombine.tasks import Task
    from recombine.training.ensemble import Ensemble

Measure = Callable[["Ensemble", "Task"], "pl.DataFrame"]


@dataclass(frozen=True)
class Record:
    """Take ``measure`` at the steps ``at`` (0 is before training; negative numbers count from the end, −1 the end).

    Examples:
        >>> import recombine as rc
        >>> import torch
        >>> space = rc.FactorSpace.of(shape=2, colour=3)
        >>> seen = rc.Explicit(space, [(0, 0), (0, 1), (1, 1), (1, 2)])
        >>> codes = torch.as_tensor(space.sample(120, seed=0))
        >>> pictures = torch.nn.functional.one_hot(codes[:, 0], 2).float()
        >>> task = rc.FixedTask(space, seen, ~seen, pictures, codes[:, 0], codes, loss=torch.nn.CrossEntropyLoss())
        >>> from recombine.measures import per_combination
        >>> scores = rc.Record("scores", per_combination, at=(0, 5, -1))
        >>> ensemble = rc.train(rc.Perceptron(widths=(2, 8, 2)), task, members=2, steps=10, records=[scores])
    """

    name: str
    measure: Measure
    at: tuple[int, ...] = (-1,)

    def steps(self, total: int) -> set[int]:
        """The steps of a training of ``total`` steps at which the measure is taken."""
        for step in self.at:
            if not -total - 1 <= step <= total:
                there = f"training has the steps 0 to {total}" if total else "with steps=0 nothing is trained"
                raise InputError(f"{self.name!r} is to be recorded at step {step}, but {there}.")
        return {s if s >= 0 else total + 1 + s for s in self.at}


def powers_of_two(last: int) -> tuple[int, ...]:
    """0, 1, 2, 4 … up to and including ``last``."""
    steps = [0, 1]
    while steps[-1] * 2 < last:
        steps.append(steps[-1] * 2)
    return (*steps, last) if last > 1 else (0, 1)[: last + 1]
