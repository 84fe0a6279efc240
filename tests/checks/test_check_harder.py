"""Levels that err more than others: named where they were planted, and not where all cells are alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import recombine as rc
from recombine.checks.forecasts.forecast import forecast
from recombine.checks.forecasts.harder import Harder, asked_over_tried, harder
from recombine.checks.rules.adding import Adding
from recombine.checks.rules.seen_cells import Cells
from recombine.space import FactorSpace

SHAPE = (8, 8)
SPACE = FactorSpace.of(model=SHAPE[0], task=SHAPE[1])
ASKED = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])


def found(seed: int, noise_of_one: float) -> tuple[Harder, ...]:
    rng = np.random.default_rng(seed)
    codes = np.stack(np.unravel_index(np.arange(64), SHAPE), axis=1)
    codes = codes[(codes > 1).any(axis=1)]
    noise = np.where(codes[:, 1] == 0, noise_of_one, 1.0) * rng.normal(size=len(codes))
    answers = rng.normal(0, 3, 8)[codes[:, 0]] + rng.normal(0, 3, 8)[codes[:, 1]] + noise
    rule = Adding("additive", Cells(codes, SHAPE, np.ones(len(codes)), answers, None), 1)
    return harder(rule, ASKED, SPACE)


def test_a_level_that_errs_five_times_as_much_is_named() -> None:
    told = [found(seed, 5.0) for seed in range(40)]
    named = [[(h.factor, h.level, h.seen, h.asked) for h in each] for each in told]
    assert sum(("task", "0", 6, 2) in each for each in named) >= 24
    assert all(h.error > 1.5 * h.elsewhere for each in told for h in each)


def test_where_all_are_alike_nothing_is_named() -> None:
    # One in a hundred is meant; five of eighty are one in five hundred then.
    assert sum(bool(found(seed, 1.0)) for seed in range(80)) < 5


def test_what_is_not_asked_about_is_not_named() -> None:
    assert all(h.level != "0" for seed in range(5) for h in found(seed, 1e-6))


@pytest.mark.parametrize("noise", [12.0, 1.0])
def test_check_says_so(noise: float) -> None:
    rng = np.random.default_rng(1)
    rows = [{"model": f"m{i}", "task": f"t{j}", "score": 5.0 * i - 3 * j + (noise if j == 0 else 1.0) * rng.normal()}
            for i in range(8) for j in range(8)]  # fmt: skip
    table = pl.DataFrame(rows).with_columns(
        score=pl.when(pl.col("model").is_in(["m0", "m1"]) & pl.col("task").is_in(["t0", "t1"]))
        .then(None)
        .otherwise(pl.col("score"))
    )
    checked = rc.check(table, factors=["model", "task"], target="score")
    named = [level["level"] for level in checked.to_dict()["forecast"]["harder"]]
    assert named == (["t0"] if noise > 1 else [])
    assert any("task t0 errs by" in note for note in checked.notes) == (noise > 1)
    most = replace(checked.forecast, apart=(), cells=3)  # two of three asked ones have it
    assert ("On the 2 of them with task t0, which errs more where it is seen, expect" in most.words) == (noise > 1)
    assert most.worst_error == max([most.error, *(h.error for h in most.harder)])
    calm = replace(checked.forecast, _deviations=0.3).estimate(np.array([[0, 0]]))  # all tried were of calmer levels
    assert (calm.high[0] - calm.low[0] > 3 * checked.forecast.harder[0].error) if noise > 1 else not most.harder


def test_pairs_that_take_up_all_name_no_harder_level() -> None:
    """Without ranges none is wider, and a combination left out alone is not forgotten by such pairs."""
    seen = [8, 3, 1, 5, 15, 6, 12, 9, 10, 0, 2]
    answers = [99.8, 101.8, 100.7, 100.4, 107.8, 100.7, 106.3, 102.0, 100.6, 99.8, 99.4]
    rows = {name: [cell >> place & 1 for cell in seen] for name, place in zip("abcd", (3, 2, 1, 0), strict=True)}
    checked = rc.check({**rows, "y": answers}, factors=[*"abcd"], target="y", draws=9)
    assert checked.rule == "pairs"
    assert any("answers have no ranges" in note for note in checked.notes)
    assert checked.forecast.harder == ()


def test_what_is_expected_of_a_level_is_its_mean_shrunk() -> None:
    """Two levels of six cells, one errs by 3, one by 1: z̄ = 1.8 and .2, r = 1 without noise, so 9 times as much."""
    codes = np.array([[0, j] for j in range(6)] + [[1, j] for j in range(6)])
    cells = Cells(codes, (2, 6), np.ones(12), np.zeros(12), None)
    rule = Adding("constant", cells, 0)
    rule.left_out = lambda groups: np.array([[3.0 if codes[g[0], 0] == 0 else 1.0] for g in groups])  # type: ignore[method-assign]
    assert asked_over_tried(rule, codes[:2], codes[6:]) == pytest.approx(9.0)
    assert asked_over_tried(rule, codes, codes) == pytest.approx(1.0)


def test_a_forecast_is_for_the_levels_that_are_asked() -> None:
    """One task of eight errs four times as much: asked about it, the forecast is larger than asked about others."""
    held, factors = [], []
    for seed in range(14):
        rng = np.random.default_rng(seed)
        codes = np.stack(np.unravel_index(np.arange(64), SHAPE), axis=1)
        noise = np.where(codes[:, 1] == 0, 4.0, 1.0) * rng.normal(size=64)
        answers = rng.normal(0, 3, 8)[codes[:, 0]] + rng.normal(0, 3, 8)[codes[:, 1]] + noise
        cells = Cells(codes, SHAPE, np.ones(64), answers, None)
        for tasks in ((0, 1), (2, 3)):
            out = (codes[:, 0] < 2) & np.isin(codes[:, 1], tasks)
            found = forecast(cells.take(~out), codes[out], seed=seed)
            assert not isinstance(found, str)
            real = np.sqrt(((found.estimate(codes[out]).answers - answers[out]) ** 2).mean())
            held.append([found.low <= real <= found.high, found.low <= real * found.levels <= found.high])
            factors.append(found.levels)
    assert np.median(factors[::2]) > 1.3 > 1 > np.median(factors[1::2])
    now, before = np.mean(held, axis=0)
    assert before < now > 0.8


@pytest.mark.parametrize(("rows", "most"), [(1, 1.1), (5, 0.95)])
def test_the_only_combination_of_a_level_does_not_make_asked_ones_harder(rows: int, most: float) -> None:
    """Left out it errs by all that its level does, which says nothing of asked combinations of that level; these err
    less the more rows it has."""
    levels = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        codes = np.stack(np.unravel_index(np.arange(72), (12, 6)), axis=1)
        thin = codes[:, 0] > 7
        seen = np.where(thin, codes[:, 1] == 0, rng.random(72) < 0.75)
        codes, often = codes[seen], np.where(thin[seen], rows, 1.0)
        noise = 0.3 * rng.normal(size=len(codes)) / np.sqrt(often)
        answers = 4 * rng.normal(size=12)[codes[:, 0]] + rng.normal(size=6)[codes[:, 1]] + noise
        asked = np.stack([np.repeat(np.arange(8, 12), 5), np.tile(np.arange(1, 6), 4)], axis=1)
        told = forecast(Cells(codes, (12, 6), often, answers, 0.09 if rows > 1 else None), asked)
        assert not isinstance(told, str)
        levels.append(told.levels)
    assert np.mean(levels) < most, levels
