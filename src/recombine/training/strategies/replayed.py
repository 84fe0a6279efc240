"""Members one after the other, the step of each as a CUDA graph of its own.

Members that draw random numbers are seeded before every step, so they cannot share a graph. Launched operation by
operation, small transformers with dropout kept a GPU busy for a quarter of the time. What a graph draws comes from the
generator as it is seeded when the graph is launched: the same numbers as without one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor, nn

from recombine.identity import is_library
from recombine.training.optim import Hyper
from recombine.training.stack import Objective, Stack
from recombine.training.strategies.captured import WARM_UP
from recombine.training.strategies.loop import Lane, Loop


def can_replay(module: nn.Module) -> bool:
    """Whether all layers are of a library: somebody's own may decide or draw in Python, which a graph would do once."""
    return all(is_library(type(part).__module__) for part in module.modules())


class Replayed(Loop):
    """A loop whose steps are recorded. Where members may stop, they are taken as they come: whether one has stopped is
    asked before its step."""

    def __init__(self, stack: Stack, objective: Objective, shared: bool) -> None:
        super().__init__(stack, objective, shared)
        self._recorded: dict[int, _Recorded] = {}

    def _rows(self, hyper: Tensor) -> Sequence[Hyper]:
        return super()._rows(hyper) if self.stack.stop_below is not None else hyper.unbind()

    def _step(self, lane: Lane, i: int, inputs: tuple[Tensor, ...], targets: Tensor, hyper: Hyper) -> Tensor:
        if not isinstance(hyper, Tensor):
            return super()._step(lane, i, inputs, targets, hyper)
        if i not in self._recorded:
            self._recorded[i] = _Recorded(lane, i, inputs, targets, hyper)
        return self._recorded[i](inputs, targets, hyper)


class _Recorded:
    """The step of one member on fixed tensors."""

    def __init__(self, lane: Lane, i: int, inputs: tuple[Tensor, ...], targets: Tensor, hyper: Tensor) -> None:
        self._given = tuple(part.clone() for part in (*inputs, targets, hyper))
        *own, on, numbers = self._given
        self._step = partial(lane.step, i, tuple(own), on, numbers)
        self._record(lane.stack)

    def _record(self, stack: Stack) -> None:
        before = {name: tensor.clone() for name, tensor in stack.tensors().items()}
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.random.fork_rng():
            with torch.cuda.stream(side):
                for _ in range(WARM_UP):
                    self._step()
            torch.cuda.current_stream().wait_stream(side)
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph):
                self._loss = self._step()
        # Warming up has trained; the member goes back to where it was.
        for name, tensor in stack.tensors().items():
            tensor.copy_(before[name])

    def __call__(self, inputs: tuple[Tensor, ...], targets: Tensor, hyper: Tensor) -> Tensor:
        for mine, new in zip(self._given, (*inputs, targets, hyper), strict=True):
            mine.copy_(new)
        self._graph.replay()
        return self._loss.clone()
