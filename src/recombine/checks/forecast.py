"""How wrong will the answers to asked combinations be? A contest of rules on seen cells that stand in for them.

    error = √ mean e²  (numbers), mean share of rows wrong or mean −log p (classes), over the stand-ins, each left out
    with the cells around it (`stand_ins`)

Of numbers, the middle of what this is for as many cells as are asked, drawn anew: most sets of a few cells stay below
the mean of all, since large errors are rare. ``low``–``high`` is meant as a 90 % interval for the error that will be
seen: the stand-ins are few, the asked cells are few, and errors of cells that share levels go together. The interval of
one cell is as many standard deviations wide as 90 % of the stand-ins need.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import stdtrit

from recombine.checks.adding import Adding
from recombine.checks.chosen import SURER, WORTH, charged_for, choose, density_of, off_scale
from recombine.checks.contestants import contestants
from recombine.checks.effects import DENSE
from recombine.checks.error_range import (
    by_draw,
    deviations_of,
    evenness,
    independent,
    likened_to,
    on_scale,
    once,
    range_of,
    share_of,
    together_by,
)  # fmt: skip
from recombine.checks.expected import Forecast, RuleError
from recombine.checks.harder import asked_over_tried
from recombine.checks.learners import Learner, learners
from recombine.checks.losses import as_learnt, losses_of, many_rows, metric_of, proof_of, sure_of
from recombine.checks.modular import Floats, Ints
from recombine.checks.rules import Rule
from recombine.checks.seen_cells import Cells
from recombine.checks.stand_ins import stand_ins
from recombine.checks.substitution import Substitution
from recombine.checks.surface import beats_constant, each_alone

STAND_INS = 200
FEWEST = 6
"""Distinct stand-ins without which nothing is forecast."""
SMALL = 15
"""Seen combinations below which the interval held less often than it is meant to, except of log losses."""
MOST_RAISED = 2.0
"""The middle over the mean of squared errors, at most: of one or two stand-ins some are nil by chance."""
ONE_SIDED = 2.576
"""Standard errors by which a rule must beat another, in the mean or in count: one in a hundred by chance."""
CHANCE, SHARED = 0.99, 1.5
"""Numbers: how sure the share of the constant's squared error that a rule takes away must be, and how many stand-ins,
which share levels, count for one of it: on planted noise 2 to 3 of 100 pass."""
BORDER, AGAIN = 1.3, 5
"""How near to that it is decided by most of so many further draws of stand-ins, the same ones whatever the seed: else
the verdict were a matter of the seed."""
FEWEST_CELLS, MOST_NUMBERS = 2_000, 4_000_000
"""Cells that are used in any case; cells × effects above which no more are."""
ASSUMED = {1: "additive", 2: "pairs"}
"""The rule that “determined” rests on, by the order of effects."""


def forecast(cells: Cells, asked: Ints, *, assumed: int = 1, more: Sequence[str] = (), seed: int = 0) -> Forecast | str:
    """The contest for these asked cells, or a sentence why there is none. ``assumed`` is the order of the effects taken
    to add up, ``more`` names learners that join."""
    if not len(asked):
        return "no forecast: no unseen combination that is determined is asked about."
    if cells.width > DENSE:
        return (
            f"no forecast and no estimates: the factors have {cells.width:,} levels in all, rules are tried on "
            f"up to {DENSE:,}; group rare levels, or check the part of the table that matters."
        )
    rng = np.random.default_rng(seed)
    cells = _fewer(cells, rng)
    alone = each_alone(cells, asked)
    drawn = alone or stand_ins(cells.codes, cells.shape, asked, STAND_INS, rng, cells.curves)
    groups, firsts = drawn.groups, [int(g[0]) for g in drawn.groups]
    few = len(set(firsts))
    if few < FEWEST:
        found = f"{few} were drawn, {FEWEST} are needed"
        return f"no forecast: too few seen combinations could be left out as the asked ones are ({found})."
    entered = [*contestants(cells), *learners(more, cells, seed)]
    metric = metric_of(cells)
    nearer = [1.0] * len(entered)
    if alone:
        even = [r.evenly_left_out(asked) if isinstance(r, Adding) else (r.left_out(groups), 1.0) for r in entered]
        said, nearer = [one for one, _ in even], [factor for _, factor in even]
    else:
        said = [rule.left_out(groups) for rule in entered]
    truth, places, densities = cells.answers[firsts], cells.codes[firsts], [density_of(rule) for rule in entered]
    sizes = [rule.variance if isinstance(rule, Adding) and on_scale(rule) else None for rule in entered]
    seen = [losses_of(truth, answers, metric) for answers in said]
    substituted = _substitution(entered, seen, asked)  # now: it holds what it was last tried on
    least = losses_of(truth, truth, "log loss") if metric == "log loss" else np.zeros(len(truth))
    losses = [as_learnt(loss, least, rule, cells) for rule, loss in zip(entered, seen, strict=True)]
    rates = metric == "error rate"
    worth = [SURER if rates or (alone and rule.name != "surface") else WORTH for rule in entered]
    sure = sure_of(entered[1], len(cells.codes))
    proof = [proof_of(rule, answers, firsts, cells, sure) for rule, answers in zip(entered, said, strict=True)]
    told_apart = proof if cells.numeric else [loss - least for loss in seen]
    worse = [i for i, loss in enumerate(losses) if metric == "log loss" and loss.mean() >= losses[0].mean()]
    best = choose(told_apart, few, worth, off_scale(entered, densities, few).union(worse))
    wrong = same = None
    if rates:
        losses = charged_for(losses, losses, best, np.array(firsts), truth, worth)
    elif metric == "log loss":  # beside it stands the share wrong
        beside = [losses_of(truth, answers, "error rate") for answers in said]
        charged = charged_for(beside, told_apart, best, np.array(firsts), truth, worth)
        wrong, same = float(charged[best].mean()), float(charged[0].mean())
    losses = [loss * factor for loss, factor in zip(losses, nearer, strict=True)]
    told = not alone and len(cells.codes) >= SMALL  # of fewer, levels that err more are chance
    winner, uneven = entered[best], 1.0
    levels = asked_over_tried(winner, asked, places) if isinstance(winner, Adding) and told else 1.0
    if isinstance(winner, Adding) and not alone and (size := sizes[best]) is not None:
        there = winner.varies(asked)
        likened = likened_to(losses[best], size, there)
        levels, uneven = float(likened.mean() / max(losses[best].mean(), 1e-300)), evenness(there)
        losses = [likened if i == best else loss * levels for i, loss in enumerate(losses)]
    else:
        losses = [loss * levels for loss in losses]
    tried = losses[best], places, drawn.cluster
    together = together_by(*(once(*tried) if rates else tried))
    stood = independent(places, asked, drawn.cluster, together, drawn.unseen)
    will = independent(asked, places, drawn.asked, together, drawn.unseen)
    will = max(1, round(will * uneven))
    if isinstance(winner, Adding):  # of eight cells and six effects, two errors are independent
        stood = max(1, min(stood, round(winner.effects.freedom)))
    deviations = deviations_of(winner, stood, cells)
    low, middle, high = map(float, range_of(losses[best], stood, will, rng))
    if metric == "rmse" and middle > 0:  # a few large errors make a mean that most sets of cells stay below
        losses = [loss * min(middle / float(losses[best].mean()), MOST_RAISED) for loss in losses]
    if rates:
        low, high = share_of(float(losses[best].mean()), min(stood, few), will)
    root = np.sqrt if metric == "rmse" else np.asarray
    constant = float(losses[0].mean())
    judged = set() if alone else {winner.name, ASSUMED.get(assumed)}  # nothing is drawn of which a seed could decide
    named = tuple(
        RuleError(
            rule.name, float(root(loss.mean())), 1 - float(loss.mean()) / constant if constant > 0 else None,
            beats_constant(cells) if rule.name == "surface" else
            _beyond_chance(rule, entered[0], cells, asked, sure, _margin(told, proof[0], few, cells.quadratic),
                           rule.name in judged),
            float(root(raw.mean())),
        )
        for rule, loss, told, raw in zip(entered, losses, proof, seen, strict=True)
    )  # fmt: skip
    at = next((i for i, rule in enumerate(entered) if rule.name == ASSUMED.get(assumed)), best)
    sums = winner.name.startswith(("additive", "curved", "constant")) or at == best
    margin = 0.0 if sums else _margin(proof[best], proof[at], few)
    clear = winner.name == "surface" or _beyond_chance(winner, entered[at], cells, asked, sure, margin, not alone)
    many = many_rows(seen[best], winner, cells, firsts, asked, sure)
    return Forecast(
        winner.name, named[best].error, float(root(low)), float(root(high)), metric, float(root(constant)),
        named[best].explained, named, len(groups), few, len(asked), _assumed(named, assumed),
        substituted, winner, deviations,
        metric != "log loss" and len(cells.codes) < SMALL, wrong, same, clear,
        float(np.ptp(cells.answers)) if cells.numeric else None,
        0.0 if alone else by_draw(losses[best], metric),
        levels=float(np.sqrt(levels)),
        error_many_rows=None if many is None else named[best].error * float(np.sqrt(many)),
    )  # fmt: skip


def _fewer(cells: Cells, rng: np.random.Generator) -> Cells:
    """At most as many cells as can be fitted in a moment, drawn at random."""
    most = max(FEWEST_CELLS, MOST_NUMBERS // cells.width)
    if len(cells.codes) <= most:
        return cells
    kept = np.sort(rng.choice(len(cells.codes), most, replace=False))
    return cells.take(kept)


def _assumed(rules: Sequence[RuleError], order: int) -> RuleError | None:
    return next((rule for rule in rules if rule.rule == ASSUMED.get(order)), None)


def _margin(loss: Floats, other: Floats, few: int, numbers: bool = False) -> float:
    """How far beyond chance a rule beats another (1: just), by the mean gain, or by how many stand-ins gain: large
    errors are few. ``numbers``: squared errors of the constant, where the gain is judged as a correlation of answers
    with what was left out; its own scatter, that of a few large errors, hides it."""
    gain = other - loss
    if gain.mean() <= 1e-12 * float(other.mean()):
        return 0.0
    signs = 2 * (float((gain > 0).mean()) - 0.5) * np.sqrt(few) / ONE_SIDED
    if not numbers:
        return float(max(gain.mean() / max(gain.std(ddof=1), 1e-300) * np.sqrt(few) / ONE_SIDED, signs))
    spare = max(few / SHARED - 2, 1.0)
    odds = float(gain.mean()) / max(float(loss.mean()), 1e-300)
    return float(max(np.sqrt(spare * odds) / stdtrit(spare, CHANCE), signs))


def _beyond_chance(
    rule: Rule, other: Rule, cells: Cells, asked: Ints, sure: Floats, margin: float, judged: bool
) -> bool:
    """Whether a rule beats another (the constant) beyond chance; of one that is judged by it, whatever the seed."""
    if not judged or isinstance(rule, Learner) or not 1 / BORDER < margin < BORDER:
        return margin > 1
    margins = []
    for again in range(AGAIN):
        drawn = stand_ins(cells.codes, cells.shape, asked, STAND_INS, np.random.default_rng(again), cells.curves).groups
        firsts = [int(group[0]) for group in drawn]
        one, two = (proof_of(r, r.left_out(drawn), firsts, cells, sure) for r in (rule, other))
        constant = cells.quadratic and other.name == "constant"
        margins.append(_margin(one, two, len(set(firsts)), constant))
    return float(np.median(margins)) > 1


def _substitution(entered: list[Rule], losses: list[Floats], asked: Ints) -> dict[str, float | None] | None:
    found = [(r, loss) for r, loss in zip(entered, losses, strict=True) if isinstance(r, Substitution)]
    if not found:
        return None
    rule, loss = found[0]
    tried, guessed = rule.right[rule.covers], rule.guessed[rule.covers]
    return {
        "evidence": rule.evidence,
        "covered": int(rule.covered(asked).sum()),
        "asked": len(asked),
        "tried": len(tried),
        "right": float(tried.mean()) if len(tried) else None,
        "guessed": float(guessed.mean()) if len(tried) else None,
        "elsewhere": None if rule.covers.all() else 1 - float(loss[~rule.covers].mean()),
    }
