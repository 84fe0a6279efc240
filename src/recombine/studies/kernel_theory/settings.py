"""What is computed at which scale: exact kernel machines, dense networks from rich to lazy, deep ones, image networks.

Quick scale shows scikit-learn's 8 × 8 digits to small networks; paper scale shows MNIST and a part of CIFAR-10 to the
paper's own, for fewer steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any, Literal, NamedTuple

import numpy as np

from recombine.description import Description
from recombine.kernels import Kernel, ReLU, nngp, problems
from recombine.models import ConvNet, Dense, ResNet, ViT
from recombine.runs.kernel import KernelRun, simplex
from recombine.runs.training import Measured, TrainingRun
from recombine.studies.faithful import Faithful
from recombine.studies.kernel_theory import plane, sets
from recombine.studies.study import Scale, Setting
from recombine.tasks import ImageTask, PerMember, SymbolicTask
from recombine.tasks.data import Source
from recombine.tasks.symbolic import Loss
from recombine.training import SGD, Adam, Cosine, Optimizer

Saliences = tuple[tuple[float, ...], ...]
LOSSES: dict[str, Loss] = {"squared": "squared error", "logistic": "logistic"}
FIT: dict[Loss, float] = {"squared error": 1e-3, "logistic": 0.02}
IMAGE_FIT: dict[Loss, float] = {"squared error": 1.0, "logistic": 0.3}
"""Training loss above which a network has not learnt its pictures; answers to seen pairs have variance 6 to 22."""
TINY_STEPS = 400
"""Sets of two or three pairs stop within 160 steps; a low bound makes theirs the run that `verify` trains again."""
CONTEXTS = ("cd1", "cd2", "cd3")
FEW_ANCHORS = "equivalence-1"
"""One anchor of each class; the paper prints the mean with four of each."""
IMAGE_STEPS = dict.fromkeys(CONTEXTS, 23_500) | dict.fromkeys(("equivalence", FEW_ANCHORS), 23_550)
"""The paper's, where they are not 100 passes over 20 000 pictures in batches of 128: 30 000 pictures, or 150 passes."""
BETWEEN = (5, 10, 15)
"""The paper's distances between near and far."""
COLOUR = {"resnet": (4000, 31_300), "vit": (10_000, 62_600), "vit-long": (30_000, 62_600)}
"""Steps of ours and of the paper's on CIFAR-10."""
COLOUR_PER_CLASS = 360
"""Images that the part of CIFAR-10 has for each of three places."""


@dataclass(frozen=True)
class Size:
    """What the scales differ in; the paper's is written here."""

    widths: tuple[int, int, int] = (1000, 10_000, 1000)  # on addition and order, equivalence, context dependence
    scales: tuple[float, ...] = (1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6)
    seeds: int = 6
    lazy_seeds: tuple[int, int] = (24, 200)  # at σ = 1, where the start adds noise; on two or three pairs
    steps: Mapping[Loss, int] = field(default_factory=lambda: {"squared error": 20_000, "logistic": 5000})
    contexts: Mapping[Loss, tuple[int, ...]] = field(default_factory=lambda: dict.fromkeys(FIT, (3, 2, 1)))
    deep_tasks: tuple[str, ...] = ("equivalence", "interpolation", "cd3")
    depths: tuple[int, ...] = (1, 2, 3, 4)
    deep_lr: float = 1e-4
    deep_steps: int = 40_000
    distances: tuple[int, int] = (0, 20)
    image_seeds: tuple[int, int] = (10, 3)  # on grey and on colour images
    image_steps: tuple[int, int] = (5233, 2350)  # on addition, where answers are ±1
    per_class: int = 200
    examples: int = 0  # the paper's, unless given
    count: int = 32  # held-out pictures of each combination in a measure
    small: bool = False  # small networks on digits, fewer tasks for dense ones
    thin: bool = False  # fewer kernels


