"""Which rule of a contest is recommended, and what choosing it by a few answers is worth."""

from __future__ import annotations

from collections.abc import Container

import numpy as np

from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.rules.adding import Adding
from recombine.checks.rules.rule import Rule
from recombine.checks.rules.seen_cells import Cells

WORTH = 0.3
"""Standard errors by which a less simple rule must be better to be recommended."""
SURER = 1.0
"""The same of the few points of a design, of shares wrong, of which by chance some rule always looks better, of pairs,
whose charge is told by chance as well; a surface had its test."""
PLAINLY = 1.0
"""Nats by which answers must be likelier on another scale than on their own."""
MOST = 600
"""Seen answers that tell how likely they are on a scale, drawn where there are more."""
HALVES = 20
"""Times that the cells are halved to see what choosing a rule by one half is worth on the other."""
TIE = 0.01
"""Share of the loss that is no difference: as much as rounding to three digits hides of an error."""


def likelihood_of(rule: Rule, cells: Cells) -> float | None:
    """Of single effects that add up, on whatever scale, the log density of seen answers, each left out by itself; of
    ranks, whose way back is learnt, and of other rules, which differ in more than their scale, None."""
    if not isinstance(rule, Adding) or not rule.name.startswith("additive") or rule.scale.learnt:
        return None
    count = len(cells.codes)
    some = np.random.default_rng(0).choice(count, MOST, replace=False) if count > MOST else np.arange(count)
    rule.left_out([some[[i]] for i in range(len(some))])
    return None if rule.density is None else float(rule.density.sum())


def off_scale(entered: list[Rule], likely: list[float | None]) -> set[int]:
    """Rules of sums on another scale than that on which the seen answers are likeliest, or their own where that is by
    less than a nat. A few large answers make nearly all of a squared error, so that by chance the wrong scale often has
    the smaller one; how likely answers are, all of them tell alike (Box and Cox 1964, here of what was left out)."""
    both = enumerate(zip(entered, likely, strict=True))
    told = {i: at + PLAINLY * (rule.name == "additive") for i, (rule, at) in both if at is not None}
    return set(told) - {max(told, key=lambda i: told[i])} if told else set()


def choose(losses: list[Floats], few: int, worth: list[float], lost: Container[int] = ()) -> int:
    """The rule of the smallest loss; a simpler one where the difference is a small part of the loss, or of its standard
    error. ``few`` of the stand-ins are distinct cells; rules that are ``lost`` are not chosen."""
    kept = [i for i in range(len(losses)) if i not in lost]
    best = kept[0]
    for i in kept[1:]:
        loss = losses[i]
        gain = losses[best] - loss
        if gain.mean() > max(worth[i] * gain.std(ddof=1) / np.sqrt(few), TIE * float(losses[best].mean())):
            best = i
    return best


def charged_for(
    wrong: list[Floats], losses: list[Floats], best: int, firsts: Ints, truth: Floats, worth: list[float],
    seen: Floats, lost: Container[int] = (), nothing: float = 0.0,
) -> list[Floats]:  # fmt: skip
    """The shares wrong of the constant as the answers ``seen`` tell them (`commonest_wrong`), and those of the chosen
    rule, up to that or what the constant was tried at, as of a rule chosen so by its losses on half of the stand-ins
    and tried on the other: of few answers, right or wrong, some rule always looks good. A rule that was chosen since
    levels differ, which no half tells, errs as the constant where ``nothing`` acts after all (so likely). Neither is
    expected to err more than a guess."""
    distinct, rng, table = np.unique(firsts), np.random.default_rng(0), np.array(wrong)
    same, guess, found = commonest_wrong(seen), 1 - 1 / truth.shape[1], list[float]()
    for _ in range(HALVES if best else 0):
        half = np.isin(firsts, rng.permutation(distinct)[: len(distinct) // 2])
        for one, other in ((half, ~half), (~half, half)):
            here, few = [loss[one] for loss in losses], len(np.unique(firsts[one]))
            i = choose(here, few, worth, lost) if one.sum() > 1 else best
            found.append(float(table[i, other].mean()) if i else same)
    told = {0: same}
    if best:
        tried, own = float(table[0].mean()), float(table[best].mean())
        chosen = max(min(float(np.mean(found)), max(same, tried)), own)
        told[best] = min(chosen + nothing * max(same - chosen, 0.0), guess)
    for i, mean in told.items():
        own = float(table[i].mean())
        table[i] = table[i] * (mean / own) if own > 0 else table[i] + mean
    return [row / max(float(row.mean()), 1.0) for row in table]  # no more than all are wrong


def commonest_wrong(answers: Floats) -> float:
    """How wrong the commonest class is to be expected: that of half of the seen cells on the other half, and no more
    than a guess. Its own share is too large, as it is the commonest by chance as well."""
    count, rng, found = len(answers), np.random.default_rng(0), list[float]()
    for _ in range(HALVES if count > 1 else 0):
        order = rng.permutation(count)
        for one, other in ((order[: count // 2], order[count // 2 :]), (order[count // 2 :], order[: count // 2])):
            found.append(1 - float(answers[other, answers[one].sum(axis=0).argmax()].mean()))
    return min(float(np.mean(found)), 1 - 1 / answers.shape[1]) if found else 0.0
