"""Do the answers on unseen combinations follow a simpler rule: one factor alone, a copy of a neighbour's answer, a sum?

A rule is fitted to the training answers and allows, for each unseen combination u, some *wrong* answers: those it would
give there. So the true rule allows none and is never named. G[u, v] says how well the answer given at v would follow
the rule at u; of numbers, it is the error made at v that is made at u instead. The share that follows is the mean of
G[u, u]; answers that follow no rule, handed out to combinations at random, give the mean of G, and drawing them
anew gives the p-value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc, gammaln

from recombine.checks.exact.identifiability import DETERMINED
from recombine.mechanisms.answers.answered import Answers, Trained, distance
from recombine.mechanisms.answers.finding import FEWEST, LEVEL, LIFT, MOST_OF, Finding
from recombine.mechanisms.answers.names import NOTHING, brief
from recombine.mechanisms.causes.determined import standing
from recombine.mechanisms.compared.comparing import uncertain
from recombine.statistics import FloatArray, Interval, Over, handed_out, over_examples, share_apart_from

AS_GOOD = 0.8
"""A single factor that accounts for this share of what copying accounts for is the simpler story."""
COPIED = 0.8
"""Copying allows any of many answers, near which numbers fall that were never copied: nearly all have to be such. So
does a factor whose levels give several; …"""
COPIED_NUMBERS = 0.75
"""How far from chance to certainty numbers have to be copies: with many levels any number is near some neighbour's. Of
planted copies it was .84 and more, of answers that lack something .66 and less."""
HALF = 0.5
"""… if it lets more than this pass by chance, it is no rule."""
OFTEN = 0.6
"""A level gives the class it was seen with most often, and those seen this share as often. So has a combination right
ones: a few rows that were labelled amiss make no wrong answer right."""
NEARLY_ALL = 0.95
"""Answers that have to follow one factor where that is told by where they are right (`_wrong_with`), or of several
classes that a level nearly as often has the first alone: who uses two factors of several follows each in most."""
MANY_ROWS = 20
"""Examples from which one factor's rule can be told from guessing at combinations too few to be shuffled."""
FEWEST_WAYS = 1_000
"""Ways to hand answers out to combinations below which shuffling them shows nothing, and examples are asked."""
BY_COMBINATIONS = 0.05
"""What shuffling has to show all the same, as rows of one combination are answered together."""
MOST_FACTORS = 6
"""Factors up to which it is looked whether two of them are ignored."""

BEHAVIOUR = "It says which rule the answers agree with, not how they are computed."


@dataclass(frozen=True, eq=False)
class Rule:
    """Which answers a rule allows at each unseen combination: (unseen × options), and the options themselves."""

    id: str
    mechanism: str
    what: str
    mask: NDArray[np.bool_]
    options: FloatArray
    first: FloatArray | None = None
    """Of classes, the most frequent of those alone that ``options`` have nearly as often: the same shape."""

    @property
    def left(self) -> str:
        """The factors that are ignored, in words."""
        return self.mechanism.removesuffix(" ignored")

    @property
    def usual(self) -> bool:
        """Whether it gives what some of the levels usually have in training, which may be several answers."""
        return self.id.startswith(("factor", "ignored"))


def rules(asked: Answers, trained: Trained, summed: Sequence[FloatArray]) -> list[Rule]:
    """The answer of each factor alone and of all others, the answers of seen combinations that differ in one factor,
    and what adding up the effects of levels says (``summed``: one or more fits, each unseen × …)."""
    found = []
    for j, name in enumerate(map(brief, asked.space.names)):
        levels = np.unique(trained.codes[:, j])
        means = np.stack([_usual(asked, trained, trained.codes[:, j] == level) for level in levels])
        mask = asked.codes[:, j][:, None] == levels[None]
        what = f"answers that {name} alone gives in training, where they are wrong"
        first = None
        if asked.classes is not None and len(asked.space) < 4:
            first = np.stack([_usual(asked, trained, trained.codes[:, j] == level, 1.0) for level in levels])
        found.append(Rule(f"factor {j + 1}", f"shortcut by {name}", what, mask, means, first))
    if len(asked.space) > 2:  # Of two factors, it is the other one's answer.
        effects = _effects(asked.space.shape, trained)
        found += [_ignoring(asked, trained, [j], effects) for j in range(len(asked.space))]
    if summed and len(asked.space) > 1:
        said = np.concatenate(summed)
        if asked.classes is not None:
            said = np.eye(said.shape[1])[said.argmax(axis=1)]
        # What a sum says of a combination that training leaves open is arbitrary, even if adding up is right.
        mask = np.tile(np.diag(standing(asked) <= DETERMINED), len(summed))
        if asked.patterns is not None:  # A sum at each place may be no answer that is known.
            mask &= said[:, -1] == 0
        what = "answers that adding up what levels give in training would give, where they are wrong"
        found.append(Rule("additive", "additive rule", what, mask, said))
    apart = np.zeros((len(asked.codes), len(trained.codes)), dtype=np.int16)
    for j in range(len(asked.space)):
        apart += asked.codes[:, j][:, None] != trained.codes[:, j][None]
    what = "answers copied from a seen combination that differs in one factor, where they are wrong"
    found.append(Rule("copy", "memorization: a copied answer", what, np.asarray(apart == 1), trained.answers))
    return found


