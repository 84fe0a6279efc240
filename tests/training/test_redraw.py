"""Weights drawn again without building the network are those of the network built, to the last bit, or are not used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from trainees import Normed

from recombine.models import Dense, Perceptron
from recombine.training import SGD, stack as stacks
from recombine.training.redraw import FEW, redrawn

MODELS = {
    "torch": Perceptron(widths=(2, 40, 2)),
    "tensorflow": Perceptron(widths=(2, 40, 2), start="tensorflow"),
    "playground": Perceptron(widths=(2, 8, 2), start="playground"),
    "drawn twice": Dense(inputs=3, width=20, scale=0.3),
}


def rows(model: Any, dtype: torch.dtype | None) -> torch.Tensor:
    members = [7, 3, *range(20, 20 + FEW)]
    return stacks.stack_members(
        model, members, optimizer=SGD(lr=0.1), seed=5, device=torch.device("cpu"), dtype=dtype
    ).flat


@pytest.mark.parametrize("dtype", [None, torch.float64])
@pytest.mark.parametrize("name", MODELS)
def test_drawn_again_is_built(name: str, dtype: torch.dtype | None, monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[bool] = []

    def noted(*given: Any) -> torch.Tensor | None:
        found = redrawn(*given)
        answers.append(found is not None)
        return found

    monkeypatch.setattr(stacks, "redrawn", noted)
    before = torch.get_rng_state()
    drawn = rows(MODELS[name], dtype)
    assert torch.equal(before, torch.get_rng_state())
    monkeypatch.setattr(stacks, "FEW", 10**9)
    assert answers == [True]
    assert torch.equal(drawn, rows(MODELS[name], dtype))
    assert answers == [True], "built one by one"
    assert len({tuple(row) for row in drawn.tolist()}) == len(drawn)


def scaled() -> nn.Module:
    layer = nn.Linear(2, 3)
    with torch.no_grad():
        layer.weight.mul_(torch.rand(()) + 1)
    return layer


def copied() -> nn.Module:
    layer = nn.Linear(2, 3)
    layer.weight = nn.Parameter(torch.randn(3, 2))
    return layer


@pytest.mark.parametrize("build", [scaled, copied, Normed])
def test_what_is_drawn_in_another_way_is_built(build: Callable[[], nn.Module]) -> None:
    def built(member: int) -> nn.Module:
        torch.manual_seed(member)
        return build()

    with torch.random.fork_rng(devices=[]):
        assert redrawn(built, range(10), lambda member: member) is None
