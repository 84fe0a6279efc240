"""Aliases of textbook fractions, and what is said of them: nothing that a seen combination left out could show."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest

import recombine as rc
from recombine.checks.aliases import Aliases, aliases

A, B, C, D, E = range(5)
HALF = [(a, b, c, a ^ b ^ c) for a, b, c in product((0, 1), repeat=3)]
QUARTER = [(a, b, c, a ^ b, a ^ c) for a, b, c in product((0, 1), repeat=3)]
CLEAR = [(a, b, c, d, a ^ b ^ c ^ d) for a, b, c, d in product((0, 1), repeat=4)]


@pytest.mark.parametrize(
    ("seen", "found"),
    [
        (HALF, Aliases((), (((A, B), (C, D)), ((A, C), (B, D)), ((A, D), (B, C))))),
        (QUARTER, Aliases(((A, B), (A, C), (A, D), (A, E), (B, D), (C, E)), (((B, C), (D, E)), ((B, E), (C, D))))),
        (CLEAR, Aliases()),
        (list(product((0, 1), repeat=4)), Aliases()),
        ([(a, b, (a + b) % 3) for a, b in product(range(3), repeat=2)], Aliases()),
        ([(a, b) for a, b in product(range(3), repeat=2) if a != b], Aliases()),
    ],
)
def test_textbook_fractions(seen: list[tuple[int, ...]], found: Aliases) -> None:
    codes = np.array(seen)
    assert aliases(codes, tuple(int(n) for n in codes.max(axis=0) + 1)) == found


def checked(design: list[tuple[int, ...]], interaction: float, seed: int) -> rc.CheckResult:
    rng = np.random.default_rng(seed)
    x = 2 * np.array(design) - 1
    y = 60 + x @ rng.normal(0, 4, x.shape[1]) + interaction * x[:, 0] * x[:, 1] + rng.normal(0, 1, len(x))
    table = pl.DataFrame({"ABCDE"[k]: np.where(x[:, k] < 0, "lo", "hi") for k in range(x.shape[1])}).with_columns(y=y)
    return rc.check(table, factors=list("ABCDE"[: x.shape[1]]), target="y")


def test_a_quarter_is_never_called_determined() -> None:
    for seed in range(4):
        result = checked(QUARTER, 8.0 * (seed % 2), seed)
        assert result.verdict != "determined"
        assert any("A × B" in note and "aliased" in note for note in result.notes)


def test_pairs_that_cannot_be_told_apart_forecast_nothing() -> None:
    results = [checked(HALF, 8.0, seed) for seed in range(4)]
    assert all(result.forecast is None or result.rule != "pairs" for result in results)
    assert any(result.forecast is None for result in results)
    assert all(any("A × B and C × D" in note for note in result.notes) for result in results)


def test_pairs_that_take_up_all_get_no_ranges() -> None:
    results = [checked(CLEAR, 8.0, seed) for seed in range(4)]
    assert all(result.forecast is not None for result in results)
    by_pairs = [result for result in results if result.rule == "pairs"]
    assert by_pairs
    for result in by_pairs:
        assert all(query.low is None for query in result.queries)
        assert any("no ranges" in note for note in result.notes)
