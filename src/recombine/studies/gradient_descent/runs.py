"""The runs of the study, at three scales, the most important first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from recombine.description import Description
from recombine.models import PairCNN, Perceptron, Seq2Seq, Transformer
from recombine.runs import Run
from recombine.runs.evolution import EvolutionRun
from recombine.runs.training import Measured, TrainingRun
from recombine.studies import gradient_toy
from recombine.studies.study import Scale
from recombine.tasks import DigitPairs, ScanTask, Task, ToyBoth, ToyTask
from recombine.training import SGD, Adam, Exponential, Optimizer
from recombine.training.remedies import (
    Charged,
    ComponentDropout,
    GradientPenalty,
    GroupBalanced,
    NoisyRepresentation,
    TwoStream,
)
from recombine.training.sign import SignSGD

STRENGTHS = (0.0, 0.5, 0.75, 0.9, 0.95, 1.0)
BOUND = 0.9
"""The strength at which group-balanced sampling has something to balance: a tenth of the examples is free."""

DIGIT_OPTIMIZERS: dict[str, dict[str, Optimizer]] = {
    "digits": {
        "sgd": SGD(lr=0.1),
        "momentum": SGD(lr=0.02, momentum=0.9),
        "adam": Adam(lr=0.003),
        "sign": SignSGD(lr=0.001),
    },
    "mnist": {
        "sgd": SGD(lr=0.1),
        "momentum": SGD(lr=0.01, momentum=0.9),
        "adam": Adam(lr=0.001),
        "sign": SignSGD(lr=0.0002),
    },
}
"""Rates at which each optimiser gets there within a few hundred steps, for the perceptron and for the CNN."""

TOY_OPTIMIZERS: dict[str, Optimizer] = {
    "sgd": SGD(lr=0.1),
    "momentum": SGD(lr=0.03, momentum=0.9),
    "adam": Adam(lr=0.01),
    "sign": SignSGD(lr=0.003),
}
DIGIT_LOSS, TOY_LOSS = 0.15, 0.1
"""Training losses (hinge, cross entropy) at which every optimiser stops: compared at equal loss, not equal steps."""

SLACK = 1.001
"""A member that stopped below the loss has a tail mean of that loss, up to rounding."""


@dataclass(frozen=True)
class _Size:
    """How large the experiments are at a scale."""

    source: Literal["digits", "mnist"]
    pairs: int
    """Members of the main experiment, and of the sweeps and comparisons below."""
    swept: int
    model: PairCNN
    lr: float
    steps: int
    stop_steps: int
    scan_members: int
    scan_steps: int
    scan_batch: int
    longest: int
    paired: bool
    toy: int
    evolved: int
    both_steps: int
    asked: int
    """Examples of each view."""


def _size(scale: Scale, members: int | None) -> _Size:
    perceptron = PairCNN(shape=(1, 8, 16), convolutions=0)
    if scale == "paper":
        size = _Size("mnist", 64, 32, PairCNN(), 1e-3, 200, 600, 8, 2000, 256, 48, True, 256, 128, 1024, 512)
    elif scale == "quick":
        size = _Size("digits", 32, 16, perceptron, 3e-3, 200, 1500, 8, 120, 16, 8, False, 32, 32, 1024, 512)
    else:
        size = _Size("digits", 3, 4, perceptron, 3e-3, 60, 200, 3, 12, 8, 3, False, 8, 4, 64, 64)
    if members is None:
        return size
    counts = dict.fromkeys(("pairs", "swept", "scan_members", "toy", "evolved"), members)
    return _Size(**(vars(size) | counts))


def runs(scale: Scale, members: int | None) -> Mapping[str, Run]:
    """Digit pairs, SCAN, the toy with its runs of the study `gradient-toy`, then sweeps, optimisers and remedies."""
    size = _size(scale, members)
    a = DigitPairs(source=size.source)
    found: dict[str, Run] = {
        "one-step-a": _one_step("redundant", size),
        "one-step-b": _one_step("uninformative", size),
    }
    found |= {f"toy-{name}": run for name, run in gradient_toy.runs(scale, members).items()}
    found |= {
        "pair-a": _pair(a, size),
        "pair-b": _pair(a.replace(strength=0.0), size),
        "pair-noise": _pair(a.replace(other="noise"), size),
        "pair-blank": _pair(a.replace(other="blank"), size),
        "scan-a": _scan("given", size),
        "scan-b": _scan("uniform", size),
        "scan-apart": _scan("apart", size),
        "scan-without": _scan("without", size),
        "both-a": _both("redundant", size),
        "both-b": _both("uninformative", size),
    }
    if scale != "smoke":
        found |= {
            "transformer-a": _scan("given", size, Transformer()),
            "transformer-b": _scan("uniform", size, Transformer()),
        }
    found |= {f"strength-{s:g}": _swept(a.replace(strength=s), size.model, size) for s in STRENGTHS}
    for name, optimizer in DIGIT_OPTIMIZERS[size.source].items():
        found |= {
            f"optimizer-{name}-a": _stopped(a, optimizer, size),
            f"optimizer-{name}-b": _stopped(a.replace(strength=0.0), optimizer, size),
        }
    for name, optimizer in TOY_OPTIMIZERS.items():
        found |= {
            f"equal-{name}-a": _toy_stopped("redundant", optimizer, size),
            f"equal-{name}-b": _toy_stopped("uninformative", optimizer, size),
        }
    found |= {"equal-evolution-a": _evolved("redundant", size), "equal-evolution-b": _evolved("uninformative", size)}
    found |= _remedies(a, size)
    return found | (_three(a, size) if size.source == "mnist" else {})


def _three(a: DigitPairs, size: _Size) -> dict[str, Run]:
    """Three convolutions, as section 5.1 counts them; the bundled digits are too small for these."""
    three = PairCNN(convolutions=3)
    return {"three-a": _pair(a, size, three), "three-b": _pair(a.replace(strength=0.0), size, three)}


def _pair(task: DigitPairs, size: _Size, model: PairCNN | None = None) -> TrainingRun:
    at = (*(step for step in (0, 10, 20, 40, 60, 80, 100, 150) if step < size.steps), size.steps)
    few = (*(step for step in (0, 5, 10, 20, 50) if step < size.steps), size.steps)
    return TrainingRun(
        task=task,
        model=model or size.model,
        members=size.pairs,
        steps=size.steps,
        batch_size=64,
        optimizer=Adam(lr=size.lr),
        fit_below=0.6,
        measured=(
            Measured(measure="views", at=at, arguments={"count": size.asked}),
            Measured(measure="swap", at=few, arguments={"count": size.asked}),
            Measured(measure="component_influence", at=few, arguments={"count": size.asked // 4}),
            Measured(measure="information", arguments={"count": 4 * size.asked}),
            Measured(measure="variance", arguments={"count": 8}),
            Measured(measure="snap", arguments={"count": 8}),
            Measured(measure="hard_answer", arguments={"count": 512}),
        ),
    )


def _swept(task: Task, model: Description, size: _Size) -> TrainingRun:
    ends = (Measured(measure="views", arguments={"count": 1024}), Measured(measure="swap", arguments={"count": 512}))
    return TrainingRun(
        task=task, model=model, members=size.swept, steps=size.steps, batch_size=64,
        optimizer=Adam(lr=size.lr), fit_below=0.6, measured=ends,
    )  # fmt: skip


def _stopped(task: Task, optimizer: Optimizer, size: _Size) -> TrainingRun:
    return TrainingRun(
        task=task, model=size.model, members=size.swept, steps=size.stop_steps, batch_size=64,
        optimizer=optimizer, stop_below=DIGIT_LOSS, fit_below=DIGIT_LOSS * SLACK,
        measured=(Measured(measure="views", arguments={"count": 1024}),),
    )  # fmt: skip


def _toy_stopped(second: Any, optimizer: Optimizer, size: _Size) -> TrainingRun:
    return TrainingRun(
        task=ToyTask(second=second), model=_TOY, members=size.toy, steps=2048, batch_size=256, optimizer=optimizer,
        stop_below=TOY_LOSS, fit_below=TOY_LOSS * SLACK,
        measured=(Measured(measure="views", arguments={"count": 2048}),),
    )  # fmt: skip


def _evolved(second: Any, size: _Size) -> EvolutionRun:
    return EvolutionRun(
        task=ToyTask(second=second), model=_TOY, members=size.evolved, generations=1024, stop_below=TOY_LOSS,
        measured=(Measured(measure="views", arguments={"count": 2048}),),
    )  # fmt: skip


def _one_step(second: Any, size: _Size) -> TrainingRun:
    return TrainingRun(
        task=ToyTask(second=second), model=_TOY, members=size.toy, steps=1, batch_size=10, optimizer=SGD(lr=0.1),
        measured=(Measured(measure="one_step", at=(0,)),),
    )  # fmt: skip


def _both(other: Any, size: _Size) -> TrainingRun:
    ends = ("views", "snap")
    return TrainingRun(
        task=ToyBoth(other=other), model=_TOY.replace(widths=(2, 8, 8, 8, 4)), members=size.toy, steps=size.both_steps,
        batch_size=10, optimizer=SGD(lr=0.1), fit_below=0.5,
        measured=(
            Measured(measure="step_matrix", at=(0,)),
            *(Measured(measure=name, arguments={"count": 1024}) for name in ends),
        ),
    )  # fmt: skip


def _scan(words: Any, size: _Size, model: Description | None = None) -> TrainingRun:
    early: tuple[int, ...] = (0, 5, 10, 15, 20, 25, 35, 50, 75, 100, 150, 200, 300, 400, 600, 800, 1000, 1500)
    transformer = isinstance(model, Transformer)
    if transformer and not size.paired:
        early = (0, 50)  # Asking costs as much as training here, and its curve is no claim's.
    at = (*(step for step in early if step < size.scan_steps), size.scan_steps)
    return TrainingRun(
        task=ScanTask(words=words, longest=size.longest, pairs=size.paired),
        model=model or Seq2Seq(),
        members=size.scan_members,
        steps=size.scan_steps,
        batch_size=size.scan_batch,
        optimizer=Adam(lr=0.002 if transformer else 0.01, schedule=Exponential(factor_each=0.96, every=100)),
        fit_below=0.25,
        measured=(Measured(measure="views", at=at, arguments={"count": 512 if size.paired else 256}),),
    )


def _remedies(a: DigitPairs, size: _Size) -> dict[str, Run]:
    model, (channels, height, width) = size.model, size.model.shape
    entries = channels * height * width // 2
    bound = a.replace(strength=BOUND)
    return {
        "remedy-dropout": _swept(ComponentDropout(task=a), model, size),
        "remedy-noise": _swept(Charged(task=a, outputs=10, numbers=64), NoisyRepresentation(model=model), size),
        "remedy-gradient": _swept(
            Charged(task=a, outputs=10, numbers=entries, weight=1.0),
            GradientPenalty(model=model, start=width // 2, stop=width),
            size,
        ),
        "remedy-streams": _swept(a, TwoStream(model=model), size),
        "remedy-balanced": _swept(GroupBalanced(task=bound), model, size),
    }


_TOY = Perceptron(widths=(2, 8, 8, 8, 2), start="playground")
