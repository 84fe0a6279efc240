"""Do levels of two factors act together, in whatever way? A test for one row per combination.

    T = Σ e(a, b) e(a, d) e(c, b) e(c, d)   over all rectangles of four seen combinations

with e what single effects leave. Effects u(a) v(b) that groups of levels share, such as tastes, add u(a)² u(c)² v(b)²
v(d)² to a term, which is never negative; independent noise adds nothing on average, however large it is in each
combination. How large T would be by chance, as a share of (Σ e²)², is told by dealing the signs of e anew, so that an
answer that is far off stays so. Tukey's test sees only effects that go with those of the single levels.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from recombine.checks.exact.modular import Floats, Ints

LEAST_FREEDOM = 10
"""Combinations beyond the effects: with fewer, dealt signs were never found to reject (0 of 116 planted tables)."""
FIRST, HOPELESS = 99, 5
"""Signs that are dealt first, and how often T may be reached by them for more to be dealt."""
AT_ONCE = 3_000_000
"""Numbers that are dealt at once."""
AS_ROUNDED = 2.0
"""Times the variance of rounding up to which what is left may be that alone."""


def by_rectangles(codes: Ints, basis: Floats, left: Floats, spare: Floats, rounding: float, draws: int) -> float | None:
    """p-value of T for combinations of two factors, by up to ``draws`` deals. ``basis`` spans the single effects, which
    leave ``left``, of each answer the share ``spare``; None where too little is left, or there are no rectangles."""
    freedom, grid = len(left) - basis.shape[1], _Grid(codes)
    if freedom < LEAST_FREEDOM or grid.total(np.ones(len(left))) <= 0:
        return None
    if float(left @ left) <= AS_ROUNDED * freedom * rounding:
        return 1.0
    found, often, dealt, rng = grid.share(left), 0, 0, np.random.default_rng(0)
    while dealt < draws and not (dealt == FIRST and often > HOPELESS):
        some = min(AT_ONCE // len(left) + 1, (FIRST if dealt < FIRST else draws) - dealt)
        e = rng.choice([-1.0, 1.0], (len(left), some)) * (left / spare)[:, None]
        often += sum(grid.share(one) >= found - 1e-12 for one in (e - basis @ (basis.T @ e)).T)
        dealt += some
    return (1 + often) / (1 + dealt)


class _Grid:
    """Sums over rectangles of the combinations of two factors, by a matrix that has an entry for each."""

    def __init__(self, codes: Ints) -> None:
        often = [float(np.square(np.bincount(level), dtype=np.float64).sum()) for level in codes.T]
        k = int(np.argmin(often))  # combinations that share its levels are fewer
        self.row, self.column = codes[:, 1 - k], codes[:, k]

    def total(self, e: Floats) -> float:
        """T, four times: of |M Mᵀ|² what is left without terms of one row or one column."""
        m, square = csr_array((e, (self.row, self.column))), e**2
        flat = sum(float(np.square(np.bincount(line, square)).sum()) for line in (self.row, self.column))
        return float(np.square((m @ m.T).data).sum()) - flat + float(square @ square)

    def share(self, e: Floats) -> float:
        return self.total(e) / float(e @ e) ** 2
