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

from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.forecasts.chosen import charged_for
from recombine.checks.forecasts.contest import LEVEL, Contest, draw, hold, nearer_of
from recombine.checks.forecasts.error_range import (
    by_draw,
    deviations_of,
    evenness,
    independent,
    likened_to,
    of_normal,
    on_scale,
    once,
    range_of,
    share_of,
    together_by,
)
from recombine.checks.forecasts.expected import Forecast, RuleError
from recombine.checks.forecasts.harder import asked_over_tried
from recombine.checks.forecasts.losses import losses_of, many_rows, proof_of
from recombine.checks.headed import Headed
from recombine.checks.rules.adding import Adding
from recombine.checks.rules.cut_short import Series
from recombine.checks.rules.effects import DENSE
from recombine.checks.rules.learners import Learner
from recombine.checks.rules.odds import Odds
from recombine.checks.rules.rule import Rule
from recombine.checks.rules.scales import PLAIN
from recombine.checks.rules.seen_cells import Cells
from recombine.checks.rules.stand_ins import StandIns
from recombine.checks.rules.surface import beats_constant, each_alone

FEWEST = 6
"""Distinct stand-ins without which nothing is forecast."""
SMALL = 15
"""Seen combinations below which the interval held less often than it is meant to, except of log losses: 1 026 of
1 185 times on planted sums and designs of 9 to 14; of 16 to 20 with 5 or 6 beyond the effects 814 of 900 times."""
MOST_RAISED = 2.0
"""The middle over the mean of squared errors, at most: of one or two stand-ins some are nil by chance."""
ONE_SIDED = 2.576
"""Standard errors by which a rule must beat another, in the mean or in count: one in a hundred by chance."""
CHANCE, SHARED = 0.99, 1.5
"""How sure it must be that levels differ in their classes (`levels_differ`). Numbers: the same of the share of the
constant's squared error that a rule takes away, and how many stand-ins, which share levels, count for one of it: on
planted noise 2 to 3 of 100 pass."""
BORDER = 1.3
"""How near to that it is decided by most of a few further draws of stand-ins, the same ones whatever the seed: else
the verdict were a matter of the seed."""
FEWEST_CELLS, MOST_NUMBERS = 2_000, 4_000_000
"""Cells that are used in any case; cells × effects above which no more are."""
NEXT_TO_NOTHING = 0.002
"""Share of a loss by which another rule's is lower that is of no use, however many rows tell it from chance."""
LEFT_OUT = 1.5
"""How many times fewer answers tell a share wrong as well as those left out: these have made the fits by which each
other one is right or wrong, so that the share varies more than by as many coins."""
ASSUMED = {1: "additive", 2: "pairs"}
"""The rule that “determined” rests on, by the order of effects."""


def forecast(
    cells: Cells, asked: Ints, *, assumed: int = 1, more: Sequence[str] = (), seed: int = 0,
    series: Series | None = None,
) -> Forecast | str:  # fmt: skip
    """The contest for these asked cells, or a sentence why there is none. ``assumed`` is the order of the effects taken
    to add up, ``more`` names learners that join, ``series`` are those that are asked about beyond their end: others are
    cut as short, where there are enough."""
    if not len(asked):
        return "no forecast: no unseen combination that is determined is asked about."
    if cells.width > DENSE:
        return Headed(
            f"no forecast and no estimates: the factors have {cells.width:,} levels in all, rules are tried on "
            f"up to {DENSE:,}; group rare levels, or check the part of the table that matters.",
            f"Nothing is forecast or estimated: {cells.width:,} levels are more than the {DENSE:,} that rules are "
            "tried on.",
        )
    rng = np.random.default_rng(seed)
    cells = _fewer(cells, rng)
    alone = each_alone(cells, asked)
    series = None if alone else series
    drawn = alone or draw(cells, asked, rng, series)
    if series is not None and _distinct(drawn) < FEWEST:
        series, drawn = None, draw(cells, asked, rng, None)
    if (few := _distinct(drawn)) < FEWEST:
        found = f"{few} were drawn, {FEWEST} are needed"
        return f"no forecast: too few seen combinations could be left out as the asked ones are ({found})."
    return _expected(hold(cells, asked, drawn, alone is not None, more, seed, series), assumed, rng)


