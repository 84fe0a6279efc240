"""Whether shifts of blocks follow a line along their order: a number then says it, of values beyond them too.

    y = effects + a line along the order + a shift of each block + ε,    F of the line beside effects, and of the shifts
    beside both

The line has to be beyond chance, and what shifts add to it must not be. Where blocks jump, or the line bends, it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recombine.checks.columns.anew import beside
from recombine.checks.exact.modular import Floats, Ints
from recombine.support.table import Target

CHANCE = 0.001
"""p-value below which answers follow a line."""
BESIDE = 0.05
"""p-value from which shifts add nothing to it."""
MOST_WORK = 30_000_000
"""Rows × columns up to which this is looked at."""
PARTS = 8
"""Shifts of which it is told where rows have a number of their own."""


def steady(codes: Ints, effects: Floats, order: Floats, target: Target, others: Sequence[Floats] = ()) -> float | None:
    """The p-value of the line, where shifts follow it; None where they do not, or it cannot be told. ``effects``: the
    columns of the model that is fitted; ``others``: what else shifts answers."""
    place = np.unique(order, return_inverse=True)[1].ravel()
    if 2 * (int(place.max()) + 1) > len(place):  # such as numbers of rows
        place = np.argsort(np.argsort(order, kind="stable")) * PARTS // len(order)
    cell = np.unique(codes, axis=0, return_inverse=True)[1].ravel()
    if int(place.max()) < 2 or len(codes) * (int(cell.max()) + int(place.max()) + 2) > MOST_WORK:
        return None
    line, shifts = (
        (order - order.mean())[:, None] / max(float(order.std()), 1e-300),
        np.eye(int(place.max()) + 1)[place],
    )
    for model in (np.eye(int(cell.max()) + 1)[cell], effects):
        base = np.hstack([model, *others])
        along, left = beside(base, line, target), beside(np.hstack([base, line]), shifts, target)
        if along is not None and left is not None:
            return along if along < CHANCE and left >= BESIDE else None
    return None
