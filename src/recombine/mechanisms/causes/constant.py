"""Do unseen combinations get one fixed answer, or the right ones made smaller?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc

from recombine.mechanisms.answers.answered import Answers, distance
from recombine.mechanisms.answers.finding import FEWEST, Finding
from recombine.mechanisms.answers.names import NOTHING, brief, ranged, share
from recombine.mechanisms.causes.simpler_rules import BEHAVIOUR, HALF
from recombine.mechanisms.compared.comparing import uncertain
from recombine.statistics import FloatArray, Interval, Over

Rows = NDArray[np.int64] | NDArray[np.bool_] | slice

NEARLY_ALL = 0.9
"""Share of unseen combinations that have to get one and the same answer, at the lower end of the interval."""
MOST_ALIKE = 0.8
"""Share of them that is enough where numbers are the very same and make nearly all of the error: no accident does."""
MOST_PARTS = 0.95
"""Share of what parts of the right answers explain, each lacking by a factor of its own, that one factor for all has to
explain before a leak is named."""
FOR_CERTAIN = 0.2
"""Share of the error that it has to explain at the lower end of the interval, too."""
ONE_CHANCE = 0.1
"""How far chances of one class may lie apart and still be one answer."""
FULL = 0.95
"""Answers that show this share of the right ones' variation, or more, have no leak."""


def fixed(asked: Answers, over: Over) -> Finding:
    """The share of unseen combinations that get one and the same answer."""
    if asked.classes is not None:
        usual = asked.predicted.mean(axis=1)
        each = np.stack([p[:, int(u.argmax())] for p, u in zip(asked.predicted, usual, strict=True)])
        right = np.stack([asked.target[:, int(u.argmax())] for u in usual])
    else:
        middle = np.median(asked.predicted, axis=1, keepdims=True)
        each = (distance(asked.predicted, middle) <= asked.tolerance).astype(np.float64)
        right = (distance(asked.target, np.median(asked.target, axis=0)) <= asked.tolerance)[None].astype(np.float64)
    value = over.mean(each, ranges=[(0, 1)]).within(0, 1)
    alike, due = float(each.mean()), float(right.mean())
    # Where either is alike alone, it is as often the given one by chance (McNemar, exactly).
    more = (each - right).mean(axis=0)
    given, either = round(float(more.clip(0).sum())), round(float(np.abs(more).sum()))
    why, same = "", _the_same(asked)
    if (alike >= NEARLY_ALL or same) and due > HALF:
        why = f"the right ones are alike too, {share(due)} of them, and at most half may be"
    elif alike >= NEARLY_ALL and not same and not (value.bounded and value.low >= NEARLY_ALL):
        why = f"the interval has to begin at {NEARLY_ALL:g} or above"
    elif alike >= NEARLY_ALL and (told := _chances(asked, each)):
        why = told
    return Finding(
        "fixed", "memorization: one fixed answer", "unseen combinations that get one and the same answer",
        uncertain(value), chance=due, reference="of the right ones",
        p=float(bdtrc(given - 1, either, 0.5)) if given else 1.0,
        speaks=(alike >= NEARLY_ALL or same) and not why, why=why,
        limit=f"Of the right answers there, {due:.0%} are alike. {BEHAVIOUR}",
    )  # fmt: skip


def _the_same(asked: Answers) -> bool:
    """Whether four of five get the very same number, and nearly all of the error is theirs. Others may be right, and
    have answers of their own: of those that share one too, some level may be the reason."""
    if asked.classes is not None:
        return False
    off = (asked.predicted - np.median(asked.predicted, axis=1, keepdims=True)) / (NOTHING * asked.scale**0.5)
    same = (np.abs(off) <= 1).all(axis=(0, 2))
    others = off.mean(axis=0)[~same].round()
    if same.mean() < MOST_ALIKE or len(np.unique(others, axis=0)) < len(others):
        return False
    return bool(_whole(asked, same).sum() >= NEARLY_ALL * _whole(asked).sum() > 0)


def _chances(asked: Answers, each: FloatArray) -> str:
    """What is said where one class is given everywhere, with chances that differ: only the cut makes them alike."""
    if (sure := asked.scores.get("confidence")) is None or not (given := each > HALF).any():
        return ""
    low, high = float(sure[given].min()), float(sure[given].max())
    return f"its chances are {share(low)} to {share(high)}, not one answer" if high - low > ONE_CHANCE else ""


