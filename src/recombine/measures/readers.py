"""Which reader answers have: of numbers, of classes, or of the task's own score."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from recombine.errors import InputError
from recombine.measures.counted import IGNORED
from recombine.measures.read_numbers import Numbers, spreads
from recombine.measures.reader import Reader
from recombine.measures.shapes import SEVERAL, Form, alike
from recombine.mechanisms import Answers
from recombine.mechanisms.answers.probabilities import CONFIDENCE
from recombine.statistics import FloatArray
from recombine.tasks import FixedTask, Task
from recombine.training import Ensemble

if TYPE_CHECKING:
    from recombine.measures.answering import Asked

MOST_CLASSES = 256
PLACES = 16
"""Labels, or places of a sequence, up to which simple rules are fitted to each of them."""
NUMBERS_KEPT = 20_000_000
OTHER = "(another answer)"
ONE_BY_ONE = "right one by one"
"""The name of the share of classes in a sequence, or of labels, that are right, beside other scores."""


class _Classes(Reader):
    """Answers that are right or wrong: one class, or a sequence of them."""

    may_lack = True

    def __init__(self, task: Task, size: int, form: Form, one: int | None = None) -> None:
        super().__init__(task, size, form, one)
        self.said: list[Tensor] = []
        self.right: list[Tensor] = []
        self.loss: list[NDArray[Any]] = []
        self.sure: list[NDArray[Any]] = []
        self.parts: list[NDArray[Any]] = []
        self.counted: list[Tensor] = []

    def another(self) -> _Classes:
        return _Classes(self.task, self.size, self.form, self.one)

    def part(self, outputs: Tensor, targets: Tensor, one: int) -> tuple[Tensor, Tensor]:
        return outputs[..., one, :], targets[:, one]

    def labels(self) -> FloatArray | None:
        if not self.form.labels or self.one is not None:
            return None
        return np.asarray(self.summed(torch.cat(self.counted).T.numpy()).T)

    def sound(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """A class may be ruled out by a score of −∞, and what does not count may be anything."""
        return ~(outputs.isnan() | outputs.isposinf()) | (targets == IGNORED)[..., None]

    def take(self, outputs: Tensor, targets: Tensor, finite: Tensor, cells: NDArray[np.int64]) -> None:
        said = outputs.argmax(-1).flatten(2) if targets.dim() > 1 else outputs.argmax(-1)[..., None]
        right = targets.reshape(len(targets), -1).long()
        counts = right != IGNORED
        said = torch.where(finite[..., None], said, -1).where(counts, IGNORED)
        self.said.append(said.cpu())
        self.right.append(right.cpu())
        self.counted.append(counts.cpu())
        if right.shape[1] > 1:
            self.parts.append((((said == right) & counts).double().sum(-1) / counts.sum(-1)).cpu().numpy())
        if targets.dim() == 1 and self.form.chances:
            scores = torch.log_softmax(outputs.double(), -1)
            inside = (targets >= 0) & (targets < outputs.shape[-1])
            place = targets.long().clamp(0, outputs.shape[-1] - 1).expand(len(outputs), -1)[..., None]
            own = scores.gather(-1, place)[..., 0].where(finite & inside, -torch.inf)
            self.loss.append(-own.clamp(min=-50.0).cpu().numpy())
            self.sure.append(scores.amax(-1).exp().cpu().numpy())

    def wrong(self) -> NDArray[Any]:
        said, right = torch.cat(self.said, 1), torch.cat(self.right)
        return (said != right[None]).any(-1).double().numpy()

    def shares(self, found: Tensor) -> tuple[FloatArray, FloatArray]:
        """Shares of the known answers among those given (members × combinations × answers) and the right ones."""
        said, right = torch.cat(self.said, 1), torch.cat(self.right)[None]
        given, due = (_positions(part, found).numpy() for part in (said, right))
        classes = np.arange(len(found) + 1)
        return (
            np.stack([self.mean(given == c) for c in classes], axis=2),
            np.stack([self.mean(due == c)[0] for c in classes], axis=1),
        )

    def answers(self, ensemble: Ensemble, task: Task, asked: Asked, trained: Any) -> tuple[Answers, str | None]:
        fill([self] if trained is None else [self, trained])
        wrong = self.wrong()
        error = self.mean(wrong)
        known: Any = None if trained is None else trained.wrong()
        rights = torch.cat(self.right if trained is None else [*self.right, *trained.right])
        found = torch.unique(rights, dim=0)
        size = len(found) + 1
        each = {"log loss": self.loss, CONFIDENCE: self.sure, ONE_BY_ONE: self.parts}
        scores = {name: self.mean(np.concatenate(parts, axis=1)) for name, parts in each.items() if parts}
        if size > MOST_CLASSES or size * len(wrong) * len(asked.points) > NUMBERS_KEPT:
            blank = np.zeros((len(asked.points), 1))
            reason = f"there are {len(found):,} different answers, more than the {MOST_CLASSES} that are told apart"
            shown = None if trained is None else (trained, blank, trained.mean(known), known.mean(axis=1))
            none = np.zeros((len(error), *blank.shape))
            return self.whole(ensemble, task, asked, error, none, blank, ("",), shown, scores=scores), reason
        names = (*_named(found, task), OTHER)
        said, right = self.shares(found)
        due = _positions(torch.cat(self.right)[None], found).numpy()
        hits = np.stack([self.mean((due == c) * (1 - wrong)).mean(axis=0) for c in range(size)], axis=1)
        varies = bool(((said > 0) & (said < 1)).any())
        shown = None
        if trained is not None:
            shown = trained, trained.shares(found)[1], trained.mean(known), known.mean(axis=1)
        patterns = found.numpy() if 1 < found.shape[1] <= PLACES else None
        return self.whole(ensemble, task, asked, error, said, right, names, shown, varies=varies, scores=scores,
                          hits=hits, patterns=patterns), None  # fmt: skip


def fill(readers: list[_Classes]) -> None:
    """At places that do not count, the right answer and what was said become the usual right answer to their
    combination there, where some row has one: rows that are padded differently are no different answers."""
    cells = np.concatenate([part for reader in readers for part in reader.cells])
    right = torch.cat([part for reader in readers for part in reader.right]).numpy()
    left_out = right == IGNORED
    if not left_out.any():
        return
    for place in np.flatnonzero(left_out.any(axis=0)):
        counts = ~left_out[:, place]
        pairs, often = np.unique(np.stack([cells[counts], right[counts, place]]), axis=1, return_counts=True)
        usual = np.full(readers[0].size, IGNORED)
        order = np.lexsort((often, pairs[0]))  # The last of each combination is the usual one.
        usual[pairs[0][order]] = pairs[1][order]
        right[~counts, place] = usual[cells[~counts]]
    start = 0
    for reader in readers:
        said = torch.cat(reader.said, 1)
        rows = slice(start, start := start + said.shape[1])
        here = torch.as_tensor(right[rows])
        reader.right, reader.said = [here], [torch.where(torch.as_tensor(left_out[rows]), here, said)]


class _Scored(Reader):
    """Answers that only the task can judge: its own score called accuracy."""

    def __init__(self, task: Task, size: int, form: Form) -> None:
        super().__init__(task, size, form)
        self.errors: list[NDArray[Any]] = []

    def another(self) -> _Scored:
        return _Scored(self.task, self.size, self.form)

    def take(self, outputs: Tensor, targets: Tensor, finite: Tensor, cells: NDArray[np.int64]) -> None:
        scores = torch.vmap(lambda o: self.task.scores(o, targets)["accuracy"])(outputs)
        self.errors.append((1 - scores.double()).where(finite, torch.ones((), dtype=torch.float64)).cpu().numpy())

    def answers(self, ensemble: Ensemble, task: Task, asked: Asked, trained: Any) -> tuple[Answers, str | None]:
        error = self.mean(np.concatenate(self.errors, axis=1))
        blank = np.zeros((len(asked.points), 1))
        shown = None
        if trained is not None:
            known = np.concatenate(trained.errors, axis=1)
            shown = trained, blank, trained.mean(known), known.mean(axis=1)
        none = np.zeros((len(error), *blank.shape))
        reason = "only the task's own score says whether an answer is right, so answers cannot be compared"
        return self.whole(ensemble, task, asked, error, none, blank, ("",), shown), reason


def reader_for(
    outputs: Tensor, targets: Tensor, task: Task, size: int, seed: int, places: Tensor | None = None
) -> Reader:
    """The reader of whole answers; ``places``: which of the targets of a fixed set count (None: all)."""
    form = alike(outputs, targets, task)
    outputs, targets = form(outputs, targets)
    if not targets.is_floating_point() and outputs.dim() - 1 == targets.dim() + 1:
        _check_classes(outputs.shape[-1], task)
        return _Classes(task, size, form)
    if targets.is_floating_point() and outputs.shape[1:] == targets.shape:
        width = int(targets[0].numel())
        return Numbers(task, size, form, width, seed, spreads(task, width, places))
    if "accuracy" in task.scores(outputs[0], targets):
        return _Scored(task, size, form)
    raise InputError(
        f"outputs of shape {tuple(outputs.shape[2:])} cannot be compared with targets of shape "
        f"{tuple(targets.shape[1:])} and kind {targets.dtype}; give whole-number targets to a classifier, targets "
        "shaped like the outputs, or the task a score called 'accuracy'."
    )


def readers_one_by_one(whole: Reader, width: int) -> list[Reader]:
    """A reader for each of several numbers or labels of an answer; none where an answer is anything else."""
    task, size, form = whole.task, whole.size, replace(whole.form, said="")
    if form.labels:
        return [_Classes(task, size, form, i) for i in range(width)]
    if not (isinstance(whole, Numbers) and whole.width in SEVERAL):
        return []
    return [Numbers(task, size, form, 1, whole.seed, np.ones(1), i) for i in range(width)]


def _check_classes(outputs: int, task: Task) -> None:
    labels = getattr(task, "labels", None)
    if labels is not None and (lacking := labels[1] + 1 - outputs) > 0:
        raise InputError(
            f"the model has {outputs} outputs, and answers go from {labels[0]} to {labels[1]}, so {lacking:,} "
            f"{'class' if lacking == 1 else 'classes'} can never be said; give it an output for each class."
        )


def _named(found: Tensor, task: Task) -> tuple[str, ...]:
    """What answers are called: as the levels of the factor whose codes they are, or as numbers."""
    if isinstance(task, FixedTask) and task._targets.dim() == 1 and found.shape[1] == 1:
        for j, factor in enumerate(task.space.factors):
            levels = [str(level) for level in factor.levels or ()]
            if len(set(levels)) == len(levels) > 0 and torch.equal(task._targets.cpu(), task._codes[:, j]):
                return tuple(levels[code] for code in found[:, 0].tolist())
    return tuple(" ".join("–" if part == IGNORED else str(part) for part in row) for row in found.tolist())


def _positions(said: Tensor, found: Tensor) -> Tensor:
    """Which of the known answers each one is; the number after the last where it is none of them, and −1 where it is
    no answer."""
    place = torch.where((said == -1).any(-1), -1, len(found))
    for i, row in enumerate(found):
        place[(said == row).all(-1)] = i
    return place
