"""Is it one level that goes wrong, seen or unseen: a site whose labels are swapped, whose units differ, that is biased?

Its unseen combinations then look like a failure to compose, or its seen ones like a learner that did not fit. So one
level is looked for among seen combinations, where composing plays no part. Two tests have to agree at .05: errors of
its combinations exceed those of the others as errors dealt anew among combinations rarely have it for any level; and
they exceed the noise among rows of the same level, shared among all levels, as a level may be noisier and still right.
And it has to make most of the error there, at half of its combinations or more.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc, fdtrc

from recombine.mechanisms.answers import Answers
from recombine.mechanisms.comparing import noise_within
from recombine.mechanisms.losing import HALF, QUARTER
from recombine.mechanisms.names import NOTHING, brief, share
from recombine.statistics import FEW, FloatArray
from recombine.statistics.shares import share_ends

LEVEL = 0.05
DEALT, MOST_DEALT = 2_000, 20_000_000
"""How often errors are dealt anew among combinations; less often where there are very many."""
Level = tuple[int, int]
"""The place of a factor, and the code of its level."""


def one_level(answers: Answers, constant: float, seed: int = 0) -> Level | None:
    """The level that makes most of the error on seen combinations; none where no level does, where the noise of its
    rows is not known, or where there are too many levels to look at. ``constant``: what always giving the same answer
    costs."""
    at, noise = answers.compared, noise_within(answers)
    known = noise is not None and np.isfinite(answers.error).all()
    if not known or sum(answers.space.shape) * int(at.sum()) > MOST_DEALT:
        return None
    assert noise is not None
    cost = answers.error.mean(axis=0) - noise
    found = _most_apart(answers, cost, seed)
    if found is None:
        return None
    here = answers.codes[:, found[0]] == found[1]
    several = here & (answers.counts > 1)
    if not several.any():
        return None
    weights = answers.counts[several] - 1
    own_noise = float(np.average(noise[several], weights=weights))
    own = float(answers.error[:, at & here].mean()) - own_noise
    others = max(0.0, float(cost[at & ~here].mean()))
    count, rest = int((at & here).sum()), int((at & ~here).sum())
    usual = float(np.median(answers.error.mean(axis=0)[at & here])) - own_noise  # One outlier is no level.
    most = min(own, usual) > QUARTER * constant and others <= QUARTER * own and others * rest <= HALF * (own * count)
    chance = _as_noise(answers, at & here, own_noise, int(weights.sum()))
    return found if most and chance <= LEVEL / sum(answers.space.shape) else None


def _most_apart(answers: Answers, cost: FloatArray, seed: int) -> Level | None:
    """The level whose seen combinations err most beside the others, where the largest such difference of all levels is
    rarely as large when errors are dealt anew (Westfall and Young). Roots are compared, as squares hide all but the
    largest."""
    at, shape = answers.compared, answers.space.shape
    own = {(j, code): answers.codes[at, j] == code for j, n in enumerate(shape) for code in range(n)}
    own = {level: here for level, here in own.items() if 2 <= here.sum() <= len(here) - FEW and 2 * here.mean() <= 1}
    if not own:
        return None
    size = np.sign(cost[at]) * np.sqrt(np.abs(cost[at]))
    member, values = np.stack(list(own.values())).astype(np.float64), size - size.mean()
    draws = max(100, min(DEALT, MOST_DEALT // len(values)))
    dealt = np.random.default_rng(seed).permuted(np.tile(values, (draws, 1)), axis=1)
    many = member.sum(axis=1)
    spread = np.sqrt(many * (1 - many / len(values)))
    apart, chance = member @ values / spread, (dealt @ member.T / spread).max(axis=1)
    if (chance >= apart.max() - NOTHING).mean() > LEVEL:
        return None
    return list(own)[int(apart.argmax())]


def _as_noise(answers: Answers, at: NDArray[np.bool_], noise: float, free: int) -> float:
    """The chance of errors as large as these, of who gives the best answers: for numbers, of mean answers so far off
    (an F-test); for classes, of so many wrong rows where the noise is as much as its own interval allows."""
    n = answers.counts[at].astype(np.float64)
    if answers.classes is None:
        off = np.square(answers.predicted.mean(axis=0)[at] - answers.target[at]).mean(axis=1) / answers.scale
        return float(fdtrc(len(n), free, float(n @ off) / len(n) / max(noise, 1e-300)))
    wrong = int(np.rint(answers.error.mean(axis=0)[at] @ n))
    return float(bdtrc(wrong - 1, int(n.sum()), share_ends(noise * free, free)[1])) if wrong else 1.0


def without(answers: Answers, level: Level) -> Answers:
    """The combinations of all other levels. How well these were fitted is then known of rows that were asked about
    alone, and what columns besides the factors add is left in."""
    rest = answers.at(answers.codes[:, level[0]] != level[1])
    return replace(rest, fit=None, bare=None, besides={})


def level_first(answers: Answers, level: Level, verdict: str) -> str:
    """What to look at first, in a sentence without a full stop. ``verdict``: that of all other combinations."""
    (j, code), error = level, answers.error.mean(axis=0)
    factor, here = answers.space.factors[j], answers.codes[:, j] == code
    name = f"{brief(factor.name, 20)} = {brief((factor.levels or ())[code], 20)}"
    seen, others = (share(float(error[answers.compared & mask].mean())) for mask in (here, ~here))
    first = f"Look first at {name} (labels, units, data): its seen combinations err by {seen}, all other seen ones by "
    first += others
    away = answers.unseen
    if (away & here).any():
        first += f", its unseen ones by {share(float(error[away & here].mean()))}"
    if not (away & ~here).any():
        return f"{first}; no unseen combination is without it"
    first += (
        f"{' and' if (away & here).any() else ','} all other unseen ones by {share(float(error[away & ~here].mean()))}"
    )
    return f"{first}. Without this level the verdict would be {verdict!r}"
