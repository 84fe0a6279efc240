"""A corner of the grid that nothing seen reaches is named as one, scattered holes are not."""

from __future__ import annotations

import numpy as np
import polars as pl

import recombine as rc
from recombine.checks import CheckResult
from recombine.checks.corner import corner
from recombine.checks.identifiability import Identifiability
from recombine.space import FactorSpace

LIKE = "The forecast supposes that the asked combinations behave like the seen ones"


def checked(holes: list[tuple[int, int]], seed: int = 0) -> CheckResult:
    rng = np.random.default_rng(seed)
    rows = [{"drug": f"drug{i}", "dose": f"dose{j}", "y": 2.0 * i + 3 * j + 0.3 * rng.normal()}
            for i in range(6) for j in range(6) for _ in range(2) if (i, j) not in holes]  # fmt: skip
    return rc.check(pl.DataFrame(rows), factors=["drug", "dose"], target="y", draws=9)


def test_the_caveat_stands_once_beside_every_forecast() -> None:
    said = checked([(0, 1), (3, 4), (5, 0)]).sentence()
    assert said.count(LIKE) == 1
    assert said.endswith(f"{LIKE}.")


def test_a_corner_is_named_with_its_levels() -> None:
    result = checked([(4, 4), (4, 5), (5, 4), (5, 5)])
    assert result.verdict == "determined"
    corner = "all 4 that are forecast are of drug in {drug4, drug5} with dose in {dose4, dose5}, of which none was seen"
    assert f"{LIKE}, but {corner}: whether effects add up there no seen row can tell." in result.sentence()


def test_holes_that_are_no_corner_are_not_named_as_one() -> None:
    for seed in range(10):
        cells = np.random.default_rng(seed).permutation(36)[:6]
        assert "none was seen" not in checked([divmod(int(c), 6) for c in cells], seed).sentence()
    assert "none was seen" not in checked([(4, 4), (4, 5)]).sentence()  # one level of a factor


def test_of_three_factors_two_make_the_corner() -> None:
    space = FactorSpace.of(a=3, b=3, c=2)
    codes = np.stack(np.unravel_index(np.arange(18), space.shape), axis=1)
    asked = (codes[:, 0] > 0) & (codes[:, 2] > 0) & (codes[:, 1] > 0)
    known = Identifiability(codes[(codes[:, 0] == 0) | (codes[:, 1] == 0)], space.shape, 1)
    assert [(k, levels.tolist()) for k, levels in corner(known, codes[asked], space)] == [(0, [1, 2]), (1, [1, 2])]
    assert corner(Identifiability(codes[~asked], space.shape, 1), codes[asked], space) == ()
    assert corner(known, codes[:0], space) == ()
