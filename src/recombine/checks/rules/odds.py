"""Classes whose effects add up on log-odds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import expit

from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.rules.effects import AT_ONCE, LEAST, Effects
from recombine.checks.rules.logits import softmax
from recombine.checks.rules.seen_cells import Cells

NEWTON = 12
SWEEPS = 40
"""The same of several classes, each by itself."""
REFITTED = 2_000_000
"""Cells × effects² × classes up to which a fit of log-odds is done again for every group left out."""
LARGEST_LOGIT = 25.0
"""Variance up to which effects on a log-odds scale may grow: cells of one class alone would let them grow for ever."""


class Odds:
    """Classes: effects add up on log-odds, of two classes those of the second, of more those of all: the chance of a
    class is exp η over the sum of all (iterated least squares)."""

    def __init__(self, name: str, cells: Cells, order: int) -> None:
        self.name, self._cells = name, cells
        self._targets = cells.answers[:, 1:] if cells.answers.shape[1] == 2 else cells.answers
        self.fits = self._fit(order)
        self.variances = len(self.fits[0].blocks)
        self._again = len(cells.codes) * len(self.fits[0].beta) ** 2 * len(self.fits) < REFITTED

    def _fit(self, order: int) -> list[Effects]:
        cells, classes = self._cells, self._targets.shape[1]
        base = np.clip(np.average(self._targets, axis=0, weights=cells.rows), 0.02, 0.98)
        eta = np.tile(np.log(base / (1 - base) if classes == 1 else base), (len(self._targets), 1))
        known, several = np.ones(1), classes > 1
        whole = Effects(cells.codes, cells.shape, eta[:, 0], 1 / cells.rows, order, known, cells.curves, fixed=several)
        for _ in range(SWEEPS if several else NEWTON):
            working, weight = _working(eta, self._targets)
            fits = [whole.anew(z, 1 / (w * cells.rows), known) for z, w in zip(working.T, weight.T, strict=True)]
            beta = _centred(np.stack([fit.beta for fit in fits], axis=1))
            known = np.minimum(_in_common(fits, beta, base) if several else fits[0].theta, LARGEST_LOGIT)
            moved = fits[0].design @ beta
            still, eta = np.abs(moved - eta).max() < 1e-3, np.clip(moved, -8, 8)
            if still:
                break
        return fits

    def answer(self, codes: Ints) -> Floats:
        return _shares(np.stack([fit.answers(codes) for fit in self.fits], axis=1))

    def left_out(self, groups: Sequence[Ints]) -> Floats:
        """Fitted again where that is cheap, else one Newton step from the whole fit; the blocks' variances stay."""
        if self._again:
            names = [np.sort(group).tobytes() for group in groups]
            once = dict(zip(names, groups, strict=True))  # of few cells the same are left out again and again
            distinct, step = list(once.values()), max(1, AT_ONCE // self.fits[0].dense.size)
            parts = (distinct[at : at + step] for at in range(0, len(distinct), step))
            found = dict(zip(once, np.concatenate([self._refitted(part) for part in parts]), strict=True))
            first = self.fits[0].dense[[int(group[0]) for group in groups]]
            return _shares((first[:, None, :] @ np.array([found[name] for name in names]))[:, 0])
        return _shares(np.stack([fit.left_out(groups)[0] for fit in self.fits], axis=1))

    def _refitted(self, groups: Sequence[Ints]) -> Floats:
        """Effects by a fit without each group (groups × effects × classes), all of them stepped together."""
        x, rows = self.fits[0].dense, np.tile(self._cells.rows.astype(np.float64), (len(groups), 1))
        for kept, group in zip(rows, groups, strict=True):
            kept[group] = 0.0
        beta = np.tile(_centred(np.stack([fit.beta for fit in self.fits], axis=1)), (len(groups), 1, 1))
        left, diagonal = np.arange(len(groups)), np.arange(x.shape[1])
        for _ in range(NEWTON):
            before = beta[left]
            working, weight = _working(np.clip(x @ before, -8, 8), self._targets)
            moved = np.empty_like(before)
            for c, fit in enumerate(self.fits):
                weighted = (x * (weight[:, :, c] * rows[left])[:, :, None]).transpose(0, 2, 1)
                system = weighted @ x
                system[:, diagonal, diagonal] += fit.precision()
                moved[:, :, c] = np.linalg.solve(system, weighted @ working[:, :, c, None])[:, :, 0]
            beta[left] = moved = _centred(moved)
            left = left[np.abs(moved - before).max(axis=(1, 2)) >= 1e-3]
            if not len(left):
                break
        return beta


def _working(eta: Floats, share: Floats) -> tuple[Floats, Floats]:
    """Answers and weights of the least-squares problem that one Newton step solves. Of several classes each by itself:
    with weights p what these have in common adds up to nothing, as (diag p − p pᵀ) diag(1/p) r = r where Σ r = 0."""
    if eta.shape[-1] == 1:
        p = expit(eta)
        weight = np.maximum(p * (1 - p), 1e-3)
    else:
        p = softmax(eta)
        weight = np.maximum(p, 1e-3)
    return eta + (share - p) / weight, weight


def _centred(beta: Floats) -> Floats:
    """The smallest effects with the same chances: what all classes have in common changes none."""
    return beta if beta.shape[-1] == 1 else beta - beta.mean(axis=-1, keepdims=True)


def _in_common(fits: Sequence[Effects], beta: Floats, share: Floats) -> Floats:
    """The variance of each block's effects on all classes. These add to zero, so of what a class settles by itself its
    share is not its own: Σ (1 − p_c) is one class less, as Σ n p_c (1 − p_c) is what few rows n tell."""
    sums = np.add.reduceat(np.square(beta).sum(axis=1), np.cumsum([1, *fits[0].size[:-1]]))
    settled = np.sum([(1 - p) * fit.settled for p, fit in zip(share, fits, strict=True)], axis=0)
    return np.asarray(np.maximum(sums / np.maximum(settled, 1e-6), LEAST))


def _shares(eta: Floats) -> Floats:
    """Chances of all classes."""
    if eta.shape[1] == 1:
        return np.concatenate([1 - expit(eta), expit(eta)], axis=1)
    return softmax(eta)
