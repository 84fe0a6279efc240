"""What a gap may owe to noise learnt by heart, where seen combinations have training rows alone.

The gap between unseen rows and training rows holds what any overfitting costs, so that by itself it convicts nobody.
But that cost has a bound. On new rows of the same combinations a learner errs by at most **twice the noise** more than
on its training rows: of classes by the triangle inequality; of numbers as long as no answer moves by more than the row
it was trained on (Efron's optimism), and where it is told the factors alone, less by the rows that share a combination.
The noise, in turn, is at most

* what a person says it is (``noise``), or rows of one combination where enough of them share one (the upper end of
  its interval);
* what a simple rule leaves on combinations that it was fitted without: the unseen ones or, for a learner that errs more
  there than the best rule by the margin, training's one by one;
* what the learner's own answers to unseen combinations leave, once they are stretched by one factor.

So a learner that adds up where adding up is right, or that errs as much as the best rule, is never convicted; one that
errs by more than twice what the best rule leaves is, whatever it may know by heart. It is assumed that noise is alike
at seen and unseen combinations. Where the noise may be all there is, nothing is said.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recombine.mechanisms.answers import Answers
from recombine.mechanisms.comparing import GIVEN, Comparison, errors_left_out
from recombine.mechanisms.constant import stretched
from recombine.mechanisms.fitting import LITTLE
from recombine.mechanisms.names import share
from recombine.statistics import Over


@dataclass(frozen=True)
class ByHeart:
    """The most that training rows may favour a learner by, and the noise that this takes."""

    most: float
    noise: float
    told_by: str
    single: bool
    """Whether each seen combination has one row, so that none of it can be held out."""

    @property
    def bound(self) -> str:
        if not np.isfinite(self.most):
            return "seen combinations have training rows alone, and for all they tell answers may be nothing but noise"
        return (
            f"seen combinations have training rows alone, which noise known by heart favours by {share(self.most)} at "
            f"most (the noise is {share(self.noise)} or less, {self.told_by})"
        )

    @property
    def advice(self) -> str:
        if self.single:
            return "to tell, take a second row of some of them and keep it out of training, or say what the noise is"
        return "to tell, hold some of their rows out of training"


def by_heart(answers: Answers, comparison: Comparison, over: Over, margin: float) -> ByHeart:
    """The least of the bounds that apply; infinite where none does."""
    floor, trained, best = comparison.floor, answers.trained, comparison.best
    bounds = [(np.inf, "")]
    if floor.bounded:
        # None that is wrong among n rows: at most 3/n are (95 %).
        few = 3 / floor.count if answers.classes is not None and floor.count else 0.0
        said = "as was said" if floor.over == GIVEN else "as rows of one combination say"
        bounds.append((max(floor.high, few), said))
    for name, rule in comparison.rules.items():
        where = [answers.errors_of(rule.answers)[answers.unseen]]
        where += [errors_left_out(answers, rule)] if best is not None and best.difference.low > margin else []
        what = f"as {name} leaves no more on combinations it was fitted without"
        bounds += [(_upper(errors[None], over), what) for errors in where]
    if answers.classes is None:
        bounds.append((_upper(stretched(answers.at(answers.unseen)), over), "as its own answers, stretched, show"))
    noise, told_by = min(bounds)
    if noise >= LITTLE * comparison.trained_constant:
        noise, told_by = np.inf, ""  # All of it may be noise, of which nobody can compose anything.
    rows = np.ones(1) if trained is None else trained.weights
    alone = answers.classes is None and not answers.varies
    return ByHeart(2 * noise * float((1 / rows).mean() if alone else 1.0), noise, told_by, bool(rows.max() <= 1))


def _upper(errors: np.ndarray[tuple[int, ...], np.dtype[np.float64]], over: Over) -> float:
    """The upper end of the interval of a mean; infinite where it has none."""
    found = over.mean(errors) if errors.shape[1] > 1 else None
    return found.high if found is not None and found.bounded else np.inf
