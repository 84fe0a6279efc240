"""Closed forms that the solver must agree with, for tasks that no page of ours asks about.

Exposure: two binary items, one of which decides the label; kappa_0 = 0, kappa_2 = 1, kappa_1 = k = S(1;2), no bias.
Every training point is a support vector for k <= 1/2, so least squares and the hard margin agree (Lippl & Stachenfeld
2025, partial-exposure figure). Relations between two items: equivalence, which no kernel can extend, and order, which
every kernel extends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from recombine.kernels.closed_forms.leak import check_salience
from recombine.kernels.moebius import FloatArray


def invariance_margin(salience: ArrayLike) -> FloatArray:
    """k / (1 - k) on (., +) after training (-,-) = -1 and (+,-) = +1."""
    k = check_salience(salience)
    return k / (1 - k)


def partial_exposure_margin(salience: ArrayLike) -> FloatArray:
    """2k^2 / (1 - 2k^2) on (+,+) after training (-,+) = -1 as well."""
    k = check_salience(salience)
    return 2 * k**2 / (1 - 2 * k**2)


@dataclass(frozen=True, eq=False)
class EquivalenceOutputs:
    """f on unseen pairs: both items of the first class, both of the second, one of each (that should be +, +, -)."""

    both_first: FloatArray
    both_second: FloatArray
    different: FloatArray


def transitive_equivalence_outputs(
    salience: ArrayLike, classes: Sequence[int], anchors: Sequence[int]
) -> EquivalenceOutputs:
    """f(i,j) = a [(c_i + c_j) d - 2 a A_W] / (a p + c),  a = S(1;2), c = 1 - 2a; exactly 0 when d = 0.

    Least squares (kappa_0 = 0, no bias) on the pairs of n items with at least one of p anchors, target c_i
    c_j with c_i = +1 in the first class and -1 in the second; d and D are the differences between the classes
    in anchors and in items. The totals of the dual over all pairs, N, and over pairs whose first item is an
    anchor, A_W, solve

        a p N + (a n + c) A_W             = d D
        (a p + c) N + (a (n - 2p) - c) A_W = d (D - d).

    The output on different classes is the mean of the other two, so no salience and no anchors solve
    equivalence.
    """
    a = check_salience(salience)
    n, p = sum(classes), sum(anchors)
    c = 1 - 2 * a
    d, total = anchors[0] - anchors[1], classes[0] - classes[1]
    system = np.stack([np.stack([a * p, a * n + c], -1), np.stack([a * p + c, a * (n - 2 * p) - c], -1)], -2)
    goal = np.broadcast_to(np.array([d * total, d * (total - d)], dtype=np.float64), (*a.shape, 2))
    anchored = np.linalg.solve(system, goal[..., None])[..., 1, 0]
    shared = -2 * a * anchored
    scale = a / (a * p + c)
    return EquivalenceOutputs(scale * (shared + 2 * d), scale * (shared - 2 * d), scale * shared)


def transitive_ordering_margins(salience: ArrayLike, items: int = 7) -> FloatArray:
    """r_j - r_i with r = S L (S L + (1-2S) I)^-1 rank, L the Laplacian of the path; shape (..., items, items).

    Least squares (kappa_0 = 0, no bias) on adjacent pairs in both orders, target the sign of j - i. The
    training graph is two paths, on which the signless Laplacian is L up to signs, with eigenvalues 2 - 2
    cos(pi k / n) and cosine modes. Entry (i, j) is the output on the pair; it is the margin of unseen pairs
    with j > i + 1.
    """
    s = check_salience(salience)[..., None]
    ranks = np.arange(items)
    waves = np.cos(np.pi * np.outer(ranks + 0.5, np.arange(1, items)) / items) * np.sqrt(2.0 / items)
    passed = s * (2 - 2 * np.cos(np.pi * np.arange(1, items) / items))
    learnt = (passed / (passed + 1 - 2 * s) * (ranks @ waves)) @ waves.T
    return np.asarray(learnt[..., None, :] - learnt[..., :, None])


def margins_by_distance(margins: ArrayLike) -> FloatArray:
    """Mean over pairs (i, i + t) of an (..., n, n) table, for t = 2 … n-1; shape (..., n-2)."""
    table = np.asarray(margins, dtype=np.float64)
    distances = range(2, table.shape[-1])
    return np.stack([np.diagonal(table, t, axis1=-2, axis2=-1).mean(axis=-1) for t in distances], axis=-1)
