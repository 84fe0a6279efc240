"""What is kept of the answers to many examples, by combination: the part that numbers and classes share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from recombine.measures.counted import IGNORED
from recombine.measures.shapes import Form
from recombine.mechanisms import Answers, Trained
from recombine.space import Points
from recombine.statistics import FloatArray
from recombine.tasks import Task
from recombine.training import Ensemble

if TYPE_CHECKING:
    from recombine.measures.answering import Asked


class Reader(ABC):
    """Collects errors and answers, some examples at a time; ``one``: which of several numbers or labels of an answer
    it looks at, where it is not all."""

    may_lack = False
    """Whether an answer is judged where some of its labels are missing at a combination."""

    def __init__(self, task: Task, size: int, form: Form, one: int | None = None) -> None:
        self.task, self.size, self.form, self.one = task, size, form, one
        self.cells: list[NDArray[np.int64]] = []
        self.bad: list[NDArray[np.bool_]] = []
        self.some_missing = False

    @abstractmethod
    def another(self) -> Reader:
        """A reader of the same kind that has read nothing."""

    def read(self, outputs: Tensor, targets: Tensor, cells: NDArray[np.int64], counts: Tensor | None = None) -> None:
        """Take in what was answered to some examples of some combinations. ``counts``: which places of the targets
        count; None: all."""
        outputs, targets = self.form(outputs, targets)
        targets = targets if counts is None else marked(targets, counts)
        if self.one is not None:
            outputs, targets = self.part(outputs, targets, self.one)
        if counts is not None:
            self.some_missing = True
            there = ~gone(targets).flatten(1).all(1) if targets.dim() > 1 else ~gone(targets)
            if not there.any():
                return
            outputs, targets, cells = outputs[:, there], targets[there], cells[there.cpu().numpy()]
        finite = self.sound(outputs, targets).flatten(2).all(2)
        self.cells.append(cells)
        self.bad.append((~finite).cpu().numpy())
        self.take(outputs, targets, finite, cells)

    def part(self, outputs: Tensor, targets: Tensor, one: int) -> tuple[Tensor, Tensor]:
        """One of several numbers or labels of an answer."""
        return outputs.flatten(2)[..., one : one + 1], targets.flatten(1)[:, one : one + 1]

    def sound(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Which numbers can be part of an answer."""
        return outputs.isfinite()

    @abstractmethod
    def take(self, outputs: Tensor, targets: Tensor, finite: Tensor, cells: NDArray[np.int64]) -> None:
        """Keep what is needed of some examples."""

    @abstractmethod
    def answers(self, ensemble: Ensemble, task: Task, asked: Asked, trained: Any) -> tuple[Answers, str | None]:
        """All answers, and a reason why rules cannot be looked for; ``trained`` has read the training rows."""

    @property
    def rows(self) -> NDArray[np.int64]:
        """Of each combination."""
        return np.bincount(np.concatenate([np.zeros(0, np.int64), *self.cells]), minlength=self.size)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Rows of each combination, as far as they tell its answers."""
        return self.rows

    def labels(self) -> FloatArray | None:
        """How many rows of each combination have each label (combinations × labels); None where that is all one."""
        return None

    def summed(self, values: NDArray[Any]) -> FloatArray:
        """(… × examples) added up over each combination: (… × combinations)."""
        cells = np.concatenate(self.cells)
        flat = values.reshape(-1, len(cells)).astype(np.float64)
        sums = np.stack([np.bincount(cells, row, self.size) for row in flat]).astype(np.float64)
        return sums.reshape(*values.shape[:-1], self.size)

    def mean(self, values: NDArray[Any]) -> FloatArray:
        return np.asarray(self.summed(values) / np.maximum(self.rows, 1))

    def whole(
        self, ensemble: Ensemble, task: Task, asked: Asked, error: FloatArray, said: FloatArray, right: FloatArray,
        names: tuple[str, ...] | None, trained: tuple[Reader, FloatArray, FloatArray, FloatArray] | None, **more: Any,
    ) -> Answers:  # fmt: skip
        """``trained``: its reader, its answers at each combination, the errors there and over all its rows, each by
        member."""
        seen, counts = asked.seen, self.counts
        bad = np.concatenate(self.bad, axis=1)
        lost = np.asarray(bad[:, seen[np.concatenate(self.cells)]].any(axis=1))
        kept, known = self.known(seen, None if trained is None else trained[0]), seen
        if self.one is not None and self.some_missing and trained is not None:
            known = seen & (trained[0].rows > 0)  # A label that training never has at a combination is not seen there.
        if trained is None:
            at = seen & kept
            shown = Trained(asked.points[at], right[at], counts[at].astype(np.float64)) if at.any() else None
            fit = None
        else:
            reader, answers, wrong, own = trained
            lost = lost | np.concatenate(reader.bad, axis=1).any(axis=1)
            here = np.flatnonzero(reader.known(seen))
            errors, rows = np.where(lost[:, None], np.nan, wrong[:, here]), reader.counts[here]
            shown = Trained(asked.points[here], answers[here], rows.astype(np.float64), error=errors)
            fit = np.where(lost, np.nan, own)
        found = Answers(
            task.space, asked.points, known, counts, np.where(lost[:, None], np.nan, error), said, right, shown, names,
            fit, ensemble.members, asked.fresh, shown=self._shown(asked, known), not_finite=int(bad.sum()), **more,
        )  # fmt: skip
        return found if kept.all() else found.at(kept)

    def known(self, seen: NDArray[np.bool_], trained: Reader | None = None) -> NDArray[np.bool_]:
        """At which combinations answers are judged as a whole: not where a label is asked for that training never has
        there; nor where one is missing, or all that an answer ``may_lack`` are."""
        own, asked = self.labels(), self.rows > 0
        if own is None or not self.some_missing:
            return asked
        theirs = None if trained is None else trained.labels()
        theirs = np.zeros_like(own) if theirs is None else theirs
        untrained = seen & (theirs > 0).any(axis=1) & ((own > 0) & (theirs == 0)).any(axis=1)
        there = own + theirs > 0
        return np.asarray(asked & ~untrained & (there.any(axis=1) if self.may_lack else there.all(axis=1)))

    def _shown(self, asked: Asked, known: NDArray[np.bool_]) -> Points | None:
        """All combinations that training showed, without those that count as unseen here."""
        away = asked.points[asked.seen & ~known]
        if asked.shown is None or not len(away):
            return asked.shown
        index = self.task.space.index
        return asked.shown[~np.isin(index(asked.shown), index(away))]


def gone(targets: Tensor) -> Tensor:
    """Which places do not count."""
    return targets.isnan() if targets.is_floating_point() else targets == IGNORED


def marked(targets: Tensor, counts: Tensor) -> Tensor:
    """Targets with a mark at places that do not count."""
    counts = counts.to(targets.device)
    for axis in (-1, 1):  # Of one-hot rows of a sequence, those of one place count together.
        if counts.dim() == targets.dim() + 1 and counts.any(axis).shape == targets.shape:
            counts = counts.any(axis)
    mark = torch.nan if targets.is_floating_point() else IGNORED
    return targets.masked_fill(~counts.reshape(targets.shape), mark)
