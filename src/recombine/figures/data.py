"""From a table to what a chart holds: checked columns under plain names, and numbers as people write them."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import unicodedata
from typing import TYPE_CHECKING, Any

import polars as pl

from recombine.errors import InputError, unknown

if TYPE_CHECKING:
    import altair as alt

LONGEST_LABEL = 120
LONGEST = 2000
"""Letters of a level and of any other text that a chart is given: measuring a hundred thousand takes minutes."""


class NothingToDraw(InputError):
    """A figure of no rows, as of members none of which fitted."""


def pick(table: pl.DataFrame, columns: dict[str, str | None]) -> pl.DataFrame:
    """The columns a chart needs, under the chart's own names.

    A person's names stay out of the specification, where a dot or a bracket would be read as syntax."""
    wanted = {new: old for new, old in columns.items() if old is not None}
    for old in wanted.values():
        if old not in table.columns:
            raise unknown("column", old, table.columns)
    if table.is_empty():
        raise NothingToDraw("there is nothing to draw: the table has no rows.")
    return table.select(pl.col(old).alias(new) for new, old in wanted.items())


class Datasets(dict[str, list[dict[str, Any]]]):
    """The tables of one chart by name. Charts refer to them, because Altair copies and checks what it holds itself,
    row by row and many times over."""

    def add(self, table: pl.DataFrame) -> alt.NamedData:
        """Keep the table's rows and give the reference to them; six digits are enough, and keep files small."""
        import altair as alt  # here, since words and numbers of this file are also for pages without a chart

        floats = [name for name, kind in table.schema.items() if kind.is_float()]
        rows = table.with_columns(pl.col(name).fill_nan(None).round_sig_figs(6) for name in floats).to_dicts()
        # Named by content, so that charts joined into one figure share what is equal and keep the rest apart.
        name = "data-" + hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()[:16]
        self[name] = rows
        return alt.NamedData(name=name)


def levels(column: pl.Series) -> list[str]:
    """The levels of a column as text: numbers by size, everything else in the order of the table."""
    found = column.drop_nulls().unique(maintain_order=True)
    return [label(value) for value in (found.sort() if found.dtype.is_numeric() else found)]


def label(value: object) -> str:
    """A level on one line, in quotation marks where a space begins or ends it; one too long to be drawn is cut, and
    kept apart from others that begin alike."""
    if isinstance(value, float):
        return f"{value + 0.0:g}"  # of -0.0 too it is 0
    text = str(value) if str(value) == str(value).strip() else f"“{value}”"
    if len(text) <= LONGEST_LABEL:
        return plain(text)
    return f"{plain(text[:LONGEST_LABEL])}… {hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:6]}"


def shortened(names: list[str], most: int = 20) -> list[str]:
    """Names that fit beside a picture: without the words that all begin with, then without their middles; whole where
    two would become the same."""
    if max(map(len, names), default=0) <= most:
        return names
    alike = itertools.takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))
    start = "".join(letters[0] for letters in alike)
    start = start[: max((start.rfind(sign) + 1 for sign in " _-/.:"), default=0)] if len(names) > 1 else ""
    rest = [f"…{name[len(start) :]}" if start else name for name in names]
    half = (most - 1) // 2
    found = [name if len(name) <= most else f"{name[:half]}…{name[-half:]}" for name in rest]
    return found if len(set(found)) == len(set(names)) else names


def plain(text: str) -> str:
    """The text on one line, without control characters, which neither XML nor Vega's expressions can hold."""
    text = text if len(text) <= LONGEST else text[:LONGEST] + "…"
    return "".join(" " if unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") else letter for letter in text)


def as_labels(column: pl.Series) -> pl.Series:
    return pl.Series(column.name, [None if value is None else label(value) for value in column], dtype=pl.String)


def faceted(table: pl.DataFrame, title: str) -> tuple[pl.DataFrame, list[str]]:
    """The table with its facet as the text above each panel ("step 4"), and these texts in order."""
    title = plain(title)
    if "facet" not in table.columns:
        return table.with_columns(pl.lit(title).alias("facet")), [title]
    panels = [f"{title} {name}".strip() for name in levels(table["facet"])]
    texts = [f"{title} {name}".strip() for name in as_labels(table["facet"]).to_list()]
    return table.with_columns(pl.Series("facet", texts)), panels


def number(value: float | None, decimals: int | None = None) -> str:
    """A number for reading: three digits unless told otherwise, a true minus sign, a dash where there is none."""
    if value is None or not math.isfinite(value):
        return "–"
    if decimals is not None and abs(value) < 1e5:
        text = f"{value:,.{decimals}f}"
    elif abs(value) >= 1000:
        text = f"{value:,.0f}" if abs(value) < 1e6 else f"{value:.2e}"
    else:
        text = f"{value:.3g}"
    return ("0" + text[2:] if float(text.replace(",", "")) == 0 and text.startswith("-") else text).replace("-", "−")


def decimals_for(low: float | None, high: float | None) -> int | None:
    """As many decimals as the interval can carry: the first digit of its width, and the second where that is 1 or 2."""
    if low is None or high is None or not math.isfinite(high - low) or high <= low:
        return None
    width = high - low
    place = -math.floor(math.log10(width))
    return min(6, max(0, place + int(width * 10.0**place < 3)))
