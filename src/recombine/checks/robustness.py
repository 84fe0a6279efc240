"""How firmly an answer is determined.

leverage:  x_qᵀ (XᵀX)⁺ x_q over all training rows — the variance of the least-squares answer at q relative to the noise
           of one seen row; float64
min cut:   two factors — the fewest training combinations whose removal makes q undetermined: a minimum edge cut between
           its two levels in the training graph (Menger), by Gusfield's tree of n − 1 maximum flows
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.sparse import csr_array, diags_array
from scipy.sparse.csgraph import maximum_flow
from scipy.sparse.linalg import splu

from recombine.checks.design import Additive
from recombine.checks.identifiability import Identifiability
from recombine.checks.modular import Floats, Ints
from recombine.checks.tables import Pairs, two_way
from recombine.space import Codes

DENSE = 4_096
MOST_FLOW_WORK = 5_000_000
"""Maximum flows × training combinations up to which cuts are computed: a few seconds."""


def leverage(known: Identifiability, counts: Ints, queries: Codes, pairs: Pairs | None = None) -> Floats | None:
    """The leverage of determined combinations; None where there are too many effects."""
    if not len(queries):
        return np.zeros(0)
    if not isinstance(known.rows, Additive):
        pivots = known.rows.rest.pivots
        gram = _conjunctive_gram(known, counts)[np.ix_(pivots, pivots)]
        return _dense(gram, lambda q: known.rows.rows(q)[:, pivots].astype(np.float64), queries)
    kept = known.rows.estimable()
    if len(kept) <= DENSE and sum(known.shape) <= 2 * DENSE:
        gram = additive_gram(known.codes, counts, known.shape, pairs or {})[np.ix_(kept, kept)]
        return _dense(gram, lambda q: _one_hot(q, known.shape).tocsc()[:, kept].toarray(), queries)
    return _sparse(known, counts, kept, queries) if len(kept) <= 20 * DENSE else None


def _dense(gram: Floats, rows: Callable[[Codes], Floats], queries: Codes) -> Floats:
    factor = cholesky(gram, lower=True)
    parts = []
    for start in range(0, len(queries), 1_000):
        x = rows(queries[start : start + 1_000])
        parts.append((solve_triangular(factor, x.T, lower=True) ** 2).sum(axis=0))
    return np.concatenate(parts)


def _sparse(known: Identifiability, counts: Ints, kept: Ints, queries: Codes) -> Floats:
    design = _one_hot(known.codes, known.shape).tocsc()[:, kept]
    factor = splu((design.T @ diags_array(counts.astype(np.float64)) @ design).tocsc())
    x = _one_hot(queries, known.shape).tocsc()[:, kept].tocsr()
    rows = (x[[i]].toarray()[0] for i in range(len(queries)))
    return np.array([float(row @ factor.solve(row)) for row in rows])


def _one_hot(codes: Codes, shape: tuple[int, ...]) -> csr_array:
    starts = np.array([0, *itertools.accumulate(shape)][:-1])
    columns = (codes.astype(np.int64) + starts).ravel()
    rows = np.repeat(np.arange(len(codes)), len(shape))
    return csr_array((np.ones(len(columns)), (rows, columns)), shape=(len(codes), sum(shape)))


def additive_gram(codes: Codes, counts: Ints, shape: tuple[int, ...], pairs: Pairs) -> Floats:
    """XᵀX over all levels: its blocks are the two-way tables of counts."""
    starts = [0, *itertools.accumulate(shape)]
    gram = np.zeros((starts[-1], starts[-1]))
    for j, k in itertools.combinations(range(len(shape)), 2):
        block = pairs[j, k] if (j, k) in pairs else two_way(codes, counts, j, k, shape)
        gram[starts[j] : starts[j + 1], starts[k] : starts[k + 1]] = block
        gram[starts[k] : starts[k + 1], starts[j] : starts[j + 1]] = block.T
    for k, levels in enumerate(shape):
        here = np.arange(starts[k], starts[k + 1])
        gram[here, here] = np.bincount(codes[:, k], weights=counts, minlength=levels)
    return gram


def _conjunctive_gram(known: Identifiability, counts: Ints) -> Floats:
    rows = known.rows
    assert not isinstance(rows, Additive)
    gram = np.zeros((rows.columns, rows.columns))
    for start in range(0, len(known.codes), 65_536):
        x = rows.sparse(known.codes[start : start + 65_536]).astype(np.float64)
        gram += (x.T @ diags_array(counts[start : start + 65_536].astype(np.float64)) @ x).toarray()
    return gram


def min_cuts(known: Identifiability, queries: Codes) -> list[int | None]:
    """For each determined combination of two factors the size of a smallest cut; None where not computed."""
    if known.order != 1 or len(known.shape) != 2 or not len(queries):
        return [None] * len(queries)
    left, right = known.shape
    a, b = known.codes[:, 0].astype(np.int64), left + known.codes[:, 1].astype(np.int64)
    nodes = left + right
    degree = np.bincount(np.concatenate([a, b]), minlength=nodes)
    sources, sinks = queries[:, 0].astype(np.int64), left + queries[:, 1].astype(np.int64)
    quick = np.minimum(degree[sources], degree[sinks]) == 1
    cuts: list[int | None] = [1 if q else None for q in quick]
    hard = np.flatnonzero(~quick)
    alive = int((degree > 0).sum())
    if not len(hard) or min(len(hard), alive) * len(a) > MOST_FLOW_WORK:
        return cuts
    ones = np.ones(len(a), dtype=np.int32)
    graph = csr_array((ones, (a, b)), shape=(nodes, nodes))
    graph = (graph + graph.T).tocsr().astype(np.int32)
    if len(hard) < alive:
        for i in hard:
            cuts[i] = int(maximum_flow(graph, int(sources[i]), int(sinks[i])).flow_value)
        return cuts
    parent, flow = _gusfield(graph, degree)
    for i in hard:
        cuts[i] = _lightest(parent, flow, int(sources[i]), int(sinks[i]))
    return cuts


def _gusfield(graph: csr_array, degree: Ints) -> tuple[Ints, Ints]:
    """Parent and capacity of each node in an equivalent-flow tree (Gusfield 1990): the smallest capacity on the tree
    path between two nodes is their minimum cut."""
    nodes = graph.shape[0]
    alive = np.flatnonzero(degree > 0)
    parent = np.full(nodes, alive[0], dtype=np.int64)
    flow = np.zeros(nodes, dtype=np.int64)
    for i in alive[1:]:
        result = maximum_flow(graph, int(i), int(parent[i]))
        flow[i] = result.flow_value
        residual = (graph - result.flow).tocsr()
        reached = _reachable(residual, int(i))
        later = alive[(alive > i) & reached[alive] & (parent[alive] == parent[i])]
        parent[later] = i
    parent[alive[0]] = -1
    return parent, flow


def _reachable(residual: csr_array, source: int) -> NDArray[np.bool_]:
    seen = np.zeros(residual.shape[0], dtype=bool)
    seen[source] = True
    front = np.array([source])
    while len(front):
        following = [
            residual.indices[s:e][residual.data[s:e] > 0]
            for s, e in zip(residual.indptr[front], residual.indptr[front + 1], strict=True)
        ]
        front = np.unique(np.concatenate(following))
        front = front[~seen[front]]
        seen[front] = True
    return seen


def _lightest(parent: Ints, flow: Ints, one: int, two: int) -> int:
    above: dict[int, int] = {}
    best = 2**62
    node = one
    while node >= 0:
        above[node] = best
        best = min(best, int(flow[node]))
        node = int(parent[node])
    node, other = two, 2**62
    while node not in above:
        other = min(other, int(flow[node]))
        node = int(parent[node])
    return min(above[node], other)
