"""A note that matters so much that the first lines point to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from recombine.space import quoted
from recombine.support.pasted import option


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
    drifts: Mapping[str, bool] = field(default_factory=dict)
    """Columns over which answers surely drift, and whether values of each have several rows: of these shifts can be
    taken off."""


@dataclass(frozen=True)
class Drift:
    """A drift over a column that could hardly be told from what a factor does."""

    column: str
    factor: str
    by_block: bool = False
    """Whether its shifts can be taken off as they are."""

    @property
    def words(self) -> str:
        """What it leaves open where answers drift."""
        name = quoted(self.column)
        to_do = f"name it with {option('block', self.column)}" if self.by_block else "a note says what to do"
        return f"answers drift over {name}, which can hardly be told from what {self.factor} does: {to_do}"


class Headed(str):
    """A note, and the sentence for the first lines."""

    __slots__ = ("drift", "gist", "moving")
    gist: str
    moving: Moving | None
    """The column that moves the answers, where the note is of one."""
    drift: Drift | None
    """What could not be told from a factor, where the note is of that."""

    def __new__(cls, note: str, gist: str = "", moving: Moving | None = None, drift: Drift | None = None) -> Headed:
        made = super().__new__(cls, note)
        made.gist, made.moving, made.drift = gist, moving, drift
        return made


def found_drift(notes: Sequence[str]) -> Drift | None:
    """One that could not be told from a factor by some of these notes, over a column along which answers drift by
    another."""
    headed = [note for note in notes if isinstance(note, Headed)]
    moved = {name: several for note in headed if note.moving for name, several in note.moving.drifts.items()}
    drifts = [note.drift for note in headed if note.drift is not None and note.drift.column in moved]
    return next((replace(drift, by_block=moved[drift.column]) for drift in drifts), None)


def gists(notes: tuple[str, ...]) -> str:
    """What the first lines say of these notes."""
    return "".join(f" {note.gist}" for note in notes if isinstance(note, Headed) and note.gist)
