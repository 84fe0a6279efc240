"""One pair of levels that lies apart from a sum: a product that is dear in one region."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from recombine.checks import check
from recombine.checks.adds_up import one_pair
from recombine.checks.adds_up.additivity import additivity
from recombine.checks.adds_up.between import repeats_alone
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.slips.without import without_level
from recombine.checks.verdicts.exported import _plain
from recombine.space import Factor, FactorSpace
from recombine.support.answers import Target

SHAPE, NAMES = (7, 6, 3), ("a", "b", "c")
LEVELS = [[f"{name}{i}" for i in range(n)] for name, n in zip(NAMES, SHAPE, strict=True)]


def planted(seed, apart=30.0, noise="alike", rows=1):
    """Combinations and answers of so many rows (combinations × rows); a2 with b3 has two combinations and is dearer."""
    rng = np.random.default_rng(seed)
    every = np.stack(np.unravel_index(np.arange(126), SHAPE), axis=1)
    here = (every[:, 0] == 2) & (every[:, 1] == 3)
    kept = np.sort(np.concatenate([np.flatnonzero(here)[:2], rng.choice(np.flatnonzero(~here), 74, replace=False)]))
    codes, here = every[kept], here[kept]
    mean = 100 + sum(
        s * rng.normal(size=n)[codes[:, k]] for k, (n, s) in enumerate(zip(SHAPE, (20, 12, 8), strict=True))
    )
    e = rng.standard_t(3, (76, rows)) if noise == "long tails" else rng.normal(size=(76, rows))
    if noise == "one level":
        e[codes[:, 0] == 0] *= 4
    size = 0.05 * mean if noise == "as the mean" else np.full(76, 5.0)
    return codes, (mean + apart * here)[:, None] + size[:, None] * e


def judged(codes, y):
    known, rows = Identifiability(codes, SHAPE), y.shape[1]
    target = Target("y", None, np.full(len(y), rows), y.mean(axis=1), rows * y.var(axis=1))
    return additivity(known, target, NAMES, LEVELS), known, target


def test_it_is_named_with_how_far_it_lies_apart():
    found = [judged(*planted(seed))[0].pair for seed in range(15)]
    assert sum(pair is not None and pair.levels == ("a2", "b3") for pair in found) >= 11  # 2 of 15 rejected without it
    assert np.mean([pair.by for pair in found if pair is not None]) == pytest.approx(30, abs=5)


@pytest.mark.parametrize("noise", ["alike", "as the mean", "long tails", "one level"])
def test_where_effects_add_up_none_is(noise):
    assert sum(judged(*planted(seed, 0.0, noise))[0].pair is not None for seed in range(100, 108)) == 0


def test_one_row_that_is_off_is_no_pair():
    codes, y = planted(1, 0.0)
    y[np.flatnonzero((codes[:, 0] == 2) & (codes[:, 1] == 3))[0]] += 80.0
    assert judged(codes, y)[0].pair is None


def fitted_of(codes, y):
    x = np.hstack([codes[:, [k]] == np.arange(n) for k, n in enumerate(SHAPE)]).astype(float)
    q, sizes, _ = np.linalg.svd(x, full_matrices=False)
    basis = q[:, sizes > 1e-9 * sizes[0]]
    left = y - basis @ (basis.T @ y)
    return x, one_pair.Fitted(codes, basis, left, np.ones(len(y)), np.ones(len(y)), None, None, 0.0)


def by_least_squares(x, y, column):
    """Size and p-value of a further column."""
    both = np.column_stack([x, column])
    rank = np.linalg.matrix_rank(both)
    beta = np.linalg.lstsq(both, y, rcond=None)[0][-1]
    rest = [float(((y - one @ np.linalg.lstsq(one, y, rcond=None)[0]) ** 2).sum()) for one in (x, both)]
    freedom = len(y) - rank
    return beta, float(stats.f.sf((rest[0] - rest[1]) / (rest[1] / freedom), 1, freedom))


def test_its_size_and_p_values_are_those_of_least_squares():
    codes, y = planted(3)
    x, fitted = fitted_of(codes, y[:, 0])
    column = ((codes[:, 0] == 2) & (codes[:, 1] == 3)).astype(float)
    size, p = by_least_squares(x, y[:, 0], column)
    gains, which = one_pair._gains(fitted, 0, 1, 6)
    assert one_pair._p(fitted, gains[which == 15][0], 1) == pytest.approx(p)
    found = one_pair.furthest(fitted, SHAPE, {})
    assert (found.at, found.by) == ((0, 1, 2, 3), pytest.approx(size))
    assert found.p_value >= p * sum(
        len(one_pair._gains(fitted, *pair)[0]) for pair in ((0, 1, 6), (0, 2, 3), (1, 2, 3))
    )
    near = np.flatnonzero((codes[:, 0] == 2) | (codes[:, 1] == 3))
    without = [by_least_squares(*(np.delete(one, i, axis=0) for one in (x, y[:, 0], column)))[1] for i in near]
    told = list(one_pair._without_any(fitted, found.at, column.astype(bool), fitted.beyond(column)))
    assert told == pytest.approx(without)


def test_of_repeated_rows_it_is_no_scatter_of_runs():
    found, known, target = judged(*planted(4, rows=2))
    assert found.pair.levels == ("a2", "b3")
    assert found.pair.alone
    assert repeats_alone(found, known, target, NAMES) is None
    codes, y = planted(4, 0.0, rows=2)
    assert judged(codes, y + 20 * np.random.default_rng(0).normal(size=(76, 1)))[0].pair is None


def test_a_note_names_it_on_the_scale_where_it_was_found():
    codes, y = planted(3)
    found, _, target = judged(codes, y)
    words = f"F test of whether a a2 with b b3 lies apart from a sum (by {found.pair.by:.3g}), "
    assert words in found.evidence
    assert found.evidence.endswith("; without this pair nothing is seen to contradict additivity")
    assert json.loads(json.dumps(_plain(vars(found))))["pair"]["levels"] == ["a2", "b3"]
    space = FactorSpace(tuple(Factor(name, tuple(own)) for name, own in zip(NAMES, LEVELS, strict=True)))
    train, asked = SimpleNamespace(target=target, space=space, codes=codes), SimpleNamespace(worst="seen", codes=codes)
    for told, on in ((found, ""), (replace(found, scale="log"), " on the log scale")):
        assert without_level(told, train, None, asked, (), 0) == [
            f"a a2 with b b3 may be alone in not adding up{on}: its combinations lie {found.pair.by:.3g} above the sum "
            "of effects of the others."
        ]


def test_ranges_of_the_pair_reach_as_far_as_it_lies_apart():
    codes, y = planted(3)
    answers = {name: [LEVELS[k][c] for c in codes[:, k]] for k, name in enumerate(NAMES)} | {"y": y[:, 0]}
    result = check(answers, list(NAMES), target="y", draws=9)
    (pair, at), told = result.forecast.pair, replace(result.forecast, pair=None)
    assert (result.rule, at) == ("additive", (0, 1, 2, 3))
    for query in result.queries:
        plain, there = told.estimate(np.array([query.codes])), query.codes[:2] == (2, 3)
        assert (query.low, query.high) == pytest.approx((plain.low[0], plain.high[0] + there * pair.by))
        assert result.in_words(query.status, query).endswith("and its range reaches as far") == there
