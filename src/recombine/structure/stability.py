"""How alike masks are: weights in both over weights in either, against what chance would give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from recombine.structure.evaluate import overlap
from recombine.structure.masks import Mask

if TYPE_CHECKING:
    import polars as pl

Key = tuple[int, str, str]
"""Base, kind of network, subroutine."""


def overlaps(masks: Mapping[Key, Sequence[Mask]]) -> pl.DataFrame:
    """Pairs of masks of one network: of one subroutine with different seeds, and of different subroutines.

    ``iou`` is over the parameters that both cover, ``expected`` the same for independent masks that keep as much."""
    import polars as pl

    rows: list[dict[str, Any]] = []
    for (base, kind, name), some in masks.items():
        rows += [_row(base, kind, "seeds", name, name, *pair) for pair in combinations(some, 2)]
    for (one, first), (two, second) in combinations(masks.items(), 2):
        if one[:2] == two[:2]:
            rows.append(_row(*one[:2], "subroutines", one[2], two[2], first[0], second[0]))
    schema = {"base": pl.Int64, "network": pl.String, "between": pl.String, "first": pl.String, "second": pl.String,
              "iou": pl.Float64, "expected": pl.Float64}  # fmt: skip
    return pl.DataFrame(rows, schema=schema)


def _row(base: int, kind: str, between: str, first: str, second: str, a: Mask, b: Mask) -> dict[str, Any]:
    both = [name for name in a.keep if name in b.keep]
    iou, expected = overlap([Mask({n: m.keep[n] for n in both}) for m in (a, b)]) if both else (None, None)
    return {"base": base, "network": kind, "between": between, "first": first, "second": second,
            "iou": iou, "expected": expected}  # fmt: skip
