"""The errors on seen and unseen combinations and the gap between them, beyond the noise of the answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri, fdtrc

from recombine.mechanisms.answers.answered import Answers
from recombine.mechanisms.answers.names import NOTHING
from recombine.mechanisms.compared.comparing import GIVEN, Comparison, average, most_wrong, noise_within, unread, unsure
from recombine.mechanisms.compared.reach import reach
from recombine.statistics import FloatArray, Interval, Over

NOISIER = 0.05
"""How often rows of unseen combinations that are as noisy as others may count as noisier."""


@dataclass(frozen=True, eq=False)
class Gap:
    """What a verdict weighs: mean errors, and what of them lies beyond the noise."""

    seen: Interval
    unseen: Interval
    width: Interval
    """The error on unseen combinations less that on seen ones, each less its noise, as it is told, …"""
    varied: Interval
    """… and no further than errors vary: without what is left open by few combinations that are all right or wrong."""
    noise: FloatArray
    """What is taken off the errors of each combination, on seen and on unseen ones no more than they err, …"""
    beyond: FloatArray
    """… and what is left of them (members × combinations)."""
    lost: float
    """The noise of unseen combinations, no more than anyone's error there, …"""
    excess: Interval
    """… and the error there beyond it, …"""
    doubt: float
    """… less by up to so much, where few rows of unseen combinations tell that these are noisier than seen ones."""

    @classmethod
    def of(cls, answers: Answers, comparison: Comparison, over: Over) -> Gap:
        at, away, error, most = answers.compared, answers.unseen, answers.error, answers.most
        seen, unseen = (
            unsure(average(answers, over, (1.0, error, mask)), answers, mask).within(0, most) for mask in (at, away)
        )
        noise = _noise(answers, comparison)
        if answers.classes is None and answers.like:
            # Few rows may tell more noise than there is, and who was lucky with seen ones would have a gap from it.
            for mask in filter(np.any, (at, away)):
                noise[mask] *= min(1.0, float(error[:, mask].mean()) / max(float(noise[mask].mean()), 1e-300))
        beyond = np.where(np.abs(error - noise) < NOTHING, 0.0, error - noise)
        varied = average(answers, over, (1.0, beyond, away), (-1.0, beyond, at)).within(-most, most)
        unseen, width = reach(answers, unseen, varied, beyond)
        least = min(most, seen.high) if seen.bounded else most  # No error is below 0.
        unseen, width = unseen.within(0, most), width.within(0.0 - least, most)
        # Few rows of seen combinations may hide by luck that there is noise: it is then taken off all the same.
        might = _noise(answers, comparison, lucky=True) if answers.classes is not None else noise
        most_noise = float(might[away].mean()) if away.any() else 0.0
        lost = min(most_noise, comparison.reached(answers, away), float(error[:, away].mean())) if away.any() else 0.0
        excess = average(answers, over, (1.0, error - might + (most_noise - lost), away))
        doubt = _most_noise(answers, comparison) - lost if away.any() and lost > 0 else 0.0
        doubt = min(doubt, comparison.reached(answers, away) - lost, excess.mean) if doubt > 0 else 0.0
        return cls(seen, unseen, width, varied, noise, beyond, lost, excess, max(0.0, doubt))

    def taken_off(self, answers: Answers) -> tuple[float, float]:
        """The noise of seen and of unseen combinations; none where there are not both."""
        at, away = answers.compared, answers.unseen
        both = at.any() and away.any()
        return (float(self.noise[at].mean()), float(self.noise[away].mean())) if both else (0.0, 0.0)


def _noise(answers: Answers, comparison: Comparison, lucky: bool = False) -> FloatArray:
    """What is taken off the errors of each combination before they are compared: its noise, where rows tell it; of a
    learner that is told more than the factors, as much of it as it does not tell apart. ``lucky``: whether few rows of
    seen combinations that have no noise, or little, may have had it by chance."""
    floor, open_ = comparison.floor.mean, unread(answers)
    each = noise_within(answers) if floor > 0 else None
    if each is None:
        return np.full(len(answers.codes), open_ * floor if comparison.floor.over == GIVEN else 0.0)
    if answers.classes is None:
        return open_ * each
    # Few rows of a combination miss its usual class, and so tell too much noise of unseen and seen ones alike.
    bounds = [open_]
    for at, few in ((answers.unseen, False), (answers.compared & answers.like, lucky)):
        if each[at].any():
            left = comparison.reached(answers, at)
            left = most_wrong(min(1.0, left), float(answers.counts[at].sum())) if few else left
            bounds.append(left / float(each[at].mean()))
    return each * min(bounds)


def _most_noise(answers: Answers, comparison: Comparison) -> float:
    """The upper end (95 %) of the noise of unseen combinations, where their own rows tell that it is more than that of
    seen ones and of training (F-test); 0 where they do not. Single rows get the noise of others, and so too little."""
    trained, away, n = answers.trained, answers.unseen, answers.counts
    if answers.classes is not None or answers.within is None or trained is None or comparison.floor.over == GIVEN:
        return 0.0
    inside, free = float(n[away] @ answers.within[away]), float((n[away] - 1).sum())
    at = answers.compared & answers.like
    rows = float(trained.weights.sum())
    known = float(n[at] @ answers.within[at]) + trained.within * rows
    theirs = float((n[at] - 1).sum()) + rows - len(trained.weights)
    if not (free > 0 and inside > 0 and theirs > 0):
        return 0.0
    if known > 0 and fdtrc(free, theirs, inside / free / (known / theirs)) > NOISIER:
        return 0.0
    return unread(answers) * inside / float(chdtri(free, 0.975))
