"""Do single effects leave more than the noise of repeated rows? A test for tables too large for a matrix.

    F = (Σ n e² / (cells − rank)) / (Σ s / (rows − cells))

where n rows of a combination have the mean e beyond the fit and the sum of squares s around their own mean. The fit is
of all combinations, of single rows too: sparse and iterated, its rank exact. F supposes one noise, of no long tails; a
rejection has to stand where some levels are noisier than others (`unequal`), with what it needs of P = 1 − the fit by
random signs, and for

    z = log F / √ (Σ (n e² − their mean)² / (Σ n e²)² + Σ (s − their mean)² / (Σ s)²)

which takes the noise of both sums from their own terms; that of s, which may be few, is no less than with tails as long
as those of e. Of very many combinations those of some levels are tested.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from recombine.checks.adds_up.recurring import EXACT, f_test, left_by, scaled, upper
from recombine.checks.adds_up.unequal import Noise, at_most
from recombine.checks.exact.curves import Curve
from recombine.checks.exact.design import Mask
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.rules.effects import blocks_of
from recombine.support.table import Target

PROBES, FEW_PROBES = 10, 3
"""Draws of signs for each P_ii, and for a sum over all of P."""


def lack_of_fit(
    known: Identifiability, codes: Ints, target: Target, rounding: float, most: int, level: float
) -> float | None:
    """p-value of what single effects leave of up to ``most`` combinations, beside the noise of their repeated rows,
    which is no less than ``rounding`` in a row; None where there is none, or no fit tells. It has to stand below
    ``level``."""
    if len(codes) > most:
        kept = _some(codes, known.shape, most)
        codes, target = codes[kept], target.of(kept)
    whole = len(codes) == len(known.codes)
    rank = known.rank if whole else Identifiability(codes, known.shape, 1, known.curves).rank
    count = target.count.astype(np.float64)
    free, spare = len(codes) - rank, float(count.sum()) - len(codes)
    if free < 1 or spare < 1:
        return None
    root = np.sqrt(count)
    design = _design(codes, known.shape, known.curves, root)
    left = left_by(design, root * target.mean)
    if left is None:
        return None
    between, within = left**2, np.maximum(target.spread, (count - 1) * rounding)
    gain, noise = float(between.sum()), max(float(target.spread.sum()), spare * rounding)
    if gain <= EXACT * float((count * target.mean**2).sum()):
        return 1.0
    if noise <= 0:
        return None
    p_value = f_test(gain, free, noise, spare)
    if p_value >= level:
        return p_value
    beyond, tails = _variance(between / gain, 1 / len(codes)), len(codes) * float((between**2).sum()) / gain**2 - 3
    inside = _variance(target.spread / noise, (count - 1) / spare)
    as_long = float((2 * (count - 1) + max(tails, 0.0) * (count - 1) ** 2 / count).sum()) / spare**2
    more = float(np.log(gain / free) - np.log(noise / spare))
    p_value = max(p_value, upper(more, beyond + max(inside, as_long)))
    rest = _Rest(design)
    return max(p_value, at_most(gain, lambda: rest.own, rest.squares, Noise(within, count - 1, codes, target.mean)))


def _variance(terms: Floats, mean: float | Floats) -> float:
    """Of a sum, by its terms."""
    return float(((terms - mean) ** 2).sum())


def _some(codes: Ints, shape: tuple[int, ...], most: int) -> Mask:
    """Up to so many combinations, all those of levels drawn at random, of the factor that has most of them: thinned
    out, a level would have too few left to tell its effect from the rest. Of few levels any combinations."""
    level, rng = codes[:, int(np.argmax(shape))], np.random.default_rng(0)
    many = np.bincount(level)
    drawn = rng.permutation(len(many))
    levels = drawn[np.cumsum(many[drawn]) <= most]
    if many[levels].sum() > most / 2:
        return np.isin(level, levels)
    return np.isin(np.arange(len(codes)), rng.choice(len(codes), most, replace=False))


def _design(codes: Ints, shape: tuple[int, ...], curves: Mapping[int, Curve], root: Floats) -> csr_array:
    x = [block.columns(codes) for block in blocks_of(codes, shape, 1, curves)]
    return scaled([np.ones((len(codes), 1)), *x], root)


@dataclass(frozen=True, eq=False)
class _Rest:
    """P, which takes away what a design fits, by its products with random signs z."""

    design: csr_array

    def _signs(self, many: int) -> list[Floats]:
        rng = np.random.default_rng(0)
        return [rng.choice([-1.0, 1.0], self.design.shape[0]) for _ in range(many)]

    @cached_property
    def own(self) -> Floats:
        """P_ii, the mean of z (P z) but for chance."""
        found = [z * left for z in self._signs(PROBES) if (left := left_by(self.design, z)) is not None]
        return np.clip(np.mean(found, axis=0), 0.0, 1.0) if found else np.ones(self.design.shape[0])

    def squares(self, v: Floats) -> float:
        """Σ P_ij² v_i v_j, the mean of |√v P √v z|²."""
        root = np.sqrt(v)
        found = [left_by(self.design, root * z) for z in self._signs(FEW_PROBES)]
        return float(np.mean([v @ left**2 for left in found if left is not None] or [v @ v]))
