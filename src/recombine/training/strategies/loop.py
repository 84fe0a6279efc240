"""Members one after the other, each as a plain module: what pays where one member already fills the machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn

from recombine.tasks.draws import key
from recombine.training.stack import Objective, Stack

RANDOM_LAYERS = (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout, nn.FeatureAlphaDropout)


def draws_inside(module: nn.Module) -> bool:
    """Whether the module itself draws random numbers in training."""
    return any(isinstance(part, RANDOM_LAYERS) and part.p > 0 for part in module.modules())


class Loop:
    """Binds the module's parameters to one member's row at a time, so nothing is copied back and forth."""

    name = "loop"

    def __init__(self, stack: Stack, objective: Objective, shared: bool) -> None:
        self.stack, self.objective, self.shared = stack, objective, shared
        self.grad = torch.zeros_like(stack.flat[0])
        self.random = draws_inside(stack.module)
        self.probed = self.random
        grads = stack.layout.split(self.grad)
        self.parameters = dict(stack.module.named_parameters())
        for name, parameter in self.parameters.items():
            parameter.grad = grads[name]

    def advance(self, inputs: tuple[Tensor, ...], targets: Tensor, hyper: Tensor, first: int) -> Tensor:
        """Train through a block of batches (steps × members × …); returns the losses (steps × members)."""
        numbers = hyper.tolist()
        columns = []
        with torch.random.fork_rng(enabled=self.random or not self.probed):
            for i in range(len(self.stack)):
                step = self._bind(i)
                batches = self._batches(inputs, targets, i, len(numbers))
                losses = []
                for s, (x, y) in enumerate(batches):
                    if self.random or not self.probed:
                        torch.manual_seed(key(self.stack.seed, self.stack.members[i], first + s, "inside") >> 1)
                    before = None if self.probed else self._random_state()
                    losses.append(step(x, y, numbers[s]))
                    if before is not None:
                        self.random = not torch.equal(before, self._random_state())
                        self.probed = True
                columns.append(torch.stack(losses))
        return torch.stack(columns, dim=1)

    def _random_state(self) -> Tensor:
        """A model may draw in its forward pass without a layer that says so; its first step shows it."""
        state = torch.get_rng_state()
        if self.stack.flat.is_cuda:
            state = torch.cat([state, torch.cuda.get_rng_state(self.stack.flat.device)])
        return state

    def _batches(
        self, inputs: tuple[Tensor, ...], targets: Tensor, i: int, steps: int
    ) -> Iterable[tuple[tuple[Tensor, ...], Tensor]]:
        if self.shared:
            return [(inputs, targets)] * steps
        return zip(zip(*(part[:, i].unbind() for part in inputs), strict=True), targets[:, i].unbind(), strict=True)

    def _bind(self, i: int) -> Callable[[tuple[Tensor, ...], Tensor, list[float]], Tensor]:
        """Point the module at member i; the function that takes it one step further."""
        stack = self.stack
        for name, view in stack.layout.split(stack.flat[i]).items():
            self.parameters[name].data = view
        for name, buffer in stack.module.named_buffers():
            buffer.data = stack.buffers[name][i]
        row = slice(i, i + 1)
        flat, lr, grad = stack.flat[row], stack.lr[row], self.grad[None]
        state = {name: tensor[row] for name, tensor in stack.state.items()}
        decay = None if stack.decay is None else stack.decay[row]
        weight, held = stack.weight[i], stack.held[i]

        def step(inputs: tuple[Tensor, ...], targets: Tensor, hyper: list[float]) -> Tensor:
            if stack.stop_below is not None and bool(stack.frozen()[i]):
                return held.clone()
            grad.zero_()
            total, loss = self.objective.total(stack.module(*inputs), targets, self.parameters, weight)
            torch.autograd.backward(total)
            with torch.no_grad():
                if stack.stop_below is not None:
                    held.copy_(loss)
                    lr.mul_(loss > stack.stop_below)
                stack.optimizer.update(flat, grad, state, lr, decay, hyper)
            return loss.detach()

        return step
