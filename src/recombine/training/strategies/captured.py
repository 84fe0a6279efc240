"""A stacked step as a CUDA graph: one launch per step instead of one per operation."""

from __future__ import annotations

import torch
from torch import Tensor

from recombine.training.stack import Stack
from recombine.training.strategies.stacked import Stacked, Step

WARM_UP = 3
"""Steps run before capture, so that libraries have allocated their workspaces."""


class Captured(Stacked):
    """Records the first step on fixed buffers, then replays it; batches are copied into the buffers."""

    recorded_after = 0

    def __init__(self, stack: Stack, step: Step, shared: bool) -> None:
        super().__init__(stack, step, shared)
        self._graph: torch.cuda.CUDAGraph | None = None

    def advance(self, inputs: tuple[Tensor, ...], targets: Tensor, hyper: Tensor, first: int) -> Tensor:
        losses = self.stack.flat.new_empty(len(hyper), len(self.stack))
        with torch.no_grad():
            for s in range(len(hyper)):
                x = inputs if self.shared else tuple(part[s] for part in inputs)
                y = targets if self.shared else targets[s]
                if self._graph is None:
                    self._capture(x, y, hyper[s])
                self._fill(x, y, hyper[s])
                assert self._graph is not None
                self._graph.replay()
                losses[s] = self._loss
        return losses

    def _fill(self, inputs: tuple[Tensor, ...], targets: Tensor, hyper: Tensor) -> None:
        self._hyper.copy_(hyper)
        if not self.shared:
            for mine, new in zip(self._inputs, inputs, strict=True):
                mine.copy_(new)
            self._targets.copy_(targets)

    def _capture(self, inputs: tuple[Tensor, ...], targets: Tensor, hyper: Tensor) -> None:
        self._inputs = tuple(part.clone() for part in inputs)
        self._targets, self._hyper = targets.clone(), hyper.clone()
        before = {name: tensor.clone() for name, tensor in self.stack.tensors().items()}
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(WARM_UP):
                self.step(self._inputs, self._targets, self._hyper)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._loss = self.step(self._inputs, self._targets, self._hyper)
        # Warming up has trained; the stack goes back to where it was.
        for name, tensor in self.stack.tensors().items():
            tensor.copy_(before[name])
        self._graph = graph
