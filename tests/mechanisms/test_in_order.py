"""Counts and ratings are judged as numbers where those of one combination lie near each other; codes stay classes."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from recombine.mechanisms import measure_predictions
from recombine.mechanisms.answers.in_order import in_order

SIDE, ROWS = 6, 10
CELL = np.repeat(np.arange(SIDE**2), ROWS)
A, B = CELL // SIDE, CELL % SIDE
UNSEEN = (A + B) % 4 == 0
TEST = UNSEEN | (np.arange(len(CELL)) % ROWS < 3)


def poisson(rng):
    mean = np.exp(0.2 + 0.5 * (rng.normal(size=SIDE)[A] + rng.normal(size=SIDE)[B]))
    return np.minimum(rng.poisson(mean), 8), mean


def codes(rng, kinds=6):
    """Codes without an order: most rows of a combination have one, others any."""
    usual = rng.integers(kinds, size=SIDE**2)[CELL]
    return np.where(rng.random(len(CELL)) < 0.7, usual, rng.integers(kinds, size=len(CELL)))


def kinds_and_parts(rng):
    """3 × kind + part: near each other inside a kind alone."""
    return 3 * rng.integers(3, size=SIDE**2)[CELL] + rng.integers(3, size=len(CELL))


def ordered(y):
    return in_order([pl.DataFrame({"a": A, "b": B, "y": y}).lazy()], ["a", "b"], "y")


def test_counts_are_told_from_codes():
    found = [
        [ordered(made(np.random.default_rng(seed))) for seed in range(8)]
        for made in (lambda rng: poisson(rng)[0], codes, kinds_and_parts)
    ]
    assert sum(found[0]) >= 6
    assert sum(found[1]) + sum(found[2]) == 0


@pytest.mark.parametrize("kind", ["number", "class"])
def test_a_note_says_how_whole_numbers_were_read_and_what_says_otherwise(kind):
    y, mean = poisson(np.random.default_rng(2))
    y = y if kind == "number" else np.random.default_rng(0).permutation(int(y.max()) + 1)[y]
    said = np.where(UNSEEN, 0, mean.round() if kind == "number" else y).astype(int)
    table = {"a": A, "b": B, "part": np.where(TEST, "test", "train"), "y": y, "p": said}
    found = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    other = "class" if kind == "number" else "number"
    assert found.answers.kind == kind
    (how,) = (note for note in found.notes if f"judged as {kind}" in note)
    assert how.endswith(f"say --target-kind {other}.")
    if kind == "number":
        assert found.verdict == "fails"


def test_the_sentence_says_that_whole_numbers_were_judged_as_classes_where_little_is_learnt():
    y = np.minimum(np.random.default_rng(3).poisson(2.0, size=len(CELL)), 5)
    table = {"a": A, "b": B, "part": np.where(TEST, "test", "train"), "y": y, "p": 1 + CELL % 2}
    found = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    assert (found.answers.kind, found.verdict) == ("class", "not fitted")
    assert "--target-kind number judges counts and ratings." in found.sentence()
