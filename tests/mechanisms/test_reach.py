"""The gap of few combinations reaches as far as these leave it open."""

from __future__ import annotations

import numpy as np
import pytest

from recombine import measure_predictions

A, B = np.indices((5, 6)).reshape(2, -1).repeat(2, axis=1)
CELL, ROW = np.arange(60) // 2, np.tile([0, 1], 30)


def asked(y, p, few: int):
    unseen = np.isin(CELL, [0, 7, 14, 21, 28, 11, 4, 17][:few])
    part = np.where(unseen | (ROW == 1), "test", "train")
    table = {"a": A, "b": B, "y": y, "p": np.where(part == "test", p, y), "part": part}
    return measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")


@pytest.mark.parametrize("few", [3, 5, 8])
def test_the_gap_of_few_squares_holds_its_truth_about_as_often_as_meant(few: int) -> None:
    held = 0
    for seed in range(20):
        rng = np.random.default_rng([few, seed])
        mean = 3 * (rng.normal(size=5)[A] + rng.normal(size=6)[B])
        off = np.where(np.isin(CELL, [0, 7, 14, 21, 28, 11, 4, 17][:few]), 1.0, 0.3) * rng.normal(size=30)[CELL]
        result = asked(mean, mean + off, few)
        held += result.gap.low <= (1.0 - 0.09) / result.answers.scale <= result.gap.high
    assert held >= 17


@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_the_gap_ends_where_its_parts_allow_it_to(spread: float) -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        mean = 3 * (rng.normal(size=5)[A] + rng.normal(size=6)[B])
        unseen = np.isin(CELL, [0, 7, 14, 21, 28])
        off = np.where(unseen, 3 + spread * rng.normal(size=30)[CELL], 0.1 * rng.normal(size=60))
        result = asked(mean, mean + off, 5)
        assert result.gap.low <= (9 + spread**2 - 0.01) / result.answers.scale <= result.gap.high
        assert result.gap.high <= result.unseen.high - result.seen.low + 1e-9
        assert spread or result.gap.high < 1.1 * result.gap.mean


@pytest.mark.parametrize("wrong", [False, True])
def test_unseen_classes_that_are_all_right_leave_open_what_so_few_do_and_wrong_ones_fail(wrong: bool) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=30)[CELL]
    amiss = np.where(np.isin(CELL, [0, 7, 14]), wrong, np.isin(CELL, [1, 9, 20]) & (ROW == 1))
    found = asked(np.array(list("xyz"))[y], np.array(list("xyz"))[(y + amiss) % 3], 3)
    assert wrong or found.gap.high - found.gap.mean >= 1 - 0.05 ** (1 / 3)
    assert (found.gap.low > 0.05) == (found.verdict == "fails") == wrong
