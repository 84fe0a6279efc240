"""Several charts below one another as one figure."""

from __future__ import annotations

import math
from typing import Any

import altair as alt

from recombine.figures import theme
from recombine.figures.words import text_width

NUMBERS = 44
"""Pixels for the numbers of a vertical axis, and for half of the last one of a horizontal axis."""


def column(*charts: alt.TopLevelMixin) -> alt.VConcatChart:
    """The charts below one another; each keeps its own scales.

    A chart that fits itself into its width cannot do so inside a figure: what its labels need is left to them here."""
    datasets: dict[str, Any] = {}
    parts = [chart.copy(ignore=["datasets"]) for chart in charts]  # type: ignore[attr-defined]
    fitting = [part.autosize is not alt.Undefined for part in parts]
    taken = max((_taken_by_labels(part) for part, fits in zip(parts, fitting, strict=True) if fits), default=0)
    for part, fits in zip(parts, fitting, strict=True):
        datasets |= part.datasets
        if fits:
            part.width -= taken
        part.config = part.autosize = part.datasets = alt.Undefined
    joined: alt.VConcatChart = alt.vconcat(*parts, spacing=28).resolve_scale(
        color="independent", shape="independent", strokeDash="independent", yOffset="independent"
    )
    return theme.style(joined, datasets)


def _taken_by_labels(chart: Any) -> int:
    """Pixels left of the plot: the longest of the labels that a vertical axis names, or what numbers need."""
    for layer in chart.to_dict(validate=False)["layer"]:
        names = layer.get("encoding", {}).get("y", {}).get("scale", {}).get("domain")
        if isinstance(names, list) and all(isinstance(name, str) for name in names):
            longest = max((text_width(line) for name in names for line in name.split("\n")), default=0.0)
            return math.ceil(min(longest, 0.34 * float(chart.width))) + 24
    return NUMBERS