SOME: dict[Loss, tuple[int, ...]] = {"squared error": (3,), "logistic": (3, 1)}
SIZES: dict[Scale, Size] = {
    "smoke": Size(
        (64, 64, 64), (1.0, 0.1, 1e-3), 2, (3, 8), {"squared error": 400, "logistic": 10}, SOME, ("equivalence",),
        (1, 2), 3e-3, 10, (0, 6), (2, 2), (10, 10), per_class=30, examples=500, count=4, small=True, thin=True,
    ),
    "quick": Size(
        (500, 1000, 300), (1.0, 0.1, 0.01, 1e-6), 3, (12, 160), {"squared error": 4000, "logistic": 1000}, SOME,
        ("equivalence", "interpolation"), (1, 2, 3, 4), 1e-3, 4000, (0, 6), (5, 3), (300, 300), per_class=35,
        examples=2000, count=16, small=True,
    ),
    "paper": Size(),
}  # fmt: skip


class Network(NamedTuple):
    """How an image network is built for a shape of input, and trained by each loss; the readout sees its last layer."""

    family: str
    model: Callable[..., Description]
    layers: tuple[str, ...]
    squared: Optimizer
    logistic: Optimizer


SMALL = {
    "convnet": Network("ConvNet", partial(ConvNet, filters=(8, 16), kernel=3, dense=(64,)), ("relu_2", "active_1"),
                       SGD(lr=0.006, momentum=0.9), SGD(lr=0.02, momentum=0.9)),
    "resnet": Network("ResNet", partial(ResNet, channels=(8, 16), blocks=1), ("stage_2", "mean"),
                      Adam(lr=5e-3), Adam(lr=5e-3)),
    "vit": Network("ViT", partial(ViT, patch=4, dim=32, depth=2, heads=2, head_dim=16, mlp=32, dropout=0.0), ("norm",),
                   Adam(lr=5e-3), Adam(lr=5e-3)),
}  # fmt: skip
PAPER_RATE = SGD(lr=1e-4, momentum=0.9)
"""Of ConvNets. Where answers are ±1 ours learn at twenty times that for a tenth of the steps, with as large a sum of
rates along a cosine."""
TENFOLD = SGD(lr=1e-3, momentum=0.9)
"""Held constant for a tenth of the steps it has the sum of rates of both: what of it is the cosine, what the rate."""
SLOW_MEMBERS = 5
"""ConvNets that are trained at that rate on signs too, for all of the paper's steps: the first five maps."""
MORE = (("interpolation", 0), ("interpolation", 5), ("interpolation", 20), ("extrapolation", 20), ("both", 0),
        ("asymmetric", 0), ("cd1", 0), ("cd2", 5), ("equivalence", 10), ("equivalence", 15))  # fmt: skip
"""Sets and distances with ten further maps, asked with trained images too: ten alone left intervals wider than what is
asked, or slopes below the published ones."""
PUBLISHED: dict[str, bool | Literal["split", "each", "own"]] = {
    "convnet-published": "each", "convnet-own": "own", "convnet-faithful": "own",
    "convnet-constant": "own", "convnet-digits": True, "convnet-split": "split",
}  # fmt: skip
"""Networks that see the paper's digits and split of images, with a map per component (drawn alike, or the paper's own
ten) or one for all, or its split."""
OWN = (("cd3", 5), ("cd3", 10), ("cd3", 20), ("equivalence", 10), ("asymmetric", 20))
"""Where maps drawn as the paper draws them leave our figure off what is published: its own ten maps are the rival."""
FAITHFUL = (("cd3", 10), ("equivalence", 10))
"""Where these are not why: the paper's maps, rate and steps together; and a tenth of the steps at a constant rate."""
ALL_STEPS = (("cd3", 5), ("cd3", 15), ("cd3", 20), ("equivalence", 5), ("equivalence", 15), ("cd2", 0))
"""Where the paper's maps, rate and steps together were trained later: figures that were missed, and what stood beside
them as reason had been tried at 10 pixels alone; and one that matched, perhaps by two deviations that cancel."""
ALL_STEPS_LATER = (("both", 20), ("interpolation", 20), ("extrapolation", 20), ("asymmetric", 20), ("both", 15),
                   (FEW_ANCHORS, 10), ("equivalence", 20), ("both", 10), ("both", 5), (FEW_ANCHORS, 5), ("both", 0),
                   ("equivalence", 0), ("asymmetric", 15), ("interpolation", 15), ("extrapolation", 15),
                   ("asymmetric", 10), ("interpolation", 10), ("extrapolation", 10), ("asymmetric", 5),
                   ("interpolation", 5), ("extrapolation", 5), ("asymmetric", 0), ("interpolation", 0),
                   ("extrapolation", 0), ("cd3", 0), ("cd1", 0), (FEW_ANCHORS, 0),
                   *product(("cd1", "cd2"), (10, 15, 20)), ("cd1", 5), ("cd2", 5))  # fmt: skip
