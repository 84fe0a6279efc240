"""What single effects leave beside the noise of repeated rows, of tables too large for a matrix: the textbook's F."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

from recombine.checks import CheckResult, check
from recombine.checks.adds_up import additivity as module
from recombine.checks.adds_up.additivity import additivity
from recombine.checks.adds_up.lack_of_fit import _design, _Rest, _some, lack_of_fit
from recombine.checks.exact.identifiability import Identifiability
from recombine.support.table import Target

USERS, ITEMS = 90, 25


def planted(seed: int, pair: float = 0.0, rows: int = 900, kind: str = "normal"):
    """Rows of users and items, most combinations with a single one: codes, answers of combinations, and the rows."""
    rng = np.random.default_rng(seed)
    a, b = np.append(np.arange(USERS), rng.integers(USERS, size=rows)), rng.integers(ITEMS, size=USERS + rows)
    one, two, noise = rng.normal(size=USERS), rng.normal(size=ITEMS), rng.normal(size=len(a))
    noise = rng.standard_t(3, len(a)) if kind == "long tails" else noise
    noise *= np.where(a < 9, 5.0, 1.0) if kind == "noisy users" else 1.0
    y = one[a] + two[b] + pair * (rng.normal(size=USERS)[a] * rng.normal(size=ITEMS)[b]) + noise
    keys, at, count = np.unique(a * ITEMS + b, return_inverse=True, return_counts=True)
    mean = np.bincount(at, y) / count
    target = Target("y", None, count, mean, np.bincount(at, (y - mean[at]) ** 2))
    return np.stack([keys // ITEMS, keys % ITEMS], axis=1), target, (a, b, y)


def p_value(codes, target, most=10**6):
    return lack_of_fit(Identifiability(codes, (USERS, ITEMS)), codes, target, 0.0, most, 0.01)


@pytest.mark.parametrize(("seed", "pair"), [(0, 0.0), (1, 0.0), (2, 1.0)])
def test_it_is_the_lack_of_fit_f_of_all_rows_single_ones_too(seed, pair):
    codes, target, (a, b, y) = planted(seed, pair)
    x = np.hstack([np.eye(USERS)[a], np.eye(ITEMS)[b]])
    fit, _, rank, _ = np.linalg.lstsq(x, y, rcond=None)
    pure, spare, free = target.spread.sum(), len(y) - len(codes), len(codes) - rank
    f = (((y - x @ fit) ** 2).sum() - pure) / free / (pure / spare)
    textbook = stats.f.sf(f, free, spare)
    if pair:  # a rejection has to stand for other noise too
        assert textbook <= p_value(codes, target) < 1e-6
    else:
        assert p_value(codes, target) == pytest.approx(textbook, rel=1e-6)


def test_a_table_is_told_the_same_whether_it_is_large_or_not(monkeypatch):
    codes, target, _ = planted(7)
    known = Identifiability(codes, (USERS, ITEMS))
    small = additivity(known, target, ("user", "item"))
    monkeypatch.setattr(module, "LARGEST", 1)
    large = additivity(known, target, ("user", "item"))
    assert small.evidence.endswith("lack-of-fit F test, the smallest of 3 tests")
    assert large.evidence.endswith("lack-of-fit F test")
    assert large.p_value == pytest.approx(small.p_value / 3, rel=1e-6)
    codes, target, _ = planted(4, 1.0)
    assert additivity(Identifiability(codes, (USERS, ITEMS)), target, ("user", "item")).rejected


def test_of_added_effects_p_values_are_uniform():
    found = np.array([p_value(*planted(seed)[:2]) for seed in range(100)])
    assert stats.kstest(found, "uniform").pvalue > 0.001
    assert (found < 0.01).sum() <= 4


@pytest.mark.parametrize("kind", ["long tails", "noisy users"])
def test_other_noise_is_seldom_taken_for_an_interaction(kind):
    found = np.array([p_value(*planted(seed, kind=kind)[:2]) for seed in range(60)])
    assert (found < 0.01).sum() <= 4


def test_what_is_asked_of_the_projection_is_near_by_a_few_random_signs():
    codes, target, _ = planted(5)
    design = _design(codes, (USERS, ITEMS), {}, np.sqrt(target.count))
    dense = design.toarray()
    p = np.eye(len(codes)) - dense @ np.linalg.pinv(dense)
    v, rest = np.random.default_rng(0).uniform(0.5, 4, len(codes)), _Rest(design)
    assert rest.squares(v) == pytest.approx(v @ p**2 @ v, rel=0.1)
    assert rest.own @ v == pytest.approx(np.diagonal(p) @ v, rel=0.05)


def test_of_too_many_combinations_whole_levels_are_kept_and_tell():
    codes, target, _ = planted(6, 1.0)
    kept = _some(codes, (USERS, ITEMS), 400)
    assert 350 < kept.sum() <= 400
    assert not set(codes[kept, 0]) & set(codes[~kept, 0])
    assert p_value(codes, target, most=400) < 1e-3
    few = np.arange(800)[:, None] % 2
    assert _some(few, (2,), 300).sum() == 300, "of few levels each has more than that"


def test_without_repeated_rows_or_spare_combinations_nothing_is_told():
    codes, target, _ = planted(7)
    once = Target("y", None, np.ones(len(codes), dtype=np.int64), target.mean, np.zeros(len(codes)))
    assert p_value(codes, once) is None
    corner = np.array([[0, 0], [0, 1], [1, 0]])
    assert p_value(corner, Target("y", None, np.full(3, 2), np.arange(3.0), np.ones(3))) is None


@pytest.mark.parametrize("unit", [1e-12, 1e-8, 1e6])
def test_the_test_of_adding_up_knows_no_unit(unit: float) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(0, 0.6, 7), rng.normal(0, 0.6, 6)
    keep = rng.random((7, 6)) < 0.7
    y = 50 * np.exp(a[:, None] + b + rng.normal(0, 0.05, (7, 6)))

    def told(unit: float) -> CheckResult:
        rows = [(f"a{i}", f"b{k}", float(f"{y[i, k] * unit:.6g}")) for i, k in np.argwhere(keep)]
        return check(pl.DataFrame(rows, ["a", "b", "y"], orient="row"), factors=["a", "b"], target="y")

    one, other = told(1.0), told(unit)
    assert one.additivity is not None
    assert other.additivity is not None
    assert one.additivity.rejected == other.additivity.rejected
    assert other.additivity.p_value == pytest.approx(one.additivity.p_value, rel=1e-3)
    assert one.worst == other.worst
