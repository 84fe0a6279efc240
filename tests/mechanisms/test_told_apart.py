"""Answers that are jittered at random tell no rows apart; those that go with the rows' own answers do."""

from __future__ import annotations

import numpy as np

from recombine.mechanisms import measure_predictions

SEEDS = 20


def said(seed: int, rows: int, follows: float, jitter: float) -> str:
    """The notes on a rule whose answers to new rows of seen combinations follow their noise, and are jittered."""
    rng = np.random.default_rng(seed)
    a, b = np.indices((6, 7)).reshape(2, -1).repeat(rows, axis=1)
    unseen = rng.random(42).repeat(rows) < 0.3
    test = unseen | (rng.random(len(a)) < 0.3)
    mean = rng.normal(size=6)[a] + rng.normal(size=7)[b]
    noise = 0.4 * rng.normal(size=len(a))
    p = mean + np.where(unseen, 0.0, follows) * noise + jitter * rng.normal(size=len(a))
    table = {"a": a, "b": b, "y": mean + noise, "p": p, "part": np.where(test, "test", "train")}
    return " ".join(measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test").notes)


def test_jitter_tells_nothing_apart():
    told = sum("tells rows of one" in said(seed, 3, 0.0, 0.15) for seed in range(SEEDS))
    assert told <= 1


def test_who_knows_new_rows_of_seen_combinations_tells_them_apart():
    assert all("tells rows of one seen combination apart" in said(seed, 8, 0.8, 0.0) for seed in range(4))
