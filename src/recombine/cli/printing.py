"""How verbs print: one JSON object, a table, or a sentence; text from files stays text."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.text import Text

LONGEST = 1000
"""Letters of a text from a file that a terminal is shown."""


def print_json(body: dict[str, Any]) -> None:
    """One line, with the schema's number first."""
    sys.stdout.write(json.dumps({"schema": 1} | body, ensure_ascii=True) + "\n")


def print_table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[object]], *, one_line: bool = False
) -> None:
    """Rows under a title; the header is left out where no column has a name. ``one_line``: a line a row, cut with …
    where the terminal is too narrow, and no frame."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    plain: dict[str, Any] = {"box": None, "pad_edge": False} if one_line else {}
    table = Table(title=Text(printable(title)), title_justify="left", show_header=any(columns), **plain)
    for column in columns:
        table.add_column(column, overflow="ellipsis" if one_line else "fold", no_wrap=one_line)
    for row in rows:
        table.add_row(*(Text("–" if cell is None else printable(str(cell))) for cell in row))
    Console().print(table)


def shown(text: object, style: str = "") -> Text:
    """A text from a file for the terminal: no markup, no control characters, cut where it is too long to be read."""
    from rich.text import Text

    whole = str(text)
    return Text(printable(whole if len(whole) <= LONGEST else whole[:LONGEST] + "…"), style=style)


def say(sentence: str) -> None:
    sys.stdout.write(printable(sentence) + "\n")


def printable(text: str) -> str:
    """Text from a file as text: what could steer a terminal is shown as an escape instead."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode("ascii") for c in text)


def size(count: float) -> str:
    """A number of bytes for people."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.4g} {unit}"
        count /= 1000
    return f"{count:.4g} GB"
