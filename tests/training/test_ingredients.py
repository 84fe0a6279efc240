"""A checkpoint and a store never serve another computation: whatever ingredient changes, its address does."""

from __future__ import annotations

import functools
import sys
import threading
import types
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from hypothesis import given, settings as hypothesis_settings, strategies as st
from torch import nn
from trainees import SPACE, fixed_task

from recombine.errors import InputError
from recombine.identity import identity, is_library
from recombine.models import Perceptron
from recombine.runs import Store, get_or_compute
from recombine.runs.measured import Measured
from recombine.runs.training import TrainingRun
from recombine.support import full, leave_out
from recombine.tasks import FixedTask, ToyTask
from recombine.training import SGD, Adam, Cosine, Record, Validation, train
from recombine.training.settings import ONLY_HOW, Training

SOURCE = """
from functools import cached_property
from typing import ClassVar
import polars as pl
import torch
from torch import nn
from recombine.description import Description
from recombine.models import Perceptron
from recombine.space import FactorSpace
from recombine.support import corner
from recombine.tasks import Task

SCALE = 2.0

def helper(x, power=2):
    return x.abs() ** power

def loss(outputs, targets):
    return SCALE * helper(outputs - targets).mean(-1)

class Net(nn.Module):
    slope = 0.5
    def __init__(self, width=4):
        super().__init__()
        self.first, self.last = nn.Linear(2, width), nn.Linear(width, 2)
    def forward(self, x):
        return self.last(torch.tanh(self.first(x)) * self.slope)

def factory(width):
    return lambda: Net(width)

build = factory(4)

def norms(ensemble, task):
    return pl.DataFrame({"member": ensemble.members, "norm": ensemble.flat.norm(dim=1).tolist()})

def penalty(parameters):
    return sum(p.square().sum() for p in parameters.values())

class Above(Description, Task):
    def losses(self, outputs, targets):
        return loss(outputs, targets)

class Weights(Above):
    kind: ClassVar[str] = "weights"
    noise: float = 0.05
    @cached_property
    def space(self):
        return FactorSpace.of(a=3, b=3)
    @cached_property
    def train(self):
        return corner(self.space, 1)
    @cached_property
    def test(self):
        return ~self.train
    def examples(self, points, draws):
        spread = self.noise * draws("noise").normal(points.shape[:-1])
        return points.float() - 1, (points.prod(-1) + spread)[..., None].repeat_interleave(2, -1)
"""
EDITS = {
    "a global the loss reads": ("SCALE = 2.0", "SCALE = 3.0"),
    "the loss": ("SCALE * helper", "2 * SCALE * helper"),
    "a function the loss calls": ("x.abs() ** power", "x.abs() ** power + 0"),
    "a default of that function": ("power=2", "power=3"),
    "the activation": ("torch.tanh", "torch.sin"),
    "an attribute of the class": ("slope = 0.5", "slope = 0.6"),
    "a default of the model": ("width=4", "width=5"),
    "what the builder closes over": ("factory(4)", "factory(5)"),
    "a layer": ("nn.Linear(width, 2)", "nn.Linear(width, 2, bias=False)"),
    "the record": ("norm(dim=1)", "norm(p=1, dim=1)"),
    "the penalty": ("p.square()", "p.abs()"),
    "the examples": ("points.float() - 1", "points.float() - 2"),
    "the training combinations": ("corner(self.space, 1)", "corner(self.space, 2)"),
    "the space": ("a=3, b=3", "a=3, b=4"),
    "a default of the task": ("noise: float = 0.05", "noise: float = 0.06"),
}


def module_of(source: str) -> types.ModuleType:
    module = types.ModuleType("somebodys_code")
    exec(compile(source, "somebodys_code.py", "exec"), module.__dict__)
    return module


def described(code: Any, **more: Any) -> Training:
    """A training all of whose parts are somebody's own."""
    parts: dict[str, Any] = {
        "model": code.build, "task": code.Weights(), "steps": 3, "batch_size": 4, "penalty": code.penalty,
        "penalty_weight": 0.1, "records": [Record("norms", code.norms)], "optimizer": SGD(lr=0.1),
    }  # fmt: skip
    return Training(**parts | more)


@pytest.mark.parametrize("edit", EDITS, ids=list(EDITS))
def test_every_edit_of_the_code_is_another_training(edit: str) -> None:
    old, new = EDITS[edit]
    assert old in SOURCE
    plain, same, edited = (module_of(s) for s in (SOURCE, f"# a comment\n\n{SOURCE}", SOURCE.replace(old, new)))
    assert described(plain).ingredients == described(same).ingredients  # a line further down, in another process
    assert described(plain).ingredients != described(edited).ingredients


