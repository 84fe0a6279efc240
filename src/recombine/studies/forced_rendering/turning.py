"""A digit drawn from its angle, of which an arc was never seen: a missing value of one factor, not a combination."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar

import numpy as np
import polars as pl
import torch
from pydantic import Field
from torch import Tensor
from torch.nn.functional import affine_grid, grid_sample

from recombine.description import Description
from recombine.models import TransposedCNN
from recombine.runs import StoredRun
from recombine.runs.training import Measured, TrainingRun
from recombine.space import FactorSpace
from recombine.studies.faithful import Faithful
from recombine.studies.study import Scale, Setting
from recombine.support import Explicit, Support
from recombine.tasks import Draws, Task
from recombine.tasks.data import Source, load_images
from recombine.tasks.keeping import Keeping
from recombine.training import AdamW, Cosine

FOUR, ARC = 4, (160.0, 200.0)
"""The authors' digit, and the angles that are held out, in degrees."""
SIZES = {"smoke": (8, 4, 40, 12), "quick": (8, 16, 90, 900), "paper": (28, 128, 1000, 5600)}
"""Side, channels, angles and steps."""
FITTED = 0.1
"""The error on seen angles, at most, over that of the cross-fade on unseen ones."""


class TurnedDigit(Keeping, Description, Task):
    """(cos, sin) of an angle → the first four of ``source``, turned by it. ``over_fade``: the error over that of a
    cross-fade, which goes in a straight line from the last picture seen before the arc to the first one after it."""

    kind: ClassVar[str] = "turned digit"

    source: Source = "digits"
    angles: int = Field(default=1000, ge=8)

    @cached_property
    def space(self) -> FactorSpace:
        return FactorSpace.of(angle=self.angles)

    @cached_property
    def train(self) -> Support:
        degrees = np.arange(self.angles) * 360 / self.angles
        return Explicit(self.space, np.flatnonzero((degrees < ARC[0]) | (degrees > ARC[1]))[:, None])

    @property
    def test(self) -> Support:
        return ~self.train

    def examples(self, points: Tensor, draws: Draws) -> tuple[Tensor, Tensor]:
        turn = points[..., 0] * (2 * math.pi / self.angles)
        (pictures,) = self.kept("pictures", points.device, lambda: [self.pictures])
        return torch.stack([turn.cos(), turn.sin()], -1), pictures[points[..., 0]]

    def losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        return (outputs - targets).square().mean((-1, -2))

    def scores(self, outputs: Tensor, targets: Tensor) -> Mapping[str, Tensor]:
        return {"over_fade": self.losses(outputs, targets) / self.fade_error}

    @cached_property
    def pictures(self) -> Tensor:
        """(angles × side × side), bilinear between pixels."""
        images = load_images(self.source)
        four = torch.as_tensor(images.train[images.train_classes == FOUR][0])
        turn = torch.arange(self.angles) * (2 * math.pi / self.angles)
        rows = torch.stack([turn.cos(), -turn.sin(), 0 * turn, turn.sin(), turn.cos(), 0 * turn], -1)
        many = four.expand(self.angles, *four.shape)
        return grid_sample(many, affine_grid(rows.unflatten(-1, (2, 3)), list(many.shape), False), align_corners=False)[
            :, 0
        ]

    @cached_property
    def fade_error(self) -> float:
        unseen = torch.as_tensor(self.test.explicit().codes[:, 0].copy())
        before, after = int(unseen[0]) - 1, int(unseen[-1]) + 1
        part = ((unseen - before) / (after - before))[:, None, None]
        fade = (1 - part) * self.pictures[before] + part * self.pictures[after]
        return float(self.losses(fade, self.pictures[unseen]).mean())


def turning_settings(scale: Scale, members: int | None) -> dict[str, Setting]:
    paper = scale == "paper"
    side, channels, angles, steps = SIZES[scale]
    run = TrainingRun(
        task=TurnedDigit(source="mnist" if paper else "digits", angles=angles), members=members or 5, steps=steps,
        model=TransposedCNN(inputs=2, side=side, channels=channels, depth=2), batch_size=32 if paper else 16,
        optimizer=AdamW(lr=1e-3 if paper else 1e-2, weight_decay=1e-4, schedule=Cosine(steps=steps, floor=0.02)),
        measured=(Measured(measure="per_combination", arguments={"count": 1}),),
    )  # fmt: skip
    # 200 epochs of the 888 angles that are seen, in batches of 32.
    return {"turned-digit": Setting(run, {"kind": "turned digit"}, Faithful(steps=200 * 28, members=1))}


def turning(run: StoredRun) -> pl.DataFrame:
    """One row per network: the error on seen and on unseen angles over that of the cross-fade."""
    error, seen = pl.col("over_fade"), pl.col("seen")
    each = run.table("per_combination").group_by("member", maintain_order=True)
    of = each.agg(seen_over_fade=error.filter(seen).mean(), over_fade=error.filter(~seen).mean())
    return of.with_columns(fitted=pl.col("seen_over_fade") < FITTED)
