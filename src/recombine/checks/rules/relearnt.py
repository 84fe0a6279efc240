"""What pairs learnt with the cells that are left out.

Cells are left out at the variances that all cells set (`effects`). The variances of many pairs of factors know these
answers: of so many pairs some always seem to act. So in ten parts, each left out at once, they are learnt anew too:

    charge = Σ e² anew / Σ e² kept,   and ranges are √charge times as wide
"""

from __future__ import annotations

import numpy as np

from recombine.checks.exact.modular import Floats
from recombine.checks.rules.effects import Effects

PARTS = 10
MOST_WORK = 10_000_000
"""Cells × effects × the fewer of both up to which variances are learnt anew."""


def relearnt(fit: Effects) -> float | None:
    """How many times larger squared errors of cells left out are where the variances are learnt without them; None
    where that takes too long."""
    cells, effects = fit.design.shape
    if cells * effects * min(cells, effects) > MOST_WORK:
        return None
    order, anew, kept = np.random.default_rng(0).permutation(cells), 0.0, 0.0
    for part in (order[i::PARTS] for i in range(min(PARTS, cells))):
        anew += _squared(fit.y[part] - fit.learnt_without(part)[0])
        beside = np.sort(part)
        kept += _squared(fit.y[part] - fit.left_out([np.append(cell, beside[beside != cell]) for cell in part])[0])
    return max(anew / max(kept, 1e-300), 1.0)


def _squared(errors: Floats) -> float:
    return float(errors @ errors)