@pytest.mark.parametrize("edit", [e for e in EDITS if e not in ("the penalty", "the record")])
def test_a_store_addresses_the_code_of_a_task_of_ones_own(edit: str) -> None:
    before, after = module_of(SOURCE), module_of(SOURCE.replace(*EDITS[edit]))
    of_task = not any(word in edit for word in ("model", "activation", "class", "layer", "builder"))
    assert before.Weights().address == module_of(SOURCE).Weights().address
    assert (before.Weights().address != after.Weights().address) is of_task


def test_who_states_a_version_says_when_it_becomes_another() -> None:
    stated = SOURCE.replace('"weights"', '"weights"\n    version: ClassVar[int] = 7')
    assert module_of(stated).Weights().describe() == {"kind": "weights", "version": 7}
    assert "its code" in module_of(SOURCE).Weights().describe()


def test_where_pydantic_lies_is_in_no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    before = ToyTask().describe()
    elsewhere = lambda module: not module.startswith("pydantic") and is_library(module)  # noqa: E731
    monkeypatch.setattr("recombine.description.is_library", elsewhere)
    assert ToyTask().describe() == before
    assert "its code" in module_of(SOURCE).Weights().describe()


CHANGES: dict[str, Any] = {
    "model": Perceptron(widths=(2, 3, 2)), "task": ToyTask(), "steps": 4, "batch_size": 5, "optimizer": SGD(lr=0.2),
    "seed": 1, "init_scale": 2.0, "penalty": None, "penalty_weight": 0.2, "records": (), "fit_below": 0.1,
    "stop_below": 0.1, "stop_on": 8, "stop_every": 3, "dtype": torch.float64, "fresh": True, "validation": Validation(),
    "precision": "tf32",
}  # fmt: skip


def test_every_setting_is_an_ingredient_or_only_how() -> None:
    code = module_of(SOURCE)
    first = described(code).ingredients
    assert {field.name for field in fields(Training)} == set(CHANGES) | ONLY_HOW
    for name, value in CHANGES.items():
        more = {"model": code.Net()} if name == "fresh" else {}
        first = described(code, **more).ingredients
        changed = described(code, **more | {name: value}).ingredients
        assert {n for n in first if first[n] != changed[n]} == {name}


RUN = {"task": ToyTask(), "model": Perceptron(widths=(2, 3, 2)), "members": 2, "steps": 3, "optimizer": SGD(lr=0.1)}
RUN_CHANGES: dict[str, Any] = {
    "task": ToyTask(second="uninformative"), "model": Perceptron(widths=(2, 3, 2), activation="tanh"), "members": 3,
    "steps": 4, "batch_size": 5, "optimizer": SGD(lr=0.1, schedule=Cosine(steps=3)), "seed": 1, "init_scale": 2.0,
    "penalty": Perceptron(widths=(1, 1)), "penalty_weight": 0.2, "fit_below": 0.1, "stop_below": 0.1, "stop_on": 8,
    "stop_every": 3, "measured": (Measured(measure="leak"),), "keep_weights": True, "keep_history": False,
    "precision": "tf32",
}  # fmt: skip


def test_every_field_of_a_run_is_in_its_address() -> None:
    assert set(RUN_CHANGES) == set(TrainingRun.model_fields)
    addresses = {TrainingRun(**RUN | {name: value}).address for name, value in RUN_CHANGES.items()}
    assert len(addresses | {TrainingRun(**RUN).address}) == len(RUN_CHANGES) + 1


@hypothesis_settings(max_examples=60, deadline=None)
@given(st.data())
def test_every_number_of_the_data_is_an_ingredient(data: st.DataObject) -> None:
    inputs = torch.arange(24.0).reshape(12, 2)
    parts: dict[str, Any] = {
        "inputs": inputs,
        "targets": torch.arange(12.0),
        "combinations": torch.tensor(SPACE.grid()),
    }

    def task(**changed: Any) -> FixedTask:
        given = parts | changed
        return FixedTask(SPACE, given.pop("train", full(SPACE)), full(SPACE), **given, loss=nn.functional.l1_loss)

    name = data.draw(st.sampled_from(sorted(parts)))
    other = parts[name].clone()
    at = data.draw(st.integers(0, other.numel() - 1))
    row = data.draw(st.integers(0, 11))
    flat = other.reshape(-1)
    flat[at] = 0 if name == "combinations" and flat[at] else 1 if name == "combinations" else flat[at] + 0.5
    assert identity(task()) == identity(task())
    assert identity(task()) != identity(task(**{name: other}))
    left_out = leave_out(SPACE, dict(zip("ab", parts["combinations"][row].tolist(), strict=True)))
    assert identity(task()) != identity(task(train=left_out))


