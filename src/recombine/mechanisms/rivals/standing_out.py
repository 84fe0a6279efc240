"""Which unseen combinations, or which level's, are clearly wrong where others are not? A mean over many hides them.

Each is tested against the noise of its own rows or, where these are few, against the others, at a level of .05 shared
among all that are looked at. It has to be wrong by itself: another answer would be better there than the one given.
Of few unseen combinations of classes it is named with the interval of its own rows, and stands out only where seen ones
are rarely as wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc, stdtr, stdtrit

from recombine.mechanisms.answers.answered import Answers
from recombine.mechanisms.answers.names import NOTHING, brief, share
from recombine.mechanisms.compared.comparing import Comparison, average, unread
from recombine.mechanisms.compared.losing import HALF, LITTLE, QUARTER, nothing_left
from recombine.mechanisms.compared.with_training import with_training
from recombine.mechanisms.rivals.luck import at_least, by_luck, level_by_luck
from recombine.mechanisms.rivals.outlying import MOST, outlying
from recombine.statistics import FEW, FloatArray, Over, more_often
from recombine.statistics.shares import share_ends

LEVEL = 0.05
OWN_NOISE = 3.0
"""Standard errors that a mean answer has to be off by, where few rows do not tell its own, …"""
ONE_ROW = 6.0
"""… and where it is a single row: of noise with heavy tails one of a dozen is often off by three."""
MANY = 10
"""Rows beyond the first that tell the noise of a combination by themselves."""
TENTH = 0.1
"""Of what always giving the same answer costs: what one combination may cost that has most of the rows."""
MOST_NUMBERS = 7
"""Of an answer; longer ones are pictures."""
NAMED = 3
"""Combinations that are named in a sentence."""
PERMUTED, MOST_PERMUTED = 2_000, 20_000_000
"""How often errors are dealt anew among combinations; less often where there are very many."""
TOGETHER = ": more than half of what it knows of seen ones is lost, all unseen ones taken together"
NOT_SHOWN = " and the others are not shown to be"
Level = tuple[int, int]
"""The place of a factor, and the code of its level."""


@dataclass(frozen=True, eq=False)
class StandingOut:
    """What stands out among unseen combinations, and what is left of these."""

    combinations: NDArray[np.int64]
    """The worst first; without those of levels that stand out."""
    levels: tuple[Level, ...]
    rest: NDArray[np.bool_]
    alone: bool
    """Whether all the rest is as right as seen combinations are, to within the margin, …"""
    knows: bool
    """… and whether it is anything at all, beside always giving the same answer."""
    most: bool
    """Whether more than half of all are clearly wrong: these do not stand out, they are the rule."""
    lost: bool
    """Whether the rest is wrong too, and of all unseen ones together more than half is lost of what is
    known of seen ones, beyond always giving the same answer."""
    said: tuple[str, ...]
    """In a clause each."""
    weigh: str
    """Which few make most of the error beyond the noise, in a clause; none where no few do."""

    def others(self, answers: Answers) -> tuple[int, float] | None:
        """How many the rest are and how they err, where they are as right as seen ones."""
        return (int(self.rest.sum()), float(answers.error[:, self.rest].mean())) if self.alone else None


def stands_out(
    answers: Answers, comparison: Comparison, beyond: FloatArray, margin: float, seed: int, parts: int = 1
) -> StandingOut:
    """What stands out. ``beyond``: errors beyond the noise (members × combinations); ``parts``: how many numbers or
    labels of an answer are looked at, this one among them, which share the level."""
    level = LEVEL / parts
    found = standing_out(answers, comparison, level)
    levels = levels_standing_out(answers, comparison, seed, level)
    weigh = _weighing(answers, beyond)
    if len(found) and _as_often_where_seen(answers, found):
        weigh, found = words(answers, found) if _few(answers) else weigh, found[:0]
    of_levels = np.any([answers.codes[:, j] == code for j, code in levels], axis=0) & answers.unseen
    found = found[~of_levels[found]] if levels else found
    rest = answers.unseen & ~of_levels & ~np.isin(np.arange(len(answers.codes)), found)
    most = bool(2 * rest.sum() < answers.unseen.sum())
    alone = (len(found) > 0 or len(levels) > 0) and not most and not nothing_left(answers)
    # Seen ones that err by less than their noise were lucky, or leaked.
    seen = max(0.0, float(beyond[:, answers.compared].mean())) if answers.compared.any() else 0.0
    alone = alone and float(beyond[:, rest].mean()) - seen <= margin
    alike = alone and not _clearly_above(answers, beyond, rest, seed)
    constant = comparison.constant
    lost = constant is not None and not alone and _more_than_half(answers, beyond, constant.error.mean, seen)
    knows = constant is None or (
        bool(rest.any()) and float(answers.error[:, rest].mean()) < LITTLE * constant.error.mean
    )
    said = [level_words(answers, levels, alike)] if levels else []
    apart = " by itself" if len(found) == 1 else " by themselves"
    others = NOT_SHOWN if alike else apart * alone
    said += [words(answers, found, others)] if len(found) else []
    if said and not alone and not most and rest.any() and answers.compared.any():
        own = (share(float(answers.error[:, at].mean())) for at in (rest, answers.compared))
        count = "one errs" if rest.sum() == 1 else f"{int(rest.sum()):,} err"
        said.append(f"the other {count} by {', seen ones by '.join(own)}" + TOGETHER * lost)
    return StandingOut(found, tuple(levels), rest, alone, knows, most, lost, tuple(said), weigh)


def _clearly_above(answers: Answers, beyond: FloatArray, rest: NDArray[np.bool_], seed: int) -> bool:
    """Whether the others err clearly more than seen combinations do, however little."""
    if min(rest.sum(), answers.compared.sum()) < 2:
        return False
    over = Over(len(answers.members), seed)
    apart = average(answers, over, (1.0, beyond, rest), (-1.0, beyond, answers.compared))
    return apart.bounded and apart.low > 0


def _more_than_half(answers: Answers, beyond: FloatArray, constant: float, seen: float) -> bool:
    """Whether more than half is lost of what is known of ``seen`` ones beyond a constant, by the mean
    without the worst, however far that is off."""
    if answers.unseen.sum() < 2:
        return False
    each = np.sort(beyond[:, answers.unseen].mean(axis=0))
    noise = float(answers.error[:, answers.unseen].mean() - each.mean())
    own = float(each[:-1].mean())
    return own - seen > HALF * (constant - noise - seen) > 0


def standing_out(answers: Answers, comparison: Comparison, level: float = LEVEL) -> NDArray[np.int64]:
    """The unseen combinations that stand out, the worst first."""
    rows = np.flatnonzero(answers.unseen)
    if len(rows) < (2 if answers.classes else 1) or not np.isfinite(answers.error).all() or answers.classes == ("",):
        return rows[:0]
    found = _numbers(answers, comparison, rows, level) if answers.classes is None else _classes(answers, rows, level)
    return rows[found][np.argsort(-answers.error[:, rows[found]].mean(axis=0), kind="stable")]


def _few(answers: Answers) -> bool:
    """Whether unseen combinations are so few classes that they do not stand for others."""
    return answers.classes is not None and int(answers.unseen.sum()) < FEW


def _as_often_where_seen(answers: Answers, found: NDArray[np.int64]) -> bool:
    """Whether so many unseen combinations of classes would be wrong often enough if seen ones, of which some are as
    wrong, were no better (Fisher, one-sided at .05). Rows of one combination are wrong together. Of few unseen ones,
    seen ones count as wrong with most of their rows, and it is asked though none is; else those that are wrong as far
    beyond luck as the ones found, on new rows or on these and training rows together."""
    if answers.classes is None:
        return False
    if _few(answers):
        wrong = answers.error.mean(axis=0)[answers.compared] > HALF
    elif not (wrong := _as_far_beyond_luck(answers, found)).any():
        return False
    return more_often(len(found), int(answers.unseen.sum()), int(wrong.sum()), len(wrong)) > LEVEL


def _as_far_beyond_luck(answers: Answers, found: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which seen combinations are. Fewer rows may all be wrong and be luck more easily: those count below .05."""
    told = answers.unseen | (answers.compared & answers.like)
    most = by_luck(answers, told, found).max()
    wrong = {tuple(code): False for code in answers.codes[answers.compared].tolist()}
    for asked in (answers, with_training(answers)):
        if asked is None:
            continue
        rows = np.flatnonzero(asked.compared)
        wholly = asked.error.mean(axis=0)[rows] >= 1 - NOTHING
        chance = by_luck(asked, asked.unseen | (asked.compared & asked.like), rows)
        far = rows[(chance <= most) | (wholly & (chance <= LEVEL))]
        wrong |= {tuple(code): True for code in asked.codes[far].tolist()}
    return np.array(list(wrong.values()))


