"""Rows in another unit are named where their combination has others; other noise, and kinds of rows, are not."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from planted_tables import grid

from recombine.checks import check
from recombine.checks.slips.units import mixed_units, parted_by
from recombine.support.table import read_tables

CELL = np.repeat(np.arange(30), 3)


def mean(rng: np.random.Generator) -> np.ndarray:
    return np.exp(3 + 0.7 * rng.standard_normal(30))[CELL]


@pytest.mark.parametrize("factor", [10, 1000, 2.54, 453.592, 60])
def test_a_factor_of_units_and_its_rows_are_found(factor):
    rng = np.random.default_rng(0)
    odd = rng.random(90) < 0.2
    y = mean(rng) * np.exp(0.03 * rng.standard_normal(90)) * np.where(odd, factor, 1)
    found = parted_by(CELL, y)
    assert found is not None
    told, high, cells = found
    assert told == factor
    mixed = [c for c in range(30) if 0 < odd[c == CELL].sum() < 3]
    assert cells.tolist() == mixed
    assert (high == (odd & np.isin(CELL, mixed))).all()
    assert parted_by(CELL, -y)[0] == factor  # also of answers below zero


NULLS = {
    "lognormal": lambda m, rng: m * np.exp(rng.standard_normal(90)),
    "long tails": lambda m, rng: m + 2 * rng.standard_t(1.5, 90),
    "long tails of logarithms": lambda m, rng: m * np.exp(0.1 * rng.standard_cauchy(90).clip(-300, 300)),
    "counts": lambda m, rng: rng.poisson(m / 5).astype(float),
    "per cents": lambda m, rng: (100 * rng.beta(0.4, 0.4, 90)).round(1),
    "tenfold dilutions": lambda m, rng: 10.0 ** np.round(np.log10(m) + 0.8 * rng.standard_normal(90)),
    "two kinds, so much apart": lambda m, rng: m + 200 * (rng.random(90) < 0.3) + rng.standard_normal(90),
    "two kinds, each its ratio": lambda m, rng: m * np.where(rng.random(90) < 0.3, rng.uniform(5, 20, 30)[CELL], 1),
    "two kinds, three times": lambda m, rng: m * np.where(rng.random(90) < 0.3, 3, 1) * rng.normal(1, 0.05, 90),
}


@pytest.mark.parametrize("null", NULLS)
def test_other_noise_and_kinds_of_rows_are_no_units(null):
    rngs = [np.random.default_rng([seed, 1]) for seed in range(40)]
    assert sum(parted_by(CELL, NULLS[null](mean(rng), rng)) is not None for rng in rngs) == 0


def test_check_names_the_rows_in_the_first_note_and_shows_nothing_until_they_are_mended():
    rng = np.random.default_rng(2)
    codes = grid(7, 6)[rng.permutation(42)[:30]][CELL]
    y = np.exp(codes @ [0.2, 0.3] + 0.05 * rng.standard_normal(90))
    odd = [4, 13, 22, 40, 41, 77]
    mixed = np.where(np.isin(np.arange(90), odd), y / 1000, y)
    table = pl.DataFrame({"a": codes[:, 0].astype(str), "b": codes[:, 1].astype(str), "y": mixed})
    result = check(table, ["a", "b"], target="y", draws=9)
    assert result.notes[0].startswith("in 5 combinations some rows are about a 1,000th of the others: units mixed up?")
    assert "the rows 5, 14, 23, 41, 42, 78 below the header" in result.notes[0]
    assert (result.slips, result.units, result.verdict) == (1, True, "assumption unsupported")
    assert "Mend these first" in result.sentence()
    assert "may be a slip" not in result.sentence()
    assert "some rows seem to be in another unit, a note names them" in result.sentence()
    whole = check(table.with_columns(y=pl.Series(y)), ["a", "b"], target="y", draws=9)
    assert not whole.units
    assert not any("units" in note for note in whole.notes)


def test_rows_keep_their_places_where_some_have_no_answer():
    rng = np.random.default_rng(3)
    y = list(mean(rng) * np.where(np.arange(90) % 9 == 4, 1000, 1) * np.exp(0.02 * rng.standard_normal(90)))
    table = pl.DataFrame({"a": ["a0", *CELL.astype(str)], "y": [None, *y]})
    train = read_tables([table], ["a"], target="y")[0]
    found = mixed_units(table, train, target="y")
    assert found is not None
    assert found.rows == tuple(range(5, 91, 9))
    assert found.larger
