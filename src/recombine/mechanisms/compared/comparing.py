"""The learner beside simple rules and other learners, each on the same unseen rows; and how far anyone could get."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc, betaincinv

from recombine.mechanisms.answers.answered import Answers
from recombine.mechanisms.answers.names import NOTHING
from recombine.mechanisms.answers.probabilities import SMALLEST
from recombine.mechanisms.compared.baselines import ADDING, CONSTANT, Baseline, baselines
from recombine.mechanisms.compared.known_rows import noise_left
from recombine.statistics import FEW, FloatArray, Interval, Over

DRAWS = 400
"""Draws of the rows from which the usual class of a combination is told."""
GIVEN = "what was said"
"""What the noise is over where a person has told it."""
REPLICATES = 10
"""Rows beyond the first of their combination that are needed before the noise is told."""


@dataclass(frozen=True)
class Compared:
    """A rule or another learner on the same rows."""

    name: str
    error: Interval
    """Its error on unseen combinations."""
    difference: Interval
    """The learner's error less this one, combination by combination: below 0 the learner is better."""
    seen: float
    """Its error on the seen combinations; of a rule, on each of them when it was fitted without it."""
    rule: bool = True
    verdict: str = ""
    """Of another learner, what it is judged to be by itself."""
    sides: tuple[int, int] = (0, 0)
    """Combinations where the learner errs less, and where it errs more."""

    @property
    def mostly(self) -> str:
        """That the learner is better or worse combination by combination, where the mean does not tell and a sign test
        does (95 %): a few that err most may hide it from the mean."""
        if not self.difference.low <= 0 <= self.difference.high:
            return ""
        (most, which), of = max(zip(self.sides, ("better", "worse"), strict=True)), sum(self.sides)
        return f"{which} on {most:,} of {of:,} combinations" if of and bdtrc(most - 1, of, 0.5) <= 0.025 else ""

    def to_dict(self) -> dict[str, Any]:
        known = {"name": self.name, "rule": self.rule, "seen": None if np.isnan(self.seen) else self.seen}
        known |= {"verdict": self.verdict} if self.verdict else {}
        return {**known, "error": self.error.to_dict(), "difference": self.difference.to_dict()}


@dataclass(frozen=True, eq=False)
class Comparison:
    """All that a learner is compared with."""

    others: tuple[Compared, ...]
    trained_constant: float
    """What always giving the same answer costs on the training rows."""
    own_constant: float
    """The least that one answer for all unseen combinations can cost: no rule, as it is chosen by looking at them."""
    floor: Interval
    """The error that is left to whoever knows the factors alone, from rows that share their combination, …"""
    floor_constant: float
    """… and what always giving the same answer costs on the same rows."""
    rules: Mapping[str, Baseline]
    better_on_seen: Interval
    """The learner's error on seen combinations less that of always giving the same answer."""
    chances: bool = False
    """Whether new rows are given clearly better probabilities, by log loss, than training's shares."""

    @property
    def constant(self) -> Compared | None:
        return next((c for c in self.others if c.name == CONSTANT), None)

    @property
    def adding(self) -> Compared | None:
        return next((c for c in self.others if c.name == ADDING), None)

    @property
    def best(self) -> Compared | None:
        """The rule with the least error on unseen combinations."""
        return min((c for c in self.others if c.rule), key=lambda c: c.error.mean, default=None)

    @property
    def best_on_seen(self) -> float:
        return min((c.seen for c in self.others if c.rule), default=float("nan"))

    def reached(self, answers: Answers, at: NDArray[np.bool_]) -> float:
        """The least mean error of simple rules on rows nobody trained on: no noise is more."""
        return min((float(answers.errors_of(rule.answers)[at].mean()) for rule in self.rules.values()), default=np.inf)


Term = tuple[float, FloatArray, NDArray[np.bool_]]
"""A sign, errors (members or 1 × combinations) and the combinations they are averaged over."""


