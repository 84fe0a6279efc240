"""Symmetric training sets have small solutions: points that play the same part get the same dual coefficient.

Call a partition of the training points equitable when every point of a cell sees the same number of points of
each other cell at each set of shared components. The average over cells then commutes with every
compositionally structured Gram matrix at once, and averaging the dual of a convex problem whose targets are
constant on cells cannot make it worse. So the problem may be solved in the orthonormal basis of cell
indicators, exactly, with one unknown per cell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recombine.kernels.moebius import FloatArray, IntArray
from recombine.kernels.salience import Kernel

LARGEST_FOLD = 1_500


@dataclass(frozen=True, eq=False)
class Fold:
    """Cell of each training point (n,) and the square roots of the cell sizes (cells,)."""

    cells: IntArray
    roots: FloatArray

    def shrink(self, values: FloatArray) -> FloatArray:
        """Coordinates in the cell basis of a vector that is constant on cells; (n,) gives (cells,)."""
        first = np.unique(self.cells, return_index=True)[1]
        return values[first] * self.roots

    def expand(self, coordinates: FloatArray) -> FloatArray:
        """The vector with the given coordinates; (..., cells) gives (..., n)."""
        return (coordinates / self.roots)[..., self.cells]

    def gram(self, kernel: Kernel, shared: IntArray) -> FloatArray:
        """N^T K N for the orthonormal cell basis N and a batch of kernels; shape (..., cells, cells)."""
        basis = np.zeros((len(self.cells), len(self.roots)))
        basis[np.arange(len(self.cells)), self.cells] = 1.0 / self.roots[self.cells]
        masks = np.unique(shared)
        patterns = np.stack([basis.T @ ((shared == mask) @ basis) for mask in masks])
        return np.tensordot(kernel.subset_similarities[..., masks], patterns, axes=1)


def fold_training_set(shared: IntArray, targets: FloatArray) -> Fold | None:
    """The coarsest equitable partition on whose cells the targets are constant, or None if it has n cells.

    Colour refinement: split cells by what their points see until nothing splits. `shared` is the (n, n)
    matrix of bit masks.
    """
    points = len(targets)
    colours = np.unique(targets, return_inverse=True)[1].reshape(-1)
    while True:
        count = int(colours.max()) + 1
        if count == points:
            return None
        census = np.sort(shared * count + colours, axis=1)
        refined = np.unique(np.column_stack([colours, census]), axis=0, return_inverse=True)[1].reshape(-1)
        if int(refined.max()) + 1 == count:
            return Fold(refined, np.sqrt(np.bincount(refined).astype(np.float64)))
        colours = refined