def _distinct(drawn: StandIns) -> int:
    return len({int(group[0]) for group in drawn.groups})


def _expected(contest: Contest, assumed: int, rng: np.random.Generator) -> Forecast:
    """The error to expect of the rule that won, and the range of this error."""
    cells, best, winner, metric = contest.cells, contest.best, contest.winner, contest.metric
    charged, wrong, same = _charged(contest)
    losses, levels, uneven = _at_asked(contest, charged, best)
    stood, will = _independent(contest, losses[best], uneven)
    deviations = deviations_of(winner, stood, cells)
    stood = winner.at_most(stood) if isinstance(winner, Adding) else stood
    low, middle, high = map(float, range_of(losses[best], stood, will, rng))
    if isinstance(winner, Adding) and not winner.saturated:
        least = of_normal(float(losses[best].mean()), winner.freedom, max(1, round(len(contest.asked) * uneven)))
        low, high = min(low, float(least[0])), max(high, float(least[1]))
    if metric == "rmse":
        losses = [loss * _raised(middle, losses[best]) for loss in losses]
    if contest.rates:
        known = min(stood, contest.few) / (LEFT_OUT if best else 1)  # the constant is told by all seen cells
        low, high = share_of(float(losses[best].mean()), max(1, round(known)), will)
    named = _rule_errors(contest, losses, assumed, _one_answer(contest, losses))
    many = many_rows(contest.seen[best], winner, cells, contest.firsts, contest.asked, contest.sure)
    error, still = named[best].error, contest.alone or (contest.rates and not best)  # told by no draw
    return Forecast(
        rule=winner.name, error=error, low=_rooted(low, metric), high=_rooted(high, metric), metric=metric,
        constant=named[0].error, explained=named[best].explained, rules=named,
        stand_ins=len(contest.firsts), distinct=contest.few, cells=len(contest.asked),
        assumed=next((rule for rule in named if rule.rule == ASSUMED.get(assumed)), None),
        substitution=contest.substituted, _best=winner, _deviations=deviations,
        small=metric != "log loss" and len(cells.codes) < SMALL, wrong=wrong, wrong_constant=same,
        outdone=_outdone(contest, losses, assumed), scale_told=_scale_told(contest),
        span=float(np.ptp(cells.answers)) if cells.numeric else None,
        by_draw=0.0 if still else by_draw(losses[best], metric), levels=float(np.sqrt(levels)), series=contest.series,
        error_many_rows=None if many is None else error * float(np.sqrt(many)),
    )  # fmt: skip


