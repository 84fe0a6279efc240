"""A column that nobody named and that explains what the factors leave."""

from __future__ import annotations

import numpy as np
import pytest
from planted_tables import grid

from recombine.checks import check
from recombine.checks.unnamed import explaining, unnamed

CODES = np.repeat(grid(5, 4), 2, axis=0)
X = np.hstack([np.eye(5)[CODES[:, 0]], np.eye(4)[CODES[:, 1]]])
ONCE = np.ones(len(X), dtype=np.int64)


def beside(rng) -> np.ndarray:
    """A day of five, an operator of three, a date of fourteen."""
    return np.stack([rng.permutation(40) % 5, rng.choice(3, 40, p=[0.6, 0.3, 0.1]), rng.permutation(40) // 3], axis=1)


def test_a_day_that_shifts_the_answer_is_found_and_what_it_explains_is_what_least_squares_says():
    rng = np.random.default_rng(0)
    columns, y = beside(rng), rng.standard_normal(40)
    y += 3 * rng.standard_normal(5)[columns[:, 0]]
    which, share, p_value, tried = explaining(X, y, ONCE, 0.0, columns)
    assert (which, tried) == (0, 3)
    left = []
    for x in (X, np.hstack([X, np.eye(5)[columns[:, 0]]])):
        off = y - x @ np.linalg.lstsq(x, y, rcond=None)[0]
        left.append(off @ off / (40 - np.linalg.matrix_rank(x)))
    assert share == pytest.approx(1 - left[1] / left[0])
    assert p_value < 1e-4


@pytest.mark.parametrize("noise", [lambda rng: rng.standard_normal(40), lambda rng: np.exp(rng.standard_normal(40))])
def test_columns_that_do_nothing_are_seldom_named(noise):
    rng = np.random.default_rng(1)
    assert sum(explaining(X, noise(rng), ONCE, 0.0, beside(rng)) is not None for _ in range(100)) <= 8


def test_what_goes_with_a_factor_or_fits_exactly_is_not_judged():
    rng = np.random.default_rng(2)
    y = rng.standard_normal(40) + 9 * CODES[:, 0]
    nearly = np.where(np.arange(40) == 3, 4, CODES[:, 0])  # one row in forty tells them apart
    assert explaining(X, y + 9 * (nearly != CODES[:, 0]), ONCE, 0.0, nearly[:, None]) is None
    assert explaining(X, y, ONCE, 0.0, CODES[:, :1]) is None
    assert explaining(X, X.sum(axis=1), ONCE, 0.0, beside(rng)) is None


def test_check_names_the_column_until_it_is_named_and_never_one_with_a_value_for_each_row():
    rng = np.random.default_rng(3)
    day = rng.permutation(40) % 5
    y = rng.standard_normal(40) + 5 * rng.standard_normal(5)[day]
    table = {"a": CODES[:, 0].astype(str), "b": CODES[:, 1].astype(str), "id": np.arange(40), "test day": day, "y": y}

    def said(**how):
        return [n for n in check(table, ["a", "b"], target="y", draws=9, **how).notes if "which is not named" in n]

    (note,) = said()
    assert note.startswith("column “test day”, which is not named, explains ")
    assert "--block 'test day' (blocks='test day')" in note
    assert not said(blocks="test day")
    table["test day"] = [None, *day[1:]]  # with gaps it is not tried
    assert unnamed(table, ["a", "b"], (), 1, None, False, target="y") == []
