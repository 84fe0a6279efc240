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
    """Take ``measure`` at the steps ``at`` (0 is before training; negative numbers count from the end, −1 the end)."""

    name: str
    measure: Measure
    at: tuple[int, ...] = (-1,)

    def steps(self, total: int) -> set[int]:
        """The steps of a training of ``total`` steps at which the measure is taken."""
        for step in self.at:
            if not -total - 1 <= step <= total:
                raise InputError(
                    f"{self.name!r} is to be recorded at step {step}, but training has the steps 0 to {total}."
                )
        return {s if s >= 0 else total + 1 + s for s in self.at}


def powers_of_two(last: int) -> tuple[int, ...]:
    """0, 1, 2, 4 … up to and including ``last``."""
    steps = [0, 1]
    while steps[-1] * 2 < last:
        steps.append(steps[-1] * 2)
    return (*steps, last) if last > 1 else (0, 1)[: last + 1]
