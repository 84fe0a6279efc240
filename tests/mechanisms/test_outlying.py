"""Numbers that the spread of the others does not give: by sums of all of them, as by a pass for each that leaves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.special import stdtrit

from recombine.mechanisms.rivals.outlying import LEVEL, MOST, outlying


def by_passes(values: np.ndarray) -> np.ndarray:
    found, left = np.zeros(len(values), dtype=bool), np.ones(len(values), dtype=bool)
    for _ in range(max(1, int(MOST * len(values)))):
        m = int(left.sum())
        apart, spread = np.where(left, np.abs(values - values[left].mean()), -1.0), values[left].std(ddof=1)
        left[int(apart.argmax())] = False
        t = stdtrit(m - 2, 1 - LEVEL / (2 * m))
        if apart.max() > spread * (m - 1) * t / np.sqrt((m - 2 + t**2) * m):
            found = ~left
    return found


KINDS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "heavy tails": lambda rng, n: rng.standard_t(1.5, size=n),
    "a few far off": lambda rng, n: np.where(rng.random(n) < 0.1, 20.0, 1.0) * rng.normal(size=n),
    "ties": lambda rng, n: rng.integers(-3, 4, size=n).astype(float),
    "nearly all the same": lambda rng, n: np.where(rng.random(n) < 0.85, 0.0, rng.integers(-5, 6, size=n)),
    "two ends as far": lambda rng, n: rng.choice([-1.0, 1.0], size=n) * rng.choice([1.0, 1.0, 1.0, 9.0], size=n),
    "rounding beside one": lambda rng, n: np.append(1e-17 * rng.normal(size=n - 1), 3.0),
    "rounding about a number": lambda rng, n: 5.0 + 1e-15 * rng.normal(size=n),
    "enormous ones": lambda rng, n: np.where(rng.random(n) < 0.1, 1e12, rng.normal(size=n)),
}


@pytest.mark.parametrize("kind", KINDS)
@given(st.integers(6, 120), st.integers(0, 2**31))
@settings(max_examples=40, deadline=None)
def test_sums_find_what_passes_find(kind, size, seed):
    values = KINDS[kind](np.random.default_rng(seed), size)
    assert np.array_equal(outlying(values), by_passes(values))


def test_many_that_are_far_off_do_not_hide_each_other():
    values = np.random.default_rng(0).normal(size=500)
    values[:40] += 12.0
    assert np.array_equal(np.flatnonzero(outlying(values)), np.arange(40))


def test_of_few_or_of_all_the_same_none_stands_out():
    assert not outlying(np.array([0.0, 0.0, 0.0, 0.0, 9.0])).any()
    assert not outlying(np.full(50, 0.1)).any()
