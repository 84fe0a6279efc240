"""Do rows of one combination get one answer wherever it was seen, and several where it was not?

Whoever reads the factors alone gives all rows of a combination one number, and whoever reads more gives several on seen
combinations as well. Several on unseen ones alone are what predictions give that stand beside the wrong rows there, as
where those of a second file were joined in another order. Of classes that is not enough, as whoever reads pictures may
be right on all rows of seen combinations: there, classes that differ between unseen combinations have to be given as
often as they are due, right no more often than by chance, and without regard to the combination,

    Σ (count − expected)² / expected ≤ d + BY_CHANCE √(2d),   d = (combinations − 1) (classes − 1).

It is said, and leaves the verdict as it is: a learner may draw its answers where it does not know. Classes that were
drawn are given as often as they are due, about; those of other rows exactly. Only then is a join what to look at first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recombine.statistics import FloatArray

FEWEST_SEEN = 10
"""Seen combinations with two rows or more, all of which have to get one answer, …"""
FEWEST, MOSTLY = 3, 0.5
"""… and how many of the unseen ones have to get several, and which share of them, …"""
NEAR, EXACT = 0.05, 1e-6
"""… that lie apart by more than this share of the spread of answers, and within which share of it two are one."""
BY_CHANCE, CLEARLY, AS_DUE = 2.0, 5.0, 0.1
"""Of classes, standard deviations up to which they go with combinations by chance, those by which right ones have to,
and by how much the shares of a class that are given and due may differ."""


@dataclass(frozen=True, eq=False)
class Given:
    """What combinations got in one part of the rows."""

    count: NDArray[np.int64]
    said: FloatArray
    """Combinations × 1, the mean number, or × classes, their shares; …"""
    right: FloatArray
    """… and the same of right answers."""
    ends: FloatArray | None
    """The smallest and the largest number; none of classes."""
    unseen: NDArray[np.bool_]


def mixed_where_unseen(parts: Sequence[Given]) -> str:
    """What to look at first, in sentences."""
    unseen = np.concatenate([part.unseen[part.count > 1] for part in parts])
    apart = np.concatenate([_apart(part)[part.count > 1] for part in parts])
    count, of = int((apart[unseen] > NEAR).sum()), int(unseen.sum())
    if count < max(FEWEST, MOSTLY * of) or (~unseen).sum() < FEWEST_SEEN or (apart[~unseen] > EXACT).any():
        return ""
    if not all(_told_apart(part) if part.ends is not None else _dealt(part) for part in parts if part.unseen.any()):
        return ""
    if not all(part.ends is not None or _as_many(part) for part in parts if part.unseen.any()):
        return (
            f"{count:,} of {of:,} unseen combinations get several classes, without regard to the combination, where "
            "all rows of a seen one get the same: it draws its answers there, reads more than the factors there alone, "
            "or predictions stand beside the wrong rows (see their order; join by a key)."
        )
    return (
        "Look first at how predictions were put beside rows of unseen combinations (their order; join by a key): "
        f"{count:,} of {of:,} get several answers, where all rows of a seen one get the same. Else it reads more than "
        "the factors there alone, or draws its answers."
    )


def _apart(part: Given) -> FloatArray:
    """How far the answers of each combination lie apart, as a share of the spread of all; of classes, the share that do
    not get the usual one."""
    if part.ends is None:
        return np.asarray(1 - part.said.max(axis=1, initial=0.0))
    return np.asarray(np.ptp(part.ends, axis=1) / max(float(part.said[part.count > 0].std()), 1e-300))


def _told_apart(part: Given) -> bool:
    """Whether most seen combinations get a number of their own: of a few ratings all rows may get the right one."""
    known = part.said[~part.unseen & (part.count > 0)]
    return len(np.unique(known)) > MOSTLY * len(known)


def _dealt(part: Given) -> bool:
    """Whether unseen combinations get classes as if these had been dealt to them."""
    at = part.unseen & (part.count > 1)
    (said, width), (right, _) = (_by_combination(part.count[at, None] * of[at]) for of in (part.said, part.right))
    share = part.count[at, None] / part.count[at].sum()
    due, given = ((share * of[at]).sum(axis=0) for of in (part.right, part.said))
    chance, hits = float(due @ given), float((share * part.said[at] * part.right[at]).sum())
    doubt = np.sqrt(chance * (1 - chance) / part.count[at].sum())
    as_due = hits - chance <= BY_CHANCE * doubt and float(np.abs(due - given).max()) <= AS_DUE
    return as_due and said <= BY_CHANCE * width and right > CLEARLY * width


def _as_many(part: Given) -> bool:
    """Whether each class is given to as many rows of unseen combinations as have it as their combination's usual one:
    so it is of right answers in another order, and rarely of drawn ones."""
    at = part.unseen & (part.count > 0)
    given = (part.count[at, None] * part.said[at]).sum(axis=0)
    usual = np.bincount(part.right[at].argmax(axis=1), part.count[at], minlength=len(given))
    return bool((np.abs(given - usual) < MOSTLY).all())


def _by_combination(counts: FloatArray) -> tuple[float, float]:
    """By how much counts (combinations × classes) go with combinations beyond what chance gives, and how far that
    scatters."""
    counts = counts[:, counts.sum(axis=0) > 0]
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    free = (len(counts) - 1) * (counts.shape[1] - 1)
    return float((np.square(counts - expected) / expected).sum()) - free, float(np.sqrt(2 * max(free, 1)))
