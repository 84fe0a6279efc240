"""The contest behind a forecast: what each rule says of seen cells that stand in for the asked ones, each left out with
the cells around it, and which rule is recommended for that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.forecasts.chosen import SURER, WORTH, choose, likelihood_of, off_scale
from recombine.checks.forecasts.contestants import contestants
from recombine.checks.forecasts.levels_differ import after_all, all_alike, by_chance
from recombine.checks.forecasts.losses import as_learnt, losses_of, metric_of, proof_of, sure_of
from recombine.checks.rules.adding import Adding
from recombine.checks.rules.cut_short import Series
from recombine.checks.rules.learners import learners
from recombine.checks.rules.rule import Rule
from recombine.checks.rules.seen_cells import Cells
from recombine.checks.rules.stand_ins import StandIns, stand_ins
from recombine.checks.rules.substitution import Substitution

LEVEL, ALIKE, CLEARLY = 0.05, 0.01, 2.576
"""Chance below which levels, or pairs of them, differ in their classes, that below which combinations do, and standard
errors by which a rule must be better than a simpler one where none of these do."""
STAND_INS, AGAIN = 200, 5
"""Stand-ins that are drawn, and further draws of as many."""


@dataclass(frozen=True, eq=False)
class Contest:
    """Rules and what they said, simplest first: the first is the same answer for all."""

    cells: Cells
    asked: Ints
    drawn: StandIns
    alone: bool
    """Whether every seen cell was left out by itself, as those of a design are: nothing was drawn."""
    rules: list[Rule]
    said: list[Floats]
    """Answers of each rule to the stand-ins."""
    nearer: list[Floats]
    """The variance of asked answers over that of answers left out, where that is known of a rule: of a design, and of
    values of a number between seen ones, which lie in narrower gaps than those that leaving values out makes."""
    likely: list[float | None]
    """The log density of seen answers by sums on each scale, where there are several."""
    variances: list[Floats | None]
    """Of each stand-in that of its forecast, by rules that tell it; none between seen values of a number."""
    substituted: dict[str, float | None] | None
    """What substitution covers and had right."""
    series: Series | None = None
    """Of which asked cells lie beyond the end."""

    @cached_property
    def firsts(self) -> list[int]:
        """The stand-ins, by their places among the cells."""
        return [int(group[0]) for group in self.drawn.groups]

    @property
    def few(self) -> int:
        """Distinct stand-ins."""
        return len(set(self.firsts))

    @property
    def places(self) -> Ints:
        return self.cells.codes[self.firsts]

    @cached_property
    def further(self) -> list[list[Ints]]:
        """The groups of further draws of stand-ins, the same ones whatever the seed."""
        draws = (np.random.default_rng(again) for again in range(AGAIN))
        return [draw(self.cells, self.asked, rng, self.series).groups for rng in draws]

    @property
    def truth(self) -> Floats:
        return self.cells.answers[self.firsts]

    @cached_property
    def kind(self) -> NDArray[np.bool_]:
        """Which stand-ins hold the commonest class alone, where a class is rare."""
        return self.cells.commonest_alone[self.firsts]

    @cached_property
    def metric(self) -> str:
        return metric_of(self.cells)

    @property
    def rates(self) -> bool:
        """Whether losses are shares of wrong answers."""
        return self.metric == "error rate"

    @cached_property
    def seen(self) -> list[Floats]:
        """Losses of each rule on the stand-ins."""
        return [losses_of(self.truth, answers, self.metric) for answers in self.said]

    @cached_property
    def least(self) -> Floats:
        """What no rule can do without: of a log loss the entropy of the cells' own rows."""
        truth = self.truth
        return losses_of(truth, truth, "log loss") if self.metric == "log loss" else np.zeros(len(truth))

    @cached_property
    def losses(self) -> list[Floats]:
        """The same losses, charged for what each rule learnt with the stand-ins."""
        return [as_learnt(loss, self.least, r, self.cells) for r, loss in zip(self.rules, self.seen, strict=True)]

    @cached_property
    def sure(self) -> Floats:
        """What a squared error of each seen cell counts where rules are compared."""
        return sure_of(self.rules[1], len(self.cells.codes))

    @cached_property
    def proof(self) -> list[Floats]:
        """Losses by which rules are held against each other."""
        both = zip(self.rules, self.said, strict=True)
        found = [proof_of(rule, answers, self.firsts, self.cells, self.sure) for rule, answers in both]
        return found if self.alone else [loss * near for loss, near in zip(found, self.nearer, strict=True)]

    @property
    def told_apart(self) -> list[Floats]:
        """Losses by which a rule is chosen. Of classes they are not charged for what rules learnt: pairs would win
        less often where log-odds add up, which gains next to nothing, and where pairs act, which costs more."""
        return self.proof if self.cells.numeric else [loss - self.least for loss in self.seen]

    @cached_property
    def by_chance(self) -> float:
        """Of classes how often levels would differ as much by chance."""
        return 1.0 if self.cells.numeric else by_chance(self.cells)

    @cached_property
    def nothing(self) -> bool:
        """Of classes whether neither levels nor pairs of them differ beyond chance, nor, by their rows, the cells."""
        levels = not self.cells.numeric and self.by_chance > LEVEL and by_chance(self.cells, 2) > LEVEL
        return levels and all_alike(self.cells) > ALIKE

    @property
    def worth(self) -> list[float]:
        """Standard errors by which each rule must be better than a simpler one."""
        return [SURER if self.rates or self._by_chance(rule) else WORTH for rule in self.rules]

    def _by_chance(self, rule: Rule) -> bool:
        if isinstance(rule, Adding) and rule.relearnt is not None:
            return True
        return self.alone and rule.name != "surface"

    @cached_property
    def lost(self) -> set[int]:
        """Rules that are not chosen: those of a larger log loss than the same answer for all, sums on an unlikelier
        scale, and of classes that answer itself, where levels differ."""
        constant = self.losses[0].mean()
        worse = {i for i, loss in enumerate(self.losses) if self.metric == "log loss" and loss.mean() >= constant}
        one_answer = {0} if self.by_chance <= LEVEL and 1 not in worse else set()
        return off_scale(self.rules, self.likely) | worse - {0} | one_answer

    @property
    def after_all(self) -> float:
        """How likely nothing acts though levels differ, where that is why one answer for all is not chosen."""
        return after_all(self.cells, self.by_chance) if 0 in self.lost else 0.0

    @cached_property
    def best(self) -> int:
        """The place of the rule that is recommended."""
        worth = [CLEARLY] * len(self.rules) if self.nothing else self.worth
        return choose(self.told_apart, self.few, worth, self.lost)

    @property
    def winner(self) -> Rule:
        return self.rules[self.best]


