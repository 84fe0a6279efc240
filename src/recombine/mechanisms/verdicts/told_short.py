"""A verdict that can be read aloud: what is needed first, and of the rest as much as there is room for.

What has no room stands first among the notes, unless a table has it. A clause that says nothing without the one before
it, as *the other 11 err by …*, goes where that one goes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

LONGEST = 450
"""Characters beyond which further clauses go to the notes."""
CLAUSE = re.compile(r"(?<!\bp)\. (?=[A-Z0-9])")
LEANS = re.compile(
    r"(?:The other|Else|Unless|Logarithms|Their|They|Look at|Without|With one number|Put right|So|Make sure|Named back"
    r"|Of the other|To say which|See how|Leave it|Then)\b"
)
"""How a clause begins that needs the one before it."""
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
    lead: str = ""
    """What can be said of it alone where room is scarcer still; all of it is then a note."""


def clauses(text: str, need: int, joint: str = ". ") -> list[Part]:
    """A text of several sentences, each needed more than the next; what needs the one before it stays with it."""
    if not text:
        return []
    each = list[list[str]]()
    for one in CLAUSE.split(text.strip().removesuffix(".")):
        if each and LEANS.match(one):
            each[-1].append(one)
        else:
            each.append([one])
    return [_as_one(own, need + i, ". " if i else joint) for i, own in enumerate(each)]


def _as_one(clauses: Sequence[str], need: int, joint: str) -> Part:
    short = _first_named(clauses[0])
    lead = (short or clauses[0]) * (len(clauses) > 1)
    return Part(". ".join(clauses), need, joint, short=". ".join([short, *clauses[1:]]) if short else "", lead=lead)


def leaning(parts: Sequence[Part], text: str) -> list[Part]:
    """The parts, with a clause that needs one of them: the first that names combinations, or else the last."""
    if not text or not parts:
        return [*parts, Part(text)]
    at = next((i for i, part in enumerate(parts) if LISTED.match(part.text)), len(parts) - 1)
    lead = parts[at]
    short, alone = f"{lead.short}. {text}" if lead.short else "", lead.lead or lead.short or lead.text
    whole = Part(f"{lead.text}. {text}", lead.need, lead.joint, lead.in_table, short, alone)
    return [*parts[:at], whole, *parts[at + 1 :]]


def _first_named(clause: str) -> str:
    """The clause with the first of the combinations that it names; nothing where it names none, or one."""
    found = LISTED.match(clause)
    if not found or (count := int(found[1].replace(",", ""))) < 2:
        return ""
    return f"{found[0]}; and {count - 1:,} more"


def told(parts: Sequence[Part]) -> tuple[str, tuple[str, ...]]:
    """The parts in their order, as far as there is room, and what is left of them for the notes."""
    parts = [part for part in parts if part.text]
    whole = said = [part.text for part in parts]
    every, cut = range(len(parts)), set[int]()

    def joined(kept: Iterable[int]) -> str:
        text = "".join(f"{parts[i].joint * (n > 0)}{said[i]}" for n, i in enumerate(sorted(kept)))
        return text + "." * bool(text)

    if len(joined(every)) > LONGEST:
        whole = said = [part.short or part.text for part in parts]
    kept = [*every]
    for i in sorted(every, key=lambda i: (-parts[i].need, -i)):
        if len(joined(kept)) > LONGEST and parts[i].lead:
            said, cut = [*said[:i], parts[i].lead, *said[i + 1 :]], {*cut, i}
        if len(joined(kept)) > LONGEST and parts[i].need:
            kept.remove(i)
    for i in sorted(every, key=lambda i: parts[i].need):  # A later one may be short enough for the room that is left.
        kept = [*kept, i] if i not in kept and len(joined([*kept, i])) <= LONGEST else kept
    left = [whole[i] for i in every if (i not in kept or i in cut) and not parts[i].in_table]
    return joined(kept), tuple(f"{text[:1].upper()}{text[1:]}." for text in left)
