"""What to collect: counts and costs equal exhaustive search; every suggestion is needed and together they suffice."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from rationals import grid, indicator, rank, supports

from recombine.checks.asked.queries_asked import stars
from recombine.checks.exact.advice import advise
from recombine.checks.exact.identifiability import Identifiability


@settings(max_examples=30, deadline=None)
@given(supports(most_cells=36), st.randoms(use_true_random=False))
def test_unit_costs_need_the_rank_that_is_missing(case, random):
    shape, train, order = case
    known = Identifiability(train, shape, order)
    rest = _rest(shape, train)
    assume(len(rest))
    asked = rest[sorted(random.sample(range(len(rest)), random.randint(1, len(rest))))]
    rows = [indicator(c, shape, order) for c in train]
    missing = rank(rows + [indicator(c, shape, order) for c in asked]) - known.rank
    advice = advise(known, asked)
    assert advice.needed == len(advice.cells) == missing
    assert advice.exact
    assert {tuple(c) for c in advice.cells.tolist()} <= {tuple(c) for c in asked.tolist()}
    assert known.with_rows(advice.cells).rows.contains(asked).all()
    for i in range(len(advice.cells)):
        assert not known.with_rows(np.delete(advice.cells, i, axis=0)).rows.contains(asked).all()


@settings(max_examples=30, deadline=None)
@given(supports(most_factors=3, most_levels=3, most_cells=12), st.data())
def test_costs_and_forbidden_cells_equal_exhaustive_search(case, data):
    shape, train, order = case
    known = Identifiability(train, shape, order)
    rest = _rest(shape, train)
    assume(len(rest))
    asked = rest[: data.draw(st.integers(1, len(rest)))]
    allowed = rest[np.array(data.draw(st.lists(st.booleans(), min_size=len(rest), max_size=len(rest))), dtype=bool)]
    costs = np.array(data.draw(st.lists(st.integers(1, 5), min_size=len(allowed), max_size=len(allowed))), dtype=float)
    advice = advise(known, asked, candidates=allowed, costs=costs)
    best = _cheapest(known, shape, order, asked, allowed, costs)
    assert advice.enough == (best is not None)
    if best is not None:
        assert advice.exact
        assert advice.cost == best
        assert advice.lower_bound <= best
        assert known.with_rows(advice.cells).rows.contains(asked).all()


def _rest(shape, train):
    seen = {tuple(c) for c in train.tolist()}
    return np.array([c for c in grid(shape).tolist() if tuple(c) not in seen], dtype=np.int64).reshape(-1, len(shape))


def _cheapest(known, shape, order, asked, allowed, costs):
    best = None
    for size in range(len(allowed) + 1):
        for chosen in itertools.combinations(range(len(allowed)), size):
            cost = costs[list(chosen)].sum()
            if (best is None or cost < best) and known.with_rows(allowed[list(chosen)]).rows.contains(asked).all():
                best = float(cost)
    return best


def test_a_steiner_cell_beats_two_asked_ones():
    """Pieces {a0 b0}, {a1 b1}, {a2 b2}; asked: (a0, b1) and (a0, b2). Outside cells cannot beat 2, but a ban forces
    one.
    """
    train = np.array([[0, 0], [1, 1], [2, 2]])
    known = Identifiability(train, (3, 3))
    asked = np.array([[0, 1]])
    free = advise(known, asked, candidates=np.array([[1, 0], [0, 2], [1, 2]]), costs=[5.0, 1.0, 1.0])
    assert free.cost == 2.0
    assert "exhaustive" in free.method
    assert {tuple(c) for c in free.cells.tolist()} == {(0, 2), (1, 2)}


def test_a_large_steiner_case_states_its_bound():
    size = 9
    train = np.array([[i, i] for i in range(size)])
    known = Identifiability(train, (size, size))
    cells = _rest((size, size), train)
    outside = cells[(cells[:, 0] != 0) | (cells[:, 1] != 1)]
    advice = advise(known, np.array([[0, 1]]), candidates=outside[1:], costs=np.ones(len(outside) - 1))
    assert advice.enough
    assert advice.lower_bound <= advice.cost
    assert known.with_rows(advice.cells).rows.contains(np.array([[0, 1]])).all()
    assert advice.exact == (advice.cost == advice.lower_bound)


def test_no_allowed_set_is_said():
    known = Identifiability(np.array([[0, 0], [1, 1]]), (2, 2))
    advice = advise(known, np.array([[0, 1]]), candidates=np.zeros((0, 2), dtype=np.int64), costs=[])
    assert not advice.enough
    assert "no allowed set suffices" in advice.method


@settings(max_examples=30, deadline=None)
@given(supports(most_cells=36))
def test_stars_span_the_grid(case):
    shape, train, order = case
    known = Identifiability(train, shape, order)
    cells = stars(known, np.ones(len(train), dtype=np.int64))
    assert Identifiability(cells, shape, order).rank == known.grid_rank == len(cells)


@pytest.mark.parametrize("count", [4, 40])
def test_many_pieces_are_joined_by_one_cell_less(count):
    train = np.array([[i, i] for i in range(count)])
    known = Identifiability(train, (count, count))
    advice = advise(known, _rest((count, count), train))
    assert len(advice.cells) == count - 1
