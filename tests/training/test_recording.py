"""When a stacked step is recorded: not for a few steps, at once where vmap cannot batch, and to the same bits."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch

import recombine as rc
from recombine.tasks import ToyTask
from recombine.training.strategies import Stacked


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
