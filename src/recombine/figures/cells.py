"""The cells of a map from edge to edge, and the sides between them where the value crosses a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recombine.errors import InputError


@dataclass(frozen=True)
class Cells:
    """A regular grid of cells: half of a cell's size along each axis, and where the whole grid begins and ends."""

    data: pl.DataFrame
    half_x: float
    half_y: float
    x: tuple[float, float]
    y: tuple[float, float]

    @classmethod
    def of(cls, data: pl.DataFrame) -> Cells:
        """The grid whose cells have their middles at ``x`` and ``y``; one row per cell and ``facet``."""
        half_x, half_y = _half_cell(data["x"]), _half_cell(data["y"])
        return cls(data, half_x, half_y, _extent(data["x"], half_x), _extent(data["y"], half_y))

    def rows(self) -> pl.DataFrame:
        """One rectangle a cell."""
        return self.data.sort("y", "x").select(
            pl.lit("cell").alias("part"),
            "facet",
            "value",
            pl.col("x") - self.half_x,
            pl.col("y") - self.half_y,
            # A cell reaches under the next, or hairlines of the background show between them.
            (pl.col("x") + 1.5 * self.half_x).clip(upper_bound=self.x[1]).alias("x2"),
            (pl.col("y") + 1.5 * self.half_y).clip(upper_bound=self.y[1]).alias("y2"),
        )

    def edges(self, panels: Sequence[str], middle: float) -> list[dict[str, Any]]:
        """The sides between neighbouring cells that lie on different sides of ``middle``, panel by panel."""
        return [
            {"part": "edge", "facet": panel, **edge}
            for panel in panels
            for edge in _edges(self.data.filter(pl.col("facet") == panel), middle, self.half_x, self.half_y)
        ]


def _extent(column: pl.Series, half: float) -> tuple[float, float]:
    """From edge to edge, without the last digits, which would hide the tick at a round end."""
    places = column.to_numpy().astype(np.float64)
    return float(f"{places.min() - half:.9g}"), float(f"{places.max() + half:.9g}")


def _half_cell(column: pl.Series) -> float:
    places = np.unique(column.to_numpy().astype(np.float64))
    if not np.isfinite(places).all():
        raise InputError("a map needs finite places: a cell's middle is missing or not finite.")
    return float(np.diff(places).min()) / 2 if len(places) > 1 else 0.5


def _edges(panel: pl.DataFrame, middle: float, half_x: float, half_y: float) -> list[dict[str, float]]:
    """The sides between neighbouring cells that lie on different sides of the middle."""
    xs, column = np.unique(panel["x"].to_numpy(), return_inverse=True)
    ys, row = np.unique(panel["y"].to_numpy(), return_inverse=True)
    if len(xs) * len(ys) < len(panel):
        raise InputError("a map needs one row per cell; some cell has several.")
    above: NDArray[np.float64] = np.full((len(ys), len(xs)), np.nan)
    above[row, column] = np.sign(panel["value"].cast(pl.Float64).fill_null(float("nan")).to_numpy() - middle)
    edges = []
    for j, i in zip(*np.nonzero(above[:, :-1] * above[:, 1:] < 0), strict=True):
        place = float(xs[i] + half_x)
        edges.append({"x": place, "x2": place, "y": float(ys[j] - half_y), "y2": float(ys[j] + half_y)})
    for j, i in zip(*np.nonzero(above[:-1] * above[1:] < 0), strict=True):
        place = float(ys[j] + half_y)
        edges.append({"x": float(xs[i] - half_x), "x2": float(xs[i] + half_x), "y": place, "y2": place})
    return edges
