"""What kernel learners will do: known shrinkage, known slopes, exact decompositions, and a shortcut."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from recombine.checks import check
from recombine.errors import InputError


def _anchors(anchors):
    rows = [(i, j) for i in range(9) for j in range(9) if i in anchors or j in anchors]
    return np.array(rows)


@pytest.mark.parametrize(("anchors", "share"), [([4], 0.700), ([0, 8], 0.829)])
def test_anchors_have_the_published_shrinkage(anchors, share):
    result = check(_anchors(anchors), ["0", "1"], salience=0.4264)
    assert {round(q.shrinkage, 3) for q in result.queries} == {share}
    assert result.in_words(result.queries[0].status) == "determined if effects add up"


def test_one_hidden_relu_layer_is_the_default_learner():
    result = check(_anchors([4]), ["0", "1"])
    assert result.prediction.salience[0] == pytest.approx(0.4264, abs=1e-4)
    assert "1 hidden layer" in result.prediction.learner


def test_predicted_slope_is_the_memorization_leak():
    """Addition with one anchor at S = .4: f = S / (1 − S) · (v_i + v_j), here 2/3 (kernel theory, Prop. 5.1)."""
    codes = _anchors([4])
    values = codes - 4
    table = {"a": codes[:, 0], "b": codes[:, 1], "y": values.sum(axis=1).astype(float)}
    result = check(table, ["a", "b"], target="y", target_kind="number", salience=0.4)
    said = np.array([q.network for q in result.queries])
    truth = np.array([sum(q.codes) - 8 for q in result.queries])
    slope, intercept = np.polyfit(truth, said, 1)
    assert slope == pytest.approx(2 / 3)
    assert intercept == pytest.approx(0.0, abs=1e-9)


def test_parts_add_up_and_vanish_where_never_seen():
    codes = _anchors([4])
    table = {"a": codes[:, 0], "b": codes[:, 1], "y": np.random.default_rng(0).normal(size=len(codes))}
    for query in check(table, ["a", "b"], target="y").queries:
        assert sum(query.network_parts.values()) == pytest.approx(query.network)
        assert query.network_parts["a × b"] == 0.0


def test_shrinkage_of_three_factors_comes_from_the_solver_and_is_full_for_a_linear_learner():
    cells = np.array(list(itertools.product(range(3), repeat=3)))[::2]
    linear = check(cells, ["0", "1", "2"], depth=0)
    deep = check(cells, ["0", "1", "2"], depth=3)
    shares = {q.codes: q.shrinkage for q in linear.queries if q.status == "determined"}
    assert shares
    assert all(s == pytest.approx(1.0) for s in shares.values())
    assert all(q.shrinkage < 0.999 for q in deep.queries if q.status == "determined")


def _context_task():
    """CD-3: context 0 follows feature 1, context 1 follows feature 2; features of opposite sign are left out one
    way.
    """
    cells = [(c, f, g) for c in range(2) for f in range(6) for g in range(6)]
    label = {cell: (1.0 if (cell[1] if cell[0] == 0 else cell[2]) >= 3 else -1.0) for cell in cells}
    out = [cell for cell in cells if cell[1] < 3 <= cell[2]]
    return [c for c in cells if c not in out], out, label


def _table(cells, label):
    return {
        "context": [c for c, _, _ in cells],
        "one": [f for _, f, _ in cells],
        "two": [g for _, _, g in cells],
        "y": [label[c] for c in cells],
    }


def test_context_is_found_as_a_shortcut_and_least_squares_margins_match_theory():
    train, asked, label = _context_task()
    result = check(
        _table(train, label),
        ["context", "one", "two"],
        target="y",
        target_kind="number",
        test=_table(asked, label),
        depth=3,
        order=2,
    )
    shortcut = result.prediction.shortcut
    assert shortcut.factors == ("context",)
    assert shortcut.in_training > 0 > shortcut.when_asked
    assert shortcut.judged_by == "the asked targets"
    margins = [q.network * label[q.codes] for q in result.queries]
    # Least squares at ReLU depth 3 (kernel theory §1): margin +.522, the same for every left-out combination.
    np.testing.assert_allclose(margins, 0.522, atol=5e-4)
    assert not shortcut.outweighs


def test_a_shortcut_of_networks_is_a_note_for_who_asked_about_one():
    train, asked, label = _context_task()
    said = []
    for how in ({}, {"depth": 3}):
        found = check(_table(train, label), ["context", "one", "two"], target="y", target_kind="number",
                      test=_table(asked, label), draws=9, **how)  # fmt: skip
        said.append([note.split(" agrees")[0] for note in found.notes if note.startswith("Shortcut")])
    assert said == [[], ["Shortcut: context"]]


def test_without_asked_targets_the_additive_fit_judges_and_says_so():
    rng = np.random.default_rng(0)
    cells = np.array([(a, b) for a in range(4) for b in range(4) if (a + b) % 3])
    result = check({"a": cells[:, 0], "b": cells[:, 1], "y": rng.normal(size=len(cells))}, ["a", "b"], target="y")
    shortcut = result.prediction.shortcut
    assert shortcut is None or shortcut.judged_by == "the additive fit to training"


def test_classes_are_predicted_by_name():
    cells = [(a, b) for a in range(4) for b in range(4) if a == 0 or b == 0]
    table = {
        "a": [a for a, _ in cells],
        "b": [b for _, b in cells],
        "y": ["low" if a < 2 else "high" for a, _ in cells],
    }
    for query in check(table, ["a", "b"], target="y").queries:
        assert query.network == query.prediction == ("low" if query.codes[0] < 2 else "high")


@pytest.mark.parametrize(("options", "word"), [({"salience": 0.7}, "at most at 0.5"), ({"depth": -1}, "0 or more")])
def test_impossible_learners_are_refused(options, word):
    with pytest.raises(InputError, match=word):
        check({"a": [0, 1], "b": [0, 1]}, ["a", "b"], **options)
