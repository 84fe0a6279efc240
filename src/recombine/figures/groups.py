"""How a chart tells its groups apart: a colour, a dash or a shape for each, and the key that names them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import altair as alt

from recombine.figures import theme


def dealt(names: Sequence[str], looks: Sequence[Any]) -> dict[str, Any]:
    """Each group with its look, in turn."""
    return dict(zip(names, cycle(looks), strict=False))


def scale_of(names: Sequence[str], looks: Mapping[str, Any]) -> alt.Scale:
    return alt.Scale(domain=list(names), range=[looks[name] for name in names])


def key_of(names: Sequence[str], total: int, symbol: int = 40, **look: Any) -> alt.Legend:
    """As many names beside each other as fit into ``total`` pixels, each with ``symbol`` pixels for its sign."""
    room = max(1, int(total / (symbol + 6.2 * max(map(len, names)))))
    return alt.Legend(title=None, columns=theme.panels_across(len(names), room), symbolOpacity=1, **look)
