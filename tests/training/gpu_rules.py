"""What runs on a GPU keeps to its rules. Seen here without one, on a device that is pretended (`pretend_gpu`)."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import pytest
import torch
from gpu_settings import DISSECTED, EVOLVED, MEASURED, METHODS, OPTIMIZERS, PENALTIES
from gpu_subjects import MODELS, SOURCES, TASKS
from pretend_gpu import DEVICE, NAME, PretendGPU
from torch import Tensor
from torch.utils import _pytree as pytree

import recombine.models
import recombine.structure.stack
import recombine.tasks
import recombine.tasks.two_factors
import recombine.training
from recombine.errors import InputError
from recombine.measures import check_theorem, measure
from recombine.models import ViT
from recombine.runs.measured import MEASURES
from recombine.runs.run import Context
from recombine.structure import Choice, MaskSettings, Method, ablated, accuracy, find_masks, same_size, subnetwork
from recombine.structure.plan import LAUNCH_BYTES
from recombine.tasks import Draws, OddOneOutTask, PerMember, Task
from recombine.tasks.odd_one_out import Family, Source, build
from recombine.training import SGD, Ensemble, Optimizer, pretrain, starting_from, train
from recombine.training.penalties import Penalty
from recombine.training.stack import Objective, positional, stack_members
from recombine.training.strategies import STRATEGIES, Captured, replayed, stacked, strategy_for

NO_TASKS = {
    "Draws", "Encoding", "Family", "Fourier", "Inputs", "OneHot", "Population", "ProblemSet", "Problems", "Ramp",
    "Task", "correct", "cross_entropy", "squared_error",
}  # fmt: skip

BASES = (Optimizer, Penalty, Method)
"""Not to be made themselves, though nothing keeps one from it."""


class Recorded(Captured):
    """A captured step that is run again, under the rules of capturing, where the graph would be replayed."""

    gpu: PretendGPU

    def _capture(self, inputs: tuple[Tensor, ...], targets: Tensor, hyper: Tensor) -> None:
        self._inputs, self._targets, self._hyper = tuple(x.clone() for x in inputs), targets.clone(), hyper.clone()
        self._graph = cast(Any, self)

    def replay(self) -> None:
        with self.gpu.capturing():
            self._loss = self.step(self._inputs, self._targets, self._hyper)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[PretendGPU]:
    """A pretended GPU with a strategy "recorded" for it. What is recorded are operations as they are: a tracer that
    does not know this device would keep its tensors as constants."""
    monkeypatch.setitem(STRATEGIES, "recorded", Recorded)
    monkeypatch.setattr(stacked, "trace", lambda step, arguments: step)
    with PretendGPU() as mode:
        monkeypatch.setattr(Recorded, "gpu", mode, raising=False)
        yield mode


def assert_same(here: Any, there: Any) -> None:
    """What was made on the CPU and on the GPU are the same numbers, and the second are there."""
    ours, theirs = pytree.tree_leaves(here), pytree.tree_leaves(there)
    assert all(tensor.device == DEVICE for tensor in theirs)
    assert [torch.equal(one, other.cpu()) for one, other in zip(ours, theirs, strict=True)] == [True] * len(ours)


def asked(task: Task, device: torch.device | str) -> list[Any]:
    """All that a task is asked for on a device, but its losses and scores."""
    draws = Draws.single(0, device=device)
    points = task.test.explicit().codes[:6].copy() if task.space.finite else task.test.sample(4, 1)
    found: list[Any] = [task.batch(Draws.of([0, 3], range(2, 4), 7, device), 3)]
    single = task.of(0) if isinstance(task, PerMember) else task
    found.append(single.examples(torch.as_tensor(points, device=device), draws))
    with suppress(InputError):
        found.append(task.whole(device))
    with suppress(InputError):
        found.append(task.views(draws, 3))
    return found


@pytest.mark.parametrize(("name", "number"), [(name, i) for name, some in TASKS.items() for i in range(len(some))])
def test_tasks(gpu: PretendGPU, name: str, number: int) -> None:
    task = TASKS[name][number]
    here = asked(task, "cpu")
    assert_same(here, asked(task, DEVICE))
    # What was kept for the one is not given to the other.
    assert_same(asked(task, "cpu")[0], pytree.tree_map(lambda part: part.to(DEVICE), here[0]))


@pytest.mark.parametrize(("name", "number"), [(name, i) for name, some in SOURCES.items() for i in range(len(some))])
def test_sources_of_items(gpu: PretendGPU, name: str, number: int) -> None:
    source = SOURCES[name][number]
    one, other = (build(source, Family(), 2, device=device) for device in ("cpu", NAME))
    assert_same((one.inputs, one.targets, one.codes), (other.inputs, other.targets, other.codes))


@cache
def begun(name: str) -> Ensemble:
    """Two members of a model as they begin, on the GPU."""
    model, _ = MODELS[name]
    stack = stack_members(model, [0, 1], optimizer=SGD(lr=0.1), seed=0, device=DEVICE, dtype=None)
    return Ensemble(stack.module.eval(), stack.layout, stack.flat, stack.buffers, stack.members)


def stepped(model: Any, task: Task, optimizer: Optimizer, penalty: Penalty | None = None) -> Tensor:
    """The losses of a recorded step."""
    stack = stack_members(
        model, [0, 1], optimizer=optimizer, seed=0, device=DEVICE, dtype=None, penalty_weight=0.1, stop_below=1e-3
    )
    inputs, targets = task.batch(Draws.of([0, 1], range(1), 0, DEVICE), 2)
    hyper = optimizer.hyper(range(1)).to(stack.flat)
    return strategy_for("recorded", stack, Objective(task, penalty), shared=False).advance(
        positional(inputs), targets, hyper, 0
    )


@pytest.mark.parametrize("name", MODELS)
def test_models(gpu: PretendGPU, name: str) -> None:
    model, task = MODELS[name]
    losses = stepped(model, task, SGD(lr=0.1))
    assert losses.device == DEVICE
    assert bool(losses.isfinite().all())
    inputs, targets = task.batch(Draws.of([0], range(1), 0, DEVICE), 2)
    outputs, targets = begun(name).predict(tuple(part[0, 0] for part in positional(inputs))), targets[0, 0]
    for score in (task.losses(outputs[0], targets), *task.scores(outputs[0], targets).values()):
        assert score.device == DEVICE


@pytest.mark.parametrize("name", PENALTIES)
def test_penalties_are_recorded(gpu: PretendGPU, name: str) -> None:
    penalty, model = PENALTIES[name]
    losses = stepped(*MODELS[model], SGD(lr=0.1), penalty)
    assert losses.device == DEVICE
    assert bool(losses.isfinite().all())


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimisers_give_the_numbers_of_the_cpu(gpu: PretendGPU, name: str, tmp_path: Path) -> None:
    def ran(device: Any, strategy: str, **how: Any) -> Tensor:
        model, task = MODELS["Perceptron"]
        return train(model, task, members=2, steps=3, batch_size=4, optimizer=OPTIMIZERS[name], init_scale=(1.0, 2.0),
                     stop_below=0.68, device=device, strategy=strategy, **how).flat  # fmt: skip

    assert_same(ran("cpu", "stacked"), ran(DEVICE, "recorded", checkpoint=tmp_path))
    fresh = {"stop_on": 8, "stop_every": 2}
    assert_same(ran("cpu", "stacked", **fresh), ran(DEVICE, "recorded", checkpoint=tmp_path / "fresh", **fresh))
    assert_same(ran("cpu", "loop"), ran(DEVICE, "loop"))


def test_members_that_draw_are_replayed_as_looped(gpu: PretendGPU, monkeypatch: pytest.MonkeyPatch) -> None:
    net, task = MODELS["ViT"]
    assert isinstance(net, ViT)

    def ran(**how: Any) -> Ensemble:
        return train(net.replace(dropout=0.5), task, members=2, steps=3, batch_size=2, device=DEVICE, **how)

    looped = ran()
    assert looped.notes["strategy"] == "loop"
    assert looped.history["loss"].isfinite().all()
    redone: list[replayed._Recorded] = []

    class Redone(replayed._Recorded):
        """A recorded step that is run again, under the rules of capturing, where the graph would be replayed."""

        def _record(self, stack: Any) -> None:
            self._graph = cast(Any, self)
            redone.append(self)

        def replay(self) -> None:
            with gpu.capturing():
                self._loss = self._step()

    monkeypatch.setattr(replayed, "_Recorded", Redone)
    monkeypatch.setitem(STRATEGIES, "redone", replayed.Replayed)
    assert torch.equal(ran(strategy="redone").flat.cpu(), looped.flat.cpu())
    assert len(redone) == 2
    assert torch.equal(ran(strategy="redone", stop_below=1e-9).flat.cpu(), looped.flat.cpu()), "as they come"
    assert len(redone) == 2


@pytest.mark.parametrize("name", MEASURED)
def test_measures(gpu: PretendGPU, name: str) -> None:
    subject, how = MEASURED[name]
    assert len(MEASURES[name](begun(subject), MODELS[subject][1], **how))


def test_measures_of_any_model_and_of_the_theorem(gpu: PretendGPU) -> None:
    for name in ("Perceptron", "Dense", "Seq2Seq"):
        assert measure(begun(name), MODELS[name][1], count=2, combinations=3, fitted=1e9).to_dict()
    task = MODELS["CellNetwork"][1]
    assert check_theorem(task, begun("CellNetwork").member(0), device=DEVICE, values=2, points=2).to_dict()


@pytest.mark.parametrize("strategy", ["recorded", "loop"])
@pytest.mark.parametrize("name", METHODS)
def test_masks(gpu: PretendGPU, monkeypatch: pytest.MonkeyPatch, name: str, strategy: str) -> None:
    # As on a GPU, masks of different layers are one stack.
    monkeypatch.setitem(LAUNCH_BYTES, NAME, 2**28)
    model, task = MODELS["OddOneOutNet"]
    assert isinstance(task, OddOneOutTask)
    problems, network, layers = task.split("train"), model().to(DEVICE), ((), ("encoder.0",))
    base = MaskSettings(method=METHODS[name], epochs=2, batch_size=8, stop_undecided=0.9, adversary=1.0)
    settings = [base.replace(choice=Choice(names=names), seed=seed) for seed, names in enumerate(layers)]
    found = find_masks(network, problems, settings, other=problems, strategy=strategy)
    for mask in found.masks:
        for part in (subnetwork(network, mask), ablated(network, same_size(mask, 0), "random"), ablated(network, mask)):
            assert 0 <= accuracy(part, problems) <= 1


@pytest.mark.parametrize("run", [DISSECTED, EVOLVED], ids=["dissection", "evolution"])
def test_runs(gpu: PretendGPU, run: Any, tmp_path: Path) -> None:
    outcome = run.compute(Context(NAME, tmp_path))
    assert outcome.tables


def test_what_was_pretrained_is_the_start_of_another(gpu: PretendGPU) -> None:
    views, task = MODELS["Views"]
    first = pretrain(views.encoder, cast(Any, task), members=1, steps=1, batch_size=2, device=DEVICE)
    odd, problems = MODELS["Panels"]
    started = train(starting_from(odd, first, 0), problems, members=1, steps=0, batch_size=2, device=DEVICE)
    for name, weight in first.parameters.items():
        assert_same(weight.cpu(), started.parameters[name])


def kinds(base: type) -> set[str]:
    """The names of all kinds of a base class in this package that can be made."""
    found = {name for each in base.__subclasses__() for name in kinds(each)}
    own = base.__module__.startswith("recombine.") and not inspect.isabstract(base) and base not in BASES
    return found | ({base.__name__} if own and not base.__name__.startswith("_") else set())


def public(package: ModuleType) -> set[str]:
    """The names that a package re-exports."""
    return {name for name, value in vars(package).items() if name[0] != "_" and not isinstance(value, ModuleType)}


def test_nothing_is_left_out() -> None:
    """Whoever adds a task, model, optimiser, penalty, measure or kind of mask puts a small one into `gpu_subjects`."""
    assert public(recombine.tasks) - NO_TASKS == {*TASKS, *SOURCES} & public(recombine.tasks)
    assert kinds(Task) == set(TASKS)
    assert kinds(Source) == set(SOURCES)
    assert public(recombine.models) - {"ByName"} <= set(MODELS)  # it holds whatever module it is given
    assert kinds(Optimizer) == set(OPTIMIZERS)
    assert kinds(Penalty) == set(PENALTIES)
    assert kinds(Method) == set(METHODS)
    assert set(MEASURES) == set(MEASURED)
