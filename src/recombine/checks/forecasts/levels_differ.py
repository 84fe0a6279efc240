"""Do classes depend on any factor's levels? Answers of seen cells against the same ones dealt out to the cells anew.

    T = eᵀ K (K + 1)⁻¹ e,   K = r/10 Σ_b X_b X_bᵀ n / tr X_b X_bᵀ,   e_c = √rows_c (shares of classes − those of all)

with X_b the levels of a factor b (of a number its line and bends) and r the mean rows: what all factors explain
together where the effects of each vary a tenth as much as single rows, held against what it is over the deals: exact
where cells have equally many rows, whatever the cells are like. Each factor by itself would have to tell its levels
apart amid all that the others do. Of pairs of factors, few of which act, it is the largest (T_b − mean) / spread,
T_b = Σ_l (Σ_{c in l} e_c)² / n_l. Of few answers, right or wrong, some rule always looks good on those left out, and a
rule that is good often does not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.sparse import csr_array, hstack

from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.rules.effects import Block, blocks_of
from recombine.checks.rules.seen_cells import Cells

MOST = 2_000
"""Cells that are looked at, drawn where there are more."""
DEALS, FEWEST, MOST_NUMBERS = 999, 199, 4_000_000
"""Deals, as far as all of them are at most so many numbers, and at least."""
VARIES = 0.1
"""Variance of a factor's effects over that of single rows, where all are looked at together."""


def by_chance(cells: Cells, order: int = 1) -> float:
    """How often answers that have nothing to do with the levels, or pairs of levels, would differ as much by them."""
    rng = np.random.default_rng(0)
    cells = _some(cells, rng)
    codes, shares, rows = cells.codes, cells.answers, cells.rows
    blocks = [b for b in blocks_of(codes, cells.shape, order, cells.curves) if len(b.subset) == order]
    if not blocks:
        return 1.0
    off = np.sqrt(rows)[:, None] * (shares - np.average(shares, axis=0, weights=rows))
    off = off[:, 1:] if off.shape[1] == 2 else off
    off -= off.mean(axis=0)
    deals = _deals(off.size)
    dealt = np.argsort(rng.random((deals, len(off))), axis=1)
    answers = np.concatenate([off[None], off[dealt]]).transpose(1, 0, 2).reshape(len(off), -1)
    if order == 1:
        told = _together(blocks, codes, answers, VARIES * float(rows.mean())).reshape(deals + 1, -1).sum(axis=1)
    else:
        found = (_between(block, codes, answers).reshape(deals + 1, -1).sum(axis=1) for block in blocks)
        told = np.max([_standing(one) for one in found], axis=0)
    return _as_far(told)


def after_all(cells: Cells, chance: float) -> float:
    """How likely, at least, nothing acts where this many deals differ as much by levels as the answers, if either was
    as likely beforehand: b / (1 + b) with b = −e p log p (Sellke, Bayarri and Berger 2001); nil where no deal does."""
    count, classes = min(len(cells.codes), MOST), cells.answers.shape[1]
    p = chance - 1 / (1 + _deals(count * (classes if classes > 2 else 1)))  # without the answers themselves
    odds = -math.e * p * math.log(p) if 1e-9 < p < 1 / math.e else float(p > 1e-9)
    return odds / (1 + odds)


def all_alike(cells: Cells) -> float:
    """How often rows of the same chances everywhere would differ as much from cell to cell, by Pearson's χ²: whatever
    makes cells differ, something does. 1 where each has a single row, which nothing tells of."""
    if (cells.rows <= 1).all():
        return 1.0
    rng = np.random.default_rng(0)
    cells = _some(cells, rng)
    chances = np.average(cells.answers, axis=0, weights=cells.rows)
    rows = np.rint(cells.rows).astype(np.int64)
    drawn = rng.multinomial(rows, chances / chances.sum(), (_deals(cells.answers.size), len(rows)))
    counts = np.concatenate([(cells.answers * cells.rows[:, None])[None], drawn])
    expected = cells.rows[:, None] * (counts.sum(axis=1) / cells.rows.sum())[:, None, :]
    off = np.square(counts - expected) / np.maximum(expected, 1e-300)
    return _as_far(off.sum(axis=(1, 2)))


def _some(cells: Cells, rng: np.random.Generator) -> Cells:
    """Cells that are looked at: all, or some drawn."""
    count = len(cells.codes)
    return cells.take(np.sort(rng.choice(count, MOST, replace=False))) if count > MOST else cells


def _deals(numbers: int) -> int:
    return int(np.clip(MOST_NUMBERS // numbers, FEWEST, DEALS))


def _standing(found: Floats) -> Floats:
    """How many standard deviations each is above the mean."""
    return np.asarray((found - found.mean()) / max(float(found.std()), 1e-9 * float(found.mean()), 1e-300))


def _as_far(told: Floats) -> float:
    """Share of these that are no less than the first."""
    return float((told >= told[0] - 1e-9).mean())


def _together(blocks: Sequence[Block], codes: Ints, answers: Floats, varies: float) -> Floats:
    """Of each column of answers, which add to zero, what effects of all blocks explain, shrunk as if the variance of
    those of each were so many times that of what is left."""
    columns = [block.columns(codes) for block in blocks]
    sizes = [np.sqrt(max(float(_lengths(one, len(codes)).sum()), 1e-9) / len(codes) / varies) for one in columns]
    x: csr_array = hstack([one / size for one, size in zip(columns, sizes, strict=True)], format="csr")
    mean = np.asarray(x.mean(axis=0)).reshape(-1)
    squares = (x.T @ x).toarray() - len(codes) * np.outer(mean, mean)
    root = cholesky(squares + np.eye(len(squares)), lower=True)
    return np.asarray(np.square(solve_triangular(root, x.T @ answers, lower=True)).sum(axis=0))


def _between(block: Block, codes: Ints, answers: Floats) -> Floats:
    """Of each column of answers, which add to zero, the squared length along those of a block, each by itself."""
    columns: csr_array = block.columns(codes)
    length = _lengths(columns, len(codes))
    return np.asarray(((columns.T @ answers) ** 2 / np.maximum(length, 1e-9)[:, None]).sum(axis=0))


def _lengths(columns: csr_array, count: int) -> Floats:
    """Squared lengths of columns around their means."""
    return np.asarray(np.asarray(columns.multiply(columns).sum(axis=0)) - np.asarray(columns.sum(axis=0)) ** 2 / count)
