"""What pairs learnt with the cells that are left out.

Cells are left out at the variances that all cells set (`effects`). A variance for each of many pairs of factors knows
these answers: of so many pairs some always seem to act. So in ten parts, each left out at once, the variances are
learnt anew too:

    charge = Σ e² anew / Σ e² kept,   and the same of e / sd

What it comes to is counted in degrees of freedom only where that would take too long.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recombine.checks.effects import Effects
from recombine.checks.modular import Floats

PARTS = 10
MOST_WORK = 10_000_000
"""Cells × effects × the fewer of both up to which variances are learnt anew."""


class Relearnt(NamedTuple):
    """How many times larger squared errors of cells left out are where the variances are learnt without them."""

    errors: float
    surprises: float
    """The same of errors in standard deviations."""


def relearnt(fit: Effects) -> Relearnt | None:
    """None where it takes too long."""
    cells, effects = fit.design.shape
    if cells * effects * min(cells, effects) > MOST_WORK:
        return None
    order, found = np.random.default_rng(0).permutation(cells), list[Floats]()
    for part in (np.sort(order[i::PARTS]) for i in range(min(PARTS, cells))):
        kept = fit.left_out([np.append(cell, np.setdiff1d(part, cell)) for cell in part])
        for place, sd in (fit.learnt_without(part), kept):
            off = np.square(fit.y[part] - place)
            found.append(np.array([off.sum(), (off / np.maximum(sd, 1e-300) ** 2).sum()]))
    anew, kept_all = sum(found[::2]), sum(found[1::2])
    errors, surprises = np.maximum(anew / np.maximum(kept_all, 1e-300), 1.0)
    return Relearnt(float(errors), float(surprises))
