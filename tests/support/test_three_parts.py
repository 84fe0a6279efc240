"""A validation set is neither trained on nor asked about, where training rows are called so."""

from __future__ import annotations

import polars as pl
import pytest

import recombine as rc
from recombine.mechanisms import measure_predictions
from recombine.support.split import without_others
from recombine.support.table import read_tables

ROWS = [(a, b, part) for a in range(4) for b in range(4) for part in ("train", "train", "val", "test")]
UNSEEN = [(0, 0), (1, 1), (2, 2)]
ROWS = [row for row in ROWS if row[:2] not in UNSEEN or row[2] != "train"]
FRAME = pl.DataFrame(ROWS, schema=["a", "b", "part"], orient="row").with_columns(
    y=pl.col("a") + 2.0 * pl.col("b"), p=pl.col("a") + 2.0 * pl.col("b")
)
LEFT_OUT = "16 rows with part = 'val' were left out: neither trained on ('train') nor asked about ('test')."


def test_combinations_of_a_validation_set_stay_unseen():
    train, test = read_tables([FRAME], ["a", "b"], target="y", split=("part", "test"))
    assert (train.rows, len(train.codes), test.rows) == (26, 13, 16)
    assert train.notes == (LEFT_OUT,)
    assert LEFT_OUT in rc.check(FRAME, ["a", "b"], target="y", split="part=test").notes
    how = {"target": "y", "prediction": "p", "split": "part=test"}
    found = measure_predictions(FRAME, ["a", "b"], **how)
    assert found.answers.unseen.sum() == 3
    assert LEFT_OUT in found.notes
    grouped = measure_predictions(FRAME.with_columns(g=pl.lit("one")), ["a", "b"], group="g", **how)
    assert "count as one (their mean): 29 of 42 rows are left" in grouped.notes[0]


def test_rows_keep_their_numbers_where_others_are_left_out():
    wild = pl.when(pl.int_range(pl.len()) == len(ROWS) - 1).then(1e6).otherwise("p")
    found = measure_predictions(FRAME.with_columns(p=wild), ["a", "b"], target="y", prediction="p", split="part=test")
    assert f"row {len(ROWS)} (a = 3, b = 3)" in found.sentence()


@pytest.mark.parametrize(
    ("values", "kept", "said"),
    [
        (["Training ", "test", "Dev", "dev"], 2, "2 rows with s = 'Dev' or 'dev' were left out"),
        (["train_a", "train_b", "test"], 3, ""),
        (["train", "test", "blank", None, " "], 5, ""),
        (["test", "Trainor", "Oslo"], 3, "Rows with s = 'Oslo' or 'Trainor' are all taken as trained on."),
        (["test", "old"], 2, ""),
        ([*"01234", "test"], 6, "Rows with s = '0', '1', '2' and 2 more are all taken as trained on."),
        (["train", "val"], 2, ""),
    ],
)
def test_others_are_left_out_only_beside_rows_that_are_called_training(values, kept, said):
    frame, notes = without_others(pl.DataFrame({"s": values}).lazy(), "s", "test")
    assert frame.collect().height == kept
    assert notes == [] if not said else notes[0].startswith(said)


def test_test_rows_alone_are_refused_with_what_to_add():
    alone = FRAME.filter(pl.col("part") == "test")
    with pytest.raises(rc.InputError, match=r"nothing that was trained on; add those rows, or name .* \(--train\)"):
        measure_predictions(alone, ["a", "b"], target="y", prediction="p", split="part=test")
