"""Small answers that are off by a factor are counted where large ones make up all squared errors, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest
from everything_said import everything

from recombine.mechanisms import MeasureResult, measure_predictions

CELLS = np.indices((8, 7)).reshape(2, -1)
A, B = CELLS.repeat(5, axis=1)
RNG = np.random.default_rng(3)
ONE, TWO = 1.2 * RNG.normal(size=8), 1.2 * RNG.normal(size=7)
LOG = ONE[A] + TWO[B]
UNSEEN = (2 * A + 3 * B) % 7 < 2
SMALL = UNSEEN & (np.median(LOG) > LOG)
TEST = UNSEEN | (np.tile(np.arange(5), 56) < 2)
NOISE = RNG.normal(size=len(A))
PRICE = np.exp(3 + LOG)
OFF = "unseen combinations are off by more than a factor of 1.5, beyond the noise, of seen ones 0 of 40"


def measured(y: np.ndarray, p: np.ndarray) -> MeasureResult:
    table = {"a": A, "b": B, "y": y, "p": p, "part": np.where(TEST, "test", "train")}
    return measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")


@pytest.mark.parametrize("times", [0, 3])
def test_small_prices_off_by_a_factor_do_not_compose(times):
    result = measured(PRICE * np.exp(0.1 * NOISE), np.where(SMALL, times * PRICE, PRICE))
    assert result.verdict in ("partly", "fails")
    assert result.gap.mean < 0.05  # What alone would be taken for composing.
    assert f"{int(SMALL.sum()) // 5} of 16 {OFF}" in result.why
    assert "Logarithms" in everything(result)


@pytest.mark.parametrize("fit", [False, True])
def test_right_prices_compose(fit):
    y, p = PRICE * np.exp(0.1 * NOISE), PRICE
    if fit:
        x = np.hstack([np.eye(8)[A], np.eye(7)[B]])
        p = np.exp(x @ np.linalg.lstsq(x[~TEST], np.log(y[~TEST]), rcond=None)[0])
    assert measured(y, p).verdict == "composes"


def test_ratios_of_small_counts_are_noise():
    rate = np.exp(LOG)
    y = np.random.default_rng(0).poisson(rate).astype(float)
    blurred = np.where(UNSEEN & (rate < 1), rate * np.exp(0.4 * np.sin(7.0 * A + B)), rate)
    assert "factor" not in measured(y, blurred).sentence()


def test_where_squared_errors_tell_of_all_answers_none_is_counted():
    y = 3 + LOG - LOG.min() + 0.1 * NOISE
    assert "factor of 1.5" not in measured(y, np.where(SMALL, 2 * y, y)).sentence()
