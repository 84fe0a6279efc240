"""What is kept of answers that are numbers: one, a few, a picture. A label may be missing in a row."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from recombine.errors import InputError
from recombine.measures.reader import Reader, gone
from recombine.measures.shapes import KEPT, SEVERAL, Form
from recombine.mechanisms import Answers
from recombine.statistics import FloatArray
from recombine.tasks import FixedTask, Task
from recombine.training import Ensemble

if TYPE_CHECKING:
    from recombine.measures.answering import Asked


class Numbers(Reader):
    """Answers of the shape of the targets. Each of a few counts by its own spread in training (``unit``), or what
    varies most would hide what the others do. Means are over the rows that have a label; then over the numbers."""

    def __init__(
        self, task: Task, size: int, form: Form, width: int, seed: int, unit: FloatArray, one: int | None = None
    ) -> None:
        super().__init__(task, size, form, one)
        rng = np.random.default_rng(seed)
        self.width, self.seed, self.unit = width, seed, unit
        self.project = None if width <= KEPT else rng.normal(scale=width**-0.5, size=(width, KEPT))
        apart = width if self.project is None else 1
        self.labelled, self.squares = np.zeros((size, apart)), np.zeros((size, apart))
        self.right = np.zeros((size, KEPT if self.project is not None else width))
        self.means = np.zeros((size, width))
        self.said: FloatArray | None = None
        self.spread = 0.0

    def another(self) -> Numbers:
        return Numbers(self.task, self.size, self.form, self.width, self.seed, self.unit, self.one)

    def take(self, outputs: Tensor, targets: Tensor, finite: Tensor, cells: NDArray[np.int64]) -> None:
        has = ~gone(targets).flatten(1).cpu().numpy()
        y = np.where(has, targets.flatten(1).double().cpu().numpy() / self.unit, 0.0)
        given = outputs.flatten(2).double().cpu().numpy() / self.unit
        ok = finite.cpu().numpy()
        given = np.where(ok[..., None], given, 0.0)
        off = np.where(ok[..., None] & has, given - y, 0.0)
        if self.said is None:
            self.said = np.zeros((len(given), *self.right.shape))
            self.off, self.mae = np.zeros((2, len(given), *self.labelled.shape))
            self.first = np.full((len(given), self.size), np.nan)
            self.differs = False
        self.spread = max(self.spread, float(np.abs(given).max(initial=0.0)))
        np.add.at(self.labelled, cells, self._apart(has))
        np.add.at(self.squares, cells, self._apart(np.square(y)))
        np.add.at(self.means, cells, y)
        np.add.at(self.right, cells, y if self.project is None else y @ self.project)
        for m, row in enumerate(given):
            np.add.at(self.off[m], cells, self._apart(np.square(off[m])))
            np.add.at(self.mae[m], cells, self._apart(np.abs(off[m])))
            np.add.at(self.said[m], cells, row * has if self.project is None else row @ self.project)
            level = row.sum(axis=1)
            self.first[m, cells[::-1]] = np.where(
                np.isnan(self.first[m, cells[::-1]]), level[::-1], self.first[m, cells[::-1]]
            )
            self.differs |= bool((np.abs(level - self.first[m, cells]) > 1e-6 * (1 + self.spread)).any())

    def _apart(self, values: NDArray[Any]) -> NDArray[Any]:
        """Of each number; of pictures, which have all their labels, the mean."""
        return values if self.project is None else values.mean(axis=-1, keepdims=True)

    def answers(self, ensemble: Ensemble, task: Task, asked: Asked, trained: Any) -> tuple[Answers, str | None]:
        assert self.said is not None
        source = trained if trained is not None else self
        there = np.flatnonzero(source.rows > 0) if trained is not None else np.arange(self.size)
        there = there[asked.seen[there]] if asked.seen.any() else there
        means, inside = source.moments()
        known, has = means[there], np.broadcast_to(source.labelled[there] > 0, means[there].shape)
        count = np.maximum(has.sum(axis=0), 1)
        apart = np.where(has, known - (known * has).sum(axis=0) / count, 0.0)
        scale = float((np.square(apart).sum(axis=0) / count).mean() + inside[there].mean())
        if scale <= 0:
            raise InputError("every training answer is the same, so errors have no scale.")
        _, within = self.moments()
        said, right = self.given(), self.right / np.maximum(self.labelled, 1)
        shown = None
        if trained is not None:
            theirs = trained.right / np.maximum(trained.labelled, 1)
            shown = trained, theirs, trained.errors(scale), trained.error(scale)
            lacks = (self.labelled == 0) & (trained.labelled > 0)  # What training says of these stands in.
            if lacks.any():
                said, right = np.where(lacks, trained.given(), said), np.where(lacks, theirs, right)
        found = self.whole(
            ensemble, task, asked, self.errors(scale), said, right, None, shown,
            within=within / scale, varies=self.differs, scale=scale, scores={"mae": self._mean(self.mae)},
        )  # fmt: skip
        if found.trained is not None:
            held = float(np.average(inside[there], weights=np.maximum(source.counts[there], 1))) / scale
            found = replace(found, trained=replace(found.trained, within=held))
        return found, None

    def given(self) -> FloatArray:
        """Mean answers to the rows of each combination that have a label (members × combinations × numbers)."""
        assert self.said is not None
        return np.asarray(self.said / np.maximum(self.labelled, 1))

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """The mean right answer of each combination, and its mean square within: as of so many rows as `counts` says,
        where each number has rows of its own."""
        n = self.labelled
        means = self.means / np.maximum(n, 1)
        inside = self.squares / np.maximum(n, 1) - self._apart(np.square(means))
        rows, several = np.maximum(self.counts, 1), n > 1
        part = np.where(several, inside * ((1 - 1 / rows)[:, None] / (1 - 1 / np.maximum(n, 2))), 0.0)
        within = part.sum(axis=1) / np.maximum(several.sum(axis=1), 1)
        # Rounding is no variation.
        return means, np.where(within > 1e-9 * np.square(means).mean(), np.maximum(within, 0.0), 0.0)

    def labels(self) -> FloatArray | None:
        return self.labelled if self.one is None else None

    @property
    def counts(self) -> NDArray[np.int64]:
        own = (self.labelled > 0).sum(axis=1)
        return np.asarray(np.floor(self.labelled.sum(axis=1) / np.maximum(own, 1)), dtype=np.int64)

    def errors(self, scale: float) -> FloatArray:
        """Members × combinations; an answer that is no number costs as much as the mean."""
        return self._mean(self.off) / scale + self.mean(np.concatenate(self.bad, axis=1))

    def error(self, scale: float) -> FloatArray:
        """Of each member, over all rows."""
        rows = self.labelled.sum(axis=0)
        each = self.off.sum(axis=1)[:, rows > 0] / rows[rows > 0]
        return np.asarray(each.mean(axis=1) / scale + np.concatenate(self.bad, axis=1).mean(axis=1))

    def _mean(self, sums: FloatArray) -> FloatArray:
        """Over the rows of each combination that have a label, then over the numbers that have some there."""
        own = (self.labelled > 0).sum(axis=1)
        return np.asarray((sums / np.maximum(self.labelled, 1)).sum(axis=-1) / np.maximum(own, 1))


def spreads(task: Task, width: int, places: Tensor | None = None) -> FloatArray:
    """The standard deviation of each of several numbers over training rows; 1 for what does not vary, for one number
    and for pictures. ``places``: which count; None: all."""
    if width not in SEVERAL or not isinstance(task, FixedTask):
        return np.ones(1)
    shown = task._targets[task._rows].flatten(1).double().cpu().numpy()
    if places is not None:
        has = places[task._rows.cpu()].flatten(1).numpy()
        shown = np.where(has, shown, np.nan)
    known = ~np.isnan(shown).all(axis=0)
    found = np.ones(width)
    found[known] = np.nanstd(shown[:, known], axis=0)
    return np.where(found > 1e-12 * np.nanmax(np.abs(shown), initial=0), found, 1.0)
