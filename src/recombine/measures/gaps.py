"""What the members get right, combination by combination, and the gap between seen and unseen ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from recombine.errors import InputError
from recombine.space import Level, Points
from recombine.statistics import Interval, interval
from recombine.tasks import Draws, Task
from recombine.training import Ensemble
from recombine.training.stack import positional

if TYPE_CHECKING:
    import polars as pl

RESERVED = ("member", "seen", "count", "loss", "step", "split", "r2")
CHUNK_EXAMPLES = 65_536


def per_combination(
    ensemble: Ensemble, task: Task, points: Points | None = None, count: int = 256, seed: int = 0, trained: bool = False
) -> pl.DataFrame:
    """One row per member and combination: its levels, whether training saw it, mean loss and scores over ``count``
    fresh examples that all members share. Default: every combination of the train and the test support. ``trained``:
    combinations are shown by what training shows of their parts, such as its images in new pairs."""
    import polars as pl

    points = _asked(task, points)
    seen = task.train.contains(points)
    columns = _level_columns(task, points)
    parts: list[dict[str, Tensor]] = []
    for outputs, targets, _ in _evaluate(ensemble, task, points, count, seed, trained):
        each = torch.vmap(lambda o, t=targets: {"loss": task.losses(o, t), **task.scores(o, t)})(outputs)
        rows = len(ensemble), -1, count
        parts.append({name: value.double().reshape(rows).mean(2).cpu() for name, value in each.items()})
    for name in parts[0]:
        if name in task.space.names:
            raise InputError(f"a factor called {name!r} would clash with the score of that name; rename it.")
    scores = {name: torch.cat([part[name] for part in parts], dim=1).flatten().numpy() for name in parts[0]}
    repeated: dict[str, Any] = {name: values * len(ensemble) for name, values in columns.items()}
    return pl.DataFrame(
        {
            "member": np.repeat(np.array(ensemble.members, dtype=np.int32), len(points)),
            **repeated,
            "seen": np.tile(seen, len(ensemble)),
            "count": np.full(len(points) * len(ensemble), count, dtype=np.int32),
            **scores,
        }
    )


def r_squared(ensemble: Ensemble, task: Task, count: int = 256, seed: int = 0) -> pl.DataFrame:
    """R² = 1 − Σ(ŷ − y)² / Σ(y − ȳ)² over all examples and outputs of the seen and of the unseen combinations.

    One row per member and split; null where the targets do not vary."""
    import polars as pl

    points = _asked(task, None)
    seen = torch.as_tensor(task.train.contains(points)).repeat_interleave(count).to(ensemble.device)
    outputs, targets = [], []
    for out, target, _ in _evaluate(ensemble, task, points, count, seed):
        outputs.append(out)
        targets.append(target)
    y, predicted = torch.cat(targets), torch.cat(outputs, dim=1)
    if predicted.shape[1:] != y.shape:
        raise InputError(f"R² needs outputs of the shape of the targets, {tuple(y.shape[1:])} for each example.")
    rows = []
    for split, mask in (("seen", seen), ("unseen", ~seen)):
        if not mask.any():
            continue
        truth = y[mask].double()
        spread = float((truth - truth.mean(0)).square().sum())
        errors = (predicted[:, mask].double() - truth).square().flatten(1).sum(1)
        rows += [
            {"member": m, "split": split, "r2": 1 - e / spread if spread else None}
            for m, e in zip(ensemble.members, errors.tolist(), strict=True)
        ]
    return pl.DataFrame(rows, schema={"member": pl.Int32, "split": pl.String, "r2": pl.Float64})


@dataclass(frozen=True)
class Gap:
    """A score on seen and unseen combinations, the difference by member, and the worst unseen combination."""

    score: str
    seen: Interval
    unseen: Interval
    gap: Interval
    """seen − unseen, paired by member."""
    worst: dict[str, Level]
    worst_score: Interval
    worst_count: int
    """Examples that each member was asked about the worst combination."""
    diverged: int
    """Members set aside because their loss is not finite."""


def gap(table: pl.DataFrame, score: str = "accuracy", larger_is_better: bool = True) -> Gap:
    """Summarise a table of `per_combination`. Every combination weighs the same; diverged members are counted apart."""
    import polars as pl

    if score not in table.columns:
        raise InputError(f"this table has no column {score!r}; it has {', '.join(table.columns)}.")
    bad = table.filter(~pl.col("loss").is_finite())["member"].unique().to_list()
    table = table.filter(~pl.col("member").is_in(bad))
    sides = table.group_by("member", "seen").agg(pl.col(score).mean()).sort("member")
    seen, unseen = (sides.filter(pl.col("seen") == side)[score].to_numpy() for side in (True, False))
    if not len(unseen) or not len(seen):
        raise InputError("a gap needs members that did not diverge, and both seen and unseen combinations.")
    levels = [c for c in table.columns[1:] if c not in RESERVED][: table.columns.index("seen") - 1]
    means = table.filter(~pl.col("seen")).group_by(levels, maintain_order=True).agg(pl.col(score).mean())
    worst = means.sort(score, descending=not larger_is_better).row(0, named=True)
    rows = table.filter(pl.all_horizontal(pl.col(name) == worst[name] for name in levels))
    return Gap(
        score,
        interval(seen),
        interval(unseen),
        interval(seen - unseen),
        {name: worst[name] for name in levels},
        interval(rows[score].to_numpy()),
        int(rows["count"][0]),
        len(bad),
    )


def _asked(task: Task, points: Points | None) -> Points:
    if points is None:
        points = (task.train | task.test).explicit().codes
    for name in task.space.names:
        if name in RESERVED:
            raise InputError(f"a factor called {name!r} would clash with a column of the table; rename it.")
    if not len(points):
        raise InputError("no combination to look at: the support is empty.")
    return task.space.check(points)


def _level_columns(task: Task, points: Points) -> dict[str, list[Any]]:
    records = task.space.decode(points)
    return {name: _alike([record[name] for record in records]) for name in task.space.names}


def _alike(levels: list[Level]) -> list[Any]:
    """Levels as one column can hold them: numbers of both kinds as decimals, other mixtures as texts."""
    kinds = {type(level) for level in levels}
    if len(kinds) == 1:
        return levels
    return [float(level) for level in levels] if kinds == {int, float} else [str(level) for level in levels]


def _evaluate(
    ensemble: Ensemble, task: Task, points: Points, count: int, seed: int, trained: bool = False
) -> Iterator[tuple[Tensor, Tensor, range]]:
    """Outputs (members × examples …) and targets for ``count`` examples of each point, some points at a time."""
    at_once = max(1, CHUNK_EXAMPLES // count)
    dtype = ensemble.flat.dtype
    for start in range(0, len(points), at_once):
        rows = range(start, min(start + at_once, len(points)))
        asked = torch.as_tensor(points[rows.start : rows.stop].copy()).repeat_interleave(count, 0).to(ensemble.device)
        draws = Draws.single(seed, f"evaluation {start}", ensemble.device)
        inputs, targets = (task.trained_examples if trained else task.examples)(asked, draws)
        parts = tuple(p.to(dtype) if p.is_floating_point() else p for p in positional(inputs))
        yield ensemble.predict(parts), targets.to(dtype) if targets.is_floating_point() else targets, rows
