"""What is kept of the answers to many examples: numbers, classes, or the task's own score, by combination."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from recombine.errors import InputError
from recombine.measures.counted import IGNORED
from recombine.measures.shapes import SEVERAL, Form, alike
from recombine.mechanisms import Answers, Trained
from recombine.mechanisms.answers.probabilities import CONFIDENCE
from recombine.statistics import FloatArray
from recombine.tasks import FixedTask, Task
from recombine.training import Ensemble

if TYPE_CHECKING:
    from recombine.measures.answering import Asked

MOST_CLASSES = 256
KEPT = 64
"""Longer answers are kept as this many random projections, which keep sums and, nearly, distances."""
NUMBERS_KEPT = 20_000_000
OTHER = "(another answer)"
ONE_BY_ONE = "right one by one"
"""The name of the share of classes in a sequence, or of labels, that are right, beside other scores."""


class Reader(ABC):
    """Collects errors and answers, some examples at a time."""

    def __init__(self, task: Task, size: int, form: Form) -> None:
        self.task, self.size, self.form = task, size, form
        self.cells: list[NDArray[np.int64]] = []
        self.bad: list[NDArray[np.bool_]] = []

    @abstractmethod
    def another(self) -> Reader:
        """A reader of the same kind that has read nothing."""

    def read(self, outputs: Tensor, targets: Tensor, cells: NDArray[np.int64]) -> None:
        """Take in what was answered to some examples of some combinations."""
        outputs, targets = self.form(outputs, targets)
        finite = self.sound(outputs, targets).flatten(2).all(2)
        self.cells.append(cells)
        self.bad.append((~finite).cpu().numpy())
        self.take(outputs, targets, finite, cells)

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
    def counts(self) -> NDArray[np.int64]:
        return np.bincount(np.concatenate(self.cells), minlength=self.size)

    def summed(self, values: NDArray[Any]) -> FloatArray:
        """(… × examples) added up over each combination: (… × combinations)."""
        cells = np.concatenate(self.cells)
        flat = values.reshape(-1, len(cells)).astype(np.float64)
        sums = np.stack([np.bincount(cells, row, self.size) for row in flat]).astype(np.float64)
        return sums.reshape(*values.shape[:-1], self.size)

    def mean(self, values: NDArray[Any]) -> FloatArray:
        return np.asarray(self.summed(values) / np.maximum(self.counts, 1))

    def whole(
        self, ensemble: Ensemble, task: Task, asked: Asked, error: FloatArray, said: FloatArray, right: FloatArray,
        names: tuple[str, ...] | None, trained: tuple[Reader, FloatArray, FloatArray] | None, **more: Any,
    ) -> Answers:  # fmt: skip
        """``trained``: its reader, its answers at each combination and its errors, members × examples."""
        seen, counts = asked.seen, self.counts
        bad = np.concatenate(self.bad, axis=1)
        lost = np.asarray(bad[:, seen[np.concatenate(self.cells)]].any(axis=1))
        if trained is None:
            shown = Trained(asked.points[seen], right[seen], counts[seen].astype(np.float64)) if seen.any() else None
            fit = None
        else:
            reader, answers, wrong = trained
            here = np.flatnonzero(reader.counts[: len(seen)])
            lost = lost | np.concatenate(reader.bad, axis=1).any(axis=1)
            known, rows = np.where(lost[:, None], np.nan, reader.mean(wrong)[:, here]), reader.counts[here]
            shown = Trained(asked.points[here], answers[here], rows.astype(np.float64), error=known)
            fit = np.where(lost, np.nan, wrong.mean(axis=1))
        return Answers(
            task.space, asked.points, seen, counts, np.where(lost[:, None], np.nan, error), said, right, shown, names,
            fit, ensemble.members, asked.fresh, shown=asked.shown, not_finite=int(bad.sum()), **more,
        )  # fmt: skip


class _Numbers(Reader):
    """Answers of the shape of the targets: one number, a few, a picture. Each of a few counts by its own spread in
    training, or what varies most would hide what the others do."""

    def __init__(self, task: Task, size: int, form: Form, width: int, seed: int) -> None:
        super().__init__(task, size, form)
        rng = np.random.default_rng(seed)
        self.width, self.seed, self.unit = width, seed, spreads(task, width)
        self.project = None if width <= KEPT else rng.normal(scale=width**-0.5, size=(width, KEPT))
        self.parts: dict[str, list[NDArray[Any]]] = {"off": [], "mae": [], "square": []}
        self.said: FloatArray | None = None
        self.right = np.zeros((size, KEPT if self.project is not None else width))
        self.means = np.zeros((size, width))
        self.spread = 0.0

    def another(self) -> _Numbers:
        return _Numbers(self.task, self.size, self.form, self.width, self.seed)

    def take(self, outputs: Tensor, targets: Tensor, finite: Tensor, cells: NDArray[np.int64]) -> None:
        y = targets.flatten(1).double().cpu().numpy() / self.unit
        given = outputs.flatten(2).double().cpu().numpy() / self.unit
        ok = finite.cpu().numpy()
        given = np.where(ok[..., None], given, 0.0)
        off = np.where(ok[..., None], given - y, 0.0)
        self.parts["off"].append(np.square(off).mean(axis=2))
        self.parts["mae"].append(np.abs(off).mean(axis=2))
        self.parts["square"].append(np.square(y).mean(axis=1)[None])
        if self.said is None:
            self.said = np.zeros((len(given), *self.right.shape))
            self.first = np.full((len(given), self.size), np.nan)
            self.differs = False
        self.spread = max(self.spread, float(np.abs(given).max()))
        np.add.at(self.means, cells, y)
        np.add.at(self.right, cells, y if self.project is None else y @ self.project)
        for m, row in enumerate(given):
            np.add.at(self.said[m], cells, row if self.project is None else row @ self.project)
            level = row.sum(axis=1)
            self.first[m, cells[::-1]] = np.where(
                np.isnan(self.first[m, cells[::-1]]), level[::-1], self.first[m, cells[::-1]]
            )
            self.differs |= bool((np.abs(level - self.first[m, cells]) > 1e-6 * (1 + self.spread)).any())

    def answers(self, ensemble: Ensemble, task: Task, asked: Asked, trained: Any) -> tuple[Answers, str | None]:
        assert self.said is not None
        n = np.maximum(self.counts, 1)
        source = trained if trained is not None else self
        there = np.flatnonzero(source.counts > 0) if trained is not None else np.arange(self.size)
        there = there[asked.seen[there]] if asked.seen.any() else there
        known, inside = source.moments()
        scale = float(np.square(known[there] - known[there].mean(axis=0)).mean() + inside[there].mean())
        if scale <= 0:
            raise InputError("every training answer is the same, so errors have no scale.")
        error = self.mean(self.errors(scale))
        _, within = self.moments()
        shown = None
        if trained is not None:
            shown = trained, trained.right / np.maximum(trained.counts, 1)[:, None], trained.errors(scale)
        mae = self.mean(np.concatenate(self.parts["mae"], axis=1))
        found = self.whole(
            ensemble, task, asked, error, self.said / n[:, None], self.right / n[:, None], None, shown,
            within=within / scale, varies=self.differs, scale=scale, scores={"mae": mae},
        )  # fmt: skip
        if found.trained is not None:
            held = float(np.average(inside[there], weights=np.maximum(source.counts[there], 1))) / scale
            found = replace(found, trained=replace(found.trained, within=held))
        return found, None

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """The mean right answer of each combination, and its mean square within."""
        means = self.means / np.maximum(self.counts, 1)[:, None]
        inside = self.mean(np.concatenate(self.parts["square"], axis=1))[0] - np.square(means).mean(axis=1)
        # Rounding is no variation.
        return means, np.where(inside > 1e-9 * np.square(means).mean(), np.maximum(inside, 0.0), 0.0)

    def errors(self, scale: float) -> FloatArray:
        """Members × examples; an answer that is no number costs as much as the mean."""
        return np.asarray(np.concatenate(self.parts["off"], axis=1) / scale + np.concatenate(self.bad, axis=1))


def spreads(task: Task, width: int) -> FloatArray:
    """The standard deviation of each of several numbers over training rows; 1 for what does not vary, for one number
    and for pictures."""
    if width not in SEVERAL or not isinstance(task, FixedTask):
        return np.ones(1)
    shown = task._targets[task._rows].flatten(1).double().cpu().numpy()
    found = shown.std(axis=0) if len(shown) else np.ones(width)
    return np.where(found > 1e-12 * np.abs(shown).max(initial=0), found, 1.0)


class _Classes(Reader):
    """Answers that are right or wrong: one class, or a sequence of them."""

    def __init__(self, task: Task, size: int, form: Form) -> None:
        super().__init__(task, size, form)
        self.said: list[Tensor] = []
        self.right: list[Tensor] = []
        self.loss: list[NDArray[Any]] = []
        self.sure: list[NDArray[Any]] = []
        self.parts: list[NDArray[Any]] = []

    def another(self) -> _Classes:
        return _Classes(self.task, self.size, self.form)

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
        if targets[0].numel() > 1:
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
        known = np.zeros(0) if trained is None else trained.wrong()
        rights = torch.cat(self.right if trained is None else [*self.right, *trained.right])
        found = torch.unique(rights, dim=0)
        size = len(found) + 1
        each = {"log loss": self.loss, CONFIDENCE: self.sure, ONE_BY_ONE: self.parts}
        scores = {name: self.mean(np.concatenate(parts, axis=1)) for name, parts in each.items() if parts}
        if size > MOST_CLASSES or size * len(wrong) * len(asked.points) > NUMBERS_KEPT:
            blank = np.zeros((len(asked.points), 1))
            reason = f"there are {len(found):,} different answers, more than the {MOST_CLASSES} that are told apart"
            shown = None if trained is None else (trained, blank, known)
            none = np.zeros((len(error), *blank.shape))
            return self.whole(ensemble, task, asked, error, none, blank, ("",), shown, scores=scores), reason
        names = (*_named(found, task), OTHER)
        said, right = self.shares(found)
        due = _positions(torch.cat(self.right)[None], found).numpy()
        hits = np.stack([self.mean((due == c) * (1 - wrong)).mean(axis=0) for c in range(size)], axis=1)
        varies = bool(((said > 0) & (said < 1)).any())
        shown = None if trained is None else (trained, trained.shares(found)[1], known)
        return self.whole(ensemble, task, asked, error, said, right, names, shown, varies=varies, scores=scores,
                          hits=hits), None  # fmt: skip


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
        shown = None if trained is None else (trained, blank, np.concatenate(trained.errors, axis=1))
        none = np.zeros((len(error), *blank.shape))
        reason = "only the task's own score says whether an answer is right, so answers cannot be compared"
        return self.whole(ensemble, task, asked, error, none, blank, ("",), shown), reason


def reader_for(outputs: Tensor, targets: Tensor, task: Task, size: int, seed: int) -> Reader:
    form = alike(outputs, targets, task)
    outputs, targets = form(outputs, targets)
    if not targets.is_floating_point() and outputs.dim() - 1 == targets.dim() + 1:
        _check_classes(outputs.shape[-1], task)
        return _Classes(task, size, form)
    if targets.is_floating_point() and outputs.shape[1:] == targets.shape:
        return _Numbers(task, size, form, int(targets[0].numel()), seed)
    if "accuracy" in task.scores(outputs[0], targets):
        return _Scored(task, size, form)
    raise InputError(
        f"outputs of shape {tuple(outputs.shape[2:])} cannot be compared with targets of shape "
        f"{tuple(targets.shape[1:])} and kind {targets.dtype}; give whole-number targets to a classifier, targets "
        "shaped like the outputs, or the task a score called 'accuracy'."
    )


def readers_one_by_one(outputs: Tensor, targets: Tensor, task: Task, size: int, seed: int) -> list[Reader]:
    """A reader for each of several numbers or labels of an answer; none where an answer is anything else."""
    form = alike(outputs, targets, task)
    outputs, targets = form(outputs, targets)
    if form.labels:
        return [_Classes(task, size, _label(form, i)) for i in range(targets.shape[1])]
    several = targets.is_floating_point() and outputs.shape[1:] == targets.shape and targets[0].numel() in SEVERAL
    return [_Numbers(task, size, _number(form, i), 1, seed) for i in range(targets[0].numel() if several else 0)]


def _number(form: Form, i: int) -> Form:
    def one(outputs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        o, t = form(outputs, targets)
        return o.flatten(2)[..., i : i + 1], t.flatten(1)[:, i : i + 1]

    return Form(one)


def _label(form: Form, i: int) -> Form:
    def one(outputs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        o, t = form(outputs, targets)
        return o[..., i, :], t[:, i]

    return Form(one)


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
