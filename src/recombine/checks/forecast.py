"""How wrong will the answers to asked combinations be? A contest of rules on seen cells that stand in for them.

    error = √ mean e²  (numbers), mean share of rows wrong or mean −log p (classes), over the stand-ins, each left out
    with the cells around it (`stand_ins`)

Of numbers, the middle of what this is for as many cells as are asked, drawn anew: most sets of a few cells stay below
the mean of all, since large errors are rare. ``low``–``high`` is meant as a 90 % interval for the error that will be
seen: the stand-ins are few, the asked cells are few, and errors of cells that share levels go together. The interval of
one cell is as many standard deviations wide as 90 % of the stand-ins need.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

import numpy as np
from scipy.special import betaincinv, betaln, ndtri, stdtrit

from recombine.checks.contestants import contestants
from recombine.checks.effects import DENSE
from recombine.checks.expected import Forecast, RuleError
from recombine.checks.harder import asked_over_tried
from recombine.checks.learners import Learner, learners
from recombine.checks.modular import Floats, Ints
from recombine.checks.rules import LEAST_FREEDOM, Adding, Cells, Odds, Rule
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
COVERED = 0.9
DRAWS = 2_000
WORTH = 0.3
"""Standard errors by which a less simple rule must be better to be recommended."""
SURER = 1.0
"""The same of the few points of a design, of shares wrong, of which by chance some rule always looks better, and of how
likely answers are on another scale; a surface had its test."""
HALVES = 20
"""Times that the cells are halved to see what choosing a rule by one half is worth on the other."""
TIE = 0.01
"""Share of the loss that is no difference: as much as rounding to three digits hides of an error; and of log densities,
in nats."""
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
TAILS = np.array([0.05, 0.95])
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
    metric = _metric(cells)
    nearer = [1.0] * len(entered)
    if alone:
        even = [r.evenly_left_out(asked) if isinstance(r, Adding) else (r.left_out(groups), 1.0) for r in entered]
        said, nearer = [one for one, _ in even], [factor for _, factor in even]
    else:
        said = [rule.left_out(groups) for rule in entered]
    truth, places, densities = cells.answers[firsts], cells.codes[firsts], [_density(rule) for rule in entered]
    sizes = [rule.variance if isinstance(rule, Adding) and _on_scale(rule) else None for rule in entered]
    seen = [losses_of(truth, answers, metric) for answers in said]
    substituted = _substitution(entered, seen, asked)  # now: it holds what it was last tried on
    least = losses_of(truth, truth, "log loss") if metric == "log loss" else np.zeros(len(truth))
    losses = [_as_learnt(loss, least, rule, cells) for rule, loss in zip(entered, seen, strict=True)]
    rates = metric == "error rate"
    worth = [SURER if rates or (alone and rule.name != "surface") else WORTH for rule in entered]
    sure = _sure(entered[1], len(cells.codes))
    proof = [_proof(rule, answers, firsts, cells, sure) for rule, answers in zip(entered, said, strict=True)]
    told_apart = proof if cells.numeric else [loss - least for loss in seen]
    worse = [i for i, loss in enumerate(losses) if metric == "log loss" and loss.mean() >= losses[0].mean()]
    best = _choose(told_apart, few, worth, _off_scale(entered, densities, few).union(worse))
    wrong = same = None
    if rates:
        losses = _charged(losses, losses, best, np.array(firsts), truth, worth)
    elif metric == "log loss":  # beside it stands the share wrong
        beside = [losses_of(truth, answers, "error rate") for answers in said]
        charged = _charged(beside, told_apart, best, np.array(firsts), truth, worth)
        wrong, same = float(charged[best].mean()), float(charged[0].mean())
    losses = [loss * factor for loss, factor in zip(losses, nearer, strict=True)]
    told = not alone and len(cells.codes) >= SMALL  # of fewer, levels that err more are chance
    winner, uneven = entered[best], 1.0
    levels = asked_over_tried(winner, asked, places) if isinstance(winner, Adding) and told else 1.0
    if isinstance(winner, Adding) and not alone and (size := sizes[best]) is not None:
        there = winner.varies(asked)
        likened = _likened(losses[best], size, there)
        levels, uneven = float(likened.mean() / max(losses[best].mean(), 1e-300)), _even(there)
        losses = [likened if i == best else loss * levels for i, loss in enumerate(losses)]
    else:
        losses = [loss * levels for loss in losses]
    tried = losses[best], places, drawn.cluster
    together = _together(*(_once(*tried) if rates else tried))
    stood = _independent(places, asked, drawn.cluster, together, drawn.unseen)
    will = _independent(asked, places, drawn.asked, together, drawn.unseen)
    will = max(1, round(will * uneven))
    if isinstance(winner, Adding):  # of eight cells and six effects, two errors are independent
        stood = max(1, min(stood, round(winner.effects.freedom)))
    deviations = _deviations(winner, stood, cells)
    low, middle, high = map(float, _range(losses[best], stood, will, rng))
    if metric == "rmse" and middle > 0:  # a few large errors make a mean that most sets of cells stay below
        losses = [loss * min(middle / float(losses[best].mean()), MOST_RAISED) for loss in losses]
    if rates:
        low, high = _share(float(losses[best].mean()), min(stood, few), will)
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
    many = _many_rows(seen[best], winner, cells, firsts, asked, sure)
    return Forecast(
        winner.name, named[best].error, float(root(low)), float(root(high)), metric, float(root(constant)),
        named[best].explained, named, len(groups), few, len(asked), _assumed(named, assumed),
        substituted, winner, deviations,
        metric != "log loss" and len(cells.codes) < SMALL, wrong, same, clear,
        float(np.ptp(cells.answers)) if cells.numeric else None,
        0.0 if alone else _by_draw(losses[best], metric),
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
        one, two = (_proof(r, r.left_out(drawn), firsts, cells, sure) for r in (rule, other))
        constant = cells.quadratic and other.name == "constant"
        margins.append(_margin(one, two, len(set(firsts)), constant))
    return float(np.median(margins)) > 1


def _sure(additive: Rule, cells: int) -> Floats:
    """What a squared error of each seen cell counts where rules are compared: less where few rows make its mean."""
    return additive.sure if isinstance(additive, Adding) else np.ones(cells)


def _many_rows(losses: Floats, rule: Rule, cells: Cells, firsts: list[int], asked: Ints, sure: Floats) -> float | None:
    """Share of a squared error that is left against means of very many rows: without the noise that stand-ins' own
    means have, pure / rows. At least what the fit itself is unsure of."""
    if not cells.pure or cells.rows.sum() - len(cells.rows) < LEAST_FREEDOM:
        return None
    one_row = rule.row_variance() if isinstance(rule, Adding) else np.full(len(cells.rows), cells.pure)
    own, weight = (one_row / cells.rows)[firsts], sure[firsts] ** 2
    least = rule.unsure(asked) if isinstance(rule, Adding) else 0.0
    left = max(float(np.average(losses - own, weights=weight)), least)
    return left / (left + float(own.mean()))


def _metric(cells: Cells) -> str:
    if cells.numeric:
        return "rmse"
    return "error rate" if (cells.answers.max(axis=1) == 1).all() else "log loss"


def _learnt(rule: Rule, cells: Cells) -> float:
    """What the variances of a rule's blocks make its loss look too small: they are learnt with the stand-ins. Charged
    as by degrees of freedom."""
    if not isinstance(rule, (Adding, Odds)):
        return 1.0
    return float(len(cells.codes) / max(len(cells.codes) - 1 - rule.variances, 1))


def _as_learnt(losses: Floats, least: Floats, rule: Rule, cells: Cells) -> Floats:
    """Losses charged for what the rule learnt with the stand-ins. Of a log loss only what is more than ``least``, the
    entropy of the cells' own rows, is any rule's doing; of a few rows, whose entropy is too small, the fourth root of
    the whole is charged, if that is less."""
    cost, whole = _learnt(rule, cells), max(float(losses.mean()), 1e-300)
    if cells.numeric or cells.certain:
        return np.asarray(losses * cost)
    return np.asarray(losses * min(1 + (cost - 1) * (1 - float(least.mean()) / whole), cost**0.25))


def _proof(rule: Rule, said: Floats, firsts: Sequence[int], cells: Cells, sure: Floats) -> Floats:
    """Losses of stand-ins by which rules are held against each other: squared errors, or how far the shares of classes
    are off what was said, Σ t log t / p, which of several rows is a squared error in units of their noise."""
    truth, weight = cells.answers[list(firsts)], sure[list(firsts)]
    if cells.numeric:
        return np.asarray(losses_of(truth, said, "rmse") * _learnt(rule, cells) * weight)
    off = losses_of(truth, said, "log loss") - losses_of(truth, truth, "log loss")
    return np.asarray(off * weight * (_learnt(rule, cells) if cells.quadratic else 1.0))


def losses_of(truth: Floats, said: Floats, metric: str) -> Floats:
    """The loss of each cell: squared error, share of rows wrong, or minus log probability."""
    if metric == "rmse":
        return np.asarray((truth - said[:, 0]) ** 2)
    if metric == "error rate":
        return np.asarray(1 - truth[np.arange(len(truth)), said.argmax(axis=1)])
    return np.asarray(-(truth * np.log(np.clip(said, 1e-6, 1))).sum(axis=1))


def _on_scale(rule: Adding) -> bool:
    """Whether the size of an error goes with that of the answer by a scale that is known beforehand."""
    return rule.scale.name != "" and not rule.scale.learnt and not rule.saturated


def _likened(losses: Floats, tried: Floats, asked: Floats) -> Floats:
    """Squared errors as of cells as uncertain as the asked ones, by what the rule's scale says of each: where effects
    multiply, one large answer errs more than all small ones. Errors of the large ones are few and those of the small
    ones tell little of them, so they count by the root of what they are expected to be."""
    root = np.sqrt(np.maximum(tried, 1e-12 * max(float(tried.max()), 1e-300)))
    return np.asarray(losses / root * (float(asked.mean()) / float(root.mean())))


def _even(asked: Floats) -> float:
    """Share of the asked cells that tell as much as all of them, if equally uncertain."""
    return float(np.sqrt(asked).mean() ** 2 / max(float(asked.mean()), 1e-300))


def _density(rule: Rule) -> Floats | None:
    """Of single effects that add up, on whatever scale: other rules differ in more than their scale."""
    return rule.density if isinstance(rule, Adding) and rule.name.startswith("additive") else None


def _off_scale(entered: list[Rule], densities: list[Floats | None], few: int) -> set[int]:
    """Rules under whose forecasts the stand-ins are less likely than under those of a rule on another scale; a simpler
    rule only where that is clear. A few large answers make nearly all of a squared error, so that by chance the wrong
    scale often has the smaller one; how likely answers are, all of them tell alike (Box and Cox 1964, here of what was
    left out)."""
    told = [(i, rule.scale.name, d) for i, (rule, d) in enumerate(zip(entered, densities, strict=True))
            if isinstance(rule, Adding) and d is not None]  # fmt: skip
    lost = set[int]()
    for i, scale, density in told:
        for j, other, beside in told:
            gain, sure = beside - density, SURER if i < j else WORTH
            if scale != other and gain.mean() > max(sure * gain.std(ddof=1) / np.sqrt(few), TIE):
                lost.add(i)
    return lost


def _choose(losses: list[Floats], few: int, worth: list[float], lost: Container[int] = ()) -> int:
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


def _charged(
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
            i = _choose([loss[one] for loss in losses], len(np.unique(firsts[one])), worth) if one.sum() > 1 else best
            same = 1 - float(truth[other, truth[one].sum(axis=0).argmax()].mean())
            found.append((same, float(table[i, other].mean()) if i else same))
    same, chosen = np.mean(found, axis=0)
    for i, told in ((0, same), *([(best, min(chosen, max(same, table[0].mean())))] if best else [])):
        own = float(table[i].mean())
        table[i] = table[i] * (max(told, own) / own) if own > 0 else table[i] + told
    return [row / max(float(row.mean()), 1.0) for row in table]  # no more than all are wrong


def _by_draw(losses: Floats, metric: str) -> float:
    """Standard deviation of the error from one draw of stand-ins to the next: each is drawn by itself."""
    spread = float(losses.std(ddof=1)) / np.sqrt(len(losses))
    return float(spread / (2 * np.sqrt(max(losses.mean(), 1e-300))) if metric == "rmse" else spread)


def _range(losses: Floats, stood: int, will: int, rng: np.random.Generator) -> Floats:
    """5 %, half and 95 % of the mean loss of as many cells as are asked, drawn anew, over that of as many stand-ins."""
    if losses.max() <= 0:
        return np.zeros(3)
    seen = np.maximum(rng.choice(losses, (DRAWS, stood)).mean(axis=1), 1e-3 * losses.mean())
    drawn = rng.choice(losses, (DRAWS, will)).mean(axis=1) / seen
    return np.asarray(np.quantile(drawn, [TAILS[0], 0.5, TAILS[1]]) * losses.mean())


def _share(wrong: float, stood: int, will: int) -> tuple[float, float]:
    """5 % and 95 % of the share wrong of as many answers as are asked, where this share of so many was (beta-binomial,
    every share as likely beforehand): none wrong of a few is not none, and a few draws differ by chance."""
    a, b, k = wrong * stood + 1, max(1 - wrong, 0.0) * stood + 1, np.arange(will + 1)
    chance = betaln(k + a, will - k + b) - betaln(a, b) - betaln(k + 1, will - k + 1) - np.log(will + 1)
    low, high = np.searchsorted(np.cumsum(np.exp(chance)), TAILS) / will
    rate = betaincinv(a, b, TAILS)  # likeliest of one answer is that it is right: that is not all
    return float(min(low, rate[0])), float(min(max(high, rate[1]), 1.0))


def _once(losses: Floats, places: Ints, cluster: Ints) -> tuple[Floats, Ints, Ints]:
    """Each cell once: one that was drawn several times is right or wrong each time, which is no sign of its levels."""
    distinct, first, of = np.unique(places, axis=0, return_index=True, return_inverse=True)
    return np.bincount(of.ravel(), losses) / np.bincount(of.ravel()), distinct, cluster[first]


def _together(losses: Floats, places: Ints, cluster: Ints) -> tuple[Floats, float]:
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


def _independent(here: Ints, there: Ints, cluster: Ints, together: tuple[Floats, float], unseen: float) -> int:
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


def _deviations(rule: Rule, independent: int, cells: Cells) -> float:
    """Standard deviations that cover nine of ten stand-ins: more of them where few are independent, and as t has it
    where few cells are left to learn the noise from. Of fewer than nine no share is nine of ten: t at least."""
    if not isinstance(rule, Adding):
        return 0.0
    levels = {k: len(np.unique(level)) - 1 for k, level in enumerate(cells.codes.T)}
    effects = sum((levels | {k: curve.width for k, curve in cells.curves.items()}).values())
    least = float(stdtrit(max(len(cells.codes) - 1 - effects, 1), TAILS[1]))
    share = min(1.0, float(np.ceil(COVERED * (independent + 1))) / independent)
    found = float(np.quantile(rule.surprise, share, method="higher")) * least / float(ndtri(TAILS[1]))
    return found if share < 1 else max(found, least)


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
