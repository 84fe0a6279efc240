"""What a gap may owe to overfitting, where seen combinations have training rows alone.

The gap between unseen rows and training rows holds what any overfitting costs, so that by itself it convicts nobody.
The rule, in one place:

* A learner that is **told the factors alone** can know by heart nothing but the noise of its training rows, and that
  has a bound (below). It is taken to be told the factors alone where rows of unseen combinations share a combination
  and are answered alike, so often that answers that go by the row would not be (p < .01); training rows do not tell, as
  whoever knows them by heart answers alike where the right answers are.
* A learner that **reads more** (rows of one combination are answered differently), or of which that **cannot be known**
  (single rows), may overfit by any amount: no gap convicts it, unless its wrong answers to unseen combinations follow a
  rule beyond chance, which does not rest on the gap. Answers that shrink to the mean, or to one answer, are what any
  overfitting may do to rows it does not know, and convict nobody who is known to read more. Whoever gives the noise
  (``noise``) where it cannot be known says by it that the factors are all it is told.

The bound: on new rows of the same combinations a learner that is told the factors alone errs by at most **twice the
noise** more than on its training rows: of classes by the triangle inequality; of numbers as long as no answer moves by
more than the row it was trained on (Efron's optimism), less by the rows that share a combination. The noise, in turn,
is at most

* what a person says it is (``noise``), or rows of one combination where enough of them share one (the upper end of
  its interval);
* what a simple rule leaves on combinations that it was fitted without: the unseen ones or, for a learner that errs more
  there than the best rule by the margin, training's one by one;
* what the learner's own answers to unseen combinations leave, once they are stretched by one factor.

Where classes are counted, few errors among n rows are bounded exactly: none are at most 3/n (95 %). So a learner that
adds up where adding up is right, or that errs as much as the best rule, is never convicted; one that errs by more than
twice what the best rule leaves is, whatever it may know by heart. It is assumed that noise is alike at seen and unseen
combinations. Where the noise may be all there is, nothing is said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recombine.mechanisms.answers.answered import Answers
from recombine.mechanisms.answers.finding import LEVEL
from recombine.mechanisms.answers.names import share
from recombine.mechanisms.causes.constant import stretched
from recombine.mechanisms.compared.comparing import GIVEN, Comparison, errors_left_out, most_wrong
from recombine.mechanisms.compared.losing import LITTLE
from recombine.statistics import FloatArray, Over

FACTORS, MORE, OPEN = "factors", "more", "open"
"""What a learner is told, as far as its answers say."""
SHRINKING = ("fixed", "leak")
"""Evidence that overfitting gives as well, to a learner that reads more than the factors."""


@dataclass(frozen=True)
class ByHeart:
    """The most that training rows may favour a learner by that is told the factors alone, and the noise this takes."""

    most: float
    noise: float
    told_by: str
    told: str
    """What the learner is told: the factors, more, or open."""
    single: bool
    """Whether each seen combination has one row, so that none of it can be held out."""
    given: bool

    @property
    def bounds(self) -> bool:
        """Whether the bound holds: the factors are all it is told, by its answers or by who gave the noise."""
        return self.told == FACTORS or (self.told == OPEN and self.given)

    @property
    def bound(self) -> str:
        alone = "seen combinations have training rows alone, "
        if not np.isfinite(self.most):
            return f"{alone}and for all they tell answers may be nothing but noise"
        if not self.bounds:
            reads = "reads" if self.told == MORE else "may read"
            as_ = " (rows of one combination are answered differently)" * (self.told == MORE)
            return f"{alone}and it {reads} more than the factors{as_}, so that overfitting may explain any gap"
        supposed = ", supposing that the learner is told the factors alone" * (self.told == OPEN)
        return (
            f"{alone}which noise known by heart favours by {share(self.most)} at most (the noise is "
            f"{share(self.noise)} or less, {self.told_by}{supposed})"
        )

    @property
    def advice(self) -> str:
        if not self.single:
            return "to tell, hold some of their rows out of training"
        say = ", or say what the noise is if the factors are all it is told" * (not self.given and self.told != MORE)
        return f"to tell, take a second row of some of them and keep it out of training{say}"


def by_heart(answers: Answers, comparison: Comparison, over: Over, margin: float) -> ByHeart:
    """The least of the bounds that apply; infinite where none does."""
    floor, trained, best = comparison.floor, answers.trained, comparison.best
    bounds = [(np.inf, "")]
    if floor.bounded:
        said = "as was said" if floor.over == GIVEN else "as rows of one combination say"
        bounds.append((floor.high, said))
    for name, rule in comparison.rules.items():
        away = answers.unseen
        where: list[tuple[FloatArray, NDArray[Any]]] = [(answers.errors_of(rule.answers)[away], answers.counts[away])]
        if trained is not None and best is not None and best.difference.low > margin:
            where.append((errors_left_out(answers, rule), trained.weights[rule.tried]))
        what = f"as {name} leaves no more on combinations it was fitted without"
        bounds += [(_upper(answers, errors[None], rows, over), what) for errors, rows in where]
    if answers.classes is None:
        left = stretched(answers.at(answers.unseen))
        bounds.append((_upper(answers, left, np.ones(1), over), "as its own answers, stretched, show"))
    noise, told_by = min(bounds)
    if noise >= LITTLE * comparison.trained_constant:
        noise, told_by = np.inf, ""  # All of it may be noise, of which nobody can compose anything.
    rows = np.ones(1) if trained is None else trained.weights
    told = MORE if answers.varies else FACTORS if answers.factors_alone or _alike(answers) else OPEN
    shared = float((1 / rows).mean()) if answers.classes is None else 1.0
    return ByHeart(2 * noise * shared, noise, told_by, told, bool(rows.max() <= 1), floor.over == GIVEN)


def _alike(answers: Answers) -> bool:
    """Whether rows of one unseen combination are answered alike more often than they would be if right and wrong
    answers, as frequent as they are, went by the row (p < .01)."""
    asked = answers.at(answers.unseen & (answers.counts > 1))
    if not len(asked.codes):
        return False
    wrong, said = asked.wrong()[0], np.unique(asked.predicted[0].round(9), axis=0, return_inverse=True)[1].ravel()
    each = np.bincount(said, wrong) / len(said)
    chance = (1 - wrong.mean()) ** asked.counts + (each[:, None] ** asked.counts).sum(axis=0)
    return bool(np.minimum(chance, 1).prod() < LEVEL)


def _upper(answers: Answers, errors: FloatArray, rows: NDArray[Any], over: Over) -> float:
    """The upper end of the interval of a mean; infinite where it has none."""
    found = over.mean(errors) if errors.shape[1] > 1 else None
    if found is None or not found.bounded:
        return np.inf
    return found.high if answers.classes is None else max(found.high, most_wrong(found.mean, float(rows.sum())))
