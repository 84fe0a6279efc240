"""What the members answer at each combination of a task, in the form that `mechanisms` judges.

Of a fixed set each row is asked once: rows that were held out of training where a combination has some, and the
training rows apart from them. Other tasks make new examples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from recombine.errors import InputError
from recombine.measures.gaps import _evaluate
from recombine.measures.reader import Reader
from recombine.measures.readers import reader_for, readers_one_by_one
from recombine.mechanisms import Answers
from recombine.space import Points
from recombine.tasks import FixedTask, Task
from recombine.training import Ensemble
from recombine.training.stack import positional

EXAMPLES = 4096
FEWEST_EXAMPLES, MOST_EXAMPLES = 16, 512
MOST_ROWS = 100_000
"""Rows of a fixed set that are asked, and trained rows that are looked at; of more, so many are drawn."""
MOST_OF = 0.75
"""Share of the combinations of either side that have to be left for answers to be judged as a whole."""
NO_TRAINING, NO_LABEL = "no label in training", "no label in the rows that are asked about"


@dataclass(frozen=True, eq=False)
class Asked:
    """The combinations that are asked about, which of them training saw, on how many examples or which rows."""

    points: Points
    seen: NDArray[np.bool_]
    count: int
    rows: NDArray[np.int64] | None = None
    cells: NDArray[np.int64] | None = None
    """Of a fixed set: the rows, and the combination of each."""
    fresh: NDArray[np.bool_] | None = None
    shown: Points | None = None
    """All seen combinations, whether asked about or not."""
    places: Tensor | None = None
    """Which places of the targets of a fixed set count (all its rows × places); None: all."""
    notes: list[str] = field(default_factory=list)


def ask(task: Task, most: int, count: int | None, seed: int, places: Tensor | None = None) -> Asked:
    """Up to ``most`` seen and ``most`` unseen combinations of a task; continuous factors are sampled. ``places``: which
    of its targets count."""
    notes: list[str] = []
    sides: list[Points] = []
    shown: Points | None = None
    rng = np.random.default_rng(seed)
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
            shown = points if name == "seen" else shown
            if len(points) > most:
                notes.append(f"{most:,} of {len(points):,} {name} combinations were drawn.")
                points = points[np.sort(rng.choice(len(points), most, replace=False))]
        sides.append(points)
    if not len(sides[0]) and not len(sides[1]):
        raise InputError("no combination to look at: no example has a combination of the train or the test support.")
    both = np.concatenate(sides)
    seen = np.arange(len(both)) < len(sides[0])
    if not isinstance(task, FixedTask):
        made = count or min(MOST_EXAMPLES, max(FEWEST_EXAMPLES, EXAMPLES // len(both)))
        return Asked(both, seen, made, shown=shown, notes=notes)
    rows, cells = _rows_of(task, task._asked.numpy(), both)
    kept = _some_of_each(cells, count or MOST_ROWS // len(both), rng)
    if not kept.all():
        notes.append(f"{int(kept.sum()):,} of {len(rows):,} rows were drawn.")
    rows, cells = rows[kept], cells[kept]
    fresh = np.ones(len(both), dtype=bool)
    fresh[cells[np.isin(rows, task._rows.numpy())]] = False
    return Asked(both, seen, 0, rows, cells, fresh, shown, places, notes)


def _with_examples(task: FixedTask, points: Points, name: str, notes: list[str]) -> Points:
    has = np.isin(task.space.index(points), task._index.numpy())
    if not has.all():
        count = int((~has).sum())
        have = "combination has no example and was" if count == 1 else "combinations have no example and were"
        notes.append(f"{count:,} {name} {have} left out.")
    return points[has]


def _rows_of(task: FixedTask, rows: NDArray[np.int64], points: Points) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows that have one of the combinations, in the combinations' order, and which one each has."""
    index = task.space.index(points)
    order = np.argsort(index)
    place = np.searchsorted(index[order], task._index.numpy()[rows]).clip(max=len(order) - 1)
    cells = order[place]
    mine = index[cells] == task._index.numpy()[rows]
    by = np.argsort(cells[mine], kind="stable")
    return rows[mine][by], cells[mine][by]


