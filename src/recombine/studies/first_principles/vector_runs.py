"""The networks that predict vectors of parts, where every assumption can hold exactly and a run takes seconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from recombine.description import Description
from recombine.models import CellNetwork, Compositional, CompositionFamily, Perceptron, SlotAutoencoder
from recombine.runs.training import Measured, TrainingRun
from recombine.studies.study import Scale
from recombine.tasks import VectorParts
from recombine.tasks.sprites import Addition, Composition, SoftOcclusion
from recombine.training import AdamW, Cosine

WIDTH = 48
MONOLITHIC = 64
STEPS = {"smoke": 20, "quick": 600, "paper": 3000}
FAMILY = CompositionFamily(candidates=(Addition(), SoftOcclusion()))
SUM, SOFT = Addition(), SoftOcclusion()


@dataclass(frozen=True)
class Vectors:
    """A support, what composes the data, and the model's composition (None: one network of all latents)."""

    label: str
    support: str
    data: Composition = SUM
    model: Description | None = SUM
    width: float = 0.1
    gap: float = 0.4


VECTORS = {
    "vector": Vectors("sum, one plane each", "orthogonal"),
    "vector-monolithic": Vectors("sum, one plane each, monolithic", "orthogonal", model=None),
    "vector-random-monolithic": Vectors("sum, everywhere, monolithic", "random", model=None),
    "vector-soft": Vectors("soft, one plane each", "orthogonal", SOFT, SOFT),
    "vector-soft-plus": Vectors("soft, two planes each", "orthogonal+", SOFT, SOFT),
    "vector-soft-by-sum": Vectors("soft data, model adds", "orthogonal", SOFT, SUM),
    "vector-learned": Vectors("soft data, C learned, two planes each", "orthogonal+", SOFT, FAMILY),
    "vector-learned-one": Vectors("soft data, C learned, one plane each", "orthogonal", SOFT, FAMILY),
    "vector-network": Vectors("soft data, C a network, two planes each", "orthogonal+", SOFT, CellNetwork()),
    "vector-diagonal-02": Vectors("sum, diagonal .02", "diagonal", width=0.02),
    "vector-diagonal-05": Vectors("sum, diagonal .05", "diagonal", width=0.05),
    "vector-diagonal-10": Vectors("sum, diagonal .1", "diagonal", width=0.1),
    "vector-diagonal-20": Vectors("sum, diagonal .2", "diagonal", width=0.2),
    "vector-gap-20": Vectors("sum, gap of .2", "gap", gap=0.2),
    "vector-gap-40": Vectors("sum, gap of .4", "gap", gap=0.4),
    "vector-gap-60": Vectors("sum, gap of .6", "gap", gap=0.6),
}
SMOKE = ("vector", "vector-monolithic", "vector-soft", "vector-learned", "vector-learned-one", "vector-diagonal-05",
         "vector-gap-40")  # fmt: skip
PARTS = VectorParts()
SLOTS = VectorParts(latents=1, inputs="observation", support="diagonal", width=0.3)


def vector_runs(scale: Scale, members: int | None) -> Mapping[str, TrainingRun]:
    """Every setting, and an additive decoder that is shown no latents."""
    names = SMOKE if scale == "smoke" else VECTORS
    found = {name: _run(task_of(VECTORS[name]), model_of(VECTORS[name]), scale, members) for name in names}
    return found | {"slots": _slots(scale, members)}


def task_of(part: Vectors) -> VectorParts:
    middle = (0.5 - part.gap / 2, 0.5 + part.gap / 2)
    task: VectorParts = PARTS.replace(support=part.support, composition=part.data, width=part.width, gap=middle)
    return task


def model_of(part: Vectors) -> Description:
    if part.model is None:
        widths = (2 * PARTS.latents, MONOLITHIC, MONOLITHIC, PARTS.numbers)
        return Perceptron(widths=widths, activation="tanh")
    component = Perceptron(widths=(PARTS.latents, WIDTH, WIDTH, PARTS.numbers), activation="tanh")
    return Compositional(component=component, composition=part.model)


def _run(task: VectorParts, model: Description, scale: Scale, members: int | None) -> TrainingRun:
    steps = STEPS[scale]
    count = 100 if scale == "smoke" else 1000
    at = (steps // 16, steps // 8, steps // 4, steps // 2, -1)
    measured = [Measured(measure="generalization", at=at, arguments={"count": count, "chunk": 1000})]
    if isinstance(model, Compositional):
        measured.append(Measured(measure="recovery"))
        if isinstance(model.composition, CompositionFamily):
            measured.append(Measured(measure="composition_shares"))
    return TrainingRun(
        task=task,
        model=model,
        members=members or (2 if scale == "smoke" else 8),
        steps=steps,
        batch_size=64,
        optimizer=AdamW(lr=1e-2, weight_decay=0.0, schedule=Cosine(steps=steps, floor=0.01)),
        measured=tuple(measured),
    )


def _slots(scale: Scale, members: int | None) -> TrainingRun:
    component = Perceptron(widths=(SLOTS.latents, WIDTH, WIDTH, SLOTS.numbers), activation="tanh")
    model = SlotAutoencoder(inputs=SLOTS.numbers, slot=SLOTS.latents, component=component)
    run = _run(SLOTS, model, scale, members)
    optimizer = run.optimizer.replace(lr=5e-3)
    measured = (*run.measured, Measured(measure="recombination"))
    again: TrainingRun = run.replace(optimizer=optimizer, measured=measured)
    return again
