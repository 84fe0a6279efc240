"""Models of known fault as other people bring them: what is said of each, and not of those that have none."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.mechanisms import MeasureResult, measure_predictions

SIDE = 8


def grid(seed, side=SIDE, rows=5, hold=0.2):
    """Codes, which rows are of unseen combinations, and which are test rows: these and one row of each seen one."""
    rng = np.random.default_rng(seed)
    a, b = np.indices((side, side)).reshape(2, -1).repeat(rows, axis=1)
    while True:
        hidden = rng.random((side, side)) < hold
        if hidden.any(axis=0).sum() > 3 and not hidden.all(axis=0).any() and not hidden.all(axis=1).any():
            break
    unseen = hidden[a, b]
    return rng, a, b, unseen, unseen | (np.tile(np.arange(rows), side**2) == 0)


def measured(a, b, y, p, test, prediction="p", **more) -> MeasureResult:
    given = {"p": p} if prediction == "p" else dict(zip(prediction, p.T, strict=True))
    table = {"a": a, "b": b, "y": y, **given, **more, "part": np.where(test, "test", "train")}
    return measure_predictions(table, ["a", "b"], target="y", prediction=prediction, split="part=test")


def said(result):
    return " ".join([result.sentence(), *result.notes])


@pytest.mark.parametrize("seed", range(3))
def test_rows_that_were_known_are_a_leak_though_each_seen_combination_has_one_new_row(seed):
    rng, a, b, unseen, test = grid(seed)
    right = rng.normal(size=SIDE)[a] + rng.normal(size=SIDE)[b]
    y = right + 0.5 * rng.normal(size=len(a))
    leaked = measured(a, b, y, np.where(unseen, right, y + 0.02 * rng.normal(size=len(a))), test)
    assert leaked.verdict == "unclear"
    assert "a leak of training rows" in said(leaked)
    assert "a leak of training rows" not in said(measured(a, b, y, right, test))
    heavy = right + 0.5 * rng.standard_t(2.5, size=len(a))
    assert "a leak of training rows" not in said(measured(a, b, heavy, right, test))


@pytest.mark.parametrize("seed", range(3))
def test_a_column_that_is_read_of_seen_combinations_alone_is_named(seed):
    rng, a, b, unseen, test = grid(seed, rows=6)
    right, age = rng.normal(size=SIDE)[a] + rng.normal(size=SIDE)[b], rng.normal(size=len(a))
    y = right + 0.7 * age + 0.1 * rng.normal(size=len(a))
    found = measured(a, b, y, right + np.where(unseen, 0, 0.7 * age), test, age=age)
    assert found.mechanisms == ("misread age",)
    assert measured(a, b, y, right + 0.7 * age, test, age=age).mechanisms == ()


def classes(seed, temperature=2.0, count=3):
    rng, a, b, unseen, test = grid(seed, side=15, rows=10, hold=0.3)
    odds = temperature * (rng.normal(size=(15, count))[a] + rng.normal(size=(15, count))[b])
    chances = np.exp(odds - odds.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    y = (chances.cumsum(axis=1) > rng.random((len(a), 1))).argmax(axis=1)
    names = np.array(["cat", "dog", "owl"])
    return rng, a, b, unseen, test | (np.arange(len(a)) % 5 == 0), chances, names, y


@pytest.mark.parametrize(("seed", "count"), [(0, 3), (1, 3), (2, 2)])
def test_a_shortcut_by_the_usual_class_accounts_for_wrong_answers_beyond_the_noise(seed, count):
    _, a, b, unseen, test, chances, names, y = classes(seed, count=count)
    known, best = ~unseen & ~test, chances.argmax(axis=1)
    usual = np.array([np.bincount(y[known & (a == level)], minlength=count).argmax() for level in range(15)])
    found = measured(a, b, names[y], names[np.where(unseen, usual[a], best)], test)
    assert found.mechanisms == ("shortcut by a",)
    shortcut = next(e for e in found.evidence if e.named)
    assert shortcut.explains is not None
    assert shortcut.explains > 0.8
    assert measured(a, b, names[y], names[best], test).mechanisms == ()


def test_probabilities_that_go_flat_where_unseen_are_less_sure_than_right():
    _, a, b, unseen, test, chances, names, y = classes(3)
    columns = [f"p_{name}" for name in names]
    flat = chances**0.15 / (chances**0.15).sum(axis=1, keepdims=True)
    note = said(measured(a, b, names[y], np.where(unseen[:, None], flat, chances), test, columns))
    assert "Probabilities are less sure than right: on unseen combinations" in note
    assert "The log loss is" in note
    assert "than right" not in said(measured(a, b, names[y], chances, test, columns))


def test_sums_where_the_truth_is_none_are_said_to_be_sums():
    rng, a, b, _unseen, test = grid(5)
    levels = np.hstack([np.eye(SIDE)[a], np.eye(SIDE)[b]])
    for right, told in ((3 * np.exp(0.7 * rng.normal(size=SIDE))[a] * np.exp(0.7 * rng.normal(size=SIDE))[b], True),
                        (rng.normal(size=SIDE)[a] + rng.normal(size=SIDE)[b], False)):  # fmt: skip
        y = right + 0.3 * rng.normal(size=len(a))
        added = levels @ np.linalg.lstsq(levels[~test], y[~test], rcond=None)[0]
        found = measured(a, b, y, added, test)
        assert ("it adds up where the truth does not" in said(found)) == (
            told and "additive rule" not in found.mechanisms
        )
        assert "adds up where" not in said(measured(a, b, y, right, test))


@pytest.mark.parametrize("seed", range(3))
def test_sums_that_miss_a_product_are_no_fault_of_the_data_and_a_slip_in_sums_is(seed):
    rng, a, b, unseen, test = grid(seed)
    levels = np.hstack([np.eye(SIDE)[a], np.eye(SIDE)[b]])
    product = 3 * np.exp(0.7 * rng.normal(size=SIDE))[a] * np.exp(0.7 * rng.normal(size=SIDE))[b]
    y = product + 0.1 * rng.normal(size=len(a))
    added = said(measured(a, b, y, levels @ np.linalg.lstsq(levels[~test], y[~test], rcond=None)[0], test))
    assert "adds up where the truth does not" in added
    assert "Look" not in added
    logs = said(measured(a, b, y, np.log(product), test))
    assert "natural logarithms of the answers" in logs
    assert "adds up where" not in logs
    right = 2 * rng.normal(size=SIDE)[a] + 2 * rng.normal(size=SIDE)[b]
    slip = (a * SIDE + b) == (a * SIDE + b)[~unseen][0]
    told = said(measured(a, b, right + 0.3 * rng.normal(size=len(a)) + 12 * slip, right, test))
    assert "Look at the data and the labels there" in told
    assert "adds up where" not in told


def test_one_seen_combination_that_is_wrong_is_named():
    rng, a, b, unseen, test = grid(6)
    right = rng.normal(size=SIDE)[a] + rng.normal(size=SIDE)[b]
    y = right + 0.5 * rng.normal(size=len(a))
    where = np.flatnonzero(~unseen)[0]
    broken = (a == a[where]) & (b == b[where])
    note = said(measured(a, b, y, right + 3 * broken, test))
    assert "seen combinations is clearly wrong and the others are not shown to be, on training rows as on new" in note
    assert f"new ones: a = {a[where]}, b = {b[where]} (" in note
    assert "seen combinations is clearly wrong" not in said(measured(a, b, y, right, test))


@pytest.mark.parametrize("seed", range(4))
def test_no_few_make_most_of_an_error_that_is_noise(seed):
    rng, a, b, _unseen, test = grid(seed)
    mean = np.exp(0.6 * (rng.normal(size=SIDE)[a] + rng.normal(size=SIDE)[b]) - 0.7)
    assert "most of the error there" not in said(measured(a, b, rng.poisson(mean), mean, test))


def test_others_are_those_it_is_compared_with():
    rng, a, b, _unseen, test = grid(7)
    right = rng.normal(size=SIDE)[a] + rng.normal(size=SIDE)[b]
    found = measured(a, b, right + 0.3 * rng.normal(size=len(a)), right, test)
    assert [c.name for c in found.others] == [c["name"] for c in found.to_dict()["others"]] != []


def test_a_factor_that_no_answer_depends_on_is_said_whatever_the_verdict():
    rng, a, b, _, test = grid(0)
    first, second = rng.normal(size=SIDE), rng.normal(size=SIDE)
    y = first[a] + 0.2 * second[b] + 0.3 * rng.normal(size=len(a))
    assert "No answer, on any combination, depends on b." in said(measured(a, b, y, first[a], test))
    assert "depends on" not in said(measured(a, b, y, first[a] + 0.2 * second[b], test))
    assert "depends on" not in said(measured(a, b, y, np.zeros(len(a)), test))


def test_a_factor_that_moves_probabilities_and_no_class_is_read():
    rng, a, b, _, test = grid(0)
    odds = 3.0 * (-1.0) ** a + 0.5 * (-1.0) ** b  # b changes no class.
    y = (rng.random(len(a)) < 1 / (1 + np.exp(-odds))).astype(int)
    assert "depends on b" not in said(measured(a, b, y, 1 / (1 + np.exp(-odds)), test))
    assert "No answer, on any combination, depends on b." in said(
        measured(a, b, y, 1 / (1 + np.exp(-3.0 * (-1.0) ** a)), test)
    )
    words = np.array(["no", "yes"])
    text = said(measured(a, b, words[y], words[(odds > 0).astype(int)], test))
    assert "No class that is given, on any combination, depends on b." in text


@pytest.mark.parametrize("seed", [1, 2])
def test_chances_that_differ_are_not_one_fixed_answer_though_the_likelier_class_is(seed):
    rng, a, b, unseen, test = grid(seed, rows=12, hold=0.4)
    odds = 2 * rng.normal(size=SIDE)[a] + 2 * rng.normal(size=SIDE)[b] - 1
    chances = 1 / (1 + np.exp(-odds))
    y = (rng.random(len(a)) < chances).astype(int)
    for p, named in ((np.where(unseen, 0.55 + 0.4 * chances, chances), False), (np.where(unseen, 0.8, chances), True)):
        result = measured(a, b, y, p, test)
        assert result.verdict == "fails"
        assert ("memorization: one fixed answer" in result.mechanisms) == named


@pytest.mark.parametrize("right", [1, 3, 4])
def test_a_few_right_answers_beside_one_for_all_are_no_shortcut(right):
    rng, a, b, _, _ = grid(0)
    due = rng.normal(size=SIDE)[a] + rng.normal(size=SIDE)[b]
    y = due + 0.3 * rng.normal(size=len(a))
    alone = b < right  # Each of the right ones is the only unseen combination of its level.
    unseen = np.where(alone, a == b, (a + b) % SIDE < 3)
    test = unseen | (np.arange(len(a)) % 5 == 0)
    result = measured(a, b, y, np.where(unseen & ~alone, y[~test].mean(), due), test)
    assert result.mechanisms == (("memorization: one fixed answer",) if right < 4 else ())
