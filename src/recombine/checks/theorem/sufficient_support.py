"""Sufficient support (A3): does what training shows determine how each component changes? (Wiedemer et al. 2023)

    rank Σ_{p ∈ P'(z_k)} dC/dφ_k(φ(p)) = M        for every z_k, over some finite set of points that share z_k

df/dz_k = dC/dφ_k · dφ_k/dz_k, so the sum can be inverted to isolate dφ_k/dz_k. Stacking the Jacobians instead of
summing them is the weaker test that linear algebra needs, and both are given. A composition that acts within cells has
one small block a cell, so the rank is a sum of small ranks; any other is handled by one dense matrix.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recombine.checks.exact.modular import Floats
from recombine.errors import InputError

TOLERANCE = 1e-9
"""A singular value counts from this share of the largest one on."""


@dataclass(frozen=True, eq=False)
class Rank:
    """What the conditioning points of one value z_k say about the component's derivative."""

    full: int
    """M, the numbers of a component."""
    summed: int
    stacked: int
    weakest: float
    """Smallest singular value of the sum: noise in df/dz_k is at most divided by it."""
    weakest_stacked: float
    points: int
    """How many points were summed: all, or the first few where the sum of all happens to cancel."""
    missing: Floats
    """For each cell, how many directions the sum leaves undetermined."""
    strength: Floats
    """For each cell, the inverse of the largest gain of solving for it: in a cell-wise problem its smallest singular
    value."""


def rank_of_blocks(blocks: Floats, tolerance: float = TOLERANCE) -> Rank:
    """From derivatives (points × cells × out × channels) of a composition that acts within cells."""
    blocks = _checked(blocks, 4, "points × cells × out × channels")
    count, cells, out, channels = blocks.shape
    full = cells * channels
    stacked = _values(blocks.swapaxes(0, 1).reshape(cells, count * out, channels))
    for used in _prefixes(count):
        values = _values(blocks[:used].sum(0))
        summed = _count(values, tolerance)
        if summed.sum() == full or _count(stacked, tolerance).sum() < full or out < channels:
            break
    return Rank(
        full,
        int(summed.sum()),
        int(_count(stacked, tolerance).sum()),
        float(values.min()),
        float(stacked.min()),
        used,
        (channels - summed).astype(np.float64),
        values[:, -1],
    )


def rank_of_jacobians(jacobians: Floats, cells: int = 1, tolerance: float = TOLERANCE) -> Rank:
    """From whole Jacobians (points × outputs × M), for a composition that is not cell-wise; M is cells × channels."""
    jacobians = _checked(jacobians, 3, "points × outputs × M")
    count, outputs, full = jacobians.shape
    if full % cells:
        raise InputError(f"a component of {full} numbers cannot be divided into {cells} cells.")
    stacked = _values(jacobians.reshape(1, count * outputs, full))
    for used in _prefixes(count):
        left, values, right = np.linalg.svd(jacobians[:used].sum(0), full_matrices=False)
        rank = int(_count(values[None], tolerance)[0])
        if rank == full or _count(stacked, tolerance)[0] < full or outputs < full:
            break
    # diag(I − V Vᵀ) is how much of each entry lies in the null space; it sums to M − rank.
    missing = np.clip(1 - np.square(right[:rank]).sum(0), 0, 1).reshape(cells, -1).sum(1)
    gain = (right[:rank].T / values[:rank]) @ left[:, :rank].T
    norm = np.linalg.norm(gain.reshape(cells, full // cells, outputs), ord=2, axis=(1, 2))
    strength = np.where((missing < 1e-6) & (norm > 0), 1 / np.where(norm > 0, norm, 1), 0.0)
    weakest = float(values[-1]) if len(values) == full else 0.0
    return Rank(full, rank, int(_count(stacked, tolerance)[0]), weakest, float(stacked.min()), used, missing, strength)


@dataclass(frozen=True, eq=False)
class ComponentSupport:
    """A3 for one component: its ranks at the sampled values z_k, (values) or (values × cells)."""

    name: str
    full: int
    summed: NDArray[np.int64]
    stacked: NDArray[np.int64]
    weakest: Floats
    weakest_stacked: Floats
    points: NDArray[np.int64]
    missing: Floats
    strength: Floats

    @classmethod
    def of(cls, name: str, ranks: Iterable[Rank]) -> ComponentSupport:
        """Gathered over the sampled values."""
        ranks = list(ranks)
        if not ranks:
            raise InputError(f"no value of component {name!r} was looked at; ask for at least one.")
        columns: dict[str, Any] = {
            field: np.stack([getattr(rank, field) for rank in ranks])
            for field in ("summed", "stacked", "weakest", "weakest_stacked", "points", "missing", "strength")
        }
        return cls(name, ranks[0].full, **columns)

    @property
    def holds(self) -> bool:
        """Whether the sum has full rank at every sampled value, as the theorem asks."""
        return bool((self.summed == self.full).all())

    @property
    def solvable(self) -> bool:
        """Whether the stack has full rank at every sampled value: enough to solve for dφ_k/dz_k."""
        return bool((self.stacked == self.full).all())

    @property
    def share_missing(self) -> Floats:
        """For each cell, the share of sampled values at which some direction of it is undetermined: the map."""
        return np.asarray((self.missing > 1e-6).mean(0), dtype=np.float64)

    @property
    def weakest_cell(self) -> Floats:
        """For each cell, its strength at the worst sampled value."""
        return np.asarray(self.strength.min(0), dtype=np.float64)


def no_rank(cells: int, channels: int) -> Rank:
    """Where nothing can be said: no point of the support lets the component move alone."""
    nothing = np.zeros(cells)
    return Rank(cells * channels, 0, 0, 0.0, 0.0, 0, np.full(cells, float(channels)), nothing)


def _checked(array: Floats, axes: int, what: str) -> Floats:
    array = np.asarray(array, dtype=np.float64)
    if array.ndim != axes or 0 in array.shape:
        raise InputError(f"derivatives come as {what}, none of them zero; got shape {array.shape}.")
    if not np.isfinite(array).all():
        raise InputError("derivatives must be finite; the composition has none at some of these components.")
    return array


def _prefixes(count: int) -> Iterable[int]:
    """All points, then one, two … of them: the definition asks for some finite set, and sums can cancel."""
    return (count, *range(1, count))


def _values(matrices: Floats) -> Floats:
    """Singular values, largest first, zeros where there are fewer rows than columns."""
    values = np.linalg.svd(matrices, compute_uv=False)
    return np.pad(values, ((0, 0), (0, matrices.shape[-1] - values.shape[-1])))


def _count(values: Floats, tolerance: float) -> NDArray[np.int64]:
    return np.asarray((values > tolerance * values.max(initial=0.0)).sum(-1), dtype=np.int64)
