"""Conjunction-wise additivity: is the output on unseen combinations a sum of values of seen sub-combinations?

Kernel machines obey f(z) = Σ_J f_J(z_J) with f_J = 0 for every z_J that training never showed (Lippl & Stachenfeld
2025, Thm 4.2), so the full conjunction is gone on unseen combinations. The paper fits one regression to seen and unseen
combinations together, where each seen one has an indicator of its own and is matched by construction; here the unseen
ones stand alone.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recombine.errors import InputError
from recombine.measures._responses import FloatArray, responses
from recombine.space import Codes
from recombine.tasks import Task
from recombine.training import Ensemble

if TYPE_CHECKING:
    import polars as pl

FLAT = 1e-12
"""Outputs whose variance is below this share of their mean square are constant, up to rounding."""


def additivity(ensemble: Ensemble, task: Task, count: int = 16, seed: int = 0, trained: bool = False) -> pl.DataFrame:
    """Share of the variance over unseen combinations that seen sub-combinations explain. One row per member.

    ``additivity`` is R² in sample; ``adjusted`` corrects it for the freedom of the fit, 1 − (1 − R²)(n − 1)/(n − r),
    and is null where the fit could match anything (r = n unseen combinations). A constant output is additive: 1.
    ``trained``: combinations are shown by what training shows of their parts."""
    import polars as pl

    found = responses(ensemble, task, None, count, seed, trained)
    unseen = ~found.seen
    if not unseen.any():
        raise InputError("additivity is asked of unseen combinations, and this task has none.")
    design = seen_conjunctions(found.codes[unseen], found.codes[found.seen])
    raw, adjusted, rank = explained(found.outputs[:, unseen], design)
    size = int(unseen.sum())
    return pl.DataFrame(
        {
            "member": np.array(ensemble.members, dtype=np.int32),
            "additivity": raw,
            "adjusted": [None] * len(ensemble) if adjusted is None else adjusted.tolist(),
            "combinations": np.full(len(ensemble), size, dtype=np.int32),
            "rank": np.full(len(ensemble), rank, dtype=np.int32),
        },
        schema_overrides={"adjusted": pl.Float64},
    )


def effects(ensemble: Ensemble, task: Task, count: int = 16, seed: int = 0) -> pl.DataFrame:
    """Mean |f_J| of the ANOVA effects over the whole grid, f_J(z_J) = Σ_{I⊆J} (−1)^{|J|−|I|} E[f | z_I].

    How much each conjunction weighs: one row per member and conjunction ("1", "1·2", …; the mean itself is ""). The
    effects sum to zero over each of their components, which fixes what a regression on indicators leaves open. Every
    combination of the space is asked for, so the task must have an answer to each."""
    import polars as pl

    grid = task.space.grid()
    outputs = responses(ensemble, task, grid, count, seed).outputs
    parts = anova(outputs.reshape(len(ensemble), *task.space.shape))
    names = {subset: "·".join(str(c + 1) for c in subset) for subset in parts}
    weights = {names[s]: np.abs(part).reshape(len(ensemble), -1).mean(axis=1) for s, part in parts.items()}
    return pl.DataFrame(
        {
            "member": [m for m in ensemble.members for _ in weights],
            "conjunction": list(weights) * len(ensemble),
            "weight": [float(weights[name][i]) for i in range(len(ensemble)) for name in weights],
        },
        schema={"member": pl.Int32, "conjunction": pl.String, "weight": pl.Float64},
    )


def seen_conjunctions(asked: Codes, seen: Codes) -> FloatArray:
    """Indicators (asked × columns) of every sub-combination that occurs in both sets, the empty one first."""
    columns: list[NDArray[np.bool_]] = [np.ones(len(asked), dtype=bool)]
    components = range(asked.shape[1])
    for order in range(1, asked.shape[1] + 1):
        for subset in combinations(components, order):
            shown = {tuple(row) for row in seen[:, subset].tolist()}
            both = sorted({tuple(row) for row in asked[:, subset].tolist()} & shown)
            columns += [(asked[:, subset] == np.array(row)).all(axis=1) for row in both]
    return np.stack(columns, axis=1).astype(np.float64)


def explained(outputs: FloatArray, design: FloatArray) -> tuple[FloatArray, FloatArray | None, int]:
    """R² and adjusted R² of outputs (members × n) on a design (n × columns), and the rank of the design."""
    basis, values, _ = np.linalg.svd(design, full_matrices=False)
    rank = int((values > 1e-10 * values[0]).sum())
    basis = basis[:, :rank]
    left = outputs - (outputs @ basis) @ basis.T
    spread = (outputs - outputs.mean(axis=1, keepdims=True)).var(axis=1) * outputs.shape[1]
    flat = spread <= FLAT * np.square(outputs).sum(axis=1)
    unexplained = np.divide(np.square(left).sum(axis=1), spread, out=np.zeros(len(outputs)), where=~flat)
    size = outputs.shape[1]
    adjusted = None if rank >= size else 1 - unexplained * (size - 1) / (size - rank)
    return 1 - unexplained, adjusted, rank


def anova(table: FloatArray) -> dict[tuple[int, ...], FloatArray]:
    """The effects of a full table (members × n_1 × … × n_C), each of the shape (members × 1 or n_c …)."""
    components = table.ndim - 1
    parts: dict[tuple[int, ...], FloatArray] = {}
    for order in range(components + 1):
        for subset in combinations(range(components), order):
            away = tuple(c + 1 for c in range(components) if c not in subset)
            mean = table.mean(axis=away, keepdims=True) if away else table
            below = [parts[s] for k in range(order) for s in combinations(subset, k)]
            parts[subset] = mean - sum(below) if below else mean
    return parts
