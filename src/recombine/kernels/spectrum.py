"""The eigenvalues of a compositionally structured kernel on the full grid, without forming the grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recombine.errors import InputError
from recombine.kernels.moebius import FloatArray, IntArray, component_count, subsets, superset_sums


@dataclass(frozen=True, eq=False)
class Spectrum:
    """One eigenspace per subset T of components: the pure interaction effects of T.

    `eigenvalues` has shape (..., 2**C) and `multiplicities` (2**C,), both in bit-mask order.
    """

    eigenvalues: FloatArray
    multiplicities: IntArray

    def is_psd(self, tolerance: float = 1e-12) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        """Whether no eigenvalue is below -tolerance times the largest; shape (...,)."""
        values = np.where(self.multiplicities > 0, self.eigenvalues, 0.0)
        return np.asarray(values.min(axis=-1) >= -tolerance * np.abs(values).max(axis=-1))


def grid_spectrum(subset_saliences: FloatArray, levels: Sequence[int]) -> Spectrum:
    """lambda_T = sum over J containing T of s_J prod_{c not in J} n_c, with multiplicity prod_{c in T} (n_c - 1).

    The kernel is a sum over J of Kronecker products, identity on the components in J and all-ones elsewhere;
    these commute, and an all-ones matrix is n_c on constants and 0 on contrasts.
    """
    components = component_count(subset_saliences.shape[-1])
    if len(levels) != components or min(levels) < 1:
        raise InputError(f"levels is {tuple(levels)}; give {components} positive numbers, one per component.")
    free = [
        np.prod([levels[c] for c in range(components) if c not in J], dtype=np.float64) for J in subsets(components)
    ]
    multiplicities = [int(np.prod([levels[c] - 1 for c in T], dtype=np.intp)) for T in subsets(components)]
    return Spectrum(superset_sums(subset_saliences * np.array(free)), np.array(multiplicities, dtype=np.intp))