def average(answers: Answers, over: Over, *terms: Term, shares: bool = True) -> Interval:
    """A sum of mean errors with its interval; terms over the same combinations are compared one by one. ``shares``:
    whether errors of classes are shares of wrong answers."""
    if not all(mask.any() for *_, mask in terms):
        return Interval(float("nan"), over="combinations")
    parts: list[FloatArray] = []
    masks: list[NDArray[np.bool_]] = []
    ranges: list[tuple[float, float]] = []
    for sign, errors, mask in terms:
        least = 0.0 if (errors[:, mask] >= 0).all() else -1.0  # Less where noise was taken off.
        ends = (min(sign, sign * least), max(sign, sign * least))
        same = next((i for i, other in enumerate(masks) if other is mask), None)
        if same is None:
            parts.append(sign * errors[:, mask])
            masks.append(mask)
            ranges.append(ends)
        else:
            parts[same] = parts[same] + sign * errors[:, mask]
            ranges[same] = (ranges[same][0] + ends[0], ranges[same][1] + ends[1])
    shares = shares and answers.classes is not None
    found = over.mean(*parts, ranges=ranges if shares else ())
    if shares and over.members == 1 and min(int(mask.sum()) for mask in masks) < FEW:
        # Few combinations may agree by chance: no interval is narrower than their examples make it.
        each, counts = zip(*((s * e[:, m], answers.counts[m]) for s, e, m in terms), strict=True)
        rows = over.mean(*each, counts=counts)
        found = found if found.high - found.low > rows.high - rows.low else rows
    low, high = (0.0 if abs(bound) < NOTHING else bound for bound in (found.low, found.high))
    return replace(found, low=low, high=high)  # A bound that is nothing but rounding lies on no side of 0.


def unsure(figure: Interval, answers: Answers, at: NDArray[np.bool_]) -> Interval:
    """The figure of classifiers whose combinations all say the same, so that over them it does not vary: as far up and
    down as none of so many combinations being wrong leaves open (95 %), however many members agree."""
    if answers.classes is None or not figure.bounded or figure.high - figure.low > NOTHING:
        return figure
    open_ = most_wrong(0.0, float(at.sum()))
    return replace(figure, low=figure.low - open_, high=figure.high + open_)


def uncertain(figure: Interval) -> Interval:
    """A share that is the same at each combination, as far up and down as so few of them leave open (95 %)."""
    if not figure.bounded or figure.high - figure.low > NOTHING or figure.over != "combinations":
        return figure
    open_ = most_wrong(0.0, float(figure.count))
    return replace(figure, low=figure.low - open_, high=figure.high + open_).within(0, 1)


def most_wrong(share: float, rows: float) -> float:
    """The upper end (95 %) of a share of wrong rows, exactly (Clopper and Pearson): 3/n where none is."""
    return float(betaincinv(share * rows + 1, max(rows - share * rows, 1e-9), 0.95))


def compare(
    answers: Answers, over: Over, others: Mapping[str, Answers], seed: int = 0, told: float | None = None
) -> Comparison:
    """The learner's answers beside every rule that can be fitted, and beside ``others`` on the same combinations.
    ``told``: the noise, in units of the error, where it is known."""
    found: list[Compared] = []
    rules: dict[str, Baseline] = {}
    seen = answers.compared
    trained_constant, better = float("nan"), Interval(float("nan"))
    for rule in baselines(answers, seed):
        assert answers.trained is not None
        weights = answers.trained.weights[rule.tried]
        known = float(np.average(errors_left_out(answers, rule), weights=weights))
        each = answers.errors_of(rule.answers)[None]
        rules[rule.name] = rule
        if rule.name == CONSTANT:
            trained_constant = known
            better = average(answers, over, (1.0, answers.error, seen), (-1.0, each, seen))
        found.append(_beside(rule.name, answers, each, known, over))
    for name, other in others.items():
        known = float(other.error[:, seen].mean()) if seen.any() else float("nan")
        mean = other.error.mean(axis=0, keepdims=True)
        found.append(replace(_beside(name, answers, mean, known, over), rule=False))
    floor, costs = noise(answers, {name: answers.errors_of(rule.answers) for name, rule in rules.items()})
    floor = floor if told is None else Interval(told, told, told, over=GIVEN)
    own, chances = _own_constant(answers), _better_than_shares(answers, over)
    return Comparison(tuple(found), trained_constant, own, floor, costs, rules, better, chances)


