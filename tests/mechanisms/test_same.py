"""A learner that says the same everywhere is said to, in the first lines; one that knows a little is not."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.mechanisms import MeasureResult, measure_predictions

A, B = np.indices((8, 7)).reshape(2, -1).repeat(6, axis=1)
UNSEEN = (A + 2 * B) % 4 == 0
KNOWN = ~UNSEEN & (np.tile(np.arange(6), 56) >= 2)
SAME = "says the same everywhere: every row gets "


def chances(seed: int, size: float = 1.5) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    share = 1 / (1 + np.exp(-size * (rng.normal(size=8)[A] + rng.normal(size=7)[B])))
    return share, (rng.random(len(A)) < share).astype(int)


def measured(y: object, p: object) -> MeasureResult:
    table = {"a": A, "b": B, "y": y, "p": p, "part": np.where(KNOWN, "train", "test")}
    return measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")


@pytest.mark.parametrize("seed", range(2000, 2003))
def test_one_chance_for_all_is_said(seed):
    share, y = chances(seed)
    base = y[KNOWN].mean()
    assert f"{SAME}'1' with the probability 0.50" in measured(y, np.full(len(A), 0.5)).sentence()
    assert SAME in measured(y, np.full(len(A), base)).sentence()
    assert "with about the same probability" in measured(y, base + 1e-3 * np.sin(np.arange(len(A)))).sentence()
    assert "says the same" not in measured(y, share).sentence()


def test_one_number_or_one_class_for_all_is_said():
    share, y = chances(1)
    assert f"{SAME}3." in measured(share, np.full(len(A), 3.0)).sentence()
    words = np.array(["no", "yes"])[y]
    assert f"{SAME}the class 'no'." in measured(words, np.full(len(A), "no")).sentence()
    assert "says the same" not in measured(share, np.where(UNSEEN, 3.0, share)).sentence()


def test_test_rows_alone_are_told_from_all():
    share, y = chances(2, 0.7)
    result = measured(y, np.where(KNOWN, share, 0.6))
    assert SAME not in result.sentence()


def test_one_chance_where_unseen_is_said_though_it_is_unclear_what_it_costs():
    for seed in range(2000, 2010):
        share, y = chances(seed, 1.0)
        result = measured(y, np.where(UNSEEN, y[KNOWN].mean(), share))
        if result.verdict == "unclear":
            assert "Every unseen combination gets one and the same probability, and seen ones do not" in result.why
            return
    raise AssertionError("none of ten was unclear")
