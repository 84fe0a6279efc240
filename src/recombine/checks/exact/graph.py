"""Two factors as a bipartite graph: levels are nodes, training combinations are edges, pieces are connected components.

With additive effects f(a) + g(b), the answer at (a, b) is determined iff a and b lie in one piece (kernel theory §1:
the graph whose signless Laplacian filters what is learnt). The spanning forest also carries further factors along:
walking an edge fixes one level's effect in terms of its neighbour's and of the effects ρ of the other factors in that
row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from recombine.checks.exact.modular import Ints


@dataclass(frozen=True)
class Forest:
    """Pieces and a spanning forest of the graph with ``left`` + ``right`` nodes (right nodes come after the left
    ones).
    """

    left: int
    right: int
    piece: Ints
    """The piece of each node; a level never seen is a piece of its own."""
    order: Ints
    """Nodes so that each comes after its parent."""
    parent: Ints
    """The node it hangs from, −1 for roots."""
    row: Ints
    """The training row on the edge to the parent, −1 for roots."""

    @property
    def edges(self) -> Ints:
        """Training rows in the forest: an independent set."""
        return self.row[self.row >= 0]

    @property
    def pieces(self) -> int:
        return int(self.piece.max(initial=-1)) + 1


def first_rows(keys: Ints, size: int) -> tuple[Ints, Ints]:
    """The distinct keys, sorted, and the first position of each."""
    if size <= 50_000_000:
        first = np.full(size, -1, dtype=np.int64)
        first[keys[::-1]] = np.arange(len(keys) - 1, -1, -1)
        distinct = np.flatnonzero(first >= 0)
        return distinct, first[distinct]
    distinct, position = np.unique(keys, return_index=True)
    return distinct, position


def span_forest(left_codes: Ints, right_codes: Ints, left: int, right: int) -> Forest:
    """Pieces and forest of the graph with an edge for each row."""
    keys = left_codes.astype(np.int64) * right + right_codes
    distinct, row = first_rows(keys, left * right)
    a, b = distinct // right, left + distinct % right
    nodes = left + right
    graph = csr_array((np.arange(1, len(distinct) + 1), (a, b)), shape=(nodes, nodes))
    graph = (graph + graph.T).tocsr()
    count, piece = connected_components(graph, directed=False)
    roots = np.full(count, -1, dtype=np.int64)
    roots[piece[::-1]] = np.arange(nodes - 1, -1, -1)
    # One more node that touches every root: a single search then walks all pieces.
    rooted = csr_array(
        (np.ones(graph.nnz + count), np.append(graph.indices, roots), np.append(graph.indptr, graph.nnz + count)),
        shape=(nodes + 1, nodes + 1),
    )
    order, before = breadth_first_order(rooted, nodes, directed=True, return_predecessors=True)
    order = order[1:]
    parent = np.where(before[:nodes] == nodes, -1, before[:nodes]).astype(np.int64)
    child = np.flatnonzero(parent >= 0)
    low, high = np.minimum(child, parent[child]), np.maximum(child, parent[child])
    edge = np.searchsorted(distinct, low * right + (high - left))
    rows = np.full(nodes, -1, dtype=np.int64)
    rows[child] = row[edge]
    return Forest(left, right, piece.astype(np.int64), order.astype(np.int64), parent, rows)
