"""A column whose rows are alike is pointed out, also where all of them share a trend that the learner knows."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from recombine.mechanisms.tables.alike import _alike, _in_answers, groups_unnamed
from recombine.mechanisms.tables.reading import Reading

SIDE, PATIENTS, VISITS = 6, 3, 6
A, B, WHO, WEEK = (part.ravel() for part in np.indices((SIDE, SIDE, PATIENTS, VISITS)))
CELL = A * SIDE + B
PATIENT = CELL * PATIENTS + WHO
TEST = ((A + 2 * B) % SIDE == 0) | (WEEK % 3 == 0)
HOW = Reading(["a", "b"], "y", (("p",),), None, ("part", "test"), None, None, "error", None, None)
LEVEL, LEFT = "what answers differ by there", "what predictions leave of their answers there"


def drawn(seed: int, trend: float = 0.0, patients: float = 0.0):
    """Right answers and what rules and trend make of them."""
    rng = np.random.default_rng(seed)
    right = rng.normal(size=SIDE)[A] + rng.normal(size=SIDE)[B] + trend * WEEK
    return rng, right, right + patients * rng.normal(size=PATIENT.max() + 1)[PATIENT] + 0.3 * rng.normal(size=len(A))


def named(y, p) -> str:
    part, who = np.where(TEST, "test", "train"), [f"p{k}" for k in PATIENT]
    rows = pl.DataFrame({"a": A, "b": B, "patient": who, "part": part, "y": y, "p": p})
    return " ".join(groups_unnamed(rows, HOW, None))


def test_the_intraclass_correlation_of_four_groups_by_hand():
    value, cell = np.repeat(np.arange(4), 10), np.repeat([0, 1], 20)
    off = np.tile(np.repeat([3.0, -3.0], 10), 2) + np.tile([1.0, -1.0], 20)
    between, within = 40 * 9 / (4 - 2), 40 / (40 - 4)
    assert _alike(value, cell, off[:, None], 0.05) == pytest.approx((between - within) / (between + 9 * within))
    assert _alike(value, cell, np.tile([1.0, -1.0], 20)[:, None], 0.05) == 0


def test_likeness_of_what_is_left_counts_where_it_is_in_the_answers():
    value, cell = np.array([0, 0, 1, 1]), np.zeros(4, dtype=int)
    alike, trend = np.array([1.0, 1.0, -1.0, -1.0]), np.array([0.0, 5.0, 0.0, 5.0])
    assert _in_answers(value, cell, alike + trend, alike)
    assert not _in_answers(value, cell, trend, alike)
    assert not _in_answers(value, cell, trend + 0.4 * alike, alike)


@pytest.mark.parametrize(("trend", "what"), [(0.0, LEVEL), (1.0, LEFT)])
def test_patients_are_pointed_out_though_all_of_them_grow(trend, what):
    _, right, y = drawn(3, trend, patients=0.6)
    assert f"of {what} lies between them" in named(y, right)
    blank = pl.Series(right).to_frame("p").select(pl.when(pl.Series(TEST)).then("p"))["p"]
    assert "Rows of one 'patient' are alike" in named(y, blank)
    known = np.where(TEST, right, y)  # Nothing is left of training rows that are known by heart.
    assert "Rows of one 'patient' are alike" in named(y, known)


@pytest.mark.parametrize("trend", [0.0, 1.0])
def test_ids_without_an_effect_are_not_pointed_out(trend):
    for seed in range(15):
        _, right, y = drawn(seed, trend)
        assert not named(y, right)


def test_errors_that_are_alike_where_answers_are_not_are_the_learners():
    for seed in range(5):
        rng, right, y = drawn(seed, 0.3)
        assert not named(y, right + 0.3 * rng.normal(size=PATIENT.max() + 1)[PATIENT])


def test_answers_that_are_classes_have_nothing_left():
    _, right, y = drawn(3, 1.0, patients=0.6)
    assert LEFT not in named(np.where(y > 2, "yes", "no"), np.where(right > 2, "yes", "no"))
