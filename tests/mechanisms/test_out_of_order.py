"""Predictions of all rows that go with answers in another order are told from those that go with none."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.mechanisms import measure_predictions
from recombine.mechanisms.answers.out_of_order import out_of_order

RNG = np.random.default_rng(5)
A, B = RNG.integers(0, 6, size=(2, 600))
ONE, TWO = RNG.normal(size=(2, 6))
SUM = 3 + ONE[A] + TWO[B]
Y = SUM + 0.4 * RNG.normal(size=len(A))
ID = RNG.permutation(len(A))
TEST = ((A + 2 * B) % 5 == 0) | (np.arange(len(A)) % 5 == 0)
FIRST = "Look first at how predictions were put beside rows{} (their order; join by a key): "


def found(y: object, p: object, classes: bool = False, **columns: np.ndarray) -> tuple[str, str]:
    return out_of_order(np.asarray(y), np.asarray(p), 6 * A + B, lambda: columns, classes)


@pytest.mark.parametrize(
    ("p", "how"),
    [
        (np.roll(Y, 1), "moved by one row"),
        (np.roll(Y, -1), "moved by one row"),
        (np.roll(Y, 4), "moved by 4 rows"),
        (Y[::-1], "turned round"),
        (Y[np.argsort(ID)], "taken for rows in order of id"),
        (Y[np.argsort(A, kind="stable")], "taken for rows in order of a"),
        (Y[np.argsort(-A, kind="stable")], "taken for rows in falling order of a"),
    ],
)
def test_the_answers_in_another_order_are_right_in_that_order(p, how):
    name, well = found(Y, p, a=A, id=ID)
    assert name == how
    assert " at r = 1, not " in well
    classes = np.unique(p, return_inverse=True)[1] // 200
    assert found(np.unique(Y, return_inverse=True)[1] // 200, classes, True, a=A, id=ID)[0] == how


def test_what_goes_with_no_order_or_stands_right_or_follows_combinations_is_in_none():
    assert found(Y, Y) == ("", "")
    assert found(Y, RNG.permutation(Y), a=A, id=ID) == ("", "")
    assert found(Y, np.zeros(len(Y))) == ("", "")
    grid = np.arange(600) % 36  # Combinations in turn, whose levels are encoded one too high.
    due = RNG.normal(size=36)
    assert out_of_order(due[grid], due[(grid + 1) % 36], grid, dict, False) == ("", "")
    time = np.arange(600) / 600  # Slow trends that are each other's turned round, and nothing else.
    slow = time**2 + 0.1 * RNG.normal(size=600)
    assert found(slow - slow[::-1].mean(), 1 - np.abs(2 * time - 1) + 0.1 * RNG.normal(size=600)) == ("", "")


def test_predictions_that_only_rise_were_sorted_unless_a_column_does():
    assert found(Y, np.sort(SUM), a=A)[0] == "sorted"
    assert found(Y, -np.sort(-SUM), a=A)[1] == "from row to row they only fall, and answers do not"
    assert found(Y, np.sort(SUM), day=np.arange(len(Y))) == ("", "")
    assert found(Y, 20 * np.sort(SUM)) == ("", "")


@pytest.mark.parametrize("part", [True, False])
def test_all_rows_in_another_order_are_said_to_be_beside_no_fit(part):
    table = {"a": A, "b": B, "y": Y, "p": np.roll(SUM, 1), "part": np.where(TEST, "test", "train")}
    rest = {"split": "part=test"}
    if not part:
        rest = {"train": {name: table[name][~TEST] for name in "aby"}}
        table = {name: values[TEST] for name, values in table.items()} | {"p": np.roll(SUM[TEST], 1)}
    result = measure_predictions(table, ["a", "b"], target="y", prediction="p", **rest)
    assert result.verdict in ("not fitted", "unclear")
    first = FIRST.format(", training rows too" * part)
    assert f"{first}moved by one row they would go with the answers at r = 0.9" in result.sentence()
    if part:
        for p, said in ((SUM, ""), (np.sort(SUM), f"{first}from row to row they only rise, and answers do not.")):
            assert measure_predictions(table | {"p": p}, ["a", "b"], target="y", prediction="p", **rest).look == said
