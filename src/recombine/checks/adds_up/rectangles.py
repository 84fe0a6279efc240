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
FULL = 4
"""Up to so many times as many cells as combinations the matrix is filled in: many small ones are multiplied at once."""
AS_ROUNDED = 2.0
"""Times the variance of rounding up to which what is left may be that alone."""


def by_rectangles(codes: Ints, basis: Floats, left: Floats, spare: Floats, rounding: float, draws: int) -> float | None:
    """p-value of T for combinations of two factors, by up to ``draws`` deals. ``basis`` spans the single effects, which
    leave ``left``, of each answer the share ``spare``; None where too little is left, or there are no rectangles."""
    freedom, grid = len(left) - basis.shape[1], _Grid(codes)
    if freedom < LEAST_FREEDOM or grid.totals(np.ones((len(left), 1)))[0] <= 0:
        return None
    if float(left @ left) <= AS_ROUNDED * freedom * rounding:
        return 1.0
    found, often, dealt, rng = grid.shares(left[:, None])[0], 0, 0, np.random.default_rng(0)
    while dealt < draws and not (dealt == FIRST and often > HOPELESS):
        some = min(AT_ONCE // len(left) + 1, (FIRST if dealt < FIRST else draws) - dealt)
        e = rng.choice([-1.0, 1.0], (len(left), some)) * (left / spare)[:, None]
        often += int((grid.shares(e - basis @ (basis.T @ e)) >= found - 1e-12).sum())
        dealt += some
    return (1 + often) / (1 + dealt)


class _Grid:
    """Sums over rectangles of the combinations of two factors, by a matrix that has an entry for each."""

    def __init__(self, codes: Ints) -> None:
        often = [float(np.square(np.bincount(level), dtype=np.float64).sum()) for level in codes.T]
        k = int(np.argmin(often))  # combinations that share its levels are fewer
        self.places = codes[:, 1 - k], codes[:, k]
        self.shape = tuple(int(place.max()) + 1 for place in self.places)
        each = np.arange(len(codes))
        self.lines = [csr_array((np.ones(len(codes)), (place, each))) for place in self.places]

    def totals(self, e: Floats) -> Floats:
        """T, four times, of each column of e: of |M Mᵀ|² what is left without terms of one row or one column."""
        square = e**2
        flat = sum(np.square(line @ square).sum(axis=0) for line in self.lines)
        return np.asarray(self._products(e) - flat + np.square(square).sum(axis=0))

    def _products(self, e: Floats) -> Floats:
        """|M Mᵀ|² of each column of e."""
        cells = self.shape[0] * self.shape[1]
        if cells > FULL * len(e):
            sparse = (csr_array((one, self.places), shape=self.shape) for one in e.T)
            return np.array([np.square((m @ m.T).data).sum() for m in sparse])
        found = np.empty(e.shape[1])
        for at in range(0, len(found), step := max(1, AT_ONCE // cells)):
            some = e[:, at : at + step].T
            m = np.zeros((len(some), *self.shape))
            m[:, self.places[0], self.places[1]] = some
            found[at : at + step] = np.square(m @ m.transpose(0, 2, 1)).sum(axis=(1, 2))
        return found

    def shares(self, e: Floats) -> Floats:
        return np.asarray(self.totals(e) / np.square((e**2).sum(axis=0)))
