"""Rows over few cases scatter more, and it is said; where noise has nothing to do with a column nothing is."""

from __future__ import annotations

import numpy as np
import pytest
from planted_tables import grid

from recombine.checks import check
from recombine.checks.columns.cases import by_cases, counts_cases

CODES = np.repeat(grid(6, 5), 4, axis=0)
X = np.hstack([np.eye(6)[CODES[:, 0]], np.eye(5)[CODES[:, 1]]])


def counts(rng) -> np.ndarray:
    return np.round(np.exp(rng.normal(4, 1, len(X)))).clip(1)


def test_rows_over_few_cases_are_found_and_what_they_scatter_by_is_what_was_planted():
    found, times = 0, []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n, other = counts(rng), counts(rng)
        told = by_cases(X, X @ rng.normal(0, 1, 11) + 5 * rng.normal(0, 1, len(X)) / np.sqrt(n), [(3, other), (7, n)])
        if told is not None:
            assert told.place == 7
            found, times = found + 1, [*times, told.times / np.sqrt(told.many / told.few)]
    assert found >= 15
    assert 0.7 < np.median(times) <= 1


NOISES = {
    "normal": lambda rng, n: rng.normal(0, 1, len(n)),
    "long tails": lambda rng, n: rng.standard_t(2, len(n)),
    "calm levels": lambda rng, n: rng.normal(0, 1, len(n)) * np.array([0.2, 1, 1, 1, 1, 5])[CODES[:, 0]],
}


@pytest.mark.parametrize("noise", NOISES)
def test_where_noise_is_that_of_all_rows_or_of_levels_a_column_is_seldom_named(noise):
    """Calm levels have more cases; a number for each row, in order and not, is looked at too."""
    named = 0
    for seed in range(100):
        rng = np.random.default_rng([seed, 1])
        n = counts(rng) * (np.array([25, 1, 1, 1, 1, 0.04])[CODES[:, 0]] if noise == "calm levels" else 1)
        n, run = np.ceil(n), np.arange(len(X)) + 1.0
        columns = [(0, n), (1, run), (2, rng.permutation(run))]
        named += by_cases(X, X @ rng.normal(0, 1, 11) + NOISES[noise](rng, n), columns) is not None
    assert named <= 8


def test_only_whole_numbers_that_differ_by_much_count_cases():
    n = counts(np.random.default_rng(0))
    assert counts_cases(n)
    assert not any(counts_cases(other) for other in (n + 0.5, n - n.max(), n + 1_000, np.full(9, 3.0)))


def test_what_a_calendar_or_a_clock_counts_is_no_number_of_cases():
    n = counts(np.random.default_rng(0))
    for most in (12, 31, 24, 7):
        assert not counts_cases(np.tile(np.arange(1.0, most + 1), 5))
        assert counts_cases(np.append(np.tile(np.arange(1.0, most + 1), 5), 90.0))
    for name in ("month", "Day of week", "Year", "HOUR", "week_no"):
        assert not counts_cases(n, name)
    assert all(counts_cases(n, name) for name in ("patient_days", "visitors", "PersonYears", "runs"))


def test_a_month_of_calmer_rows_is_not_advised_as_a_weight():
    rng, month = np.random.default_rng(3), np.tile(np.arange(1, 7), 20)
    calm = rng.normal(0, 1, len(X)) / np.sqrt(month)
    table = {"page": CODES[:, 0].astype(str), "site": CODES[:, 1].astype(str), "y": X @ rng.normal(0, 1, 11) + calm}
    said = [" ".join(check(table | {name: month}, ["page", "site"], target="y", draws=9).notes)
            for name in ("month", "wards")]  # fmt: skip
    assert ["--weights" in notes for notes in said] == [False, True]


def test_a_check_names_the_column():
    rng = np.random.default_rng(2)
    n = counts(rng)
    rate = rng.binomial(n.astype(int), 1 / (1 + np.exp(-0.7 * X @ rng.normal(0, 1, 11)))) / n
    columns = {"page": CODES[:, 0].astype(str), "day": CODES[:, 1].astype(str), "visitors": n.astype(int), "rate": rate}
    held = {name: np.asarray(column)[CODES.sum(axis=1) < 9] for name, column in columns.items()}
    notes = check(held, ["page", "day"], target="rate", draws=9).notes
    assert [n for n in notes if n.startswith("the larger visitors, which is not named, the less rows scatter")]
    same = held | {"visitors": np.full(len(held["page"]), 50)}
    assert not [n for n in check(same, ["page", "day"], target="rate", draws=9).notes if "the less rows scatter" in n]
