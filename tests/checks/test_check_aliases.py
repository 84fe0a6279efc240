"""Aliases of textbook fractions, and what is said of them: nothing that a seen combination left out could show."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import polars as pl
import pytest

import recombine as rc
from recombine.checks.exact.aliases import Aliases, aliases
from recombine.checks.holes.never_run import NeverRun, never_run

A, B, C, D, E, F, G = range(7)
HALF = [(a, b, c, a ^ b ^ c) for a, b, c in product((0, 1), repeat=3)]
QUARTER = [(a, b, c, a ^ b, a ^ c) for a, b, c in product((0, 1), repeat=3)]
CLEAR = [(a, b, c, d, a ^ b ^ c ^ d) for a, b, c, d in product((0, 1), repeat=4)]
SATURATED = [(a, b, c, a ^ b, a ^ c, b ^ c, a ^ b ^ c) for a, b, c in product((0, 1), repeat=3)]
FIRST_ROW = [1, 1, 0, 1, 1, 1, 0, 0, 0, 1, 0]
PLACKETT_BURMAN = [tuple(np.roll(FIRST_ROW, k).tolist()) for k in range(11)] + [(0,) * 11]


@pytest.mark.parametrize(
    ("seen", "found"),
    [
        (HALF, Aliases((), (((A, B), (C, D)), ((A, C), (B, D)), ((A, D), (B, C))))),
        (QUARTER, Aliases(((A, B), (A, C), (A, D), (A, E), (B, D), (C, E)), (((B, C), (D, E)), ((B, E), (C, D))))),
        (CLEAR, Aliases()),
        (SATURATED, Aliases(saturated=True)),
        (PLACKETT_BURMAN, Aliases(saturated=True)),
        (SATURATED[:6], Aliases()),
        (list(product((0, 1), repeat=4)), Aliases()),
        ([(a, b, (a + b) % 3) for a, b in product(range(3), repeat=2)], Aliases()),
        ([(a, b) for a, b in product(range(3), repeat=2) if a != b], Aliases()),
    ],
)
def test_textbook_fractions(seen: Sequence[tuple[int, ...]], found: Aliases) -> None:
    codes = np.array(seen)
    assert aliases(codes, tuple(int(n) for n in codes.max(axis=0) + 1)) == found


def checked(design: Sequence[tuple[int, ...]], interaction: float, seed: int) -> rc.CheckResult:
    rng = np.random.default_rng(seed)
    x = 2 * np.array(design) - 1
    y = 60 + x @ rng.normal(0, 4, x.shape[1]) + interaction * x[:, 0] * x[:, 1] + rng.normal(0, 1, len(x))
    table = pl.DataFrame({"ABCDEFGHIJK"[k]: np.where(x[:, k] < 0, "lo", "hi") for k in range(x.shape[1])}).with_columns(
        y=y
    )
    return rc.check(table, factors=list("ABCDEFGHIJK"[: x.shape[1]]), target="y")


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


def unrun(seen: Sequence[tuple[int, ...]], asked: Sequence[tuple[int, ...]] | None = None) -> NeverRun | None:
    rest = sorted(set(product((0, 1), repeat=len(seen[0]))) - set(seen)) if asked is None else asked
    return never_run(np.array(seen), (2,) * len(seen[0]), np.array(rest))


def test_words_of_textbook_fractions() -> None:
    assert unrun(HALF) == NeverRun(((A, B, C, D),), 8, 8)
    assert unrun(CLEAR) == NeverRun(((A, B, C, D, E),), 16, 16)
    assert unrun(QUARTER) == NeverRun(((A, B, D), (A, C, E), (B, C, D, E)), 24, 24)
    found = unrun(SATURATED)
    assert found is not None
    assert found.outside == found.asked == 120
    lengths = [len(word) for word in found.words]
    assert lengths == [3] * 7 + [4] * 7
    assert unrun(PLACKETT_BURMAN) is None
    assert unrun([row[:7] for row in PLACKETT_BURMAN]) is None


def test_a_fraction_with_a_run_lost_and_one_with_a_run_of_the_other_half() -> None:
    assert unrun(HALF[1:]) == NeverRun(((A, B, C, D),), 8, 9)
    assert unrun([*HALF, (0, 0, 0, 1)]) is None


def test_nothing_is_said_where_the_asked_ones_lie_in_the_fraction() -> None:
    assert unrun(CLEAR[:-4], CLEAR[-4:]) is None


def test_a_factor_of_three_levels_beside_a_fraction() -> None:
    grid = [(*row, third) for row in product((0, 1), repeat=4) for third in range(3)]
    seen = [row for row in grid if row[:4] in HALF]
    asked = [row for row in grid if row[:4] not in HALF]
    assert never_run(np.array(seen), (2, 2, 2, 2, 3), np.array(asked)) == NeverRun(((A, B, C, D),), 24, 24)


@pytest.mark.parametrize(("factors", "rows"), [(5, 16), (4, 12), (4, 8), (5, 8), (7, 8), (7, 16)])
def test_random_parts_of_a_grid_are_no_fractions(factors: int, rows: int) -> None:
    grid, found = np.array(list(product((0, 1), repeat=factors))), 0
    for seed in range(60):
        order = np.random.default_rng(seed).permutation(len(grid))
        found += never_run(grid[order[:rows]], (2,) * factors, grid[order[rows:]]) is not None
    assert found == 0


@pytest.mark.parametrize("design", [SATURATED, PLACKETT_BURMAN])
def test_a_saturated_design_forecasts_nothing_and_keeps_its_warning(design: Sequence[tuple[int, ...]]) -> None:
    for seed in range(2):
        result = checked(design, 8.0 * (seed % 2), seed)
        assert result.forecast is None
        assert result.verdict == "assumption unsupported"
        assert any("no interaction of any two factors" in note and "aliased" in note for note in result.notes)


@pytest.mark.parametrize(("design", "word"), [(HALF, "A × B × C × D is"), (CLEAR, "A × B × C × D × E is")])
def test_what_lies_in_the_fraction_never_run_is_a_condition(design: Sequence[tuple[int, ...]], word: str) -> None:
    for seed in range(2):
        result = checked(design, 0.0, seed)
        assert result.verdict != "determined"
        assert result.fails(["assumption"])
        (note,) = [note for note in result.notes if word in note and "never run" in note]
        assert note.endswith("Once four or so of the asked ones are run and added, it can show.")
        assert result.forecast is None or "fraction that was never run" in result.sentence()


def test_a_random_half_of_a_grid_may_be_determined() -> None:
    grid = list(product((0, 1), repeat=5))
    results = []
    for seed in range(2):
        drawn = np.random.default_rng(seed).permutation(32)[:16]
        results.append(checked([grid[k] for k in drawn], 0.0, seed))
    assert any(result.verdict == "determined" for result in results)
    assert not any("never run" in note for result in results for note in result.notes)
