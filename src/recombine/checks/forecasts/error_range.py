"""How far an error over asked cells may be from that over the cells that stood in for them, and how wide the range of
one answer is: errors of cells that share levels go together."""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv, betaln, fdtri, ndtri, stdtrit

from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.rules.adding import Adding
from recombine.checks.rules.rule import Rule
from recombine.checks.rules.seen_cells import Cells

COVERED = 0.9
DRAWS = 2_000
TAILS = np.array([0.05, 0.95])


def on_scale(rule: Adding) -> bool:
    """Whether the size of an error is known beforehand: by the scale, with the answer, or by what a row weighs."""
    scaled = rule.scale.name != "" and not rule.scale.learnt
    return (scaled or rule.cells.weights is not None) and not rule.saturated


def likened_to(losses: Floats, tried: Floats, asked: Floats) -> Floats:
    """Squared errors as of cells as uncertain as the asked ones, by what the rule's scale says of each: where effects
    multiply, one large answer errs more than all small ones. Errors of the large ones are few and those of the small
    ones tell little of them, so they count by the root of what they are expected to be."""
    root = np.sqrt(np.maximum(tried, 1e-12 * max(float(tried.max()), 1e-300)))
    return np.asarray(losses / root * (float(asked.mean()) / float(root.mean())))


def evenness(asked: Floats) -> float:
    """Share of the asked cells that tell as much as all of them, if equally uncertain."""
    return float(np.sqrt(asked).mean() ** 2 / max(float(asked.mean()), 1e-300))


def by_draw(losses: Floats, metric: str) -> float:
    """Standard deviation of the error from one draw of stand-ins to the next: each is drawn by itself."""
    spread = float(losses.std(ddof=1)) / np.sqrt(len(losses))
    return float(spread / (2 * np.sqrt(max(losses.mean(), 1e-300))) if metric == "rmse" else spread)


def range_of(losses: Floats, stood: int, will: int, rng: np.random.Generator) -> Floats:
    """5 %, half and 95 % of the mean loss of as many cells as are asked, drawn anew, over that of as many stand-ins."""
    if losses.max() <= 0:
        return np.zeros(3)
    seen = np.maximum(rng.choice(losses, (DRAWS, stood)).mean(axis=1), 1e-3 * losses.mean())
    drawn = rng.choice(losses, (DRAWS, will)).mean(axis=1) / seen
    return np.asarray(np.quantile(drawn, [TAILS[0], 0.5, TAILS[1]]) * losses.mean())


def of_normal(mean: float, freedom: float, asked: int) -> Floats:
    """5 % and 95 % of the mean square of so many normal errors where that of others, with these degrees of freedom, is
    ``mean`` (Fisher's F): a few losses that are drawn again and again are too alike."""
    return np.asarray(fdtri(asked, freedom, TAILS) * mean)


def share_of(wrong: float, stood: int, will: int) -> tuple[float, float]:
    """5 % and 95 % of the share wrong of as many answers as are asked, where this share of so many was (beta-binomial,
    every share as likely beforehand): none wrong of a few is not none, and a few draws differ by chance."""
    a, b, k = wrong * stood + 1, max(1 - wrong, 0.0) * stood + 1, np.arange(will + 1)
    chance = betaln(k + a, will - k + b) - betaln(a, b) - betaln(k + 1, will - k + 1) - np.log(will + 1)
    low, high = np.searchsorted(np.cumsum(np.exp(chance)), TAILS) / will
    rate = betaincinv(a, b, TAILS)  # likeliest of one answer is that it is right: that is not all
    return float(min(low, rate[0])), float(min(max(high, rate[1]), 1.0))


def once(losses: Floats, places: Ints, cluster: Ints) -> tuple[Floats, Ints, Ints]:
    """Each cell once: one that was drawn several times is right or wrong each time, which is no sign of its levels."""
    distinct, first, of = np.unique(places, axis=0, return_index=True, return_inverse=True)
    return np.bincount(of.ravel(), losses) / np.bincount(of.ravel()), distinct, cluster[first]


def together_by(losses: Floats, places: Ints, cluster: Ints) -> tuple[Floats, float]:
    """Correlation of the losses of two stand-ins that share a level of each factor (at most 1 in all), and what more
    there is of two that share a cluster, beyond the levels that these share."""
    spread = float(losses.std())
    centred = (losses - losses.mean()) / (spread if spread > 1e-9 * float(losses.mean()) else np.inf)

    def pairs(kind: Ints) -> float:
        counts = np.bincount(kind)
        return float((counts * (counts - 1)).sum())

    def correlation(kind: Ints) -> float:
        sums, squares = np.bincount(kind, centred), np.bincount(kind, centred**2)
        return float(np.clip((sums**2 - squares).sum() / (pairs(kind) or np.inf), 0.0, 1.0))

    by_factor = np.array([correlation(level) for level in places.T])
    by_factor /= max(1.0, float(by_factor.sum()))
    both = [pairs(cluster * (int(level.max()) + 1) + level) for level in places.T]
    shared = float(by_factor @ both) / (pairs(cluster) or np.inf)
    return by_factor, float(np.clip(correlation(cluster) - shared, 0.0, 1 - by_factor.sum()))


def independent(here: Ints, there: Ints, cluster: Ints, together: tuple[Floats, float], unseen: float) -> int:
    """So many independent cells tell as much about a mean as these, of which some go together. What is common to a
    level is the same in the cells it is held against where these have the level as often, but for the ``unseen``
    share of them: how a level errs in a pair that was never seen, none of the others tells."""
    alone, (by_factor, whole) = 1 / len(np.unique(here, axis=0)), together
    alike = whole * _sharing(cluster) + (1 - whole - float(by_factor.sum())) * alone
    for r, mine, theirs in zip(by_factor, here.T, there.T, strict=True):
        own, other = (np.bincount(k, minlength=max(mine.max(), theirs.max()) + 1) / len(k) for k in (mine, theirs))
        alike += r * (unseen * (own**2).sum() + (1 - unseen) * ((own - other) ** 2).sum() / 2)
    return round(1 / max(alone, alike))


def _sharing(kind: Ints) -> float:
    """Chance that two cells drawn at random are of one kind."""
    return float((np.bincount(kind) ** 2).sum()) / len(kind) ** 2


def deviations_of(rule: Rule, independent: int, cells: Cells) -> float:
    """Standard deviations that cover nine of ten stand-ins: more of them where few are independent, as t has it where
    few cells are left to learn the noise from, and so much more as pairs learnt with the stand-ins. Of fewer than nine
    no share is nine of ten: t at least."""
    if not isinstance(rule, Adding):
        return 0.0
    levels = {k: len(np.unique(level)) - 1 for k, level in enumerate(cells.codes.T)}
    effects = sum((levels | {k: curve.width for k, curve in cells.curves.items()}).values())
    least = float(stdtrit(max(len(cells.codes) - 1 - effects, 1), TAILS[1]))
    if rule.relearnt is None:  # else what few degrees of freedom hide is charged
        independent = rule.at_most(independent)
    share = min(1.0, COVERED * (independent + 1) / independent)
    found = float(np.quantile(rule.surprise, share, method="higher")) * least / float(ndtri(TAILS[1]))
    found *= 1.0 if rule.relearnt is None else np.sqrt(rule.relearnt)
    return found if share < 1 else max(found, least)
