"""What is trained: pairs of digits, SCAN and the toy, with redundant and uninformative inputs, and what is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import polars as pl

from recombine.description import Description
from recombine.models import PairCNN, Perceptron, Seq2Seq, Transformer
from recombine.runs import StoredRun
from recombine.runs.training import Measured, TrainingRun
from recombine.studies.faithful import Faithful
from recombine.studies.gradient_descent.evolution import EvolutionRun
from recombine.studies.gradient_descent.steps import EARLY, at_rate, several_steps
from recombine.studies.study import Rows, Setting
from recombine.studies.tables import beside, last
from recombine.tasks import DigitPairs, ScanTask, Task, ToyBoth, ToyTask
from recombine.training import SGD, Adam, Exponential, Optimizer, remedies
from recombine.training.sign import SignSGD

STRENGTHS = (0.0, 0.5, 0.75, 0.9, 0.95, 1.0)
BOUND = 0.9
"""The strength at which group-balanced sampling has something to balance: a tenth of the examples is free."""

DIGIT_OPTIMIZERS: dict[str, dict[str, Optimizer]] = {
    "digits": {"SGD": SGD(lr=0.1), "momentum": SGD(lr=0.02, momentum=0.9), "Adam": Adam(lr=0.003),
               "sign": SignSGD(lr=0.001)},
    "mnist": {"SGD": SGD(lr=0.1), "momentum": SGD(lr=0.01, momentum=0.9), "Adam": Adam(lr=0.001),
              "sign": SignSGD(lr=0.0002)},
}  # fmt: skip
"""Rates at which each optimiser gets there within a few hundred steps, for the perceptron and for the CNN."""
TOY_OPTIMIZERS: dict[str, Optimizer] = {
    "SGD": SGD(lr=0.1), "momentum": SGD(lr=0.03, momentum=0.9), "Adam": Adam(lr=0.01), "sign": SignSGD(lr=0.003),
}  # fmt: skip
EVOLUTION = "evolution (no gradient)"

DIGIT_LOSS, TOY_LOSS = 0.15, 0.1
"""Training losses (hinge, cross entropy) at which every optimiser stops: compared at equal loss, not equal steps."""
FRESH, TOY_FRESH = {"stop_on": 1024, "stop_every": 5}, {"stop_on": 2048}
"""At paper scale the loss is that on fresh examples, which are the same for all and which nothing was chosen by."""
SLACK = 1.001
"""A member that stopped below the loss has a tail mean of that loss, up to rounding."""

TOY = Perceptron(widths=(2, 8, 8, 8, 2), start="playground")
TOY_BOTH = TOY.replace(widths=(2, 8, 8, 8, 4))
STREAMS_FREE = "two streams, X₂ uninformative (B)"
UNTREATED, STREAMS, NOISE, DROPOUT, GRADIENT, FREE, LOOSE, BALANCED = (
    "none (A)", "two streams", "noise on the representation", "component dropout", "gradient penalty",
    "X₂ uninformative (B)", "none, 90 % bound", "group-balanced, 90 % bound",
)  # fmt: skip
CONTROLS = {1.0: UNTREATED, 0.0: FREE, BOUND: LOOSE}


@dataclass(frozen=True)
class Size:
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
    toy: int
    evolved: int
    both_steps: int
    asked: int
    """Examples of each view."""
    transformers: bool = True

    @property
    def paper(self) -> bool:
        return self.source == "mnist"


_PERCEPTRON = PairCNN(shape=(1, 8, 16), convolutions=0)
SCALES = {
    "smoke": Size("digits", 3, 4, _PERCEPTRON, 3e-3, 60, 200, 3, 8, 8, 3, 8, 4, 32, 64, transformers=False),
    "quick": Size("digits", 32, 16, _PERCEPTRON, 3e-3, 200, 1500, 8, 120, 16, 8, 32, 32, 1024, 512),
    "paper": Size("mnist", 64, 32, PairCNN(start="tensorflow"), 1e-3, 200, 1200, 8, 2000, 256, 48, 256, 128, 1024, 512),
}


def settings(size: Size, members: int | None) -> Mapping[str, Setting]:
    """One step of the toy, digit pairs, SCAN, the toy with both answers, then sweeps, optimisers and remedies."""
    if members is not None:
        size = replace(size, pairs=members, swept=members, scan_members=members, toy=members, evolved=members)
    a = DigitPairs(source=size.source)
    b = a.replace(strength=0.0)
    found = {
        "one-step-a": _one_step("redundant", size, "A: X₂ redundant"),
        "one-step-b": _one_step("uninformative", size, "B: X₂ uninformative"),
        "pair-a": _pair(a, size, "A: X₂ redundant"),
        "pair-b": _pair(b, size, "B: X₂ uninformative"),
        "pair-noise": _pair(a.replace(other="noise"), size, "B′: X₂ noise"),
        "pair-blank": _pair(a.replace(other="blank"), size, "B′: X₂ blank"),
        "scan-a": _scan("given", size, "A: words as given"),
        "scan-b": _scan("uniform", size, "B: words uniform"),
        "scan-apart": _scan("apart", size, "B′: “jump” kept apart"),
        "scan-without": _scan("without", size, "B′: “jump” never shown"),
        **({"scan-new": _scan("new", size, "B by appendix B: “jump” alone redrawn")} if size.paper else {}),
        "both-a": _both("redundant", size, "A: other input redundant"),
        "both-b": _both("uninformative", size, "B: other input uninformative"),
    }
    if size.transformers:
        found["transformer-a"] = _scan("given", size, "A, transformer", Transformer())
        found["transformer-b"] = _scan("uniform", size, "B, transformer", Transformer())
    found |= {
        f"strength-{s:g}": _swept(a.replace(strength=s), size.model, size, CONTROLS.get(s), strength=s)
        for s in STRENGTHS
    }
    for name, optimizer in DIGIT_OPTIMIZERS[size.source].items():
        found |= {
            f"optimizer-{name.lower()}-{side.lower()}": _stopped(task, name, optimizer, size, side)
            for side, task in (("A", a), ("B", b))
        }
    sides = (("A", "redundant"), ("B", "uninformative"))
    for name, optimizer in TOY_OPTIMIZERS.items():
        found |= {f"equal-{name.lower()}-{side.lower()}": _toy_stopped(second, name, optimizer, size, side)
                  for side, second in sides}  # fmt: skip
    found |= {f"equal-evolution-{side.lower()}": _evolved(second, size, side) for side, second in sides}
    steps = size.both_steps if size.paper else min(EARLY, size.both_steps)
    found |= _remedies(a, size) | several_steps(TOY, TOY_BOTH, size.toy, steps)
    if size.paper:  # The bundled digits are too small for three convolutions.
        three = size.model.replace(convolutions=3)
        found["three-a"] = _pair(a, size, "A, three convolutions", three)
        found["three-b"] = _pair(b, size, "B, three convolutions", three)
    return found


def _pair(task: DigitPairs, size: Size, title: str, model: PairCNN | None = None) -> Setting:
    at = (*(step for step in (0, 10, 20, 40, 60, 80, 100, 150) if step < size.steps), size.steps)
    few = (*(step for step in (0, 5, 10, 20, 50) if step < size.steps), size.steps)
    run = TrainingRun(
        task=task, model=model or size.model, members=size.pairs, steps=size.steps, batch_size=64,
        optimizer=Adam(lr=size.lr), fit_below=0.6,
        measured=(
            Measured(measure="views", at=at, arguments={"count": size.asked}),
            Measured(measure="swap", at=few, arguments={"count": size.asked}),
            Measured(measure="component_influence", at=few, arguments={"count": size.asked // 4}),
            Measured(measure="information", arguments={"count": 4 * size.asked}),
            Measured(measure="variance", arguments={"count": 8}),
            Measured(measure="snap", arguments={"count": 8}),
            Measured(measure="hard_answer", arguments={"count": 512}),
        ),
    )  # fmt: skip
    return Setting(run, {"experiment": "pairs", "setting": title}, Faithful(steps=200, members=5))


def _swept(task: Task, model: Description, size: Size, remedy: str | None, strength: float | None = None) -> Setting:
    ends = (Measured(measure="views", arguments={"count": 1024}), Measured(measure="swap", arguments={"count": 512}))
    run = TrainingRun(
        task=task, model=model, members=size.swept, steps=size.steps, batch_size=64,
        optimizer=Adam(lr=size.lr), fit_below=0.6, measured=ends,
    )  # fmt: skip
    return Setting(run, {"strength": strength, "remedy": remedy})


def _stopped(task: Task, name: str, optimizer: Optimizer, size: Size, side: str) -> Setting:
    run = TrainingRun(
        task=task, model=size.model, members=size.swept, steps=size.stop_steps, batch_size=64,
        optimizer=optimizer, stop_below=DIGIT_LOSS, fit_below=DIGIT_LOSS * SLACK,
        measured=(Measured(measure="views", arguments={"count": 1024}),), **(FRESH if size.paper else {}),
    )  # fmt: skip
    return Setting(run, {"task": "digit pairs", "optimizer": name, "setting": side})


def _toy_stopped(second: Any, name: str, optimizer: Optimizer, size: Size, side: str) -> Setting:
    run = TrainingRun(
        task=ToyTask(second=second), model=TOY, members=size.toy, steps=2048, batch_size=256, optimizer=optimizer,
        stop_below=TOY_LOSS, fit_below=TOY_LOSS * SLACK,
        measured=(Measured(measure="views", arguments={"count": 2048}),), **(TOY_FRESH if size.paper else {}),
    )  # fmt: skip
    return Setting(run, {"task": "toy", "optimizer": name, "setting": side})


def _evolved(second: Any, size: Size, side: str) -> Setting:
    run = EvolutionRun(
        task=ToyTask(second=second), model=TOY, members=size.evolved, generations=4096 if size.paper else 1024,
        stop_below=TOY_LOSS, measured=(Measured(measure="views", arguments={"count": 2048}),),
        **(TOY_FRESH if size.paper else {}),
    )  # fmt: skip
    return Setting(run, {"task": "toy", "optimizer": EVOLUTION, "setting": side})


def _one_step(second: Any, size: Size, title: str) -> Setting:
    run = TrainingRun(
        task=ToyTask(second=second), model=TOY, members=size.toy, steps=1, batch_size=10, optimizer=SGD(lr=0.1),
        measured=(Measured(measure="one_step", at=(0,)),),
    )  # fmt: skip
    return Setting(run, {"experiment": "one step", "setting": title})


def _both(other: Any, size: Size, title: str) -> Setting:
    run = TrainingRun(
        task=ToyBoth(other=other), model=TOY_BOTH, members=size.toy, steps=size.both_steps,
        batch_size=10, optimizer=SGD(lr=0.1), fit_below=0.5,
        measured=(
            Measured(measure="step_matrix", at=(0,)),
            *(Measured(measure=name, arguments={"count": 1024}) for name in ("views", "snap")),
        ),
    )  # fmt: skip
    return Setting(run, {"experiment": "both", "setting": title})


def _scan(words: Any, size: Size, title: str, model: Description | None = None) -> Setting:
    early: tuple[int, ...] = (0, 5, 10, 15, 20, 25, 35, 50, 75, 100, 150, 200, 300, 400, 600, 800, 1000, 1500)
    if model is not None and not size.paper:
        early = (0, 50)  # Asking costs as much as training here, and its curve is no claim's.
    at = (*(step for step in early if step < size.scan_steps), size.scan_steps)
    asked: dict[str, Any] = {"count": 512 if size.paper else 256}
    measured = [Measured(measure="views", at=at, arguments=asked)]
    if size.paper:
        measured.append(Measured(measure="decoded", at=(0, 25, 100, 400, 1000, size.scan_steps), arguments=asked))
    run = TrainingRun(
        task=ScanTask(words=words, longest=size.longest, pairs=size.paper),
        model=model or Seq2Seq(), members=size.scan_members, steps=size.scan_steps, batch_size=size.scan_batch,
        optimizer=Adam(lr=0.002 if model else 0.01, schedule=Exponential(factor_each=0.96, every=100)),
        fit_below=0.25, measured=tuple(measured),
    )  # fmt: skip
    faithful = None if model else Faithful(steps=2000, members=5, data=("batch_size", 256))
    return Setting(run, {"experiment": "scan", "setting": title}, faithful)


def _remedies(a: DigitPairs, size: Size) -> dict[str, Setting]:
    model, (channels, height, width) = size.model, size.model.shape
    half = channels * height * width // 2
    noisy = remedies.NoisyRepresentation(model=model)
    penalised = remedies.GradientPenalty(model=model, start=width // 2, stop=width)
    tried: dict[str, tuple[Task, Description, str]] = {
        "remedy-dropout": (remedies.ComponentDropout(task=a), model, DROPOUT),
        "remedy-noise": (remedies.Charged(task=a, outputs=10, numbers=64), noisy, NOISE),
        "remedy-gradient": (remedies.Charged(task=a, outputs=10, numbers=half, weight=1.0), penalised, GRADIENT),
        "remedy-streams": (a, remedies.TwoStream(model=model), STREAMS),
        "remedy-streams-free": (a.replace(strength=0.0), remedies.TwoStream(model=model), STREAMS_FREE),
        "remedy-balanced": (remedies.GroupBalanced(task=a.replace(strength=BOUND)), model, BALANCED),
    }
    return {name: _swept(task, learner, size, title) for name, (task, learner, title) in tried.items()}


def _of(experiment: str, table: str) -> Rows:
    """A table of the runs of one experiment."""
    return lambda run, setting: run.tables.get(table) if setting.labels.get("experiment") == experiment else None


def _dependence(run: StoredRun, _: Setting) -> pl.DataFrame:
    """Swap, influence and information of each digit, where they were taken."""
    keys = ["member", "component", "step"]
    known = run.table("information").select(*keys, "information", "plugin", "null")
    return beside(run.table("swap"), run.table("component_influence"), known, on=keys)


def _ends(label: str) -> Rows:
    """Accuracy on both views at the end of the runs that have a label, and the flips by X₂ where they were taken; one
    row per member."""

    def rows(run: StoredRun, setting: Setting) -> pl.DataFrame | None:
        if setting.labels.get(label) is None:
            return None
        wide = last(run.table("views")).pivot(on="view", index=["member", "step"], values="accuracy")
        ends = wide.select("member", "step", "trained", "unseen")
        if label == "optimizer":
            ends = beside(ends, run.table("members").select("member", "final_loss"))
        if "swap" not in run.tables:
            return ends
        return beside(ends, run.table("swap").filter(pl.col("component") == "digit_2").select("member", "flip"))

    return rows


TABLES: dict[str, Rows] = {
    "pairs": _of("pairs", "views"),
    "scan": _of("scan", "views"),
    "decoded": "decoded",
    "dependence": (_dependence, "swap", "component_influence", "information"),
    "parts": "variance",
    "wrong": _of("pairs", "snap"),
    "hard": "hard_answer",
    "one_step": "one_step",
    "both": _of("both", "views"),
    "both_step": "step_matrix",
    "both_answers": _of("both", "snap"),
    "strength": _ends("strength"),
    "remedies": _ends("remedy"),
    "optimizers": _ends("optimizer"),
    "steps": at_rate("one"),
    "rates": at_rate("other"),
}
