"""Response surfaces: numbers that act by lines, squares and products, seen at a few designed points.

    y = b₀ + Σ bᵢ xᵢ + Σ bᵢᵢ xᵢ² + Σ bᵢⱼ xᵢ xⱼ,   (k+1)(k+2)/2 terms for k numbers (Box & Wilson 1951)

A central composite or Box–Behnken design has hardly more points than terms. To leave out all that is near an asked
value, as is done elsewhere, would leave too few, and without its centre alone a design on a circle loses a term. So
each point is left out by itself as if all had the same leverage (generalised cross-validation, Craven & Wahba 1979),
and what it errs by is brought to the leverage of the asked ones. The surface takes part where its squares and products
explain more than lines do, beyond chance: of a few points some term always seems to.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import fdtrc

from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.rules.seen_cells import Cells
from recombine.checks.rules.stand_ins import StandIns
from recombine.checks.rules.weighing import worth

LEVEL, CLEAR = 0.05, 0.01
SPARE = 2
"""Points beyond the terms from which a surface is tried."""
FEW = 3
"""Times as many points as terms from which there is enough to leave out what is near, as elsewhere."""


def terms(cells: Cells, codes: Ints) -> Floats | None:
    """Constant, lines, squares and products at these points; None where not all factors are numbers of three values."""
    curves = [cells.curves.get(k) for k in range(len(cells.shape))]
    if len(curves) < 2 or any(curve is None or len(curve.seen) < 3 for curve in curves):
        return None
    x = np.stack([curve.unit[codes[:, k]] for k, curve in enumerate(curves) if curve is not None], axis=1) * 2 - 1
    products = [x[:, i] * x[:, j] for i in range(x.shape[1]) for j in range(i, x.shape[1])]
    return np.concatenate([np.ones((len(x), 1)), x, np.stack(products, axis=1)], axis=1)


def surface_of(cells: Cells) -> Cells | None:
    """The same cells with squares beside the lines, where all terms can be estimated and something speaks for them."""
    x = terms(cells, cells.codes) if cells.numeric else None
    if x is None or len(x) < x.shape[1] + SPARE or np.linalg.matrix_rank(x) < x.shape[1] or _chance(cells, x) > LEVEL:
        return None
    return replace(cells, curves={k: curve.squared() for k, curve in cells.curves.items()})


def beats_constant(cells: Cells) -> bool:
    """Whether the surface explains something beyond chance: of so few points, left out, none tells."""
    x = terms(cells, cells.codes)
    return x is not None and _chance(cells, x, 1) < CLEAR


def _chance(cells: Cells, x: Floats, lines: int = 0) -> float:
    """p-value of squares and products beside lines, or so many first terms (F test, repeated rows included)."""
    spare = float(cells.rows.sum()) - len(x)
    root, lines, left = np.sqrt(cells.rows), lines or 1 + len(cells.shape), []
    if cells.weights is not None:
        repeated = (cells.pure * spare, spare) if cells.pure else (0.0, 0.0)
        root = np.sqrt(worth(x, cells.answers, cells.weights, *repeated))
    for terms in (x[:, :lines], x):
        basis = np.linalg.qr(root[:, None] * terms)[0]
        off = root * cells.answers
        left.append(float(((off - basis @ (basis.T @ off)) ** 2).sum()))
    noise, freedom = left[1] + (cells.pure or 0.0) * spare, len(x) - x.shape[1] + spare
    more = x.shape[1] - lines
    return float(fdtrc(more, freedom, (left[0] - left[1]) / more / max(noise / freedom, 1e-300)))


def designed(cells: Cells) -> bool:
    """Whether there are points for a surface and too few to leave out what is near."""
    x = terms(cells, cells.codes) if cells.numeric else None
    return x is not None and x.shape[1] + SPARE <= len(x) < FEW * x.shape[1]


def each_alone(cells: Cells, asked: Ints) -> StandIns | None:
    """Every point of a design by itself in place of the asked ones."""
    if not designed(cells):
        return None
    each = np.arange(len(cells.codes))
    return StandIns([each[[i]] for i in each], each, np.arange(len(asked)))


def outside(cells: Cells, asked: Ints) -> np.ndarray:
    """Which asked points lie beyond the seen ones though each of their numbers lies between seen values: their variance
    under the surface is larger than that of any seen point."""
    x, new = terms(cells, cells.codes), terms(cells, asked)
    if x is None or new is None:
        return np.zeros(len(asked), dtype=bool)
    inverse = np.linalg.pinv(x.T @ x)
    here, there = (np.einsum("ij,jk,ik->i", at, inverse, at) for at in (x, new))
    return np.asarray(there > here.max() * (1 + 1e-9))
