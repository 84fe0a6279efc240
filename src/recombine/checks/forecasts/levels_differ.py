"""Do classes depend on any factor's levels? Answers of seen cells against the same ones dealt out to the cells anew.

    T_b = Σ_l (Σ_{c in l} e_c)² / n_l,   e_c = √rows_c (shares of classes − those of all),   z_b = (T_b − mean) / spread

with l the levels of a factor b (of a number its line and bends), mean and spread over the deals. Σ z over all factors
is held against what it is in these: exact where cells have equally many rows, whatever the cells are like. Of pairs of
factors, few of which act, that is the largest z. Of few answers, right or wrong, some rule always looks good on those
left out, and a rule that is good often does not.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.rules.effects import Block, blocks_of
from recombine.checks.rules.seen_cells import Cells

MOST = 2_000
"""Cells that are looked at, drawn where there are more."""
DEALS, FEWEST, MOST_NUMBERS = 999, 199, 4_000_000
"""Deals, as far as all of them are at most so many numbers, and at least."""


def by_chance(cells: Cells, order: int = 1) -> float:
    """How often answers that have nothing to do with the levels, or pairs of levels, would differ as much by them."""
    rng = np.random.default_rng(0)
    kept = np.sort(rng.choice(len(cells.codes), MOST, replace=False)) if len(cells.codes) > MOST else slice(None)
    codes, shares, rows = cells.codes[kept], cells.answers[kept], cells.rows[kept]
    blocks = [b for b in blocks_of(codes, cells.shape, order, cells.curves) if len(b.subset) == order]
    off = np.sqrt(rows)[:, None] * (shares - np.average(shares, axis=0, weights=rows))
    off = off[:, 1:] if off.shape[1] == 2 else off
    off -= off.mean(axis=0)
    deals = int(np.clip(MOST_NUMBERS // off.size, FEWEST, DEALS))
    dealt = np.argsort(rng.random((deals, len(off))), axis=1)
    answers = np.concatenate([off[None], off[dealt]]).transpose(1, 0, 2).reshape(len(off), -1)
    found = np.zeros((deals + 1, max(len(blocks), 1)))
    for z, block in zip(found.T, blocks, strict=False):
        between = _between(block, codes, answers).reshape(deals + 1, -1).sum(axis=1)
        z[:] = (between - between.mean()) / max(float(between.std()), 1e-9 * float(between.mean()), 1e-300)
    told = found.sum(axis=1) if order == 1 else found.max(axis=1)
    return float((told >= told[0] - 1e-9).mean())


def _between(block: Block, codes: Ints, answers: Floats) -> Floats:
    """Of each column of answers, which add to zero, the squared length along those of a block, each by itself."""
    columns: csr_array = block.columns(codes)
    length = np.asarray(columns.multiply(columns).sum(axis=0)) - np.asarray(columns.sum(axis=0)) ** 2 / len(codes)
    return np.asarray(((columns.T @ answers) ** 2 / np.maximum(length, 1e-9)[:, None]).sum(axis=0))