"""Where they were trained last: every figure of ConvNets that was missed still, the ends of equivalence, the other
sums, which tell how slopes are read, then what was left of context dependence. Answers that are sums have slopes of
trained images too, as the paper's regression weighs them."""
BY_IMAGES = (*product(("cd1", "cd2"), (10, 15, 20)), ("cd1", 5), ("cd2", 5))
"""Where these are asked with trained images too, for accuracy and for additivity; the last two came later."""
FURTHER = ("both", "asymmetric")
"""Sets that were trained last beyond distance 0, and are asked with trained images too."""
LARGE = {
    "convnet": Network("ConvNet", ConvNet, ("relu_4", "active_2"),
                       PAPER_RATE, SGD(lr=2e-3, momentum=0.9)),
    "convnet-slow": Network("ConvNet at the paper's rate", ConvNet, ("relu_4", "active_2"), PAPER_RATE, PAPER_RATE),
    "convnet-more": Network("ConvNet", ConvNet, ("relu_4", "active_2"), PAPER_RATE, SGD(lr=2e-3, momentum=0.9)),
    "convnet-digits": Network("ConvNet on the paper's digits", ConvNet, ("relu_4", "active_2"),
                              PAPER_RATE, SGD(lr=2e-3, momentum=0.9)),
    "convnet-published": Network("ConvNet on the paper's maps", ConvNet, ("relu_4", "active_2"),
                                 PAPER_RATE, SGD(lr=2e-3, momentum=0.9)),
    "convnet-own": Network("ConvNet on the paper's own ten maps", ConvNet, ("relu_4", "active_2"),
                           PAPER_RATE, SGD(lr=2e-3, momentum=0.9)),
    "convnet-faithful": Network("ConvNet as the paper trains it", ConvNet, ("relu_4", "active_2"),
                                PAPER_RATE, PAPER_RATE),
    "convnet-constant": Network("ConvNet at a constant rate", ConvNet, ("relu_4", "active_2"), PAPER_RATE, TENFOLD),
    "convnet-split": Network("ConvNet on the paper's split", ConvNet, ("relu_4", "active_2"),
                             PAPER_RATE, SGD(lr=2e-3, momentum=0.9)),
    "resnet": Network("ResNet", ResNet, ("stage_4", "mean"), Adam(lr=1e-3), Adam(lr=1e-3)),
    "vit": Network("ViT", ViT, ("norm",), Adam(lr=1e-4), Adam(lr=1e-4)),
    "vit-long": Network("ViT, longer", ViT, ("norm",), Adam(lr=1e-4), Adam(lr=1e-4)),
}  # fmt: skip


def settings(size: Size, members: int | None) -> Mapping[str, Setting]:
    """Kernels first, then dense networks, then pictures: what is cheap and telling comes early."""
    mapped = plane.settings("smoke" if size.thin else "quick" if size.small else "paper", members)
    return {**kernels(size), **dense(size, members), **images(size, members), **deep(size, members), **mapped}


