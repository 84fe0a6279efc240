"""Does a gain stand where some combinations are noisier than others? F takes one noise for all.

    F = gain / m,  m = Σ P_ii v_i,  with  m² / Σ P_ij² v_i v_j  and  m² / Σ_g (Σ_{i in g} P_ii v_i)² / f_g  freedom

(Box 1954; Brunner, Dette and Munk 1997). P projects on what is tested; v is the noise of a combination's rows, pooled
over those that share its level of a factor, or its own, from f_g degrees of freedom. That is asked only where these
noises differ (Bartlett 1937), as shares of the mean too: of few rows each v is a guess, which costs power, and noise in
proportion to the mean does little harm to most tests. To that of a slope it does more, so that noise is asked there
whether it goes along the answer: the p-value is a mean over how much it may do so (`along`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc, fdtrc

from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.rules.along import Along

LIKELY = 0.02
"""How likely it has to be that noise goes along the answer so much for that to be asked of."""
DIFFER = 0.01
"""p-value below which noises are taken to differ."""


@dataclass(frozen=True, eq=False)
class Noise:
    """Sums of squares of each combination's noise, and their degrees of freedom."""

    squares: Floats
    freedom: Floats
    codes: Ints
    mean: Floats
    fit: Floats | None = None
    """What effects add up to, where noise is asked whether it goes along that."""

    def of_level(self, k: int, level: int) -> tuple[float, float] | None:
        """The same of all combinations of a level together; None where it has no repeated rows."""
        here = self.codes[:, k] == level
        squares, freedom = float(self.squares[here].sum()), float(self.freedom[here].sum())
        return (squares, freedom) if freedom else None

    def groups(self) -> list[Ints]:
        """Combinations that may share a noise: by the levels of each factor, and each by itself."""
        found = [*(np.unique(level, return_inverse=True)[1] for level in self.codes.T), np.arange(len(self.codes))]
        return [group for group in found if self.freedom.sum() > group.max() > 0]


def unequal(gain: float, basis: Floats, without: bool, noise: Noise) -> float:
    """The largest p-value of a gain if noise goes along the answer, or differs between groups that it is seen to differ
    between; 0 where neither can be told. ``basis``: orthonormal columns of what is tested, or else (``without``)."""
    own = (basis**2).sum(axis=1)

    def squares(v: Floats) -> float:
        found = float((((basis * v[:, None]).T @ basis) ** 2).sum())
        return found + (float((v**2 * (1 - 2 * own)).sum()) if without else 0.0)

    return at_most(gain, lambda: 1 - own if without else own, squares, noise)


def at_most(gain: float, own: Callable[[], Floats], squares: Callable[[Floats], float], noise: Noise) -> float:
    """The same where no basis is at hand: ``own`` gives P_ii, and ``squares`` of noises v gives Σ P_ij² v_i v_j."""
    size = noise.mean**2
    relative = noise.squares / np.maximum(size, 1e-12 * size.max(initial=1e-300))
    largest = _along(gain, own, squares, noise)
    for group in noise.groups():
        freedom, sums, shares = (_sums(group, values) for values in (noise.freedom, noise.squares, relative))
        told = freedom > 1e-9
        each = sums / np.where(told, freedom, 1.0)
        each[~told] = max(sums.sum() / freedom.sum(), each[told].mean())  # seldom met, and so as the seldom met ones
        if not (_differ(sums[told], freedom[told]) and _differ(shares[told], freedom[told])):
            continue
        v, freedom = each[group], np.where(told, freedom, freedom.sum())
        square, parts = squares(v), _sums(group, v * own())
        few = 2.0 if len(parts) == len(v) else 0.0  # v² of few rows is too large, by (f + 2) / f
        spread, mean = float((parts**2 / (freedom + few)).sum()), float(parts.sum())
        effects = max((mean**2 - few * spread) / (square - few * spread), 1.0)
        largest = max(largest, float(fdtrc(effects, mean**2 / spread, gain / mean)))
    return largest


def _along(gain: float, own: Callable[[], Floats], squares: Callable[[Floats], float], noise: Noise) -> float:
    """p-value of a gain if noise goes along the answer."""
    if noise.fit is None or (along := Along.of(noise.fit, noise.squares, noise.freedom)) is None:
        return 0.0
    freedom, place = float(noise.freedom.sum()), along.place(noise.fit)
    each, total, shares = float(noise.squares.sum()) / freedom, 0.0, own()
    told = np.flatnonzero(along.likely >= LIKELY)
    for i in told:
        v = each * along.variance(int(i), place)
        mean = float(v @ shares)
        total += along.likely[i] * float(fdtrc(mean**2 / squares(v), freedom, gain / mean))
    return float(total / along.likely[told].sum())


def _sums(group: Ints, values: Floats) -> Floats:
    return np.bincount(group, values).astype(np.float64)


def _differ(squares: Floats, freedom: Floats) -> bool:
    """Bartlett's test, by which noises that differ because of a few large errors differ too."""
    groups, all_freedom = len(squares), float(freedom.sum())
    pooled = float(squares.sum()) / all_freedom
    if groups < 2 or pooled <= 0:
        return False
    apart = -float(freedom @ np.log(np.maximum(squares / freedom / pooled, 1e-12)))
    few = 1 + (float((1 / freedom).sum()) - 1 / all_freedom) / (3 * (groups - 1))
    return bool(chdtrc(groups - 1, apart / few) < DIFFER)
