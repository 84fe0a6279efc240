"""Series that are asked about beyond their end: others are cut as short to try the forecast."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from planted_tables import grid

import recombine as rc
from recombine.checks import CheckResult
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.holes.ends_early import EndsEarly, beyond_ends, chance_of_ends, ends_early
from recombine.checks.rules.cut_short import CutShort, Series
from recombine.checks.rules.stand_ins import stand_ins
from recombine.space import Factor, FactorSpace


def found(holes: np.ndarray, names: tuple[str, str] = ("m", "w")) -> EndsEarly | None:
    """In a table of machines and weeks of which these are asked about, all others seen."""
    levels = (
        [f"{name}{i}" if name else "abcdefghijklmnop"[i] for i in range(n)]
        for name, n in zip(names, holes.shape, strict=True)
    )
    space = FactorSpace(tuple(Factor(f, tuple(v)) for f, v in zip(("machine", "week"), levels, strict=True)))
    cells = grid(*holes.shape)
    known = Identifiability(cells[~holes.ravel()], holes.shape, 1)
    return ends_early(known, cells[holes.ravel()], space)


def short(machines: list[int], weeks: int, shape: tuple[int, int] = (12, 10)) -> np.ndarray:
    holes = np.zeros(shape, dtype=bool)
    holes[machines, -weeks:] = True
    return holes


def test_the_chance_that_so_many_are_at_the_ends_is_that_of_all_tables():
    seen = np.ones((2, 5), dtype=bool)
    seen[0, [1, 4]] = seen[1, [2, 3, 4]] = False
    beyond = beyond_ends(seen, ~seen, np.arange(5))
    assert np.argwhere(beyond).tolist() == [[0, 4], [1, 2], [1, 3], [1, 4]]

    def at_the_end(holes: tuple[int, ...]) -> int:
        return next(r for r in itertools.count() if 4 - r not in holes)

    tables = itertools.product(itertools.combinations(range(5), 2), itertools.combinations(range(5), 3))
    many = [sum(map(at_the_end, rows)) >= 4 for rows in tables]
    assert chance_of_ends(seen, ~seen, beyond) == pytest.approx(np.mean(many))


def test_series_that_end_early_or_begin_late_are_found_whatever_their_order():
    machines = [9, 2, 5, 7]
    told = found(short(machines, 3))
    assert (told.factor, told.steps, told.ends) == ("machine", "week", "last")
    assert "other levels of machine, with as many of their last levels of week left out" in told.words
    assert found(short(machines, 3)[:, ::-1]).ends == "first"
    assert found(short(machines, 3).T, ("w", "")).factor == "week"  # the column of machines may come second
    assert found(short(machines, 3), ("m", "")) is None  # texts without a number have no order
    triangle = np.add.outer(np.arange(10), np.arange(10)) > 12
    assert found(triangle) is None  # late cohorts have no late ages: none can be cut as short


def test_random_holes_are_no_ends():
    for seed in range(200):
        holes = np.random.default_rng(seed).random((12, 10)) < [0.1, 0.3, 0.5][seed % 3]
        seen = ~holes
        assert found(holes & seen.any(axis=0) & seen.any(axis=1)[:, None]) is None


def test_another_series_is_cut_where_the_asked_one_ends():
    holes = short([9, 2, 5, 7], 3)
    cells = grid(12, 10)
    seen, asked = cells[~holes.ravel()], cells[holes.ravel()]
    series = Series(0, 1, np.arange(10))
    assert CutShort(series, seen, asked).beyond.all()
    drawn = stand_ins(seen, (12, 10), asked, 60, np.random.default_rng(0), series=series)
    assert len(drawn.groups) == 60
    for group in drawn.groups:
        (machine, week), others = seen[group[0]], seen[group]
        assert machine not in (9, 2, 5, 7)
        assert week >= 7
        assert sorted(others.tolist()) == [[machine, w] for w in (7, 8, 9)]  # all of its last weeks, and no more


def trending(seed: int, ends: bool) -> tuple[CheckResult, float]:
    """Machines that drift, each in its own direction; 8 of 20 lack the last 5 of 15 weeks, or as many at random."""
    rng = np.random.default_rng(seed)
    y = 10 + np.outer(0.4 * rng.standard_normal(20), np.arange(15)) + rng.standard_normal((20, 15))
    holes = short(rng.choice(20, 8, replace=False), 5, (20, 15))
    if not ends:
        holes = rng.permuted(holes.ravel()).reshape(20, 15)
    rows = [(f"m{i}", j, float(y[i, j])) for i, j in np.argwhere(~holes).tolist()]
    table = dict(zip(("machine", "week", "y"), map(list, zip(*rows, strict=True)), strict=True))
    result = rc.check(table, ["machine", "week"], target="y", draws=9)
    said = {q.codes: q.prediction for q in result.queries}
    of_machine = [int(str(level)[1:]) for level in result.space.factors[0].levels]
    off = [said[m, w] - y[of_machine[m], w] for m, w in said]
    return result, math.sqrt(np.mean(np.square(off)))


def test_of_drifting_series_the_forecast_is_of_their_ends():
    ratios, held = [], 0
    for seed in range(4):
        result, came = trending(seed, ends=True)
        told = result.forecast
        ratios.append(told.error / came)
        held += told.low <= came <= told.high
        assert told.to_dict()["level"].startswith("meant for 90 %, held about 6 times in 7 on real panels")
        assert "90 %:" not in result.sentence()
        assert "It was tried on other levels of machine, with as many of their last levels" in result.sentence()
        assert told.to_dict()["early"] == {"factor": "machine", "steps": "week", "lack": "last"}
    assert 0.85 < np.median(ratios) < 1.2  # 0.99; 0.76 with stand-ins of any week, none of them cut short
    assert held >= 3


def test_random_holes_of_drifting_series_are_tried_as_before():
    result, _ = trending(0, ends=False)
    assert result.forecast.early is None
    assert "It was tried on" not in result.sentence()


def test_too_few_other_series_leave_the_forecast_as_it_was():
    rng = np.random.default_rng(0)
    cells = [(i, j) for i in range(6) for j in range(12) if j < 9 or i == 0]
    table = {
        "machine": [f"m{i}" for i, _ in cells],
        "week": [j for _, j in cells],
        "y": rng.standard_normal(len(cells)),
    }
    result = rc.check(table, ["machine", "week"], target="y", draws=9)
    assert result.forecast is not None
    assert result.forecast.early is None
