"""How wrong will the answers to asked combinations be? A contest of rules on seen cells that stand in for them.

    loss = e²  (numbers; its mean's root is shown), share of rows wrong or −log p (classes), of the stand-ins, each left
    out with the cells around it (`stand_ins`)

The error is the median, and ``low``–``high`` a 90 % interval, of what will be seen on the asked cells: the stand-ins
are few, the asked cells are few, errors of cells that share levels go together, and large ones are rare. The interval
of one cell is as many standard deviations wide as 90 % of the stand-ins need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtri, ndtri, stdtrit

from recombine.checks.contestants import contestants
from recombine.checks.effects import DENSE
from recombine.checks.learners import learners
from recombine.checks.modular import Floats, Ints
from recombine.checks.rules import PLAIN, Adding, Cells, Odds, Rule, Scale
from recombine.checks.stand_ins import StandIns, stand_ins
from recombine.checks.substitution import Substitution

STAND_INS = 200
FEWEST = 6
"""Distinct stand-ins without which nothing is forecast."""
COVERED = 0.9
SHOWN = (
    "rule", "error", "low", "high", "metric", "constant", "explained", "explains", "stand_ins", "cells", "substitution",
)  # fmt: skip
PRIOR = 10
"""Independent stand-ins that tell as much about how losses vary as their being squares of normal errors does."""
DISTINCT = 0.99
"""Squared correlation of two errors from which they are one."""
MOST_ALIKE = 400
"""Asked cells whose errors are compared with each other."""
WORTH = 0.3
"""Standard errors by which a less simple rule must be better to be recommended."""
ONE_SIDED = 2.576
"""Standard errors by which adding up must beat the constant, in the mean or in count: one in a hundred by chance."""
FEWEST_CELLS, MOST_NUMBERS = 2_000, 4_000_000
"""Cells that are used in any case; cells × effects above which no more are."""
TAILS = np.array([0.05, 0.95])


@dataclass(frozen=True)
class RuleError:
    """One rule of the contest."""

    rule: str
    error: float
    explained: float | None
    """Share of the constant's error (numbers: squared error) that the rule takes away; None where that has none."""
    beats: bool
    """Whether it is better than the constant beyond chance."""


@dataclass(frozen=True, eq=False)
class Estimates:
    """Answers of the recommended rule to cells."""

    answers: Floats
    """Numbers, or probabilities (cells × classes)."""
    low: Floats | None
    high: Floats | None


@dataclass(frozen=True, eq=False)
class Forecast:
    """The error to expect on the asked combinations that training determines."""

    rule: str
    error: float
    low: float
    high: float
    metric: str
    constant: float
    explained: float | None
    rules: tuple[RuleError, ...]
    stand_ins: int
    cells: int
    """Asked cells that it is about."""
    explains: bool | None
    """Whether the rule that is assumed beats the constant beyond chance; None where it does not take part."""
    substitution: dict[str, float | None] | None = None
    _best: Rule | None = field(default=None, repr=False)
    _deviations: float = field(default=0.0, repr=False)

    @property
    def words(self) -> str:
        """The forecast in one sentence."""
        what = {"rmse": "a root-mean-square error of", "error rate": "a share wrong of", "log loss": "a log loss of"}
        gain = (
            "no rule that was tried is clearly better than the same answer for all"
            if self.rule == "constant"
            else f"the same answer for all errs by {shown(self.constant)}"
        )
        return (
            f"Expect {what[self.metric]} {shown(self.error)} (90 %: {shown(self.low)} to {shown(self.high)}) on the "
            f"{self.cells:,} unseen combination{'s that are' if self.cells != 1 else ' that is'} determined, by the "
            f"rule “{self.rule}”; {gain}."
        )

    @property
    def scale(self) -> Scale | None:
        """Where the rule adds up on another scale than the answer's own: that one."""
        return self._best.scale if isinstance(self._best, Adding) and self._best.scale is not PLAIN else None

    @property
    def beats(self) -> bool:
        """Whether the rule is better than the constant beyond chance."""
        return any(rule.beats for rule in self.rules if rule.rule == self.rule)

    @property
    def noise(self) -> float | None:
        """Standard deviation of one row around the rule, in the answer's units, where enough rows tell."""
        return self._best.noise if isinstance(self._best, Adding) else None

    def to_dict(self) -> dict[str, Any]:
        shown = {name: getattr(self, name) for name in SHOWN}
        return {**shown, "rules": [vars(rule) for rule in self.rules]}

    def estimate(self, codes: Ints) -> Estimates:
        assert self._best is not None
        answers = self._best.answer(codes)
        if not isinstance(self._best, Adding):
            return Estimates(answers, None, None)
        return Estimates(answers, *self._best.interval(codes, self._deviations))


