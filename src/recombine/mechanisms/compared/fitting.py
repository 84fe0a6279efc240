"""Did a learner fit what it was trained on; and where it did so in part alone, does it fail on unseen combinations?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recombine.mechanisms.answers.answered import Answers
from recombine.mechanisms.answers.names import NOTHING, ranged, share, told_apart
from recombine.mechanisms.compared.baselines import CONSTANT
from recombine.mechanisms.compared.comparing import GIVEN, Comparison, errors_left_out, most_wrong
from recombine.mechanisms.compared.gap import Gap
from recombine.mechanisms.compared.losing import HALF, LITTLE, below_constant, collapsed, one_answer
from recombine.mechanisms.compared.rare import usual_is_best
from recombine.statistics import FEW, FloatArray, interval

KNOWS_MORE = 0.5
MOST_LEVELS = 800
"""Levels beyond which it is not told whether the levels of unseen combinations are the harder ones."""


def fitted_members(answers: Answers, comparison: Comparison, fitted: float) -> tuple[NDArray[np.bool_], str]:
    """Members that learnt what they were trained on (all, where that cannot be said), and what keeps the others out.

    A member fitted if its training error exceeds by at most ``fitted`` what the noise leaves, or is less than half of
    what the best simple rule leaves on combinations that it was fitted without, and if it is less than always giving
    the same answer costs. Where the noise is not known, it is enough not to do clearly worse than the best simple rule,
    which has the training rows of other combinations to go by."""
    error, floor, best = answers.training_error, comparison.floor.high, comparison.best_on_seen
    finite = np.isfinite(answers.error[:, answers.seen]).all(axis=1) & np.isfinite(answers.error).any(axis=1)
    inside = _noise_of_training(answers) if comparison.floor.over != GIVEN else 0.0
    allowed = fitted + np.nan_to_num(max(floor, inside))
    noise = f"{share(inside)} among training rows" if inside > floor else ranged(comparison.floor)
    most = f"more than {fitted:g}" + f" above the noise of {noise}" * bool(allowed > fitted)
    if np.isnan(floor) and best > fitted:
        allowed, most = best, "clearly more than the {limit} of the best simple rule"
        allowed = np.inf if _may_be_as_good(answers, comparison) else allowed
    elif KNOWS_MORE * best > allowed:
        allowed = KNOWS_MORE * best
        most = "more than the {limit} that would count, half of what the best simple rule leaves"
    constant, clearly = comparison.trained_constant, comparison.better_on_seen
    unseen = comparison.constant.difference if comparison.constant is not None else clearly
    knows = comparison.chances or any(d.bounded and d.high < 0 for d in (clearly, unseen))
    bound = constant if knows else LITTLE * constant
    nothing = hardly_anything(answers, comparison) if comparison.floor.bounded else ""
    # Where there is hardly anything to learn, who does as well as the noise allows may have learnt it. Rare classes are
    # answered alike at most combinations, and a few rows more or less are right by chance.
    rare = answers.classes is not None and constant <= HALF and answers.trained is not None
    if rare and (nothing or (error <= floor).any()) and not one_answer(answers, np.ones_like(answers.seen)):
        assert answers.trained is not None
        bound = max(bound, NOTHING + most_wrong(constant, float(answers.trained.weights.sum())))
    elif nothing and not one_answer(answers, answers.compared):
        bound = constant + NOTHING
    if _chances_of_a_rare_event(answers):
        bound = max(bound, constant + NOTHING + _open_beside_one(answers, comparison))
    keep = finite & (np.isnan(error) | ((error <= allowed) & (np.isnan(bound) | (error < bound))))
    if keep.any() or not finite.any():
        return keep, "" if keep.any() else "its answers are not finite numbers, and count as wrong"
    own = float(np.nanmean(error[finite]))
    there = "there" if answers.trained_rows else "on new rows of seen combinations"
    error_there, limit = told_apart(own, float(allowed if not own >= bound else constant))
    why = f"its error {there} is {error_there}, "
    if not own >= bound:
        return keep, f"{why}{most.format(limit=limit)}"
    if own < constant * (1 - 1e-12):
        why += f"not clearly less than the {limit} that always giving the same answer costs"
        return keep, why + f"; {nothing}" * bool(nothing)
    return keep, why + (f"and {nothing}" if nothing else f"where always giving the same answer costs {limit}")


def _may_be_as_good(answers: Answers, comparison: Comparison) -> bool:
    """Whether the interval of the difference to the best simple rule, by training combination, leaves it open that
    there is none. A truth that knows no row may err more than what was fitted to its neighbours."""
    trained, rule = answers.trained, min((c for c in comparison.others if c.rule), key=lambda c: c.seen, default=None)
    if trained is None or trained.said is None or rule is None or len(answers.members) > 1:
        return False
    best = comparison.rules[rule.name]
    said, right = trained.said[best.tried], trained.answers[best.tried]
    own = 1 - (said * right).sum(axis=1) if answers.classes is not None else (
        np.square(said - right).mean(axis=1) / answers.scale + trained.within
    )  # fmt: skip
    apart = interval(own - errors_left_out(answers, best))
    return not apart.low > 0


def _chances_of_a_rare_event(answers: Answers) -> bool:
    """Whether chances that differ are judged as numbers (`rare.py`): true ones may err more than their mean on few
    rows."""
    return answers.classes is None and "log loss" in answers.scores and float(np.ptp(answers.predicted)) > NOTHING


def _open_beside_one(answers: Answers, comparison: Comparison) -> float:
    """By how much the training error may exceed what one answer costs and be no more by chance (95 %, over the rows of
    training combinations)."""
    trained, rule = answers.trained, comparison.rules.get(CONSTANT)
    if trained is None or trained.said is None or rule is None:
        return 0.0
    said, right, rows = trained.said[rule.tried], trained.answers[rule.tried], trained.weights[rule.tried]
    own = np.square(said - right).mean(axis=1) / answers.scale + trained.within
    apart = own - errors_left_out(answers, rule)
    mean, whole = np.average(apart, weights=rows), float(rows.sum())
    return float(1.96 * np.sqrt(np.square(rows * (apart - mean)).sum()) / whole)


def in_part(answers: Answers, comparison: Comparison, unfit: str) -> str:
    """How far it fitted its training data, in a clause with what keeps it from counting as fitted."""
    if float(np.nanmean(answers.training_error)) < comparison.trained_constant * (1 - 1e-12):
        return f"it fitted its training data in part alone: {unfit}"
    return f"on its training data it is no better than always giving the same answer: {unfit}"


def _noise_of_training(answers: Answers) -> float:
    """How far training answers differ within combinations, in units of the error; 0 where single rows do not tell.
    Rows asked about may be less noisy, as of rare events some combinations have more than others."""
    trained = answers.trained
    if trained is None or trained.borrowed:
        return 0.0
    if answers.classes is not None:
        return float(np.average(1 - trained.answers.max(axis=1), weights=trained.weights))
    rows = float(trained.weights.sum())
    return trained.within * rows / max(1.0, rows - len(trained.weights))


def hardly_anything(answers: Answers, comparison: Comparison) -> str:
    """That there is hardly anything to learn, in a clause, where neither rows that share a combination nor simple rules
    nor the learner's probabilities speak against it."""
    floor, costs, best = comparison.floor, comparison.floor_constant, comparison.best_on_seen
    if (
        comparison.chances
        or not best >= LITTLE * comparison.trained_constant
        or (floor.bounded and not floor.high >= LITTLE * costs)
    ):
        return ""
    if not floor.bounded:
        return f"no simple rule finds anything to learn: the best of them leaves {share(best)}"
    what = "the rows" if usual_is_best(answers) is None else "classes"
    return (
        f"as far as {what} tell there is hardly anything to learn: the noise is an error of {ranged(floor)}, where "
        f"always giving the same answer costs {share(costs)} on the rows asked about"
    )


