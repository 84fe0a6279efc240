"""What a learner answered: its error, its answers and the right ones, combination by combination."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from recombine.mechanisms.answers.misplaced import Misplaced
from recombine.space import FactorSpace, Points
from recombine.statistics import FloatArray

NEAR = 0.05
"""Two numbers are alike if they differ by less than this share of the spread of the training answers, …"""
BLUR = 2.0
"""… or by less than this many times the error on seen combinations, whichever is more."""


@dataclass(frozen=True, eq=False)
class Trained:
    """The combinations training showed and their answers: shares of classes, or numbers (combinations × numbers)."""

    codes: Points
    answers: FloatArray
    weights: FloatArray
    """Rows of each combination."""
    borrowed: bool = False
    """Whether training's own answers are not known, and these are of other rows of the same combinations."""
    within: float = 0.0
    """For numbers, how much answers differ within combinations: the mean square, in units of the error, …"""
    inside: FloatArray | None = None
    """… and within each of them, where it is known …"""
    said: FloatArray | None = None
    """… what the learner answers to these rows, on average (combinations × numbers) …"""
    error: FloatArray | None = None
    """… and each member's error on them (members × combinations; NaN where none of them was answered)."""

    def of(self, members: NDArray[np.bool_]) -> Trained:
        """The same of some of the members."""
        return self if self.error is None else replace(self, error=self.error[members])


@dataclass(frozen=True)
class Unanswered:
    """Unseen combinations with right answers of which no row has a prediction: they are not among those judged."""

    count: int = 0
    alone: bool = False
    """Whether every row without a prediction is of an unseen combination."""

    def words(self, judged: int) -> str:
        """The same in a clause; none where all have one. ``judged``: how many unseen combinations are."""
        if not self.count:
            return ""
        of = self.count + judged
        have, are = ("has", "is") if self.count == 1 else ("have", "are")
        alone = "; every row without one is of an unseen combination" * self.alone
        many = f"{self.count:,} of {of:,} unseen combination{'s' * (of > 1)}"
        return f"{many} {have} no prediction at all and {are} not judged{alone}"


