"""A level whose answers have nothing to do with those of the others, in tables of repeated rows."""

from __future__ import annotations

import numpy as np

import recombine as rc
from recombine.checks.adds_up.additivity import additivity
from recombine.checks.adds_up.between import repeats_alone
from recombine.checks.exact.identifiability import Identifiability
from recombine.support.answers import Target

SHAPE = 8, 6
LEVELS = [[f"f{i}" for i in range(8)], [f"g{i}" for i in range(6)]]


def planted(seed, own=3.0, runs=0.0, rows=2):
    """Combinations and their answers (combinations × rows); ``own``: the profile of f0, 0: that of all others."""
    rng = np.random.default_rng(seed)
    codes = np.stack(np.unravel_index(np.sort(rng.choice(48, 32, replace=False)), SHAPE), axis=1)
    a, b, c = 2 * rng.normal(size=8), 2 * rng.normal(size=6), own * rng.normal(size=6)
    mean = a[codes[:, 0]] + np.where((codes[:, 0] == 0) & (own > 0), c[codes[:, 1]], b[codes[:, 1]])
    return codes, mean[:, None] + runs * rng.normal(size=(32, 1)) + 0.7 * rng.normal(size=(32, rows))


def judged(codes, y):
    known = Identifiability(codes, SHAPE)
    target = Target("y", None, np.full(len(y), y.shape[1]), y.mean(axis=1), y.shape[1] * y.var(axis=1))
    return additivity(known, target, ("f", "g"), LEVELS), known, target


def test_it_is_named_and_where_effects_add_up_none_is():
    found = [judged(*planted(seed))[0] for seed in range(30)]
    assert sum(f.odd is not None and f.odd.level == "f0" for f in found) >= 24  # 4 by slopes alone
    assert sum(judged(*planted(seed, 0.0))[0].rejected for seed in range(30)) <= 1


def test_off_alone_it_contradicts_sums_which_readings_of_one_run_do_not():
    found, known, target = judged(*planted(2))
    assert found.odd.alone
    assert repeats_alone(found, known, target, ("f", "g")) is None
    for seed in range(5):
        found, known, target = judged(*planted(seed, 0.0, runs=3.0))
        assert found.rejected
        assert repeats_alone(found, known, target, ("f", "g")).open


def test_its_ranges_are_as_wide_as_its_own_errors():
    codes, y = planted(0)
    f, g = ([LEVELS[k][c] for c in np.repeat(codes[:, k], 2)] for k in (0, 1))
    found = rc.check({"f": f, "g": g, "y": y.ravel()}, ["f", "g"], target="y")
    assert found.verdict == "assumption rejected"
    assert "f f0 responds to g unlike its other levels" in found.sentence()
    wide = {own: [q.high - q.low for q in found.queries if (q.codes[0] == 0) is own] for own in (True, False)}
    assert found.forecast.suspect[0] == (0, 0)
    assert min(wide[True]) > 1.5 * max(wide[False])