def two_ignored(asked: Answers, trained: Trained) -> list[Rule]:
    """What all factors but two give, of four to six: of three, it is one factor's answer."""
    k = len(asked.space)
    if not 4 <= k <= MOST_FACTORS:
        return []
    effects = _effects(asked.space.shape, trained)
    return [_ignoring(asked, trained, pair, effects) for pair in combinations(range(k), 2)]


def _effects(shape: Sequence[int], trained: Trained, left: Sequence[int] = ()) -> FloatArray:
    """Effects of levels that add up to training's answers, by least squares; none of factors that are ``left`` out."""
    root, starts = np.sqrt(trained.weights)[:, None], np.cumsum([0, *shape])
    x = np.hstack([np.eye(size)[trained.codes[:, j]] for j, size in enumerate(shape)])
    for j in left:
        x[:, starts[j] : starts[j + 1]] = 0.0
    return np.asarray(np.linalg.lstsq(root * x, root * trained.answers, rcond=None)[0])


def _ignoring(asked: Answers, trained: Trained, left: Sequence[int], effects: FloatArray) -> Rule:
    """What training combinations with the same other levels have; where there are none, and of numbers beside it, what
    adding up the other factors says, fitted without those that are ``left`` out or with their effects averaged.
    ``effects``: those of all factors, fitted once for all that are left out."""
    name, added, shape = " and ".join(brief(asked.space.names[j]) for j in left), [], asked.space.shape
    levels, starts = [np.eye(size) for size in shape], np.cumsum([0, *shape])
    for averaged, fitted in ((True, effects), (False, _effects(shape, trained, left))):
        z = np.hstack([eye[asked.codes[:, i]] for i, eye in enumerate(levels)])
        for j in left:
            own = levels[j][trained.codes[:, j]]
            z[:, starts[j] : starts[j + 1]] = averaged * np.average(own, axis=0, weights=trained.weights)
        added.append(z @ fitted)
    kept = [j for j in range(len(levels)) if j not in left]
    same = (asked.codes[:, kept][:, None] == trained.codes[:, kept][None]).all(axis=2)
    shown = same.any(axis=1)
    usual = np.stack([_usual(asked, trained, rows) if rows.any() else added[0][u] for u, rows in enumerate(same)])
    if asked.classes is not None:
        added = [np.eye(usual.shape[1])[said.argmax(axis=1)] for said in added]
    beside = np.diag(~shown | (asked.classes is None))
    what = f"answers that do not depend on {name}, but on the other factors as in training, where they are wrong"
    mask = np.hstack([np.diag(shown), beside, beside])
    id_ = " ".join(["ignored", *(str(j + 1) for j in left)])
    return Rule(id_, f"{name} ignored", what, mask, np.concatenate([usual, *added]))


def follow(asked: Answers, rules: Sequence[Rule], over: Over, seed: int = 0) -> list[Finding | str]:
    """How far the answers follow each rule, or in a sentence why that cannot be said."""
    outcomes = [_either(asked, rule, over, seed) for rule in rules]
    needed = LEVEL / max(1, sum(not isinstance(o, str) for o in outcomes))
    for i, found in enumerate(outcomes):
        if not isinstance(found, str) and found.least is not None and found.least > needed:
            why = f"chance may give as much: p = {found.least:.2g}, and {needed:.2g} is needed"
            outcomes[i] = replace(found, speaks=False, why=why)
    return outcomes


