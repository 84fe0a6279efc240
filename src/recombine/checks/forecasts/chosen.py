"""Which rule of a contest is recommended, and what choosing it by a few answers is worth."""

from __future__ import annotations

from collections.abc import Container

import numpy as np

from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.rules.adding import Adding
from recombine.checks.rules.rule import Rule

WORTH = 0.3
"""Standard errors by which a less simple rule must be better to be recommended."""
SURER = 1.0
"""The same of the few points of a design, of shares wrong, of which by chance some rule always looks better, of pairs,
whose charge is told by chance as well, and of how likely answers are on another scale; a surface had its test."""
HALVES = 20
"""Times that the cells are halved to see what choosing a rule by one half is worth on the other."""
TIE = 0.01
"""Share of the loss that is no difference: as much as rounding to three digits hides of an error; and of log densities,
in nats."""


def density_of(rule: Rule) -> Floats | None:
    """Of single effects that add up, on whatever scale: other rules differ in more than their scale."""
    return rule.density if isinstance(rule, Adding) and rule.name.startswith("additive") else None


def off_scale(entered: list[Rule], densities: list[Floats | None], losses: list[Floats], few: int) -> set[int]:
    """Rules under whose forecasts the stand-ins are less likely than under those of a rule on another scale that does
    not clearly err more; a simpler rule only where that is clear. A few large answers make nearly all of a squared
    error, so that by chance the wrong scale often has the smaller one; how likely answers are, all of them tell alike
    (Box and Cox 1964, here of what was left out)."""
    told = [(i, rule.scale.name, d) for i, (rule, d) in enumerate(zip(entered, densities, strict=True))
            if isinstance(rule, Adding) and d is not None]  # fmt: skip
    lost = set[int]()
    for i, scale, density in told:
        for j, other, beside in told:
            gain, sure = beside - density, SURER if i < j else WORTH
            likelier = gain.mean() > max(sure * gain.std(ddof=1) / np.sqrt(few), TIE)
            more = losses[j] - losses[i]
            if scale != other and likelier and more.mean() <= SURER * more.std(ddof=1) / np.sqrt(few):
                lost.add(i)
    return lost


def choose(losses: list[Floats], few: int, worth: list[float], lost: Container[int] = ()) -> int:
    """The rule of the smallest loss; a simpler one where the difference is a small part of the loss, or of its standard
    error. ``few`` of the stand-ins are distinct cells; rules that are ``lost`` are not chosen."""
    best = 0
    for i, loss in enumerate(losses):
        if i in lost:
            continue
        gain = losses[best] - loss
        if gain.mean() > max(worth[i] * gain.std(ddof=1) / np.sqrt(few), TIE * float(losses[best].mean())):
            best = i
    return best


def charged_for(
    wrong: list[Floats], losses: list[Floats], best: int, firsts: Ints, truth: Floats, worth: list[float]
) -> list[Floats]:
    """The shares wrong of the constant as large as those of the commonest class of half of the cells are on the other
    half, and those of the chosen rule, up to that, as of a rule chosen so by its losses: of few answers, right or
    wrong, some rule always looks good."""
    distinct, rng, table = np.unique(firsts), np.random.default_rng(0), np.array(wrong)
    found = list[tuple[float, float]]()
    for _ in range(HALVES):
        half = np.isin(firsts, rng.permutation(distinct)[: len(distinct) // 2])
        for one, other in ((half, ~half), (~half, half)):
            i = choose([loss[one] for loss in losses], len(np.unique(firsts[one])), worth) if one.sum() > 1 else best
            same = 1 - float(truth[other, truth[one].sum(axis=0).argmax()].mean())
            found.append((same, float(table[i, other].mean()) if i else same))
    same, chosen = np.mean(found, axis=0)
    for i, told in ((0, same), *([(best, min(chosen, max(same, table[0].mean())))] if best else [])):
        own = float(table[i].mean())
        table[i] = table[i] * (max(told, own) / own) if own > 0 else table[i] + told
    return [row / max(float(row.mean()), 1.0) for row in table]  # no more than all are wrong