def shown(value: float) -> str:
    """Three digits, and no power of ten where people write thousands."""
    return f"{value:,.0f}" if 1_000 <= abs(value) < 1e9 else f"{value:.3g}"


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
    drawn = stand_ins(cells.codes, cells.shape, asked, STAND_INS, rng, cells.curves)
    groups, firsts = drawn.groups, [int(g[0]) for g in drawn.groups]
    few = len(set(firsts))
    if few < FEWEST:
        return "no forecast: too few seen combinations could be left out as the asked ones are."
    entered = [*contestants(cells), *learners(more, cells, seed)]
    metric = _metric(cells)
    said = [rule.left_out(groups) for rule in entered]
    truth, places = cells.answers[firsts], cells.codes[firsts]
    seen = [losses_of(truth, answers, metric) for answers in said]
    losses = [loss * _learnt(rule, cells) * _harder(rule, asked) for rule, loss in zip(entered, seen, strict=True)]
    proof = losses if cells.numeric else [losses_of(truth, answers, "log loss") for answers in said]
    best = _choose(losses if cells.numeric else seen, few)
    winner = entered[best]
    weights, stood, will = _told(losses[best], places, drawn, asked, winner)
    low, middle, high = _range(losses[best], weights, stood, will, metric)
    root = np.sqrt if metric == "rmse" else np.asarray
    means = [float(weights @ loss) * middle for loss in losses]
    constant = means[0]
    named = tuple(
        RuleError(rule.name, float(root(m)), 1 - m / constant if constant > 0 else None, _beats(p, proof[0], few))
        for rule, m, p in zip(entered, means, proof, strict=True)
    )
    return Forecast(
        winner.name, named[best].error, float(root(low)), float(root(high)), metric, float(root(constant)),
        named[best].explained, named, len(groups), len(asked), _explains(named, assumed),
        _substitution(entered, asked), winner, _deviations(winner, stood, cells),
    )  # fmt: skip


