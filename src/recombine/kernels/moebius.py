"""Similarity and salience are each other's Möbius transform.

A subset J of the C components is written as a bit mask: bit c is set when J holds component c, so a table
over subsets has 2**C entries and entry 0 belongs to the empty set.
"""

from __future__ import annotations

from functools import cache
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recombine.errors import InputError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

MOST_COMPONENTS = 16


@cache
def subsets(components: int) -> tuple[tuple[int, ...], ...]:
    """Every subset of components in bit-mask order: (), (0,), (1,), (0, 1), (2,), …"""
    return tuple(tuple(c for c in range(components) if mask >> c & 1) for mask in range(2**components))


def subset_orders(components: int) -> IntArray:
    """|J| for every bit mask J; shape (2**components,)."""
    return np.array([len(subset) for subset in subsets(components)], dtype=np.intp)


def count_saliences(similarities: ArrayLike) -> FloatArray:
    """s_k = sum_j (-1)^(k-j) C(k,j) kappa_j, from similarities by number of shared components; shape (..., C+1).

    The closed form of s_k = kappa_k - sum_{j<k} C(k,j) s_j (Lippl & Stachenfeld 2025, App. B.1).
    """
    kappa = _table(similarities)
    return kappa @ _binomials(kappa.shape[-1], signed=True).T


def count_similarities(saliences: ArrayLike) -> FloatArray:
    """kappa_k = sum_j C(k,j) s_j, the inverse of `count_saliences`; shape (..., C+1)."""
    s = _table(saliences)
    return s @ _binomials(s.shape[-1], signed=False).T


def subset_saliences(similarities: ArrayLike) -> FloatArray:
    """s_J = sum over I subset of J of (-1)^(|J|-|I|) kappa_I; shape (..., 2**C)."""
    table = _table(similarities).copy()
    for lower, upper in _faces(table):
        upper -= lower
    return table


def subset_similarities(saliences: ArrayLike) -> FloatArray:
    """kappa_I = sum over J subset of I of s_J, the inverse of `subset_saliences`; shape (..., 2**C)."""
    table = _table(saliences).copy()
    for lower, upper in _faces(table):
        upper += lower
    return table


def superset_sums(table: ArrayLike) -> FloatArray:
    """t_I = sum over J containing I of table_J; shape (..., 2**C)."""
    out = _table(table).copy()
    for lower, upper in _faces(out):
        lower += upper
    return out


def component_count(table_size: int) -> int:
    """C for a table over subsets with 2**C entries."""
    components = table_size.bit_length() - 1
    if table_size != 2**components or components < 1:
        raise InputError(
            f"a table over subsets of shared components has {table_size} entries; give 2**C of them, C >= 1."
        )
    check_components(components)
    return components


def check_components(components: int) -> None:
    """Tables over subsets double with every component, so there is a largest C."""
    if not 1 <= components <= MOST_COMPONENTS:
        raise InputError(f"a kernel over {components} components was asked for; use 1 to {MOST_COMPONENTS}.")


@cache
def _binomials(size: int, *, signed: bool) -> FloatArray:
    return np.array([[comb(k, j) * ((-1.0) ** (k - j) if signed else 1.0) for j in range(size)] for k in range(size)])


def _faces(table: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
    """For each component, views of the entries without it and of the entries with it."""
    components = component_count(table.shape[-1])
    cube = table.reshape(*table.shape[:-1], *(2,) * components)
    axes = range(cube.ndim - 1, cube.ndim - 1 - components, -1)
    # Slices, not indices: a single entry must stay a view that can be written to.
    return [(np.moveaxis(cube, axis, 0)[:1], np.moveaxis(cube, axis, 0)[1:]) for axis in axes]


def _table(values: ArrayLike) -> FloatArray:
    table = np.asarray(values, dtype=np.float64)
    if table.ndim == 0 or table.shape[-1] < 2:
        raise InputError("similarities or saliences need at least two entries: none shared and one shared.")
    if not np.isfinite(table).all():
        raise InputError("similarities or saliences hold a value that is not finite; give real numbers only.")
    return table
