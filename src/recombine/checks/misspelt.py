"""Levels that are asked about, that training never shows, and that may be a misspelt one that it does.

Such a level differs from a seen one in spaces, dashes, capitals or leading zeros, or in one letter of a word of five or
more: one too many, one too few, two that changed places, or another one inside the word. A letter at its end is more
often meant (siteA, siteB), and so is a digit. Where seen levels differ among themselves as little, nothing is said.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence

from recombine.checks.headed import Headed
from recombine.space import FactorSpace, Level, quoted
from recombine.support.numerals import nearly, same

SHORTEST = 5
"""Letters of a word in which one may be wrong."""
MOST_COMPARED = 200_000
MOST_NAMED = 5
WORD = re.compile(r"[^\W\d_]+")


def misspelt(unseen: Mapping[str, Sequence[Level]], space: FactorSpace) -> list[str]:
    """The note on levels that may be meant for a seen one, with a sentence for the first lines."""
    found = []
    for factor in space.factors:
        never = [level for level in unseen.get(factor.name, ()) if isinstance(level, str)]
        seen = [v for v in factor.levels or () if isinstance(v, str) and v not in never]
        if never and (len(never) + len(seen)) * len(seen) <= MOST_COMPARED:
            found += [(factor.name, level, meant) for level in never if (meant := _meant(level, seen)) is not None]
    if not found:
        return []
    named = [f"{name} {quoted(level)} (did you mean {quoted(meant)}?)" for name, level, meant in found[:MOST_NAMED]]
    more = f" and {len(found) - MOST_NAMED:,} more" if len(found) > MOST_NAMED else ""
    said = f"Training never shows {', '.join(named)}{more}."
    gist = "Some levels that training never shows may be misspelt, a note names them."
    if len(found) == 1:
        gist = f"{quoted(found[0][1])}, which training never shows, may be {quoted(found[0][2])} misspelt."
    return [Headed(f"{said} If so, correct them and check again; else they need rows of their own.", gist)]


def _meant(level: str, seen: Sequence[str]) -> str | None:
    for key in (same, nearly):
        if alike := [one for one in seen if key(one) == key(level)]:
            return alike[0]
    by_letter = [one for one in seen if one_letter(one, level)]
    if len(by_letter) != 1 or any(one_letter(a, b) for a, b in itertools.combinations(seen, 2)):
        return None
    return by_letter[0]


def one_letter(one: str, two: str) -> bool:
    """Whether two texts differ in one letter of a word, as typing errors do."""
    if abs(len(one) - len(two)) > 1 or one == two:
        return False
    one, two = one.casefold(), two.casefold()
    start = _alike(one, two)
    end = _alike(one[start:][::-1], two[start:][::-1])
    a, b = one[start : len(one) - end], two[start : len(two) - end]
    turned = len(a) == len(b) == 2 and a == b[::-1]
    if not (a + b).isalpha() or not (turned or max(len(a), len(b)) == 1):
        return False
    longer, middle = (one, a) if len(one) >= len(two) else (two, b)
    word = next((w for w in WORD.finditer(longer) if w.start() <= start < w.end()), None)
    if word is None or word.end() - word.start() < SHORTEST:
        return False
    inside = word.start() < start and start + len(middle) < word.end()
    return inside or len(a) != len(b)


def _alike(one: str, two: str) -> int:
    """With how many same letters they begin."""
    return next((i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
