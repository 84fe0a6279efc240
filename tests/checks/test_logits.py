"""Log-odds that add up: of three classes as of two."""

from __future__ import annotations

import numpy as np
import pytest
from planted_tables import grid
from scipy.special import softmax

from recombine.checks import check
from recombine.checks.rules.logits import Logits
from recombine.checks.rules.odds import Odds
from recombine.checks.rules.seen_cells import Cells

SHAPE = (5, 6, 3)


def one_hot(codes):
    return np.hstack([np.ones((len(codes), 1)), *(np.eye(n)[codes[:, k]][:, 1:] for k, n in enumerate(SHAPE))])


def chances(seed: int, classes: int = 3):
    """Of every combination, effects of each class added up."""
    codes, rng = grid(*SHAPE), np.random.default_rng(seed)
    eta = sum(rng.standard_normal((n, classes))[codes[:, k]] for k, n in enumerate(SHAPE))
    return codes, softmax(eta, axis=1)


def drawn(seed: int, rows: int, p=None):
    """Rows of six in ten combinations."""
    codes, additive = chances(seed)
    p, rng = additive if p is None else p, np.random.default_rng(seed)
    seen = np.repeat(np.flatnonzero(rng.random(len(codes)) < 0.6), rows)
    table = {name: codes[seen, k].astype(str) for k, name in enumerate("abc")}
    return {**table, "y": ["xyz"[rng.choice(3, p=p[i])] for i in seen]}


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_of_very_many_rows_the_chances_come_back_and_at_the_fit_nothing_pulls(classes):
    codes, p = chances(0, classes)
    counts = np.full(len(codes), 40.0)
    assert Logits.of(one_hot(codes), p, counts).p == pytest.approx(p, abs=1e-6)
    rng = np.random.default_rng(1)
    shares = np.stack([rng.multinomial(40, one) for one in p]) / 40
    fit = Logits.of(one_hot(codes), shares, counts)
    assert one_hot(codes).T @ (shares - fit.p) == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize(("classes", "seed"), [(3, 3), (4, 6)])
def test_where_effects_separate_single_rows_nothing_pulls_at_the_fit_either(classes, seed):
    """Up to the whisper of ridge; a fit whose log-odds were bounded stuck with a third of a row to go, and more."""
    codes, p = chances(seed, classes)
    rng = np.random.default_rng(seed)
    seen = rng.random(len(codes)) < 0.6
    sure = p[seen] ** 4 / (p[seen] ** 4).sum(axis=1, keepdims=True)
    shares = np.stack([rng.multinomial(1, one) for one in sure]).astype(float)
    fit = Logits.of(one_hot(codes[seen]), shares, np.ones(int(seen.sum())))
    assert one_hot(codes[seen]).T @ (shares - fit.p) == pytest.approx(0, abs=1e-3)


def test_what_fitting_takes_away_of_answers_drawn_from_the_fit_is_what_fitting_them_anew_does():
    codes, p = chances(2)
    counts, x = np.full(len(codes), 400.0), one_hot(codes)
    fit = Logits.of(x, p, counts)
    shares = fit.drawn()[:, :, :3]
    left, gained = fit.left(shares)
    for i in range(3):
        anew = Logits.of(x, shares[:, :, i], counts)
        off = counts[:, None] * (shares[:, :, i] - anew.p)
        assert np.corrcoef(left[:, :, i].ravel(), off.ravel())[0, 1] > 0.99
        deviance = float(anew.deviance(shares[:, :, i]))
        assert float(fit.deviance(shares[:, :, i])) - gained[i] == pytest.approx(deviance, rel=0.02)


def test_three_classes_whose_log_odds_add_up_are_not_rejected_and_those_of_a_pair_are():
    assert sum(check(drawn(s, 60), list("abc"), target="y", draws=9).additivity.rejected for s in range(2)) == 0
    codes = grid(*SHAPE)
    modular = softmax(2.0 * np.eye(3)[(codes[:, 0] + codes[:, 1]) % 3], axis=1)
    lost = [check(drawn(s, 8, modular), list("abc"), target="y", draws=9) for s in range(1)]
    assert all(one.additivity.rejected for one in lost)
    assert all(one.verdict != "determined" for one in lost)


def test_classes_too_rare_for_chi_square_are_not_rejected():
    """Of five rows in a combination and nothing going on, χ² of three classes rejects one table in five at .01."""
    flat = np.full((90, 3), 1 / 3)
    found = [check(drawn(s, 5, flat), list("abc"), target="y", draws=9).additivity for s in range(2)]
    assert sum(one.rejected for one in found) == 0


def test_chances_of_three_classes_are_answered_and_left_out_as_by_a_fit_to_the_rest():
    codes, p = chances(3)
    cells = Cells(codes, SHAPE, np.full(len(codes), 200.0), p, None)
    rule = Odds("additive", cells, 1)
    assert rule.answer(codes) == pytest.approx(p, abs=0.03)
    group = np.array([7, 1, 50])
    alone = Odds("additive", cells.take(np.setdiff1d(np.arange(len(codes)), group)), 1).answer(codes[[7]])[0]
    assert rule.left_out([group])[0] == pytest.approx(alone, abs=0.01)
    rule._again = False  # as of a table too large to fit again
    assert rule.left_out([group])[0] == pytest.approx(alone, abs=0.02)


def test_answers_of_one_class_contradict_nothing():
    codes = np.array([(i, j, k) for i in range(3) for j in range(3) for k in range(2)])[:15]
    rows = {name: [f"{name}{c}" for c in column] for name, column in zip("abc", codes.T, strict=True)}
    found = check(rows | {"y": ["yes"] * len(codes)}, list("abc"), target="y", draws=9).additivity
    assert found is not None
    assert found.rejected is False
