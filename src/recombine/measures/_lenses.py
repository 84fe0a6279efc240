"""Lenses: numbers that say beforehand whether a trained network will compose; none of them asks for an unseen answer.

support        share of the unseen combinations whose answer the seen ones determine, if factors add up
kernel         error on them that regression on the network's own representation foretells, for a rule that adds up
factorization  share of the representation's variance that is a sum of parts, each of one factor
influence      share of the slopes of an answer's part that belong to factors which this part does not depend on

The first looks at combinations only; kernel and factorization also at inputs that were never trained on, and at which
levels these show; influence at seen combinations alone. Where answers are just these levels, kernel is the error of a
linear readout refitted on the representation. `structure.modularity` is the fifth lens: it takes the network apart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from recombine.checks import Identifiability
from recombine.checks.exact.identifiability import DETERMINED
from recombine.errors import InputError
from recombine.measures._additivity import anova
from recombine.measures._component_influence import norms_by_part
from recombine.measures._salience import _features, _inputs
from recombine.measures._swap import part_of
from recombine.models.slopes import grad
from recombine.space import Codes
from recombine.tasks import Draws, Task
from recombine.tasks.abilities import AnswersInParts, SaysLevels
from recombine.training import Ensemble

if TYPE_CHECKING:
    import polars as pl

FloatArray = NDArray[np.float64]
Reading = Callable[[Tensor], tuple[Tensor, ...]]
"""From outputs to the scores (examples × levels) of each factor."""

RIDGE = 1e-3
"""Ridge of the foretold regression, as a share of the mean squared length of the features, against rounding and the
noise of images."""


def lenses(ensemble: Ensemble, task: Task, layer: str, count: int = 16, seed: int = 0) -> pl.DataFrame:
    """The four lenses of every member through its representation at ``layer``. One row per member.

    ``count`` examples of each combination are averaged, 1 where a combination has only one. Influence is null unless
    the task can tell the parts of its answers (``says(outputs)`` or ``answer_part(component)``) and of its inputs
    (``part(component)``, or one column per factor)."""
    import polars as pl

    grid = task.space.grid()
    seen = task.train.contains(grid)
    asked = task.test.contains(grid) & ~seen
    if not asked.any() or not seen.any():
        raise InputError("lenses look from seen to unseen combinations, and this task lacks one of them.")
    inputs = _inputs(ensemble, task, grid, count, seed)
    kernel, factorization = [], []
    for groups in _features(ensemble, layer, inputs):
        features = groups.mean(0).double().cpu().numpy()
        kernel.append(foretold_error(features, grid, seen, asked))
        factorization.append(summed_share(features, task.space.shape))
    crossed = redundant_slopes(ensemble, task, count, seed)
    return pl.DataFrame(
        {
            "member": np.array(ensemble.members, dtype=np.int32),
            "support": np.full(len(ensemble), determined_share(grid[seen], grid[asked], task.space.shape)),
            "kernel": kernel,
            "factorization": factorization,
            "influence": [None] * len(ensemble) if crossed is None else crossed.tolist(),
        },
        schema_overrides={"influence": pl.Float64},
    )


def determined_share(seen: Codes, asked: Codes, shape: tuple[int, ...]) -> float:
    """Share of the asked combinations whose answer is determined by the seen ones if every factor adds its part."""
    return float((Identifiability(seen, shape).status(asked) == DETERMINED).mean())


def foretold_error(features: FloatArray, codes: Codes, seen: NDArray[np.bool_], asked: NDArray[np.bool_]) -> float:
    """E(ŷ − y)² / E(y − ȳ)² on asked combinations, ŷ regressed on the features of seen ones with an intercept.

    y is a random rule that adds up: every level of every factor adds a number of its own, independent and of equal
    variance. So the expectation is that over the indicators of levels, and no answer is needed. 1 is as bad as saying
    the mean of the seen answers."""
    rules = np.concatenate([codes[:, k, None] == np.unique(codes[:, k]) for k in range(codes.shape[1])], 1).astype(
        float
    )
    rules, features = rules - rules[seen].mean(0), features - features[seen].mean(0)
    gram = features[seen] @ features[seen].T
    gram += RIDGE * max(float(np.diag(gram).mean()), np.finfo(float).tiny) * np.eye(len(gram))
    said = features[asked] @ features[seen].T @ np.linalg.solve(gram, rules[seen])
    return float(np.square(said - rules[asked]).sum() / np.square(rules[asked]).sum())


def summed_share(features: FloatArray, shape: tuple[int, ...]) -> float:
    """Var Σ_k f_k(z_k) / Var f over the grid, summed over features (combinations × features); no number if constant."""
    table = np.moveaxis(features, -1, 0).reshape(-1, *shape)
    parts = {subset: np.square(np.broadcast_to(part, table.shape)).sum() for subset, part in anova(table).items()}
    total = sum(float(part) for subset, part in parts.items() if subset)
    alone = sum(float(part) for subset, part in parts.items() if len(subset) == 1)
    return alone / total if total > 0 else float("nan")


def redundant_slopes(ensemble: Ensemble, task: Task, count: int = 16, seed: int = 0) -> FloatArray | None:
    """For each member, the share of Σ_j E‖∂ s_k/∂X_j‖ with j ≠ k, mean over factors k; None where it has no meaning.

    s_k is the score of the right level of factor k less the mean score, at ``count`` examples of each seen
    combination; X_j is the part of the input that shows factor j. 0: every part of the answer listens to its own
    factor; (C − 1)/C: to all C factors alike."""
    read = reading(task)
    if read is None:
        return None
    points = torch.as_tensor(task.train.explicit().codes.copy(), device=ensemble.device).repeat_interleave(count, 0)
    inputs, _ = task.examples(points, Draws.single(seed, "redundant influence", ensemble.device))
    factors = range(len(task.space.components))
    if not isinstance(inputs, Tensor) or any(part_of(task, inputs, k) is None for k in factors):
        return None
    shares = []
    for k in factors:

        def slope(model: Callable[..., Tensor], x: Tensor, k: int = k) -> Tensor:
            def score(x: Tensor) -> Tensor:
                levels = read(model(x))[k]
                return (levels.gather(-1, points[:, k, None]).squeeze(-1) - levels.mean(-1)).sum()

            found: Tensor = grad(score)(x)
            return found

        norms = norms_by_part(task, ensemble.map(slope, inputs.to(ensemble.flat.dtype)).detach())
        shares.append(1 - norms[:, k] / np.maximum(norms.sum(1), np.finfo(float).tiny))
    return np.asarray(np.mean(shares, axis=0))


def reading(task: Task) -> Reading | None:
    """How the level of each factor is read off the task's answers, where it can be said."""
    if isinstance(task, SaysLevels):
        return task.says
    if not isinstance(task, AnswersInParts):
        return None
    places = [task.answer_part(k) for k in range(len(task.space.components))]
    return lambda outputs: tuple(outputs[..., place] for place in places)
