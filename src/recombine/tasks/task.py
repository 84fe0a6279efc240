"""A task: what the learner sees and must say. It turns any combination into inputs and targets."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from recombine.errors import InputError
from recombine.space import FactorSpace
from recombine.support import Support
from recombine.tasks import given
from recombine.tasks.draws import Draws

Inputs = Tensor | tuple[Tensor, ...]
"""What a model is called with: one tensor, or several as positional arguments."""


class Task(ABC):
    """A space, a train and a test support, and a way to make examples of any combination.

    A subclass gives ``space``, ``train``, ``test``, ``examples`` and ``losses``; everything else follows. What only
    some tasks can do has a name in `abilities`.

        docs/extending/a-task.md writes one and trains on it
    """

    @property
    @abstractmethod
    def space(self) -> FactorSpace:
        """What varies."""

    @property
    @abstractmethod
    def train(self) -> Support:
        """The combinations that training sees."""

    @property
    @abstractmethod
    def test(self) -> Support:
        """The combinations that are asked for afterwards."""

    @abstractmethod
    def examples(self, points: Tensor, draws: Draws) -> tuple[Inputs, Tensor]:
        """Inputs and targets for points (… × factors); whatever is random comes from ``draws``."""

    @abstractmethod
    def losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """One loss an example (batch …) → (batch)."""

    def scores(self, outputs: Tensor, targets: Tensor) -> Mapping[str, Tensor]:
        """What else is worth knowing of each example, by name; each (batch)."""
        return {}

    def batch(self, draws: Draws, size: int) -> tuple[Inputs, Tensor]:
        """A training batch for every stream of ``draws``: combinations uniform over the train support."""
        points = self._train_points(draws.keys.device)
        chosen = draws("combination").integers(len(points), (*draws.lead, size))
        return self.examples(points[chosen], draws)

    def trained_examples(self, points: Tensor, draws: Draws) -> tuple[Inputs, Tensor]:
        """Examples of the kind that training shows, where a task shows other ones afterwards."""
        return self.examples(points, draws)

    def views(self, draws: Draws, count: int) -> Mapping[str, tuple[Inputs, Tensor]]:
        """Inputs and targets of each way to look at the task, ``count`` of each; its two supports unless it has more to
        tell apart."""
        found = {}
        for name, support in (("trained", self.train), ("unseen", self.test)):
            points = torch.as_tensor(support.explicit().require_nonempty(name).codes.copy(), device=draws.keys.device)
            chosen = points[draws(name).integers(len(points), (*draws.lead, count))]
            found[name] = self.examples(chosen, draws(name))
        return found

    def part(self, component: int) -> slice | None:
        """The places of an input's last dimension that show a component; None where the task does not say."""
        return None

    def whole(self, device: torch.device | str = "cpu") -> tuple[Inputs, Tensor]:
        """The whole training set, for full-batch training: each combination once."""
        return self.examples(self._train_points(device), Draws.single(0, "whole", device))

    def _train_points(self, device: torch.device | str) -> Tensor:
        codes = self.train.explicit().require_nonempty("training").codes
        return torch.as_tensor(codes.copy(), device=device)