def shrunk(asked: Answers, over: Over, added: FloatArray | None = None) -> Finding | str:
    """How much of the right answers' variation the answers show, 1/b of the line y = a + b·f.

    The right answer is regressed on the given one: the true mean of noisy answers has b = 1, and so has any rule that
    is fitted without bias; f = m · y has 1/b = m < 1, the memorization leak. Answers that lack something else are
    smaller too. So one factor for all has to explain more of the error than what one of the parts lacks: what a factor
    adds, or what does not add up (``added``: what adding up says). What a constant shift of all answers would remove
    is no part of what it explains: see `shifted`."""
    if asked.classes is not None:
        return "a slope needs numbers, and the answers are classes"
    if len(asked.codes) < FEWEST:
        return f"a slope over {len(asked.codes)} unseen combinations says nothing; {FEWEST} are needed"
    if not np.square(asked.target - asked.target.mean(axis=0)).sum() > 0:
        return "the right answers of all unseen combinations are alike"

    def shown(rows: NDArray[np.int64]) -> FloatArray:
        both, own = _moments(asked, rows)
        return np.where(both > 0, own / np.where(both > 0, both, 1.0), np.inf)

    value = over(shown, [len(asked.codes)], at_once=True)
    if not (value.bounded and value.high - value.low <= 1):
        why = ranged(value) if value.bounded else "the answers hardly go with the right ones"
        return f"how much of the right answers' variation is shown cannot be told: {why}"
    explained = over(lambda rows: _explained(asked, (), rows), [len(asked.codes)], at_once=True).within(0, 1)
    parts = {} if added is None else _parts(asked, added)
    # Noisy right answers explain some of the noise too: no share is above 1, nor what one factor for all explains above
    # what the answers themselves, which have none of it, leave possible.
    alone = {name: min(1.0, float(_explained(asked, [part]).mean())) for name, part in parts.items()}
    most = max(alone, key=lambda name: alone[name], default="")
    whole, apart = (min(1.0, float(_explained(asked, of).mean())) for of in ([asked.target], [*parts.values()]))
    whole = min(whole, explained.high)
    why = ""
    if not (explained.mean >= HALF and explained.low >= FOR_CERTAIN):
        why = (
            f"it explains {ranged(explained)} of the error beyond the noise, besides a shift of all answers; half is "
            f"needed, and {FOR_CERTAIN:g} for certain"
        )
    elif alone and alone[most] > whole:
        why = f"less of the right answers explains {share(whole)} of the error, but less of {most} {share(alone[most])}"
    elif alone and whole < MOST_PARTS * apart:
        why = (
            f"less of the right answers explains {share(whole)} of the error, but less of parts of them {share(apart)}"
        )
    shrinks = value.low > 0 and value.high < FULL
    return Finding(
        "leak", "memorization leak", "share of the right answers' variation that the answers show", value, chance=1.0,
        reference="without a leak", explained=explained if value.mean < 1 else None, speaks=shrinks and not why,
        why=why * shrinks,
        limit=f"Of squared error beyond the noise, {ranged(explained)} would go if all answers were larger by one "
        f"factor, besides what goes if all are shifted by one number. {BEHAVIOUR}",
    )  # fmt: skip


def _parts(asked: Answers, added: FloatArray) -> dict[str, FloatArray]:
    """What answers may lack one by one (combinations × numbers): what each factor adds, as adding up has
    it, and what does not add up."""
    levels = [np.eye(n)[asked.codes[:, j]] for j, n in enumerate(asked.space.shape)]
    effects = np.linalg.lstsq(np.concatenate(levels, axis=1), added - added.mean(axis=0), rcond=None)[0]
    each = np.split(effects, np.cumsum(asked.space.shape)[:-1])
    found = {f"what {brief(name)} adds": own @ effect
             for name, own, effect in zip(asked.space.names, levels, each, strict=True)}  # fmt: skip
    return {**found, "what does not add up": asked.target - added}


