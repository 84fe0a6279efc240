"""How many examples a learner needs before it composes, at several sides, with and without stripes.

The learners are exact regression with the tangent kernel of a wide network, and a transposed CNN.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
import polars as pl
import torch
from numpy.typing import NDArray
from pydantic import Field

from recombine.measures._rendering import FIT, inside, located
from recombine.measures._superposition import predictions, regress
from recombine.measures.tangent import wide_tangent_kernel
from recombine.models import TransposedCNN
from recombine.runs import Context, Outcome, Run
from recombine.runs.training import Measured, TrainingRun
from recombine.studies.study import Scale, Setting
from recombine.tasks import BumpTask, Draws, Population
from recombine.training import AdamW, Cosine

KERNEL, SUMS, CNN = "tangent kernel", "tangent kernel, sums of stripes", "transposed CNN"
WIDE, CNN_LONG = "tangent kernel, wider with the side", "transposed CNN, trained longer"
SET = ["kind", "share", "member", "side"]
LOCATED, DRAWN = 0.9, 0.5
"""Unseen bumps are placed once this share of them is within one pixel, and drawn once the error falls to this share of
a blank picture's."""

SHARES = (0.0, 0.5, 1.0, 2.0)
"""Stripes per place of a side: none, one at every fourth and at every second place of both factors, and at all."""
LADDER, STRIPED = (32, 45, 64, 91, 128, 181, 256, 362), {1.0: (4,), 2.0: (4, 16, 32, 64, 128)}
BUMPS: dict[Scale, dict[int, dict[float, tuple[int, ...]]]] = {
    "smoke": {8: {0.0: (8, 32), 2.0: (8,)}}, "quick": {},
    "paper": {side: {0.0: LADDER[2 if side == 40 else 0 :], **STRIPED} for side in (24, 28, 32, 40)},
}  # fmt: skip
"""Numbers of bumps that a CNN is given at each side, by stripes per place: of one ladder, so that no power of the side
is built in. Their centres are real numbers, as the authors' are."""
BOXES, VARIANCES = (0.2, 0.3, 0.4, 0.5, 0.6), (1, 3, 5, 7, 9, 11)
"""The authors' sweeps: sides of the held-out box over that of the square, and variances of the population code."""
DEEP, DEEP_BOX = (6, 8, 10, 12), ", small box"
"""Depths about that of the authors' CNN, whose sweep of variances has a box of about a third of the side."""
ASKED = 512
"""Centres that were not drawn, at which exact regression is asked for a picture."""


class OverlapRun(Run):
    """Each task by exact regression at each depth: where the unseen bumps are put, and at which error."""

    kind: ClassVar[str] = "overlap kernel"

    tasks: dict[str, BumpTask] = Field(min_length=1)
    depths: tuple[int, ...] = (1, 2, 3, 4)

    def compute(self, context: Context) -> Outcome:
        rows = []
        for done, (name, task) in enumerate(self.tasks.items()):
            seen, unseen = task.train.explicit().codes, task.test.explicit().codes
            points, kept = torch.as_tensor(unseen.copy()), torch.as_tensor(inside(seen, unseen))
            target = task.signal(task.pictures(points)).double()
            for depth in self.depths:
                drawn = torch.as_tensor(predictions(task, seen, unseen, depth)).reshape(target.shape)
                hit = located(drawn, points).double()
                rows.append({
                    "problem": name, "side": task.side, "depth": depth, "located": float(hit.mean()),
                    "located_inside": float(hit[kept].mean()) if kept.any() else None,
                    "over_blank": float((drawn - target).square().mean()) / task.blank_error,
                })  # fmt: skip
            context.progress(done + 1, len(self.tasks), "problems")
        return Outcome({"kernels": pl.DataFrame(rows)}, {}, {"members": len(self.depths)})