def _either(asked: Answers, rule: Rule, over: Over, seed: int) -> Finding | str:
    """How far the answers follow a rule. Where that leaves open which of several classes a level gives: how far they
    follow the most frequent one alone, if nearly all do and it explains more. It is a second look."""
    found = _follows(asked, rule, over, seed)
    if rule.first is None or np.array_equal(rule.first, rule.options):
        return found
    alone = _follows(asked, replace(rule, options=rule.first), over, seed)
    if isinstance(alone, str) or alone.why or alone.p is None:
        return found
    if alone.value.mean < NEARLY_ALL or (alone.explains or 0.0) < AS_GOOD:
        return found
    if not isinstance(found, str) and not found.why and (found.explains or 0.0) >= (alone.explains or 0.0):
        return found
    by_rows = None if alone.by_rows is None else min(1.0, 2 * alone.by_rows)
    return replace(alone, p=min(1.0, 2 * alone.p), by_rows=by_rows)


def _follows(asked: Answers, rule: Rule, over: Over, seed: int) -> Finding | str:
    allowed, options, open_ = _wrong_options(asked, rule)
    at = np.flatnonzero(allowed.any(axis=1))
    few, wrong_with = len(at) < FEWEST, _wrong_with(asked, rule, allowed, open_)
    # Two groups answered by one factor alone are a textbook shortcut; one group could as well get one fixed answer.
    if few and not (
        rule.id.startswith("factor") and asked.classes is not None and asked.counts[at].sum() >= MANY_ROWS
        and len(np.unique(allowed[at], axis=0)) > 1
    ):  # fmt: skip
        return (
            f"at {len(at)} of {len(allowed)} {'unseen ' * (not asked.seen.any())}combinations it gives "
            + ("a wrong answer" if asked.classes is None else "an answer that few or no examples there have")
            + " that training determines" * (rule.id == "additive" and not rule.mask.any(axis=1).all())
            + f", and at {open_.sum()} training has several answers equally often: which it gives is open"
            * bool(open_.any())
            + f"; {FEWEST} are needed to tell it from chance"
        )
    together = np.zeros((len(at), len(at)))
    share = np.zeros(asked.error.shape)
    for m, predicted in enumerate(asked.predicted):
        given = _given(asked, predicted, allowed, options, at)
        share[m, at] = np.diagonal(given)
        together += given / len(asked.predicted)
    followed = share[:, at]
    chance = float(together.mean())
    by_rows = rule.id.startswith("factor") and asked.classes is not None and asked.counts[at].sum() >= MANY_ROWS
    # Of other rules nobody asks which combinations may get the same, and of thousands of options it takes long to tell.
    own = np.unique(allowed[at], axis=0, return_inverse=True)[1].ravel() if by_rows else np.zeros(0, dtype=np.int64)
    by_rows = bool(by_rows and len(set(own)) > 1 and _ways(own) < FEWEST_WAYS)
    p, over_rows = handed_out(together, seed), None
    if few:
        over_rows = _given_more_often(followed.mean(axis=0), asked.counts[at], own, chance)
        value = over_examples([followed.mean(axis=0)], [asked.counts[at]]).within(0, 1)
    else:
        if rule.id == "copy" and asked.classes is not None:
            p = max(p, _handed_wrong(asked, allowed, at, float(followed.mean(axis=0).sum())))
        value = over.mean(followed, ranges=[(0, 1)]).within(0, 1)
    if wrong_with is not None and (few or value.mean >= NEARLY_ALL):
        both = _together(handed_out(together, seed), wrong_with)
        p = min(1.0, 2 * min(p, both))
        over_rows = None if over_rows is None else max(over_rows, both)  # These are answered together.
    if by_rows and not few and p <= BY_COMBINATIONS:
        over_rows = min(p, 2 * _given_more_often(followed.mean(axis=0), asked.counts[at], own, chance))
    if over_rows is not None:
        p = max(p, 1 / _ways(own))  # Nothing is rarer than one way of dealing them.
    hits = 0.0 if asked.hits is None else (allowed[:, : asked.hits.shape[1]] * asked.hits).sum(axis=1)
    given_amiss = np.maximum(share - hits, 0.0)  # Without what few rows have rightly.
    explained = accounted(given_amiss, asked.wrong(), over, _beyond_noise(asked))
    explains = explained.mean
    lift = (value.mean - chance) / max(1 - chance, 1e-9)
    scarce = (
        f"Over rows of {len(at)} combinations, as if they were independent: another rule may answer these alike. "
    ) * (few or by_rows)
    why = ""
    several = rule.usual and asked.classes is not None and bool(np.median(allowed[at].sum(axis=1)) > 1)
    if explains < MOST_OF:
        why = f"it accounts for {explains:.0%} of the wrong answers; {MOST_OF:.0%} are needed"
    elif lift < (needed := COPIED_NUMBERS if rule.id == "copy" and asked.classes is None else LIFT):
        why = f"that is {lift:.0%} of the way from chance to always, and {needed:.0%} is needed"
        why = why if lift > 0 else "it is followed no more often than chance gives"
    elif several and chance > HALF:
        why = f"its levels give so many answers that {chance:.2f} of any would follow it"
    elif rule.id != "copy" and (kept := _kept(asked, rule, allowed, open_)) < HALF:
        why = f"where it is right, {kept:.2f} of the answers are"
    elif (moved := _answered_apart(asked, rule)) > 1 - NEARLY_ALL:
        why = f"of unseen combinations that differ in {rule.left} alone {moved:.0%} are answered differently"
    elif (several or rule.id == "copy") and not value.low >= COPIED:
        why = f"where several answers would do, the interval has to begin at {COPIED:g} or above"
    return Finding(
        rule.id, rule.mechanism, rule.what, uncertain(value), chance=chance, p=p, by_rows=over_rows,
        explained=explained, speaks=not why, why=why, limit=scarce + BEHAVIOUR,
    )  # fmt: skip


