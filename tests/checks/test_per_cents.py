"""Answers that may be per cents and are not called so: what log-odds would give is said where effects add up there."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.checks import check
from recombine.support.answers import Target

SIZES = (8, 6, 4)


def table(seed, *, on_log_odds):
    """Three in four combinations, 1,500 rows; effects add up on log-odds of per cents, or pairs act together."""
    rng = np.random.default_rng(seed)
    cells = np.indices(SIZES).reshape(3, -1).T
    cells = cells[rng.random(len(cells)) < 0.75]
    rows = cells[rng.integers(len(cells), size=1_500)]
    z = 2 + sum(rng.normal(size=n)[rows[:, k]] for k, n in enumerate(SIZES))
    if on_log_odds:
        y = 100 / (1 + np.exp(-z - rng.normal(0, 0.5, len(z))))
    else:
        z = z + rng.normal(0, 1.5, SIZES[:2])[rows[:, 0], rows[:, 1]] + rng.normal(0, 0.5, len(z))
        y = 12 + 84 * (z - z.min()) / np.ptp(z)
    return {**{f: [f"{f}{v}" for v in rows[:, k]] for k, f in enumerate("abc")}, "y": y.round(1)}


@pytest.mark.parametrize("on_log_odds", [True, False])
def test_the_first_lines_say_how_to_call_per_cents_where_effects_add_up_on_log_odds_alone(on_log_odds):
    said, doubted = 0, 0
    for seed in range(4, 12 if on_log_odds else 8):
        result = check(table(seed, on_log_odds=on_log_odds), ["a", "b", "c"], target="y", draws=9)
        first = "If y is in per cent, effects add up on log-odds" in result.sentence()
        assert result.doubt is not None or not first
        said, doubted = said + first, doubted + (result.doubt is not None)
        (note,) = [n for n in result.notes if "(y per cent)" in n] or [""]
        assert bool(note) == first
    assert (doubted > 0, said > doubted / 2) == (True, on_log_odds)


def test_answers_that_are_called_per_cents_are_not_asked_about():
    given = table(0, on_log_odds=True)
    result = check({**given, "y_percent": given.pop("y")}, ["a", "b", "c"], target="y_percent", draws=9)
    assert not [n for n in result.notes if "write a % sign" in n]


@pytest.mark.parametrize(
    ("name", "low", "high", "share"),
    [("yield", 30, 70, False), ("yield", 12, 70, True), ("yield", 30, 120, False), ("yield %", 30, 70, True),
     ("y", 12, 88, False), ("y", 2, 98, True)],
)  # fmt: skip
def test_a_name_alone_does_not_make_shares_of_numbers_in_the_middle(name, low, high, share):
    y = np.array([low, high], dtype=float)
    assert Target(name, None, np.ones(2, dtype=np.int64), y, np.zeros(2)).share is share