class NeedRun(Run):
    """Location and error on unseen combinations against the number of bumps, whose real-valued centres are drawn anew
    ``samples`` times; with different numbers of stripes. The tangent kernel of ``depth`` layers on the bump code.
    ``compose``: what a picture is made of its two stripes. ``wide``: a bump and its code are an eighth of the side
    wide, instead of one pixel at every side."""

    kind: ClassVar[str] = "data need"
    version: ClassVar[int] = 2

    sides: tuple[int, ...] = (8, 12, 16)
    samples: int = Field(default=8, ge=1)
    depth: int = Field(default=3, ge=1)
    shares: tuple[float, ...] = SHARES
    compose: Literal["product", "sum"] = "product"
    wide: bool = False

    def compute(self, context: Context) -> Outcome:
        parts: list[pl.DataFrame] = []
        for done, side in enumerate(self.sides):
            parts += [self._one(side, share, sample) for share in self.shares for sample in range(self.samples)]
            context.progress(done + 1, len(self.sides), "sides")
        return Outcome({"need": pl.concat(parts)}, {}, {"members": self.samples})

    def _one(self, side: int, share: float, sample: int) -> pl.DataFrame:
        task, most = _task(side, side**2, share).replace(compose=self.compose), side**2
        if self.wide:
            task = task.replace(sigma=side / 8, encoding=Population(width=side / 8))
        draws = Draws.single(sample, f"need {side}").uniform((most + ASKED, 2), torch.float64)
        points = torch.cat([task.stripe_points().double(), draws * (side - 1)])
        kernel = wide_tangent_kernel(task.codes(points).numpy(), self.depth)
        pictures, asked = task.pictures(points), np.arange(len(points) - ASKED, len(points))
        rows = []
        for bumps in counts(side):
            count = task.stripes + bumps
            both = np.concatenate([np.arange(count), asked])
            found = regress(kernel[np.ix_(both, both)], pictures[:count].flatten(1).numpy())
            drawn = torch.as_tensor(found).reshape(-1, side, side)
            rows.append({
                "side": side, "share": share, "member": sample, "bumps": bumps, "examples": count,
                "located": float(located(drawn, points[asked]).double().mean()),
                "over_blank": float((drawn - pictures[asked]).square().mean()) / task.blank_error,
            })  # fmt: skip
        return pl.DataFrame(rows, schema_overrides={"member": pl.Int32})


def counts(side: int) -> list[int]:
    """Numbers of bumps, √2 apart, from 4 up to as many as there are pixels."""
    return [v for k in range(40) if (v := round(4 * 2 ** (k / 2))) <= side**2]


def _task(side: int, bumps: int, share: float) -> BumpTask:
    return BumpTask(side=side, holdout="none", hole=0, centres="continuous", bumps=bumps, stripes=round(share * side),
                    encoding=Population())  # fmt: skip


def boxed(part: float) -> str:
    return f"population, box of {part:g} of the side"


def widened(times: int, box: str = "") -> str:
    return f"population{box}, {times} times the variance"


