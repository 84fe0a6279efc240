"""What is judged: the answers of members that fitted, beside simple rules, and the gap between seen and unseen ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recombine.mechanisms.answers.answered import Answers
from recombine.mechanisms.compared.comparing import Comparison, compare
from recombine.mechanisms.compared.fitting import fitted_members
from recombine.mechanisms.compared.gap import Gap
from recombine.statistics import Over


@dataclass(frozen=True, eq=False)
class Case:
    """Members that did not fit are set aside; where none fitted, all with finite answers are looked at."""

    answers: Answers
    comparison: Comparison
    bare: Answers
    """The answers without what columns besides the factors add, which hides how these are used, …"""
    beside: Comparison
    """… and what they are compared with."""
    gap: Gap
    over: Over
    finite: NDArray[np.bool_]
    """Which of all members have finite answers to seen combinations, …"""
    keep: NDArray[np.bool_]
    """… and which fitted."""
    unfit: str
    """What keeps the others out, in a clause."""
    known: float | None
    """The noise in units of the error, where it was said."""
    fitted: float
    margin: float
    seed: int
    parts: int
    """How many numbers or labels of an answer are judged, this one among them, …"""
    unused: frozenset[str]
    """… and the factors that one of these ignores by itself."""

    @classmethod
    def of(
        cls, answers: Answers, others: Mapping[str, Answers], fitted: float, margin: float, noise: float | None,
        seed: int, parts: int = 1, unused: frozenset[str] = frozenset(),
    ) -> Case:  # fmt: skip
        known = noise if noise is None or answers.classes is not None else noise**2 / answers.scale
        finite = np.asarray(np.isfinite(answers.error[:, answers.seen]).all(axis=1))
        keep, unfit, usable, comparison = _set_aside(answers, finite, others, fitted, known, seed)
        over = Over(len(usable.members), seed)
        bare, beside = usable.bare or usable, comparison
        if bare is not usable:
            beside = compare(bare, over, {}, seed, None if known is None else known * usable.scale / bare.scale)
        gap = Gap.of(usable, comparison, over)
        return cls(
            usable, comparison, bare, beside, gap, over, finite, keep, unfit, known, fitted, margin, seed, parts,
            unused,
        )  # fmt: skip

    @property
    def fits(self) -> bool:
        return bool(self.keep.any())


def _set_aside(
    answers: Answers, finite: NDArray[np.bool_], others: Mapping[str, Answers], fitted: float, known: float | None,
    seed: int,
) -> tuple[NDArray[np.bool_], str, Answers, Comparison]:  # fmt: skip
    """Which members fitted, what keeps the others out, and the answers of the former beside simple rules; of all with
    finite answers, where none fitted."""
    able = answers.only(finite) if finite.any() else answers
    comparison = compare(able, Over(len(able.members), seed), others, seed, known)
    keep, unfit = fitted_members(answers, comparison, fitted)
    usable = answers.only(keep) if keep.any() else able
    if len(usable.members) != len(able.members):
        comparison = compare(usable, Over(len(usable.members), seed), others, seed, known)
    return keep, unfit, usable, comparison
