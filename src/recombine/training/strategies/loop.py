"""Members one after the other, each as a plain module: what pays where one member already fills the machine."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor, nn

from recombine.tasks.draws import key
from recombine.training.optim import Hyper
from recombine.training.stack import Objective, Stack, sow
from recombine.training.threads import in_lanes, side_by_side

RANDOM_LAYERS = (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout, nn.FeatureAlphaDropout)


def draws_inside(module: nn.Module) -> bool:
    """Whether the module itself draws random numbers in training."""
    return any(isinstance(part, RANDOM_LAYERS) and part.p > 0 for part in module.modules())


class Loop:
    """Binds a module's parameters to one member's row at a time, so nothing is copied back and forth.

    On a CPU with several threads, several members are trained side by side, each on one thread: that keeps all cores
    busy where threads inside one member's operations would wait for each other, and a member's numbers do not depend on
    how many there are. A model that draws random numbers is seeded member by member, one after the other."""

    def __init__(self, stack: Stack, objective: Objective, shared: bool) -> None:
        self.stack, self.shared = stack, shared
        self.random = draws_inside(stack.module)
        self.probed = self.random
        self.lanes = [Lane(stack, objective, stack.module)]
        if not self.random and not stack.flat.is_cuda:
            more = min(side_by_side(), len(stack)) - 1
            self.lanes += [Lane(stack, objective, copy.deepcopy(stack.module)) for _ in range(more)]

    def advance(self, inputs: tuple[Tensor, ...], targets: Tensor, hyper: Tensor, first: int) -> Tensor:
        """Train through a block of batches (steps × members × …); returns the losses (steps × members)."""
        numbers = self._rows(hyper)

        def member(lane: Lane, i: int) -> Tensor:
            batches = self._batches(inputs, targets, i, len(numbers))
            return torch.stack([self._step(lane, i, x, y, h) for (x, y), h in zip(batches, numbers, strict=True)])

        if self.random or not self.probed:
            columns = self._one_after_the_other(inputs, targets, numbers, first)
        elif len(self.lanes) == 1:
            columns = [member(self.lanes[0], i) for i in range(len(self.stack))]
        else:
            columns = self._side_by_side(member)
        return torch.stack(columns, dim=1)

    def _side_by_side(self, member: Callable[[Lane, int], Tensor]) -> list[Tensor]:
        def run(lane: int) -> list[Tensor]:
            return [member(self.lanes[lane], i) for i in range(lane, len(self.stack), len(self.lanes))]

        found = in_lanes(run, len(self.lanes))
        return [found[i % len(self.lanes)][i // len(self.lanes)] for i in range(len(self.stack))]

    def _one_after_the_other(
        self, inputs: tuple[Tensor, ...], targets: Tensor, numbers: Sequence[Hyper], first: int
    ) -> list[Tensor]:
        """Each step from its own seed; the first of all shows whether the model draws without a layer that says so."""
        columns = []
        with torch.random.fork_rng():
            for i in range(len(self.stack)):
                losses = []
                for s, (x, y) in enumerate(self._batches(inputs, targets, i, len(numbers))):
                    sow(key(self.stack.seed, self.stack.members[i], first + s, "inside") >> 1)
                    before = None if self.probed else self._random_state()
                    losses.append(self._step(self.lanes[0], i, x, y, numbers[s]))
                    if before is not None:
                        self.random = not torch.equal(before, self._random_state())
                        self.probed = True
                columns.append(torch.stack(losses))
        return columns

    def _rows(self, hyper: Tensor) -> Sequence[Hyper]:
        """What changes from step to step, as a step takes it."""
        return hyper.tolist()

    def _step(self, lane: Lane, i: int, inputs: tuple[Tensor, ...], targets: Tensor, hyper: Hyper) -> Tensor:
        return lane.step(i, inputs, targets, hyper)

    def _random_state(self) -> Tensor:
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


class Lane:
    """A module that stands in for one member at a time."""

    def __init__(self, stack: Stack, objective: Objective, module: nn.Module) -> None:
        self.stack, self.objective, self.module = stack, objective, module
        self.grad = torch.zeros_like(stack.flat[:1])
        self.parameters = dict(module.named_parameters())
        self.buffers = {name: _place(module, name, buffer) for name, buffer in module.named_buffers()}
        self.bound: int | None = None
        self.last = _channels_last(module) if not stack.flat.is_cuda else ()
        self.grads = stack.layout.split(self.grad[0])
        for name, grad in self.grads.items():
            own = torch.empty_like(grad, memory_format=torch.channels_last) if name in self.last else grad
            self.parameters[name].grad = own

    def step(self, i: int, inputs: tuple[Tensor, ...], targets: Tensor, hyper: Hyper) -> Tensor:
        """Take member i one step further; its loss before the step."""
        stack = self.stack
        if self.bound != i:
            self._bind(i)
        if stack.stop_below is not None and bool(stack.frozen()[i]):
            return stack.held[i].clone()
        self.grad.zero_()
        for name in self.last:
            self.parameters[name].data.copy_(self.rows[name])
            self.parameters[name].grad.zero_()  # type: ignore[union-attr]
        total, loss = self.objective.total(self.module(*inputs), targets, self.parameters, stack.weight[i])
        torch.autograd.backward(total)
        with torch.no_grad():
            self._keep_buffers()
            if stack.stop_below is not None:
                stack.held[i].copy_(loss)
                self.lr.mul_(loss > stack.stop_below)
            for name in self.last:
                self.grads[name].copy_(self.parameters[name].grad)  # type: ignore[arg-type]
            grad = stack.optimizer.clipped(self.grad)
            stack.optimizer.update_in_pieces(self.flat, grad, self.state, self.lr, self.decay, hyper)
        return loss.detach()

    def _bind(self, i: int) -> None:
        stack, row = self.stack, slice(i, i + 1)
        self.rows = stack.layout.split(stack.flat[i])
        for name, view in self.rows.items():
            own = torch.empty_like(view, memory_format=torch.channels_last) if name in self.last else view
            self.parameters[name].data = own
        for name, (_, _, buffer) in self.buffers.items():
            buffer.data = stack.buffers[name][i]
        self.flat, self.lr = stack.flat[row], stack.lr[row]
        self.state = {name: tensor[row] for name, tensor in stack.state.items()}
        self.decay = None if stack.decay is None else stack.decay[row]
        self.bound = i

    def _keep_buffers(self) -> None:
        """A buffer that forward has set to another tensor, rather than changed, is the member's all the same."""
        for place, name, buffer in self.buffers.values():
            if place[name] is not buffer:
                buffer.copy_(place[name])  # type: ignore[arg-type]
                place[name] = buffer


def _place(module: nn.Module, name: str, buffer: Tensor) -> tuple[dict[str, Tensor | None], str, Tensor]:
    part, _, last = name.rpartition(".")
    return module.get_submodule(part)._buffers, last, buffer


def _channels_last(module: nn.Module) -> tuple[str, ...]:
    """The weights of two-dimensional convolutions. On a CPU these are faster with the channels of a pixel side by side,
    as the operations after them then keep it; the few weights are copied into that order at each step."""
    found = (f"{name}.weight".lstrip(".") for name, part in module.named_modules() if isinstance(part, nn.Conv2d))
    return tuple(name for name in found if name in dict(module.named_parameters()))
