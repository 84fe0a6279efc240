"""Two levels that were never seen together, of three or more factors, though both are frequent.

If each row has its level of one factor whatever that of another, a pair of levels that R and C of the N rows have is
seen in none of them with the chance p = C(N − C, R) / C(N, R), counts being divided by how many rows come at once
(`rare`). A pair is named if of all pairs of levels as unlikely ones are expected to be missing this seldom: Σ p.

What both do together no seen row tells, though combinations of them are determined if effects add up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from recombine.checks.asked.queries_asked import Asked
from recombine.checks.exact.identifiability import DETERMINED, Identifiability
from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.exact.tables import Pairs, tally
from recombine.checks.forecasts.expected import Forecast
from recombine.checks.holes.never_met import log_choose
from recombine.checks.holes.rare import clumps
from recombine.space import Codes, FactorSpace, quoted

CHANCE = 0.01
MOST_CELLS = 200_000
"""Combinations of the grid up to which such pairs are looked for."""
HALVINGS = 30
MOST_NAMED = 3


def never_together(
    known: Identifiability, counts: Ints, pairs: Pairs, asked: Asked, space: FactorSpace, told: Forecast | None
) -> list[str]:
    """A note for each such pair of levels that determined combinations are asked of, the most frequent ones first;
    those of a corner stand in the first lines."""
    if len(space) < 3 or known.curves or space.size > MOST_CELLS or len(asked.codes) < asked.total:
        return []
    codes = asked.codes[asked.status == DETERMINED]
    corner, found = told.corner if told is not None else None, []
    for (j, k), (a, b), rows in _missing(known.codes, counts, pairs, space):
        many = int(((codes[:, j] == a) & (codes[:, k] == b)).sum())
        if many and not (corner is not None and corner.factors == (j, k) and (a, b) in corner.pairs):
            found.append((rows, many, " × ".join(_named(space, at, code) for at, code in ((j, a), (k, b)))))
    found.sort(key=lambda pair: -pair[0])
    said = [_words(name, rows, many, len(codes)) for rows, many, name in found[:MOST_NAMED]]
    more = len(found) - len(said)
    return [*said, *([f"so it is with {more:,} more pairs of levels."] if more else [])]


def _missing(
    cells: Codes, counts: Ints, pairs: Pairs, space: FactorSpace
) -> Iterator[tuple[tuple[int, int], tuple[int, int], float]]:
    """Two factors, two of their levels that are missing together by no chance, and how many rows would have both."""
    alone = {at: np.where(rows == 0, _log_chances(rows, 1.0), 0.0) for at, rows in pairs.items()}
    least = min((float(logs.min(initial=0.0)) for logs in alone.values()), default=0.0)
    if least > math.log(CHANCE):
        return
    at_once = _repeats(cells, counts, space, [(at, np.argwhere(logs == least)) for at, logs in alone.items()])
    chances = {at: _log_chances(rows, max(at_once, clumps(rows, alone[at] == least))) for at, rows in pairs.items()}
    each = np.sort(np.concatenate([logs.ravel() for logs in chances.values()]))
    many = int((np.cumsum(np.exp(each)) <= CHANCE).sum())
    for at, rows in pairs.items() if many else ():
        for a, b in np.argwhere((rows == 0) & (chances[at] <= each[many - 1])).tolist():
            yield at, (a, b), float(rows[a].sum() * rows[:, b].sum() / rows.sum())


def _repeats(cells: Codes, counts: Ints, space: FactorSpace, without: Sequence[tuple[tuple[int, int], Ints]]) -> float:
    """How many rows come at once: n drawn one by one would show as many different combinations as there are. Those of
    pairs of levels that are missing most strangely are left aside."""
    grid, total = space.grid().astype(np.int64), float(counts.sum())
    kept, share = np.ones(len(grid), dtype=bool), np.ones(len(grid))
    for k, size in enumerate(space.shape):
        share *= (tally(cells[:, k].astype(np.int64), counts, size) / total)[grid[:, k]]
    for (j, k), places in without:
        for a, b in places:
            kept &= (grid[:, j] != a) | (grid[:, k] != b)
    missed = np.log1p(-share[kept])
    few, most = 1.0, total
    for _ in range(HALVINGS):
        n = math.sqrt(few * most)
        few, most = (n, most) if -np.expm1(n * missed).sum() < len(cells) else (few, n)
    return total / most


def _log_chances(rows: Floats, come_at_once: float) -> NDArray[np.float64]:
    """The log of the chance of each pair of levels to be missing."""
    one, two = rows.sum(axis=1)[:, None] / come_at_once, rows.sum(axis=0) / come_at_once
    total = rows.sum() / come_at_once
    left = np.broadcast_to(total - two, rows.shape)
    chances = log_choose(np.maximum(left, one), one) - log_choose(total, one)
    return np.where((left < one) & (rows > 0), -np.inf, chances)


def _named(space: FactorSpace, k: int, code: int) -> str:
    return f"{quoted(space.names[k])}={quoted((space.factors[k].levels or ())[code])}"


def _words(pair: str, rows: float, many: int, asked: int) -> str:
    has = "has" if many == 1 else "have"
    return (
        f"{pair} was never seen, though by chance about {rows:,.0f} rows would have both; of {asked:,} asked "
        f"combinations that are determined {many:,} {has} them. Whether the two act together no seen row can tell: "
        "that effects add up there is taken on trust."
    )
