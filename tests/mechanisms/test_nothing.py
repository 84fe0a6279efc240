"""Of answers that no factor makes it is said that nothing shows that there is anything to learn, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.mechanisms import MeasureResult, measure_predictions

A, B = np.indices((8, 7)).reshape(2, -1).repeat(6, axis=1)
UNSEEN = (A + 2 * B) % 4 == 0
FRESH = ~UNSEEN & (np.tile(np.arange(6), 56) < 2)
KNOWN = ~UNSEEN & ~FRESH
NOTHING = "nothing shows that there is anything to learn: on "


def measured(y: object, p: object, **more: object) -> MeasureResult:
    table = {"a": A, "b": B, "y": y, "p": p, "part": np.where(KNOWN, "train", "test")}
    return measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test", **more)


def usual(y: np.ndarray) -> np.ndarray:
    """The mean training answer of each combination; of unseen ones, of a neighbour's."""
    there = np.where(UNSEEN, (A + 1) % 8, A)
    return np.array([y[KNOWN & (a == A) & (b == B)].mean() for a, b in zip(there, B, strict=True)])


@pytest.mark.parametrize("seed", range(3))
def test_a_lookup_table_of_noise_has_nothing_to_learn(seed):
    y = np.random.default_rng(seed).normal(size=len(A))
    result = measured(y, usual(y), fitted=0.5)
    assert result.verdict not in ("composes", "fails", "partly")
    assert not result.mechanisms
    assert "anything to learn" in result.sentence()


def test_what_neither_is_better_than_is_told_with_its_error():
    y = np.random.default_rng(5).normal(size=len(A))
    result = measured(y, usual(y), fitted=0.5)
    (clause,) = [part for part in result.sentence().split("; ") if NOTHING in part]
    at = result.answers.unseen | result.answers.compared
    assert f"neither it (error {result.answers.error[:, at].mean():.2f})" in clause


@pytest.mark.parametrize("how", ["sum", "table"])
def test_where_something_is_to_be_learnt_it_is_not_said(how):
    rng = np.random.default_rng(1)
    mean = rng.normal(size=8)[A] + rng.normal(size=7)[B] if how == "sum" else rng.normal(size=(8, 7))[A, B]
    y = mean + 0.5 * rng.normal(size=len(A))
    for p in (mean, usual(y), np.zeros(len(A))):
        assert NOTHING not in measured(y, p).sentence()


@pytest.mark.parametrize(("adds", "said"), [(False, True), (True, False)])
def test_who_knows_what_no_simple_rule_tells_may_have_been_shown_it(adds: bool, said: bool):
    rng = np.random.default_rng(0)
    cells = rng.normal(size=(8, 1)) + rng.normal(size=(1, 7)) if adds else rng.normal(size=(8, 7))
    result = measured(cells[A, B] + 0.3 * rng.normal(size=len(A)), cells[A, B] + 0.02 * rng.normal(size=len(A)))
    assert result.verdict == "composes"
    assert said == any("or it was shown these rows or their means" in note for note in result.notes)


def test_noise_of_answers_far_from_0_is_seen():
    rng = np.random.default_rng(1)
    truth = 900 * (rng.normal(size=8)[A] + rng.normal(size=7)[B])
    y = truth + 600 * rng.normal(size=len(A))
    here, there = measured(y, truth), measured(1.7e9 + y, 1.7e9 + truth)
    assert here.verdict == there.verdict == "composes"
    assert here.noise == pytest.approx(there.noise, rel=1e-6)
