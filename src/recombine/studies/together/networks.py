"""The networks: six tasks × sixteen splits, in each several networks that were trained on the same rows, and what is
kept of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import polars as pl
import torch

from recombine.mechanisms._judge import FITTED
from recombine.models import Perceptron
from recombine.runs import StoredRun
from recombine.runs.training import Measured, TrainingRun
from recombine.studies.study import Scale, Setting
from recombine.studies.tables import beside, last
from recombine.studies.together.splits import REGULAR, SPLITS, seen_in
from recombine.studies.verification import EARLY
from recombine.tasks import Draws
from recombine.tasks.draws import key
from recombine.tasks.two_factors import (
    LEVELS,
    BumpsTask,
    DigitTask,
    SignalsTask,
    SignsTask,
    StripesTask,
    SumsTask,
    TwoFactors,
)
from recombine.training import AdamW, Cosine

TASKS: dict[str, type[TwoFactors]] = {
    "digits": DigitTask, "signals": SignalsTask, "sums": SumsTask, "stripes": StripesTask, "bumps": BumpsTask,
    "signs": SignsTask,
}  # fmt: skip
"""The more of an answer is a sum of one part per factor, the earlier."""

MADE = {"init_scale": (0.4, 2.5), "lr": (2e-3, 8e-3), "weight_decay": (0.01, 1.0)}
"""From which members draw, anew in each setting, the size of their first weights, their learning rate and decay."""

PENALTIES = "5,20"
"""Of masks. With these a planted network of two separate halves reads −.65 to −.9 on every split; with 1, 0 to −.9."""


@dataclass(frozen=True)
class Size:
    """What the scales differ in; ``examples`` are the noisy inputs of each combination that a lens looks at."""

    members: int
    width: int
    steps: int
    examples: int
    epochs: int
    splits: tuple[str, ...] = SPLITS
    shown: int = 10
    """Splits that show levels equally often, and as many that do not."""


SIZES: dict[Scale, Size] = {
    "smoke": Size(members=5, width=12, steps=32, examples=2, epochs=1, splits=("05", "01247", "r20-50"), shown=2),
    "quick": Size(members=8, width=48, steps=800, examples=16, epochs=40, splits=REGULAR, shown=3),
    "paper": Size(members=32, width=256, steps=4000, examples=32, epochs=100),
}


def settings(size: Size, members: int | None) -> dict[str, Setting]:
    """One run per task and split, with members and a seed of its own: given these two they are independent."""
    found = {}
    for task, split in product(TASKS, size.splits):
        made = design(members or size.members, f"{task} {split}")
        run = _run(TASKS[task](**seen_in(split)), size, made, key("together", task, split) % 2**31)
        found[f"{task}-{split}"] = Setting(run, {"task": task, "split": split, **made})
    return found


def without_masks(task: TwoFactors, size: Size, made: dict[str, tuple[float, ...]], seed: int) -> TrainingRun:
    """The same, of which structure is not asked."""
    run = _run(task, size, made, seed)
    kept = [one for one in run.measured if one.measure != "modularity"]
    found: TrainingRun = run.replace(measured=tuple(kept))
    return found


def _run(task: TwoFactors, size: Size, made: dict[str, tuple[float, ...]], seed: int) -> TrainingRun:
    inputs, outputs = task.numbers
    count = size.examples if task.noisy else 1
    early = max(1, min(EARLY, size.steps // 50))
    schedule = Cosine(steps=size.steps, floor=0.02)
    return TrainingRun(
        task=task, model=Perceptron(widths=(inputs, size.width, size.width, outputs)), members=len(made["lr"]),
        steps=size.steps, batch_size=32, seed=seed, init_scale=made["init_scale"],
        optimizer=AdamW(lr=made["lr"], weight_decay=made["weight_decay"], schedule=schedule),
        measured=(
            Measured(measure="per_combination", at=(early, size.steps // 4, -1), arguments={"count": count}),
            Measured(measure="lenses", at=(0, -1), arguments={"layer": "3", "count": count}),
            Measured(measure="modularity", arguments={"epochs": size.epochs, "penalties": PENALTIES}),
        ),
    )  # fmt: skip


def design(members: int, setting: str) -> dict[str, tuple[float, ...]]:
    """How each member of a setting is made: a Latin hypercube, even on a logarithmic scale, dealt anew for each.

    The three are dealt independently, so that no lens can stand for one of them alone."""
    draws, found = Draws.single(0, f"members of together {setting}"), {}
    for name, of in zip(MADE, ("scale", "rate", "decay"), strict=True):
        low, high = MADE[name]
        places = torch.argsort(draws(of).uniform((members,))).tolist()
        span = math.log(high / low)
        found[name] = tuple(float(f"{low * math.exp(span * (p + 0.5) / members):.4g}") for p in places)
    return found


def along(run: StoredRun, setting: Setting) -> pl.DataFrame | None:
    """`training` of the networks that are looked at through every lens."""
    return training(run, setting) if "modularity" in run.tables else None


def training(run: StoredRun, _: Setting) -> pl.DataFrame:
    """Errors on seen and on unseen combinations along training, of every network, and whether it fits in the end."""
    error, seen = pl.col("error"), pl.col("seen")
    by = run.table("per_combination").group_by("member", "step", maintain_order=True)
    table = by.agg(seen_error=error.filter(seen).mean(), error=error.filter(~seen).mean())
    fitted = ((pl.col("seen_error") < FITTED) & pl.col("diverged_at").is_null()).fill_null(False)
    return beside(table, beside(last(table), run.table("members")).select("member", fitted=fitted))


def networks(run: StoredRun, setting: Setting) -> pl.DataFrame:
    """One row per network: what it does on seen and unseen combinations, and every lens."""
    lenses = run.table("lenses")
    masks = run.table("modularity").select("member", "passed", "density", "d_sub", structure="d_abl")
    start = lenses.filter(pl.col("step") == 0).select("member", kernel_start="kernel")
    table = beside(last(training(run, setting)), last(lenses).drop("step"), start, masks)
    share = len(setting.run.task.train) / LEVELS**2  # type: ignore[attr-defined]
    return table.with_columns(share_seen=pl.lit(share)).select(
        "member", "fitted", "seen_error", "error", "support", "kernel", "factorization", "influence", "structure",
        "share_seen", "kernel_start", "passed", "density", "d_sub",
    )  # fmt: skip
