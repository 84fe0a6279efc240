"""A note that matters so much that the first lines point to it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Moving:
    """A column that nobody named and that moves the answers."""

    name: str
    kind: str
    """What it holds besides levels: "number", "time", or neither."""
    lined: bool
    """Whether a line and a bend along it say it, not a shift of each value."""
    numbers_rows: bool
    """Whether each row has its own number, from 1 on or without a gap."""
    between: bool = False
    """Whether it keeps to combinations, so that their repeats do not show it."""


class Headed(str):
    """A note, and the sentence for the first lines."""

    __slots__ = ("along_rows", "gist", "moving", "steady")
    gist: str
    moving: Moving | None
    """The column that moves the answers, where the note is of one."""
    steady: str | None
    """The column over which the sentence supposes that nothing drifts."""

    along_rows: bool
    """Whether the note is of a drift along the rows of the table."""

    def __new__(
        cls, note: str, gist: str = "", moving: Moving | None = None, steady: str | None = None,
        along_rows: bool = False,
    ) -> Headed:  # fmt: skip
        made = super().__new__(cls, note)
        made.gist, made.moving, made.steady, made.along_rows = gist, moving, steady, along_rows
        return made


def gists(notes: tuple[str, ...]) -> str:
    """What the first lines say of these notes."""
    return "".join(f" {note.gist}" for note in notes if isinstance(note, Headed) and note.gist)
