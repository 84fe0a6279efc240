"""Which verdict the numbers allow: the gap against the margin, the noise, what was known, and simple rules."""

from __future__ import annotations

from math import prod

import numpy as np
from scipy.special import bdtrc

from recombine.mechanisms.answers.answered import Answers
from recombine.mechanisms.answers.finding import FEWEST
from recombine.mechanisms.answers.names import NOTHING, brief, ranged
from recombine.mechanisms.compared.comparing import Comparison, average, most_wrong, noise_within
from recombine.mechanisms.compared.fitting import hardly_anything
from recombine.mechanisms.compared.gap import Gap
from recombine.mechanisms.compared.losing import (
    HALF,
    LITTLE,
    QUARTER,
    TIMES,
    below_constant,
    collapsed,
    lost_beyond,
    ranks_above,
    shortfall,
)
from recombine.mechanisms.compared.overfitting import better_on_training_rows
from recombine.mechanisms.rivals.by_heart import ByHeart, by_heart
from recombine.mechanisms.rivals.dealt import nearer_than_dealt
from recombine.mechanisms.rivals.few_rows import one_alone
from recombine.statistics import FloatArray, Interval, Over, more_often

NAME_IT = "name the gap that matters (margin)"
MOST_TIMES = 20
"""More data than this many times as much is no advice."""
FEWEST_DEALT = 3
"""Of planted sums that answer what does not add up, 8 % were near at two unseen combinations, 4.5 % at three."""
ONE_FOR_ALL = "always giving the same answer is clearly better there"
ALTOGETHER = "whether it fails altogether is open"
"""Where composing is ruled out, and more than a part may be lost."""
WORSE = "worse than seen ones"
KNEW = "of what it knows of seen ones, beyond always giving the same answer,"

NOISIER = (
    "rows of unseen combinations are noisier than others, and so few of them share a combination that noise may make "
    "all of the gap: take more rows of each"
)


def decide(
    answers: Answers, gap: Gap, comparison: Comparison, over: Over, margin: float, fitted: float, speaks: bool
) -> tuple[str, str]:
    """The verdict, and in a clause what decided it where numbers alone do not say. ``speaks``: whether the answers
    speak for a mechanism. However wide intervals are, answers that are far worse than one for all fail."""
    verdict, why = _by_intervals(answers, gap, comparison, over, margin, fitted, speaks)
    return ("fails", ONE_FOR_ALL) if verdict == "unclear" and collapsed(answers, comparison) else (verdict, why)


def _by_intervals(
    answers: Answers, gap: Gap, comparison: Comparison, over: Over, margin: float, fitted: float, speaks: bool
) -> tuple[str, str]:
    if not answers.unseen.any():
        return "nothing unseen", ""
    if not answers.seen.any():
        return "nothing seen", ""
    if not gap.width.bounded:
        sides = f"{int(answers.unseen.sum()):,} unseen and {int(answers.compared.sum()):,} seen combinations"
        return "unclear", f"the gap has no interval, as {sides} were asked about; it takes two of each"
    if below_constant(answers, comparison, gap.varied):
        return "fails", ONE_FOR_ALL
    half, quarter = (lost_beyond(s, answers, comparison, over, gap.beyond, gap.varied) for s in (HALF, QUARTER))
    if half.low > 0 and gap.width.low <= margin:
        return "fails", f"more than half {KNEW} is lost"
    informed = _informed(answers, gap, comparison, margin)
    known = answers.like and comparison.better_on_seen.high < 0
    nothing = "" if informed or known else hardly_anything(answers, comparison)
    overfits = _overfits(answers, gap.seen, comparison, over, margin, fitted)
    if gap.varied.high > margin:  # What so few leave open that are all right is said: as far as these tell.
        return _past_the_margin(answers, gap, comparison, over, margin, speaks, nothing, overfits)
    if nothing:
        return "unclear", nothing
    if overfits:
        return "overfits", ""
    if not informed:
        few = int(answers.unseen.sum())
        exist = prod(answers.space.shape) if answers.space.finite else np.inf
        more = f"; {few} unseen combinations tell little" * (few < FEWEST)
        more += f": hold out {FEWEST} or more" * (few < FEWEST and exist >= 2 * FEWEST)
        return "unclear", f"always giving the same answer is not clearly worse there{more}"
    return _within_the_margin(answers, gap, comparison, over, margin, half, quarter, speaks)


