"""Two of four factors that answers leave out are named together; of one, or of none, no pair is."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.mechanisms import MeasureResult, measure_predictions
from recombine.mechanisms.causes.simpler_rules import two_ignored

SHAPE = (4, 3, 4, 3)
CODES = np.indices(SHAPE).reshape(4, -1).T.repeat(6, axis=0)
UNSEEN = (np.random.default_rng(0).random(SHAPE) < 0.3).ravel().repeat(6)
FRESH = ~UNSEEN & (np.tile(np.arange(6), int(np.prod(SHAPE))) == 0)
EFFECTS = [np.random.default_rng(j + 1).normal(size=(n, 3)) for j, n in enumerate(SHAPE)]
SUMS = [effect[CODES[:, j]] for j, effect in enumerate(EFFECTS)]
WORDS = np.array(["x", "y", "z"])


def usual(y: np.ndarray, without: tuple[int, ...]) -> np.ndarray:
    """The class that training gives most often for the other levels."""
    kept = [j for j in range(4) if j not in without]
    of = np.ravel_multi_index(CODES[:, kept].T, [SHAPE[j] for j in kept])
    known = ~UNSEEN & ~FRESH
    said = {k: max(WORDS, key=[*y[known & (of == k)]].count) for k in np.unique(of)}
    return np.array([said[k] for k in of])


def measured(number: bool, without: tuple[int, ...], off: float = 0.0) -> MeasureResult:
    """The sum of all effects, or the class with the largest; where unseen, without what some factors add, or off."""
    moved = sum(SUMS) + off * np.random.default_rng(9).normal(size=(*SHAPE, 3))[tuple(CODES.T)]
    if number:
        y, p = sum(SUMS)[:, 0], moved[:, 0] - sum(SUMS[j][:, 0] - SUMS[j][:, 0].mean() for j in without)
    else:
        y = WORDS[sum(SUMS).argmax(1)]
        p = usual(y, without) if without else WORDS[moved.argmax(1)]
    table = {name: CODES[:, j] for j, name in enumerate("abcd")}
    table |= {"y": y, "p": np.where(UNSEEN, p, y), "part": np.where(UNSEEN | FRESH, "test", "train")}
    return measure_predictions(table, [*"abcd"], target="y", prediction="p", split="part=test")


def test_two_factors_that_are_ignored_are_named_together():
    result = measured(True, (1, 3))
    assert (result.verdict, result.mechanisms) == ("fails", ("b and d ignored",))


def test_the_rule_of_a_pair_gives_what_training_gives_for_the_other_levels():
    answers = measured(False, (1, 3)).answers
    asked, trained = answers.at(answers.unseen), answers.trained
    assert trained is not None
    found = {rule.mechanism: rule for rule in two_ignored(asked, trained)}
    assert len(found) == 6
    followed = {name: float(((r.mask @ r.options > 0) * asked.predicted[0]).sum(axis=1).mean())
                for name, r in found.items()}  # fmt: skip
    assert followed["b and d ignored"] == 1.0
    assert followed["a and c ignored"] < 0.8


@pytest.mark.parametrize(("without", "off"), [((1,), 0.0), ((), 2.0)], ids=["one", "none"])
@pytest.mark.parametrize("number", [True, False], ids=["numbers", "classes"])
def test_of_one_or_of_none_no_pair_is_named(number, without, off):
    found = measured(number, without, off).mechanisms
    assert not any(" and " in name for name in found)
    assert not number or found == (("b ignored",) if without else ())


def test_a_factor_is_not_ignored_that_changes_the_answer():
    """A parity, that of a seen neighbour by a where there is one, as those of any factor are; right where there is
    none."""
    codes, hidden = np.indices((2,) * 7).reshape(7, -1), np.random.default_rng(1).random((2,) * 7) < 0.4
    amiss, odd = (hidden & ~hidden[::-1]).ravel(), codes.sum(axis=0) % 2
    table = {name: codes[j].repeat(4) for j, name in enumerate("abcdefg")}
    table |= {"y": WORDS[odd.repeat(4)], "p": WORDS[np.where(amiss, 1 - odd, odd).repeat(4)]}
    table["part"] = np.where(hidden.ravel().repeat(4) | (np.arange(512) % 4 == 0), "test", "train")
    result = measure_predictions(table, [*"abcdefg"], target="y", prediction="p", split="part=test")
    assert not any("ignored" in name for name in result.mechanisms)
    why = next(e.why for e in result.evidence if e.mechanism == "a ignored")
    assert why == "of unseen combinations that differ in a alone 100% are answered differently"


@pytest.mark.parametrize("moved", [True, False])
def test_what_moves_probabilities_and_no_class_is_not_said_to_be_hardly_used(moved):
    a, b = np.indices((6, 6)).reshape(2, -1).repeat(20, axis=1)
    one, two = (-1.0) ** a, (-1.0) ** b
    y = (np.random.default_rng(0).random(len(a)) < 1 / (1 + np.exp(-one - 4 * two))).astype(int)
    p = 1 / (1 + np.exp(-3 * one - 2.9 * two * moved))  # Of the same class whatever b is.
    part = np.where((a + b) % 3 == 0, "test", np.where(np.arange(len(a)) % 5 == 0, "test", "train"))
    table = {"a": a, "b": b, "y": y, "p": p, "part": part}
    result = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    assert result.verdict == "not fitted"
    assert ("hardly vary with b" in result.sentence()) == (not moved)
