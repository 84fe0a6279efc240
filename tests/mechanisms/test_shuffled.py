"""Predictions beside the rows of others are told by what they are as a whole, and learners that fit badly are not."""

from __future__ import annotations

import numpy as np

from recombine.mechanisms.answers.shuffled import may_be_of_others, of_other_combinations

CELL = np.repeat(np.arange(30), np.random.default_rng(0).integers(3, 9, 30))
MEAN = np.random.default_rng(1).normal(size=30)[CELL]


def test_answers_that_each_combination_would_get_are_seen_beside_other_rows():
    rng = np.random.default_rng(2)
    y = MEAN + 0.3 * rng.normal(size=len(CELL))
    dealt = rng.permutation(MEAN)
    assert "each of 30 numbers is given to as many rows" in of_other_combinations(y, dealt, CELL, False)
    assert of_other_combinations(y, MEAN, CELL, False) == ""
    assert of_other_combinations(y, np.random.default_rng(3).permutation(30)[CELL] / 10, CELL, False) == ""


def test_who_fits_badly_is_not_suspected():
    found = dict.fromkeys(("dealt", "noisy", "combinations dealt"), 0)
    for seed in range(40):
        rng = np.random.default_rng(seed)
        y, noise = MEAN + 0.3 * rng.normal(size=len(CELL)), rng.normal(size=len(CELL))
        found["dealt"] += may_be_of_others(y, rng.permutation(MEAN + 0.3 * noise), CELL, False)
        found["noisy"] += may_be_of_others(y, 0.5 * MEAN + 0.85 * noise, CELL, False)
        found["combinations dealt"] += may_be_of_others(y, rng.permutation(MEAN[np.unique(CELL, True)[1]])[CELL], CELL,
                                                        False)  # fmt: skip
    assert found["dealt"] >= 25
    assert found["noisy"] == found["combinations dealt"] == 0
