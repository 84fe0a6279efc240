"""The networks that draw sprites: the rows of the published table, and the ablations that it lacks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from recombine.description import Description
from recombine.models import Compositional, ShiftedNetwork, Upsampler
from recombine.runs.training import Measured, TrainingRun
from recombine.studies.first_principles.rows import ROWS, Row
from recombine.studies.study import Scale
from recombine.tasks import SpriteTask
from recombine.tasks.sprites import Composition, HardOcclusion, Over, SoftOcclusion
from recombine.tasks.sprites.latents import Latents
from recombine.training import AdamW, Cosine

PAPER_STEPS = 1000
"""Of the paper's 392 000; the cosine of the learning rate ends with them."""

LARGE = Latents(scale=(0.35, 0.5), shapes=(3, 4, 6))
"""Sprites that still have a shape on 8 or 16 pixels; a hexagon stands for the circle."""


@dataclass(frozen=True)
class Size:
    """A picture, networks for it, and how they are trained."""

    side: int
    steps: int
    batch: int
    members: int
    examples: int
    hidden: int = 64
    channels: int = 8
    monolithic: tuple[int, int] = (80, 12)
    lr: float = 1e-2
    latents: Latents = LARGE
    samples: int | None = None
    centred: bool = True


TABLE = {
    "smoke": Size(8, 20, 8, 2, 100, hidden=8, channels=4, monolithic=(8, 4)),
    "quick": Size(16, 350, 16, 8, 500),
    "paper": Size(64, PAPER_STEPS, 512, 3, 4000, hidden=256, channels=32, monolithic=(320, 64), lr=1e-3,
                  latents=Latents(), samples=100_000, centred=False),
}  # fmt: skip
SMALL = {"smoke": TABLE["smoke"], "quick": Size(8, 300, 16, 8, 500), "paper": Size(8, 300, 16, 8, 500)}

SHORT_ROWS = {
    "smoke": ("orthogonal", "orthogonal-monolithic", "gap", "alpha"),
    "quick": ("orthogonal", "orthogonal-monolithic", "random", "random-monolithic", "star", "gap", "alpha"),
}
SMOKE_ABLATIONS = ("soft", "gap-plain")


@dataclass(frozen=True)
class Ablation:
    """A small compositional model on the orthogonal support: what composes the data, what the model, and how."""

    label: str
    data: Composition
    model: Composition
    shared: bool = False
    support: str = "orthogonal"
    shifted: bool = False


ABLATIONS = {
    "soft": Ablation("soft, separate", HardOcclusion(), SoftOcclusion()),
    "soft-shared": Ablation("soft, shared", HardOcclusion(), SoftOcclusion(), shared=True),
    "over": Ablation("alpha, separate", Over(), Over()),
    "over-shared": Ablation("alpha, shared", Over(), Over(), shared=True),
    "soft-matched": Ablation("soft on soft data, separate", SoftOcclusion(), SoftOcclusion()),
    "soft-matched-shared": Ablation("soft on soft data, shared", SoftOcclusion(), SoftOcclusion(), shared=True),
    "hard": Ablation("hard, separate", HardOcclusion(), HardOcclusion()),
    "gap-plain": Ablation("gap in x, decoder", HardOcclusion(), SoftOcclusion(), support="gap"),
    "gap-shifted": Ablation("gap in x, equivariant", HardOcclusion(), SoftOcclusion(), support="gap", shifted=True),
    "shifted": Ablation("no gap, equivariant", HardOcclusion(), SoftOcclusion(), shifted=True),
}


def table_runs(scale: Scale, members: int | None) -> Mapping[str, TrainingRun]:
    """The rows of the published table that the scale has, in order."""
    return {name: row_run(ROWS[name], TABLE[scale], members) for name in SHORT_ROWS.get(scale, ROWS)}


def ablation_runs(scale: Scale, members: int | None) -> Mapping[str, TrainingRun]:
    """The ablations, on eight pixels at every scale."""
    names = SMOKE_ABLATIONS if scale == "smoke" else ABLATIONS
    return {name: ablation_run(ABLATIONS[name], SMALL[scale], members) for name in names}


def row_run(row: Row, size: Size, members: int | None) -> TrainingRun:
    task = SpriteTask(
        side=size.side, support=row.support, width=row.width, latents=size.latents, samples=size.samples,
        # Of sprites with hard edges both compositions make the same pictures.
        composition=Over() if row.alpha else HardOcclusion(),
    )  # fmt: skip
    if row.monolithic:
        hidden, channels = size.monolithic
        ranges = (*size.latents.ranges(), *size.latents.ranges()) if size.centred else None
        model: Description = Upsampler(inputs=10, side=size.side, hidden=hidden, channels=channels, ranges=ranges)
    else:
        model = composed(size, Over() if row.alpha else SoftOcclusion(), shared=row.alpha)
    seen = row.label in ("orthogonal", "orthogonal, monolithic", "orthogonal, gap in x")
    return trained(task, model, size, members, maps=seen)


def ablation_run(part: Ablation, size: Size, members: int | None) -> TrainingRun:
    task = SpriteTask(
        side=size.side, support=part.support, composition=part.data, latents=size.latents, samples=size.samples
    )
    if part.shifted:
        drawn = Upsampler(inputs=3, side=size.side, hidden=size.hidden, channels=size.channels,
                          ranges=size.latents.ranges()[2:])  # fmt: skip
        component = ShiftedNetwork(network=drawn, side=size.side)
        model = Compositional(component=component, composition=part.model, shared=part.shared)
    else:
        model = composed(size, part.model, part.shared)
    return trained(task, model, size, members)


def composed(size: Size, composition: Composition, shared: bool) -> Compositional:
    component = Upsampler(
        inputs=5, outputs=composition.channels, side=size.side, hidden=size.hidden, channels=size.channels,
        ranges=size.latents.ranges() if size.centred else None,
    )  # fmt: skip
    return Compositional(component=component, composition=composition, shared=shared)


def trained(task: SpriteTask, model: Description, size: Size, members: int | None, maps: bool = False) -> TrainingRun:
    measured = [Measured(measure="generalization", at=(size.steps // 4, -1), arguments={"count": size.examples})]
    if maps:
        measured.append(Measured(measure="latent_map", arguments={"x": "x1", "y": "x2"}))
        measured.append(Measured(measure="reconstruction"))
    return TrainingRun(
        task=task,
        model=model,
        members=members or size.members,
        steps=size.steps,
        batch_size=size.batch,
        optimizer=AdamW(lr=size.lr, weight_decay=1e-5, schedule=Cosine(steps=size.steps, floor=0.01)),
        measured=tuple(measured),
    )