def _informed(answers: Answers, gap: Gap, comparison: Comparison, margin: float) -> bool:
    """Whether unseen combinations are answered better than by always giving the same answer."""
    constant, lost = comparison.constant, gap.lost
    informed = constant is None or constant.difference.high < 0
    enough = int(answers.unseen.sum()) >= FEWEST  # Fewer do not tell what one answer would cost elsewhere.
    informed |= FEWEST_DEALT <= int(answers.unseen.sum()) < FEWEST and nearer_than_dealt(answers)
    if enough and constant is not None and constant.error.mean - lost > (margin if lost > 0 else 0.0):
        # What noise costs, it costs both; where that is little more than the other's error, neither knows anything.
        informed |= gap.excess.high < (constant.error.mean - lost) / 2
    return informed and not (answers.like and comparison.better_on_seen.mean >= 0)  # Else it was lucky.


def _within_the_margin(
    answers: Answers, gap: Gap, comparison: Comparison, over: Over, margin: float, half: Interval, quarter: Interval,
    speaks: bool,
) -> tuple[str, str]:  # fmt: skip
    """Composing, unless too much is lost of what was known of seen combinations, or may be."""
    width, open_ = gap.width, not _as_the_rule(comparison, gap.lost)
    if quarter.low > 0 and open_:
        return "partly", f"the gap is within the margin of {margin:g}, but more than a quarter {KNEW} is lost"
    if width.low > 0 and (rule := shortfall(comparison, gap.seen, gap.unseen, margin)):
        favoured = None if answers.like else by_heart(answers, comparison, over, margin)
        worse = f"it is worse than on seen ones and than {rule}, by less than the margin of {margin:g}"
        if favoured is None or (width.low > favoured.most and (favoured.bounds or speaks)):
            return "partly", worse
        return "unclear", f"{worse}, and with more than twice their error; but {favoured.bound}: {favoured.advice}"
    if quarter.mean > 0 and half.high > 0 and open_:
        return "unclear", f"the gap is within the margin of {margin:g}, but more than half {KNEW} may be lost"
    # Else it may be the noise.
    if not (width.low > 0 and gap.excess.low > 0 and gap.unseen.mean > gap.seen.mean):
        return "composes", ""
    twice = average(answers, over, (1.0, answers.error, answers.unseen), (-TIMES, answers.error, answers.compared))
    times = ", with more than twice their error" * (answers.classes is None and twice.low > 0)
    return "composes", f"{WORSE}{times}, but by less than the margin of {margin:g}"


def _past_the_margin(
    answers: Answers, gap: Gap, comparison: Comparison, over: Over, margin: float, speaks: bool, nothing: str,
    overfits: bool,
) -> tuple[str, str]:  # fmt: skip
    """Failing where that is certain, whatever training rows may be favoured by; else that it is unclear, and why."""
    width, excess, unseen, best = gap.width, gap.excess, gap.unseen, comparison.best
    favoured = None if answers.like else by_heart(answers, comparison, over, margin)
    most = 0.0 if favoured is None else favoured.most
    low = width.low - most
    worse = best is not None and best.difference.low > 0
    if low <= margin and excess.high <= margin and _beats_any_one(answers, gap, comparison, margin) and not worse:
        return "composes", "as well as the noise allows"  # However much errors on seen combinations vary.
    # No gap is larger than what unseen combinations cost beyond the noise: beyond that, seen ones were lucky.
    clear = low > margin and excess.low > margin
    failing = _failing(answers, gap, margin) if answers.like and width.mean > margin else ""
    # Wrong answers that follow a rule, at combinations whose errors are larger one by one, are no accident however
    # much errors vary.
    likely = speaks and width.mean > margin + most and (answers.like or width.low > 0)
    certain = clear or bool(failing) or (likely and _larger(answers, most))
    certain &= excess.mean - gap.doubt > margin or gap.doubt == 0
    if not certain or not (favoured is None or favoured.bounds or speaks):
        if overfits:
            return "overfits", "and whether it fails on unseen combinations besides is not clear"
        sure = "" if favoured is None else _all_the_same(answers, comparison, margin)
        return "unclear", ". ".join(filter(None, [nothing or _open(answers, gap, margin, favoured), sure]))
    if nothing:
        return "unclear", nothing
    left = "the gap" if width.low <= margin else (
        "what noise known by heart leaves of the gap" if low <= margin else "what unseen ones cost beyond the noise"
    )  # fmt: skip
    ground = [] if clear else [failing] if failing else [
        f"{left} reaches across the margin of {margin:g}, but errors of unseen combinations rank above those of seen "
        "ones (p < 0.01), and there is evidence of a mechanism"
    ]  # fmt: skip
    if favoured is not None:
        rule = ", but its wrong answers to unseen combinations follow a rule, which no gap is needed to see"
        ground.append(favoured.bound + rule * (not favoured.bounds))
    adding = comparison.adding or best
    beaten = adding is not None and adding.difference.bounded and adding.difference.high < 0 and not worse
    plain = min([comparison.own_constant, *([adding.error.mean] if adding is not None else [])])
    part = beaten and unseen.mean - gap.seen.mean < plain - unseen.mean
    return "partly" if part else "fails", "; ".join(ground)


