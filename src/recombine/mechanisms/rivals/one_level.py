"""Is it one level that goes wrong, seen or unseen: a site whose labels are swapped, whose units differ, that is biased?
Or, of three factors or more, one level where it meets one of another?

Its unseen combinations then look like a failure to compose, or its seen ones like a learner that did not fit. So one
level is looked for that is wrong at seen combinations, where composing plays no part. Two tests have to agree at .05:
errors of its combinations exceed those of the others as errors dealt anew, among seen and among unseen ones, rarely
have it for any level; and its seen ones exceed the noise among rows of the same level, shared among all levels, as a
level may be noisier and still right. And it has to make most of the error there, at half of its combinations or more.
Unseen ones of the level must not be answered well where its seen ones are not.
Where single rows tell no noise, numbers of one level may still all be off to one side, more than they vary (a t-test).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc, fdtrc, stdtr

from recombine.mechanisms.answers.answered import Answers
from recombine.mechanisms.answers.names import NOTHING, brief, share
from recombine.mechanisms.compared.comparing import noise_within
from recombine.mechanisms.compared.losing import HALF, QUARTER
from recombine.statistics import FEW, FloatArray
from recombine.statistics.shares import share_ends

LEVEL = 0.05
DEALT, MOST_DEALT = 2_000, 20_000_000
"""How often errors are dealt anew among combinations; less often where there are very many."""
MOST_PAIRS = 2_000_000
"""Pairs of levels times combinations up to which pairs are looked at."""
Level = tuple[int, int]
"""The place of a factor, and the code of its level."""
Region = tuple[Level, ...]
"""One level, or two that meet; none."""


def one_level(answers: Answers, constant: float, seed: int = 0) -> Region:
    """The level, or pair of levels, that makes most of the error on seen combinations; none where no one does, where
    the noise of its rows is not known, or where there are too many levels to look at. ``constant``: what always giving
    the same answer costs. The noise is told by the rows asked about: swapped in these alone, labels of training rows
    would make it of them."""
    at, noise = answers.compared, noise_within(answers, trained=False)
    single = noise is None and answers.classes is None and answers.target.shape[1] == 1 and answers.space.finite
    noise = np.zeros(len(at)) if single else noise
    if noise is None or not np.isfinite(answers.error).all() or sum(answers.space.shape) * int(at.sum()) > MOST_DEALT:
        return ()
    cost, tried = answers.error.mean(axis=0) - noise, levels_tried(answers)
    found = _most_apart(answers, cost, tried, seed)
    if not found:
        return ()
    here = within(answers, found)
    several = here & (answers.counts > 1)
    if not (single or several.any()):
        return ()
    if single:
        own_noise, chance = _to_one_side(answers, at & here)
    else:
        own_noise = float(np.average(noise[several], weights=answers.counts[several] - 1))
        chance = _as_noise(answers, at & here, own_noise, noise, found)
    own = float(answers.error[:, at & here].mean()) - own_noise
    others = max(0.0, float(cost[at & ~here].mean()))
    count, rest = int((at & here).sum()), int((at & ~here).sum())
    usual = float(np.median(answers.error.mean(axis=0)[at & here])) - own_noise  # One outlier is no level.
    most = min(own, usual) > QUARTER * constant and others <= QUARTER * own and others * rest <= HALF * (own * count)
    return found if most and chance <= LEVEL / len(tried) and not _right_where_unseen(answers, here) else ()


def _right_where_unseen(answers: Answers, here: NDArray[np.bool_]) -> bool:
    """Whether unseen combinations of the level err less than all other unseen ones, and less than half as much as its
    seen ones: it is not wrong wherever it is asked about then, and a few seen ones may be."""
    error, away = answers.error.mean(axis=0), answers.unseen
    if not ((away & here).any() and (away & ~here).any()):
        return False
    own = float(error[away & here].mean())
    return own < min(float(error[away & ~here].mean()), HALF * float(error[answers.compared & here].mean()))


def within(answers: Answers, region: Region) -> NDArray[np.bool_]:
    """The combinations of a level, or of both levels of a pair."""
    return np.asarray(np.all([answers.codes[:, j] == code for j, code in region], axis=0))


def levels_tried(answers: Answers) -> dict[Region, NDArray[np.bool_]]:
    """The levels, and of three factors or more the pairs, that have two seen combinations or more and leave others."""
    at, shape = answers.compared, answers.space.shape
    levels = [[(j, code) for code in range(n)] for j, n in enumerate(shape)]
    regions: list[Region] = [(level,) for own in levels for level in own]
    pairs = [pair for two in combinations(levels, 2) for pair in product(*two)] if len(shape) > 2 else []
    if len(pairs) * len(answers.codes) <= MOST_PAIRS:
        regions += pairs
    tried = {region: within(answers, region) for region in regions}
    seen = {region: here[at] for region, here in tried.items()}
    return {r: tried[r] for r, own in seen.items() if 2 <= own.sum() <= len(own) - FEW and 2 * own.mean() <= 1}


def _most_apart(answers: Answers, cost: FloatArray, tried: dict[Region, NDArray[np.bool_]], seed: int) -> Region:
    """The level whose combinations err most beside the others, where the largest such difference of all levels is
    rarely as large when errors are dealt anew (Westfall and Young): among seen combinations or, as these may be few,
    among seen and among unseen ones, at half the level each, as unseen ones may err for other reasons. Roots are
    compared, as squares hide all but the largest."""
    size, rng = np.sign(cost) * np.sqrt(np.abs(cost)), np.random.default_rng(seed)
    sides = [side for side in (answers.compared, answers.unseen) if side.any()]
    draws = max(100, min(DEALT, MOST_DEALT // int(sum(side.sum() for side in sides))))
    apart, chance, spread = np.zeros(len(tried)), np.zeros((draws, len(tried))), np.zeros(len(tried))
    for side in sides if tried else ():
        member = np.stack([here[side] for here in tried.values()]).astype(np.float64)
        values = size[side] - size[side].mean()
        dealt = rng.permuted(np.tile(values, (draws, 1)), axis=1)
        many = member.sum(axis=1)
        apart, chance = apart + member @ values, chance + dealt @ member.T
        spread = spread + many * (1 - many / len(values)) * np.square(values).mean()
        scale = np.sqrt(np.maximum(spread, 1e-300))
        if ((chance / scale).max(axis=1) >= (apart / scale).max() - NOTHING).mean() <= LEVEL / 2:
            return list(tried)[int((apart / scale).argmax())]
    return ()


def _as_noise(answers: Answers, at: NDArray[np.bool_], own: float, noise: FloatArray, region: Region) -> float:
    """The chance of errors as large as these, of who gives the best answers: for numbers, of mean answers so far off
    (an F-test); for classes, of so many wrong rows where the noise is as much as its own interval allows, or, of a pair
    whose rows are few, that of all rows of either level, and no less than its own."""
    n = answers.counts[at].astype(np.float64)
    either = np.any([answers.codes[:, j] == code for j, code in region], axis=0) & (answers.counts > 1)
    weights = answers.counts[either] - 1
    if answers.classes is None:
        free = int((answers.counts[within(answers, region)] - 1).sum())
        off = np.square(answers.predicted.mean(axis=0)[at] - answers.target[at]).mean(axis=1) / answers.scale
        return float(fdtrc(len(n), free, float(n @ off) / len(n) / max(own, 1e-300)))
    wrong, free = int(np.rint(answers.error.mean(axis=0)[at] @ n)), int(weights.sum())
    most = max(own, share_ends(float(np.average(noise[either], weights=weights)) * free, free)[1])
    return float(bdtrc(wrong - 1, int(n.sum()), most)) if wrong else 1.0


def _to_one_side(answers: Answers, at: NDArray[np.bool_]) -> tuple[float, float]:
    """How much answers to these combinations vary about their mean error, and the chance that this is so far from 0."""
    off, many = (answers.predicted.mean(axis=0) - answers.target)[at, 0], int(at.sum())
    varies = float(off.var(ddof=1))
    return varies / answers.scale, 2 * float(stdtr(many - 1, -abs(off.mean()) / max(np.sqrt(varies / many), 1e-300)))


def without(answers: Answers, region: Region) -> Answers:
    """All other combinations. How well these were fitted is then known of rows that were asked about
    alone, and what columns besides the factors add is left in."""
    rest = answers.at(~within(answers, region))
    trained = None if rest.trained is None else replace(rest.trained, said=None, error=None)  # They hold the level.
    return replace(rest, trained=trained, fit=None, bare=None, besides={})


def level_first(answers: Answers, region: Region, verdict: str, trained: bool = False) -> str:
    """What to look at first, in a sentence without a full stop. ``verdict``: that of all other combinations;
    ``trained``: whether training rows are among those of seen ones."""
    error, here, names = answers.error.mean(axis=0), within(answers, region), []
    for j, code in region:
        factor = answers.space.factors[j]
        names.append(f"{brief(factor.name, 20)} = {brief((factor.levels or ())[code], 20)}")
    name, one = " with ".join(names), "this level" if len(region) == 1 else "this pair of levels"
    seen, others = (share(float(error[answers.compared & mask].mean())) for mask in (here, ~here))
    first = f"Look first at {name} (labels, units, data): its seen combinations err by {seen}, all other seen ones by "
    first += others + " (training rows with new ones)" * trained
    away = answers.unseen
    if (away & here).any():
        first += f", its unseen ones by {share(float(error[away & here].mean()))}"
    if not (away & ~here).any():
        return f"{first}; no unseen combination is without it"
    first += (
        f"{' and' if (away & here).any() else ','} all other unseen ones by {share(float(error[away & ~here].mean()))}"
    )
    if verdict == "unclear" or verdict.startswith("nothing"):
        return first  # Nobody leaves out a level to know less.
    return f"{first}. Without {one} the verdict would be {verdict!r}"
