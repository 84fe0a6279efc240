"""The decoders of the study, each as it is or with a remedy, at three scales."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from recombine import models
from recombine.description import Description
from recombine.runs.training import Measured, TrainingRun
from recombine.studies.faithful import Faithful
from recombine.studies.study import Scale, Setting
from recombine.tasks import BumpTask, Encoding, Fourier, OneHot, Population, Ramp
from recombine.training import (
    AdamW,
    CoefficientEntropy,
    Cosine,
    MapVariance,
    NuclearNorm,
    Schedule,
    Together,
    VectorVariance,
)

PLAIN, STRIPES, FORCED, COORDINATES = "as it is", "stripes", "rendering forced", "coordinates"
LOW_RANK, NUCLEAR, EVEN = "low rank alone", "rendering forced, nuclear norm", "even vectors alone"

# Epochs × batches of 32: of 2000 draws (1000 in the notebook), or of the 624 and 588 combinations outside a corner.
SWEEP = Faithful(steps=20 * 63, members=1, size=("task.side", 28))
CNN_SWEEP = Faithful(steps=50 * 63, members=1, size=("task.side", 28))
NOTEBOOK = Faithful(steps=250 * 32, members=1, size=("model.channels", 256))
RAMP_NOTEBOOK = Faithful(steps=100 * 32, members=1, size=("model.channels", 128))
EMBEDDING = Faithful(steps=1000 * 20, members=1, size=("task.side", 32))
SPATIAL = Faithful(steps=2000 * 19, members=1, size=("task.side", 28))
NUCLEAR_WEIGHT = 0.01
"""Of .001, .01, .1 and 1 the largest with which small networks (side 8) fit as well as with the entropy."""


@dataclass(frozen=True)
class Kind:
    """A decoder, what it is given, the authors' own setting of it where they have one, at paper scale the layers and
    channels of a CNN and the hidden layers of a perceptron, whether the volume of the last hidden layer is mapped, and
    the weight of a nuclear norm."""

    title: str
    network: str
    code: Encoding = field(default_factory=OneHot)
    remedy: str = PLAIN
    faithful: Faithful | None = None
    depth: int = 4
    channels: int = 64
    hidden: int = 3
    mapped: bool = False
    nuclear: float = NUCLEAR_WEIGHT


KINDS = {
    "mlp-one-hot": Kind("perceptron, one-hot", "perceptron", mapped=True),
    "mlp-population": Kind("perceptron, population", "perceptron", Population(), faithful=SWEEP),
    "mlp-fourier": Kind("perceptron, Fourier", "perceptron", Fourier()),
    "mlp-ramp": Kind("perceptron, scaled coordinates", "perceptron", Ramp()),
    "mlp-ramp-scaled": Kind("perceptron, scaled coordinates", "perceptron", Ramp()),
    "mlp-ramp-long": Kind("perceptron, scaled coordinates, longer", "perceptron", Ramp()),
    "mlp-ramp-longer": Kind("perceptron, scaled coordinates, longer still", "perceptron", Ramp()),
    "mlp-ramp-deep": Kind("perceptron of 5 layers, scaled coordinates", "perceptron", Ramp(), hidden=5),
    "mlp-ramp-raw": Kind("perceptron, raw coordinates", "perceptron", Ramp(scaled=False), faithful=SWEEP),
    "mlp-ramp-raw-deep": Kind("perceptron of 6 layers, raw coordinates", "perceptron", Ramp(scaled=False),
                              faithful=SWEEP, hidden=6),
    "cnn": Kind("transposed CNN", "cnn", Population(), faithful=NOTEBOOK, mapped=True),
    "cnn-shallow": Kind("transposed CNN, 2 layers", "cnn", Population(), faithful=CNN_SWEEP, depth=2),
    "cnn-deep": Kind("transposed CNN, 8 layers", "cnn", Population(), faithful=CNN_SWEEP, depth=8),
    "cnn-box": Kind("transposed CNN, 9 × 9 box", "cnn", Population(), faithful=NOTEBOOK),
    "cnn-code-5": Kind("transposed CNN, 9 × 9 box, code of 5 times the variance", "cnn", Population(width=5**0.5),
                       faithful=NOTEBOOK),
    "cnn-code-11": Kind("transposed CNN, 9 × 9 box, code of 11 times the variance", "cnn", Population(width=11**0.5),
                        faithful=NOTEBOOK),
    "cnn-ramp": Kind("transposed CNN, 10 layers, raw coordinates", "cnn", Ramp(scaled=False), faithful=RAMP_NOTEBOOK,
                     depth=10, channels=128),
    "cnn-box-large": Kind("transposed CNN of the authors' size, 9 × 9 box", "cnn", Population(), faithful=NOTEBOOK,
                          depth=10, channels=256),
    "cnn-box-draws": Kind("transposed CNN of the authors' size, 9 × 9 box, fewer places", "cnn", Population(),
                          faithful=NOTEBOOK, depth=10, channels=256),
    "cnn-ramp-decay": Kind("transposed CNN, 10 layers, raw coordinates, weight decay", "cnn", Ramp(scaled=False),
                           faithful=RAMP_NOTEBOOK, depth=10, channels=128),
    "cnn-stripes": Kind("transposed CNN + stripes", "cnn", Population(), STRIPES),
    "transformer": Kind("pixel transformer", "transformer", Population(), faithful=SWEEP),
    "transformer-small": Kind("pixel transformer, side 14", "transformer", Population()),
    "transformer-shuffled": Kind("pixel transformer, side 14, positions shuffled", "shuffled transformer",
                                 Population()),
    "transformer-shuffled-long": Kind("pixel transformer, side 14, positions shuffled, longer", "shuffled transformer",
                                      Population()),
    "pixel": Kind("pixel decoder", "pixel"),
    "pixel-stripes": Kind("pixel decoder + stripes", "pixel", remedy=STRIPES),
    "pixel-variance": Kind("pixel decoder + variance penalty", "pixel", remedy=FORCED),
    "embedding": Kind("embedding CNN", "embedding", faithful=EMBEDDING),
    "embedding-regularised": Kind("embedding CNN + penalty", "embedding", remedy=FORCED, faithful=EMBEDDING),
    "embedding-rank": Kind("embedding CNN + low rank alone", "embedding", remedy=LOW_RANK),
    "embedding-even": Kind("embedding CNN + even vectors alone", "embedding", remedy=EVEN),
    "embedding-even-long": Kind("embedding CNN + even vectors alone, longer", "embedding", remedy=EVEN),
    "embedding-nuclear": Kind("embedding CNN + penalty by nuclear norm", "embedding", remedy=NUCLEAR),
    "embedding-nuclear-light": Kind("embedding CNN + penalty by a weaker nuclear norm", "embedding", remedy=NUCLEAR,
                                    nuclear=NUCLEAR_WEIGHT / 4),
    "embedding-nuclear-long": Kind("embedding CNN + penalty by a slight nuclear norm, longer", "embedding",
                                   remedy=NUCLEAR, nuclear=NUCLEAR_WEIGHT / 10),
    "stripe-decoder": Kind("hard rank-1 rendering", "stripe", remedy=FORCED),
    "coordinate": Kind("coordinate network", "coordinate", remedy=COORDINATES, faithful=SPATIAL, mapped=True),
}  # fmt: skip


class Training(NamedTuple):
    """A square, what is held out of it, and how long and at which rate a decoder is trained on it; the rate ``falls``
    along a cosine or stays. The embedding and the coordinate network have a ``decay`` of their own at paper scale."""

    side: int
    hole: int | tuple[float, float]
    steps: int
    lr: float
    batch: int = 32
    members: int = 8
    falls: bool = True
    decay: float = 0.0
    bumps: int | None = None


BOX, SMALL_BOX, HALF_BOX = (6.0, 22.0), (10.0, 18.0), (3.0, 10.0)
LARGE = ("cnn-deep", "cnn-shallow", "transformer", "mlp-ramp-scaled", "mlp-ramp-long", "mlp-ramp-raw", "cnn-ramp",
         "cnn-box", "cnn-code-5", "cnn-code-11", "embedding-rank", "cnn-box-large", "cnn-box-draws", "cnn-ramp-decay",
         "embedding-nuclear-light", "transformer-small", "transformer-shuffled", "embedding-even", "mlp-ramp-longer",
         "transformer-shuffled-long", "embedding-even-long", "embedding-nuclear-long", "mlp-ramp-deep",
         "mlp-ramp-raw-deep")  # fmt: skip
SMALL = [name for name in KINDS if name not in LARGE]
TRAININGS: dict[Scale, dict[str, Training]] = {
    "smoke": dict.fromkeys(SMALL, Training(8, 4, 12, 1e-2, 16, 2)),
    "quick": {
        **dict.fromkeys(("pixel", "pixel-variance", "pixel-stripes"), Training(16, 10, 1000, 1e-2, 16)),
        "stripe-decoder": Training(16, 10, 1000, 2e-2, 16),
        **dict.fromkeys(("mlp-one-hot", "mlp-population", "mlp-fourier"), Training(12, 8, 1000, 5e-3, 16)),
        "mlp-ramp": Training(8, 5, 1500, 5e-3, 16),
        "coordinate": Training(12, 6, 2000, 1e-2, 8),
        "cnn": Training(12, 8, 900, 5e-3, 10),
    },
    "paper": {
        **dict.fromkeys(("embedding", "embedding-regularised"), Training(32, 12, 20_000, 1e-3, falls=False)),
        "coordinate": Training(28, 14, 37_000, 1e-3),
        **dict.fromkeys(("cnn", "cnn-stripes"), Training(28, BOX, 3000, 1e-3)),
        **dict.fromkeys(("pixel", "pixel-variance", "pixel-stripes"), Training(28, BOX, 5000, 3e-3)),
        "stripe-decoder": Training(28, BOX, 5000, 1e-2),
        **dict.fromkeys(("mlp-one-hot", "mlp-population", "mlp-fourier"), Training(28, BOX, 8000, 1e-3)),
        **dict.fromkeys(("mlp-ramp-scaled", "mlp-ramp-raw"), Training(28, BOX, 20_000, 1e-3)),
        **dict.fromkeys(("mlp-ramp-long", "mlp-ramp-deep", "mlp-ramp-raw-deep"), Training(28, BOX, 100_000, 1e-3)),
        "transformer": Training(28, BOX, 8000, 3e-4, members=5),
        **dict.fromkeys(("cnn-deep", "cnn-shallow"), Training(28, BOX, 3000, 1e-3, members=4)),
        **dict.fromkeys(("cnn-box", "cnn-code-5", "cnn-code-11"), Training(28, SMALL_BOX, 3000, 1e-3)),
        "cnn-ramp": Training(28, BOX, 3200, 1e-3, members=5, falls=False),
        **dict.fromkeys(
            ("embedding-rank", "embedding-nuclear", "embedding-nuclear-light", "embedding-even"),
            Training(32, 12, 20_000, 1e-3, falls=False),
        ),
        "cnn-ramp-decay": Training(28, BOX, 3200, 1e-3, members=5, falls=False, decay=1e-3),
        **dict.fromkeys(("transformer-small", "transformer-shuffled"), Training(14, HALF_BOX, 8000, 3e-4)),
        # For what had not fitted.
        "mlp-ramp-longer": Training(28, BOX, 300_000, 1e-3),
        "transformer-shuffled-long": Training(14, HALF_BOX, 32_000, 3e-4),
        **dict.fromkeys(("embedding-even-long", "embedding-nuclear-long"), Training(32, 12, 40_000, 1e-3)),
        "cnn-box-large": Training(28, SMALL_BOX, 8000, 1e-3, members=3, falls=False, decay=1e-3),
        "cnn-box-draws": Training(28, SMALL_BOX, 8000, 1e-3, members=5, falls=False, decay=1e-3, bumps=534),
    },
}


def network_settings(scale: Scale, members: int | None) -> dict[str, Setting]:
    """Every kind that the scale has, the telling ones first."""
    return {name: _setting(KINDS[name], at, scale == "paper", members) for name, at in TRAININGS[scale].items()}


def _setting(kind: Kind, at: Training, paper: bool, members: int | None) -> Setting:
    corner = paper and kind.network in ("embedding", "coordinate")
    # The small CNN without stripes has the simpler code: it fits in seconds.
    code = kind.code if paper or kind.network != "cnn" or kind.remedy == STRIPES else OneHot()
    task = BumpTask(
        side=at.side, sigma=1.5 if paper and kind.network == "embedding" else 1.0, encoding=code,
        holdout="ell" if corner else "donut", hole=at.hole, bumps=at.bumps,
        stripes=(20 if paper else 4) * at.side if kind.remedy == STRIPES else 0,
    )  # fmt: skip
    model, hidden = _model(kind, task, paper)
    penalty = _penalty(kind, at.side)
    schedule = Cosine(steps=at.steps, floor=0.02) if at.falls else Schedule()
    run = TrainingRun(
        task=task, model=model, members=members or at.members, steps=at.steps, batch_size=at.batch,
        optimizer=AdamW(lr=at.lr, weight_decay=1e-4 if corner else at.decay, schedule=schedule),
        penalty=penalty, penalty_weight=1.0 if penalty else 0.0, measured=_measured(kind, at.steps, hidden, paper),
    )  # fmt: skip
    return Setting(run, {"kind": kind.title, "remedy": kind.remedy, "side": at.side}, kind.faithful)


def _model(kind: Kind, task: BumpTask, paper: bool) -> tuple[Description, list[str]]:
    """The network, and its first and last hidden layer."""
    of = {"side": task.side, "inputs": 2 * task.encoding.size(task.side)}
    match kind.network:
        case "perceptron":
            # The pictures that a perceptron draws span no more directions than its last hidden layer has units, and
            # one: with the paper's 256 a fit of .01 of a blank picture's error is hardly to be reached.
            ramp = isinstance(kind.code, Ramp)
            hidden = (512 if paper else 96,) * (kind.hidden if paper or ramp else 2)
            widths = (of["inputs"], *hidden, task.side**2)
            return models.Perceptron(widths=widths), ["1", f"{2 * len(hidden) - 1}"]
        case "cnn":
            depth, channels = (kind.depth, kind.channels) if paper else (2, 16)
            return models.TransposedCNN(**of, channels=channels, depth=depth), ["relu_0", f"relu_{depth}"]
        case "embedding":
            start = "small" if paper else "standard"
            return models.EmbeddingCNN(side=task.side, start=start), ["cnn.0", "cnn.4"]
        case "transformer" | "shuffled transformer":
            less = {} if task.side == 28 else {"feed_forward": 256}
            shuffled = kind.network != "transformer"
            return models.PixelTransformer(**of, **less, shuffled=shuffled), ["context", "layers.layer_2"]
        case "coordinate":
            return models.CoordinateNetwork(**of, width=128 if paper else 16), ["layers.act_1", "layers.act_2"]
        case "stripe":
            return models.StripeDecoder(**of, channels=2, hidden=32), ["pixel.0", "pixel.1"]
    return models.PixelDecoder(**of, channels=4 if paper else 6), ["seed", "pixel.1"]


def _penalty(kind: Kind, side: int) -> Description | None:
    if kind.remedy not in (FORCED, LOW_RANK, NUCLEAR, EVEN) or kind.network == "stripe":
        return None
    if kind.network == "pixel":
        return MapVariance(side=side)
    # The paper's .1 and .01 are sums over 2·side levels and 4·side² vectors; ours are means.
    rank = (kind.nuclear, NuclearNorm()) if kind.remedy == NUCLEAR else (0.1 * 2 * side, CoefficientEntropy())
    stripe = (0.01 * 4 * side**2, VectorVariance())
    return Together(parts={LOW_RANK: (rank,), EVEN: (stripe,)}.get(kind.remedy, (rank, stripe)))


def _measured(kind: Kind, steps: int, hidden: list[str], paper: bool) -> tuple[Measured, ...]:
    attention, few = kind.network.endswith("transformer"), 8 if paper else 12
    layers = ",".join(["input", *hidden, "output", *([] if attention else ["tangent"])])
    taken: dict[str, dict[str, float | int | str]] = {
        "factorization": {"layers": layers, "where": "all,seen", "tangent_levels": 6},
        "superposition": {"most": few}, "transport": {"most": few}, "probes": {"layers": f"input,{hidden[-1]}"},
        "drawing": {}, **({"embedding": {}} if kind.network in ("pixel", "stripe", "embedding") else {}),
        **({"geometry": {"layers": hidden[-1]}} if kind.mapped else {}),
    }  # fmt: skip
    # Attention over all pixels of all combinations at once would take tens of gigabytes.
    chunk: dict[str, float | int | str] = {"chunk": 128} if attention else {}
    along = Measured(measure="rendering", at=(1, steps // 16, steps // 4, -1), arguments=chunk)
    return (along, *(Measured(measure=name, arguments=arguments) for name, arguments in taken.items()))