def draw(cells: Cells, asked: Ints, rng: np.random.Generator, series: Series | None) -> StandIns:
    """Stand-ins for asked cells."""
    return stand_ins(cells.codes, cells.shape, asked, STAND_INS, rng, cells.curves, series)


def hold(
    cells: Cells, asked: Ints, drawn: StandIns, alone: bool, more: Sequence[str], seed: int,
    series: Series | None = None,
) -> Contest:  # fmt: skip
    """Ask every rule, and learners by the names in ``more``. What rules hold of the cells that they were last tried on
    is taken down at once."""
    rules = [*contestants(cells), *learners(more, cells, seed)]
    likely = [likelihood_of(rule, cells) for rule in rules]  # before they are tried on the stand-ins
    nearer = [np.ones(1)] * len(rules)
    between = False
    if alone:
        even = [r.evenly_left_out(asked) if isinstance(r, Adding) else (r.left_out(drawn.groups), 1.0) for r in rules]
        said, nearer = [one for one, _ in even], [np.array([factor]) for _, factor in even]
    else:
        said = [rule.left_out(drawn.groups) for rule in rules]
        if between := cells.between(asked):
            nearer = nearer_of(rules, asked)
    variances = [rule.variance if isinstance(rule, Adding) and not between else None for rule in rules]
    truth = cells.answers[[int(group[0]) for group in drawn.groups]]
    substituted = _substitution(rules, said, truth, asked)
    return Contest(cells, asked, drawn, alone, rules, said, nearer, likely, variances, substituted, series)


def nearer_of(rules: list[Rule], asked: Ints) -> list[Floats]:
    """The variance of asked answers over that of each answer left out last, by rules that know of gaps; of pairs no
    less than of sums: the more a rule forgets with a value, the larger it finds the difference."""
    found = list[Floats]()
    for rule in rules:
        near = np.ones(1)
        if isinstance(rule, Adding) and not rule.scale.learnt and not rule.saturated:
            near = np.asarray(float(rule.varies(asked).mean()) / np.maximum(rule.variance, 1e-300))
        found.append(np.maximum(near, found[-1]) if rule.name == "pairs" else near)
    return found


def _substitution(rules: list[Rule], said: list[Floats], truth: Floats, asked: Ints) -> dict[str, float | None] | None:
    found = [(rule, answers) for rule, answers in zip(rules, said, strict=True) if isinstance(rule, Substitution)]
    if not found:
        return None
    rule, answers = found[0]
    loss = losses_of(truth, answers, "error rate")  # it takes part only where every cell has a single class
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