class FixedTask(Task):
    """A task over a fixed set of examples: tensors or arrays, and the combination of each row.

    ``inputs`` may be several tensors, or named ones (a dictionary), which a model takes by position in their order or,
    wrapped in `models.ByName`, by name. A ``Dataset`` or ``DataLoader`` holds inputs and targets; a loader must not
    shuffle, as combinations stand beside its rows.
    ``loss`` is a function or a loss of ``torch.nn``, of which each example's own loss is taken.

    ``inputs`` and ``targets`` have one row per example, ``combinations`` one row of codes per example (or of the names
    of its levels). Rows whose
    combination is in ``train`` are trained on, in an order reshuffled each epoch, except those that are held out: of
    each combination the share ``held_out`` (rounded down; the same rows every time), or the rows that ``test_rows``
    marks or numbers. What is asked of a seen combination is asked on its held-out rows, where it has some: errors on
    rows that were trained on say nothing about new ones. ``part`` says for factors which places of an input's last
    dimension show them.

    Examples:
        >>> import recombine as rc
        >>> import torch
        >>> space = rc.FactorSpace.of(shape=2, colour=3)
        >>> seen = rc.Explicit(space, [(0, 0), (0, 1), (1, 1), (1, 2)])
        >>> codes = torch.as_tensor(space.sample(120, seed=0))
        >>> pictures = torch.nn.functional.one_hot(codes[:, 0], 2).float()
        >>> task = rc.FixedTask(space, seen, ~seen, pictures, codes[:, 0], codes, loss=torch.nn.CrossEntropyLoss())
        >>> task.train
        4 of 6 combinations of shape × colour
    """

    def __init__(
        self,
        space: FactorSpace,
        train: Support,
        test: Support,
        inputs: Any,
        targets: Any = None,
        combinations: Any = None,
        loss: Any = None,
        scores: Any = None,
        *,
        held_out: float = 0.2,
        test_rows: Any = None,
        part: Mapping[str, slice] | None = None,
    ) -> None:
        given.require_one_order(inputs)
        parts, self.input_names, targets = given.rows(inputs, targets)
        if combinations is None:
            raise InputError("combinations are missing: give the codes of each row, as space.encode makes them.")
        combinations = given.coded(space, combinations)
        rows = len(targets)
        if any(len(part) != rows for part in (*parts, combinations)):
            raise InputError(f"inputs, targets and combinations must have as many rows; targets have {rows}.")
        self._space, self._train, self._test = space, train, test
        self._loss, self._scores = given.per_example(loss) if loss is not None else None, scores
        labelled = self._loss is not None and self._loss.of_classes
        self._inputs, self._targets = parts, given.whole_labels(targets) if labelled else targets
        self._single = len(parts) == 1 and not isinstance(inputs, tuple)
        codes = space.check(combinations.cpu().numpy())
        self._codes = torch.as_tensor(codes)
        self._index = torch.as_tensor(space.index(codes))
        seen = torch.as_tensor(train.contains(codes))
        if not seen.any():
            raise InputError("the training support is empty: no example has one of its combinations.")
        if not 0 <= held_out < 1:
            raise InputError(
                f"held_out is {held_out}; give a share of the rows of each combination, from 0 to below 1."
            )
        fresh = _marked(test_rows, rows) if test_rows is not None else seen & _last(self._index, held_out)
        self._train_on(seen & ~fresh)
        self._part = dict(part or {})
        for name in self._part:
            space.position(name)

    def _train_on(self, rows: Tensor) -> None:
        """Mark the rows that are trained on, and by them those that are asked."""
        self._rows = rows.nonzero()[:, 0]
        if not len(self._rows):
            raise InputError("no row is left to train on: test_rows holds every row of the training support.")
        seen = torch.as_tensor(self._train.contains(self._codes.numpy()))
        kept = seen & ~rows & torch.isin(self._index, self._index[self._rows])
        # Rows to ask: those held out of their combination, or all of a combination that none is held out of.
        self._asked = (kept | ~torch.isin(self._index, self._index[kept])).nonzero()[:, 0]

    def only(self, rows: Tensor) -> FixedTask:
        """The same task with some of its rows (a mask): those that were trained on stay so."""
        kept = copy.copy(self)
        kept._inputs = tuple(part[rows.to(part.device)] for part in self._inputs)
        kept._targets = self._targets[rows.to(self._targets.device)]
        kept._codes, kept._index = self._codes[rows], self._index[rows]
        kept._train_on(self.trained_on[rows])
        return kept

    @classmethod
    def from_table(
        cls, table: Any, factors: Sequence[str], target: str, *, inputs: Sequence[str] | str,
        split: str | tuple[str, str], loss: Any,
        read: Any = None, folder: Any = ".", **more: Any,
    ) -> FixedTask:  # fmt: skip
        """From a table (polars, pandas, CSV, Parquet) with one row per example. ``inputs`` names columns of numbers, or
        one of file names, which ``read`` makes arrays of (unless given, pictures). ``split="part=test"``: combinations
        of the other rows (where some are called train, of those alone) are trained on, and no row of that part is."""
        return cls(**given.of_table(table, factors, target, inputs, split, read, folder), loss=loss, **more)

    @property
    def training_rows(self) -> int:
        """How many rows are trained on: an epoch."""
        return len(self._rows)

    @property
    def labels(self) -> tuple[int, int] | None:
        """The smallest and largest label that the loss counts, where targets are classes."""
        if self._loss is None or not self._loss.of_classes or self._targets.is_floating_point():
            return None
        found = self._targets[self._targets != self._loss.ignored]
        return (int(found.min()), int(found.max())) if len(found) else None

    def held_out(self, device: torch.device | str = "cpu") -> tuple[Inputs, Tensor]:
        """The rows of training combinations that are not trained on."""
        asked = self._asked[torch.isin(self._index[self._asked], self._index[self._rows])]
        rows = asked[~torch.isin(asked, self._rows)]
        if not len(rows):
            raise InputError("no row of a training combination is held out: give held_out or test_rows.")
        return self._gather(rows.to(device))

    @property
    def space(self) -> FactorSpace:
        return self._space

    @property
    def train(self) -> Support:
        return self._train

    @property
    def test(self) -> Support:
        return self._test

    def losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        if self._loss is None:
            raise InputError("this task was made without a loss.")
        return self._loss(outputs, targets)

    def scores(self, outputs: Tensor, targets: Tensor) -> Mapping[str, Tensor]:
        return self._scores(outputs, targets) if self._scores is not None else {}

    @property
    def trained_on(self) -> Tensor:
        """Which rows are trained on."""
        return torch.zeros(len(self._index), dtype=torch.bool).index_fill_(0, self._rows, True)

    def part(self, component: int) -> slice | None:
        block = self.space.components[component]
        return self._part.get(block[0]) if len(block) == 1 else None

    def batch(self, draws: Draws, size: int) -> tuple[Inputs, Tensor]:
        return self._gather(self._shuffled(draws, size))

    def by_row(self, draws: Draws, size: int) -> tuple[tuple[Tensor, ...], Tensor]:
        """A batch without copying: the inputs of all rows and, last, the rows of the batch; the targets of all rows."""
        rows = self._shuffled(draws, size)
        self._move(rows.device)
        return (*self._inputs, rows), self._targets

    def _shuffled(self, draws: Draws, size: int) -> Tensor:
        order = draws("order").shuffled(len(self._rows), size)
        return self._rows.to(order.device)[order]

    def whole(self, device: torch.device | str = "cpu") -> tuple[Inputs, Tensor]:
        return self._gather(self._rows.to(device))

    def examples(self, points: Tensor, draws: Draws) -> tuple[Inputs, Tensor]:
        """For each point, an example drawn from the rows of its combination, held-out ones where it has some."""
        return self._drawn(self._asked, points, draws)

    def trained_examples(self, points: Tensor, draws: Draws) -> tuple[Inputs, Tensor]:
        return self._drawn(self._rows, points, draws)

    def _drawn(self, rows: Tensor, points: Tensor, draws: Draws) -> tuple[Inputs, Tensor]:
        index, asked = self._index[rows], points.cpu() @ torch.as_tensor(self.space._strides)
        order = index.argsort(stable=True)
        sorted_index = index[order]
        first = torch.searchsorted(sorted_index, asked)
        count = torch.searchsorted(sorted_index, asked, right=True) - first
        if (count == 0).any():
            missing = points.cpu()[count == 0][0]
            raise InputError(f"no example has the combination {self.space.decode(missing[None].numpy())[0]}.")
        unit = draws("example").uniform(points.shape[:-1], torch.float64).cpu()
        return self._gather(rows[order[first + (unit * count).long()]].to(points.device))

    def _move(self, device: torch.device) -> None:
        if self._targets.device != device:
            self._inputs = tuple(part.to(device) for part in self._inputs)
            self._targets = self._targets.to(device)

    def _gather(self, rows: Tensor) -> tuple[Inputs, Tensor]:
        self._move(rows.device)
        inputs = tuple(part[rows] for part in self._inputs)
        return (inputs[0] if self._single else inputs), self._targets[rows]


def _last(index: Tensor, share: float) -> Tensor:
    """Which rows are held out: of each combination the given share, rounded down, in an order drawn once."""
    order = torch.as_tensor(np.random.default_rng(0).permutation(len(index)))
    order = order[index[order].argsort(stable=True)]
    _, place, count = torch.unique_consecutive(index[order], return_inverse=True, return_counts=True)
    within = torch.arange(len(index)) - (count.cumsum(0) - count)[place]
    held = torch.zeros(len(index), dtype=torch.bool)
    held[order] = within < torch.floor(share * count + 1e-9)[place]
    return held


def _marked(rows: Any, count: int) -> Tensor:
    """A mask of rows from one, or from their numbers."""
    given = torch.as_tensor(rows).cpu()
    if given.dtype == torch.bool and given.shape == (count,):
        return given
    whole = given.dim() == 1 and not given.is_floating_point() and given.dtype != torch.bool
    if not whole or (len(given) and not 0 <= int(given.min()) <= int(given.max()) < count):
        raise InputError(f"test_rows is a mask of {count} rows, or numbers of rows from 0 to {count - 1}.")
    return torch.zeros(count, dtype=torch.bool).index_fill_(0, given.long(), True)
