"""A table exported twice counts once; genuine repeats of few or rounded answers stay."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import recombine as rc
from recombine.support.table import read_tables

rng = np.random.default_rng(0)


def table(rows, draw):
    """Of rows of combinations, two of three of which are there."""
    each = [(f"a{i}", f"b{j}", draw(i, j)) for i in range(8) for j in range(6) if (i + j) % 3 for _ in range(rows)]
    return pl.DataFrame(each, schema=["a", "b", "y"], orient="row")


KINDS = {
    "continuous": (2, lambda i, j: i + 3 * j + rng.normal()),
    "tenths": (6, lambda i, j: round(20 + i + 3 * j + rng.normal(), 1)),
    "hundredths far apart": (20, lambda i, j: round(20 + 10 * i + 30 * j + rng.normal(), 2)),
    "coarser than the noise": (2, lambda i, j: round(1000 + 113 * i + 371 * j + rng.normal(0, 0.5))),
    "ratings": (20, lambda i, j: int(rng.integers(1, 6))),
    "flags": (4, lambda i, j: int(rng.integers(2))),
    "classes": (4, lambda i, j: "xyz"[rng.integers(3)]),
    "piled up": (5, lambda i, j: min(20.0, 14 + i + j + rng.normal())),
}


@pytest.mark.parametrize("kind", KINDS)
def test_only_copies_count_once(kind):
    once = table(*KINDS[kind])
    for times in (1, 2, 5):
        (read,) = read_tables([pl.concat([once] * times)], ["a", "b"], target="y", once=True)
        assert read.rows == len(once)
        assert any("copies count once" in note for note in read.notes) == (times > 1)
    stamped = pl.concat([once] * 2).with_row_index("id")  # not whole rows repeat
    assert read_tables([stamped], ["a", "b"], target="y", once=True)[0].rows == 2 * len(once)


def test_a_part_exported_again_counts_once_and_sums_stay_sums(tmp_path):
    once = table(*KINDS["continuous"]).with_columns(pl.lit("kept").alias("other"))
    pl.concat([once, once[:30]]).write_csv(tmp_path / "again.csv")
    again, alone = (rc.check(t, ["a", "b"], target="y") for t in (tmp_path / "again.csv", once))
    assert "30 rows repeat others in every column, to the last digit: taken for copies, they count once." in again.notes
    assert (again.verdict, again.forecast.error) == (alone.verdict, pytest.approx(alone.forecast.error))
    assert rc.check(pl.concat([once] * 5), ["a", "b"], target="y").verdict == alone.verdict != "assumption rejected"