def _given_more_often(followed: FloatArray, rows: NDArray[np.int64], own: NDArray[Any], chance: float) -> float:
    """The chance that rows of few combinations follow one factor so often: each of its answers (``own``: which) has to
    be given more often than chance has it, or they may be one fixed answer."""
    return max(share_apart_from(followed[own == i], rows[own == i], chance) for i in set(own))


def _ways(own: NDArray[Any]) -> float:
    """In how many ways answers can be handed out to these combinations, where some are alike."""
    sizes = np.bincount(own)
    return float(np.exp(gammaln(len(own) + 1) - gammaln(sizes + 1).sum()))


def _handed_wrong(asked: Answers, allowed: NDArray[np.bool_], at: NDArray[np.int64], followed: float) -> float:
    """The chance that so many classes or more are a neighbour's if all are wrong, and else as frequent as they are: of
    few classes each wrong one is some neighbour's."""
    often = asked.predicted[:, at].mean(axis=(0, 1))
    wrong = (asked.target < OFTEN * asked.target.max(axis=1, keepdims=True))[at]
    usual = float(np.mean((allowed[at] @ often) / np.maximum(wrong @ often, 1e-300)))
    return float(bdtrc(round(followed) - 1, len(at), min(1.0, usual)))


def _wrong_with(asked: Answers, rule: Rule, allowed: NDArray[np.bool_], open_: NDArray[np.bool_]) -> float | None:
    """The chance that as many combinations or more are answered wrong where one factor's class is, and right where that
    is, if the two had nothing to do with each other (Fisher): few wrong answers may follow a rule by chance, but not
    with none elsewhere. None of other rules, of numbers, of several members and of few combinations; nor of
    four factors or more, as who uses two of them is wrong where one is."""
    if asked.classes is None or len(asked.predicted) > 1 or len(asked.space) > 3 or not rule.id.startswith("factor"):
        return None
    rows = np.flatnonzero(rule.mask.any(axis=1) & ~open_)
    if len(rows) < FEWEST:
        return None
    each = np.arange(len(asked.target))
    given = asked.predicted[0].argmax(axis=1)
    wrong = (asked.target[each, given] < OFTEN * asked.target.max(axis=1))[rows]
    amiss = allowed[rows].any(axis=1)
    both, n, k = int((wrong & amiss).sum()), int(wrong.sum()), int(amiss.sum())
    ways = [comb(k, i) * comb(len(rows) - k, n - i) for i in range(both, min(n, k) + 1)]
    return sum(ways) / comb(len(rows), n)


def _together(one: float, two: float) -> float:
    """The chance of two as small by chance together: of their product, if they are apart (Fisher)."""
    q = max(one * two, 1e-300)
    return min(1.0, q * (1 - float(np.log(q))))


def _kept(asked: Answers, rule: Rule, allowed: NDArray[np.bool_], open_: NDArray[np.bool_]) -> float:
    """How many classes are right where the rule's own are: who is wrong everywhere agrees with any rule where that is
    wrong, and follows none. 1 where the rule is right nowhere."""
    at = rule.mask.any(axis=1) & ~allowed.any(axis=1) & ~open_
    return 1.0 if asked.classes is None or not at.any() else float(1 - asked.error[:, at].mean())


