"""The reverse task: which unseen bumps are read right, off their pictures, with convolutions and without."""

from __future__ import annotations

import polars as pl

from recombine.models import PairCNN
from recombine.runs import StoredRun
from recombine.runs.training import Measured, TrainingRun
from recombine.studies.faithful import Faithful
from recombine.studies.study import Scale, Setting
from recombine.tasks import BumpReading, BumpTask, Encoding, Population, Ramp
from recombine.training import Adam, Cosine

READ = 0.99
"""A network that reads fewer of the bumps that it saw has not fitted."""

# Epochs × batches of 32 of 2000 draws.
READERS: dict[str, tuple[str, Encoding, bool, int]] = {
    "read-cnn": ("CNN, population", Population(), True, 20 * 63),
    "read-cnn-ramp": ("CNN, raw coordinates", Ramp(scaled=False), True, 50 * 63),
    "read-dense": ("perceptron, population", Population(), False, 20 * 63),
}
"""What it is called, what it answers with, whether it convolves, and the steps of the authors' encoder."""
LONGER = {"read-cnn": 4, "read-cnn-ramp": 10}
"""Times as long, at paper scale, for those that had not fitted."""
SIZES: dict[Scale, tuple[int, int | tuple[float, float], int, float, int]] = {
    "smoke": (8, 4, 12, 1e-2, 2), "quick": (10, 5, 1000, 1e-2, 4), "paper": (28, (6.0, 22.0), 3150, 1e-3, 8),
}  # fmt: skip
"""Side, what is held out, steps, rate and members."""


def reading_settings(scale: Scale, members: int | None) -> dict[str, Setting]:
    settings = {name: _setting(name, scale, members) for name in READERS if scale != "smoke" or name == "read-cnn"}
    if scale == "paper":
        settings |= {f"{name}-long": _setting(name, scale, members, times) for name, times in LONGER.items()}
    return settings


def _setting(name: str, scale: Scale, members: int | None, times: int = 1) -> Setting:
    title, code, convolves, theirs = READERS[name]
    side, hole, steps, lr, many = SIZES[scale]
    steps *= times
    layers = (3 if scale == "paper" else 2) if convolves else 0
    task = BumpReading(of=BumpTask(side=side, hole=hole, encoding=code))
    model = PairCNN(
        shape=(1, side, side), convolutions=layers, filters=32 if scale == "paper" else 8, outputs=2 * code.size(side)
    )
    run = TrainingRun(
        task=task, model=model, members=members or many, steps=steps, batch_size=32,
        optimizer=Adam(lr=lr, schedule=Cosine(steps=steps, floor=0.02)),
        measured=(Measured(measure="per_combination", arguments={"count": 1}),),
    )  # fmt: skip
    faithful = Faithful(steps=theirs, members=1, size=("task.of.side", 28)) if convolves else None
    return Setting(run, {"reader": f"{title}, {times} times as long" if times > 1 else title}, faithful)


def reading(run: StoredRun) -> pl.DataFrame:
    """One row per network: the share of seen and of unseen bumps whose place it reads, both coordinates within half."""
    each = run.table("per_combination").group_by("member", maintain_order=True)
    of = each.agg(seen_read=pl.col("read").filter("seen").mean(), read=pl.col("read").filter(~pl.col("seen")).mean())
    return of.with_columns(fitted=pl.col("seen_read") >= READ)
