"""Two frequent levels that were never seen together, of three factors."""

from __future__ import annotations

import numpy as np

from recombine.checks import check
from recombine.checks.exact.tables import pair_tables
from recombine.checks.never_together import _missing
from recombine.space import FactorSpace

SPACE = FactorSpace.of(a=4, b=4, c=3)


def drawn(rows: int, seed: int) -> np.ndarray:
    """Rows that fall on levels of unequal frequency, each by itself."""
    rng = np.random.default_rng([seed, rows])
    return np.stack([rng.choice(n, rows, p=np.arange(n, 0, -1) * 2 / (n * (n + 1))) for n in SPACE.shape], axis=1)


def missing(codes: np.ndarray) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    cells, counts = np.unique(codes, axis=0, return_counts=True)
    found = _missing(cells, counts, pair_tables(cells, counts, SPACE.shape), SPACE)
    return [(factors, levels) for factors, levels, _ in found]


def test_a_frequent_pair_that_is_missing_is_named() -> None:
    codes = drawn(150, 0)
    codes = codes[codes[:, :2].any(axis=1)]
    table = {n: [f"{n}{c}" for c in codes[:, k]] for k, n in enumerate("abc")}
    y = codes @ [2.0, 1.0, 3.0] + np.random.default_rng(0).normal(size=len(codes))
    result = check({**table, "y": y.tolist()}, ["a", "b", "c"], target="y", draws=9)
    (note,) = [note for note in result.notes if "was never seen, though" in note]
    asked = [q.codes for q in result.queries if q.status == "determined"]
    many = sum(codes[:2] == (0, 0) for codes in asked)
    assert note.startswith("a=a0 × b=b0 was never seen, though by chance about ")
    assert f"of {len(asked)} asked combinations that are determined {many} have them. Whether the two act" in note


def test_frequent_pairs_are_found_among_other_holes_and_rare_ones_are_not_taken_for_them() -> None:
    tables = [drawn(120, seed) for seed in range(30)]
    assert sum(missing(t[t[:, :2].any(axis=1)]) == [((0, 1), (0, 0))] for t in tables) >= 27
    assert sum(map(bool, map(missing, tables))) <= 1


def test_rows_that_are_repeated_tell_no_more_than_one_of_them() -> None:
    repeated = [np.repeat(drawn(40, 100 + seed), 5, axis=0) for seed in range(30)]
    assert sum(map(bool, map(missing, repeated))) <= 2
    holes = [np.argwhere(np.random.default_rng(seed).random(SPACE.shape) > 0.3) for seed in range(30)]
    assert sum(bool(missing(np.repeat(cells, 5, axis=0))) for cells in holes) <= 2
