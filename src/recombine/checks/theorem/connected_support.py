"""Connected support (A4): from one initial point, can every value of every block be reached inside the support?

The proof integrates dφ_k/dz_k from the initial point, one block moving while the others are held. So two points of a
listed support are joined if they differ in one block only. Two points of a continuous one are joined if one can go
straight from one to the other inside it, either block by block, in some order, or all blocks at once (where the
support has width in every block, small steps of one block at a time follow such a line; whether it has is what
`companions.movable` tells). A support in several pieces still suffices if the piece of the initial point reaches every
value of every block; each further piece would need an initial point of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from recombine.checks.theorem._companions import columns_of, others_of
from recombine.space import Points
from recombine.support import Explicit, Support

STEPS = 24
"""Places at which a straight way is tested for being inside the support."""
MOST_ORDERS = 6


@dataclass(frozen=True)
class Connectedness:
    """The pieces of a support and what the best initial point reaches."""

    pieces: int
    points: int
    """How many points were joined: all, or the drawn ones."""
    exact: bool
    reached: tuple[float, ...]
    """For each block, the share of its values that the initial point reaches."""
    initial: tuple[float, ...]

    @property
    def holds(self) -> bool:
        return min(self.reached) == 1.0


def connectedness(support: Support, points: int = 96, seed: int = 0) -> Connectedness:
    """Pieces of a listed support exactly; of a continuous one, of ``points`` drawn points."""
    if isinstance(support, Explicit):
        return _listed(support.require_nonempty("training"))
    drawn = np.array(support.sample(points, seed), dtype=np.float64)
    pairs = np.array(list(itertools.combinations(range(len(drawn)), 2)), dtype=np.intp).reshape(-1, 2)
    joined = _joined(support, drawn[pairs[:, 0]], drawn[pairs[:, 1]])
    piece = _pieces(len(drawn), pairs[joined])
    reaches = [_reached(support, drawn, piece == p) for p in range(piece.max() + 1)]
    best = max(range(len(reaches)), key=lambda p: sum(reaches[p]))
    reached = reaches[best]
    return Connectedness(int(piece.max()) + 1, len(drawn), False, reached, tuple(drawn[piece == best][0].tolist()))


def _listed(support: Explicit) -> Connectedness:
    codes, edges = support.codes, []
    for k in range(len(support.space.components)):
        _, group = np.unique(codes[:, others_of(support.space, k)], axis=0, return_inverse=True)
        order = np.argsort(group.reshape(-1), kind="stable")
        same = group.reshape(-1)[order][1:] == group.reshape(-1)[order][:-1]
        edges.append(np.stack([order[:-1][same], order[1:][same]], axis=1))
    piece = _pieces(len(codes), np.concatenate(edges))
    blocks = [np.unique(codes[:, columns_of(support.space, k)], axis=0, return_inverse=True) for k in _blocks(support)]
    reached = np.array(
        [
            [len(np.unique(value.reshape(-1)[piece == p])) / len(all_) for all_, value in blocks]
            for p in range(piece.max() + 1)
        ]
    )
    best = int(reached.mean(1).argmax())
    initial = tuple(float(c) for c in codes[piece == best][0])
    return Connectedness(int(piece.max()) + 1, len(codes), True, tuple(reached[best].tolist()), initial)


def _blocks(support: Support) -> range:
    return range(len(support.space.components))


def _pieces(count: int, edges: NDArray[np.intp]) -> NDArray[np.int64]:
    graph = csr_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(count, count))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


def _joined(support: Support, starts: Points, stops: Points) -> NDArray[np.bool_]:
    """Which pairs have a straight way inside the support, at once or block by block."""
    found = _inside(support, starts, stops)
    blocks = [columns_of(support.space, k) for k in _blocks(support)]
    for order in itertools.islice(itertools.permutations(blocks), MOST_ORDERS):
        left = np.flatnonzero(~found)
        found[left] = _staircase(support, starts[left], stops[left], order)
    return found


def _staircase(support: Support, starts: Points, stops: Points, order: Sequence[NDArray[np.intp]]) -> NDArray[np.bool_]:
    inside, at = np.ones(len(starts), dtype=bool), starts
    for block in order:
        after = at.copy()
        after[:, block] = stops[:, block]
        rows = np.flatnonzero(inside)
        inside[rows] = _inside(support, at[rows], after[rows])
        at = after
    return inside


def _inside(support: Support, starts: Points, stops: Points) -> NDArray[np.bool_]:
    """Whether every tested place of the straight way lies in the support; categorical factors change half-way."""
    inside = np.ones(len(starts), dtype=bool)
    whole = np.array([factor.categorical for factor in support.space.factors])
    for part in np.linspace(0, 1, STEPS + 1):
        rows = np.flatnonzero(inside)
        if not len(rows):
            break
        # Exact at both ends and for factors that stay: a plane is left by the last digit.
        place = stops[rows] if part == 1 else starts[rows] + part * (stops[rows] - starts[rows])
        place[:, whole] = (starts if part < 0.5 else stops)[rows][:, whole]
        inside[rows] = support.contains(place)
    return inside


def _reached(support: Support, drawn: Points, mine: NDArray[np.bool_]) -> tuple[float, ...]:
    """For each block, the share of drawn values that are in the piece or one move of that block away from it."""
    shares = []
    for k in _blocks(support):
        block, hit = columns_of(support.space, k), mine.copy()
        starts = np.tile(drawn[mine], ((~mine).sum(), 1))
        stops = starts.copy()
        stops[:, block] = np.repeat(drawn[~mine][:, block], mine.sum(), axis=0)
        hit[~mine] = _inside(support, starts, stops).reshape(-1, mine.sum()).any(1)
        shares.append(float(hit.mean()))
    return tuple(shares)