def kernels(size: Size) -> dict[str, Setting]:
    """What trains nothing. Cheap at any scale; only smoke thins the sweeps out."""
    shallow, cd = sets.relu_saliences(2)[1], {f"CD-{k}": sets.context(k, "logistic") for k in (1, 2, 3)}
    found: dict[str, Setting] = {}

    def add(sweep: str, asked: Mapping[str, SymbolicTask], saliences: Saliences, name: str = "", **how: Any) -> None:
        found[f"kernel-{name or sweep}"] = Setting(
            KernelRun(problems=dict(asked), saliences=saliences, **how), {"sweep": sweep}
        )

    for c in (2, 3, 4):
        asked = {f"random {i}": sets.task(problems.random_problem(c, i)) for i in range(4 if size.thin else 20)}
        add("random", asked, sets.random_saliences(c, 10), f"random-{c}")
    asked = {name: sets.task(problems.addition(anchors)) for name, anchors in sets.LEAKS.items()}
    add("leak", asked, (*_spaced(0.1, 0.5, 5), shallow))
    asked = {f"seed {i}": sets.task(problems.dispersed_addition(i)) for i in range(1, 6 if size.thin else 101)}
    add("dispersed", asked, _spaced(0, 0.5, 51))
    for fit, name in (("least squares", "least-squares"), ("hard margin", "hard-margin")):
        add("context", cd, simplex(20 if size.thin else 40), f"context-{name}", fit=fit)
        by_depth = (*sets.relu_saliences(3).values(), sets.quadratic_saliences())
        add("depth", cd, by_depth, f"depth-{name}", fit=fit, effects=True)
    asked = {name: sets.equivalence(*chosen) for name, chosen in sets.EQUIVALENCES.items()}
    add("equivalence", asked, _spaced(0.05, 0.5, 10))
    order = {"ordering": problems.transitive_ordering(),
             "ordering with an exception": problems.ordering_with_exceptions(),
             "invariance": problems.invariance(), "partial exposure": problems.partial_exposure()}  # fmt: skip
    asked = {name: sets.task(problem) for name, problem in order.items()}
    add("order", asked, (*_spaced(0.1, 0.4, 4), shallow), allow_unseen=True)
    return found


def _spaced(low: float, high: float, count: int) -> Saliences:
    return tuple((float(s),) for s in np.linspace(low, high, count).round(4))


def dense(size: Size, members: int | None) -> dict[str, Setting]:
    """One hidden layer, σ from rich to lazy, on every symbolic task; the paper has no networks on the last five."""
    adds, equals, contexts = (  # Each run of the paper has six seeds at seven σ.
        Faithful(steps=steps, members=42, size=("model.width", width))
        for steps, width in ((100_000, 1000), (10_000, 10_000), (5000, 1000))
    )
    make = partial(_dense, size=size, members=members)
    found = {f"dense-{name}": make(name, sets.addition(name), size.widths[0], adds) for name in sets.ANCHORS}
    for word, loss in LOSSES.items():
        equal = sets.equivalence((2, 2), (1, 1), loss)
        found[f"dense-equivalence-{word}"] = make("equivalence", equal, size.widths[1], equals, stop=1e-6)
        for k in size.contexts[loss]:
            found[f"dense-cd{k}-{word}"] = make(f"cd{k}", sets.context(k, loss), size.widths[2], contexts)
    others = {"invariance": problems.invariance(), "exposure": problems.partial_exposure(),
              "ordering": problems.transitive_ordering()}  # fmt: skip
    if not size.small:
        others |= {"exception": problems.ordering_with_exceptions(), "dispersed": problems.dispersed_addition(1)}
    return found | {f"dense-{name}": make(name, sets.task(other), size.widths[0]) for name, other in others.items()}


def _dense(
    name: str, task: SymbolicTask, width: int, paper: Faithful | None = None, *, size: Size, members: int | None,
    stop: float = 1e-4,
) -> Setting:  # fmt: skip
    tiny = len(task.seen) < 4
    seeds = members or size.seeds
    scales = size.scales * seeds + (1.0,) * max(0, (members or size.lazy_seeds[tiny]) - seeds)
    rates = {s: learning_rate(s, task, width) for s in set(scales)}
    run = TrainingRun(
        task=task, model=Dense(inputs=sum(task.levels), width=width), members=len(scales), init_scale=scales,
        steps=TINY_STEPS if tiny else size.steps[task.loss], optimizer=SGD(lr=tuple(rates[s] for s in scales)),
        fit_below=FIT[task.loss], stop_below=stop if task.loss == "squared error" else None,
        measured=_measured("relu_1,tangent", 1),
    )  # fmt: skip
    return _setting(run, name, task, paper, network="dense", family="one hidden layer", data="codes", sigma=scales,
                    features="relu_1")  # fmt: skip