def kernel_settings(scale: Scale, members: int | None) -> dict[str, Setting]:
    side, hole = (28, (6.0, 22.0)) if scale == "paper" else (16, 10)
    tasks = {
        "one-hot": BumpTask(side=side, hole=hole),
        "one-hot, stripes": BumpTask(side=side, hole=hole, stripes=2 * side),
        "one-hot, sums": BumpTask(side=side, hole=hole, compose="sum"),
        "population": BumpTask(side=side, hole=hole, encoding=Population()),
        "population, stripes": BumpTask(side=side, hole=hole, encoding=Population(), stripes=2 * side),
    }
    of = tasks["population"]
    swept = {boxed(part): of.replace(hole=int(part * side)) for part in BOXES} | {
        widened(times): of.replace(encoding=Population(width=times**0.5)) for times in VARIANCES}  # fmt: skip
    small = of.replace(hole=(10.0, 18.0) if scale == "paper" else side // 3)
    deep = {widened(times, DEEP_BOX): small.replace(encoding=Population(width=times**0.5)) for times in (1, 5, 11)}
    sides = {"smoke": (6, 8), "quick": (8, 12, 16, 20), "paper": (8, 12, 16, 24, 28, 32, 40)}[scale]
    need = NeedRun(sides=sides, samples=members or (2 if scale == "smoke" else 8))
    return {"overlap-kernel": Setting(OverlapRun(tasks=tasks), {"kind": KERNEL}),
            "overlap-kernel-sweeps": Setting(OverlapRun(tasks=swept), {"kind": KERNEL}),
            "overlap-kernel-deep": Setting(OverlapRun(tasks=deep, depths=DEEP), {"kind": KERNEL}),
            "kernel-need": Setting(need, {"kind": KERNEL}),
            "kernel-need-sums": Setting(need.replace(shares=(2.0,), compose="sum"), {"kind": SUMS}),
            "kernel-need-wide": Setting(need.replace(shares=(0.0,), wide=True), {"kind": WIDE})}  # fmt: skip


def cnn_settings(scale: Scale, members: int | None) -> dict[str, Setting]:
    """Larger squares are trained for more steps; the smallest also for as many as the largest."""
    found = {
        f"need-{side}-{round(share * side)}-{bumps}": _setting(side, bumps, share, scale, members)
        for side, sets in BUMPS[scale].items()
        for share, counts in sets.items()
        for bumps in counts
    }
    sides = BUMPS[scale] if scale == "paper" else ()
    return found | {f"need-{min(sides)}-long-{bumps}": _setting(min(sides), bumps, 0.0, scale, members, max(sides))
                    for bumps in LADDER[2:6] if sides}  # fmt: skip


def _setting(
    side: int, bumps: int, share: float, scale: Scale, members: int | None, as_side: int | None = None
) -> Setting:
    """``as_side``: trained for as many steps as a square of this side."""
    task = _task(side, bumps, share)
    steps, many = (30, 2) if scale == "smoke" else (30 * (as_side or side), 5)
    run = TrainingRun(
        task=task, model=TransposedCNN(inputs=2 * side, side=side, channels=32 if scale == "paper" else 4, depth=4),
        members=members or many, steps=steps, batch_size=32,
        optimizer=AdamW(lr=2e-3, weight_decay=0.01, schedule=Cosine(steps=steps, floor=0.02)),
        fit_below=FIT * task.blank_error * (bumps + side * task.stripes) / (bumps + task.stripes),
        measured=(Measured(measure="rendering", at=(1, -1)),),
    )  # fmt: skip
    kind = CNN_LONG if as_side else CNN
    return Setting(run, {"kind": kind, "side": side, "share": share, "bumps": bumps})


def fewest(need: pl.DataFrame) -> pl.DataFrame:
    """The examples needed at each side, for each learner, training set and sample, to place unseen bumps and to draw
    them; null where that is never reached, or with the fewest examples that were tried."""
    keyed = need.filter("fitted").with_columns(drawn=-pl.col("over_blank")).sort("examples", maintain_order=True)
    rows = [
        (*key, criterion, first_enough(part["examples"].to_numpy(), part[share].to_numpy(), enough))
        for key, part in keyed.group_by(SET, maintain_order=True)
        for criterion, share, enough in (("placed", "located", LOCATED), ("drawn", "drawn", -DRAWN))
    ]
    known = pl.DataFrame(rows, schema=[*SET, "criterion", "examples"], orient="row", infer_schema_length=None)
    criteria = pl.DataFrame({"criterion": ["placed", "drawn"]})
    asked = need.select(SET).unique(maintain_order=True).join(criteria, how="cross", maintain_order="left")
    known = known.cast({**{name: asked.schema[name] for name in SET}, "examples": pl.Float64})
    return asked.join(known, on=[*SET, "criterion"], how="left", maintain_order="left")


def slopes(fewest: pl.DataFrame) -> pl.DataFrame:
    """d log(examples needed) / d log N of each learner, training set and sample; null unless known at every side."""
    logs = pl.col("side").log(), pl.col("examples").log()
    known = pl.col("examples").is_not_null().all() & (pl.len() > 1)
    found = fewest.group_by("kind", "share", "member", "criterion", maintain_order=True)
    return found.agg(slope=pl.when(known).then(pl.cov(*logs) / logs[0].var()), sides=pl.len())


def first_enough(examples: NDArray[np.float64], share: NDArray[np.float64], enough: float) -> float | None:
    """Where the share first reaches ``enough``, between counts on a logarithmic line; None where it never does, and
    where the smallest count is enough, since fewer might have been."""
    at = int(np.argmax(share >= enough))
    if at == 0:
        return None
    part = (enough - share[at - 1]) / (share[at] - share[at - 1])
    return float(examples[at - 1] * (examples[at] / examples[at - 1]) ** part)
