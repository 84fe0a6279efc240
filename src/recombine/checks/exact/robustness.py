"""How firmly an answer is determined.

leverage:  x_qᵀ (XᵀX)⁺ x_q over all training rows — the variance of the least-squares answer at q relative to the noise
           of one seen row; float64
min cut:   two factors — the fewest training combinations whose removal makes q undetermined: a minimum edge cut between
           its two levels in the training graph (Menger), by Gusfield's tree of n − 1 maximum flows
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, qr, solve_triangular
from scipy.linalg.lapack import dpotri
from scipy.sparse import coo_array, csr_array, diags_array, hstack
from scipy.sparse.csgraph import maximum_flow

from recombine.checks.exact.design import Additive
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.exact.tables import Pairs, tally, two_way
from recombine.space import Codes

DENSE = 4_096
"""Effects beside those of the largest factor up to which leverage is computed."""
MOST_FLOW_WORK = 5_000_000
"""Maximum flows × training combinations up to which cuts are computed: a few seconds."""


def leverage(known: Identifiability, counts: Ints, queries: Codes, pairs: Pairs | None = None) -> Floats | None:
    """The leverage of determined combinations; None where there are too many effects."""
    if not len(queries):
        return np.zeros(0)
    if known.curves:
        return _along_curves(known, counts, queries)
    if not isinstance(known.rows, Additive):
        pivots = known.rows.rest.pivots
        factor = cholesky(_conjunctive_gram(known, counts)[np.ix_(pivots, pivots)], lower=True)
        parts = (known.rows.rows(part)[:, pivots].astype(np.float64) for part in _chunks(queries))
        return np.concatenate([(solve_triangular(factor, x.T, lower=True) ** 2).sum(axis=0) for x in parts])
    return _without_largest(known, counts, queries, pairs or {}, known.rows.estimable())


def _along_curves(known: Identifiability, counts: Ints, queries: Codes) -> Floats:
    """In coordinates of the row space, whose size is known exactly: no tolerance decides which effects there are."""
    axes = qr(known.rows.floats(known.codes[known.rows.basis]).T, mode="economic")[0]
    gram = np.zeros((known.rank, known.rank))
    for start in range(0, len(known.codes), 10_000):
        x = known.rows.floats(known.codes[start : start + 10_000]) @ axes
        gram += (x * counts[start : start + 10_000, None]).T @ x
    factor = cholesky(gram, lower=True)
    parts = (known.rows.floats(part) @ axes for part in _chunks(queries))
    return np.concatenate([(solve_triangular(factor, x.T, lower=True) ** 2).sum(axis=0) for x in parts])


def _without_largest(known: Identifiability, counts: Ints, queries: Codes, pairs: Pairs, kept: Ints) -> Floats | None:
    """The levels of the largest factor exclude each other, so their block D of XᵀX is diagonal and is taken out:

    xᵀ(XᵀX)⁻¹x = d + rᵀ S⁻¹ r,  S = A − NᵀD⁻¹N,  d and r = x − NᵀD⁻¹x_D what the query's own level leaves.
    """
    shape, big = known.shape, int(np.argmax(known.shape))
    others = [k for k in range(len(shape)) if k != big]
    starts = np.array([0, *itertools.accumulate(shape)])
    inside = np.isin(np.arange(starts[-1]), kept)
    own_levels = inside[starts[big] : starts[big + 1]]
    use = np.flatnonzero(np.delete(inside, np.s_[starts[big] : starts[big + 1]]))
    sizes = tuple(shape[k] for k in others)
    if len(use) > DENSE or sum(sizes) > 2 * DENSE:
        return None
    total = tally(known.codes[:, big], counts, shape[big])
    weight = np.where(own_levels, 1 / np.maximum(total, 1), 0.0)
    beside = hstack([csr_array((shape[big], 0)), *(_table(known, counts, pairs, big, k) for k in others)]).tocsr()[
        :, use
    ]
    block = _gram(known, counts, pairs, others)[np.ix_(use, use)]
    product = beside.toarray() if _filled(beside) else beside
    scaled = weight[:, None] * product if isinstance(product, np.ndarray) else diags_array(weight) @ product
    block -= product.T @ scaled
    few = len(queries) < len(use)  # Then solving for each is cheaper than inverting.
    inverse = cholesky(block, lower=True, check_finite=False) if few else _inverse(block)
    values = []
    for part in _chunks(queries):
        own = part[:, big].astype(np.int64)
        left = _one_hot(part[:, others], sizes)[:, use] - diags_array(weight[own]) @ beside[own]
        if few:
            values.append(weight[own] + (solve_triangular(inverse, left.toarray().T, lower=True) ** 2).sum(axis=0))
            continue
        product = (left.toarray() if _filled(left) else left) @ inverse
        values.append(weight[own] + left.multiply(product).sum(axis=1))
    return np.concatenate(values)


def _filled(matrix: csr_array) -> bool:
    """Whether products are faster with the zeros written out."""
    return bool(matrix.nnz > matrix.shape[0] * matrix.shape[1] / 20)


def _chunks(queries: Codes) -> Iterator[Codes]:
    return (queries[start : start + 1_000] for start in range(0, len(queries), 1_000))


def _inverse(matrix: Floats) -> Floats:
    """Of a positive definite matrix, by its Cholesky factor."""
    if not len(matrix):
        return matrix
    found, fault = dpotri(cholesky(matrix, lower=True, check_finite=False), lower=True, overwrite_c=True)
    if fault:
        raise ArithmeticError("the effects that training determines are not independent")
    return np.asarray(np.tril(found) + np.tril(found, -1).T)


def _table(known: Identifiability, counts: Ints, pairs: Pairs, j: int, k: int) -> csr_array:
    """Rows by level of factor j and level of factor k."""
    if (j, k) in pairs or (k, j) in pairs:
        return csr_array(pairs[j, k] if (j, k) in pairs else pairs[k, j].T)
    places = (known.codes[:, j].astype(np.int64), known.codes[:, k].astype(np.int64))
    return coo_array((counts.astype(np.float64), places), shape=(known.shape[j], known.shape[k])).tocsr()


def _gram(known: Identifiability, counts: Ints, pairs: Pairs, factors: list[int]) -> Floats:
    """XᵀX over all levels of some factors: its blocks are the two-way tables of counts."""
    starts = [0, *itertools.accumulate(known.shape[k] for k in factors)]
    gram = np.zeros((starts[-1], starts[-1]))
    for (i, j), (m, k) in itertools.combinations(enumerate(factors), 2):
        block = pairs[j, k] if (j, k) in pairs else two_way(known.codes, counts, j, k, known.shape)
        gram[starts[i] : starts[i + 1], starts[m] : starts[m + 1]] = block
        gram[starts[m] : starts[m + 1], starts[i] : starts[i + 1]] = block.T
    for i, k in enumerate(factors):
        here = np.arange(starts[i], starts[i + 1])
        gram[here, here] = tally(known.codes[:, k], counts, known.shape[k])
    return gram


def _one_hot(codes: Codes, shape: tuple[int, ...]) -> csr_array:
    starts = np.array([0, *itertools.accumulate(shape)], dtype=np.int64)
    columns = (codes.astype(np.int64) + starts[:-1]).ravel()
    rows = np.repeat(np.arange(len(codes)), len(shape))
    return csr_array((np.ones(len(columns)), (rows, columns)), shape=(len(codes), int(starts[-1])))


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
    if not known.graph or not len(queries):
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
        if flow[i] == degree[i]:  # nothing further is reached from a node all of whose edges are full
            continue
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
