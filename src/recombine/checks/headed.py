"""A note that matters so much that the first lines point to it."""

from __future__ import annotations


class Headed(str):
    """A note, and the sentence for the first lines."""

    __slots__ = ("gist", "shifts")
    gist: str
    shifts: str
    """The column whose shifts make repeated rows differ, where the note is of one."""

    def __new__(cls, note: str, gist: str = "", shifts: str = "") -> Headed:
        made = super().__new__(cls, note)
        made.gist, made.shifts = gist, shifts
        return made


def gists(notes: tuple[str, ...]) -> str:
    """What the first lines say of these notes."""
    return "".join(f" {note.gist}" for note in notes if isinstance(note, Headed) and note.gist)