def _fewer(cells: Cells, rng: np.random.Generator) -> Cells:
    """At most as many cells as can be fitted in a moment, drawn at random."""
    most = max(FEWEST_CELLS, MOST_NUMBERS // cells.width)
    if len(cells.codes) <= most:
        return cells
    kept = np.sort(rng.choice(len(cells.codes), most, replace=False))
    return cells.take(kept)


def _explains(rules: Sequence[RuleError], assumed: int) -> bool | None:
    name = {1: "additive", 2: "pairs"}.get(assumed)
    return next((rule.beats for rule in rules if rule.rule == name), None)


def _beats(loss: Floats, constant: Floats, few: int) -> bool:
    """By the mean gain over the constant, or by how many stand-ins gain: the constant's large errors are few."""
    gain = constant - loss
    signs = 2 * np.sqrt(few) * (float((gain > 0).mean()) - 0.5)
    return _better(loss, constant, ONE_SIDED, few) or bool(gain.mean() > 0 and signs > ONE_SIDED)


def _metric(cells: Cells) -> str:
    if cells.numeric:
        return "rmse"
    return "error rate" if (cells.answers.max(axis=1) == 1).all() else "log loss"


def _learnt(rule: Rule, cells: Cells) -> float:
    """What the variances of a rule's blocks make its loss look too small: they are learnt with the stand-ins. A squared
    error is charged as by degrees of freedom, a loss of classes, which no rule takes away whole, by the fourth root."""
    if not isinstance(rule, (Adding, Odds)):
        return 1.0
    cost = len(cells.codes) / max(len(cells.codes) - 1 - rule.variances, 1)
    return float(cost if cells.numeric else 1.0 if cells.certain else cost**0.25)


def _harder(rule: Rule, asked: Ints) -> float:
    """A stand-in that shares a level with an asked cell has one cell fewer to go by; elsewhere it may have more."""
    return rule.harder(_some(asked)) if isinstance(rule, Adding) else 1.0


def _some(asked: Ints) -> Ints:
    return asked if len(asked) <= MOST_ALIKE else asked[:: -(-len(asked) // MOST_ALIKE)]


def losses_of(truth: Floats, said: Floats, metric: str) -> Floats:
    """The loss of each cell: squared error, share of rows wrong, or minus log probability."""
    if metric == "rmse":
        return np.asarray((truth - said[:, 0]) ** 2)
    if metric == "error rate":
        return np.asarray(1 - truth[np.arange(len(truth)), said.argmax(axis=1)])
    return np.asarray(-(truth * np.log(np.clip(said, 1e-6, 1))).sum(axis=1))


def _better(loss: Floats, than: Floats, deviations: float, few: int) -> bool:
    """Whether a loss is smaller by more than this many standard errors; ``few`` of the stand-ins are distinct cells."""
    gain = than - loss
    return bool(gain.mean() > max(deviations * gain.std(ddof=1) / np.sqrt(few), 1e-12 * float(than.mean())))


def _choose(losses: list[Floats], few: int) -> int:
    """The rule of the smallest loss; a simpler one where the difference is a small part of its standard error."""
    best = 0
    for i, loss in enumerate(losses):
        if _better(loss, losses[best], WORTH, few):
            best = i
    return best


def _told(losses: Floats, places: Ints, drawn: StandIns, asked: Ints, rule: Rule) -> tuple[Floats, float, float]:
    """What the losses of stand-ins tell about the mean loss of the asked cells: weights that bring levels which are
    harder to answer to their share among the asked; of how many independent cells this is worth the mean; and of how
    many the asked mean is one.

    A loss is its levels' part, its cluster's, and its own. A level that stand-ins and asked cells have in common has
    the same part in both (best linear prediction). Errors that are linear in the same answers are correlated, by R say,
    and their squares by R²: of eight cells and six effects, two errors are independent."""
    n, few = len(losses), _some(asked)
    cell = np.unique(places, axis=0, return_inverse=True)[1].ravel()
    own, alone = (cell[:, None] == cell).astype(np.float64), 1 / len(asked)
    if isinstance(rule, Adding):
        own, alone = rule.alike**2, alone + float((rule.effects.alike(few) ** 2).mean()) - 1 / len(few)
    same = [kind[:, None] == kind for kind in (*places.T, drawn.cluster)]
    parts = _parts(losses, same, own)
    rest = 1 - sum(parts)
    together = sum((part * s for part, s in zip(parts, same, strict=True)), rest * own)
    shares = [
        np.bincount(want, minlength=int(have.max()) + 1) / len(asked)
        for have, want in zip(places.T, asked.T, strict=True)
    ]
    toward = sum((part * a[have] for part, a, have in zip(parts, shares, places.T, strict=False)), np.zeros(n))
    even = sum((part * s.mean(axis=1) for part, s in zip(parts[:-1], same, strict=False)), np.zeros(n))
    moved, ones = np.linalg.solve(together + 1e-3 * np.eye(n), np.stack([toward - even, np.ones(n)], axis=1)).T
    weights = np.maximum(1 / n + moved - ones * moved.sum() / ones.sum(), 0.0)
    weights = weights / weights.sum()
    levels = sum(part * float((a**2).sum()) for part, a in zip(parts, shares, strict=False))
    stood = float(weights @ together @ weights - 2 * weights @ toward) + levels
    will = parts[-1] * float((np.bincount(drawn.asked) ** 2).sum()) / len(asked) ** 2 + rest * alone
    return weights, 1 / max(stood, 1 / n), 1 / max(will, 1 / len(asked))


def _parts(losses: Floats, same: list[NDArray[np.bool_]], own: Floats) -> list[float]:
    """Correlation of the losses of two stand-ins that share a level (or, last, a cluster), beyond what the correlation
    of their errors makes it: the share of a loss that is the level's."""
    centred = (losses - losses.mean()) / (losses.std() or 1.0)
    beyond, others = np.outer(centred, centred) - own, own < DISTINCT
    found = [max(float(beyond[s & others].mean()), 0.0) if (s & others).any() else 0.0 for s in same]
    found[-1] = max(found[-1] - max(found[:-1]), 0.0)
    return [part / max(1.0, sum(found)) for part in found]


def _range(losses: Floats, weights: Floats, stood: float, will: float, metric: str) -> tuple[float, float, float]:
    """5 % and 95 % of the mean loss of ``will`` cells, from that of ``stood`` others, and between them its median, as a
    share of that mean: few cells mostly miss the rare large losses. F for squared errors and log losses (with the
    degrees of freedom that their spread implies), beta-binomial for shares wrong."""
    mean = float(weights @ losses)
    if metric == "error rate":
        from scipy.stats import betabinom

        count = max(1, round(will))
        low, high = betabinom.ppf(TAILS, count, stood * mean + 0.5, stood * (1 - mean) + 0.5) / count
        return float(low), 1.0, float(high)
    if mean <= 0:
        return 0.0, 1.0, 0.0
    spread = float(weights @ (losses - mean) ** 2) / mean**2
    if metric == "rmse":
        spread = (stood * spread + PRIOR * 2) / (stood + PRIOR)
    low, middle, high = (float(v) for v in fdtri(2 * will / spread, 2 * stood / spread, [TAILS[0], 0.5, TAILS[1]]))
    return low * mean, middle, high * mean


def _deviations(rule: Rule, independent: float, cells: Cells) -> float:
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


def _substitution(entered: list[Rule], asked: Ints) -> dict[str, float | None] | None:
    rule = next((r for r in entered if isinstance(r, Substitution)), None)
    if rule is None:
        return None
    tried = rule.right[rule.covers]
    return {
        "evidence": rule.evidence,
        "covered": int(rule.covered(asked).sum()),
        "tried": len(tried),
        "right": float(tried.mean()) if len(tried) else None,
    }
