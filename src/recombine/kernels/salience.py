"""Compositionally structured kernels: similarity depends only on which components two combinations share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from recombine.errors import InputError
from recombine.kernels import moebius
from recombine.kernels.combinations import as_combinations, shared_components
from recombine.kernels.moebius import FloatArray, IntArray
from recombine.kernels.spectrum import Spectrum, grid_spectrum

SubsetTable = Mapping[tuple[int, ...], float]


@dataclass(frozen=True, eq=False)
class Kernel:
    """K(z, z') = sum of s_J over the subsets J of the components that z and z' share.

    Lippl & Stachenfeld (ICLR 2025), Def. 3.1, there with s_J depending on |J| only; here each subset may have
    its own salience. `subset_saliences` has shape (..., 2**C) in bit-mask order; leading axes are a batch of
    kernels.
    """

    subset_saliences: FloatArray

    def __post_init__(self) -> None:
        table = np.array(self.subset_saliences, dtype=np.float64)
        if table.ndim == 0 or not np.isfinite(table).all():
            raise InputError("the saliences of a kernel must be a table of finite numbers, 2**C along its last axis.")
        moebius.component_count(table.shape[-1])
        table.flags.writeable = False
        object.__setattr__(self, "subset_saliences", table)

    @classmethod
    def from_similarities(cls, similarities: ArrayLike) -> Kernel:
        """K = kappa_k with k the number of shared components; shape (..., C+1), kappa_0 first."""
        return cls.from_saliences(moebius.count_saliences(similarities))

    @classmethod
    def from_saliences(cls, saliences: ArrayLike) -> Kernel:
        """s_J = s_|J| from saliences by order, s_0 first and not normalised; shape (..., C+1)."""
        by_order = np.asarray(saliences, dtype=np.float64)
        if by_order.ndim == 0:
            raise InputError("saliences is a single number; give one per order, s_0 first.")
        components = by_order.shape[-1] - 1
        moebius.check_components(components)
        return cls(by_order[..., moebius.subset_orders(components)])

    @classmethod
    def from_normalized(cls, saliences: ArrayLike, *, constant: float = 0.0) -> Kernel:
        """S(1;C) … S(C-1;C) as shape (..., C-1), with kappa_0 = constant and kappa_C - kappa_0 = 1.

        The salience of the full conjunction follows from sum_{k>=1} C(C,k) S(k;C) = 1. For two components,
        [[S]] or [S].
        """
        lower = np.atleast_1d(np.asarray(saliences, dtype=np.float64))
        components = lower.shape[-1] + 1
        moebius.check_components(components)
        last = 1.0 - lower @ np.array([comb(components, k) for k in range(1, components)], dtype=np.float64)
        first = np.full(last.shape, constant)
        return cls.from_saliences(np.concatenate([first[..., None], lower, last[..., None]], axis=-1))

    @classmethod
    def from_subset_saliences(cls, saliences: SubsetTable, components: int) -> Kernel:
        """s_J from a mapping {(0,): .3, (0, 1): .1, …} of sorted tuples; subsets left out have salience 0."""
        moebius.check_components(components)
        known = moebius.subsets(components)
        for subset in saliences:
            if subset not in known:
                raise InputError(
                    f"saliences names the subset {subset}; use sorted tuples of components 0 to {components - 1}."
                )
        return cls(np.array([saliences.get(subset, 0.0) for subset in known]))

    @classmethod
    def one_hot(cls, shares: int | Sequence[float]) -> Kernel:
        """Concatenated one-hot codes: kappa_k = k/C, or kappa_I = sum of the shares of the components in I."""
        weights = np.full(shares, 1.0 / shares) if isinstance(shares, int) else np.asarray(shares, dtype=np.float64)
        return cls.from_subset_saliences({(c,): float(w) for c, w in enumerate(weights)}, len(weights))

    @property
    def components(self) -> int:
        return moebius.component_count(self.subset_saliences.shape[-1])

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return self.subset_saliences.shape[:-1]

    @property
    def subset_similarities(self) -> FloatArray:
        """kappa_I by set of shared components; shape (..., 2**C)."""
        return moebius.subset_similarities(self.subset_saliences)

    @property
    def saliences(self) -> FloatArray:
        """s_k by order, s_0 first, not normalised; shape (..., C+1). Only for kernels that treat components alike."""
        orders = moebius.subset_orders(self.components)
        first_of_order = np.array([2**k - 1 for k in range(self.components + 1)])
        by_order = self.subset_saliences[..., first_of_order]
        scale = np.abs(self.subset_saliences).max(axis=-1, keepdims=True)
        if (np.abs(by_order[..., orders] - self.subset_saliences) > 1e-12 * scale).any():
            raise InputError(
                "this kernel weighs components unequally, so it has no salience per order; read subset_saliences."
            )
        return by_order

    @property
    def similarities(self) -> FloatArray:
        """kappa_k by number of shared components; shape (..., C+1)."""
        return moebius.count_similarities(self.saliences)

    @property
    def normalized(self) -> FloatArray:
        """S(k;C) = s_k / (kappa_C - kappa_0) for k = 1 … C; shape (..., C)."""
        saliences = self.saliences
        kappa = moebius.count_similarities(saliences)
        spread = kappa[..., -1:] - kappa[..., :1]
        if (spread <= 1e-12 * np.abs(kappa[..., -1:])).any():
            raise InputError(
                "identical combinations are no more similar than distinct ones, up to rounding, so S(k;C) has no "
                "scale; use fewer layers or other similarities."
            )
        return saliences[..., 1:] / spread

    def __getitem__(self, index: object) -> Kernel:
        """A part of a batch of kernels, indexed as an array of shape `batch_shape` would be."""
        key = index if isinstance(index, tuple) else (index,)
        return Kernel(self.subset_saliences[(*key, Ellipsis, slice(None))])

    def gram(self, a: ArrayLike, b: ArrayLike | None = None) -> FloatArray:
        """K between the rows of a (..., n, C) and of b (..., m, C); shape (..., n, m), batches broadcast."""
        rows = as_combinations(a, self.components, "the first set of combinations")
        columns = rows if b is None else as_combinations(b, self.components, "the second set of combinations")
        return self.look_up(shared_components(rows, columns))

    def look_up(self, shared: IntArray) -> FloatArray:
        """Similarities for bit masks of shared components of shape (..., n, m)."""
        kappa = self.subset_similarities
        if shared.ndim == 2:
            return np.take(kappa, shared, axis=-1)
        batch = np.broadcast_shapes(self.batch_shape, shared.shape[:-2])
        # take_along_axis broadcasts only between arrays of equal rank.
        kappa = kappa.reshape((1,) * (len(batch) + 1 - kappa.ndim) + kappa.shape)
        flat = shared.reshape((1,) * (len(batch) + 2 - shared.ndim) + (*shared.shape[:-2], -1))
        return np.take_along_axis(kappa, flat, axis=-1).reshape(*batch, *shared.shape[-2:])

    def spectrum(self, levels: Sequence[int]) -> Spectrum:
        """Eigenvalues and multiplicities of the Gram matrix of the full grid with the given numbers of levels."""
        return grid_spectrum(self.subset_saliences, levels)

    def is_psd(self, levels: Sequence[int]) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        """Whether the Gram matrix of the full grid is positive semi-definite; shape `batch_shape`."""
        return self.spectrum(levels).is_psd()

    def require_psd(self, levels: Sequence[int]) -> None:
        """Raise unless every kernel of the batch is positive semi-definite on the full grid."""
        spectrum = self.spectrum(levels)
        good = spectrum.is_psd()
        if good.all():
            return
        index = tuple(int(i) for i in np.argwhere(~good)[0])
        lowest = np.where(spectrum.multiplicities > 0, spectrum.eigenvalues[index], np.inf)
        subset = moebius.subsets(self.components)[int(lowest.argmin())]
        where = f"kernel {index} of the batch" if index else "the kernel"
        raise InputError(
            f"{where} is not positive semi-definite on a grid of {'x'.join(map(str, levels))} levels: the effects on "
            f"components {subset} have eigenvalue {lowest.min():.4g}; keep only kernels for which is_psd(levels)."
        )