def _explained(asked: Answers, parts: Sequence[FloatArray], rows: Rows = slice(None)) -> FloatArray:
    """Of each member, the share of the error beyond the noise that goes where its answers get more of some parts; of
    themselves, where none is named; besides what goes where all are shifted by one number. Adjusted for as many numbers
    as are fitted."""
    off = asked.target[rows] - asked.predicted[:, rows]
    count, flat = off.shape[-2], (*off.shape[:-2], -1)
    own = (off - off.mean(axis=(-2, -1), keepdims=True)).reshape(flat)
    left = apart = np.square(own).sum(axis=-1)
    if parts:
        x = np.stack([part[rows].ravel() - part[rows].mean() for part in parts], axis=1)
        left = np.square(own.T - x @ np.linalg.lstsq(x, own.T, rcond=None)[0]).sum(axis=0)
    else:
        f = asked.predicted[:, rows].reshape(flat)
        f = f - f.mean(axis=-1, keepdims=True)
        more = (f * own).sum(axis=-1) / np.maximum(np.square(f).sum(axis=-1), 1e-300)
        left = left - more * (f * own).sum(axis=-1)
        if asked.trained is not None:  # Answers made smaller about the mean of training's are shifted by that alone.
            mean = np.average(asked.trained.answers, axis=0, weights=asked.trained.weights)
            about = off - more[..., None, None] * (asked.predicted[:, rows] - mean)
            gone = np.square(off).sum(axis=(-2, -1)) - np.square(about).sum(axis=(-2, -1))
            apart = left + np.maximum(apart - left, gone)
    free = (count - 2) / max(1, count - 1 - max(1, len(parts)))
    whole = _whole(asked, rows)
    return np.where(whole > 0, (apart - free * left) / np.where(whole > 0, whole, 1.0), 0.0)


def _whole(asked: Answers, rows: Rows = slice(None)) -> FloatArray:
    """Of each member, the squared error beyond the noise."""
    inside = np.zeros(len(asked.codes)) if asked.within is None else asked.scale * asked.within
    noise = (inside / np.maximum(asked.counts - 1, 1))[rows].sum(axis=-1) * asked.target.shape[1]
    return np.asarray(np.square(asked.target[rows] - asked.predicted[:, rows]).sum(axis=(-2, -1)) - noise)


def shifted(asked: Answers, over: Over, least: float = 0.0) -> str:
    """That all answers are too low or too high by about one number, in a clause, where that makes half of the error
    beyond the noise or more. ``least``: the error that it has to make for certain; it is then to make nearly all."""
    if asked.classes is not None or asked.target.shape[1] > 1 or len(asked.codes) < FEWEST:
        return ""
    off = (asked.target - asked.predicted)[:, :, 0]
    by, whole = over.mean(off), float(_whole(asked).mean())
    makes = float(np.square(off.mean(axis=1)).mean()) * len(asked.codes) / max(whole, 1e-300)
    if not (by.bounded and by.low * by.high > 0 and whole > 0 and makes >= (NEARLY_ALL if least else HALF)):
        return ""
    if min(by.low**2, by.high**2) <= least * asked.scale:
        return ""
    size = by if by.mean > 0 else Interval(-by.mean, -by.high, -by.low)
    which = "low" if by.mean > 0 else "high"
    return (
        f"answers to unseen combinations are too {which} by {ranged(size)} on average, which alone makes "
        f"{min(makes, 1.0):.0%} of the error there beyond the noise"
    )


def moved(answers: Answers) -> Answers:
    """The same, all answers to unseen combinations shifted by one number, to where the right ones lie on average."""
    off, away = answers.target - answers.predicted, answers.unseen
    by = float(off[:, away].mean())
    less = (2 * by * off.mean(axis=2) - by**2) / answers.scale
    return replace(
        answers,
        predicted=np.where(away[:, None], answers.predicted + by, answers.predicted),
        error=np.where(away, answers.error - less, answers.error),
        bare=None,
        besides={},
    )


def stretched(asked: Answers) -> FloatArray:
    """Members × combinations: the error that is left when answers follow the line y = a + b·f; two numbers are fitted
    to as many combinations as there are."""
    free = len(asked.codes) / max(1, len(asked.codes) - 2)
    return np.asarray(_left(asked) * free / asked.scale + (0.0 if asked.within is None else asked.within))


def _left(asked: Answers) -> FloatArray:
    """Members × combinations: squares that the line leaves."""
    both, own = _moments(asked, np.arange(len(asked.codes)))
    slope = (both / np.maximum(own, 1e-300))[:, None, None]
    f = asked.predicted - asked.predicted.mean(axis=1, keepdims=True)
    return np.asarray(np.square(asked.target - asked.target.mean(axis=0) - slope * f).mean(axis=2))


def _moments(asked: Answers, rows: NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
    """Σ f·y and Σ f² of each member over some combinations, both about their means."""
    y, f = asked.target[rows], asked.predicted[:, rows]
    y, f = (part - part.mean(axis=-2, keepdims=True) for part in (y, f))
    return np.asarray((f * y).sum(axis=(-2, -1))), np.asarray(np.square(f).sum(axis=(-2, -1)))