def deep(size: Size, members: int | None) -> dict[str, Setting]:
    """One to four layers of 100 units at σ = .1, as the paper's; how it trained on equivalence it does not say."""
    paper = Faithful(steps=100_000, members=6, size=("model.width", 100))
    tasks = {"equivalence": sets.equivalence((2, 2), (1, 1)), "interpolation": sets.addition("interpolation"),
             "cd3": sets.context(3, "squared error")}  # fmt: skip
    found = {}
    for name, task in ((name, tasks[name]) for name in size.deep_tasks):
        for depth in size.depths:
            run = TrainingRun(
                task=task, model=Dense(inputs=sum(task.levels), width=100, depth=depth, scale=0.1),
                members=members or max(4, size.seeds), steps=size.deep_steps, optimizer=Adam(lr=size.deep_lr),
                fit_below=FIT[task.loss], stop_below=1e-4, measured=_measured(f"relu_{depth}", 1),
            )  # fmt: skip
            known = None if name == "equivalence" else paper
            found[f"deep{depth}-{name}"] = _setting(
                run, name, task, known, network="deep", family=f"{depth} layers", data="codes", sigma=0.1,
                features=f"relu_{depth}",
            )  # fmt: skip
    return found


def images(size: Size, members: int | None) -> dict[str, Setting]:
    """Most telling first: slopes and shortcuts near and far, then equivalence and architectures."""
    near, far = size.distances
    places = {near: "near", far: "far"}
    tasks = {"interpolation": sets.addition("interpolation"), "extrapolation": sets.addition("extrapolation"),
             "cd3": sets.context(3, "logistic"), "equivalence": sets.equivalence((5, 5), (4, 4), "logistic"),
             "cd1": sets.context(1, "logistic")}  # fmt: skip
    wanted = [("convnet", name, place, d) for name in tasks for place, d in (("near", near), ("far", far))]
    if not size.small:
        tasks |= {name: sets.addition(name) for name in ("asymmetric", "both")} | {"cd2": sets.context(2, "logistic")}
        wanted += [("convnet", name, "near", near) for name in ("asymmetric", "both", "cd2")]
        wanted += [("convnet", name, "far", far) for name in ("cd2", *FURTHER)]
        wanted += [("convnet", name, "between", d) for name, d in product(tasks, BETWEEN)]
        wanted += [("convnet-slow", name, "near", near) for name in ("cd3", "cd2")]
        wanted += [("convnet-slow", "equivalence", "between", 10)]
        tasks |= {FEW_ANCHORS: sets.equivalence((5, 5), (1, 1), "logistic")}
        wanted += [("convnet", FEW_ANCHORS, place, d) for place, d in (("near", near), ("far", far))]
        wanted += [("convnet", FEW_ANCHORS, "between", d) for d in BETWEEN]
        wanted += [("convnet-digits", name, "near", near) for name in CONTEXTS]
        wanted += [("convnet-digits", name, "far", far) for name in FURTHER]
        # A map per component, as the paper draws them, and its split alone.
        wanted += [
            ("convnet-published", name, places.get(d, "between"), d)
            for name, d in product(CONTEXTS, (near, *BETWEEN, far))
        ]
        wanted += [("convnet-published", name, "far", far) for name in sets.ANCHORS]
        wanted += [("convnet-published", "equivalence", "between", 10), ("convnet-split", "cd3", "near", near)]
        wanted += [("convnet-own", name, places.get(d, "between"), d) for name, d in OWN]
        alike = ("convnet-faithful", "convnet-constant")
        wanted += [(net, name, "between", d) for net, (name, d) in product(alike, FAITHFUL)]
        wanted += [
            ("convnet-faithful", name, places.get(d, "between"), d) for name, d in (*ALL_STEPS, *ALL_STEPS_LATER)
        ]
        wanted += [("convnet-more", name, places.get(d, "between"), d) for name, d in MORE]
        wanted += [(net, name, "near", 0) for net in ("resnet", "vit") for name in ("cd3", "cd1")]
        wanted += [("vit-long", "interpolation", "near", 0)]
    wanted += [(net, "interpolation", "near", 0) for net in ("resnet", "vit")]
    return {f"{net}-{name}-d{d}": _image(net, name, tasks[name], place, d, size, members)
            for net, name, place, d in wanted}  # fmt: skip


