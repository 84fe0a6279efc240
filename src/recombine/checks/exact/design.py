"""Rows of combinations, and their exact row space.

row(q) = one-hot over all conjunctions of at most m factors' levels; of a number the values of its curve
determined(q) ⇔ row(q) ∈ rowspace(training)
"""

from __future__ import annotations

from collections.abc import Mapping

from recombine.checks.exact.additive import Additive, Mask
from recombine.checks.exact.conjunctive import Conjunctive
from recombine.checks.exact.curves import Curve
from recombine.checks.exact.ranks import grid_rank
from recombine.errors import InputError
from recombine.space import Codes


def row_space(
    codes: Codes, shape: tuple[int, ...], order: int, curves: Mapping[int, Curve] | None = None
) -> Additive | Conjunctive:
    """The exact row space of distinct training combinations under effects of the given order."""
    if not 1 <= order <= len(shape):
        factors = f"{len(shape)} factor{'s' if len(shape) > 1 else ''}"
        raise InputError(f"order {order} is not possible with {factors}; use 1 … {len(shape)}.")
    return Additive(codes, shape) if order == 1 and not curves else Conjunctive(codes, shape, order, curves)


__all__ = ["Additive", "Conjunctive", "Mask", "grid_rank", "row_space"]
