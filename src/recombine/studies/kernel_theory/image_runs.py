"""Convolutional, residual and attention networks on image versions of the tasks.

Quick scale shows scikit-learn's 8 × 8 digits to named small networks; paper scale shows MNIST and a part of CIFAR-10
to the paper's own, for fewer passes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from recombine.description import Description
from recombine.models import ConvNet, ResNet, ViT
from recombine.runs import Run
from recombine.runs.training import Measured, TrainingRun
from recombine.studies.kernel_theory import sets
from recombine.studies.study import Scale
from recombine.tasks import ImageTask, SymbolicTask
from recombine.tasks.data import Source
from recombine.training import SGD, Adam, Cosine, Optimizer

Shape = tuple[int, int, int]


@dataclass(frozen=True)
class Network:
    """How a network is built for an input, trained, and where its features are read."""

    model: Callable[[Shape], Description]
    layers: str
    optimizer: dict[str, Optimizer]
    batch_size: int


@dataclass(frozen=True)
class Size:
    """What the scales differ in."""

    source: Source
    colour: Source
    distances: tuple[int, ...]
    seeds: int
    colour_seeds: int
    steps: int
    short_steps: int
    """Steps where answers are ±1, and on colour images."""
    per_class: int
    examples: int
    count: int
    """Held-out pictures of each combination in a measure."""


SIZES: dict[Scale, Size] = {
    "smoke": Size("digits", "digits", (0, 6), 2, 2, 10, 10, 30, 500, 4),
    "quick": Size("digits", "digits", (0, 6), 5, 3, 300, 300, 35, 2000, 16),
    "paper": Size("mnist", "cifar10-part", (0, 10, 20), 6, 3, 1500, 1000, 200, 20_000, 32),
}

SMALL = {
    "convnet": Network(
        lambda shape: ConvNet(shape=shape, filters=(8, 16), kernel=3, dense=(64,)),
        "relu_2,active_1",
        {"squared error": SGD(lr=0.006, momentum=0.9), "logistic": SGD(lr=0.02, momentum=0.9)},
        64,
    ),
    "resnet": Network(
        lambda shape: ResNet(shape=shape, channels=(8, 16), blocks=1),
        "stage_2,mean",
        {"squared error": Adam(lr=5e-3), "logistic": Adam(lr=5e-3)},
        64,
    ),
    "vit": Network(
        lambda shape: ViT(shape=shape, patch=4, dim=32, depth=2, heads=2, head_dim=16, mlp=32, dropout=0.0),
        "norm",
        {"squared error": Adam(lr=5e-3), "logistic": Adam(lr=5e-3)},
        64,
    ),
}

LARGE = {
    "convnet": Network(
        lambda shape: ConvNet(shape=shape),
        "relu_4,active_2",
        {"squared error": SGD(lr=5e-4, momentum=0.9), "logistic": SGD(lr=4e-3, momentum=0.9)},
        128,
    ),
    "resnet": Network(
        lambda shape: ResNet(shape=shape),
        "stage_4,mean",
        {"squared error": Adam(lr=1e-3), "logistic": Adam(lr=1e-3)},
        128,
    ),
    "vit": Network(
        lambda shape: ViT(shape=shape),
        "norm",
        {"squared error": Adam(lr=1e-4), "logistic": Adam(lr=1e-4)},
        128,
    ),
}

FIT = {"squared error": 1.0, "logistic": 0.3}
"""Training loss above which a network has not learnt its pictures; the answers of addition have variance 5 to 13."""


def image_runs(scale: Scale, members: int | None) -> dict[str, Run]:
    """Most telling first: slopes and shortcuts near and far, then equivalence, architectures, and what lies between."""
    size = SIZES[scale]
    near, far = size.distances[0], size.distances[-1]
    ext, between = sets.addition("extrapolation"), sets.addition("interpolation")
    cd3, cd1 = sets.context(3, "logistic"), sets.context(1, "logistic")
    equal = sets.equivalence((5, 5), (4, 4), "logistic")
    wanted: list[tuple[str, str, SymbolicTask, int]] = [
        *(("convnet", "interpolation", between, d) for d in (near, far)),
        *(("convnet", "extrapolation", ext, d) for d in (near, far)),
        *(("convnet", "cd3", cd3, d) for d in (near, far)),
        *(("convnet", "equivalence", equal, d) for d in (near, far)),
        *(("convnet", "cd1", cd1, d) for d in (near, far)),
        ("resnet", "interpolation", between, 0),
        ("vit", "interpolation", between, 0),
        *(("convnet", "interpolation", between, d) for d in size.distances[1:-1]),
    ]
    return {f"{net}-{name}-d{d}": _run(net, symbolic, d, scale, members) for net, name, symbolic, d in wanted}


def _run(net: str, symbolic: SymbolicTask, distance: int, scale: Scale, members: int | None) -> TrainingRun:
    size = SIZES[scale]
    network = (LARGE if scale == "paper" else SMALL)[net]
    colour = net != "convnet"
    task = ImageTask(
        symbolic=symbolic,
        source=size.colour if colour else size.source,
        distance=distance,
        per_class=size.per_class,
        examples_seen=size.examples,
    )
    steps = size.short_steps if colour or symbolic.loss == "logistic" else size.steps
    return TrainingRun(
        task=task,
        model=network.model(task.shape),
        members=members or (size.colour_seeds if colour else size.seeds),
        steps=steps,
        batch_size=network.batch_size,
        optimizer=network.optimizer[symbolic.loss].replace(schedule=Cosine(steps=steps)),
        fit_below=FIT[symbolic.loss],
        measured=(
            Measured(measure="per_combination", arguments={"count": size.count}),
            Measured(measure="leak", arguments={"count": size.count}),
            Measured(measure="additivity", arguments={"count": size.count}),
            Measured(measure="salience", at=(0, -1), arguments={"layers": network.layers, "count": size.count}),
        ),
    )
