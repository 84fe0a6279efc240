"""Leverage against numpy's pseudo-inverse, cuts against removing training combinations one set at a time."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from rationals import grid, indicator, supports

from recombine.checks.exact.identifiability import DETERMINED, Identifiability
from recombine.checks.exact.robustness import leverage, min_cuts


@settings(max_examples=60, deadline=None)
@given(supports())
def test_leverage_is_the_quadratic_form_of_the_pseudo_inverse(case):
    shape, train, order = case
    known = Identifiability(train, shape, order)
    counts = 1 + np.arange(len(train)) % 3
    cells = grid(shape)
    cells = cells[known.status(cells) == DETERMINED]
    rows = np.array([[float(v) for v in indicator(c, shape, order)] for c in np.repeat(train, counts, axis=0)])
    inverse = np.linalg.pinv(rows.T @ rows, rcond=1e-10)
    expected = [float(x @ inverse @ x) for x in (np.array(indicator(c, shape, order), dtype=float) for c in cells)]
    np.testing.assert_allclose(leverage(known, counts, cells), expected, rtol=1e-8)


def test_leverage_of_a_three_row_path_is_three():
    known = Identifiability(np.array([[0, 0], [0, 1], [1, 0]]), (2, 2))
    np.testing.assert_allclose(leverage(known, np.ones(3, dtype=np.int64), np.array([[1, 1]])), [3.0])


@settings(max_examples=40, deadline=None)
@given(supports(most_factors=2, most_levels=4, most_cells=12, orders=(1,)))
def test_min_cut_is_the_fewest_removals(case):
    shape, train, _ = case
    train = train[:8]
    known = Identifiability(train, shape)
    cells = grid(shape)
    cells = cells[known.status(cells) == DETERMINED]
    for cell, cut in zip(cells, min_cuts(known, cells), strict=True):
        assert cut == next(size for size in range(1, len(train) + 1) if _breaks(train, shape, cell, size))


def _breaks(train, shape, cell, size):
    return any(
        not Identifiability(np.delete(train, list(gone), axis=0), shape).rows.contains(cell[None])[0]
        for gone in itertools.combinations(range(len(train)), size)
    )
