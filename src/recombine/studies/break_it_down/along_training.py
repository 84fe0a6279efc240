"""A run that dissects networks on the way: what is inside them, beside what they do on unseen combinations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import torch
from pydantic import Field
from torch import nn

from recombine.description import Description
from recombine.measures import views
from recombine.runs.run import Context, Outcome, Run
from recombine.structure import Network, Protocol, Subroutine, carry_out
from recombine.studies.break_it_down.dissection import mask_strategy
from recombine.tasks import DigitPairs, Draws, Problems
from recombine.training import Ensemble, Optimizer, Record, train
from recombine.training.optim import PerMember

if TYPE_CHECKING:
    import polars as pl

    from recombine.tasks import Task


class AlongTrainingRun(Run):
    """Train ``members`` on pairs of digits and dissect each after every number of steps in ``at``; 0 is untrained.

    A subroutine is one digit: its problems are pairs of any two digits, its answer that digit's class. Masks are
    trained on training images and measured on ``asked`` others. The table ``along`` has, for every member and step,
    accuracy on ``shown`` pairs as trained and as many unseen ones, and the scores of its masks."""

    kind: ClassVar[str] = "along training"

    task: DigitPairs
    model: Description
    members: int = Field(ge=1)
    at: tuple[int, ...] = Field(min_length=1)
    batch_size: int = Field(default=32, ge=1)
    optimizer: Optimizer
    init_scale: PerMember = 1.0
    learn: int = Field(default=1000, ge=1)
    asked: int = Field(default=500, ge=1)
    shown: int = Field(default=512, ge=1)
    protocol: Protocol
    seed: int = 0

    def first_member(self) -> AlongTrainingRun:
        scale = self.init_scale
        alone: AlongTrainingRun = self.replace(members=1, init_scale=scale if isinstance(scale, float) else scale[0])
        return alone

    def compute(self, context: Context) -> Outcome:
        import polars as pl

        parts = digit_subroutines(self.task, self.learn, self.asked, self.seed)
        last = max(self.at)
        kept: dict[int, list[nn.Module]] = {}

        def keep(ensemble: Ensemble, task: Task) -> pl.DataFrame:
            for member in ensemble.members:
                kept.setdefault(member, []).append(ensemble.member(member))
            return views(ensemble, task, self.shown)

        steps = tuple(sorted(set(self.at)))
        ensemble = train(
            self.model, self.task, members=self.members, steps=last, batch_size=self.batch_size,  # type: ignore[arg-type]
            optimizer=self.optimizer, seed=self.seed, init_scale=self.init_scale,
            records=[Record("views", keep, steps)], device=context.device,
            progress=lambda done, total: context.progress(done, total, "member-steps"),
        )  # fmt: skip
        # Masks of all steps are trained as one: a network at a step is a base of its own.
        networks = [
            Network(member * len(steps) + place, "trained", model)
            for member, models in kept.items()
            for place, model in enumerate(models)
        ]
        found = carry_out(
            self.protocol.replace(gate=0.0), networks, parts, progress=context.progress,
            strategy=mask_strategy(context.device),
        )  # fmt: skip
        named = [
            (pl.col("base") // len(steps)).alias("member"),
            (pl.col("base") % len(steps)).replace_strict(dict(enumerate(steps)), return_dtype=pl.Int64).alias("step"),
        ]
        seen = ensemble.records["views"].pivot("view", index=["member", "step"], values="accuracy")
        seen = seen.with_columns(pl.col("member", "step").cast(pl.Int64))
        bases = found.bases.with_columns(named).drop("base", "network", "accuracy", "gated")
        along = bases.join(seen, on=["member", "step"], how="left").sort("member", "step")
        along = along.with_columns((pl.col("trained") > self.protocol.gate).alias("gated"))
        masks = found.masks.with_columns(named).drop("base")
        notes: dict[str, Any] = {"members": self.members, "steps": last, "settings": self.resolved(),
                                 "searches": found.notes["searches"], "strategy": ensemble.notes["strategy"],
                                 "stack": ensemble.notes["stack"], "reason": ensemble.notes["reason"]}  # fmt: skip
        return Outcome({"along": along, "masks": masks}, {}, notes)


def digit_subroutines(task: DigitPairs, learn: int, asked: int, seed: int = 0) -> tuple[Subroutine, ...]:
    """One subroutine a digit. Its masks learn the class of that digit on pairs of any two; what they do is measured on
    images that show that digit alone, the other one blank."""
    names = ("left digit", "right digit") if task.digits == 2 else tuple(f"digit {k + 1}" for k in range(task.digits))
    made: dict[str, tuple[torch.Tensor, torch.Tensor]] = {}
    for purpose, count in (("train", learn), ("passing", asked), ("validation", asked), ("test", asked)):
        draws = Draws.single(seed, f"digits to {purpose}")
        points = draws("points").integers(10, (count, task.digits))
        show = task.trained_examples if purpose == "train" else task.examples
        made[purpose] = show(points, draws)[0], points

    def of(purpose: str, digit: int) -> Problems:
        images, points = made[purpose]
        if purpose in ("validation", "test"):
            alone = torch.zeros_like(images)
            alone[..., task.part(digit)] = images[..., task.part(digit)]
            images = alone
        return Problems(images, points[:, digit])

    return tuple(
        Subroutine(name, of("train", k), of("passing", k), of("validation", k), of("test", k))
        for k, name in enumerate(names)
    )
