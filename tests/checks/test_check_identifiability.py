"""Exactness against brute force in rationals: ranks, statuses, witnesses."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from rationals import basis_of, grid, indicator, left_over, rank, supports

from recombine.checks.exact import witness
from recombine.checks.exact.identifiability import DETERMINED, SEEN, STATUSES, UNDETERMINED, UNSEEN, Identifiability
from recombine.checks.exact.span import Span, exact_solve
from recombine.errors import InputError


@settings(max_examples=40, deadline=None)
@given(supports())
def test_rank_and_status_equal_brute_force(case):
    shape, train, order = case
    known = Identifiability(train, shape, order)
    basis = basis_of([indicator(c, shape, order) for c in train])
    assert known.rank == len(basis)
    seen = {tuple(c) for c in train.tolist()}
    for cell, status in zip(grid(shape), known.status(grid(shape)), strict=True):
        if tuple(cell) in seen:
            expected = "seen"
        elif any(cell[k] not in train[:, k] for k in range(len(shape))):
            expected = "unseen level"
        else:
            outside = any(left_over(basis, indicator(cell, shape, order)))
            expected = "undetermined" if outside else "determined"
        assert STATUSES[status] == expected


@settings(max_examples=30, deadline=None)
@given(supports())
def test_witnesses_prove_the_status(case):
    shape, train, order = case
    known = Identifiability(train, shape, order)
    cells = grid(shape)
    inside = known.rows.contains(cells)
    members = {tuple(c) for c in train.tolist()}
    open_cells = cells[inside & (known.status(cells) == DETERMINED)]
    for cell, terms in zip(open_cells, witness.sums(known, open_cells, work=10**9), strict=True):
        assert terms is not None
        rows = [indicator(np.array(row), shape, order) for _, row in terms]
        total = [
            sum((c * r for (c, _), r in zip(terms, column, strict=True)), Fraction(0))
            for column in zip(*rows, strict=True)
        ]
        assert total == indicator(cell, shape, order)
        assert all(row in members for _, row in terms)
        # Independent rows with non-zero coefficients: no proper part of them adds up to the query.
        assert rank(rows) == len(terms)
        assert all(c for c, _ in terms)
    for cell in cells[~inside]:
        effects = witness.direction(known, cell)
        assert not any(witness.evaluate(effects, train))
        assert witness.evaluate(effects, cell[None])[0] != 0


@settings(max_examples=40, deadline=None)
@given(supports(most_factors=2, orders=(1,)))
def test_two_factors_get_a_shortest_path(case):
    shape, train, order = case
    known = Identifiability(train, shape, order)
    cells = grid(shape)
    cells = cells[known.status(cells) == DETERMINED]
    for cell, terms in zip(cells, witness.sums(known, cells), strict=True):
        assert terms is not None
        assert [c for c, _ in terms] == [Fraction((-1) ** i) for i in range(len(terms))]
        assert len(terms) == _distance(train, shape, cell)


def _distance(train, shape, cell):
    reached, steps = {("b", int(cell[1]))}, 0
    while ("a", int(cell[0])) not in reached:
        reached |= (
            {("a", a) for a, b in train.tolist() if ("b", b) in reached}
            if steps % 2 == 0
            else {("b", b) for a, b in train.tolist() if ("a", a) in reached}
        )
        steps += 1
    return steps


def test_order_of_all_factors_knows_only_what_it_saw():
    train = np.array([[0, 0, 0], [1, 1, 0], [0, 1, 1]])
    status = Identifiability(train, (2, 2, 2), 3).status(grid((2, 2, 2)))
    assert [STATUSES[s] for s in np.unique(status)] == ["seen", "undetermined"]


def test_one_factor_and_one_level():
    known = Identifiability(np.array([[0], [2]]), (3,), 1)
    assert known.rank == 2
    assert known.status(np.array([[0], [1], [2]])).tolist() == [SEEN, UNSEEN, SEEN]
    flat = Identifiability(np.array([[0, 0], [0, 1]]), (1, 3), 1)
    assert flat.status(grid((1, 3))).tolist() == [SEEN, SEEN, UNSEEN]


def test_statuses_of_two_pieces_by_hand():
    train = np.array([[0, 0], [0, 1], [1, 0], [2, 2]])
    known = Identifiability(train, (3, 3), 1)
    assert known.rank == 4
    assert known.status(np.array([[1, 1]]))[0] == DETERMINED
    assert known.status(np.array([[2, 0], [0, 2], [1, 2]])).tolist() == [UNDETERMINED] * 3
    assert known.rows.groups() == [[[0, 1], [2]], [[0, 1], [2]]]


def test_order_outside_the_factors_is_refused():
    with pytest.raises(InputError, match="use 1 … 2"):
        _ = Identifiability(np.array([[0, 0]]), (2, 2), 3).rank


def test_a_large_order_is_refused_with_its_size():
    with pytest.raises(InputError, match=r"36,310 effects"):
        _ = Identifiability(np.zeros((1, 6), dtype=np.int64), (50,) * 6, 2).rank


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 7), st.integers(1, 7), st.integers(1, 2**15), st.integers(0, 2**32 - 1))
def test_span_of_wild_integers_equals_brute_force(rows, columns, size, seed):
    """Entries up to 32 768 make determinants far beyond any small-denominator guess, and hit every exact fallback."""
    rng = np.random.default_rng(seed)
    matrix = rng.integers(-size, size + 1, size=(rows, columns))
    if rows > 2:
        matrix[-1] = 3 * matrix[0] - 2 * matrix[1]
    span = Span(
        columns,
        lambda p: matrix[p[:, 0]],
        lambda p, v: matrix[p[:, 0]].astype(object) @ v.astype(object),
        np.arange(rows)[:, None],
    )
    exact = [[Fraction(int(v)) for v in row] for row in matrix]
    assert span.rank == rank(exact)
    assert span.null.shape == (columns, columns - span.rank)
    assert not (matrix.astype(object) @ span.null.astype(object)).any()
    assert rank([[Fraction(int(v)) for v in column] for column in span.null.T]) == columns - span.rank


def test_a_prime_that_lies_is_found_out():
    """Rows that coincide modulo the first prime are still two rows."""
    from recombine.checks.exact.modular import FIRST_PRIME

    matrix = np.array([[1, 0], [1, FIRST_PRIME]])
    span = Span(2, lambda p: matrix[p[:, 0]], lambda p, v: matrix[p[:, 0]] @ v, np.arange(2)[:, None])
    assert span.rank == 2


def test_exact_solve_with_large_denominators():
    matrix = np.array([[7919, 1], [1, 7907]])
    (x,) = exact_solve(matrix, np.array([[1, 1]]))
    determinant = 7919 * 7907 - 1
    assert x == [Fraction(7906, determinant), Fraction(7918, determinant)]
