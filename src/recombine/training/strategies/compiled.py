"""A captured step whose operations are fused first: fewer passes over memory, for trainings long enough to pay for it.

Most of a step of stacked members is reading and writing activations and parameters. The compiler fuses what lies
between the matrix products, and the optimiser's update, into single passes; compiling takes some ten seconds.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor, fx

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
        if len(recorded.graph.nodes) > MOST_OPERATIONS:
            return recorded
        free_layouts(recorded)
        return torch.compile(recorded, dynamic=False)

    def _capture(self, inputs: tuple[Tensor, ...], targets: Tensor, hyper: Tensor) -> None:
        if self._recorded is None:
            self.record(inputs, targets)
        # Products that stand for convolutions are rounded as cuDNN rounds these: in TF32, unless that is forbidden.
        # What is captured keeps the precision it was captured with.
        as_convolutions = self._products and torch.backends.cudnn.allow_tf32
        with rounding("tf32") if as_convolutions else nullcontext():
            super()._capture(inputs, targets, hyper)


def free_layouts(recorded: fx.GraphModule) -> None:
    """Let the compiler lay tensors out as it likes: a recorded view holds for the strides of the recording only."""
    aten = torch.ops.aten
    for node in recorded.graph.nodes:
        if node.target in (aten.view.default, aten._unsafe_view.default):
            node.target = aten.reshape.default
    recorded.recompile()
