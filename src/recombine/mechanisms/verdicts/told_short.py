"""A verdict that can be read aloud: what is needed first, and of the rest as much as there is room for.

What has no room stands first among the notes, unless a table has it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

LONGEST = 450
"""Characters beyond which further clauses go to the notes."""
CLAUSE = re.compile(r"(?<!\bp)\. (?=[A-Z0-9])")
LISTED = re.compile(r"([\d,]+) of [\d,]+ unseen combinations? .*?\(error [^()]*\)[^;]*")
"""Combinations that are counted and named, up to the first of them."""


@dataclass(frozen=True)
class Part:
    """A clause of what is said, without its full stop."""

    text: str
    need: int = 0
    """What is always said is 0; of the rest the larger goes first."""
    joint: str = ". "
    """What it follows the clause before it with."""
    in_table: bool = False
    """Whether a table says the same, so that no note has to."""
    short: str = ""
    """What it says where room is scarce; tables have the rest."""


def clauses(text: str, need: int, joint: str = ". ") -> list[Part]:
    """A text of several sentences, each needed more than the next."""
    if not text:
        return []
    each = CLAUSE.split(text.strip().removesuffix("."))
    return [Part(one, need + i, ". " if i else joint, short=_first_named(one)) for i, one in enumerate(each)]


def _first_named(clause: str) -> str:
    """The clause with the first of the combinations that it names; nothing where it names none, or one."""
    found = LISTED.match(clause)
    if not found or (count := int(found[1].replace(",", ""))) < 2:
        return ""
    return f"{found[0]}; and {count - 1:,} more"


def told(parts: Sequence[Part]) -> tuple[str, tuple[str, ...]]:
    """The parts in their order, as far as there is room, and what is left of them for the notes."""
    parts = [part for part in parts if part.text]
    if len(_joined(parts)) > LONGEST:
        parts = [Part(p.short or p.text, p.need, p.joint, p.in_table) for p in parts]
    kept = list(parts)
    for need in sorted({p.need for p in parts if p.need}, reverse=True):
        while len(_joined(kept)) > LONGEST and any(p.need == need for p in kept):
            kept.remove(next(p for p in reversed(kept) if p.need == need))
    for part in sorted(parts, key=lambda p: p.need):  # A later one may be short enough for the room that is left.
        again = [p for p in parts if p in kept or p is part]
        kept = again if len(_joined(again)) <= LONGEST else kept
    left = [p for p in parts if p not in kept and not p.in_table]
    return _joined(kept), tuple(f"{p.text[:1].upper()}{p.text[1:]}." for p in left)


def _joined(parts: Sequence[Part]) -> str:
    return "".join(f"{part.joint * (i > 0)}{part.text}" for i, part in enumerate(parts)) + "." * bool(parts)