def _some_of_each(cells: NDArray[np.int64], most: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which rows are kept so that no combination has more than ``most``."""
    if not len(cells) or np.bincount(cells).max() <= most:
        return np.ones(len(cells), dtype=bool)
    order = rng.permutation(len(cells))
    order = order[np.argsort(cells[order], kind="stable")]
    starts = np.searchsorted(cells[order], np.arange(cells.max() + 1))
    kept = np.zeros(len(cells), dtype=bool)
    kept[order] = np.arange(len(cells)) - starts[cells[order]] < most
    return kept


_Both = tuple[Reader, Reader | None]
"""What has read the rows that are asked about, and what has read those of training."""


@dataclass(frozen=True, eq=False)
class Answered:
    """What a model answered."""

    whole: Answers | None
    """None where labels are missing so that outputs are judged one by one alone."""
    each: list[Answers | str]
    """Each of several outputs by itself, or why it cannot be judged."""
    no_rules: str | None
    """Why rules cannot be looked for."""
    notes: list[str]
    """How outputs were compared with targets, and which labels are missing."""

    def of(self, place: int | None) -> Answers:
        """The whole or, by its place, one of several outputs."""
        found = self.whole if place is None else self.each[place]
        if not isinstance(found, Answers):
            raise InputError(f"none of the {len(self.each)} outputs can be judged: of output 1, {self.each[0]}.")
        return found

    @property
    def kind(self) -> str:
        known = self.whole or next((one for one in self.each if not isinstance(one, str)), None)
        return "number" if known is None else known.kind


def answers_of(ensemble: Ensemble, task: Task, asked: Asked, batch_size: int, seed: int) -> Answered:
    """The members' answers as a whole and, where they are several numbers or labels, each by itself."""
    trained: list[Reader] = []
    if isinstance(task, FixedTask):  # First, as what outputs are is told best where they are fitted.
        rows, cells = _rows_of(task, task._rows.numpy(), asked.points[asked.seen])
        kept = np.sort(np.random.default_rng(seed).permutation(len(rows))[:MOST_ROWS])
        shown = replace(asked, rows=rows[kept], cells=cells[kept])
        trained = _read([], ensemble, task, shown, batch_size, seed)
    readers = _read([reader.another() for reader in trained], ensemble, task, asked, batch_size, seed)
    both: list[_Both] = [(reader, trained[i] if trained else None) for i, reader in enumerate(readers)]
    (first, known), *each = both
    if not _has_labels(first, known):
        raise InputError("no row that is asked about, or none of training, has a label of an answer.")
    at = first.known(asked.seen, known)
    notes = [first.form.said] if first.form.said else []
    whole, no_rules, apart = None, None, not _as_a_whole(both, asked.seen, at)
    if not at.all():
        notes.append(
            f"{int((~at).sum()):,} of {len(at):,} combinations lack the label of an output or have it in no training "
            + ("row: outputs are judged by themselves alone." if apart else "row and are left out of the whole.")
        )
    if not apart:
        whole, no_rules = first.answers(ensemble, task, asked, known)
    found: list[Answers | str] = []
    for reader, theirs in each:
        if not _has_labels(reader, theirs):
            found.append(NO_TRAINING if reader.cells else NO_LABEL)
            continue
        try:
            answers, reason = reader.answers(ensemble, task, asked, theirs)
        except InputError as error:  # That its training answers are all the same says the reader of numbers.
            found.append(str(error).rstrip("."))
            continue
        no_rules = no_rules or reason
        found.append(answers)
    return Answered(whole, found, no_rules, notes)


def _has_labels(reader: Reader, trained: Reader | None) -> bool:
    return bool(reader.cells) and (trained is None or bool(trained.cells))


def _as_a_whole(both: Sequence[_Both], seen: NDArray[np.bool_], at: NDArray[np.bool_]) -> bool:
    """Whether answers are judged as a whole, by the first of the readers, or each output by itself alone: where most
    combinations of either side are left (``at``) and, of labels of yes and no, each is known in training and there."""
    (whole, _), *each = both
    sides = [side & (whole.rows > 0) for side in (seen, ~seen) if (side & (whole.rows > 0)).any()]
    if any(float(at[side].mean()) < MOST_OF for side in sides):
        return False
    return all(_has_labels(*one) and all((side & at & (one[0].rows > 0)).any() for side in sides) for one in each)


def _read(
    readers: list[Reader], ensemble: Ensemble, task: Task, asked: Asked, batch_size: int, seed: int
) -> list[Reader]:
    """The readers, which have read all that was asked; where there are none, made for it."""
    for outputs, targets, cells, counts in _batches(ensemble, task, asked, batch_size, seed):
        if not readers:
            whole = reader_for(outputs, targets, task, len(asked.points), seed, asked.places)
            readers = [whole, *readers_one_by_one(whole, targets[0].numel())]
        for reader in readers:
            reader.read(outputs, targets, cells, counts)
    return readers


def _batches(
    ensemble: Ensemble, task: Task, asked: Asked, batch_size: int, seed: int
) -> Iterator[tuple[Tensor, Tensor, NDArray[np.int64], Tensor | None]]:
    """Outputs (members × examples …), targets, the combination of each example, and which places of the targets count
    (None: all)."""
    if asked.rows is None or asked.cells is None:
        at_once = max(1, batch_size // asked.count)
        for start in range(0, len(asked.points), at_once):
            points = asked.points[start : start + at_once]
            for outputs, targets, rows in _evaluate(ensemble, task, points, asked.count, seed + start):
                yield outputs, targets, start + np.repeat(np.arange(rows.start, rows.stop), asked.count), None
        return
    assert isinstance(task, FixedTask)
    dtype = ensemble.flat.dtype
    for start in range(0, len(asked.rows), batch_size):
        some = torch.as_tensor(asked.rows[start : start + batch_size])
        inputs, targets = task._gather(some.to(ensemble.device))
        parts = tuple(p.to(dtype) if p.is_floating_point() else p for p in positional(inputs))
        targets = targets.to(dtype) if targets.is_floating_point() else targets
        counts = None if asked.places is None else asked.places[some]
        yield ensemble.predict(parts), targets, asked.cells[start : start + batch_size], counts