def _image(
    net: str, name: str, symbolic: SymbolicTask, place: str, distance: int, size: Size, members: int | None
) -> Setting:
    network, colour, signs = (SMALL if size.small else LARGE)[net], net in COLOUR, symbolic.loss == "logistic"
    slow, more = net in ("convnet-slow", "convnet-faithful"), net == "convnet-more"
    source: Source = "digits" if size.small else "cifar10-part" if colour else "mnist"
    examples = 30_000 if name in CONTEXTS else 20_000
    pictures = ImageTask(symbolic=symbolic, source=source, distance=distance,
                         per_class=COLOUR_PER_CLASS if source == "cifar10-part" else size.per_class,
                         examples_seen=size.examples or examples, seed=int(more),
                         as_published=PUBLISHED.get(net, False))  # fmt: skip
    ours, full = COLOUR.get(net, (size.image_steps[signs], IMAGE_STEPS.get(name, 15_700)))
    steps = full if slow else size.image_steps[signs] if size.small else ours
    optimizer = network.logistic if signs else network.squared
    constant = optimizer in (PAPER_RATE, TENFOLD)  # as the paper's is; a higher one falls along a cosine
    along = (steps // 10, steps // 4, steps // 2, -1)
    run = TrainingRun(
        task=PerMember(task=pictures, numbered=PUBLISHED.get(net) == "own"), model=network.model(shape=pictures.shape),
        members=members or (SLOW_MEMBERS if net == "convnet-slow" else size.image_seeds[colour]), seed=int(more),
        steps=steps, batch_size=64 if size.small else 128,
        optimizer=optimizer if constant else optimizer.replace(schedule=Cosine(steps=steps)),
        fit_below=IMAGE_FIT[symbolic.loss],
        measured=(Measured(measure="per_combination", arguments={"count": size.count}),
                  *_measured(",".join(network.layers), size.count, (-1,) if colour else along),
                  *(() if colour else (Measured(measure="kernel_leak", at=(0, -1),
                                                arguments={"layers": network.layers[-1], "count": 2 * size.count}),)),
                  *((Measured(measure="per_combination", name="trained_combinations",
                              arguments={"count": size.count, "trained": True}),
                     Measured(measure="additivity", name="additivity_trained",
                              arguments={"count": size.count, "trained": True}))
                    if net == "convnet-faithful" and (name, distance) in BY_IMAGES else ()),
                  *((Measured(measure="leak", name="leak_trained", arguments={"count": size.count, "trained": True}),)
                    if size.small or (distance and name in FURTHER) or more or (slow and not signs) else ())),
    )  # fmt: skip
    paper = Faithful(steps=full, members=10, data=("task.task.examples_seen", examples))
    if colour:
        paper = Faithful(steps=full, members=10, data=("task.task.per_class", 4000))
    return _setting(run, name, symbolic, paper, network=net, family=network.family, data=source, sigma=1.0,
                    features=network.layers[-1], distance=distance, place=place)  # fmt: skip


def _setting(run: TrainingRun, name: str, task: SymbolicTask, paper: Faithful | None, **labels: Any) -> Setting:
    """``features`` is the layer that the readout sees; the number of anchors is told where answers are sums."""
    anchors = {"anchors": len(sets.ANCHORS[name])} if name in sets.ANCHORS else {}
    return Setting(run, {**labels, "task": name, "loss": task.loss, **anchors}, paper)


def _measured(layers: str, count: int, leak_at: tuple[int, ...] = (-1,)) -> tuple[Measured, ...]:
    """What a network does on unseen combinations, and the similarities of its layers before and after training."""
    return (Measured(measure="leak", at=leak_at, arguments={"count": count}),
            Measured(measure="additivity", arguments={"count": count}),
            Measured(measure="salience", at=(0, -1), arguments={"layers": layers, "count": count}))  # fmt: skip


def learning_rate(sigma: float, task: SymbolicTask, width: int) -> float:
    """min(cap, .7 · 2/λ), λ the largest curvature of the loss of an infinitely wide lazy network.

    Its readout kernel is K = H σ² C/fan_in · κ, κ the one-layer ReLU kernel; the curvature is 2/N of K's largest
    eigenvalue for squared error, and at most a quarter of K/N for logistic loss. A rich network makes features of
    a size of its own and is held by the cap."""
    seen = np.array(task.seen)
    gram = nngp(Kernel.one_hot(len(task.levels)), ReLU(), 1)[1].gram(seen)
    size = width * sigma**2 * len(task.levels) / sum(task.levels)
    largest = float(np.linalg.eigvalsh(gram)[-1]) * size / len(seen)
    if task.loss == "logistic":
        return min(0.3, sets.rounded(0.7 * 8 / largest))
    return min(0.05 if max(map(abs, task.answers)) > 1 else 0.1, sets.rounded(0.7 / largest))
