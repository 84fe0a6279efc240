"""Numbers as factors: statuses against ranks in fractions, curves against those of the textbook."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
from hypothesis import given, settings, strategies as st
from rationals import basis_of, left_over

from recombine.checks.exact import witness
from recombine.checks.exact.curves import Curve, curves_of
from recombine.checks.exact.identifiability import DETERMINED, STATUSES, Identifiability
from recombine.space import FactorSpace


def bends(x: Fraction, knots: list[Fraction]) -> list[Fraction]:
    """Natural cubic splines as the textbook has them."""

    def d(knot: Fraction) -> Fraction:
        return (max(x - knot, Fraction(0)) ** 3 - max(x - knots[-1], Fraction(0)) ** 3) / (knots[-1] - knot)

    return [d(k) - d(knots[-2]) for k in knots[:-2]]


@st.composite
def tables(draw: st.DrawFn):
    """A factor with levels (or none), one or two numbers with a shape each, training cells, and an order."""
    levels = draw(st.integers(1, 3))
    factors = {"v": list(range(levels))}
    for name in ("x", "z")[: draw(st.integers(1, 2))]:
        tenths = draw(st.lists(st.integers(-50, 50), min_size=4, max_size=6, unique=True))
        factors[name] = sorted(t / 10 for t in tenths)
    space = FactorSpace.of(**factors)
    cells = space.grid()
    chosen = draw(st.permutations(range(len(cells))))[: draw(st.integers(1, min(9, len(cells))))]
    train = cells[sorted(chosen)]
    shape = {n: draw(st.sampled_from(["linear", "spline"])) for n in list(factors)[1:]}
    for name in shape:
        seen = len(np.unique(train[:, space.position(name)]))
        if seen < 3:
            shape[name] = "linear"
    return space, train, shape, draw(st.integers(1, len(factors)))


@settings(max_examples=60, deadline=None)
@given(tables())
def test_statuses_equal_ranks_in_fractions(case):
    space, train, shape, order = case
    if any(len(np.unique(train[:, space.position(n)])) < 2 for n in shape):
        return
    known = Identifiability(train, space.shape, order, curves_of(space, train, shape))
    knots = {
        n: [Fraction(str(space[n].levels[c])) for c in known.curves[space.position(n)].spanning]
        for n, kind in shape.items()
        if kind == "spline"
    }

    def columns(k: int, code: int) -> list[Fraction]:
        factor = space.factors[k]
        if factor.name not in shape:
            return [Fraction(int(code == level)) for level in range(len(factor))]
        x = Fraction(str(factor.levels[code]))
        return [x, *(bends(x, knots[factor.name]) if factor.name in knots else [])]

    def row(cell: np.ndarray) -> list[Fraction]:
        whole = []
        for size in range(order + 1):
            for chosen in itertools.combinations(range(len(space)), size):
                products = [Fraction(1)]
                for k in chosen:
                    products = [p * c for p in products for c in columns(k, int(cell[k]))]
                whole += products
        return whole

    basis = basis_of([row(c) for c in train])
    assert known.rank == len(basis)
    seen = {tuple(c) for c in train.tolist()}
    for cell, status in zip(space.grid(), known.status(space.grid()), strict=True):
        inside = not any(left_over(basis, row(cell)))
        if tuple(cell) in seen:
            expected = "seen"
        elif cell[0] not in train[:, 0]:
            expected = "unseen level"
        elif not inside:
            expected = "undetermined"
        else:
            alike = train[:, 0] == cell[0] if order > 1 else np.ones(len(train), dtype=bool)
            ends = [(train[alike, k].min(), train[alike, k].max()) for k in range(1, len(space))]
            within = all(a <= c <= b for c, (a, b) in zip(cell[1:], ends, strict=True))
            expected = "determined" if within else "extrapolation"
        assert STATUSES[status] == expected
        if expected == "undetermined":
            effects = witness.direction(known, cell)
            assert not any(witness.evaluate(effects, train))
            assert witness.evaluate(effects, cell[None, :])[0]
    fixed = space.grid()[known.status(space.grid()) == DETERMINED]
    for cell, terms in zip(fixed, witness.sums(known, fixed, work=10**9), strict=True):
        total = [sum((c * r for (c, _), r in zip(terms, column, strict=True)), Fraction(0)) for column in
                 zip(*(row(np.array(t)) for _, t in terms), strict=True)]  # fmt: skip
        assert total == row(cell)


def test_fitted_and_exact_columns_are_the_same_functions():
    curve = Curve((0, 1, 2.5, 4, 7, 8, 20, 30), np.arange(7), "spline")
    exact, smooth = (np.hstack([np.ones((8, 1)), c]) for c in (curve.exact.astype(float), np.hstack(curve.smooth)))
    exact /= np.abs(exact).max(axis=0)
    assert np.linalg.matrix_rank(np.hstack([exact, smooth])) == np.linalg.matrix_rank(exact) == curve.width + 1
    assert np.allclose(np.diff(smooth[[5, 6, 7]], axis=0)[:, 1] / [12, 10], np.ptp(smooth[:7, 1]) / 20)