def _beats_any_one(answers: Answers, gap: Gap, comparison: Comparison, margin: float) -> bool:
    """Whether unseen combinations are answered better than by the best one answer for all of them: for certain or, of
    classes, as what is left beyond the noise is less than half of what that costs beyond it (`_informed`)."""
    one = comparison.own_constant
    if gap.unseen.high < one:
        return True
    enough = answers.classes is not None and int(answers.unseen.sum()) >= FEWEST and one - gap.lost > margin
    return enough and gap.excess.high < (one - gap.lost) / 2


def _open(answers: Answers, gap: Gap, margin: float, favoured: ByHeart | None) -> str:
    """Why it is not clear whether a gap past the margin is a failure, in a clause."""
    if gap.doubt > 0 and gap.width.low > margin:
        return NOISIER
    if gap.width.low <= margin:
        return _across(gap, margin, answers, favoured)
    if favoured is not None:
        return f"{favoured.bound}: {favoured.advice}"
    return (
        f"of the error on unseen combinations {ranged(gap.excess)} lies beyond the noise, not clearly more than the "
        f"margin of {margin:g}: seen ones may have been answered well by chance"
    )


def _all_the_same(answers: Answers, comparison: Comparison, margin: float) -> str:
    """What is certain though seen combinations have training rows alone, in a clause: that a simple rule, which had the
    same rows, does better on unseen ones, clearly and by more than the margin."""
    best = comparison.best
    if best is None or not (best.difference.low > 0 and best.difference.mean > margin):
        return ""
    known = "Training rows are answered exactly, and whatever" if answers.training_error.max() < NOTHING else "Whatever"
    return (
        f"{known} explains the gap, {brief(best.name)} does better on unseen ones with the same training rows: by "
        f"{ranged(best.difference)}"
    )


def _as_the_rule(comparison: Comparison, noise: float) -> bool:
    """Whether a simple rule that knows more than one answer, fitted to the same rows, does no better: what is lost is
    then what few rows leave open."""
    constant, best = comparison.constant, comparison.best
    if constant is None or best is None:
        return False
    knows = best.error.mean - noise < LITTLE * (constant.error.mean - noise)
    return knows and best.difference.low <= 0 <= best.difference.high


def _across(gap: Gap, margin: float, answers: Answers, favoured: ByHeart | None) -> str:
    """That the gap reaches across the margin, and what would tell: intervals narrow with the root of what they are
    over."""
    start = f"the gap reaches across the margin of {margin:g}"
    width = gap.width
    if favoured is not None:
        return f"{start}, and training rows of seen combinations favour them: {favoured.advice}"
    if alone := one_alone(answers):
        return f"{start}; {alone}"
    away = width.low - width.mean if width.mean > margin else width.high - width.mean
    times = float(np.square(away / (width.mean - margin))) if width.mean != margin else np.inf
    members = len(answers.members)
    rows = width.over == "examples"
    what = "rows (of seen and unseen combinations)" if rows else "combinations (seen and unseen)"
    what += " or members" * (members > 1)
    exist = prod(answers.space.shape) if answers.space.finite else np.inf
    if members == 1 and not rows and times * len(answers.codes) > exist:  # Advice that cannot be followed is none.
        instead = _instead(answers, gap.beyond.mean(axis=0), times, int(exist)) if times <= MOST_TIMES else ""
        if instead:
            return f"{start}: if it stays where it is, {instead} would tell"
        more = "take many more rows of each, " * (noise_within(answers) is not None)
        return f"{start}; all {exist:,} combinations are too few to tell: {more}ask about more levels, or {NAME_IT}"
    if times > MOST_TIMES:
        told = f"it would take more than {MOST_TIMES} times as many {what} to tell"
        return f"{start}: if it stays where it is, {told}; or {NAME_IT}"
    times = max(1.1, np.ceil(10 * times) / 10)
    return f"{start}: if it stays where it is, {times:.2g} times as many {what} would tell"


