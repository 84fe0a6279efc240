"""How verbs print: one JSON object, a table, or a sentence; text from files stays text."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from recombine.result import as_json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

LONGEST = 1000
"""Letters of a text from a file that a terminal is shown."""
LONGEST_NAME = 40
"""Letters of a name or level in a table."""
LONGEST_VERDICT = 4000
"""The same of what we say first, which holds a few such texts."""


def print_json(body: dict[str, Any]) -> None:
    """One line, with the schema's number first."""
    sys.stdout.write(as_json({"schema": 1} | body) + "\n")


@contextmanager
def unread(stream: TextIO | None = None) -> Iterator[None]:
    """That the reader of our output has gone (`recombine … | head`) is no error of ours, and no reason to forget what
    was found: nothing is printed any more, and the verb goes on to its exit code. ``stream``: standard output, or
    standard error, which may go into the same pipe."""
    stream = stream or sys.stdout
    try:
        yield
        stream.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def console(*, cut: bool = True) -> Console:
    """Where verbs print for people. Nothing is coloured but what we mark; that the reader has gone (`… | head`) ends
    the command without a complaint. ``cut=False``: lines that go into a pipe or a file are as long as they are."""
    from rich.console import Console

    class Ours(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    free = not cut and "COLUMNS" not in os.environ and not sys.stdout.isatty()
    return Ours(highlight=False, width=10_000 if free else None)


def print_table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[object]], *, one_line: bool = False
) -> None:
    """Rows under a title; the header is left out where no column has a name. ``one_line``: a line per row, cut with …
    where the terminal is too narrow, and no frame."""
    from rich.table import Table
    from rich.text import Text

    say(title)
    if not rows:
        return
    plain: dict[str, Any] = {"box": None, "pad_edge": False} if one_line else {}
    table = Table(show_header=any(columns), **plain)
    for column in columns:
        table.add_column(column, overflow="ellipsis" if one_line else "fold", no_wrap=one_line)
    for row in rows:
        table.add_row(*(Text("–" if cell is None else printable(str(cell))) for cell in row))
    console(cut=not one_line).print(table)


def print_facts(facts: Sequence[tuple[str, str]]) -> None:
    """A name and what is said of it, a line each; what does not fit continues below itself."""
    from rich.table import Table

    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True, min_width=8)
    grid.add_column(overflow="fold")
    for name, text in facts:
        grid.add_row(shown(name), shown(text))
    console().print(grid)


def print_verdict(verdict: str, colour: str, sentence: str) -> None:
    """The verdict in its colour, then what it means."""
    console().print(
        shown("")
        .append_text(shown(verdict, f"bold {colour}"))
        .append_text(shown(f" — {sentence}", most=LONGEST_VERDICT))
    )


def counted(count: int, what: str) -> str:
    """``3 rows``, ``1 row``."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def shown(text: object, style: str = "", most: int = LONGEST) -> Text:
    """A text from a file for the terminal: no markup, no control characters, cut where it is too long to be read."""
    from rich.text import Text

    whole = str(text)
    return Text(printable(whole if len(whole) <= most else whole[:most] + "…"), style=style)


def level(value: object) -> Text:
    """The same of a level: in quotation marks where it begins or ends with a space, which nobody would see."""
    text = short(value)
    return shown(text if text == text.strip() else f"“{text}”")


def short(value: object) -> str:
    """A name in a table, without its middle where it would push other columns away: long ones differ at their ends.
    Files have all of it."""
    text = f"{value:.0f}" if isinstance(value, float) and abs(value) < 1e15 and value == round(value) else str(value)
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 17]}…{text[-16:]}"


def say(sentence: str) -> None:
    sys.stdout.write(printable(sentence) + "\n")


def wrapped(sentence: str) -> None:
    """A long sentence, broken between words where the terminal ends."""
    console().print(shown(sentence))


def printable(text: str) -> str:
    """Text from a file as text: what could steer a terminal is shown as an escape instead."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode("ascii") for c in text)


def size(count: float) -> str:
    """A number of bytes for people."""
    for unit in ("B", "kB", "MB"):
        if count < 999.5:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} GB" if count < 999.5 else f"{count:,.0f} GB"
