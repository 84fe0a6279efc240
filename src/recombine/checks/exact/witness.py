"""Why a combination is determined or not: a sum that anybody can check by hand.

determined:    q = Σ cᵢ rowᵢ with rational cᵢ — two factors: a shortest path between the two levels, signs alternating;
               otherwise coordinates in an independent set of rows, which are unique and hence inclusion-minimal
undetermined:  a free direction v, integers with row · v = 0 on every training row and ≠ 0 on q
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.exact.span import Coordinates
from recombine.space import Codes

LARGEST_BASIS = 1_500
"""Above this many independent rows no sum is written out (two factors always have their path)."""

WORK = 20_000
"""Coefficients with large denominators worked out for a list of queries, fewer where each takes longer (rank above 25):
about half a second."""

WALKED = 300_000_000
"""Nodes and edges of the graph of two factors that are walked to find paths: a few seconds."""

Terms = tuple[tuple[Fraction, tuple[int, ...]], ...]
"""(coefficient, combination) pairs that add up to the query."""
Direction = dict[tuple[tuple[int, int], ...], int]


def sums(known: Identifiability, queries: Codes, work: int | None = None) -> list[Terms | None]:
    """Training rows with rational coefficients that add up to each query; the queries must be determined.

    Sums with small denominators cost next to nothing; others are worked out until ``work`` is spent, then None.
    """
    if not len(queries):
        return []
    if known.graph:
        return _paths(known, queries)
    found: list[Terms | None] = [None] * len(queries)
    if known.rank > LARGEST_BASIS:
        return found
    work = WORK // max(1, known.rank // 25) if work is None else work
    chosen = known.codes[known.rows.basis]
    rows = [tuple(int(c) for c in row) for row in chosen]
    system = Coordinates(known.rows.rows(chosen))
    for start in range(0, len(queries), 500):
        targets = known.rows.rows(queries[start : start + 500])
        scale, numbers, right = system.guess(targets)
        for i in np.flatnonzero(right):
            found[start + i] = tuple(
                (Fraction(int(numbers[i, j]), int(scale[i])), rows[j]) for j in np.flatnonzero(numbers[i])
            )
        hard = np.flatnonzero(~right)[: max(0, work // known.rank)]
        work -= len(hard) * known.rank
        for i, values in zip(hard, system.solve(targets[hard]) if len(hard) else [], strict=True):
            found[start + i] = tuple((v, rows[j]) for j, v in enumerate(values) if v)
        if right.mean() < 0.2 and work < known.rank:
            break
    return found


def _paths(known: Identifiability, queries: Codes) -> list[Terms | None]:
    left, right = known.shape
    codes = known.codes.astype(np.int64)
    nodes = left + right
    graph = csr_array((np.ones(len(codes)), (codes[:, 0], left + codes[:, 1])), shape=(nodes, nodes))
    graph = (graph + graph.T).tocsr()
    found: list[Terms | None] = [None] * len(queries)
    order = np.argsort(queries[:, 0], kind="stable")
    sources, first = np.unique(queries[order, 0], return_index=True)
    most = max(1, WALKED // (nodes + graph.nnz))
    for source, together in list(zip(sources, np.split(order, first[1:]), strict=True))[:most]:
        # The graph is symmetric; told that it is undirected, scipy would transpose it at every call.
        _, before = breadth_first_order(graph, int(source), directed=True, return_predecessors=True)
        for at in together:
            path = [left + int(queries[at, 1])]
            while path[-1] != source:
                path.append(int(before[path[-1]]))
            steps = [(min(pair), max(pair) - left) for pair in itertools.pairwise(path)]
            found[int(at)] = tuple((Fraction((-1) ** i), step) for i, step in enumerate(steps))
    return found


def direction(known: Identifiability, query: Codes) -> Direction:
    """A free direction at an undetermined combination: effects of conjunctions ((factor, level), …) as integers."""
    return known.rows.direction(np.asarray(query))


def evaluate(effects: Direction, codes: Codes) -> list[int]:
    """row · v for each combination, in integers."""
    tables: dict[tuple[int, ...], dict[tuple[int, ...], int]] = {}
    for levels, value in effects.items():
        tables.setdefault(tuple(k for k, _ in levels), {})[tuple(level for _, level in levels)] = value
    return [
        sum(table.get(tuple(row[k] for k in subset), 0) for subset, table in tables.items()) for row in codes.tolist()
    ]