def shares_cost(answers: Answers) -> FloatArray:
    """The log loss (combinations) of always giving the shares of training; of chances that are judged as numbers, too
    (`mechanisms/compared/rare.py`)."""
    assert answers.trained is not None
    usual, right = np.average(answers.trained.answers, axis=0, weights=answers.trained.weights), answers.target
    if answers.classes is None:
        usual, right = np.append(1 - usual, usual), np.hstack([1 - right, right])
    return np.asarray(-(right * np.log(np.maximum(usual, SMALLEST))).sum(axis=1))


def _better_than_shares(answers: Answers, over: Over) -> bool:
    """Whether the log loss is clearly less than that of training's shares, on new rows of seen combinations or, where
    there are none, on unseen ones."""
    loss, at = answers.scores.get("log loss"), answers.compared if answers.like else answers.unseen
    if loss is None or answers.trained is None or int(at.sum()) < FEW:
        return False
    return average(answers, over, (1.0, loss, at), (-1.0, shares_cost(answers)[None], at), shares=False).high < 0


def _own_constant(answers: Answers) -> float:
    at = answers.at(answers.unseen)
    return float(at.errors_of(np.tile(at.target.mean(axis=0), (len(at.codes), 1))).mean()) if len(at.codes) else np.nan


def _beside(name: str, answers: Answers, errors: FloatArray, seen: float, over: Over) -> Compared:
    at, most = answers.unseen, answers.most
    own = unsure(average(answers, over, (1.0, errors, at)), answers, at).within(0, most)
    apart = average(answers, over, (1.0, answers.error, at), (-1.0, errors, at)).within(-most, most)
    less = (errors - answers.error).mean(axis=0)[at]
    return Compared(name, own, apart, seen, sides=(int((less > NOTHING).sum()), int((less < -NOTHING).sum())))


def errors_left_out(answers: Answers, rule: Baseline) -> FloatArray:
    """The error of a rule at each training combination, by a fit without it."""
    trained, said = answers.trained, rule.left_out
    assert trained is not None
    right = trained.answers[rule.tried]
    if answers.classes is not None:
        return np.asarray(1 - right[np.arange(len(said)), said.argmax(axis=1)])
    return np.asarray(np.square(said - right).mean(axis=1) / answers.scale + trained.within)


def noise(answers: Answers, rules: Mapping[str, FloatArray] | None = None) -> tuple[Interval, float]:
    """The error of the best function of the factors, over examples; no number where few rows share a combination. And
    what always giving the same answer costs on the same rows.

    What rows of one combination tell of classes is told from two thirds of them, and the best function may know more:
    it is no worse than any of ``rules`` (errors by combination)."""
    each = noise_within(answers)
    several = answers.counts > 1
    n = answers.counts[several]
    if each is None or not several.any():
        return Interval(float("nan"), over="examples"), float("nan")
    costs = {name: float(np.average(e[several], weights=n - 1)) for name, e in (rules or {}).items()}
    mean = float(np.average(each[several], weights=n - 1))
    if answers.classes is not None:
        mean = min([mean, *costs.values()])
    spread = 2 * mean**2 / (n - 1).sum() if answers.classes is None else mean * (1 - mean) / n.sum()
    half = 1.96 * float(np.sqrt(max(spread, 0.0)))
    high = mean + half if answers.classes is None else max(mean + half, most_wrong(mean, float(n.sum())))
    found = Interval(mean, mean - half, high, over="examples", count=int(n.sum())).within(0, np.inf)
    return found, costs.get(CONSTANT, float("nan"))


def noise_within(answers: Answers, trained: bool = True) -> FloatArray | None:
    """The noise of each combination, from rows that share it; of single rows, the mean of the others. None where few
    rows share a combination.

    Numbers: their variance. Classes: how often the most frequent answer of other rows, training rows among them, is not
    a row's own: without these, few new rows of a seen combination would look noisier than many of an unseen one.
    ``trained``: whether these are asked."""
    n = answers.counts.astype(np.float64)
    several = n > 1
    if answers.classes == ("",) or (n - 1).sum() < REPLICATES or not answers.space.finite:
        return None
    if answers.classes is None:
        if answers.within is None:
            return None
        each = answers.within * n / np.maximum(n - 1, 1)
    else:
        own = np.rint(answers.target * n[:, None])
        each = missed_by_others(own, also_trained(answers) if trained else np.zeros_like(own))
    return np.where(several, each, np.average(each[several], weights=n[several] - 1))


