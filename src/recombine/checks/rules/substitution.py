"""Substitution: levels that did the same wherever both were seen may replace each other (the coverage principle).

Two levels of a factor are equivalent if in at least k contexts (combinations of the other factors) both were seen with
the same class and in none with different ones (Chang et al. 2025, arXiv 2505.20278, Def. of functional k-equivalence).
A cell is covered if replacing levels by equivalent ones leads to seen cells, and is answered by their majority.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.exact.numbered import key_of
from recombine.checks.rules.seen_cells import Cells

EVIDENCE = 2
"""Shared contexts that two levels must agree in."""


class Substitution:
    """Answers covered cells by substitution, others by the shares of all classes."""

    name = "substitution"

    def __init__(self, cells: Cells, evidence: int = EVIDENCE) -> None:
        self._cells, self.evidence = cells, evidence
        self._classes = cells.answers.argmax(axis=1)
        self._everything = np.arange(len(cells.codes))
        self._contexts = [
            np.unique(key_of(cells.codes, cells.shape, _others(cells.shape, k)), return_inverse=True)[1]
            for k in range(len(cells.shape))
        ]
        self._kinds = self._equivalent(self._everything)
        self._told: dict[bytes, tuple[Floats, Floats]] = {}
        self.covers = self.right = self.guessed = np.zeros(0, dtype=bool)
        """Of the cells left out last: which are covered without their group, whose answer is right, and which the
        commonest class of all cells would get right."""

    @staticmethod
    def work(cells: Cells) -> int:
        """Products to compare all levels once."""
        contexts = [min(len(cells.codes), math.prod(cells.shape) // n) for n in cells.shape]
        return int(sum(n * n * c for n, c in zip(cells.shape, contexts, strict=True)) * cells.answers.shape[1])

    def _equivalent(self, kept: Ints) -> list[Ints]:
        """For each factor the kind of each level: equivalent levels are of one kind."""
        cells, found = self._cells, []
        for k, levels in enumerate(cells.shape):
            context = self._contexts[k]
            said = np.zeros((levels, int(context.max()) + 1, cells.answers.shape[1]), dtype=np.float32)
            said[cells.codes[kept, k], context[kept], self._classes[kept]] = 1
            seen, flat = said.sum(axis=2), said.reshape(levels, -1)
            both = seen @ seen.T
            alike = (both >= self.evidence) & (both == flat @ flat.T)
            found.append(connected_components(csr_array(alike), directed=False)[1].astype(np.int64))
        return found

    def _counts(self, codes: Ints, kinds: list[Ints], kept: Ints) -> Floats:
        """Seen cells of each class that an asked cell can be turned into."""
        cells = self._cells
        shape = tuple(int(kind.max()) + 1 for kind in kinds)
        whole = tuple(range(len(shape)))
        seen, asked = (
            key_of(np.stack([kind[c] for kind, c in zip(kinds, rows.T, strict=True)], axis=1), shape, whole)
            for rows in (cells.codes[kept], codes)
        )
        values, at = np.unique(seen, return_inverse=True)
        votes = np.zeros((len(values) + 1, cells.answers.shape[1]))
        np.add.at(votes, at, cells.answers[kept])
        place = np.minimum(np.searchsorted(values, asked), len(values) - 1)
        return votes[np.where(values[place] == asked, place, len(values))]

    def _shares(self, votes: Floats, kept: Ints) -> Floats:
        base = self._cells.answers[kept].mean(axis=0)
        return np.asarray((votes + base) / (votes.sum(axis=1, keepdims=True) + 1))

    def answer(self, codes: Ints) -> Floats:
        return self._shares(self._counts(codes, self._kinds, self._everything), self._everything)

    def covered(self, codes: Ints) -> np.ndarray:
        return np.asarray(self._counts(codes, self._kinds, self._everything).sum(axis=1) > 0)

    def left_out(self, groups: Sequence[Ints]) -> Floats:
        found = [self._without(group) for group in groups]
        votes = np.concatenate([v for v, _ in found])
        self.covers = votes.sum(axis=1) > 0
        truth = self._classes[[int(group[0]) for group in groups]]
        said = np.concatenate([shares for _, shares in found])
        self.right, self.guessed = said.argmax(axis=1) == truth, np.bincount(self._classes).argmax() == truth
        return said

    def _without(self, group: Ints) -> tuple[Floats, Floats]:
        """Votes for the first cell of a group by the cells that are not in it, and the shares they come to."""
        asked = group.tobytes()
        if asked not in self._told:  # of a small table the same few groups are left out again and again
            kept = np.setdiff1d(self._everything, group)
            votes = self._counts(self._cells.codes[group[:1]], self._equivalent(kept), kept)
            self._told[asked] = votes, self._shares(votes, kept)
        return self._told[asked]


def _others(shape: tuple[int, ...], k: int) -> tuple[int, ...]:
    return tuple(j for j in range(len(shape)) if j != k)
