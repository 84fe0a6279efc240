"""A rate and the two columns it was computed from."""

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.checks.columns.computed import Quotient, quotient, share_of
from recombine.support.counted import counted


def rates(seed: int, decimals: int | None = None) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    codes = np.stack(np.unravel_index(np.arange(60), (5, 4, 3)), axis=1)[rng.random(60) < 0.7]
    n = rng.integers(20, 2_000, len(codes))
    p = 1 / (1 + np.exp(2.5 - sum(rng.normal(0, 0.5, k)[codes[:, i]] for i, k in enumerate((5, 4, 3)))))
    conv = rng.binomial(n, p)
    rate = conv / n if decimals is None else np.round(conv / n, decimals)
    named = {f: [f"{f}{c}" for c in codes[:, i]] for i, f in enumerate("abc")}
    return pd.DataFrame(named | {"n": n, "conv": conv, "other": rng.integers(1, 50, len(n)), "rate": rate})


@pytest.mark.parametrize("decimals", [None, 3])
def test_what_a_rate_is_computed_from_is_no_block_and_only_what_it_is_over_a_weight(decimals):
    for seed in range(2):
        notes = rc.check(rates(seed, decimals), ["a", "b", "c"], target="rate").notes
        assert any("rate is conv / n in every row" in note for note in notes)
        assert any("--weights n " in note for note in notes)
        assert not any("--block conv" in note or "--weights conv" in note for note in notes)


def test_a_rate_over_so_many_cases_is_said_where_the_part_was_not_kept():
    for seed in range(2):
        table = rates(seed)
        notes = rc.check(table.drop(columns="conv"), ["a", "b", "c"], target="rate").notes
        assert any("count alike here" in note for note in notes)
        turned = table.drop(columns="conv").assign(n=table["n"][::-1].to_numpy())
        notes = rc.check(turned, ["a", "b", "c"], target="rate").notes
        assert not any("whole number in every row" in note for note in notes)


def test_shares_that_are_whole_with_any_cases_tell_nothing():
    rng = np.random.default_rng(1)
    for _ in range(100):
        y, n = rng.integers(0, 5, 30) / 4, 4.0 * rng.integers(1, 99, 30)
        assert share_of(y, [(0, n)]) is None
        assert share_of(rng.random(30).round(3), [(0, rng.integers(1, 5_000, 30).astype(float))]) is None


def test_numbers_that_stand_beside_each_other_by_chance_are_no_quotient():
    rng = np.random.default_rng(0)
    for _ in range(200):
        y, columns = rng.integers(1, 9, 8) / 2, [(k, rng.integers(1, 9, 8).astype(float)) for k in range(6)]
        assert quotient(y, columns) is None
    part, whole = rng.integers(1, 9, 8).astype(float), rng.integers(1, 9, 8).astype(float)
    assert quotient(part / whole, [(3, whole), (5, part)]) == Quotient(5, 3)
    assert quotient(100 * part / whole, [(3, whole), (5, part)]) == Quotient(5, 3, 100.0)


@pytest.mark.parametrize("write", ["{:.6g}", "{:.3g}", "{:.5f}", "{:.3f}"])
def test_shares_of_known_cases_are_known_by_as_many_digits_as_each_number_has(write):
    rng = np.random.default_rng(1)
    n = rng.integers(20, 300, 60).astype(float)
    share = np.array([float(write.format(v)) for v in rng.binomial(n.astype(int), 0.05) / n])
    assert counted(share, n)
    assert not counted(share, rng.permutation(n))
    assert not counted(np.array([float(write.format(v)) for v in rng.uniform(0, 0.1, 60)]), n)
