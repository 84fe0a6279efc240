"""The networks of the study: each kind of decoder with each remedy, at three scales."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from recombine.description import Description
from recombine.models import (
    CoordinateNetwork,
    EmbeddingCNN,
    Perceptron,
    PixelDecoder,
    PixelTransformer,
    StripeDecoder,
    TransposedCNN,
)
from recombine.runs.training import Measured, TrainingRun
from recombine.studies.study import Scale
from recombine.tasks import BumpTask, Encoding, Fourier, OneHot, Population, Ramp
from recombine.training import AdamW, CoefficientEntropy, Cosine, MapVariance, Schedule, Together, VectorVariance

LABELS = {
    "mlp-one-hot": "perceptron, one-hot",
    "mlp-population": "perceptron, population",
    "mlp-fourier": "perceptron, Fourier",
    "mlp-ramp": "perceptron, ramp",
    "mlp-ramp-raw": "perceptron, raw ramp",
    "mlp-ramp-scaled": "perceptron, scaled ramp",
    "cnn": "transposed CNN",
    "cnn-shallow": "transposed CNN, 2 layers",
    "cnn-deep": "transposed CNN, 8 layers",
    "cnn-stripes": "transposed CNN + stripes",
    "transformer": "pixel transformer",
    "pixel": "pixel decoder",
    "pixel-stripes": "pixel decoder + stripes",
    "pixel-variance": "pixel decoder + variance penalty",
    "embedding": "embedding CNN",
    "embedding-regularised": "embedding CNN + penalty",
    "stripe-decoder": "hard rank-1 rendering",
    "coordinate": "coordinate network",
}

BATCH = 16
LAYERS = {"mlp": "1,3", "cnn": "relu_0,relu_2", "cnn-deep": "relu_0,relu_8", "pixel": "seed,pixel.1",
          "stripe": "pixel.0,pixel.1", "coordinate": "layers.act_1,layers.act_2", "embedding": "cnn.0,cnn.4",
          "transformer": "context,layers.layer_2"}  # fmt: skip
"""For each kind, its first and last hidden layer."""


@dataclass(frozen=True)
class Size:
    """A square, what is held out of it, and how long and at which rate a kind of network is trained on it."""

    side: int
    hole: int | tuple[float, float]
    steps: int
    lr: float
    members: int = 8
    batch: int = BATCH


def _all(side: int, hole: int, steps: int, members: int) -> dict[str, Size]:
    return dict.fromkeys(LABELS, Size(side, hole, steps, 1e-2, members))


PAPER = (6.0, 22.0)
NOT_SMOKE = ("cnn-deep", "cnn-shallow", "transformer", "mlp-ramp-raw", "mlp-ramp-scaled")
SIZES: dict[str, dict[str, Size]] = {
    "smoke": {k: v for k, v in _all(8, 4, 30, 2).items() if k not in NOT_SMOKE},
    "quick": {
        "pixel": Size(16, 10, 1000, 1e-2),
        "pixel-variance": Size(16, 10, 1000, 1e-2),
        "pixel-stripes": Size(16, 10, 1000, 1e-2),
        "stripe-decoder": Size(16, 10, 1000, 2e-2),
        "mlp-one-hot": Size(12, 8, 1000, 5e-3),
        "mlp-population": Size(12, 8, 1000, 5e-3),
        "mlp-fourier": Size(12, 8, 1000, 5e-3),
        "mlp-ramp": Size(8, 5, 1500, 5e-3),
        "coordinate": Size(12, 6, 2000, 1e-2, batch=8),
        "cnn": Size(12, 8, 900, 5e-3, batch=10),
    },
    "paper": {
        "embedding": Size(32, 12, 20_000, 1e-3, batch=32),
        "embedding-regularised": Size(32, 12, 20_000, 1e-3, batch=32),
        "coordinate": Size(28, 14, 37_000, 1e-3, batch=32),
        "cnn": Size(28, PAPER, 3000, 1e-3, batch=32),
        "cnn-stripes": Size(28, PAPER, 3000, 1e-3, batch=32),
        "pixel": Size(28, PAPER, 5000, 3e-3, batch=32),
        "pixel-variance": Size(28, PAPER, 5000, 3e-3, batch=32),
        "pixel-stripes": Size(28, PAPER, 5000, 3e-3, batch=32),
        "stripe-decoder": Size(28, PAPER, 5000, 1e-2, batch=32),
        "mlp-one-hot": Size(28, PAPER, 8000, 1e-3, batch=32),
        "mlp-population": Size(28, PAPER, 8000, 1e-3, batch=32),
        "mlp-fourier": Size(28, PAPER, 8000, 1e-3, batch=32),
        "mlp-ramp": Size(28, PAPER, 20_000, 1e-3, batch=32),
        "mlp-ramp-raw": Size(28, PAPER, 20_000, 1e-3, batch=32),
        "mlp-ramp-scaled": Size(28, PAPER, 20_000, 1e-3, batch=32),
        "transformer": Size(28, PAPER, 8000, 3e-4, 5, 32),
        "cnn-deep": Size(28, PAPER, 3000, 1e-3, 4, 32),
        "cnn-shallow": Size(28, PAPER, 3000, 1e-3, 4, 32),
    },
}
ENCODINGS: dict[str, Encoding] = {
    "mlp-population": Population(), "mlp-fourier": Fourier(), "mlp-ramp": Ramp(),
    "mlp-ramp-raw": Ramp(scaled=False), "mlp-ramp-scaled": Ramp(),
    "cnn": Population(), "cnn-stripes": Population(), "cnn-deep": Population(), "cnn-shallow": Population(),
    "transformer": Population(),
}  # fmt: skip
"""One-hot where nothing else is said; the paper's CNN and transformer take its bump code."""


