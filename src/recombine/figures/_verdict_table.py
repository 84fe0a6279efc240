"""A table of verdicts: what was known of each setting beforehand, sign by sign, beside what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import polars as pl

from recombine.figures import theme
from recombine.figures._claims import LINE, Sheet
from recombine.figures.data import Datasets, decimals_for, number, pick, plain
from recombine.figures.words import wrapped

SIGN = {True: "holds", False: "fails", None: "not fitted"}
HEAD = 10
"""Pixels around the lines of the headings."""


def verdict_table(
    table: pl.DataFrame,
    setting: str,
    checks: Sequence[str],
    measured: Mapping[str, str],
    *,
    width: theme.Width | None = None,
) -> alt.LayerChart:
    """One row a ``setting``: a sign for each of ``checks`` (true, false, or null where it cannot be known), and each of
    ``measured`` (column → heading), with its interval where there is room and columns ``…_low`` and ``…_high``."""
    names = [setting, *checks, *(c + end for c in measured for end in ("", "_low", "_high"))]
    rows = pick(table, {name: name for name in names}).to_dicts()
    narrow, total = theme.is_narrow(width), theme.total_width(width) - 2 * theme.PADDING
    sign, figure = (22, 58) if narrow else (34, 128)
    first = total - sign * len(checks) - figure * len(measured)
    sheet = Sheet()
    titles = [wrapped(plain(name), figure - 8) for name in measured.values()]
    y = HEAD + LINE * max(map(len, titles), default=1)
    for i, name in enumerate(checks):
        sheet.word("small", first + sign * i + 2, y - HEAD, name)
    for i, lines in enumerate(titles):
        across = first + sign * len(checks) + figure * i + 8
        sheet.word("small", across, y - HEAD - LINE * (len(lines) - 1), "\n".join(lines))
    for row in rows:
        # A dot that parts two names stays with the first.
        words = wrapped(plain(str(row[setting])).replace(" · ", "\u00a0· "), first - 12, theme.TEXT)
        height = len(words) * LINE + 10
        middle = y + height / 2
        sheet.rule("line", (0, total), (y, y))
        sheet.word("sentence", 0, y + LINE + 1, "\n".join(words))
        for i, name in enumerate(checks):
            sheet.mark(SIGN[row[name]], first + sign * i + 8, middle)
        for i, name in enumerate(measured):
            low, high = row[f"{name}_low"], row[f"{name}_high"]
            found = decimals_for(low, high)
            digits = 2 if narrow or found is None else min(max(found, 2), 3)
            text = number(row[name], digits)
            if not narrow and found is not None:
                text += f"  [{number(low, digits)}, {number(high, digits)}]"
            sheet.word("sentence", first + sign * len(checks) + figure * i + 8, middle + 4, text)
        y += height
    sheet.rule("line", (0, total), (y, y))
    datasets = Datasets()
    return theme.style(sheet.chart(datasets).properties(width=total, height=y + 2), datasets)
