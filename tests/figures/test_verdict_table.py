"""A table of verdicts: its signs, its numbers, and that it fits where it is drawn."""

from __future__ import annotations

import polars as pl
import pytest

from recombine.errors import InputError
from recombine.figures import verdict_table

TABLE = pl.DataFrame(
    {
        "setting": ["planes", "a gap in the first latent of the first component"],
        "A2": [True, False],
        "A4": [None, False],
        "unseen": [0.97, None],
        "unseen_low": [0.96, None],
        "unseen_high": [0.98, None],
    }
)


@pytest.mark.parametrize("width", ["double", "phone"])
def test_signs_and_numbers_stand_in_their_row(width: str) -> None:
    chart = verdict_table(TABLE, "setting", ("A2", "A4"), {"unseen": "R² outside"}, width=width)  # type: ignore[arg-type]
    rows = [row for data in chart.datasets.values() for row in data]
    signs = {(row["x"], row["y"]): row["kind"] for row in rows if row["kind"] in ("holds", "fails", "not fitted")}
    assert sorted(signs.values()) == ["fails", "fails", "holds", "not fitted"]
    first = min(y for _, y in signs)
    assert {kind for (_, y), kind in signs.items() if y == first} == {"holds", "not fitted"}
    texts = [row["text"] for row in rows if row["kind"] == "sentence"]
    assert ("0.970  [0.960, 0.980]" if width == "double" else "0.97") in texts
    assert "–" in texts


def test_nothing_is_cut_off_and_headings_stand_apart_on_a_telephone() -> None:
    name = "small sprites: soft on soft data, separate, of a second size · soft occlusion"
    table = TABLE.with_columns(pl.lit(name).alias("setting"))
    named = {"unseen": "across the splits", "unseen_low": "pooled"}
    data = table.with_columns(pl.lit(None, pl.Float64).alias(f"unseen_low_{end}") for end in ("low", "high"))
    chart = verdict_table(data, "setting", ("A2", "A4"), named, width="phone")
    rows = [row for part in chart.datasets.values() for row in part]
    sentences = [row["text"] for row in rows if row["kind"] == "sentence" and "sprites" in row["text"]]
    assert all(text.replace("\u00a0", " ").replace("\n", " ") == name for text in sentences)
    assert "across\nthe splits" in [row["text"] for row in rows if row["kind"] == "small"]


def test_columns_that_are_missing_are_named() -> None:
    with pytest.raises(InputError, match="A3"):
        verdict_table(TABLE, "setting", ("A2", "A3"), {"unseen": "R²"})
