"""When a stacked step is recorded: not for a few steps, at once where vmap cannot batch, and to the same bits."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import pytest
import torch
from torch import Tensor, fx
from torch.func import grad, vmap
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn import functional

import recombine as rc
from recombine.tasks import ToyTask
from recombine.training.strategies import Stacked
from recombine.training.strategies.recording import trace


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry per record that is made: how many members it is of."""
    made, real = [], Stacked._record

    def record(self: Stacked, arguments: tuple[Any, ...]) -> Any:
        made.append(len(self.stack))
        return real(self, arguments)

    monkeypatch.setattr(Stacked, "_record", record)
    return made


def trained(model: Any, steps: int) -> torch.Tensor:
    how = {"members": 2, "steps": steps, "batch_size": 4, "optimizer": rc.SGD(lr=0.1), "strategy": "stacked"}
    return rc.train(model, ToyTask(), device="cpu", **how).flat


def test_a_few_steps_are_not_recorded_and_more_are_to_the_same_bits(
    recorded: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = rc.Perceptron(widths=(2, 8, 2))
    trained(model, Stacked.recorded_after)
    assert recorded == []
    more = Stacked.recorded_after + 8
    late = trained(model, more)
    assert recorded == [2]
    monkeypatch.setattr(Stacked, "recorded_after", 0)
    assert torch.equal(trained(model, more), late)
    assert recorded == [2, 2]


def test_what_vmap_cannot_batch_is_recorded_at_once() -> None:
    def step(*_: Any) -> Any:
        warnings.warn("There is a performance drop because of an operation without a batching rule", stacklevel=1)

    runner: Any = object.__new__(Stacked)
    runner._recorded, runner._step, runner._record = None, step, lambda arguments: lambda *_: "recorded"
    assert runner._gradients((), 0) == "recorded"
    assert runner.recorded_after == 0 < Stacked.recorded_after


SHIFT = torch.tensor([1.0, -1.0, 0.5])


def step(parameters: dict[str, Tensor], inputs: tuple[Tensor, ...]) -> tuple[Tensor, list[Tensor]]:
    """With a tensor of its own, a number written in it, a change in place, several results of one operation."""

    def loss(parameters: dict[str, Tensor], x: Tensor) -> Tensor:
        hidden = functional.layer_norm(x @ parameters["w"], (3,)) + SHIFT
        hidden = hidden.mul(torch.tensor(2.0).item()).add_(torch.tensor(0.25)).relu()
        largest, smallest = hidden.max(1).values, hidden.split(1, dim=1)[0]
        return (largest * smallest[:, 0]).square().mean() + parameters["b"].square().sum()

    gradients = vmap(grad(loss))(parameters, inputs[0])
    return gradients["w"], [gradients["b"].clone()]


def arguments(seed: int) -> tuple[dict[str, Tensor], tuple[Tensor, ...]]:
    draw = torch.Generator().manual_seed(seed)
    weights = {"w": torch.randn(2, 4, 3, generator=draw), "b": torch.randn(2, 5, generator=draw)}
    return weights, (torch.randn(2, 6, 4, generator=draw),)


def test_what_was_recorded_does_the_same_to_other_numbers() -> None:
    recorded = trace(step, arguments(0))
    for seed in (1, 2, 1):
        (weight, (bias,)), (found, (other,)) = step(*arguments(seed)), recorded(*arguments(seed))
        assert torch.equal(weight, found)
        assert torch.equal(bias, other)
    assert torch.equal(SHIFT, torch.tensor([1.0, -1.0, 0.5]))


def test_the_operations_are_those_that_pytorch_would_record() -> None:
    def operations(graph: fx.Graph) -> Counter[str]:
        idle = {"aten.expand.default", "aten.view.default", "aten._unsafe_view.default", "aten.reshape.default"}
        return Counter(str(n.target) for n in graph.nodes if n.op == "call_function" and str(n.target) not in idle)

    theirs = make_fx(step)(*arguments(0)).graph
    theirs.eliminate_dead_code()
    assert operations(trace(step, arguments(0)).graph) == operations(theirs)


def test_a_step_that_looks_at_its_numbers_is_not_recorded() -> None:
    with pytest.raises(RuntimeError, match="may not depend on the numbers"):
        trace(lambda x: x * x.sum().item(), (torch.ones(2),))
    with pytest.raises(RuntimeError, match="may not depend on the numbers"):
        trace(lambda x: x * SHIFT[0].item(), (torch.ones(2),))  # it may be changed before the next step
