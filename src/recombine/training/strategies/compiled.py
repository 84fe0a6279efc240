"""A captured step whose operations are fused first: fewer passes over memory, for trainings long enough to pay for it.

Most of a step of stacked members is reading and writing activations and parameters. The compiler fuses what lies
between the matrix products, and the optimiser's update, into single passes; compiling takes some ten seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor, fx
from torch.utils._pytree import tree_flatten

from recombine.models.rounding import products_in_tf32
from recombine.tasks.draws import can_compile as can_compile
from recombine.training.precision import rounding
from recombine.training.stack import Stack
from recombine.training.strategies.captured import Captured
from recombine.training.strategies.convolutions import AsProducts
from recombine.training.strategies.recording import trace
from recombine.training.strategies.stacked import Step

MOST_OPERATIONS = 3000
"""A step of more operations, such as an unrolled recurrence, would compile for minutes; it is captured as it is."""


class Compiled(Captured):
    """Gradient and update are each one compiled function, captured together."""

    def __init__(self, stack: Stack, step: Step, shared: bool) -> None:
        super().__init__(stack, step, shared)
        self._products = False
        self._update = torch.compile(stack.optimizer.update, dynamic=False)

    def _record(self, arguments: tuple[Any, ...]) -> Step:
        try:
            with AsProducts() as products:
                recorded = trace(self._step, arguments)
            self._products = products.count > 0
        except RuntimeError:  # vmap has no rule for some layers after such a product (batch norms on a GPU)
            recorded = trace(self._step, arguments)
        return compiled_once(recorded, arguments)

    def _capture(self, inputs: tuple[Tensor, ...], targets: Tensor, hyper: Tensor) -> None:
        if self._recorded is None:
            self.record(inputs, targets)
        # Products that stand for convolutions are rounded as cuDNN rounds these: in TF32, unless that is forbidden.
        # What is captured keeps the precision it was captured with.
        as_convolutions = self._products and torch.backends.cudnn.allow_tf32
        with rounding("tf32") if as_convolutions else nullcontext():
            super()._capture(inputs, targets, hyper)


_COMPILED: dict[tuple[Any, ...], Callable[..., Any]] = {}


def compiled_once(recorded: fx.GraphModule, arguments: tuple[Any, ...]) -> Callable[..., Any]:
    """The recorded step, compiled unless it is too long. The same operations on tensors of the same shapes, rounded
    alike, are compiled once in a process; a record with numbers of its own is compiled anew."""
    if len(recorded.graph.nodes) > MOST_OPERATIONS:
        return recorded
    free_layouts(recorded)
    compiled = torch.compile(recorded, dynamic=False)
    if any(node.op == "get_attr" for node in recorded.graph.nodes):
        return compiled
    given, _ = tree_flatten(arguments)
    shapes = tuple((part.shape, part.stride(), part.dtype, part.device) for part in given)
    rounded = products_in_tf32(), torch.backends.cudnn.allow_tf32
    return _COMPILED.setdefault((recorded.code, shapes, rounded), compiled)


def free_layouts(recorded: fx.GraphModule) -> None:
    """Let the compiler lay tensors out as it likes: a recorded view holds for the strides of the recording only."""
    aten = torch.ops.aten
    for node in recorded.graph.nodes:
        if node.target in (aten.view.default, aten._unsafe_view.default):
            node.target = aten.reshape.default
    recorded.recompile()
