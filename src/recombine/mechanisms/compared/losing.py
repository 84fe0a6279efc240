"""What is lost on unseen combinations of what is known of seen ones, where a gap within the margin would hide it.

A margin is in units of all that varies. Where one factor makes nearly all of it, or one class is rare, a learner can
lose all it knows of the rest within the margin. So a loss is also held against what there was to lose, (unseen − seen)
/ (always the same answer − seen), and against a simple rule on the same rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc

from recombine.mechanisms.answers.answered import Answers
from recombine.mechanisms.answers.names import NOTHING, share
from recombine.mechanisms.answers.probabilities import SMALLEST
from recombine.mechanisms.compared.baselines import CONSTANT
from recombine.mechanisms.compared.comparing import Compared, Comparison, average, noise_within, shares_cost, unread
from recombine.mechanisms.compared.known_rows import FEWEST_FREE, noise_left
from recombine.statistics import FEW, FloatArray, Interval, Over

LITTLE = 0.9
"""An error below this share of what always giving the same answer costs is an error of something learnt."""
HALF, QUARTER = 0.5, 0.25
"""More than half lost is a failure, more than a quarter is composing in part."""
TIMES = 2.0
"""An error this many times that of seen combinations and of a simple rule is no harmless gap, …"""
SURE, SURELY = 0.01, 2.33
FEWEST_NUMBERS = 3
"""Unseen combinations that one number for all of them is told by."""
RANKED = 1_000
"""Combinations of either side whose errors are ranked."""
HARMLESS = 0.02
"""… unless it is below this share of the margin, and no noise says what is small."""

LEAK = (
    "rows of seen combinations are answered better than their noise allows, unseen ones not clearly, or hardly, worse "
    "than it does: a leak of training rows into the test rows, or more than the factors is read of them"
)


def lost_beyond(
    part: float, answers: Answers, comparison: Comparison, over: Over, error: FloatArray, gap: Interval
) -> Interval:
    """(unseen − seen) − part · (constant − seen), the constant's errors on the unseen rows: above 0 where more than
    this part is lost of what it knows of new rows of seen combinations, beyond always giving the same answer. No
    number where it knows nothing of them, or nothing is lost. ``error``: beyond the noise."""
    rule, at, away = comparison.rules.get(CONSTANT), answers.compared, answers.unseen
    if rule is None or not (answers.like and comparison.better_on_seen.high < 0 and gap.low > 0):
        return Interval(float("nan"))
    constant = answers.errors_of(rule.answers)[None] - (answers.error - error).mean(axis=0, keepdims=True)
    return average(answers, over, (1.0, error, away), (-part, constant, away), (part - 1.0, error, at))


def below_constant(answers: Answers, comparison: Comparison, gap: Interval) -> bool:
    """Whether unseen combinations are answered clearly worse than by always giving the same answer, and new rows of
    seen ones are not."""
    constant, better = comparison.constant, comparison.better_on_seen
    return (
        constant is not None and answers.like and gap.low > 0 and constant.difference.low > 0 and bool(better.low <= 0)
    )


def collapsed(answers: Answers, comparison: Comparison) -> bool:
    """The same, where a few combinations that err most make intervals of means that reach anywhere: whether rows of
    unseen ones are answered worse than by always giving the same answer, for certain and by more than a quarter of what
    that costs, and unseen combinations rank above seen ones in how much worse (Mann and Whitney), both one-sided at
    .01. The first is of these rows, however much combinations differ; the second of combinations, so that who is as bad
    at seen ones does not count."""
    rule, at, away = comparison.rules.get(CONSTANT), answers.compared, answers.unseen
    if rule is None or not (answers.like and away.any()) or not np.isfinite(answers.error).all():
        return False
    always = answers.errors_of(rule.answers)
    more = answers.error.mean(axis=0) - always
    if not more[away].mean() > QUARTER * always[away].mean() or not ranks_above(more[away], more[at]):
        return False
    if answers.classes is not None:
        usual = int(rule.answers[0].argmax())
        due = answers.target[:, usual]
        both = answers.hits[:, usual] if answers.hits is not None else due * answers.predicted.mean(axis=0)[:, usual]
        n = answers.counts
        worse, better = (round(float((n * part)[away].sum())) for part in (due - both, due - more - both))
        return bool(worse and bdtrc(worse - 1, worse + better, 0.5) <= SURE)
    each = noise_within(answers)
    if each is None:
        return False
    apart = answers.predicted.mean(axis=0) - rule.answers
    doubt = 4 * np.square(apart).mean(axis=1) * each / answers.scale / answers.counts
    return bool(more[away].sum() > SURELY * np.sqrt(doubt[away].sum()))


def ranks_above(one: FloatArray, two: FloatArray) -> bool:
    """Whether the numbers of one side rank above those of the other (Mann and Whitney, one-sided at .01); of very many
    the first are ranked."""
    one, two = one[:RANKED], two[:RANKED]
    above = float((one[:, None] > two[None]).mean() + (one[:, None] == two[None]).mean() / 2)
    return above - 0.5 > SURELY * float(np.sqrt((len(one) + len(two) + 1) / (12 * len(one) * len(two))))


def shortfall(comparison: Comparison, seen: Interval, unseen: Interval, margin: float) -> str:
    """The simple rule that says that a gap within the margin matters, where one does: unseen combinations cost clearly
    more than seen ones and than this rule on the same rows, and more than twice as much. What noise leaves is in all of
    these errors, so that a gap that is small beside the noise does not count."""
    rules: list[Compared] = [c for c in comparison.others if c.rule and c.difference.low > 0]
    small = max(seen.high, 0.0 if comparison.floor.mean > 0 else HARMLESS * margin)
    worse = [c for c in rules if unseen.low > TIMES * max(small, c.error.high)]
    return min(worse, key=lambda c: c.error.mean).name if worse else ""


def mostly_lost(answers: Answers, comparison: Comparison, beyond: FloatArray, away: NDArray[np.bool_]) -> bool:
    """Whether by mean errors, whatever their intervals, more than half is lost at the combinations ``away`` of what is
    known of seen ones beyond always giving the same answer: that is no composing in part. ``beyond``: errors beyond the
    noise."""
    at, rule = answers.compared, comparison.rules.get(CONSTANT)
    if rule is None or not (at.any() and away.any()):
        return False
    seen, own = max(0.0, float(beyond[:, at].mean())), float(beyond[:, away].mean())
    always = own + float(answers.errors_of(rule.answers)[away].mean() - answers.error[:, away].mean())
    return own > always or own - seen > HALF * (always - seen)


def leaked(answers: Answers, comparison: Comparison, over: Over) -> bool:
    """Whether new rows of seen combinations are answered clearly better than rows of one combination allow, and unseen
    ones not clearly worse by more than a quarter of that, nor on average by more than that: then the gap is what was
    known of the rows, and not of the factors. It is the noise that they are held against: the margin may be many times
    as much, and what few rows leave open is a part of it. Classes of few rows tell too much noise; but whoever knows
    the factors alone misses at least the rows that have not the usual class."""
    each, at, away = noise_within(answers), answers.compared, answers.unseen
    constant = comparison.constant
    if each is None or constant is None or not answers.like:
        return False
    if answers.classes is None and int((answers.counts[at] - 1).sum()) < FEWEST_FREE and not noise_left(answers) < 1:
        return False  # Single rows have the noise of others, which may be noisier than these.
    if unread(answers, away) < HALF:
        return False  # Rows of unseen ones are told apart too: by what is read of them, as no leak shows these.
    least = each if answers.classes is None else 1 - answers.target.max(axis=1)
    if not answers.error[:, away].mean() < LITTLE * constant.error.mean:
        return False  # Of unseen ones nothing is known at all.
    seen, unseen = (
        average(answers, over, (1.0, answers.error - noise, mask)) for noise, mask in ((least, at), (each, away))
    )
    # Else seen ones were lucky, and what unseen ones cost beyond the noise is no less for it.
    return seen.high < 0 and unseen.low <= QUARTER * -seen.mean and unseen.mean <= -seen.mean


def one_answer(answers: Answers, at: NDArray[np.bool_]) -> bool:
    """Whether all of these combinations get one and the same answer; of probabilities, one and the same too, or ones
    that do no better than training's shares."""
    said, loss, sure = answers.predicted[:, at].mean(axis=0), *map(answers.scores.get, ("log loss", "confidence"))
    if not len(said) or (np.ptp(said, axis=0) > NOTHING * max(1.0, float(np.abs(said).max()))).any():
        return False
    if answers.classes is not None and said.max() < 1 - NOTHING:
        return False  # Alike on average alone.
    if sure is not None and np.ptp(sure[:, at]) <= NOTHING:
        return True
    return loss is None or answers.trained is None or loss[:, at].mean() > shares_cost(answers)[at].mean() - NOTHING


