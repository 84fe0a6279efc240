"""What to collect: the cheapest further combinations after which everything asked is determined.

Modulo the row space of training, rows are vectors and a set of cells suffices iff its vectors span those of the asked
cells. Independent sets of vectors are a matroid, so with every candidate inside span(train ∪ asked) the greedy choice
by cost is optimal, and with unit costs its size is rank(train ∪ asked) − rank(train), attained by asked cells. A
candidate outside that span may help two asked cells at once, as a Steiner point does: then an exhaustive search
decides small cases, and larger ones get a heuristic with a lower bound beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import minimum_spanning_tree

from recombine.checks.exact.design import Additive
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.exact.modular import Echelon, Floats, Ints, primes
from recombine.checks.exact.span import CHUNK, Integers, coordinates, exact_product
from recombine.space import Codes

MOST_DIRECTIONS = 3_000
"""Free directions up to which cells are chosen one by one; above, only their number is given."""
EXHAUSTIVE = 12
"""Distinct useful candidates up to which the Steiner case is searched completely."""
AS_MUCH_AS_CAN_BE = "no allowed set suffices; these determine as much as can be"


@dataclass(frozen=True, eq=False)
class Advice:
    """The cells to collect and what is known about them."""

    cells: Codes
    costs: Floats
    needed: int
    """rank(train ∪ asked) − rank(train): no fewer cells can do."""
    exact: bool
    """Whether no allowed set is cheaper."""
    enough: bool
    """Whether the cells make every asked combination determined; False: no allowed set does."""
    lower_bound: float
    """No allowed set costs less."""
    method: str
    listed: bool = True
    """False where only the number is known."""
    outside: int = 0
    """Asked combinations that stay an extrapolation: with these cells a number of theirs is still outside the range."""

    @classmethod
    def number_only(cls, none: Codes, needed: int, method: str) -> Advice:
        """How many cells are needed where they are too many to list; ``none`` is an empty list of cells."""
        return cls(none, np.zeros(0), needed, True, True, float(needed), method, listed=False)

    @property
    def cost(self) -> float:
        return float(self.costs.sum())


def greedy(vectors: Integers, order: Ints) -> Ints:
    """The first independent rows in the given order, exact: each row left out is a combination of rows chosen before
    it.

    Chosen modulo a prime and then proved: the unique rational coordinates of every other row use earlier rows only.
    """
    for prime in primes():
        echelon = Echelon(vectors.shape[1], prime)
        chosen = order[echelon.add(vectors[order])]
        if _proved(vectors, order, chosen):
            return chosen
    raise ArithmeticError("no prime decides this matroid")


def _proved(vectors: Integers, order: Ints, chosen: Ints) -> bool:
    place = np.empty(len(vectors), dtype=np.int64)
    place[order] = np.arange(len(order))
    try:
        scale, numbers = coordinates(vectors[chosen], vectors[order])
    except ArithmeticError:
        return False
    if (exact_product(numbers, vectors[chosen]) != scale[:, None] * vectors[order]).any():
        return False
    return not ((numbers != 0) & (place[chosen][None, :] > np.arange(len(order))[:, None])).any()


def advise(
    known: Identifiability,
    asked: Codes,
    *,
    candidates: Codes | None = None,
    costs: Sequence[float] | Floats | None = None,
) -> Advice:
    """The cheapest of ``candidates`` (default: the asked cells, at cost 1 each) that make ``asked`` determined."""
    open_cells = asked[~known.rows.contains(asked)]
    pool = open_cells if candidates is None else np.asarray(candidates)
    price = np.ones(len(pool)) if costs is None else np.asarray(costs, dtype=np.float64)
    nothing = pool[:0]
    if not len(open_cells):
        return Advice(nothing, np.zeros(0), 0, True, True, 0.0, "nothing is missing")
    if candidates is None and costs is None:
        chosen = _contracted(known, pool) if known.graph else _first_independent(known, pool)
        if chosen is not None:
            return Advice(pool[chosen], price[chosen], len(chosen), True, True, float(len(chosen)), "no fewer would do")
    if known.rows.nullity > MOST_DIRECTIONS:
        more = known.with_rows(open_cells).rank - known.rank
        return Advice.number_only(nothing, more, "too many free directions to list; the number is exact")
    goal = _distinct(known.rows.values(open_cells))
    target = goal[greedy(goal, np.arange(len(goal)))]
    vectors = known.rows.values(pool)
    pool_order = np.argsort(price, kind="stable")
    pool_order = _useful(vectors, pool_order)
    kinds = vectors[pool_order]
    inside = _inside(target, kinds)
    if inside.all():
        chosen = pool_order[greedy(kinds, np.arange(len(kinds)))] if len(kinds) else pool_order
        enough = len(chosen) == len(target)
        bound = float(price[chosen].sum())
        word = "no cheaper set would do" if enough else AS_MUCH_AS_CAN_BE
        return Advice(pool[chosen], price[chosen], len(target), True, enough, bound, word)
    return _steiner(pool[pool_order], price[pool_order], kinds, target)


def _contracted(known: Identifiability, cells: Codes) -> Ints:
    """Two factors: a spanning forest of the graph whose nodes are pieces and whose edges are the asked cells."""
    rows = known.rows
    assert isinstance(rows, Additive)
    ends = np.sort(
        np.stack([rows.forest.piece[cells[:, 0]], rows.forest.piece[rows.forest.left + cells[:, 1].astype(np.int64)]]),
        axis=0,
    )
    keys, first = np.unique(ends[0] * rows.forest.pieces + ends[1], return_index=True)
    graph = coo_array(
        (first + 1.0, (keys // rows.forest.pieces, keys % rows.forest.pieces)), shape=(rows.forest.pieces,) * 2
    )
    return np.sort(minimum_spanning_tree(graph.tocsr()).data.astype(np.int64) - 1)


def _first_independent(known: Identifiability, cells: Codes) -> Ints | None:
    """The first cells, in order, that are independent modulo training; proved by checking that they determine the
    rest.
    """
    if known.rows.nullity > MOST_DIRECTIONS:
        return None
    width = max(256, min(CHUNK, 8_000_000 // known.rows.nullity))
    for prime in primes():
        echelon = Echelon(known.rows.nullity, prime)
        chosen: list[int] = []
        for start in range(0, len(cells), width):
            vectors = known.rows.values(cells[start : start + width])
            at = 0
            while at < len(vectors):
                probe = echelon.random_null_vectors(2, seed=start + echelon.rank)
                new = at + np.flatnonzero((np.mod(np.mod(vectors[at:], prime) @ probe, prime) != 0).any(axis=1))
                if not len(new):
                    break
                batch = new[:256]
                chosen += [start + int(batch[i]) for i in echelon.add(vectors[batch])]
                at = int(batch[-1]) + 1
        if known.with_rows(cells[chosen]).rows.contains(cells).all():
            return np.array(chosen, dtype=np.int64)
    return None


def _distinct(vectors: Integers) -> Integers:
    """Each vector once; the first of each keeps its place."""
    if vectors.dtype == object:
        seen = {tuple(row): i for i, row in reversed(list(enumerate(vectors.tolist())))}
        return vectors[sorted(seen.values())]
    _, first = np.unique(vectors, axis=0, return_index=True)
    return np.asarray(vectors[np.sort(first)])


def _useful(vectors: Integers, order: Ints) -> Ints:
    """The order without zero vectors and without repeats (the cheaper of two equal or opposite cells stays)."""
    seen: set[tuple[int, ...]] = set()
    kept = []
    for i, row in zip(order.tolist(), vectors[order].tolist(), strict=True):
        first = next((v for v in row if v), 0)
        key = tuple(-v for v in row) if first < 0 else tuple(row)
        if first and key not in seen:
            seen.add(key)
            kept.append(i)
    return np.array(kept, dtype=np.int64)


def _inside(target: Integers, vectors: Integers) -> NDArray[np.bool_]:
    """Which vectors lie in the span of the (independent) target vectors, exactly."""
    both = np.vstack([target, vectors])
    order = np.arange(len(both))
    chosen = greedy(both, order)
    outside = chosen[chosen >= len(target)]
    if not len(outside):
        return np.ones(len(vectors), dtype=bool)
    _, numbers = coordinates(both[chosen], both[order])
    free: NDArray[np.bool_] = ~(numbers[len(target) :, np.searchsorted(chosen, outside)] != 0).any(axis=1)
    return free


def _spans(vectors: Integers, target: Integers) -> bool:
    both = np.vstack([vectors, target])
    return bool((greedy(both, np.arange(len(both))) < len(vectors)).all())


def _steiner(pool: Codes, price: Floats, vectors: Integers, target: Integers) -> Advice:
    needed = len(target)
    bound = float(np.sort(price)[:needed].sum())
    if not _spans(vectors, target):
        best = greedy(vectors, np.arange(len(vectors)))
        return Advice(pool[best], price[best], needed, True, False, bound, AS_MUCH_AS_CAN_BE)
    chosen = _reverse_delete(vectors, target)
    if len(pool) <= EXHAUSTIVE:
        chosen = _search(price, vectors, target, chosen)
        word = "exhaustive search (candidates outside the asked span)"
        return Advice(pool[chosen], price[chosen], needed, True, True, float(price[chosen].sum()), word)
    exact = float(price[chosen].sum()) <= bound
    word = "heuristic for a Steiner-type choice (candidates outside the asked span): dearest redundant cells dropped"
    return Advice(pool[chosen], price[chosen], needed, exact, True, bound, word)


def _reverse_delete(vectors: Integers, target: Integers) -> Ints:
    """Two starts — cheapest first, and candidates inside the target's span first — each thinned out; the smaller
    stays.
    """
    inside = _inside(target, vectors)
    best: Ints | None = None
    for order in (np.arange(len(vectors)), np.concatenate([np.flatnonzero(inside), np.flatnonzero(~inside)])):
        chosen = list(greedy(vectors, order))
        for cell in sorted(chosen, reverse=True):
            rest = [c for c in chosen if c != cell]
            if rest and _spans(vectors[rest], target):
                chosen = rest
        if best is None or len(chosen) < len(best):
            best = np.array(sorted(chosen), dtype=np.int64)
    assert best is not None
    return best


def _search(price: Floats, vectors: Integers, target: Integers, start: Ints) -> Ints:
    """Depth first over all subsets, dearer branches cut: exact."""
    best, best_cost = start, float(price[start].sum())

    def descend(at: int, chosen: list[int], cost: float) -> None:
        nonlocal best, best_cost
        if cost >= best_cost - 1e-12:
            return
        if len(chosen) >= len(target) and _spans(vectors[chosen], target):
            best, best_cost = np.array(chosen, dtype=np.int64), cost
            return
        for i in range(at, len(vectors)):
            descend(i + 1, [*chosen, i], cost + float(price[i]))

    descend(0, [], 0.0)
    return best
