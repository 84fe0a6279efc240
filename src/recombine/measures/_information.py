"""Conditional mutual information I(Ŷ; Y_j | Y_i) = Σ p(a, y_j, y_i) ln [p(a, y_j | y_i) / p(a | y_i) p(y_j | y_i)].

What the answer says of component j beyond what component i says: 0 exactly where the answer is a function of Y_i. The
plug-in estimate from n samples is biased up by about (k − 1)² strata / 2n, so it is compared with what it gives once
Y_j is shuffled within each stratum of Y_i, where the truth is 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recombine.errors import InputError
from recombine.measures._swap import _floats, independent
from recombine.tasks import Draws, Task
from recombine.training import Ensemble

if TYPE_CHECKING:
    import polars as pl

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


def conditional_information(table: FloatArray) -> FloatArray:
    """I(A; B | C) in nats from joint weights (… × A × B × C), counts or probabilities; exact for the table given."""
    table = np.asarray(table, dtype=np.float64)
    if table.ndim < 3 or (table < 0).any():
        raise InputError("conditional information needs a table of weights ≥ 0 with the dimensions A × B × C.")
    total = table.sum(axis=(-3, -2, -1), keepdims=True)
    if (total == 0).any():
        raise InputError("conditional information needs a table with some weight in it.")
    joint = table / total
    a, b, c = joint.sum(-2, keepdims=True), joint.sum(-3, keepdims=True), joint.sum((-3, -2), keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(joint > 0, joint * np.log(joint * c / (a * b)), 0.0)
    found: FloatArray = terms.sum((-3, -2, -1))
    return np.maximum(found, 0.0)


class Estimate(NamedTuple):
    """A conditional mutual information from samples, in nats."""

    plugin: float
    null: float
    """Mean plug-in value once the other component is shuffled within strata: the bias where the truth is 0."""
    p: float
    """Share of the nulls that are at least as large."""
    error: float
    """Standard error of the plug-in value: the spread of its terms over the root of the number of samples."""

    @property
    def corrected(self) -> float:
        return self.plugin - self.null

    @property
    def low(self) -> float:
        """The bias is largest where the truth is 0, so the truth lies between the corrected and the plug-in value."""
        return self.corrected - 2 * self.error

    @property
    def high(self) -> float:
        return self.plugin + 2 * self.error


def estimate(answer: IntArray, other: IntArray, given: IntArray, shuffles: int = 32, seed: int = 0) -> Estimate:
    """I(answer; other | given) from samples of three codes."""
    sizes = tuple(int(values.max()) + 1 for values in (answer, other, given))
    rng = np.random.default_rng(seed)
    order = np.argsort(given, kind="stable")
    answer, other, given = answer[order], other[order], given[order]
    tables = [_count(answer, other, given, sizes)]
    for _ in range(shuffles):
        # Sorting by (stratum, random number) shuffles within strata.
        shuffled = other[np.lexsort((rng.random(len(other)), given))]
        tables.append(_count(answer, shuffled, given, sizes))
    found = conditional_information(np.stack(tables))
    null = found[1:]
    p = float((1 + (null >= found[0]).sum()) / (1 + shuffles))
    return Estimate(float(found[0]), float(null.mean()), p, _error(tables[0]))


def information(ensemble: Ensemble, task: Task, count: int = 2000, shuffles: int = 16, seed: int = 0) -> pl.DataFrame:
    """I(Ŷ; Y_j | all other components) for each component j, components drawn independently. One row per member and j.

    ``information`` is the plug-in estimate less the mean of ``shuffles`` within-stratum nulls, in nats; the parts of
    `Estimate` are beside it. The answer is the largest output."""
    import polars as pl

    draws = Draws.single(seed, "information", ensemble.device)
    points = independent(task, draws, count)
    outputs = ensemble.predict(_floats(task.examples(points, draws)[0], ensemble))
    if outputs.dim() != 3:
        raise InputError("information is defined for models that choose one of several classes.")
    answers, codes = outputs.argmax(-1).cpu().numpy(), points.cpu().numpy()
    rows = []
    for j, name in enumerate(task.space.names):
        rest = [k for k in range(len(task.space)) if k != j]
        given = np.zeros(count, dtype=np.int64)
        for k in rest:
            given = given * task.space.shape[k] + codes[:, k]
        for member, answer in zip(ensemble.members, answers, strict=True):
            found = estimate(answer, codes[:, j], given, shuffles, seed)
            rows.append({"member": member, "component": name, "information": found.corrected, **found._asdict()})
    return pl.DataFrame(rows, schema_overrides={"member": pl.Int32})


def _error(table: FloatArray) -> float:
    """Standard error of the mean of ln [p(a, b | c) / p(a | c) p(b | c)] over the samples of a table of counts."""
    a, b, c = table.sum(-2, keepdims=True), table.sum(-3, keepdims=True), table.sum((-3, -2), keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(table > 0, np.log(table * c / (a * b)), 0.0)
    count = table.sum()
    mean = (table * terms).sum() / count
    return float(np.sqrt((table * np.square(terms - mean)).sum()) / count)


def _count(a: IntArray, b: IntArray, c: IntArray, sizes: tuple[int, ...]) -> FloatArray:
    flat = np.bincount(np.ravel_multi_index((a, b, c), sizes), minlength=int(np.prod(sizes)))
    return flat.reshape(sizes).astype(np.float64)