def _instead(answers: Answers, error: FloatArray, times: float, exist: int) -> str:
    """What narrows the gap as much as so many times as many combinations, more than exist, would: more of these held
    out, or more rows of each where it is these that errors vary with. Nothing where neither does."""
    sides = [np.flatnonzero(mask) for mask in (answers.unseen, answers.compared)]
    spread = [float(error[at].var(ddof=1)) for at in sides]
    (unseen, seen), whole = map(len, sides), sum(s / len(at) for s, at in zip(spread, sides, strict=True))
    held = np.arange(unseen + 1, exist // 2 + 1)
    left = spread[0] / held + spread[1] / ((exist - held) * seen / max(1, int(answers.seen.sum())))
    if whole > 0 and (left <= whole / times).any():
        return (
            f"holding out about {held[left <= whole / times][0]:,} of the {exist:,} combinations instead of {unseen:,}"
        )
    noise, n = noise_within(answers), answers.counts
    if noise is None or not whole > 0:
        return ""
    by_row = (4 * error.clip(0) * noise / n + 2 * np.square(noise / n)) if answers.classes is None else (
        error.clip(0, 1) * (1 - error.clip(0, 1)) / np.maximum(n - 1, 1)
    )  # fmt: skip
    part = min(1.0, sum(float(by_row[at].mean()) / len(at) for at in sides) / whole)
    need = part / (1 / times - 1 + part) if 1 / times - 1 + part > 0 else np.inf
    return f"about {max(2.0, np.ceil(need)):.0f} times as many rows of each combination" * (need <= MOST_TIMES)


def _failing(answers: Answers, gap: Gap, margin: float) -> str:
    """That most unseen combinations err by more than the margin beyond the mean and the median of seen ones, beyond all
    that this mean may stand for and beyond the noise, in a clause, where a sign test shows it, and that seen ones do so
    less often (Fisher; each one-sided at .025). A few that err most make an interval of the mean that reaches anywhere.
    Of a learner that answers unseen ones as seen ones at most half exceed the mean of seen ones where errors are skewed
    to the right, and at most half the median; where most are wrong everywhere, few right ones pull the mean down. Where
    no row of seen ones is wrong, this mean may stand for what so many rows leave open: that some of them err all the
    same is what Fisher's test asks."""
    each, at, beside = answers.error.mean(axis=0), answers.unseen, answers.compared
    usual = max(float(each[beside].mean()), float(np.median(each[beside])))
    seen = gap.seen.high if gap.seen.bounded else 0.0
    if answers.classes is not None and not answers.error[:, beside].any():
        seen = most_wrong(0.0, float(answers.counts[beside].sum()))
    least = max(usual + margin, seen)
    above = (each > least) & (gap.beyond.mean(axis=0) > margin)
    count, of = int(above[at].sum()), int(at.sum())
    if bdtrc(count - 1, of, 0.5) > 0.025 or more_often(count, of, int(above[beside].sum()), int(beside.sum())) > 0.025:
        return ""
    more = f"err by more than the margin of {margin:g} more than seen ones on average"
    return f"{count:,} of {of:,} unseen combinations {more}"


def _larger(answers: Answers, favoured: float) -> bool:
    """Whether errors at unseen combinations rank above those at seen ones, these raised by what favours them (Mann and
    Whitney, one-sided at .01). Squares and wrong rows are skewed, so that means of more rows rank above means of fewer:
    seen combinations are then taken together, until each lot has as many rows as an unseen one."""
    error, at, away = answers.error.mean(axis=0), answers.compared, answers.unseen
    seen, rows = error[at], (float(answers.counts[mask].mean()) for mask in (away, at))
    together = min(len(seen), max(1, round(next(rows) / next(rows))))
    if together > 1:
        lots = np.array_split(np.random.default_rng(0).permutation(seen), len(seen) // together)
        seen = np.array([lot.mean() for lot in lots])
    return ranks_above(error[away], seen + favoured)


def _overfits(
    answers: Answers, seen: Interval, comparison: Comparison, over: Over, margin: float, fitted: float
) -> bool:
    """Whether new rows of seen combinations are answered clearly worse than training rows, and so that it would not
    count as fitted on them."""
    floor = comparison.floor.mean if np.isfinite(comparison.floor.mean) else 0.0
    return seen.mean > fitted + floor and better_on_training_rows(answers, over, margin)
