"""What the members answer at each combination of a task, in the form that `mechanisms` judges."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from recombine.errors import InputError
from recombine.measures.gaps import _evaluate
from recombine.mechanisms import Answers, Trained
from recombine.space import Points
from recombine.statistics import FloatArray
from recombine.tasks import FixedTask, Task
from recombine.training import Ensemble

MOST_CLASSES = 256
KEPT = 64
"""Longer answers are kept as this many random projections, which keep sums and, nearly, distances."""
NUMBERS_KEPT = 20_000_000
OTHER = "(another answer)"


@dataclass(frozen=True, eq=False)
class Asked:
    """The combinations that are asked about, which of them training saw, and what is worth saying about the choice."""

    points: Points
    seen: NDArray[np.bool_]
    notes: tuple[str, ...]


def ask(task: Task, most: int, seed: int) -> Asked:
    """Up to ``most`` seen and ``most`` unseen combinations of a task; continuous factors are sampled."""
    notes: list[str] = []
    sides: list[Points] = []
    for name, support in (("seen", task.train), ("unseen", task.test)):
        if not task.space.finite:
            points = support.sample(most, seed)
            if name == "unseen":
                points = points[~task.train.contains(points)]
            notes.append(f"{len(points):,} {name} points were drawn, as the factors are continuous.")
        else:
            points = support.explicit().codes
            if name == "unseen":
                points = points[~task.train.contains(points)]
            if isinstance(task, FixedTask):
                points = _with_examples(task, points, name, notes)
            if len(points) > most:
                notes.append(f"{most:,} of {len(points):,} {name} combinations were drawn.")
                points = points[np.sort(np.random.default_rng(seed).choice(len(points), most, replace=False))]
        sides.append(points)
    if not len(sides[0]) and not len(sides[1]):
        raise InputError("no combination to look at: no example has a combination of the train or the test support.")
    seen = np.arange(len(sides[0]) + len(sides[1])) < len(sides[0])
    return Asked(np.concatenate(sides), seen, tuple(notes))


def _with_examples(task: FixedTask, points: Points, name: str, notes: list[str]) -> Points:
    has = np.isin(task.space.index(points), task.space.index(task._codes.numpy()))
    if not has.all():
        notes.append(f"{int((~has).sum()):,} {name} combinations have no example and were left out.")
    return points[has]


def answers_of(
    ensemble: Ensemble, task: Task, asked: Asked, count: int, batch_size: int, seed: int
) -> tuple[Answers, str | None]:
    """The members' answers to ``count`` examples of each combination, and a reason why rules cannot be looked for."""
    at_once = max(1, batch_size // count)
    reader: _Reader | None = None
    for start in range(0, len(asked.points), at_once):
        points = asked.points[start : start + at_once]
        for outputs, targets, _ in _evaluate(ensemble, task, points, count, seed + start):
            reader = reader or _reader(outputs, targets, task, count, seed)
            reader.read(outputs, targets)
    assert reader is not None
    return reader.answers(ensemble, task, asked)


class _Reader(ABC):
    """Collects errors and answers, some combinations at a time."""

    def __init__(self, task: Task, count: int) -> None:
        self.task, self.count = task, count
        self.errors: list[FloatArray] = []

    @abstractmethod
    def read(self, outputs: Tensor, targets: Tensor) -> None:
        """Take in what was answered to some combinations."""

    @abstractmethod
    def answers(self, ensemble: Ensemble, task: Task, asked: Asked) -> tuple[Answers, str | None]:
        """All answers, and a reason why rules cannot be looked for."""

    def _cells(self, values: Tensor) -> Any:
        """(members × examples …) as numbers (members × combinations × examples …)."""
        return values.unflatten(1, (-1, self.count)).double().cpu().numpy()


class _Numbers(_Reader):
    """Answers of the shape of the targets: one number, a few, a picture."""

    def __init__(self, task: Task, count: int, width: int, seed: int) -> None:
        super().__init__(task, count)
        rng = np.random.default_rng(seed)
        self.project = None if width <= KEPT else rng.normal(scale=width**-0.5, size=(width, KEPT))
        self.said: list[FloatArray] = []
        self.right: list[FloatArray] = []
        self.means: list[FloatArray] = []

    def read(self, outputs: Tensor, targets: Tensor) -> None:
        off = (outputs - targets).flatten(2).double().square().mean(2)
        self.errors.append(self._cells(off).mean(axis=2))
        said, right = (self._cells(t.flatten(2)).mean(axis=2) for t in (outputs, targets[None]))
        self.means.append(right[0])
        self.said.append(said if self.project is None else said @ self.project)
        self.right.append(right[0] if self.project is None else right[0] @ self.project)

    def answers(self, ensemble: Ensemble, task: Task, asked: Asked) -> tuple[Answers, str | None]:
        said, right = np.concatenate(self.said, axis=1), np.concatenate(self.right)
        means = np.concatenate(self.means)
        known = means[asked.seen] if asked.seen.any() else means
        scale = float(np.square(known - known.mean(axis=0)).mean())
        if scale <= 0:
            raise InputError("every training answer is the same, so errors have no scale.")
        error = np.concatenate(self.errors, axis=1) / scale
        return _whole(ensemble, task, asked, self.count, error, said, right, None), None


class _Classes(_Reader):
    """Answers that are right or wrong: one class, or a sequence of them."""

    def __init__(self, task: Task, count: int) -> None:
        super().__init__(task, count)
        self.said: list[Tensor] = []
        self.right: list[Tensor] = []

    def read(self, outputs: Tensor, targets: Tensor) -> None:
        self.said.append(
            outputs.argmax(-1).flatten(2).cpu() if targets.dim() > 1 else outputs.argmax(-1)[..., None].cpu()
        )
        self.right.append(targets.reshape(len(targets), -1).cpu().long())

    def answers(self, ensemble: Ensemble, task: Task, asked: Asked) -> tuple[Answers, str | None]:
        said, right = torch.cat(self.said, 1), torch.cat(self.right)
        wrong = (said != right[None]).any(-1).double()
        error = self._cells(wrong).mean(axis=2)
        found, place = torch.unique(right, dim=0, return_inverse=True)
        size = len(found) + 1
        if size > MOST_CLASSES or size * said.shape[0] * len(asked.points) > NUMBERS_KEPT:
            blank = np.zeros((len(asked.points), 1))
            reason = f"there are {len(found):,} different answers, more than the {MOST_CLASSES} that are told apart"
            return _whole(
                ensemble, task, asked, self.count, error, np.zeros((len(error), *blank.shape)), blank, ("",)
            ), reason
        place_said = _positions(said, found)
        names = (*(" ".join(map(str, row)) for row in found.tolist()), OTHER)
        shares = np.stack([(self._cells(place_said == c)).mean(axis=2) for c in range(size)], axis=2)
        target = np.stack([(self._cells(place[None] == c)).mean(axis=2)[0] for c in range(size)], axis=1)
        return _whole(ensemble, task, asked, self.count, error, shares, target, names), None


class _Scored(_Reader):
    """Answers that only the task can judge: its own score called accuracy."""

    def read(self, outputs: Tensor, targets: Tensor) -> None:
        scores = torch.vmap(lambda o: self.task.scores(o, targets)["accuracy"])(outputs)
        self.errors.append(1 - self._cells(scores).mean(axis=2))

    def answers(self, ensemble: Ensemble, task: Task, asked: Asked) -> tuple[Answers, str | None]:
        error = np.concatenate(self.errors, axis=1)
        blank = np.zeros((len(asked.points), 1))
        whole = _whole(ensemble, task, asked, self.count, error, np.zeros((len(error), *blank.shape)), blank, ("",))
        return whole, "only the task's own score says whether an answer is right, so answers cannot be compared"


def _reader(outputs: Tensor, targets: Tensor, task: Task, count: int, seed: int) -> _Reader:
    if not targets.is_floating_point() and outputs.dim() - 1 == targets.dim() + 1:
        return _Classes(task, count)
    if targets.is_floating_point() and outputs.shape[1:] == targets.shape:
        return _Numbers(task, count, int(targets[0].numel()), seed)
    if "accuracy" in task.scores(outputs[0], targets):
        return _Scored(task, count)
    raise InputError(
        f"outputs of shape {tuple(outputs.shape[2:])} cannot be compared with targets of shape "
        f"{tuple(targets.shape[1:])} and kind {targets.dtype}; give whole-number targets to a classifier, targets "
        "shaped like the outputs, or the task a score called 'accuracy'."
    )


def _positions(said: Tensor, found: Tensor) -> Tensor:
    """Which of the known answers each one is; the number after the last where it is none of them."""
    place = torch.full(said.shape[:2], len(found))
    for i, row in enumerate(found):
        place[(said == row).all(-1)] = i
    return place


def _whole(
    ensemble: Ensemble, task: Task, asked: Asked, count: int, error: FloatArray, said: FloatArray, right: FloatArray,
    names: tuple[str, ...] | None,
) -> Answers:  # fmt: skip
    seen = asked.seen
    trained = Trained(asked.points[seen], right[seen], np.ones(int(seen.sum()))) if seen.any() else None
    return Answers(
        task.space, asked.points, seen, np.full(len(seen), count, dtype=np.int64), error, said, right, trained, names,
        members=ensemble.members,
    )  # fmt: skip
