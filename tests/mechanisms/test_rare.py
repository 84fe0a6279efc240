"""Rare events: the usual class is the best answer nearly everywhere, and probabilities tell what was learnt."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from recombine.errors import InputError
from recombine.mechanisms import measure_predictions

ROWS = 120
A, B = np.indices((6, 8)).reshape(2, -1)
UNSEEN = (A + 2 * B) % 4 == 0
EFFECTS = np.random.default_rng(0).normal(0, 0.8, (2, 8))
CHANCE = 1 / (1 + np.exp(-np.minimum(EFFECTS[0, A] + EFFECTS[1, B] - 2.6, -0.3)))
HAPPENED = np.random.default_rng(1).random((48, ROWS)) < CHANCE[:, None]
TURNED = CHANCE.copy()
TURNED[UNSEEN] = np.sort(CHANCE[UNSEEN])[::-1][CHANCE[UNSEEN].argsort().argsort()]
"""Of unseen combinations the likely ones are taken for the unlikely ones."""


def measured(said, happened=HAPPENED, prediction="p", **more):
    test = UNSEEN[:, None] | (np.arange(ROWS) % 4 == 0)
    table = pl.DataFrame({
        "a": A.repeat(ROWS), "b": B.repeat(ROWS), "y": np.where(happened, "yes", "no").ravel(),
        "part": np.where(test, "test", "train").ravel(), "p": said.repeat(ROWS),
    })  # fmt: skip
    if not isinstance(prediction, str):
        table = table.with_columns(p_yes=pl.col("p"), p_no=1 - pl.col("p"))
    return measure_predictions(table, ["a", "b"], target="y", prediction=prediction, split="part=test", **more)


def test_chances_of_a_rare_event_are_judged_where_classes_are_all_alike():
    result = measured(CHANCE)
    assert (result.verdict, result.answers.kind) == ("composes", "number")
    assert any("the chances of 'yes' are judged" in note for note in result.notes)
    assert measured(TURNED, prediction=("p_no", "p_yes")).verdict in ("fails", "partly")


def test_chances_around_the_share_of_an_event_that_no_factor_makes_are_not_accused():
    none = np.random.default_rng(2).random((48, ROWS)) < 0.1
    result = measured(0.1 * np.exp(np.random.default_rng(3).normal(0, 0.15, 48)), none)
    assert result.verdict in ("not fitted", "unclear")
    assert "anything to learn" in result.sentence()


def test_classes_of_rare_events_are_told_to_tell_little():
    result = measured(np.full(48, "no"))
    assert "trained and loaded" not in result.sentence()
    assert "as far as classes tell there is hardly anything to learn" in result.sentence()
    assert any("so that classes hardly tell what was learnt; probabilities would" in note for note in result.notes)


def test_answers_that_are_no_numbers_are_told_how_to_be_written_as_such():
    with pytest.raises(InputError, match="'no', which is not a finite number; write 1 for 'yes' and 0 for 'no'"):
        measured(CHANCE, target_kind="number")
