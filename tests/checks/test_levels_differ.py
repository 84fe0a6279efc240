"""Whether classes depend on any level at all, against the same answers dealt out anew."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from planted_tables import additive, grid, seen_part

from recombine.checks.forecasts.contest import draw, hold
from recombine.checks.forecasts.levels_differ import by_chance
from recombine.checks.rules.seen_cells import Cells


def one_row(codes, shape, classes, rows=1.0):
    return Cells(codes, shape, np.full(len(codes), rows), np.eye(int(max(classes)) + 1)[classes], None)


def test_levels_that_decide_differ_beyond_chance_and_what_two_decide_together_is_told_by_pairs_alone():
    codes = grid(4, 4, 3)
    decides = one_row(codes, (4, 4, 3), codes[:, 0] % 3)
    together = one_row(codes, (4, 4, 3), (codes[:, 0] + codes[:, 1]) % 2)
    assert by_chance(decides) == 0.001  # of a thousand orders the told one alone
    assert (by_chance(together), by_chance(together, 2)) == (1.0, 0.001)  # each level has as many of both
    assert by_chance(one_row(grid(4, 4), (4, 4), grid(4, 4)[:, 0] % 2), 2) == 1.0  # a pair is the cell itself


def test_where_nothing_differs_one_table_in_twenty_is_taken_to():
    codes, found = grid(5, 4), []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        rows = rng.poisson(3 * np.array([0.3, 1, 1, 1, 4])[codes[:, 0]]) + 1.0  # some levels have far more rows
        share = rng.binomial(rows.astype(int), 0.3) / rows
        found.append(by_chance(Cells(codes, (5, 4), rows, np.stack([1 - share, share], axis=1), None)))
    assert np.mean(np.array(found) <= 0.05) <= 0.125
    assert np.mean(found) == pytest.approx(0.5, abs=0.12)


def test_of_single_rows_that_follow_their_levels_sums_are_recommended_though_right_and_wrong_tell_nothing():
    codes, asked = seen_part((6, 5), 5)
    added = additive(codes, (6, 5), 5)
    chance = 1 / (1 + np.exp(-4 * (added - np.median(added))))
    cells = one_row(codes, (6, 5), (np.random.default_rng([5, 1]).random(len(codes)) < chance).astype(int))
    contest = hold(cells, asked, draw(cells, asked, np.random.default_rng(0), None), False, (), 0)
    assert contest.by_chance <= 0.05
    assert contest.winner.name == "additive"
    unaware = replace(contest)
    unaware.__dict__["by_chance"] = 0.5
    assert unaware.nothing
    assert unaware.winner.name == "constant"
    unaware.__dict__.update(nothing=False)
    del unaware.__dict__["best"]
    assert unaware.winner.name == "constant"