def network_runs(scale: Scale, members: int | None) -> Mapping[str, TrainingRun]:
    """Every kind that the scale has, the telling ones first."""
    return {name: network(name, size, scale, members) for name, size in SIZES[scale].items()}


def network(name: str, size: Size, scale: Scale, members: int | None = None) -> TrainingRun:
    task, paper = task_of(name, size, scale), scale == "paper"
    penalty, weight = penalty_of(name, size.side, paper)
    decay = 1e-4 if paper and name.startswith(("embedding", "coordinate")) else 0.0
    constant = paper and name.startswith("embedding")
    schedule = Schedule() if constant else Cosine(steps=size.steps, floor=0.02)
    return TrainingRun(
        task=task,
        model=model_of(name, task, paper),
        members=members or size.members,
        steps=size.steps,
        batch_size=size.batch,
        optimizer=AdamW(lr=size.lr, weight_decay=decay, schedule=schedule),
        penalty=penalty,
        penalty_weight=weight,
        measured=_measured(name, size.steps, paper),
    )


def task_of(name: str, size: Size, scale: Scale) -> BumpTask:
    corner = scale == "paper" and name.startswith(("embedding", "coordinate"))
    quick_code = {"cnn": OneHot()} if scale != "paper" else {}
    return BumpTask(
        side=size.side,
        sigma=1.5 if corner and name.startswith("embedding") else 1.0,
        encoding=(ENCODINGS | quick_code).get(name, OneHot()),
        holdout="ell" if corner else "donut",
        hole=size.hole,
        stripes=(20 if scale == "paper" else 4) * size.side if name.endswith("-stripes") else 0,
    )


def model_of(name: str, task: BumpTask, paper: bool) -> Description:
    side = task.side
    inputs = 2 * task.encoding.size(side)
    if name.startswith("mlp"):
        ramp = "ramp" in name
        # The pictures that a perceptron draws span no more directions than its last hidden layer has units, and one:
        # with the paper's 256 a fit of .01 of a blank picture's error is hardly to be reached.
        hidden = [256 if name == "mlp-ramp" else 512] * 3 if paper else [96] * (3 if ramp else 2)
        return Perceptron(widths=(inputs, *hidden, side**2))
    if name.startswith("cnn"):
        depth = {"cnn-deep": 8, "cnn-shallow": 2}.get(name, 4 if paper else 2)
        return TransposedCNN(inputs=inputs, side=side, channels=64 if paper else 16, depth=depth)
    if name.startswith("embedding"):
        return EmbeddingCNN(side=side, start="small" if paper else "standard")
    if name == "transformer":
        return PixelTransformer(inputs=inputs, side=side)
    if name == "coordinate":
        return CoordinateNetwork(inputs=inputs, side=side, width=128 if paper else 16)
    if name == "stripe-decoder":
        return StripeDecoder(inputs=inputs, side=side, channels=2, hidden=32)
    return PixelDecoder(inputs=inputs, side=side, channels=4 if paper else 6)


def penalty_of(name: str, side: int, paper: bool) -> tuple[Description | None, float]:
    if name == "pixel-variance":
        return MapVariance(side=side), 1.0
    if name == "embedding-regularised":
        # The paper's .1 and .01 are sums over 2·side levels and 4·side² vectors; ours are means.
        entropy, variance = 0.1 * 2 * side, 0.01 * 4 * side**2
        return Together(parts=((entropy, CoefficientEntropy()), (variance, VectorVariance()))), 1.0
    return None, 0.0


def _measured(name: str, steps: int, paper: bool) -> tuple[Measured, ...]:
    kind = name if name in LAYERS else name.split("-")[0]
    hidden = LAYERS[kind].replace("relu_2", "relu_4") if paper and name in ("cnn", "cnn-stripes") else LAYERS[kind]
    if (paper and kind == "mlp") or name == "mlp-ramp":
        hidden = "1,5"
    tangent = "" if name == "transformer" else ",tangent"
    few = 8 if paper else 12
    taken = [
        # Attention over all pixels of all combinations at once would take tens of gigabytes.
        Measured(measure="rendering", at=(1, steps // 16, steps // 4, -1),
                 arguments={"chunk": 128} if name == "transformer" else {}),
        Measured(measure="factorization", arguments={
            "layers": f"input,{hidden},output{tangent}", "where": "all,seen", "tangent_levels": 6}),
        Measured(measure="superposition", arguments={"most": few}),
        Measured(measure="transport", arguments={"most": few}),
        Measured(measure="probes", arguments={"layers": f"input,{hidden.split(',')[-1]}"}),
        Measured(measure="drawing"),
    ]  # fmt: skip
    if name.startswith(("pixel", "stripe", "embedding")):
        taken.append(Measured(measure="embedding"))
    if name in ("mlp-one-hot", "cnn", "coordinate"):
        taken.append(Measured(measure="geometry", arguments={"layers": hidden.split(",")[-1]}))
    return tuple(taken)