def unread(answers: Answers, *sides: NDArray[np.bool_]) -> float:
    """Of what answers differ by within combinations, the share that the learner does not tell apart: 1 where the
    factors are all it reads. What it tells apart is no noise to it.

    Numbers: its error beside that of its mean answer to a combination. Classes: beside that of its own answers, dealt
    anew among the rows of the combination. The less of ``sides``, by default of all rows that were not trained on;
    single rows of seen combinations may then be told apart too (`known_rows`)."""
    known = 1.0 if sides else noise_left(answers)
    sides = sides or (answers.unseen, *([answers.compared] if answers.like else []))
    if not answers.varies or answers.classes == ("",):
        return known
    if answers.classes is None:
        off = np.square(answers.predicted - answers.target).mean(axis=2) / answers.scale
        inside = 0.0 if answers.within is None else answers.within
        left, whole = answers.error - off, np.broadcast_to(inside, off.shape)
    else:
        left, whole = answers.error, 1 - (answers.predicted * answers.target).sum(axis=2)
    shares = [float(left[:, at].sum() / whole[:, at].sum()) for at in sides if whole[:, at].sum() > NOTHING]
    return float(np.clip(min([known, *shares]), 0.0, 1.0))


def missed_by_others(own: FloatArray, more: FloatArray) -> FloatArray:
    """Counts of classes (combinations × classes): how often a row's class is not the most frequent one of two thirds of
    all rows, drawn without it; ``more`` of them are not asked about, and classes that are level share.

    Unbiased for whoever knows that many rows. Leaving out one row at a time would know more, but jumps: of 15 against
    15 rows each finds the other class ahead."""
    counts, place = np.unique(np.concatenate([own, more], axis=1).astype(np.int64), axis=0, return_inverse=True)
    ours, rng = counts[:, : own.shape[1]], np.random.default_rng(0)
    all_ = ours + counts[:, own.shape[1] :]
    rows, n = ours.sum(axis=1), all_.sum(axis=1)
    drawn_of = np.minimum(n - 1, np.maximum(1, np.rint(2 * n / 3).astype(np.int64)))
    first, most = all_.argmax(axis=1), all_.max(axis=1)
    second = np.sort(all_, axis=1)[:, -2:][:, 0]
    some = (rows > 0) & (n > 1)
    ahead = (drawn_of - (n - most) > second) | (most == n)  # In every draw.
    found = np.where(some, 1 - ours[np.arange(len(ours)), first] / np.maximum(rows, 1), 0.0)
    for i in np.flatnonzero(some & ~ahead):
        mine, whole, known = ours[i], all_[i], int(drawn_of[i])
        drawn = rng.multivariate_hypergeometric(whole, known, size=DRAWS)
        top = drawn == drawn.max(axis=1, keepdims=True)
        missed = ((whole - drawn) * (1 - top / top.sum(axis=1, keepdims=True))).mean(axis=0)
        found[i] = (missed * mine / np.maximum(whole, 1)).sum() / (mine.sum() * (n[i] - known) / n[i])
    return np.asarray(found[place.ravel()])


def also_trained(answers: Answers) -> FloatArray:
    """Counts of classes among training rows of each combination, where these are other rows than those asked about."""
    trained, found = answers.trained, np.zeros_like(answers.target)
    if trained is None or not answers.like:
        return found
    place, compared = {tuple(code): i for i, code in enumerate(trained.codes.tolist())}, answers.compared
    for row, code in enumerate(answers.codes.tolist()):
        i = place.get(tuple(code))
        if i is None or not compared[row]:
            continue
        if trained.weights[i] != answers.counts[row] or not np.allclose(trained.answers[i], answers.target[row]):
            found[row] = np.rint(trained.answers[i] * trained.weights[i])
    return found
