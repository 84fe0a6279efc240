"""What tests of an assumption came to: the smallest p-value times their number (Bonferroni), in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from recombine.checks.adds_up.one_level import Odd
from recombine.checks.adds_up.one_pair import Pair
from recombine.checks.exact.modular import Floats

LEVEL = 0.01
"""The p-value below which adding up is rejected."""
SUSPECTED = 0.1
"""That below which a level that responds unlike the others has wider ranges."""
SMALLEST = 1e-300
"""Below it no p-value is told: it may be 0 because numbers end there."""
MOST_LISTED = 3
"""Interactions that were not tested of which each is named."""
COPIES = "repeated rows agree exactly, as copies do, tell nothing of the noise and count once"


@dataclass(frozen=True)
class Additivity:
    """The outcome; ``rejected`` is None where the seen data cannot test the assumption."""

    test: str
    rejected: bool | None
    p_value: float | None
    explained: float | None
    """Share of the differences between cells that adding up explains on stand-ins of the asked ones, left out."""
    words: str
    evidence: str = ""
    """The test and its p-value, for a sentence of someone else's."""
    untested: str = ""
    """Which interactions were not tested, in words."""
    scale: str = ""
    """The scale on which effects were to add up; none: the answer's own."""
    odd: Odd | None = None
    """Of a rejection by one level: that level, and what it responds to unlike the others."""
    suspect: Odd | None = None
    """The same of a level whose p-value is small, if not small enough to reject."""
    pair: Pair | None = None
    """Of a rejection by one pair of levels, or one without which nothing is seen to contradict it: these, and how far
    apart they lie."""
    open: bool = False
    """Whether what speaks against it may be something else: that the scatter of repeated rows is not the noise, or a
    column that nobody named."""
    alone: bool = False
    """Whether nothing but the shape of single rows speaks for or against it (Tukey, slopes, rectangles): an interaction
    that has none passes for noise, however large it is."""
    how: str = ""
    """What was done to answers of repeated rows first, where these are not independent."""


def scale_of(rescaled: Additivity | None) -> str | None:
    """The scale of this test, where effects add up there."""
    return rescaled.scale if rescaled is not None and rescaled.rejected is False else None


def where_answered(found: Additivity | None, rescaled: Additivity | None) -> Additivity | None:
    """Of a rejection the test on the scale that answers, where it rejects there too: in the answer's own units every
    product of effects is an interaction, whichever one there is besides."""
    both = found is not None and found.rejected and rescaled is not None and rescaled.rejected
    return rescaled if both else found


@dataclass(frozen=True, eq=False)
class Found:
    """One test."""

    test: str
    p_value: float
    words: str
    columns: Floats | None = None
    """What was tested, where a rejection has yet to stand."""
    odd: Odd | None = None
    pair: Pair | None = None


def noted(found: Additivity, skipped: Sequence[str]) -> Additivity:
    """The same with what was not tested."""
    if not skipped or found.rejected is None:
        return found
    few = skipped if len(skipped) <= MOST_LISTED else [*skipped[:MOST_LISTED], f"{len(skipped) - MOST_LISTED} more"]
    one = len(skipped) == 1 and not skipped[0].startswith("pairs of ")
    untested = f"{', '.join(few)} {'was' if one else 'were'} not tested, too large or too seldom seen"
    return replace(found, words=f"{found.words.rstrip('.')}; {untested}.", untested=untested)


def copied(found: Additivity, copies: bool) -> Additivity:
    """The same, with that copies count once where there are any."""
    return replace(found, words=f"{found.words.rstrip('.')}; {COPIES}.") if copies else found


def untested(why: str) -> Additivity:
    return Additivity("none", None, None, None, why)


def verdict(tests: Sequence[Found], what: str = "additivity") -> Additivity:
    """Of the smallest p-value, or of the pair of levels without which nothing is seen to contradict it."""
    smallest, many = min(tests, key=lambda t: t.p_value), len(tests)
    alone = (t for t in tests if t.pair is not None and t.pair.alone and t.p_value * many < LEVEL)
    best = next(alone, smallest)
    p = min(1.0, best.p_value * many)
    value = f"p = {as_near(p)}" if p > SMALLEST else f"p < {SMALLEST:g}"
    which = f", {'the smallest ' if best is smallest else ''}of {many} tests" * (many > 1)
    if p < LEVEL and best.pair is not None and best.pair.alone:
        which += f"; without this pair nothing is seen to contradict {what}"
    said = f"{value}, {best.words}{which}"
    words = (
        f"{what} is {'' if p < LEVEL else 'not '}rejected on the seen combinations ({said}; rejected below {LEVEL:g})."
    )
    suspect = next((t.odd for t in tests if t.odd is not None and t.p_value * many < SUSPECTED), None)
    odd, pair = (best.odd, best.pair) if p < LEVEL else (None, None)
    return Additivity(best.test, p < LEVEL, p, None, words, said, odd=odd, suspect=suspect, pair=pair)


def as_near(p: float) -> str:
    """Two digits, or as many as tell on which side of the level it lies."""
    texts = [f"{p:.{digits}g}" for digits in range(2, 18)]
    return next((t for t in texts if np.sign(float(t) - LEVEL) == np.sign(p - LEVEL)), texts[0])
