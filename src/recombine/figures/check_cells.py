"""What the pictures of a check draw, whatever draws them: which levels, and the status of each cell.

Colour never stands alone: determined cells carry a sign of equality, wavy where nothing supports adding up,
undetermined ones a question mark, cells with a level never seen a cross, and a cell to collect a ring.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from recombine.figures.data import label, shortened
from recombine.space import in_order

if TYPE_CHECKING:
    from recombine.checks import CheckResult
    from recombine.space import Codes

MARK = {"seen": "", "determined": "", "extrapolation": "→", "undetermined": "?", "unseen level": "×", "not asked": "",
        "doubtful": "≈"}  # fmt: skip
"""The sign of each status; “doubtful” is what adding up determines where the table does not support adding up."""
MOST_LEVELS, MOST_IN_PAIRS, MOST_FACTORS = 40, 16, 6
"""Levels drawn of two factors, of more, and how many factors."""
GRID = "the grid of the table's levels minus training"
_names: WeakKeyDictionary[CheckResult, dict[int, list[str]]] = WeakKeyDictionary()


def to_collect(result: CheckResult) -> Codes:
    """The combinations with a ring: the rows of a plan, or else those that determine everything."""
    return result.advice.cells if result.plan is None else result.plan.cells


def level(result: CheckResult, factor: int, code: int) -> str:
    if factor >= len(result.space):
        return ""
    names = _names.setdefault(result, {})
    if factor not in names:
        names[factor] = shortened([label(v) for v in result.space.factors[factor].levels or ()])
    return names[factor][code]


def shown(result: CheckResult, factor: int) -> list[int]:
    """Codes of the levels drawn: all, or those of suggestions and the worst queries first."""
    if factor >= len(result.space):
        return [0]
    count = result.space.shape[factor]
    most = MOST_LEVELS if len(result.space) <= 2 else MOST_IN_PAIRS
    order = in_order(result.space.factors[factor].levels or ())
    if count <= most:
        return order
    wanted = [int(c) for c in to_collect(result)[:, factor]] + [q.codes[factor] for q in result.queries]
    first = list(dict.fromkeys([*wanted, *order]))[:most]
    return sorted(first, key=order.index)


def left_out(result: CheckResult) -> str:
    """What the picture has no room for."""
    most, drawn = (MOST_LEVELS, 2) if len(result.space) <= 2 else (MOST_IN_PAIRS, MOST_FACTORS)
    words = [f"Not drawn: {', '.join(result.space.names[drawn:])}."] if len(result.space) > drawn else []
    cut = [f"{most} of the {len(f):,} levels of {f.name}" for f in result.space.factors[:drawn] if len(f) > most]
    return " ".join(words + ([f"Drawn: {', '.join(cut)}."] if cut else []))


def grid_cells(result: CheckResult) -> list[tuple[int, int, str, bool]]:
    """One or two factors: (row, column, status, ringed) of each cell drawn, by the codes of its levels."""
    factors = len(result.space)
    cells = np.array(list(itertools.product(shown(result, 0), shown(result, 1))), dtype=np.int64)
    asked = {q.codes for q in result.queries} if result.asked != GRID else None
    ringed = {tuple(c) for c in to_collect(result).tolist()}
    found = []
    for (a, b), code in zip(cells.tolist(), result.known.status(cells[:, :factors]), strict=True):
        cell, name = (a, b)[:factors], list(MARK)[code]
        name = name if asked is None or name == "seen" or cell in asked else "not asked"
        found.append((a, b, _doubted(result, name, cell), cell in ringed))
    return found


Counts = dict[tuple[int, int], dict[str, int]]


def asked_with(result: CheckResult, row: int, column: int) -> Counts:
    """For each pair of levels: how many of the combinations asked with it have each status, the worst first."""
    found: Counts = {}
    for query in result.queries:
        counts = found.setdefault((query.codes[row], query.codes[column]), {})
        counts[query.status] = counts.get(query.status, 0) + 1
    return found


def pair_cells(result: CheckResult, row: int, column: int) -> list[tuple[int, int, str, bool]]:
    """(level down, level across, status, ringed) of each pair of levels: seen, or what most of the combinations asked
    with it are. A ring is around a pair that was not seen and is to be collected: others are in so many rows that rings
    around them would tell nothing."""
    seen = set(zip(*(result.known.codes[:, k].tolist() for k in (row, column)), strict=True))
    asked = asked_with(result, row, column)
    ringed = {(int(c[row]), int(c[column])) for c in to_collect(result)} - seen
    found = []
    for pair in itertools.product(shown(result, row), shown(result, column)):
        counts = asked.get(pair, {"not asked": 1})
        name = "seen" if pair in seen else max(counts, key=counts.__getitem__)
        found.append((*pair, _doubted(result, name), pair in ringed))
    return found


def worst_mark(result: CheckResult, counts: dict[str, int] | None) -> str:
    """The sign of the worst that is asked with a pair of levels."""
    return MARK[_doubted(result, next(iter(counts)))] if counts else ""


def _doubted(result: CheckResult, name: str, cell: tuple[int, ...] = ()) -> str:
    """The status, or that it is doubted; ``cell``: of this combination, where some alone are."""
    doubted = result.doubts(cell) if cell else result.doubt
    return "doubtful" if name == "determined" and doubted else name
