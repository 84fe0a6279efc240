"""On training rows alone a gap convicts beyond twice the noise, and not up to it."""

from __future__ import annotations

import numpy as np
import pytest
from everything_said import everything

from recombine.mechanisms import measure_predictions
from recombine.mechanisms.causes.evidence import FAILING
from recombine.mechanisms.rivals.by_heart import _alike, most_wrong

GRID = np.indices((7, 7)).reshape(2, -1)
HIDDEN = (GRID[0] + 2 * GRID[1]) % 4 == 0


def measured(y, p, rows=1, **more):
    a, b, hidden, y, p = (np.repeat(v, rows) for v in (*GRID, HIDDEN, y, p))
    table = {"a": a, "b": b, "y": y, "p": p, "part": np.where(hidden, "test", "train")}
    return measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test", **more)


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("factor", [0.95, 1.05])
def test_the_bound_is_twice_the_noise_over_the_rows_that_share_a_combination(rows, factor):
    y = np.random.default_rng(0).normal(size=GRID.shape[1])
    scale = y[~HIDDEN].var()
    wrong = 0.4 * scale  # The gap, exactly: no interval.
    sign = np.where(np.arange(len(y)) % 2, 1, -1)
    p = y + np.where(HIDDEN, np.sqrt(wrong) * sign, 0.0)
    noise = np.sqrt(factor * rows * (wrong - 0.05 * scale) / 2)
    result = measured(y, p, rows, noise=float(noise))
    assert (result.verdict in FAILING) == (factor < 1), result.sentence()
    assert f"by {2 * noise**2 / scale / rows:.2f} at most" in everything(result)


def test_who_errs_as_the_best_rule_does_is_not_convicted_and_who_copies_where_adding_up_works_is():
    for seed in range(4):
        rng = np.random.default_rng(seed)
        one, two = rng.permutation(7) - 3.0, rng.permutation(7) - 3.0
        mean = one[GRID[0]] + two[GRID[1]]
        noisy = mean + 1.4 * rng.normal(size=len(mean))
        right = measured(noisy, np.where(HIDDEN, mean, noisy))
        assert (right.verdict, right.mechanisms) == ("unclear", ())
        assert "to tell, take a second row of some of them" in right.why
        near = mean + 0.2 * rng.normal(size=len(mean))
        other = np.where(HIDDEN, np.roll(near, 1), near)
        assert measured(near, other, rows=3).verdict == "fails"
        alone = measured(near, other)  # Of single rows nobody knows whether it reads more than the factors.
        assert (alone.verdict == "fails") == bool(alone.mechanisms)
        assert "may read more than the factors" in alone.why


def test_a_learner_that_answers_rows_of_one_combination_differently_is_not_convicted_by_any_gap():
    rng = np.random.default_rng(0)
    a, b, hidden = (np.repeat(v, 4) for v in (*GRID, HIDDEN))
    y = (a - 3.0) + (b - 3.0)
    table = {"a": a, "b": b, "y": y, "part": np.where(hidden, "test", "train")}
    table["p"] = y + hidden * rng.normal(size=len(y)) * 2
    for more in ({}, {"noise": 0.0}):
        result = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test", **more)
        assert (result.verdict, result.gap.low > 0.05) == ("unclear", True)
        assert "reads more than the factors" in result.why
        assert "to tell, hold some of their rows out of training. Training rows are answered exactly" in result.why


@pytest.mark.parametrize(("wrong", "told"), [(0.3, "factors"), (0.02, "open")])
def test_few_wrong_answers_do_not_show_that_the_factors_are_all_a_learner_is_told(wrong, told):
    y = np.array([f"class {c}" for c in GRID.sum(axis=0) % 5])
    off = np.flatnonzero(HIDDEN)[: max(1, round(wrong * HIDDEN.sum()))]
    p = y.copy()
    p[off] = np.array([f"class {c}" for c in (GRID.sum(axis=0)[off] + 1 + off) % 5])
    answers = measured(y, p, rows=4).answers
    assert ("factors" if _alike(answers) else "open") == told


@pytest.mark.parametrize("rows", [18, 300])
def test_no_wrong_answer_among_n_leaves_three_in_n(rows):
    assert most_wrong(0.0, rows) == pytest.approx(3 / rows, rel=0.1)
    assert most_wrong(0.5, rows) > 0.5


def test_of_noise_nothing_fails_and_no_leak_is_told():
    for seed in range(4):
        y, other = np.random.default_rng(seed).normal(size=(2, GRID.shape[1]))
        result = measured(y, np.where(HIDDEN, 3 * other, y))  # Much worse than always the same answer.
        assert (result.verdict, result.mechanisms) == ("unclear", ())
        assert "anything to learn" in result.why or "may be nothing but noise" in result.why
        assert "cannot be told" in result.left_out["memorization leak"]


@pytest.mark.parametrize(("kept", "says"), [(0.4, True), (1.0, False)])
def test_of_single_rows_known_by_heart_it_is_said_what_is_certain_all_the_same(kept, says):
    rng = np.random.default_rng(2)
    mean = rng.permutation(7)[GRID[0]] + rng.permutation(7)[GRID[1]] - 6.0
    y = mean + 1.3 * rng.normal(size=len(mean))
    result = measured(y, np.where(HIDDEN, kept * mean, y))
    assert result.verdict == "unclear"
    words = "Training rows are answered exactly, and whatever explains the gap, adding up does better on unseen ones"
    assert (words in result.why) == says
