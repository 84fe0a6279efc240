"""Gradients as ``torch.func`` takes them, without its import of PyTorch's compiler.

For every gradient torch asks its compiler to stand aside, and imports all of it to ask: 1.8 s at the first step of a
training. Where nobody has imported the compiler nothing has to stand aside, and a stand-in says so while a gradient is
taken. The numbers are the same."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from types import ModuleType
from typing import Any

import torch

COMPILER = "torch._dynamo"


class _StandIn(ModuleType):
    """What is asked of the compiler for a gradient; whoever asks for anything else is given the compiler's own."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


_AUTOGRAD, _STAND_IN = _StandIn(f"{COMPILER}.compiled_autograd"), _StandIn(COMPILER)
vars(_AUTOGRAD)["_disable"] = nullcontext
vars(_STAND_IN)["compiled_autograd"] = _AUTOGRAD


def grad(function: Callable[..., Any]) -> Callable[..., Any]:
    """``torch.func.grad``."""
    return _without_compiler(torch.func.grad(function))


def grad_and_value(function: Callable[..., Any], *, has_aux: bool = False) -> Callable[..., Any]:
    """``torch.func.grad_and_value``."""
    return _without_compiler(torch.func.grad_and_value(function, has_aux=has_aux))


def vjp(function: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """``torch.func.vjp`` of a function without anything besides its outputs."""
    outputs, pull = torch.func.vjp(function, *primals)[:2]
    return outputs, _without_compiler(pull)


def _without_compiler(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if COMPILER in sys.modules:
            return function(*args, **kwargs)
        with _stood_in():
            return function(*args, **kwargs)

    return call


@contextmanager
def _stood_in() -> Iterator[None]:
    """Importing the compiler meanwhile puts it in the place of its stand-in; where it is there, it stays."""
    names = vars(torch)
    names.setdefault("_dynamo", _STAND_IN)
    try:
        yield
    finally:
        if names.get("_dynamo") is _STAND_IN:
            names.pop("_dynamo", None)
