"""Combinations that are missing where answers are low, or high: as if they were missing because of their answers.

With e_k the effects of the levels of factor k in the fit, and s_k, m_k the shares in which the seen and the missing
combinations have them, the missing ones have fitted answers larger by

    Σ_k (m_k − s_k) · e_k

That is held against the same with the effects of each factor dealt to its levels anew. The pattern of what is missing
stays as it is, so a level that is hardly seen, a block or a corner is no surprise by itself. A level that is missing
alone has low effects often enough by chance, and what is missing at the end of series goes along what time does: so a
second factor has to show it too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recombine.checks.as_read import apart
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.rules.rule import Rule

CHANCE = 0.01
"""How often effects dealt anew may make such a difference."""
SECOND = 0.1
"""How often they may in the factor that shows it second most."""
DRAWN = 1_999
LARGEST = 3_000_000
"""Seen combinations × levels up to which this is looked for."""
MOST_SEEN, MOST_ASKED = 5_000, 5_000
"""Combinations of which levels' effects are taken, as many evenly spread ones of more."""


@dataclass(frozen=True)
class ByAnswer:
    """What is asked about has lower or higher fitted answers than what was seen, beyond chance."""

    low: bool
    asked: float
    """The mean of its fitted answers."""
    seen: float
    """That of the seen combinations."""
    p_value: float

    @property
    def end(self) -> str:
        return "low" if self.low else "high"

    @property
    def words(self) -> str:
        """What the verdict says of it."""
        end = "lower" if self.low else "higher"
        means = " against ".join(apart(self.asked, self.seen))
        return (
            f"the asked combinations have {end} fitted answers than the seen ones beyond chance ({means} in the mean, "
            f"p = {self.p_value:.1g}), and if they are missing because these are {self.end}, no seen one tells "
            "them"
        )

    @property
    def note(self) -> str:
        """What to do about it."""
        return (
            f"Were combinations left out, stopped or not reported because their answers are {self.end}? On planted "
            "tables where they were, errors were about twice the forecast. If not, the forecast holds; a few of them, "
            "drawn at random and run, would tell."
        )


def by_answer(known: Identifiability, asked: Ints, fitted: Rule, on_grid: bool) -> ByAnswer | None:
    """``asked``: combinations that are forecast; ``fitted``: the rule that answers, in numbers. Who names what is asked
    about may have chosen it by the fit: unless that is the grid, what was not seen of the grid has to lie so too."""
    if len(asked) < 2 or min(len(known.codes), MOST_SEEN) * sum(known.shape) > LARGEST:
        return None
    seen = known.codes.astype(np.int64)
    some, wanted = (codes[:: -(-len(codes) // most)] for codes, most in ((seen, MOST_SEEN), (asked, MOST_ASKED)))
    told = [fitted.answer(codes).reshape(len(codes), -1)[:, 0] for codes in (some, wanted)]
    difference = float(told[1].mean() - told[0].mean())
    if difference == 0 or not np.isfinite(difference):
        return None
    effects = _effects(np.concatenate([some, wanted]), known.shape, np.concatenate(told))
    here = _shares(seen, known.shape)
    others = [_shares(asked, known.shape)]
    others += [] if on_grid else [[(share > 0) / np.count_nonzero(share) for share in here]]
    p = max(_chance(effects, [m - s for m, s in zip(other, here, strict=True)], difference) for other in others)
    return ByAnswer(difference < 0, float(told[1].mean()), float(told[0].mean()), p) if p < CHANCE else None


def _shares(codes: Ints, shape: tuple[int, ...]) -> list[Floats]:
    """In which share of these combinations each level of each factor is."""
    return [np.bincount(codes[:, k], minlength=n) / len(codes) for k, n in enumerate(shape)]


def _effects(codes: Ints, shape: tuple[int, ...], answers: Floats) -> list[Floats]:
    """Of the levels of each factor, by least squares; those that do not occur have none (NaN)."""
    design = np.concatenate([np.ones((len(codes), 1))] + [np.eye(n)[codes[:, k]] for k, n in enumerate(shape)], axis=1)
    found = np.linalg.lstsq(design, answers, rcond=None)[0][1:]
    found[~design[:, 1:].any(axis=0)] = np.nan
    return np.split(found, np.cumsum(shape)[:-1])


def _chance(effects: list[Floats], weights: list[Floats], way: float) -> float:
    """How often effects dealt to the levels anew differ as much; 1 where a single factor shows it, or none."""
    rng, whole, dealt, each = np.random.default_rng(0), 0.0, np.zeros(DRAWN), [1.0, 1.0]
    for effect, weight in zip(effects, weights, strict=True):
        use = np.isfinite(effect)
        own = float(weight[use] @ effect[use])
        anew = rng.permuted(np.tile(effect[use], (DRAWN, 1)), axis=1) @ weight[use]
        whole, dealt = whole + own, dealt + anew
        if own * way > 0:
            each.append(_often(own, anew))
    p = _often(whole, dealt)
    return p if whole * way > 0 and sorted(each)[1] < SECOND else 1.0


def _often(own: float, anew: Floats) -> float:
    return float((1 + (np.abs(anew) >= abs(own) * (1 - 1e-9)).sum()) / (1 + len(anew)))
