"""Coverage counts by hand, against plain sets, and against a public peer."""

from __future__ import annotations

import itertools
import sys

import coverwise
import numpy as np
import pytest

from recombine.checks import coverage


def _random_table(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(2, 5, size=rng.integers(2, 5)))
    rows = int(rng.integers(1, 15))
    return shape, np.stack([rng.integers(n, size=rows) for n in shape], axis=1)


@pytest.mark.parametrize("seed", range(50))
def test_counts_agree_with_coverwise(seed):
    shape, rows = _random_table(seed)
    names = [f"f{k}" for k in range(len(shape))]
    parameters = [{"name": name, "values": [f"v{i}" for i in range(n)]} for name, n in zip(names, shape, strict=True)]
    tests = [{name: f"v{c}" for name, c in zip(names, row, strict=True)} for row in rows.tolist()]
    strength = 2 + seed % 2
    if strength > len(shape):
        strength = 2
    peer = coverwise.analyze_coverage(parameters, tests, strength=strength)
    possible, seen, missing = coverage(rows, shape).total(strength)
    assert (possible, seen, missing) == (peer["totalTuples"], peer["coveredTuples"], peer["uncoveredCount"])


@pytest.mark.parametrize("seed", range(20))
def test_set_difference_with_a_test_table(seed):
    shape, train = _random_table(seed)
    rng = np.random.default_rng(seed + 100)
    asked = np.stack([rng.integers(n, size=6) for n in shape], axis=1)
    for found in coverage(train, shape, asked).interactions:
        here = {tuple(row) for row in train[:, found.factors].tolist()}
        there = {tuple(row) for row in asked[:, found.factors].tolist()}
        assert (found.seen, found.missing, found.unused) == (len(here), len(there - here), len(here - there))
        assert set(found.examples) <= there - here
        assert len(found.examples) == min(20, len(there - here))


def test_examples_of_the_grid_are_the_missing_ones():
    train = np.array([[0, 0], [1, 2]])
    (pair,) = coverage(train, (2, 3)).strength(2)
    assert pair.missing == 4
    assert set(pair.examples) == set(itertools.product(range(2), range(3))) - {(0, 0), (1, 2)}


def test_sorted_keys_and_presence_tables_agree(monkeypatch):
    rng = np.random.default_rng(0)
    train = rng.integers(7, size=(40, 4)).astype(np.uint8)
    dense = coverage(train, (7,) * 4)
    monkeypatch.setattr(sys.modules["recombine.checks.exact._coverage"], "LARGEST_TABLE", 10)
    assert coverage(train, (7,) * 4) == dense


def test_in_chunks_that_stop_once_all_is_shown_the_same_is_found(monkeypatch):
    train = np.unique(np.random.default_rng(0).integers(3, size=(70, 4)), axis=0)
    whole = coverage(train, (3,) * 4, train[:9])
    monkeypatch.setattr(sys.modules["recombine.checks.exact._coverage"], "CHUNK", 8)
    assert coverage(train, (3,) * 4, train[:9]) == whole
    assert {i.seen for i in whole.strength(2)} == {9}  # all, after a few chunks
    assert min(i.seen for i in whole.strength(3)) < 27  # not all, after every chunk