def levels_standing_out(answers: Answers, comparison: Comparison, seed: int = 0, level: float = LEVEL) -> list[Level]:
    """The levels whose unseen combinations together stand out from the others, the worst first.

    The largest standardised difference of means over all levels is held against its like when errors are dealt anew
    among the unseen combinations (Westfall and Young), so that all levels together are named by chance in one of twenty
    tables at most. One combination that is wholly wrong is then no reason to blame its levels. What is compared is the
    root of the error beyond that of the best answer to each combination, as squares hide all but the largest. And this
    error, and the whole of it, have to exceed those at seen combinations of the level by a quarter of what always
    giving the same answer costs, and be more than bad luck with the rows (`luck`). The next level is looked for among
    what is left, which is more than half of all."""
    constant, space, found = comparison.constant, answers.space, list[Level]()
    if (
        constant is None
        or not space.finite
        or not answers.seen.any()
        or not np.isfinite(answers.error).all()
        or answers.classes == ("",)
    ):
        return found
    cost, rng, left = _beyond_the_best(answers), np.random.default_rng(seed), answers.unseen.copy()
    size_of = np.sign(cost) * np.sqrt(np.abs(cost))
    tried = [(j, code) for j, n in enumerate(space.shape) for code in range(n)]
    while True:
        own = {(j, c): answers.codes[left, j] == c for j, c in tried}
        own = {at: here for at, here in own.items() if 2 <= here.sum() <= len(here) - FEW}
        if not own:
            return found
        member, values = np.stack(list(own.values())).astype(np.float64), size_of[left] - size_of[left].mean()
        dealt = rng.permuted(np.tile(values, (max(100, min(PERMUTED, MOST_PERMUTED // len(values))), 1)), axis=1)
        size = member.sum(axis=1)
        spread = np.sqrt(size * (1 - size / len(values)))
        apart, chance = member @ values / spread, (dealt @ member.T / spread).max(axis=1)
        j, code = list(own)[int(apart.argmax())]
        here = answers.codes[:, j] == code
        known = answers.compared & here if (answers.compared & here).any() else answers.compared
        rest = left & ~here
        sizes = (cost, answers.error.mean(axis=0))  # What noise makes of few rows of seen ones is in the second alone.
        worse = min(float(e[left & here].mean() - e[known].mean()) for e in sizes) > QUARTER * constant.error.mean
        worse &= bool(answers.error[:, rest].mean() < LITTLE * constant.error.mean)  # Else the others are no better.
        if (chance >= apart.max() - NOTHING).mean() > level or not worse or 2 * rest.sum() <= answers.unseen.sum():
            return found
        if answers.classes is not None and level_by_luck(answers, left & here, known, rng) > level / len(own):
            return found
        if answers.classes is None and _as_where_seen(answers, left & here, known) > level:
            return found
        found.append((j, code))
        left = rest


def _as_where_seen(answers: Answers, at: NDArray[np.bool_], known: NDArray[np.bool_]) -> float:
    """The chance that errors of a level are so much larger than at its seen combinations, if both are noise alike (an
    F-test): of a noisy level that is found at either."""
    unseen, seen = (float(answers.error[:, side].mean()) for side in (at, known))
    return float(fdtrc(int(at.sum()), int(known.sum()), unseen / max(seen, 1e-300)))


def _beyond_the_best(answers: Answers) -> FloatArray:
    """The error at each combination beyond that of the best one answer there, as far as its own rows tell, and as far
    as the learner does not tell these apart."""
    if answers.classes is not None:
        return np.asarray(answers.error.mean(axis=0) - unread(answers) * (1 - answers.target.max(axis=1)))
    off = np.square(answers.predicted.mean(axis=0) - answers.target).mean(axis=1) / answers.scale
    inside = 0.0 if answers.within is None else answers.within / np.maximum(answers.counts - 1, 1)
    return np.asarray(off - unread(answers) * inside)


def level_words(answers: Answers, levels: Sequence[Level], alike: bool) -> str:
    """Which they are and how they fare, in a clause; ``alike``: whether the others are as right as seen ones."""
    error, named = answers.error.mean(axis=0), []
    for j, code in levels:
        here, factor = answers.unseen & (answers.codes[:, j] == code), answers.space.factors[j]
        level = f"{brief(factor.name, 20)} = {brief((factor.levels or ())[code], 20)}"
        named.append(f"{level} (mean error {share(float(error[here].mean()))} on its {int(here.sum()):,})")
    what = f"clearly wrong{NOT_SHOWN}" if alike else "clearly worse than the others"
    return f"unseen combinations of {' and of '.join(named)} are {what}"


def words(answers: Answers, rows: NDArray[np.int64], others: str = "") -> str:
    """Which they are, in a clause; ``others``: what of the others may be said."""
    wrong = f"{'is' if len(rows) == 1 else 'are'} clearly wrong{others}"
    return f"{len(rows):,} of {int(answers.unseen.sum()):,} unseen combinations {wrong}: {listed(answers, rows, True)}"


def listed(answers: Answers, rows: NDArray[np.int64], by_rows: bool = False) -> str:
    """The first of them, each with its error; ``by_rows``: and, of few, with the interval of its rows."""
    error = answers.error.mean(axis=0)
    records = answers.space.decode(answers.codes[rows[:NAMED]])
    levels = [", ".join(f"{brief(k, 20)} = {brief(v, 20)}" for k, v in record.items()) for record in records]
    named = [f"{what} (error {share(float(error[row]))}{_by_rows(answers, int(row)) * by_rows})"
             for row, what in zip(rows, levels, strict=False)]  # fmt: skip
    return "; ".join(named) + f"; and {len(rows) - NAMED:,} more" * (len(rows) > NAMED)


def _by_rows(answers: Answers, row: int) -> str:
    """The interval of an error over the rows of its combination, where combinations are too few to vary over."""
    if not _few(answers):
        return ""
    error, count = float(answers.error[:, row].mean()), int(answers.counts[row])
    low, high = share_ends(error * count, count)
    return f" [{share(low)}, {share(high)}] by its own rows, {count:,}"


def _weighing(answers: Answers, beyond: FloatArray) -> str:
    """That a fifth of the unseen combinations or fewer make four fifths of the error beyond the noise, or more, where
    noise would rarely give the worst of these: it makes few the largest of any answers, the best ones too."""
    rows = np.flatnonzero(answers.unseen)
    each = np.maximum(beyond.mean(axis=0)[rows], 0.0)
    order = np.argsort(-each, kind="stable")[: int(MOST * len(rows))]
    heavy = np.cumsum(each[order]) >= (1 - MOST) * each.sum()
    if not answers.space.finite or not np.isfinite(each).all() or not each.sum() > NOTHING or not heavy.any():
        return ""
    few = rows[order[: int(heavy.argmax()) + 1]]
    if _as_noise(answers, few[:1])[0] > LEVEL / len(rows):
        return ""
    count, rest = f"{len(few):,} of {len(rows):,} unseen combinations", " beyond the noise"
    rest *= bool((answers.error - beyond)[:, rows].any())
    return f"{count} make{'s' * (len(few) == 1)} most of the error there{rest}: {listed(answers, few)}"


def _as_noise(answers: Answers, rows: NDArray[np.int64]) -> FloatArray:
    """The chance that the noise alone takes the best answers to these combinations as far off; none where no rows share
    one, so that it is not known. Of numbers a t-test by all rows, or by their own where these vary more."""
    at, free = answers.unseen | (answers.compared & answers.like), np.maximum(answers.counts - 1, 0)
    if not free[at].any():
        return np.zeros(len(rows))
    if answers.classes is not None:
        return by_luck(answers, at, rows)
    off = np.square(answers.predicted.mean(axis=0) - answers.target).mean(axis=1) / answers.scale
    inside = answers.counts * np.maximum(answers.error.mean(axis=0) - off, 0.0)
    pooled, many = inside[at].sum() / free[at].sum(), free[at].sum()
    own = inside[rows] / np.maximum(free[rows], 1)
    freedom = np.where(own > pooled, np.maximum(free[rows], 1), many)
    size = np.sqrt(off[rows] * answers.counts[rows] / np.maximum(np.maximum(own, pooled), 1e-300))
    return np.asarray(2 * stdtr(freedom, -size))


def _classes(answers: Answers, rows: NDArray[np.int64], level: float) -> NDArray[np.bool_]:
    """More wrong rows than the others' share of wrong ones gives by chance, and than right ones; and by more than the
    best answer there has bad luck (`luck`)."""
    n = answers.counts[rows].astype(np.float64)
    right = np.rint((1 - answers.error[:, rows].mean(axis=0)) * n)
    wrong = n - right
    at = answers.compared
    known = float(np.average(answers.error.mean(axis=0)[at], weights=answers.counts[at])) if answers.like else 0.0
    others = np.maximum((wrong.sum() - wrong + 1) / (n.sum() - n + 2), known)  # None wrong of few is not never wrong.
    found = np.asarray((at_least(wrong, n, others) <= level / len(rows)) & (wrong > right))
    told = answers.unseen | (at & answers.like)
    found[found] = by_luck(answers, told, rows[found]) <= level / len(rows)
    return found


def _numbers(answers: Answers, comparison: Comparison, rows: NDArray[np.int64], level: float) -> NDArray[np.bool_]:
    """Mean answers so far off that the noise of their own rows does not give it, nor that of all rows, together with
    what seen combinations are off by (a t-test), and farther than any of these; and
    that cost a quarter of always giving the same answer, or more; of one of several that has most of the rows a tenth.
    However many they are: they do not hide each other. Half of it, where it is the others that do not give it (Rosner's
    test for several outliers; of answers that are one number). Answers of several numbers are off by the root of their
    mean square."""
    if answers.target.shape[1] > MOST_NUMBERS or comparison.constant is None:
        return np.zeros(len(rows), dtype=bool)
    each = answers.predicted.mean(axis=0) - answers.target
    off = np.sqrt(np.square(each).mean(axis=1))  # Of several, the tails of their mean are lighter than those of one.
    at, free = answers.compared, np.maximum(answers.counts - 1, 0)
    asked, constant = answers.unseen | at, comparison.constant.error.mean
    inside = answers.counts * np.maximum(answers.scale * answers.error.mean(axis=0) - off**2, 0.0)
    pooled = inside[asked].sum() / max(1, free[asked].sum())
    noise = np.maximum(inside / np.maximum(free, 1), pooled) / answers.counts
    usual = max(0.0, float((np.square(off) - noise)[at].sum() / max(1, at.sum())))
    doubt, own, free = np.sqrt(noise[rows] + usual), off[rows], free[rows]
    cost = np.square(own) / answers.scale
    most, sure = float(off[at].max(initial=0.0)), 1 - level / (2 * len(rows))
    # Each part of the doubt is as certain as what tells it: its own rows, and the seen combinations (Satterthwaite).
    parts = np.square(noise[rows]) / np.maximum(free, 1) + usual**2 / max(1, at.sum())
    certain = (free > 1) & (own > stdtrit(doubt**4 / np.maximum(parts, 1e-300), sure) * doubt)
    times = np.where(free > 0, OWN_NOISE, ONE_ROW)
    apart = (own > times * doubt) & (cost > HALF * constant)
    apart &= outlying(each[rows, 0]) if each.shape[1] == 1 else False
    # Of few rows some are far off by noise: many are held against what seen ones are off by beyond theirs.
    beyond = float((off - OWN_NOISE * np.sqrt(noise))[at].max(initial=0.0))
    farthest = (own > most) | ((free >= MANY) & (own - ONE_ROW * np.sqrt(noise[rows]) > beyond))
    most_rows = (answers.counts[rows] > HALF * answers.counts[rows].sum()) & (len(rows) >= FEW)
    found = farthest & (cost > np.where(most_rows, TENTH, QUARTER) * constant) & (certain | apart)
    if not answers.like or more_often(int(found.sum()), len(rows), 0, int(at.sum())) > LEVEL:
        # Of errors that are alike some have to be the farthest: few are told by their own rows alone.
        found &= (own > stdtrit(np.maximum(free, 1), sure) * doubt) | apart
    return np.asarray(found)
