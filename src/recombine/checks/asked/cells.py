"""Cells named in part, as people write them: {"shape": "disc", "size": 2} is every combination with these levels.
And the other way round: what all missing cells have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from recombine.checks.exact.design import Mask
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.exact.tables import Pairs
from recombine.space import Codes, FactorSpace, Level, quoted
from recombine.support.numerals import as_number
from recombine.support.pasted import excluded

LISTED = 500_000
"""Cells of a grid up to which its missing ones are compared."""
MOST_NAMED = 3


def level_code(space: FactorSpace, name: str, level: Level) -> int:
    """The code of a level, also where a command line could only give it as text."""
    factor = space[name]
    text = str(level).strip().lower()
    same = [i for i, known in enumerate(factor.levels or ()) if str(known).strip().lower() == text]
    if not same and (value := as_number(text.removesuffix("%").rstrip())) is not None:
        same = [i for i, known in enumerate(factor.levels or ()) if not isinstance(known, str) and known == value]
    return same[0] if len(same) == 1 else factor.code(level)


def cells_with(space: FactorSpace, codes: Codes, records: Sequence[Mapping[str, Level]]) -> Mask:
    """Which combinations have all levels of one of the records."""
    found = np.zeros(len(codes), dtype=bool)
    for record in records:
        part = np.ones(len(codes), dtype=bool)
        for name, level in record.items():
            part &= codes[:, space.position(name)] == level_code(space, name, level)
        found |= part
    return found


def existing(space: FactorSpace, exclude: Sequence[Mapping[str, Level]]) -> Codes:
    """The grid without the cells that cannot exist."""
    grid = space.grid()
    return np.asarray(grid[~cells_with(space, grid, exclude)])


def shared_by_missing(
    known: Identifiability, space: FactorSpace, pairs: Pairs, exclude: Sequence[Mapping[str, Level]] = ()
) -> list[str]:
    """A sentence on the levels that all missing cells of the grid share, if they do: they may be cells that cannot
    exist."""
    missing = space.size - len(known.codes)
    if missing < 2 or known.curves or space.size > LISTED or not all(seen.all() for seen in known.seen_levels):
        return []
    cells = existing(space, exclude)
    cells = cells[~known.members.contains(cells)]
    if len(cells) < 2:
        return []
    same = {k: int(cells[0, k]) for k in range(len(space)) if (cells[:, k] == cells[0, k]).all()}
    found = [same] if same else _covering(cells, pairs) if len(space) > 2 else []
    if not found:
        return []
    names, levels = space.names, [factor.levels or () for factor in space.factors]
    shown = [" × ".join(f"{quoted(names[k])}={quoted(levels[k][c])}" for k, c in record.items()) for record in found]
    word = f"share {shown[0]}" if len(shown) == 1 else f"have one of {', '.join(shown)}"
    if same and np.all([known.codes[:, k] == c for k, c in same.items()], axis=0).any():
        return [f"All {len(cells):,} missing combinations {word}."]  # Training has some with these levels: they exist.
    options = excluded([{names[k]: levels[k][c] for k, c in record.items()} for record in found])
    return [f"All {len(cells):,} missing combinations {word}; if they cannot exist, leave them out with {options}."]


def _covering(cells: Codes, pairs: Pairs) -> list[dict[int, int]]:
    """Few pairs of levels that training never shows and that between them account for every missing cell."""
    unseen = [(j, k, *map(int, place)) for (j, k), table in pairs.items() for place in np.argwhere(table == 0)]
    if not 0 < len(unseen) <= 200:
        return []
    has = np.stack([(cells[:, j] == a) & (cells[:, k] == b) for j, k, a, b in unseen])
    found: list[dict[int, int]] = []
    left = np.ones(len(cells), dtype=bool)
    while left.any() and len(found) < MOST_NAMED:
        best = int(np.argmax((has & left).sum(axis=1)))
        j, k, a, b = unseen[best]
        found.append({j: a, k: b})
        left &= ~has[best]
    return [] if left.any() else found
