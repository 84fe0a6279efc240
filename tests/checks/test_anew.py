"""Blocks that are numbered anew within each level of a factor are asked about, those that are the same in all not."""

from __future__ import annotations

import numpy as np
import polars as pl

import recombine as rc


def trial(seed: int, anew: bool) -> pl.DataFrame:
    """Three blocks of five sites with most of eight varieties: each site's own, or the same in all."""
    rng = np.random.default_rng(seed)
    variety, site, shared, own = rng.normal(0, 2, 8), rng.normal(0, 3, 5), rng.normal(0, 2, 3), rng.normal(0, 2, (5, 3))
    return pl.DataFrame(
        [
            {"variety": f"v{i}", "site": f"s{j}", "block": k + 1,
             "y": variety[i] + site[j] + (own[j, k] if anew else shared[k]) + rng.normal()}
            for i in range(8) for j in range(5) if rng.random() < 0.65 for k in range(3)
        ]
    )  # fmt: skip


def test_blocks_that_seem_to_be_numbered_anew_are_asked_about() -> None:
    asked, alike = 0, 0
    for seed in range(4):
        found = rc.check(trial(seed, anew=True), ["variety", "site"], target="y", blocks="block", draws=9)
        assert found.shifts is not None
        if found.shifts.anew:
            asked += 1
            assert found.shifts.anew == ("site:block",)
            told = "if each site numbers its own anew, name them as --block site:block (blocks='site:block')."
            assert any(told in n for n in found.notes)
        told = rc.check(trial(seed, anew=True), ["variety", "site"], target="y", blocks="site:block", draws=9)
        same = rc.check(trial(seed, anew=False), ["variety", "site"], target="y", blocks="block", draws=9)
        alike += sum(r.shifts is not None and bool(r.shifts.anew) for r in (told, same))
    assert asked >= 3
    assert alike <= 1


def priced(seed: int, anew: bool) -> pl.DataFrame:
    """Prices of most of eight products in six shops, on ten days that multiply them, alike in all shops or each its
    own."""
    rng = np.random.default_rng(seed)
    product, shop, day = rng.normal(0, 0.5, 8), rng.normal(0, 0.5, 6), rng.normal(0, 0.5, (6, 10))
    cells = [(i, j) for i in range(8) for j in range(6) if (i + j) % 4]
    i, j = np.array(cells)[rng.integers(len(cells), size=300)].T
    k = rng.integers(10, size=300)
    y = np.exp(4 + product[i] + shop[j] + day[j if anew else 0, k] + rng.normal(0, 0.2, 300))
    of = {"product": i.astype(str), "shop": j.astype(str), "day": [f"d{v}" for v in k]}
    return pl.DataFrame({**of, "price": y.round(2)})


def test_blocks_that_multiply_answers_are_not_taken_for_blocks_numbered_anew() -> None:
    multiplied, anew = 0, 0
    for seed in range(5):
        found = rc.check(priced(seed, anew=False), ["product", "shop"], target="price", blocks="day", draws=9).shifts
        own = rc.check(priced(seed, anew=True), ["product", "shop"], target="price", blocks="day", draws=9).shifts
        assert found is not None
        assert own is not None
        multiplied += found.multiplying == ("day",) and "give the logarithm of the answer" in found.words
        anew += own.anew == ("shop:day",) and "logarithm" not in own.words
    assert (multiplied >= 4, anew >= 4) == (True, True)
