"""Rows of one bin differ by their exact values: their scatter is no sign that repeats share anything."""

from __future__ import annotations

import numpy as np
import polars as pl

from recombine.checks import check


def doses(seed: int, slope: float) -> pl.DataFrame:
    """Six drugs at ten doses each, which five bins make two rows of a combination of; some combinations unseen."""
    rng = np.random.default_rng([seed, 37])
    drug, dose = np.divmod(rng.permutation(60), 10)
    y = 20 + rng.normal(0, 3, 6)[drug] + slope * dose + rng.standard_normal(60)
    kept = (rng.random((6, 5)) > 0.25)[drug, dose // 2]
    return pl.DataFrame({"drug": [f"d{v}" for v in drug], "dose": dose + 1, "y": y.round(3)}).filter(kept)


def notes(seed: int, slope: float) -> list[str]:
    return list(check(doses(seed, slope), ["drug", "dose"], target="y", draws=9, bins={"dose": 5}).notes)


def test_a_slope_within_bins_is_said_and_not_blamed_on_repeats():
    said = [notes(seed, 3.0) for seed in range(6)]
    assert all(any(n.startswith("rows in one bin of dose differ by their exact values") for n in one) for one in said)
    assert not any("lie nearer to sums of effects" in n for one in said for n in one)
    assert not any("--block" in n for one in said for n in one)


def test_nothing_is_said_of_bins_within_which_nothing_differs():
    assert not any("exact values" in n for seed in range(12) for n in notes(seed, 0.0))


def test_adding_up_is_tested_with_the_slopes_taken_off():
    result = check(doses(0, 3.0), ["drug", "dose"], target="y", draws=9, bins={"dose": 5})
    assert result.additivity.how == "with slopes within bins of dose taken off"
    assert result.forecast.error_many_rows is None
