"""How many examples a convolutional decoder needs to place unseen bumps, at several sides, with and without stripes."""

from __future__ import annotations

from collections.abc import Mapping

from recombine.models import TransposedCNN
from recombine.runs.training import Measured, TrainingRun
from recombine.studies.study import Scale
from recombine.tasks import BumpTask, Population
from recombine.training import AdamW, Cosine

BUMPS: dict[str, dict[int, tuple[int, ...]]] = {
    "smoke": {8: (8, 32)},
    "quick": {},
    "paper": {12: (16, 32, 64, 104), 20: (40, 80, 160, 288), 28: (72, 160, 320, 576)},
}
WITH_STRIPES: dict[str, dict[int, tuple[int, ...]]] = {
    "smoke": {8: (8,)},
    "quick": {},
    "paper": {12: (4, 24, 64), 20: (4, 48, 160), 28: (4, 72, 320)},
}
"""Numbers of bumps at each side; a quarter of the square is held out at random and never drawn from."""

FIT = 0.01


def need_runs(scale: Scale, members: int | None) -> Mapping[str, TrainingRun]:
    return {
        f"need-{side}-{name}-{bumps}": _run(side, bumps, 2 * side if name == "stripes" else 0, scale, members)
        for name, sides in (("bumps", BUMPS), ("stripes", WITH_STRIPES))
        for side, counts in sides[scale].items()
        for bumps in counts
    }


def _run(side: int, bumps: int, stripes: int, scale: Scale, members: int | None) -> TrainingRun:
    kept = side**2 * 3 // 4
    task = BumpTask(
        side=side, holdout="random", hole=kept, bumps=bumps, stripes=stripes, encoding=Population()
    )  # fmt: skip
    steps = 30 if scale == "smoke" else 1000
    return TrainingRun(
        task=task,
        model=TransposedCNN(inputs=2 * side, side=side, channels=32 if scale == "paper" else 4, depth=4),
        members=members or (2 if scale == "smoke" else 8),
        steps=steps,
        batch_size=32,
        optimizer=AdamW(lr=2e-3, weight_decay=0.01, schedule=Cosine(steps=steps, floor=0.02)),
        fit_below=FIT * task.blank_error * (bumps + side * stripes) / (bumps + stripes),
        measured=(Measured(measure="rendering", at=(1, -1)),),
    )
