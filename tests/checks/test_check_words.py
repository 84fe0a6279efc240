"""What a check says is what was found: planted tables whose truth is known, and the words about them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from recombine.checks import check
from recombine.reporting.check import check_page


def grid(*sizes):
    return np.array(list(itertools.product(*map(range, sizes))))


def table(codes, y):
    return {"abcd"[k]: [f"{'abcd'[k]}{v}" for v in codes[:, k]] for k in range(codes.shape[1])} | {"y": y}


def additive(sizes, seed, kept=0.6, rows=1, noise=1.0, effect=4.0):
    """Additive answers on a part of a grid that holds every level."""
    rng = np.random.default_rng(seed)
    effects = [effect * rng.standard_normal(n) for n in sizes]
    cells = grid(*sizes)
    first = np.isin(np.arange(len(cells)), rng.choice(len(cells), round(kept * len(cells)), replace=False))
    codes = np.repeat(cells[first | (cells == 0).any(axis=1)], rows, axis=0)
    y = 50 + sum(e[c] for e, c in zip(effects, codes.T, strict=True)) + noise * rng.standard_normal(len(codes))
    return table(codes, y)


def test_where_combinations_have_several_rows_it_is_said_how_far_single_ones_scatter():
    said = check(additive((6, 6), 0, rows=20, noise=3.0), ["a", "b"], target="y")
    assert said.to_dict()["forecast"]["scatter"] == pytest.approx(3.0, rel=0.1)
    words = f"means of combinations, around which single rows scatter by {said.answers.scatter:.3g}"
    assert f"This is of {words}." in said.sentence()
    assert words in check_page(said)
    alone = check(additive((6, 6), 0), ["a", "b"], target="y")
    assert alone.to_dict()["forecast"]["scatter"] is None
    assert "means" not in alone.sentence()