LABELS = torch.arange(24) % 3


def rows(**more: Any) -> FixedTask:
    given: Any = {"targets": LABELS, "loss": nn.CrossEntropyLoss(reduction="none"), **more}
    return FixedTask(SPACE, full(SPACE), full(SPACE), torch.randn(24, 2, generator=torch.Generator().manual_seed(0)),
                     combinations=torch.as_tensor(SPACE.grid()).repeat(2, 1), **given)  # fmt: skip


def net(activation: type[nn.Module]) -> Any:
    return lambda: nn.Sequential(nn.Linear(2, 4), activation(), nn.Linear(4, 3))


def mean(ensemble: Any, task: Any) -> pl.DataFrame:
    return pl.DataFrame({"mean": [float(ensemble.flat.mean())]})


def test_a_finished_checkpoint_is_refused_when_loss_activation_labels_or_record_change(tmp_path: Path) -> None:
    how: dict[str, Any] = {"steps": 2, "batch_size": 4, "checkpoint": tmp_path, "device": "cpu"}
    base: dict[str, Any] = {"model": net(nn.Tanh), "task": rows(), "records": [Record("mean", mean)]}
    once = train(**base, **how)
    assert torch.equal(once.flat, train(**base, **how).flat)
    labels = LABELS.clone()
    labels[-1] = 1  # a row that no batch has come to
    for change, word in (
        ({"task": rows(loss=nn.CrossEntropyLoss(reduction="none", label_smoothing=0.1))}, "task"),
        ({"model": net(nn.ReLU)}, "model"),
        ({"task": rows(targets=labels)}, "task"),
        ({"records": [Record("mean", lambda e, t: mean(e, t))]}, "records"),
    ):
        with pytest.raises(InputError, match=f"another training, which differs in {word}; choose another folder"):
            train(**base | change, **how)


def test_a_store_computes_again_when_the_examples_are_edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, found = Store(tmp_path), []
    for source in (SOURCE, SOURCE, SOURCE.replace(*EDITS["the examples"]), SOURCE.replace(*EDITS["the record"])):
        code = module_of(source)
        monkeypatch.setitem(sys.modules, "somebodys_code", code)
        run = TrainingRun(task=code.Weights(), model=RUN["model"], members=2, steps=3, batch_size=4,
                          optimizer=SGD(lr=0.1), measured=(Measured.of(code.norms),))  # fmt: skip
        found.append(get_or_compute(store, {"run": run}, device="cpu")["run"])
    first, again, examples, record = (run.table("norms")["norm"].to_list() for run in found)
    assert found[0].address == found[1].address
    assert first == again
    assert examples != first
    assert record != first


def test_identity_sees_what_an_object_is_made_of() -> None:
    one = torch.arange(6.0)
    strided = torch.arange(12.0)[::2]
    pairs: list[tuple[Any, Any]] = [
        (1, 1.0), (True, 1), ("1", 1), ((1,), [1]), ({"a": 1}, {"a": 2}), ({1, 2}, {1, 3}), (one, one.double()),
        (one, one.reshape(2, 3)), (one.requires_grad_(False), one.clone().requires_grad_()), (one, one.numpy()),
        (np.random.default_rng(0), np.random.default_rng(1)), (nn.LeakyReLU(0.1), nn.LeakyReLU(0.2)),
        (functools.partial(max, 1), functools.partial(max, 2)), (pl.DataFrame({"a": [1]}), pl.DataFrame({"a": [2]})),
        (nn.Linear(2, 2), nn.Linear(2, 2)), (Adam(lr=0.1), SGD(lr=0.1)), (fixed_task(24), fixed_task(36)),
        (torch.Generator().manual_seed(0), torch.Generator().manual_seed(1)), (one, one.bfloat16()),
    ]  # fmt: skip
    for first, second in pairs:
        assert identity(first) == identity(first)
        assert identity(first) != identity(second), (first, second)
    assert identity(strided) == identity(strided.contiguous())
    assert identity({1, 2, 3}) == identity({3, 2, 1})
    loop: list[Any] = [1]
    loop.append(loop)
    assert identity(loop) == identity(loop)
    with pytest.raises(InputError, match="what a lock computes cannot be told"):
        identity(threading.Lock())
