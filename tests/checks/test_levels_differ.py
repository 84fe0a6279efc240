"""Whether classes depend on any level at all, against the same answers dealt out anew."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from planted_tables import additive, grid, seen_part

from recombine.checks.forecasts.chosen import charged_for, commonest_wrong
from recombine.checks.forecasts.contest import draw, hold
from recombine.checks.forecasts.levels_differ import after_all, all_alike, by_chance
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


def test_levels_are_told_apart_amid_what_the_other_factor_does():
    codes, _ = seen_part((6, 5), 4)  # 18 cells, in which the factors go together: each by itself differs by .022
    added = additive(codes, (6, 5), 4)
    share = 1 / (1 + np.exp(-2 * (added - added.mean())))
    cells = Cells(codes, (6, 5), np.full(len(codes), 8.0), np.stack([1 - share, share], axis=1), None)
    assert by_chance(cells) <= 0.01


def test_rows_tell_whether_cells_differ_whatever_makes_them_differ_and_single_rows_do_not():
    codes = grid(3, 3)
    share = np.where(codes.sum(axis=1) % 2, 0.2, 0.8)  # each level has both
    assert all_alike(Cells(codes, (3, 3), np.full(9, 10.0), np.stack([1 - share, share], axis=1), None)) == 0.001
    assert all_alike(one_row(codes, (3, 3), codes.sum(axis=1) % 2)) == 1.0
    rng, found = np.random.default_rng(0), []
    for _ in range(30):
        rows = rng.integers(1, 9, 9).astype(float)
        counts = rng.multinomial(rows.astype(int), [0.6, 0.3, 0.1])
        found.append(all_alike(Cells(codes, (3, 3), rows, counts / rows[:, None], None)))
    assert np.mean(np.array(found) <= 0.05) <= 0.12
    assert np.mean(found) == pytest.approx(0.5, abs=0.12)


def test_the_commonest_class_is_expected_to_be_wrong_no_more_often_than_a_guess():
    half, most = np.eye(2)[[0, 1] * 9], np.eye(2)[[0] * 14 + [1] * 4]
    assert commonest_wrong(half) == 0.5  # of half of the cells the commonest is mostly rarer on the others
    assert commonest_wrong(most) == pytest.approx(4 / 18)
    assert commonest_wrong(np.eye(3)[[0, 1, 2] * 4]) == pytest.approx(2 / 3)
    rng = np.random.default_rng(0)
    drawn = [np.eye(2)[(rng.permutation(18) < 11).astype(int)] for _ in range(5)]
    assert all(7 / 18 < commonest_wrong(one) <= 0.5 for one in drawn)  # it is the commonest by chance as well


def test_no_choice_is_charged_beyond_a_guess():
    seen = np.eye(2)[[0] * 9 + [1] * 9]
    truth, firsts = seen[[9, 10, 11, 12, 13, 0]], np.arange(6)
    one, other = np.array([1, 1, 1, 1, 1, 0.0]), np.array([1, 1, 0, 1, 0, 1.0])  # stand-ins are mostly of one class
    for best in (0, 1):
        same, chosen = charged_for([one, other], [one, other], best, firsts, truth, [1.0, 1.0], seen)
        assert same.mean() == pytest.approx(0.5)
        assert chosen.mean() == pytest.approx(0.5 if best else other.mean())


def test_of_a_rule_that_is_chosen_since_levels_differ_that_may_be_chance_is_charged():
    cells = one_row(grid(5, 4), (5, 4), grid(5, 4)[:, 0] % 2)  # of 999 deals and the answers themselves
    told = [after_all(cells, p) for p in (0.001, 0.002, 0.051, 0.5, 1.0)]
    assert told == pytest.approx([0, 0.0184, 0.2894, 0.5, 0.5], abs=1e-4)
    seen = np.eye(2)[[0] * 9 + [1] * 9]
    wrong = [np.ones(6), np.tile([1.0, 0, 0], 2)]
    for likely, told in ((0.0, 1 / 3), (0.3, 0.7 / 3 + 0.3 * 0.5), (1.0, 0.5)):  # no half would choose the constant
        _, chosen = charged_for(wrong, wrong, 1, np.arange(6), seen[:6], [0.3, 0.3], seen, {0}, likely)
        assert chosen.mean() == pytest.approx(told)


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
