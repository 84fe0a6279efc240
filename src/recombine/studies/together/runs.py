"""The networks: three tasks × seven splits, and in each several networks that were trained on the same rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch

from recombine.models import Perceptron
from recombine.runs.training import Measured, TrainingRun
from recombine.studies.study import Scale
from recombine.studies.together.tasks import BumpsTask, DigitTask, SumsTask, TwoFactors
from recombine.studies.verification import EARLY
from recombine.tasks import Draws
from recombine.training import AdamW, Cosine

TASKS: dict[str, type[TwoFactors]] = {"digits": DigitTask, "bumps": BumpsTask, "sums": SumsTask}
SPLITS: dict[str, tuple[int, ...]] = {
    "0": (0,),
    "05": (0, 5),
    "02468": (0, 2, 4, 6, 8),
    "02": (0, 2),
    "01": (0, 1),
    "012": (0, 1, 2),
    "01247": (0, 1, 2, 4, 7),
}
"""Offsets that are seen. Half of all combinations can leave every unseen one open (02468: even and odd levels never
meet), and a fifth can determine them all (01), so what is determined is not how much is seen."""

LAST_HIDDEN = "3"
SCALES, RATES, DECAYS = (0.4, 2.5), (2e-3, 8e-3), (0.01, 1.0)
"""From which members draw the size of their first weights, their learning rate and their weight decay."""

PENALTIES = "5,20"
"""Of masks. With these a planted network of two separate halves reads −.65 to −.9 on every split; with 1, 0 to −.9."""


@dataclass(frozen=True)
class Size:
    """What the scales differ in."""

    members: int
    width: int
    steps: int
    examples: int
    """Images of each pair of digits that a lens looks at."""
    epochs: int
    splits: tuple[str, ...] = tuple(SPLITS)


SIZES: dict[Scale, Size] = {
    "smoke": Size(members=5, width=12, steps=40, examples=2, epochs=1, splits=("05", "01", "01247")),
    "quick": Size(members=8, width=48, steps=800, examples=16, epochs=40),
    "paper": Size(members=32, width=256, steps=4000, examples=32, epochs=100),
}


def runs(scale: Scale, members: int | None) -> Mapping[str, TrainingRun]:
    """One run a task and split."""
    size = SIZES[scale]
    return {
        f"{task}-{split}": run(TASKS[task](offsets=SPLITS[split]), size, members or size.members)
        for task in TASKS
        for split in size.splits
    }


def run(task: TwoFactors, size: Size, members: int) -> TrainingRun:
    inputs, outputs = task.numbers
    images = isinstance(task, DigitTask)
    count = size.examples if images else 1
    scales, rates, decays = design(members)
    early = max(1, min(EARLY, size.steps // 50))
    return TrainingRun(
        task=task,
        model=Perceptron(widths=(inputs, size.width, size.width, outputs)),
        members=members,
        steps=size.steps,
        batch_size=32,
        optimizer=AdamW(lr=rates, weight_decay=decays, schedule=Cosine(steps=size.steps, floor=0.02)),
        init_scale=scales,
        measured=(
            Measured(measure="per_combination", at=(early, size.steps // 4, -1), arguments={"count": count}),
            Measured(measure="lenses", at=(0, -1), arguments={"layer": LAST_HIDDEN, "count": count}),
            Measured(measure="modularity", arguments={"epochs": size.epochs, "penalties": PENALTIES}),
        ),
    )


def design(members: int) -> tuple[tuple[float, ...], ...]:
    """Size of first weights, learning rate and decay of each member: a Latin hypercube, even on a logarithmic scale.

    The three are dealt independently, so that no lens can stand for one of them alone."""
    draws = Draws.single(0, "members of together")
    columns = []
    for name, (low, high) in (("scale", SCALES), ("rate", RATES), ("decay", DECAYS)):
        places = torch.argsort(draws(name).uniform((members,))).tolist()
        span = math.log(high / low)
        columns.append(tuple(float(f"{low * math.exp(span * (p + 0.5) / members):.4g}") for p in places))
    return tuple(columns)