def _fewer(cells: Cells, rng: np.random.Generator) -> Cells:
    """At most as many cells as can be fitted in a moment, drawn at random."""
    most = max(FEWEST_CELLS, MOST_NUMBERS // cells.width)
    if len(cells.codes) <= most:
        return cells
    kept = np.sort(rng.choice(len(cells.codes), most, replace=False))
    return cells.take(kept)


def _charged(contest: Contest) -> tuple[list[Floats], float | None, float | None]:
    """Losses of each rule, charged for having been chosen where they are few answers right or wrong, and, beside a log
    loss, the shares wrong of the rule that won and of the commonest class."""
    firsts, truth, losses, seen = np.array(contest.firsts), contest.truth, contest.losses, contest.cells.answers
    by, wrong, same = (contest.lost, contest.after_all), None, None
    if contest.rates:
        losses = charged_for(losses, losses, contest.best, firsts, truth, contest.worth, seen, *by)
    elif contest.metric == "log loss":
        beside = [losses_of(truth, answers, "error rate") for answers in contest.said]
        told, worth = contest.told_apart, contest.worth
        charged = charged_for(beside, told, contest.best, firsts, truth, worth, seen, *by)
        wrong, same = float(charged[contest.best].mean()), float(charged[0].mean())
    return [loss * factor for loss, factor in zip(losses, contest.nearer, strict=True)], wrong, same


def _raised(middle: float, losses: Floats) -> float:
    """A few large errors make a mean that most sets of cells stay below: how far the middle of these is from it."""
    return min(middle / float(losses.mean()), MOST_RAISED) if middle > 0 else 1.0


def _one_answer(contest: Contest, losses: list[Floats]) -> float:
    """The loss to expect of the same answer for all: of numbers what the rule that won errs by, and how far that answer
    is from those of this rule to the asked cells. By the cells left out it would depend on which have large effects."""
    best, told = contest.best, float(losses[contest.best].mean())
    if not best or not contest.cells.numeric:
        return max(float(losses[0].mean()), told)
    said, same = (contest.rules[i].answer(contest.asked).reshape(-1) for i in (best, 0))
    return told + float(np.mean((said - same) ** 2))


def _at_asked(contest: Contest, losses: list[Floats], best: int) -> tuple[list[Floats], float, float]:
    """Losses as of cells of the levels that are asked about, or as uncertain as these, by one rule, how many times
    larger that makes them, and the share of the asked cells that tell as much as all."""
    winner, variance = contest.rules[best], contest.variances[best]
    if isinstance(winner, Adding) and not contest.alone and variance is not None and on_scale(winner):
        there = winner.varies(contest.asked)
        if contest.cells.weights is not None:
            by_weight = [_weighed(contest, i, loss) for i, loss in enumerate(losses)]
            levels = float(by_weight[best].mean() / max(losses[best].mean(), 1e-300))
            return by_weight, levels, evenness(winner.varies(contest.asked, dealt=True))
        likened = likened_to(losses[best], variance, there)
        levels = float(likened.mean() / max(losses[best].mean(), 1e-300))
        return [likened if i == best else loss * levels for i, loss in enumerate(losses)], levels, evenness(there)
    told = not contest.alone and len(contest.cells.codes) >= SMALL  # of fewer, levels that err more are chance
    levels = asked_over_tried(winner, contest.asked, contest.places) if isinstance(winner, Adding) and told else 1.0
    known = [levels * _by_fit(contest, i) for i in range(len(losses))]
    return [loss * factor for loss, factor in zip(losses, known, strict=True)], known[best], 1.0


def _by_fit(contest: Contest, i: int) -> float:
    """The variance of asked answers over that of answers left out, by a rule. A stand-in is left as few cells of each
    level as an asked one, not as many rows, and of a design, which has hardly more cells than effects, what is left
    without it tells far less."""
    rule, tried, asked = contest.rules[i], contest.variances[i], contest.asked
    if not isinstance(rule, Adding) or tried is None or contest.alone or rule.saturated or rule.scale is not PLAIN:
        return 1.0
    if rule.name not in ASSUMED.values() and not (rule.weighed and contest.cells.thin(asked).any()):
        return 1.0
    own = float(rule.effects.noise[contest.firsts].mean())
    return float((rule.effects.predict(asked, own)[1] ** 2).mean() / max(float(tried.mean()), 1e-300))


def _weighed(contest: Contest, i: int, losses: Floats) -> Floats:
    """Losses of a rule as of rows that weigh what the asked ones do."""
    rule, tried = contest.rules[i], contest.variances[i]
    if not isinstance(rule, Adding) or tried is None or not on_scale(rule):
        return losses
    return likened_to(losses, tried, rule.varies(contest.asked))


def _independent(contest: Contest, losses: Floats, uneven: float) -> tuple[int, int]:
    """As how many independent errors those of the stand-ins count, and those of the asked cells."""
    drawn, asked, places = contest.drawn, contest.asked, contest.places
    tried = losses, places, drawn.cluster
    together = together_by(*(once(*tried) if contest.rates else tried))
    stood = independent(places, asked, drawn.cluster, together, drawn.unseen)
    will = independent(asked, places, drawn.asked, together, drawn.unseen)
    return stood, max(1, round(will * uneven))


def _rule_errors(contest: Contest, losses: list[Floats], assumed: int, same: float) -> tuple[RuleError, ...]:
    """What each rule errs by, the ``same`` answer for all by itself, and whether it beats these beyond chance."""
    cells, constant, metric = contest.cells, float(losses[0].mean()), contest.metric
    judged = set() if contest.alone else {contest.winner.name, ASSUMED.get(assumed)}  # alone: no seed could decide it
    found = list[RuleError]()

    def beyond(rule: Rule, proof: Floats) -> bool:
        margin = _margin(contest.kind, proof, contest.proof[0], contest.few, cells.quadratic)
        return _beyond_chance(contest, rule, contest.rules[0], margin, rule.name in judged)

    for rule, loss, proof, seen in zip(contest.rules, losses, contest.proof, contest.seen, strict=True):
        if rule.name == "surface":
            beats = beats_constant(cells)
        elif isinstance(rule, Odds) and rule.name != "pairs":
            sure = contest.by_chance <= 1 - CHANCE or (contest.by_chance <= LEVEL and beyond(rule, proof))
            beats = bool(sure and proof.mean() < contest.proof[0].mean())
        else:
            beats = beyond(rule, proof)
        explained = 1 - float(loss.mean()) / constant if constant > 0 else None
        error = float(loss.mean()) if found else same
        found.append(
            RuleError(rule.name, _rooted(error, metric), explained, beats, _rooted(float(seen.mean()), metric))
        )
    return tuple(found)


def _outdone(contest: Contest, losses: list[Floats], assumed: int) -> bool:
    """Whether the rule that won is no sum of single effects and beats, beyond chance and by more than next to nothing,
    the one that “determined” rests on."""
    best, winner, proof = contest.best, contest.winner, contest.proof
    at = next((i for i, rule in enumerate(contest.rules) if rule.name == ASSUMED.get(assumed)), best)
    sums = winner.name.startswith(("additive", "curved", "constant")) or at == best
    sums = sums or float((losses[at] - losses[best]).mean()) < NEXT_TO_NOTHING * float(losses[at].mean())
    margin = 0.0 if sums else _margin(contest.kind, proof[best], proof[at], contest.few)
    return winner.name == "surface" or _beyond_chance(contest, winner, contest.rules[at], margin, not contest.alone)


def _scale_told(contest: Contest) -> bool:
    """Whether sums on the scale that won err less than those in the answer's own units beyond chance."""
    at = next((i for i, rule in enumerate(contest.rules) if rule.name == ASSUMED[1]), None)
    if at is None or not contest.winner.name.startswith(f"{ASSUMED[1]} on "):
        return False
    margin = _margin(contest.kind, contest.proof[contest.best], contest.proof[at], contest.few)
    return _beyond_chance(contest, contest.winner, contest.rules[at], margin, not contest.alone)


def _rooted(loss: float, metric: str) -> float:
    """A mean loss in the units in which it is told."""
    return float(np.sqrt(loss)) if metric == "rmse" else loss


def _margin(kind: np.ndarray, loss: Floats, other: Floats, few: int, numbers: bool = False) -> float:
    """How far beyond chance a rule beats another (1: just), by the mean gain, or by how many stand-ins gain, of either
    ``kind`` alike: large errors are few. ``numbers``: squared errors of the constant, where the gain is judged as a
    correlation of answers with what was left out; its own scatter, that of a few large errors, hides it."""
    gain = other - loss
    if gain.mean() <= 1e-12 * float(other.mean()):
        return 0.0
    kinds = [one for one in (kind, ~kind) if one.any()]
    more, size = sum(float((gain[one] > 0).mean()) - 0.5 for one in kinds), sum(1 / one.mean() for one in kinds)
    signs = 2 * more * np.sqrt(few / size) / ONE_SIDED
    if not numbers:
        return float(max(gain.mean() / max(gain.std(ddof=1), 1e-300) * np.sqrt(few) / ONE_SIDED, signs))
    spare = max(few / SHARED - 2, 1.0)
    odds = float(gain.mean()) / max(float(loss.mean()), 1e-300)
    return float(max(np.sqrt(spare * odds) / stdtrit(spare, CHANCE), signs))


def _beyond_chance(contest: Contest, rule: Rule, other: Rule, margin: float, judged: bool) -> bool:
    """Whether a rule beats another (the constant) beyond chance; of one that is judged by it, whatever the seed."""
    if not judged or isinstance(rule, Learner) or not 1 / BORDER < margin < BORDER:
        return margin > 1
    cells, margins = contest.cells, []
    for drawn in contest.further:
        firsts = [int(group[0]) for group in drawn]
        two, one = (proof_of(r, r.left_out(drawn), firsts, cells, contest.sure) for r in (other, rule))
        if cells.between(contest.asked):
            two, one = (
                loss * near for loss, near in zip((two, one), nearer_of([other, rule], contest.asked), strict=True)
            )
        constant = cells.quadratic and other.name == "constant"
        margins.append(_margin(cells.commonest_alone[firsts], one, two, len(set(firsts)), constant))
    return float(np.median(margins)) > 1