@dataclass(frozen=True, eq=False)
class Answers:
    """Errors, answers and targets of one or more members at every combination that was asked about.

    An answer is a share for each class (one class per answer: a row of 0 and 1), or one or more numbers."""

    space: FactorSpace
    codes: Points
    seen: NDArray[np.bool_]
    counts: NDArray[np.int64]
    error: FloatArray
    """Members × combinations. Classes: the share of wrong answers. Numbers: squared error over the spread of the
    training answers, so that always answering their mean costs 1."""
    predicted: FloatArray
    """Members × combinations × (classes or numbers)."""
    target: FloatArray
    """Combinations × (classes or numbers)."""
    trained: Trained | None
    classes: tuple[str, ...] | None = None
    fit: FloatArray | None = None
    """Each member's error on what it was trained on, where that is known apart from the seen combinations."""
    members: tuple[int, ...] = (0,)
    fresh: NDArray[np.bool_] | None = None
    """Which combinations were asked about on rows that were not trained on; unseen ones always are. None: all."""
    within: FloatArray | None = None
    """For numbers, how much right answers differ within each combination: the mean square, in units of the error."""
    varies: bool = True
    """Whether rows of one combination were answered differently: the learner then reads more than the factors."""
    factors_alone: bool = False
    """Whether the factors are known to be all that the learner is told."""
    scale: float = 1.0
    """What an error of 1 is in units of the answer, squared."""
    scores: Mapping[str, FloatArray] = field(default_factory=dict)
    """More figures, each members × combinations: "mae" in units of the answer, "log loss" of probabilities and the
    "confidence" that they have in the class that is given."""
    shown: Points | None = None
    """All combinations that training showed, where they are known, whether asked about or not."""
    copied: FloatArray | None = None
    """For numbers, how often the answers to a combination, and how often the right ones, are a training row's own
    (2 × combinations; `mechanisms/causes/literal.py`); None where that is hardly ever so, or not known."""
    hits: FloatArray | None = None
    """Combinations × classes: the share of rows that have a class and get it, where that is known."""
    patterns: NDArray[np.int64] | None = None
    """Where each class but the last, which is any other, stands for several labels of yes and no or a sequence: these
    (classes × places), below 0 where a place is missing or padding."""
    not_finite: int = 0
    """Answers that are no finite numbers; they count as wrong."""
    bare: Answers | None = None
    """The same without what columns besides the factors add (`mechanisms/tables/besides.py`), where that is known, …"""
    besides: Mapping[str, float] = field(default_factory=dict)
    """… and the names of these, each with how much more it is misread where unseen, in squares."""
    misplaced: Misplaced = field(default_factory=Misplaced)
    """What predictions of test rows look like, where these were put beside the wrong rows or are all alike."""
    mixed: str = ""
    """What to look at first where rows of unseen combinations alone seem to be put beside the wrong rows."""
    lone_rows: tuple[str, ...] = ()
    """What is said of single rows that make most of an error."""
    unanswered: Unanswered = field(default_factory=Unanswered)
    """Which combinations got no answer at all."""
    doubt: float = 0.0
    """By how much all numbers may be off besides, as `mechanisms/tables/besides.py` left them."""
    coded: bool = False
    """Whether whole numbers, of which nobody said that they are codes, are judged as classes."""
    alike: str = ""
    """That rows of one patient or batch are taken for repeats, in a sentence, where nobody named its column as a group
    (`mechanisms/tables/grouped.py`): the noise is more than rows tell, and what exceeds it may be nothing else."""

    @property
    def kind(self) -> Literal["class", "number"]:
        return "number" if self.classes is None else "class"

    @property
    def most(self) -> float:
        """The largest error there can be."""
        return float("inf") if self.classes is None else 1.0

    @property
    def unseen(self) -> NDArray[np.bool_]:
        return ~self.seen

    @property
    def without_answer(self) -> str:
        """Which unseen combinations got no answer at all, in a clause."""
        return self.unanswered.words(int(self.unseen.sum()))

    @property
    def like(self) -> bool:
        """Whether some seen combinations were asked about on rows that were not trained on, as unseen ones are."""
        return bool((self.seen & self._fresh).any())

    @property
    def compared(self) -> NDArray[np.bool_]:
        """The seen combinations that unseen ones are compared with: those with new rows, where there are some."""
        return self.seen & self._fresh if self.like else self.seen

    @property
    def _fresh(self) -> NDArray[np.bool_]:
        return np.ones(len(self.seen), dtype=bool) if self.fresh is None else self.fresh

    def errors_of(self, predicted: FloatArray) -> FloatArray:
        """The error (combinations) of one answer for each combination on the same rows."""
        if self.classes is not None:
            return np.asarray(1 - self.target[np.arange(len(self.target)), predicted.argmax(axis=1)])
        inside = 0.0 if self.within is None else self.within
        return np.asarray(np.square(predicted - self.target).mean(axis=1) / self.scale + inside)

    @property
    def trained_rows(self) -> bool:
        """Whether some of what it was trained on was asked about."""
        return self.fit is not None or not self.like

    @cached_property
    def training_error(self) -> FloatArray:
        """One value per member: on what it was trained on or, where none of that was asked about, on new rows of seen
        combinations; not a number without these."""
        if self.fit is not None:
            return self.fit
        if not self.seen.any():
            return np.full(len(self.error), np.nan)
        return np.asarray(self.error[:, self.seen].mean(axis=1))

    @cached_property
    def spread(self) -> float:
        """The standard deviation of the training answers (numbers), over all of them together."""
        answers = self.target if self.trained is None else self.trained.answers
        return float(np.sqrt(np.square(answers - answers.mean(axis=0)).mean()))

    @cached_property
    def tolerance(self) -> float:
        """How far two numbers may lie apart to count as the same answer."""
        blur = float(np.nanmean(self.training_error)) ** 0.5 if self.seen.any() else 0.0
        return self.spread * max(NEAR, BLUR * blur) + self.doubt

    def only(self, members: NDArray[np.bool_]) -> Answers:
        """Some of the members."""
        kept = tuple(m for m, keep in zip(self.members, members, strict=True) if keep)
        fit = None if self.fit is None else self.fit[members]
        scores = {name: values[members] for name, values in self.scores.items()}
        trained = None if self.trained is None else self.trained.of(members)
        return replace(
            self, error=self.error[members], predicted=self.predicted[members], fit=fit, members=kept, scores=scores,
            trained=trained,
        )  # fmt: skip

    def at(self, rows: NDArray[np.bool_] | NDArray[np.int64]) -> Answers:
        """Some of the combinations."""
        fit = self.training_error
        return replace(
            self,
            codes=self.codes[rows],
            seen=self.seen[rows],
            counts=self.counts[rows],
            error=self.error[:, rows],
            predicted=self.predicted[:, rows],
            target=self.target[rows],
            fit=fit,
            fresh=self._fresh[rows],
            within=None if self.within is None else self.within[rows],
            scores={name: values[:, rows] for name, values in self.scores.items()},
            copied=None if self.copied is None else self.copied[:, rows],
            hits=None if self.hits is None else self.hits[rows],
        )

    def wrong(self) -> FloatArray:
        """Members × combinations: the share of wrong answers (numbers: 1 where not alike)."""
        if self.classes is not None:
            return self.error
        return (distance(self.predicted, self.target[None]) > self.tolerance).astype(np.float64)


def distance(a: FloatArray, b: FloatArray) -> FloatArray:
    """Root mean squared difference over the last dimension."""
    return np.asarray(np.sqrt(np.square(a - b).mean(axis=-1)))