def _answered_apart(asked: Answers, rule: Rule) -> float:
    """Of pairs of combinations that differ in ignored factors alone, the share that gets two classes: where each factor
    by itself says nothing, as of a parity, any wrong answer is a neighbour's. 0 of other rules, and of numbers."""
    if asked.classes is None or not rule.id.startswith("ignored"):
        return 0.0
    left = [int(place) - 1 for place in rule.id.split()[1:]]
    group = np.unique(np.delete(asked.codes, left, axis=1), axis=0, return_inverse=True)[1].ravel()
    given = asked.predicted.mean(axis=0).argmax(axis=1)
    alike = _pairs(np.unique(np.stack([group, given]), axis=1, return_counts=True)[1])
    return 1 - alike / pairs if (pairs := _pairs(np.bincount(group))) else 0.0


def _pairs(counts: NDArray[np.int64]) -> int:
    """How many pairs there are within groups of so many."""
    return int((counts * (counts - 1) // 2).sum())


def accounted(share: FloatArray, wrong: FloatArray, over: Over, beyond: FloatArray | float = 1.0) -> Interval:
    """Of wrong answers, the share that a rule gives (each members × combinations); none where nothing is wrong.
    ``beyond``: the part of the wrong ones that counts."""
    wrong, both = wrong * beyond, np.minimum(share, wrong) * beyond

    def statistic(rows: NDArray[np.int64]) -> FloatArray:
        all_ = wrong[:, rows].sum(axis=-1)
        return np.asarray(both[:, rows].sum(axis=-1) / np.where(all_ > 0, all_, np.nan))

    found = uncertain(over(statistic, [wrong.shape[1]], at_once=True).within(0, 1))
    return found if np.isfinite(found.mean) else Interval(0.0)


def _beyond_noise(asked: Answers) -> FloatArray | float:
    """The part of the wrong answers to each combination that another one answer would not have: the rest is noise,
    which no rule accounts for. All, of numbers and where there is nothing else."""
    if asked.classes is None:
        return 1.0
    wrong = asked.wrong()
    more = np.maximum(wrong - (1 - asked.target.max(axis=1)), 0.0)
    return np.asarray(more / np.maximum(wrong, NOTHING)) if more.sum() > NOTHING else 1.0


def _usual(asked: Answers, trained: Trained, rows: NDArray[np.bool_], often: float = OFTEN) -> FloatArray:
    """The mean answer over training rows; of classes the most frequent one, and each that is nearly as frequent (this
    share as ``often``): which of three animals one photograph more was taken of is no rule."""
    mean = np.average(trained.answers[rows], axis=0, weights=trained.weights[rows])
    if asked.classes is None:
        return np.asarray(mean)
    return np.asarray((mean >= often * mean.max()).astype(np.float64))


def _wrong_options(asked: Answers, rule: Rule) -> tuple[NDArray[np.bool_], FloatArray, NDArray[np.bool_]]:
    """(unseen × options) without what is right there; classes themselves are the options of a classifier. And at which
    combinations it is open which of several answers one factor gives: one of them is right, so that any wrong one
    would seem to follow it."""
    if asked.classes is None:
        apart = np.stack([distance(rule.options, target[None]) for target in asked.target])
        return rule.mask & (apart > asked.tolerance), rule.options, np.zeros(len(apart), dtype=bool)
    usual = rule.options >= rule.options.max(axis=1, keepdims=True) - NOTHING
    allowed = (rule.mask.astype(np.float32) @ (usual & (rule.options > 0)).astype(np.float32)) > 0
    wrong = allowed & (asked.target < OFTEN * asked.target.max(axis=1, keepdims=True))
    open_ = np.zeros(len(wrong), dtype=bool)
    if rule.usual:
        open_ = wrong.any(axis=1) & (allowed != wrong).any(axis=1)
    return wrong & ~open_[:, None], np.eye(len(asked.classes)), open_


def _given(
    asked: Answers, predicted: FloatArray, allowed: NDArray[np.bool_], options: FloatArray, at: NDArray[np.int64]
) -> FloatArray:
    """G (unseen × unseen, where the rule is wrong)."""
    if asked.classes is not None:
        return np.asarray(allowed[at].astype(np.float64) @ predicted[at].T)
    off = predicted[at] - asked.target[at]
    found = np.empty((len(at), len(at)))
    for row, u in enumerate(at):
        mine = options[allowed[u]]
        near = distance((asked.target[u] + off)[:, None], mine[None]) <= asked.tolerance
        found[row] = near.any(axis=1)
    return found
