"""Combinations of a name with itself are left out where none was seen beyond chance, and else asked about."""

from __future__ import annotations

import numpy as np
import polars as pl

import recombine as rc
from recombine.checks.holes.itself import with_itself
from recombine.space import FactorSpace

SIDE = 10


def games(seed: int, frac: float = 0.6, itself: bool = False) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    strength = rng.normal(0, 8, SIDE)
    return pl.DataFrame(
        [
            {"home": f"T{i}", "away": f"T{j}", "margin": 3 + strength[i] - strength[j] + rng.normal(0, 5)}
            for i in range(SIDE) for j in range(SIDE) if (itself or i != j) and rng.random() < frac
        ]
    )  # fmt: skip


def test_no_team_is_asked_about_or_planned_against_itself() -> None:
    result = rc.check(games(0), ["home", "away"], target="margin", purpose=rc.Purpose(budget=5), draws=9)
    asked = [result.combination(q.codes) for q in result.queries]
    assert len(asked) == SIDE * (SIDE - 1) - len(result.known.codes)
    assert all(c["home"] != c["away"] for c in [*asked, *result.suggestions])
    assert result.plan is not None
    assert (result.plan.cells[:, 0] != result.plan.cells[:, 1]).all()
    assert "without those of the same home and away" in result.asked
    assert any(
        note.startswith("home and away have the same names, and no row has one of them twice") for note in result.notes
    )


def test_who_names_such_a_combination_gets_an_answer() -> None:
    twice = pl.DataFrame({"home": ["T1", "T2"], "away": ["T1", "T3"]})
    result = rc.check(games(0), ["home", "away"], target="margin", test=twice, draws=9)
    assert {"home": "T1", "away": "T1"} in [result.combination(q.codes) for q in result.queries]
    assert not any("same names" in note for note in result.notes)
    said = "for the same home and away: the one that is forecast is of the same home and away, of which none was seen"
    assert said in result.sentence()
    assert [q.codes for q in result.queries if result.doubt_of(q)] == [(1, 1)]


def test_holes_at_random_are_asked_about() -> None:
    fired, tried = 0, 0
    for side in (3, 5, 8, 12):
        names = [f"T{i}" for i in range(side)]
        space = FactorSpace.of(home=names, away=names)
        for seed in range(150):
            rng = np.random.default_rng(80_000 + seed)
            seen = np.argwhere(rng.random((side, side)) < (0.2, 0.5, 0.8)[seed % 3])
            tried += 1
            fired += len(seen) > 0 and bool(with_itself(seen, space)[0])
    assert fired <= 0.02 * tried


def test_one_row_of_a_name_with_itself_shows_that_they_exist() -> None:
    names = [f"T{i}" for i in range(8)]
    codes = np.array([(i, j) for i in range(8) for j in range(8) if i != j])
    assert len(with_itself(codes, FactorSpace.of(home=names, away=names))[0]) == 8
    assert with_itself(np.vstack([codes, [[3, 3]]]), FactorSpace.of(home=names, away=names)) == ([], ())
    assert with_itself(codes, FactorSpace.of(home=names, away=[f"S{i}" for i in range(8)])) == ([], ())
    assert with_itself(codes, FactorSpace.of(home=8, away=8)) == ([], ())  # numbers may be equal