def nothing_left(answers: Answers) -> bool:
    """Whether all unseen combinations get one and the same answer where seen ones do not; a few may be alike by chance,
    classes the more so, and one always is."""
    at = answers.unseen
    if int(at.sum()) < (FEWEST_NUMBERS if answers.classes is None else FEW):
        return False
    differ = np.ptp(answers.target[at], axis=0).max() > NOTHING
    return bool(differ) and one_answer(answers, at) and not one_answer(answers, answers.compared)


def one_is_near(answers: Answers, comparison: Comparison, noise: float) -> bool:
    """Whether all unseen combinations get one and the same number where seen ones do not, and a quarter or more is left
    of what always giving training's mean costs there beyond the ``noise``: what is near to it tells nothing."""
    constant = comparison.constant
    if answers.classes is not None or not nothing_left(answers):
        return False
    own = float(answers.error[:, answers.unseen].mean())
    return constant is None or own - noise >= QUARTER * (constant.error.mean - noise)


def unsure_probabilities(answers: Answers, over: Over) -> str:
    """That probabilities lose more than half of what they say of seen combinations, in a clause, where their log loss
    does against that of always giving the shares of training, or that they are worse than these; of noisy answers
    beyond what rows of one combination leave to anyone, where classes are noisier at unseen ones."""
    loss = answers.scores.get("log loss")
    if loss is None or answers.trained is None or answers.classes is None or not answers.like:
        return ""
    at, away = answers.compared, answers.unseen
    if min(at.sum(), away.sum()) < FEW:
        return ""
    constant = shares_cost(answers)[None]
    # What the classes of each combination leave open, and what few rows hide of it (Miller and Madow).
    shares = np.maximum(answers.target, SMALLEST)
    left = -(answers.target * np.log(shares)).sum(axis=1)
    left = left + ((answers.target > 0).sum(axis=1) - 1) / (2 * answers.counts)
    known, there = (
        average(answers, over, (1.0, loss, mask), (-1.0, constant, mask), shares=False) for mask in (at, away)
    )
    sides = (float(loss[:, at].mean()), float(loss[:, away].mean()), float(constant[:, away].mean()))
    # Clearly worse than training's shares, which new rows of seen ones are not: however little is known of these.
    apart = average(answers, over, (1.0, loss, away), (-1.0, loss, at), shares=False)
    below = there.low > 0 and known.low <= 0 and apart.low > 0
    for noise in () if below else (np.zeros_like(left), left):
        own, same = loss - noise, constant - noise
        gap = average(answers, over, (1.0, own, away), (-1.0, own, at), shares=False)
        lost = average(answers, over, (1.0, own, away), (-HALF, same, away), (HALF - 1.0, own, at), shares=False)
        if not (known.high < 0 and gap.low > 0 and lost.low > 0):
            return ""
    seen, unseen, always = map(share, sides)
    return (
        f"its probabilities are worse: log loss {unseen} on unseen against {seen} on seen ones, where always giving "
        f"training's shares costs {always}"
    )
