"""Rows of one patient are no repeats of each other: who is right is not accused of them, and nobody is let off."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from recombine.errors import InputError
from recombine.mechanisms import measure_predictions

SIDE, PATIENTS, VISITS = 6, 3, 4
CELL = np.repeat(np.arange(SIDE**2), PATIENTS * VISITS)
A, B = CELL // SIDE, CELL % SIDE
PATIENT = CELL * PATIENTS + np.tile(np.repeat(np.arange(PATIENTS), VISITS), SIDE**2)
UNSEEN = (A + 2 * B) % SIDE == 0
TEST = UNSEEN | (PATIENT % PATIENTS == 0)
RNG = np.random.default_rng(2)
RIGHT = RNG.normal(size=SIDE)[A] + RNG.normal(size=SIDE)[B]
ALIKE = RIGHT + RNG.normal(size=PATIENT.max() + 1)[PATIENT] + 0.1 * RNG.normal(size=len(CELL))


def table(**columns):
    return pl.DataFrame(
        {"a": A, "b": B, "patient": [f"p{k:03}" for k in PATIENT], "part": np.where(TEST, "test", "train"), "y": ALIKE}
        | {"p": RIGHT}
        | columns
    )


def measured(rows, **options):
    return measure_predictions(rows, ["a", "b"], target="y", prediction="p", split="part=test", **options)


def test_a_right_model_is_not_accused_by_patients_that_are_taken_for_repeats():
    plain, grouped = measured(table()), measured(table(), group="patient")
    assert plain.comparison.floor.high < grouped.comparison.floor.mean
    assert plain.verdict == "not fitted"
    assert grouped.verdict == "composes"
    assert [note for note in plain.notes if "--group patient (group='patient')" in note]
    assert plain.sentence().endswith("judge again with --group patient.")
    assert "adds up where the truth does not" not in " ".join([plain.sentence(), *plain.notes])
    (said,) = [note for note in grouped.notes if "'patient'" in note]
    assert said == "Rows of one 'patient' in one combination count as one (their mean): 108 of 432 rows are left."


def test_one_fixed_answer_to_unseen_combinations_is_found_among_patients():
    less = RIGHT + 0.4 * (ALIKE - RIGHT)
    failing = table(y=less, p=np.where(UNSEEN, 2.0 + RIGHT.mean(), RIGHT))
    assert measured(failing, group="patient").verdict == "fails"


def test_of_classes_one_row_of_each_patient_is_drawn_and_those_of_both_sides_are_counted():
    yes = np.where(ALIKE > 0, "yes", "no")
    rows = table(
        y=yes,
        p=np.where(RIGHT > 0, "yes", "no"),
        part=np.where(UNSEEN | (np.arange(len(CELL)) % 4 == 0), "test", "train"),
    )
    result = measured(rows, group="patient")
    assert result.answers.counts[result.answers.unseen].tolist() == [PATIENTS] * SIDE
    assert "90 of 108 have both training rows and test rows" in " ".join(result.notes)
    marks = table(y=np.clip(ALIKE.round(), -1, 2).astype(int) + 1, p=np.clip(RIGHT.round(), -1, 2).astype(int) + 1)
    assert measured(marks.filter(pl.col("b") < 2), group="patient").answers.classes == ("0", "1", "2", "3")
    assert result.to_json() == measured(rows, group="patient").to_json()


def test_a_training_table_has_patients_too():
    rows = table()
    test, train = rows.filter(pl.col("part") == "test"), rows.filter(pl.col("part") == "train")
    asked = {"target": "y", "prediction": "p", "group": "patient"}
    result = measure_predictions(test, ["a", "b"], train=train, **asked)
    assert result.answers.trained.weights.sum() == 60
    with pytest.raises(InputError, match="unknown column 'patient'"):
        measure_predictions(test, ["a", "b"], train=train.drop("patient"), **asked)


def test_rows_without_a_patient_and_columns_that_are_something_else_are_refused():
    blank = table().with_columns(pl.when(pl.col("a") > 0).then("patient").alias("patient"))
    with pytest.raises(InputError, match="72 rows have no 'patient'"):
        measured(blank, group="patient")
    assert "90 of 360" in measured(blank, group="patient", missing="drop").notes[0]
    with pytest.raises(InputError, match="'a' is named as the group and as something else"):
        measured(table(), group="a")
    with pytest.raises(InputError, match="cut into bins"):
        measured(table(), group="patient", bins={"a": 2})


def test_levels_that_differ_in_a_space_are_named_and_merged():
    places = np.where(TEST & ~UNSEEN & (A < 3), "a%d ", "a%d")
    rows = table(a=[text % k for text, k in zip(places, A, strict=True)])
    plain, merged = measured(rows), measured(rows, merge_alike=True)
    assert int(plain.answers.unseen.sum()) > int(merged.answers.unseen.sum()) == SIDE
    assert "--merge-alike (merge_alike=True) counts them as one" in plain.notes[0]
    assert "'a0' and 'a0 '" in merged.notes[0]
    assert "each counts as the first" in merged.notes[0]
    train = rows.filter(pl.col("part") == "train")
    apart = measure_predictions(
        rows.filter(pl.col("part") == "test"), ["a", "b"], target="y", prediction="p", train=train, merge_alike=True
    )
    assert int(apart.answers.unseen.sum()) == SIDE


def test_decimal_commas_are_called_that():
    rows = table(y=[f"{v:.3f}".replace(".", ",") for v in ALIKE], p=[f"{v:.4f}".replace(".", ",") for v in RIGHT])
    with pytest.raises(InputError, match="have decimal commas; write points"):
        measured(rows)
