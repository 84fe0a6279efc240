"""Plans where rows scatter more at large answers: how that is told, and what errors are with it."""

from __future__ import annotations

import numpy as np
import pytest
from planted_tables import grid

from recombine.checks import Purpose, check
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.plans.optimal import choose
from recombine.checks.plans.uneven import Scattered, Uneven
from recombine.support.answers import Target

CELLS = grid(5, 4)


def told(ratio, seed, rows=30):
    """Of answers 1 to 8 whose rows scatter so many times as far at 8."""
    rng = np.random.default_rng(seed)
    mean = 1 + CELLS @ np.array([1.0, 1.0])
    y = mean[:, None] + 0.3 * (1 + (ratio - 1) * (mean - 1) / 7)[:, None] * rng.standard_normal((20, rows))
    own = y.mean(axis=1)
    target = Target("y", None, np.full(20, rows), own, ((y - own[:, None]) ** 2).sum(axis=1))
    return Uneven.of(Identifiability(CELLS, (5, 4), 1), target)


@pytest.mark.parametrize("ratio", [1 / 4, 1.0, 4.0])
def test_many_rows_tell_how_much_farther_they_scatter_at_large_answers(ratio):
    low, high = told(ratio, 0).ends()
    assert high / low == pytest.approx(ratio, rel=0.35)


def test_answers_without_noise_or_all_alike_tell_nothing_of_it():
    known, once = Identifiability(CELLS, (5, 4), 1), np.ones(20, dtype=np.int64)
    for y in (CELLS @ np.array([1.0, 2.0]), np.full(20, 3.0)):
        assert Uneven.of(known, Target("y", None, once, y, np.zeros(20))) is None


def test_a_note_says_where_rows_scatter_more_at_large_answers_and_none_where_they_do_not():
    rng = np.random.default_rng(3)
    codes = grid(6, 5).repeat(3, axis=0)[:78]
    mean = 20 + codes @ np.array([6.0, 9.0])
    for noise, said in ((0.12 * mean, 1), (np.full(78, 4.0), 0)):
        table = {"a": codes[:, 0], "b": codes[:, 1], "y": mean + noise * rng.standard_normal(78)}
        assert (
            sum("at the largest fitted answers" in n for n in check(table, ["a", "b"], target="y", draws=3).notes)
            == said
        )


def test_errors_are_those_of_least_squares_with_that_noise():
    rng, x = np.random.default_rng(0), np.hstack([np.eye(5)[CELLS[:, 0]], np.eye(4)[CELLS[:, 1]]])
    seen, v = x[:12], rng.uniform(0.5, 6, 20)
    rows = np.array([13, 13, 17, 19])
    plain = choose(seen.T @ seen, x, x, np.ones(20), 4, first=rows)
    found = Scattered((seen.T @ seen), (seen.T * v[:12]) @ seen, (seen.T / v[:12]) @ seen, x, v, x).judged(plain)
    both, noise = np.vstack([seen, x[rows]]), np.concatenate([v[:12], v[rows]])
    moves = x @ np.linalg.pinv(both)  # of each answer by each row
    assert found.worst == pytest.approx(((moves**2) @ noise).max())
    assert found.worst > plain.worst


def test_a_plan_says_so_and_takes_more_rows_than_with_one_noise():
    rng, cells = np.random.default_rng(3), np.repeat(CELLS[np.arange(20) % 7 != 3], 3, axis=0)
    mean = 2.0 + 2 * cells @ np.array([1.0, 1.0])
    table = {"a": cells[:, 0], "b": cells[:, 1], "y": mean - 9 + 0.2 * mean * rng.standard_normal(len(cells))}
    plan = check(table, ["a", "b"], target="y", draws=9, purpose=Purpose(error=1.2)).plan
    given = check(table, ["a", "b"], target="y", draws=9, purpose=Purpose(error=1.2, noise=plan.noise_range[1])).plan
    low, high = plan.uneven
    assert high > 2 * low
    assert "where they are highest: errors are reckoned by that" in plan.words
    assert given.uneven is None
    assert (len(plan.cells) > len(given.cells), plan.worst_high <= 1.2 * (1 + 1e-6)) == (True, True)
