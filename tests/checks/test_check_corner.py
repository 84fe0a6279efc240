"""A corner of the grid that nothing seen reaches is named as one, scattered holes are not."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import polars as pl

import recombine as rc
from recombine.checks import CheckResult
from recombine.checks.exact.identifiability import DETERMINED, Identifiability
from recombine.checks.holes.corner import _by_chance, apart, corner, staircase
from recombine.checks.holes.never_met import _expected, never_met
from recombine.checks.holes.pattern import in_a_pattern
from recombine.checks.holes.rare import log_chance_empty
from recombine.checks.holes.unreached import unreached
from recombine.space import FactorSpace

LIKE = (
    "The forecast supposes that the asked combinations behave like the seen ones and are not missing because of their "
    "answers"
)


def checked(holes: list[tuple[int, int]], seed: int = 0, side: int = 6) -> CheckResult:
    rng = np.random.default_rng(seed)
    rows = [{"drug": f"drug{i}", "dose": f"dose{j}", "y": 2.0 * i + 3 * j + 0.3 * rng.normal()}
            for i in range(side) for j in range(side) for _ in range(2) if (i, j) not in holes]  # fmt: skip
    return rc.check(pl.DataFrame(rows), factors=["drug", "dose"], target="y", draws=9)


def test_the_caveat_stands_once_beside_every_forecast() -> None:
    said = checked([(0, 1), (3, 4), (5, 0)]).sentence()
    assert said.count(LIKE) == 1
    assert said.endswith(f"{LIKE}.")


def test_a_corner_is_named_with_its_levels() -> None:
    result = checked([(4, 4), (4, 5), (5, 4), (5, 5)])
    corner = "all 4 that are forecast are of drug in {drug4, drug5} with dose in {dose4, dose5}, of which none was seen"
    said = f"{corner}: whether effects add up there no seen row can tell. {LIKE}."
    assert result.sentence().endswith(f"not shown in a corner that nothing seen reaches: {said}")
    assert result.verdict == "assumption unsupported"
    assert result.fails(["assumption", "undetermined"]) == ["assumption"]
    assert result.to_dict()["doubt"] == "unsupported"
    assert result.to_frame()["doubt"].to_list() == ["unsupported"] * 4


def test_holes_that_are_no_corner_are_not_named_as_one() -> None:
    for seed in range(10):
        cells = np.random.default_rng(seed).permutation(36)[:6]
        assert "none was seen" not in checked([divmod(int(c), 6) for c in cells], seed).sentence()
    assert "none was seen" not in checked([(4, 4), (4, 5)]).sentence()  # one level of a factor


def test_of_three_factors_two_make_the_corner() -> None:
    space = FactorSpace.of(a=5, b=5, c=2)
    codes = np.stack(np.unravel_index(np.arange(50), space.shape), axis=1)
    asked = (codes[:, 0] > 1) & (codes[:, 2] > 0) & (codes[:, 1] > 1)
    known = Identifiability(codes[(codes[:, 0] < 2) | (codes[:, 1] < 2)], space.shape, 1)
    of = [(k, levels.tolist()) for k, levels in corner(known, codes[asked], space)]
    assert of == [(0, [2, 3, 4]), (1, [2, 3, 4])]
    assert corner(Identifiability(codes[~asked], space.shape, 1), codes[asked], space) == ()
    assert corner(known, codes[:0], space) == ()


def test_few_that_are_asked_of_many_unseen_ones_are_no_corner() -> None:
    space, codes = grid(8, numbers=False)
    rng, named = np.random.default_rng(0), 0
    for _ in range(60):
        seen = rng.random(64) < 0.5
        named += bool(corner(Identifiability(codes[seen], space.shape, 1), rng.permutation(codes[~seen])[:2], space))
    assert named == 0


def grid(side: int, numbers: bool) -> tuple[FactorSpace, np.ndarray]:
    levels = [[10.0 * 2**i if numbers else f"{name}{i}" for i in range(side)] for name in "ab"]
    space = FactorSpace.of(a=levels[0], b=levels[1])
    return space, np.stack(np.unravel_index(np.arange(side**2), space.shape), axis=1)


def found(holes: np.ndarray, numbers: bool) -> bool:
    space, codes = grid(len(holes), numbers)
    there = holes[codes[:, 0], codes[:, 1]]
    known = Identifiability(codes[~there], space.shape, 1)
    return staircase(known, np.ones(len(known.codes)), codes[there], space) is not None


def test_a_staircase_is_told_of_numbers_and_of_names_in_any_order() -> None:
    i, j = np.indices((6, 6))
    rng = np.random.default_rng(0)
    for holes in (i + j >= 6, i + j <= 3, i - j >= 2, (i > 2) & (j > 2) & (i + j > 6)):
        assert found(holes, numbers=True)
        assert found(holes[rng.permutation(6)][:, rng.permutation(6)], numbers=False)
    few = (i + j >= 9) & (i > 3) & (j > 3)
    assert found(few, numbers=True)
    assert not found(few, numbers=False)  # three holes of names lie so in one table of eight


def test_scattered_holes_are_behind_a_staircase_as_seldom_as_meant() -> None:
    for numbers in (True, False):
        fired = 0
        for seed in range(200):
            rng = np.random.default_rng(50_000 + seed)
            side, share = int(rng.integers(4, 8)), rng.uniform(0.1, 0.4)
            holes = np.zeros(side**2, dtype=bool)
            holes[rng.permutation(side**2)[: max(3, round(share * side**2))]] = True
            fired += found(holes.reshape(side, side), numbers)
        assert fired <= 0.05 * 200


def test_the_chance_of_a_staircase_is_counted() -> None:
    codes = np.stack(np.unravel_index(np.arange(12), (4, 3)), axis=1)

    def nested(chosen: tuple[int, ...]) -> bool:
        rows = [{int(b) for a, b in codes[list(chosen)] if a == row} for row in range(4)]
        several = len(set(codes[list(chosen), 0])) > 1 and len(set(codes[list(chosen), 1])) > 1
        return several and all(one <= two or two <= one for one, two in combinations(rows, 2))

    for holes in (3, 4, 5):
        share = sum(map(nested, combinations(range(12), holes))) / comb(12, holes)
        assert np.isclose(_by_chance(holes, holes, (4, 3), ordered=False), share)


def test_a_staircase_is_said() -> None:
    rng = np.random.default_rng(0)
    rows = [(2.0**i, 2.0**j, i + j + 0.3 * rng.normal()) for i in range(6) for j in range(6) if i + j < 7]
    table = pl.DataFrame(rows, schema=["one", "two", "y"], orient="row")
    said = "all 10 that are forecast are of high one with high two, and no seen one is as far out in both"
    assert said in rc.check(table, factors=["one", "two"], target="y", draws=9).sentence()
    named = table.with_columns(pl.col(name).map_elements("dose {}".format, pl.String) for name in ("one", "two"))
    said = "that one and two leave empty if ordered by how many of each other they were seen with"
    assert said in rc.check(named, factors=["one", "two"], target="y", draws=9).sentence()


def block(side: int, hole: float, seed: int, levels: int = 0) -> np.ndarray:
    """Which pairs were seen, of a square whose first ``levels`` never met and whose others are missing at random."""
    seen = np.random.default_rng(seed).random((side, side)) >= hole
    seen[:levels, :levels] = False
    return seen


def test_levels_that_never_met_are_found_among_other_holes() -> None:
    for side, levels, hole in ((6, 3, 0.03), (8, 3, 0.03), (8, 4, 0.1), (12, 5, 0.1)):
        right = 0
        for seed in range(20):
            left = block(side, hole, 60_000 + seed, levels)
            found = never_met(left, 0.04)
            right += found is not None and {*range(levels)} <= {*found.rows} and {*range(levels)} <= {*found.columns}
            if found is not None:
                assert not left[np.ix_(found.rows, found.columns)].any()
        assert right >= 15


def test_scattered_holes_leave_such_blocks_as_seldom_as_meant() -> None:
    fired = 0
    for seed in range(300):
        side, hole = int(np.random.default_rng(seed).integers(4, 11)), (0.05, 0.1, 0.2, 0.3, 0.4)[seed % 5]
        fired += never_met(block(side, hole, 70_000 + seed), 0.04) is not None
    assert fired <= 0.05 * 300


def test_levels_that_are_rare_everywhere_are_no_block() -> None:
    seen = np.ones((10, 10), dtype=bool)
    seen[:4, :4] = False
    assert never_met(seen, 0.04) is not None
    seen[:4, 4:8] = seen[4:8, :4] = np.indices((4, 4)).sum(axis=0) % 2 > 0  # half of what they met elsewhere is gone
    assert never_met(seen, 0.04) is None


def test_the_expected_number_of_blocks_is_counted() -> None:
    cells = [(i, j) for i in range(3) for j in range(4)]
    for holes in (5, 7):
        drawn = [set(chosen) for chosen in combinations(cells, holes)]
        blocks = [{(a, c), (a, d), (b, c), (b, d)}
                  for a, b in combinations(range(3), 2) for c, d in combinations(range(4), 2)]  # fmt: skip
        count = sum(one <= chosen for one in blocks for chosen in drawn)
        assert np.isclose(np.exp(_expected((3, 4), holes, 12)[2, 2]), count / len(drawn))


def test_levels_that_never_met_are_said_with_how_many_are_of_them() -> None:
    corner = [(i, j) for i in (3, 4, 5) for j in (3, 4, 5)]
    result = checked([*corner, (0, 1), (2, 5)])
    met = "9 of the 11 that are forecast are of drug in {drug3, drug4, drug5} with dose in {dose3, dose4, dose5}"
    assert f"reaches: {met}, of which none was seen: whether" in result.sentence()
    asked = np.array([q.codes for q in result.queries])
    told = apart(result.known, result.row_counts, asked, result.space)
    assert [levels.tolist() for _, levels in told] == [[3, 4, 5], [3, 4, 5]]
    assert sorted(q.codes for q in result.queries if result.doubt_of(q)) == corner


def drawn(rows: int, seed: int, levels: int = 0) -> tuple[FactorSpace, np.ndarray, np.ndarray]:
    """Distinct pairs and their rows, which fall on levels of very unequal frequency, each by itself; the ``levels``
    that are most frequent never meet."""
    rng = np.random.default_rng([seed, rows])
    drawn = np.stack([rng.choice(8, 4 * rows, p=-np.sort(-rng.dirichlet(np.ones(8)))) for _ in range(2)], axis=1)
    kept = drawn[drawn.max(axis=1) >= levels][:rows]
    codes = np.stack([np.unique(column, return_inverse=True)[1].ravel() for column in kept.T], axis=1)
    cells, counts = np.unique(codes, axis=0, return_counts=True)
    return FactorSpace.of(a=int(codes[:, 0].max()) + 1, b=int(codes[:, 1].max()) + 1), cells, counts


def told_of(space: FactorSpace, cells: np.ndarray, counts: np.ndarray) -> bool:
    known = Identifiability(cells, space.shape, 1)
    asked = space.grid()[known.status(space.grid()) == DETERMINED].astype(np.int64)
    return unreached(known, counts, asked, space) is not None


def test_levels_that_are_rare_leave_no_corner() -> None:
    assert sum(told_of(*drawn(80, 200 + seed)) for seed in range(40)) <= 2  # 15 by the holes alone
    assert sum(told_of(*drawn(300, 300 + seed, levels=4)) for seed in range(10)) >= 8


def test_the_chance_that_rare_levels_leave_a_staircase_is_counted() -> None:
    rows = np.array([[4, 1, 2], [3, 0, 0], [2, 1, 0]])
    empty = np.array([[0, 0, 0], [0, 1, 1], [0, 0, 1]], dtype=bool)
    one, two = (np.repeat(np.arange(3), rows.sum(axis=k)) for k in (1, 0))
    rng = np.random.default_rng(0)
    share = np.mean([not empty[one, rng.permutation(two)].any() for _ in range(20_000)])
    assert abs(np.exp(log_chance_empty(rows, empty)) - share) < 0.01


def kinds(side: int, many: int) -> np.ndarray:
    """Holes of pairs of levels of the same kind."""
    return np.equal.outer(np.arange(side) % many, np.arange(side) % many)


def test_a_pattern_is_found_whatever_the_order_and_whatever_else_is_missing() -> None:
    i, j = np.indices((9, 9))
    for holes in (abs(i - j) > 2, kinds(12, 3), kinds(12, 4), kinds(12, 3) | ~block(12, 0.1, 1)):
        rng = np.random.default_rng(0)
        mixed = holes[rng.permutation(len(holes))][:, rng.permutation(len(holes))]
        told = in_a_pattern(~mixed, mixed, 0.002)
        assert told is not None
        assert told.missing.sum() >= 0.95 * holes.sum()
        assert mixed[np.ix_(told.rows, told.columns)].all()


def test_levels_that_are_emptier_than_others_are_no_pattern() -> None:
    fired = 0
    for seed in range(100):
        rng = np.random.default_rng(90_000 + seed)
        side, spread = int(rng.integers(4, 12)), (0.0, 1.5)[seed % 2]
        likely = -0.8 + spread * (rng.normal(size=(side, 1)) + rng.normal(size=side))
        holes = rng.random((side, side)) < 1 / (1 + np.exp(-likely))
        fired += in_a_pattern(~holes, holes, 0.002) is not None
    assert fired <= 2
    few = np.eye(4, dtype=bool)
    assert in_a_pattern(~few, few, 0.002) is None


def test_pairs_that_are_neither_seen_nor_asked_are_no_part_of_a_pattern() -> None:
    asked = np.random.default_rng(0).random((12, 12)) < 0.2
    assert in_a_pattern(~(asked | kinds(12, 4)), asked & ~kinds(12, 4), 0.002) is None


def test_a_pattern_two_blocks_and_a_diagonal_are_said() -> None:
    i, j = np.indices((8, 8))
    two = ((i < 3) & (j < 2)) | ((i > 4) & (j > 5))
    for holes, where, which in (
        (abs(i - j) > 2, "where the missing ones have a pattern", "are in a pattern that chance would hardly leave"),
        (two, "in corners that nothing seen reaches", "{a0, a1, a2} with b in {b0, b1} or of a in {a5, a6, a7} with b"),
        (i == j, "for the same place in the order of a and b", "(a0 with b0, a1 with b1, …), of which none was seen"),
    ):
        space, codes = grid(8, numbers=False)
        there = holes[codes[:, 0], codes[:, 1]]
        known = Identifiability(codes[~there], space.shape, 1)
        told = unreached(known, np.ones(len(known.codes)), codes[there], space)
        assert told is not None
        assert told.where == where
        assert which in told.words
        assert all(map(told.holds, codes[there].tolist()))


def test_a_pattern_stands_in_the_verdict_and_beside_the_forecast() -> None:
    result = checked([(i, j) for i in range(8) for j in range(8) if abs(i - j) > 2], side=8)
    assert result.verdict == "assumption unsupported"
    assert result.fails(["assumption"]) == ["assumption"]
    assert "not shown where the missing ones have a pattern: all 30 that are forecast are in" in result.sentence()
    assert "if effects add up where the missing ones have a pattern" in result.expected
    assert result.to_frame()["doubt"].to_list() == ["unsupported"] * 30
