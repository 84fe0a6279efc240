"""Gradients are those of torch, and taking them does not import its compiler."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import recombine as rc
from recombine.models import slopes
from recombine.tasks import ToyTask


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process in which nobody has asked for it yet."""
    monkeypatch.delitem(sys.modules, slopes.COMPILER, raising=False)
    monkeypatch.delitem(vars(torch), "_dynamo", raising=False)


def along(x: Tensor) -> Tensor:
    return (x.sin() * x).sum()


TAKEN: dict[str, Callable[[Tensor], Any]] = {
    "grad": slopes.grad(along),
    "vmap": torch.vmap(slopes.grad(along)),
    "and value": lambda x: slopes.grad_and_value(lambda p: (along(p), p), has_aux=True)(x)[0],
    "vjp": lambda x: slopes.vjp(along, x)[1](torch.tensor(1.0))[0],
}


@pytest.mark.parametrize("taken", TAKEN.values(), ids=list(TAKEN))
def test_they_are_right_and_nothing_is_left_in_the_compilers_place(
    no_compiler: None, taken: Callable[[Tensor], Any]
) -> None:
    x = torch.linspace(-1, 1, 6).reshape(2, 3)
    assert torch.allclose(taken(x), x.sin() + x * x.cos())
    assert "_dynamo" not in vars(torch)
    assert slopes.COMPILER not in sys.modules


def test_a_training_of_members_side_by_side_does_not_wait_for_the_compiler(no_compiler: None) -> None:
    net = rc.models.Perceptron(widths=(2, 2))
    trained = rc.train(net, ToyTask(), members=9, steps=10, batch_size=2, device="cpu")  # more than are built singly
    assert trained.notes["strategy"] == "stacked"
    assert slopes.COMPILER not in sys.modules


def test_who_asks_for_anything_else_is_given_the_compilers_own(
    no_compiler: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(slopes, "import_module", lambda name: asked.append(name) or sys)

    def function(x: Tensor) -> Tensor:
        assert torch._dynamo.version is sys.version  # type: ignore[attr-defined]
        assert torch._dynamo.compiled_autograd.version is sys.version  # type: ignore[attr-defined]
        return x.sum()

    slopes.grad(function)(torch.ones(2))
    assert asked == [slopes.COMPILER, f"{slopes.COMPILER}.compiled_autograd"]


def test_a_compiler_that_came_meanwhile_stays(no_compiler: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def function(x: Tensor) -> Tensor:
        monkeypatch.setattr(torch, "_dynamo", sys)  # as its import does
        return x.sum()

    with pytest.raises(AttributeError, match="compiled_autograd"):
        slopes.grad(function)(torch.ones(2))
    assert vars(torch)["_dynamo"] is sys
