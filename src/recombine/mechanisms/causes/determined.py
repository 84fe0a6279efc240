"""Which unseen combinations training leaves open even if effects add up: there, who knows the factors alone guesses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from recombine.checks.exact.identifiability import DETERMINED, UNSEEN, Identifiability
from recombine.mechanisms.answers.answered import Answers
from recombine.mechanisms.answers.names import brief, share

MOST_EFFECTS, MOST_COMBINATIONS = 300, 100_000
"""Levels beyond those of the two largest factors, and combinations, up to which it is looked at."""
NAMED = 3
"""New levels that are named in a sentence."""


@dataclass(frozen=True)
class LeftOpen:
    """How many of the unseen combinations training does not determine, and how many of these hold a new level."""

    count: int = 0
    levels: int = 0
    of: int = 0

    @property
    def short(self) -> str:
        new = f", {self.levels:,} as they hold a level that training never shows" * (self.levels > 0)
        some = f"{self.count:,} of {self.of:,} unseen combinations {'is' if self.count == 1 else 'are'}"
        return f"{some} not determined by training, even if effects add up{new}"

    @property
    def note(self) -> str:
        guess = "who knows the factors alone can but guess there, and what simple rules say of them is arbitrary"
        return f"{self.short}: {guess}. `recombine check` tells which they are." * (self.count > 0)


def left_open(answers: Answers) -> LeftOpen:
    """How many of the unseen combinations are left open."""
    status = standing(answers.at(answers.unseen))
    return LeftOpen(int((status > DETERMINED).sum()), int((status == UNSEEN).sum()), len(status))


def at_new_levels(answers: Answers, opened: LeftOpen) -> str:
    """How unseen combinations that hold a level training never shows err beside those of known levels, in a clause;
    nothing where all or none of them do."""
    if not 0 < opened.levels < opened.of:
        return ""
    new = np.zeros(len(answers.codes), dtype=bool)
    new[answers.unseen] = standing(answers.at(answers.unseen)) == UNSEEN
    shown, named = answers.shown, list[str]()
    assert shown is not None
    for j, factor in enumerate(answers.space.factors):
        for code in np.setdiff1d(answers.codes[new, j], shown[:, j]):
            named.append(f"{brief(factor.name, 20)} = {brief((factor.levels or ())[int(code)], 20)}")
    error = answers.error.mean(axis=0)
    more = f" and {len(named) - NAMED:,} more" * (len(named) > NAMED)
    err, known, seen = (share(float(error[at].mean())) for at in (new, answers.unseen & ~new, answers.compared))
    return (
        f"those of levels that training never shows ({', '.join(named[:NAMED])}{more}) err by {err}, the other "
        f"{int((answers.unseen & ~new).sum()):,}, of known levels, by {known}, seen ones by {seen}"
    )


def standing(answers: Answers) -> NDArray[np.int64]:
    """Of each combination, how training determines it (`checks/exact/identifiability.py`); as if it did, where training
    combinations or levels are not known or are too many."""
    shown, shape = answers.shown, answers.space.shape if answers.space.finite else ()
    if (
        shown is None
        or not shape
        or not len(shown)
        or sum(sorted(shape)[:-2]) > MOST_EFFECTS
        or len(shown) + len(answers.codes) > MOST_COMBINATIONS
    ):
        return np.full(len(answers.codes), DETERMINED)
    return _determining(shown.astype(np.int64).tobytes(), shape).status(answers.codes.astype(np.int64))


@lru_cache(maxsize=2)
def _determining(shown: bytes, shape: tuple[int, ...]) -> Identifiability:
    """What training combinations determine: every verdict asks several times, and every member of an ensemble."""
    return Identifiability(np.frombuffer(shown, dtype=np.int64).reshape(-1, len(shape)), shape)