def fails_though_unfitted(answers: Answers, comparison: Comparison, gap: Gap, margin: float) -> bool:
    """Whether a learner that fitted in part alone fails on unseen combinations all the same: on new rows of seen ones
    it knows more than always giving the same answer does, on unseen ones it does not; and that is no matter of levels,
    so that one that is too weak for some of them, seen and unseen alike, does not count. Also where there is hardly
    anything to know, if unseen ones are answered clearly worse than by always giving the same answer. Never where
    training rows are: nothing was fitted then that could be lost."""
    constant, beyond = comparison.constant, gap.beyond.mean(axis=0)
    if constant is None or not (answers.like and gap.width.bounded and gap.width.low > margin):
        return False
    if float(np.nanmean(answers.training_error)) > comparison.trained_constant + NOTHING:
        return False
    if below_constant(answers, comparison, gap.varied) or collapsed(answers, comparison):
        return _least_gap_at_equal_levels(answers, beyond) > 0
    seen, unseen = (float(answers.error[:, at].mean()) for at in (answers.compared, answers.unseen))
    knew = seen < LITTLE * (seen - comparison.better_on_seen.mean)
    knows = unseen < LITTLE * constant.error.mean
    return knew and not knows and _least_gap_at_equal_levels(answers, beyond) > 0


def _least_gap_at_equal_levels(answers: Answers, error: FloatArray) -> float:
    """The lower end of a 95 % interval for how much larger errors of unseen combinations are than those of seen ones
    with the same levels: the coefficient of *unseen* in a sum of effects of levels; minus infinity where levels leave
    it open."""
    shape = answers.space.shape if answers.space.finite else ()
    if not shape or sum(shape) > MOST_LEVELS:
        return -np.inf
    at = answers.compared | answers.unseen
    codes, error, unseen = answers.codes[at].astype(np.int64), error[at], answers.unseen[at].astype(np.float64)
    levels = np.concatenate([np.eye(n)[codes[:, j]] for j, n in enumerate(shape)], axis=1)
    own, _, rank, _ = np.linalg.lstsq(levels, np.stack([unseen, error], axis=1), rcond=None)
    alone, left = (np.stack([unseen, error], axis=1) - levels @ own).T
    size = float(alone @ alone)
    if size < 1e-6 * len(alone):
        return -np.inf
    weight = alone / size
    value, free = float(weight @ left), len(error) - int(rank) - 1
    if free >= FEW:
        spread = np.square(left - value * alone) * len(error) / free
    elif answers.classes is not None:
        count = answers.counts[at] + 2  # One example more of each kind, as for shares of few combinations.
        smooth = (np.clip(error, 0, 1) * (count - 2) + 1) / count
        spread = smooth * (1 - smooth) / count
    else:
        return -np.inf
    return value - 1.96 * float(np.sqrt(np.square(weight) @ spread))
