"""Many levels and many factors: the work stays bounded, the numbers right. Bounds are CPU seconds, several times what
was measured."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest

from recombine.checks import check


def test_thousands_of_users_and_items():
    rng = np.random.default_rng(0)
    table = {"user": rng.integers(2_500, size=9_000), "item": rng.integers(1_200, size=9_000)}
    start = time.process_time()
    result = check(table, ["user", "item"], max_queries=2_000)
    assert time.process_time() - start < 15
    query = next(q for q in result.queries if q.status == "determined")
    design = np.zeros((9_000, 3_700))
    design[np.arange(9_000), np.array([table["user"], 2_500 + table["item"]])] = 1
    names = [int(v) for v in result.combination(query.codes).values()]
    x = np.zeros(3_700)
    x[[names[0], 2_500 + names[1]]] = 1
    # The leverage is the squared length of the shortest combination of training rows that gives the query.
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import lsqr

    weights = lsqr(csr_array(design.T), x, atol=1e-13, btol=1e-13, iter_lim=20_000)[0]
    assert query.leverage == pytest.approx(float(weights @ weights), rel=1e-5)


def test_two_hundred_binary_factors():
    rng = np.random.default_rng(0)
    table = {f"f{k}": rng.integers(2, size=400) for k in range(200)} | {"y": rng.normal(size=400)}
    result = check(table, [name for name in table if name != "y"], target="y")
    assert result.rank_train == 201
    assert result.coverage.skipped == (3,)
    assert result.coverage.total(2)[0] == 19_900 * 4
    assert len(result.queries) == 1_000
    assert len(json.loads(result.to_json())["confounding"]["pairs"]) == 300


def test_few_rows_stand_for_all_only_where_they_show_every_pair_of_levels():
    from recombine.checks.exact.tables import showing_pairs

    codes = np.unique(np.random.default_rng(0).integers([4, 3, 50], size=(9_000, 3)), axis=0).repeat(20, axis=0)
    some = showing_pairs(codes, (4, 3, 50))
    assert len(some) < len(codes) / 2
    for pair in ([0, 1], [0, 2], [1, 2]):
        np.testing.assert_array_equal(np.unique(some[:, pair], axis=0), np.unique(codes[:, pair], axis=0))
    hole = codes[(codes[:, 0] != 2) | (codes[:, 2] != 49)]
    assert showing_pairs(hole, (4, 3, 50)) is hole


def test_many_pairs_are_counted_as_each_alone():
    from recombine.checks.exact.tables import pair_tables, two_way

    rng = np.random.default_rng(1)
    shape = tuple(rng.integers(2, 5, size=25).tolist())
    codes = np.stack([rng.integers(n, size=60) for n in shape], axis=1)
    counts = rng.integers(1, 4, size=60)
    tables = pair_tables(codes, counts, shape)
    assert len(tables) == 300
    for (j, k), table in tables.items():
        np.testing.assert_array_equal(table, two_way(codes, counts, j, k, shape))
