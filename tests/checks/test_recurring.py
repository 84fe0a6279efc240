"""Pairs of factors with very many pairs of levels: tested where they recur, fitted with the largest set apart."""

from dataclasses import replace

import numpy as np
import pytest

from recombine.checks import check
from recombine.checks.adds_up import additivity
from recombine.checks.adds_up.recurring import recurring
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.rules import effects
from recombine.support.table import read_tables

SHAPE = (12, 10, 6)


def planted(seed: int, pair: float, heavy: bool = False):
    """Seen cells, a few of them much more often together than others, and their answers."""
    rng = np.random.default_rng(seed)
    drawn = [np.minimum(rng.geometric(0.2, 500) - 1, n - 1) for n in SHAPE[:2]] + [rng.integers(SHAPE[2], size=500)]
    codes = np.unique(np.column_stack(drawn), axis=0)
    single = sum(rng.normal(size=n)[codes[:, k]] for k, n in enumerate(SHAPE))
    noise = rng.standard_t(2, len(codes)) if heavy else rng.normal(size=len(codes))
    return codes, single + pair * rng.normal(size=SHAPE[:2])[codes[:, 0], codes[:, 1]] + noise


def p_value(codes, answers, factors=(0, 1), most=10**6):
    return recurring(codes, SHAPE, factors, {}, answers, np.ones(len(codes)), 0.0, most)


@pytest.mark.parametrize("heavy", [False, True])
def test_a_pair_that_does_nothing_is_seldom_rejected_whatever_the_noise(heavy):
    found = np.array([p_value(*planted(seed, 0.0, heavy)) for seed in range(12)])
    assert (found < 0.01).sum() <= 1
    assert found.max() > 0.3


def test_a_pair_with_effects_is_found_and_the_others_are_not_blamed():
    codes, answers = planted(0, 3.0)
    assert p_value(codes, answers) < 1e-6
    assert p_value(codes, answers, most=80) < 0.01
    assert min(p_value(codes, answers, other) for other in ((0, 2), (1, 2))) > 0.01


def test_what_adds_up_exactly_or_never_recurs_is_not_rejected():
    codes, _ = planted(0, 0.0)
    assert p_value(codes, codes @ [1.0, 2.0, 3.0]) == 1.0
    assert p_value(np.array([[0, 0, 0], [1, 1, 1], [2, 2, 0], [3, 3, 1]]), np.arange(4.0)) is None


def test_a_large_pair_is_tested_and_one_that_cannot_be_is_named(monkeypatch):
    monkeypatch.setattr(additivity, "LARGEST", 1)
    codes, answers = planted(0, 3.0)
    rows = {"user": codes[:, 0], "item": codes[:, 1], "week": codes[:, 2], "y": answers}
    train = read_tables([rows], ["user", "item", "week"], target="y")[0]
    found = additivity.additivity(Identifiability(train.codes, SHAPE), train.target, train.space.names)
    assert found.rejected
    assert "F test of user × item where it recurs" in found.words

    monkeypatch.setattr(additivity, "recurring", lambda *given: None if given[2] == (0, 1) else 0.5)
    rows["y"] = planted(0, 0.0)[1]
    found = check(rows, ["user", "item", "week"], target="y", draws=9, max_queries=10)
    assert found.verdict == "assumption unsupported"
    assert "user × item was not tested, too large or too seldom seen" in found.sentence()


def test_copies_count_once_where_a_table_is_large_too(monkeypatch):
    monkeypatch.setattr(additivity, "LARGEST", 1)
    codes, answers = planted(0, 0.0)
    names = ["user", "item", "week"]
    train = read_tables([dict(zip(names, codes.T, strict=True)) | {"y": answers}], names, target="y")[0]
    often = replace(train.target, count=np.arange(len(train.codes)) % 3 + 1)
    known = Identifiability(train.codes, SHAPE)
    found = [additivity.additivity(known, target, train.space.names) for target in (train.target, often)]
    once, copied = found
    assert (copied.test, copied.rejected, copied.p_value) == (once.test, False, once.p_value)
    assert additivity.COPIES in copied.words
    assert additivity.COPIES not in once.words


def test_the_block_set_apart_changes_nothing_but_the_work(monkeypatch):
    codes, answers = planted(1, 1.0)
    noise = np.random.default_rng(0).uniform(0.5, 2, len(codes))
    whole = effects.Effects(codes, SHAPE, answers, noise, 2)
    monkeypatch.setattr(effects, "MOST_PAIRS", 10)
    apart = effects.Effects(codes, SHAPE, answers, noise, 2)
    assert len(apart._apart)
    assert not len(whole._apart)
    asked = np.argwhere(np.ones(SHAPE))
    np.testing.assert_allclose(apart.predict(asked), whole.predict(asked), rtol=1e-8, atol=1e-8)
    groups = [np.array([3, 7, 20]), np.array([4]), np.array([20, 3, 7])]
    np.testing.assert_allclose(apart.left_out(groups), whole.left_out(groups), rtol=1e-8)
    np.testing.assert_allclose(apart.each_left_out(), whole.each_left_out(), rtol=1e-8, atol=1e-8)
