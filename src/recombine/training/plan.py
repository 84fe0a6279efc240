"""Which strategy and how many members at once: decided from the description and the kind of device, nothing else.

No clock is read and no free memory is asked for, so the same description on the same kind of device is always stacked
alike, and its results are the same bits. The constants were measured with ``benchmarks/engine.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from recombine.errors import InputError, unknown
from recombine.models.called import call_with
from recombine.training.stack import Objective, positional, undisturbed
from recombine.training.strategies import STRATEGIES, can_compile, can_fuse, can_replay, draws_inside
from recombine.training.strategies.in_halves import CONVOLUTIONS, of_few_channels

ChunkSize = int | Literal["auto"]

STACK_BYTES = {"cpu": 48 * 2**20, "cuda": 24 * 2**30}
"""What a stack may touch in one step: a CPU stack pays while it stays near the caches, a GPU stack while it fits."""

LOOP_BYTES_CPU = 4 * 2**20
"""A member that touches more than this in one step keeps two cores busy by itself: stacking it gains nothing."""

CONVOLVING_BYTES_CPU = 2**18
"""Members with convolutions that touch no more than this are stacked on a CPU. What decides is their size: a step has a
fixed cost per member that stacking saves, and grouped convolutions are slower per number. In CPU time, stacking was 2.3
to 6 times as fast below this, as fast near 1 MB and .7 times as fast at 9 MB (``benchmarks/convolutions.py``); a loop
may use several cores, so it is left only where the gain is clear."""

ONE_BY_ONE = ("loop", "replayed")
"""Strategies in which members do not meet."""

LOOP_STACK = 4
"""Members of a loop do not meet, so a stack of them is only what is handed out at once: small enough to share out."""

ONE_THREAD_BYTES_LOOP = 64 * 2**10
ONE_THREAD_BYTES = 8 * 2**20
"""A CPU step that touches less than this is over before a second thread has been woken; with other work on the machine,
waiting for that thread made it up to ten times slower."""

COMPILE_BYTES = 2**42
"""A training that touches more than this on a GPU takes so long that a compiled step, which saves a third to a half of
it, is worth the 10 to 30 seconds of compiling. PyTorch keeps what it compiles on disk, so they are spent once."""

COMPILE_CONVOLUTIONS_BYTES = 2**45
"""The same with convolutions, which take longer to compile and gain less."""

FUSED_STEPS, FUSED_MEMBER_STEPS = 2000, 2**24
"""A training of fewer steps, unless of very many members, is over before the program for all of them is compiled:
seconds, once on a machine."""

GROUPED_BYTES = 2**29
FEWEST_GROUPS = 8
"""Members with convolutions that touch more than this in one step are stacked by so many or not at all: three members
as groups of one convolution took 2.2 times as long as one after another, four masks 1.6 times, eight masks .7 times.
(Compiled, convolutions are products: see ``strategies/convolutions.py``.)"""

BRANCHED_BYTES = 2**27
"""Members with convolutions that touch more than this in one step are branches of one graph: ten ConvNets of 143 MB
each took 1175 member-steps per second so, and 811 as groups of one convolution."""

COMPILE_BRANCHES_BYTES = 2**43
"""Where all convolutions have few channels, branches are compiled from here on, and convolve in halves: ten ConvNets of
28 × 48 pixels took 1265 member-steps per second so, after 23 s of compiling, and 617 otherwise."""

NOT_STACKED = (nn.RNNBase, nn.RNNCellBase)


@dataclass(frozen=True)
class Plan:
    """How the members are run, and why."""

    strategy: str
    stack: int
    reason: str
    threads: int | None = None
    """CPU threads of a step; None leaves the number as it is."""
    touched: int = 0
    """Bytes that one step of one member touches."""

    def stacks(self, members: Sequence[int]) -> tuple[tuple[int, ...], ...]:
        """The members that are trained together."""
        return tuple(tuple(members[at : at + self.stack]) for at in range(0, len(members), self.stack))


def make_plan(
    module: nn.Module,
    objective: Objective,
    batch: tuple[tuple[Tensor, ...], Tensor],
    *,
    members: int,
    steps: int,
    state_tensors: int,
    device: torch.device,
    strategy: str,
    chunk_size: ChunkSize,
    fusible: bool = False,
) -> Plan:
    """``batch`` is one member's first batch; ``state_tensors`` how many tensors of the parameters' size the optimiser
    keeps; ``fusible`` whether there is a program for all steps at once."""
    check_asked(strategy, chunk_size, device)
    touched = step_bytes(module, objective, batch, state_tensors)
    reason = "asked for"
    if strategy == "auto":
        strategy, reason = _choose(module, touched, members, steps, device)
        enough = steps >= FUSED_STEPS or steps * members >= FUSED_MEMBER_STEPS
        if strategy in ("captured", "compiled") and fusible and enough:
            strategy, reason = "fused", "one launch for many steps"
    if chunk_size == "auto":
        most = max(1, STACK_BYTES.get(device.type, STACK_BYTES["cpu"]) // touched)
        stack = min(members, LOOP_STACK if strategy in ONE_BY_ONE else 1 << (most.bit_length() - 1))
        if strategy == "captured" and too_few(module, touched, stack):
            stack = 1
    else:
        stack = min(members, int(chunk_size))
    small = device.type == "cpu" and (
        touched < ONE_THREAD_BYTES_LOOP if strategy == "loop" else touched * stack < ONE_THREAD_BYTES
    )
    return Plan(strategy, stack, reason, 1 if small else None, touched)


def check_asked(strategy: str, chunk_size: ChunkSize, device: torch.device) -> None:
    """An error unless the device can do what is asked for."""
    if strategy != "auto" and strategy not in STRATEGIES:
        raise unknown("strategy", strategy, ["auto", *STRATEGIES])
    if strategy in ("replayed", "captured", "branches", "compiled", "compiled-branches") and device.type != "cuda":
        raise InputError(f"the {strategy} strategy needs a CUDA device.")
    if strategy in ("compiled", "compiled-branches") and not can_compile():
        raise InputError(f"the {strategy} strategy needs Triton and a C compiler; the captured one does not.")
    if strategy == "fused" and not can_fuse(device):
        raise InputError("the fused strategy needs a CUDA device, Triton and a C compiler.")
    if chunk_size != "auto" and int(chunk_size) < 1:
        raise InputError(f"chunk_size must be at least 1, got {chunk_size}.")


def _choose(module: nn.Module, touched: int, members: int, steps: int, device: torch.device) -> tuple[str, str]:
    parts = list(module.modules())
    if any(isinstance(part, NOT_STACKED) for part in parts):
        return "loop", "recurrent layers of torch.nn cannot be vmapped"
    if draws_inside(module):
        how = "replayed" if device.type == "cuda" and can_replay(module) else "loop"
        return how, "layers that draw random numbers are seeded member by member"
    if device.type == "cuda":
        branched = convolves(module) and touched > BRANCHED_BYTES
        if branched and of_few_channels(module):
            if touched * members * steps > COMPILE_BRANCHES_BYTES and can_compile():
                return "compiled-branches", "convolutions fill a GPU member by member, long enough to pay for compiling"
            return "branches", "convolutions of this size fill a GPU member by member"
        pays = COMPILE_CONVOLUTIONS_BYTES if convolves(module) else COMPILE_BYTES
        if touched * members * steps > pays and can_compile():
            return "compiled", "long enough to pay for compiling"
        if branched:
            return "branches", "convolutions of this size fill a GPU member by member"
        return "captured", "one launch per step"
    # However many there are: a member alone is to come to the same as among others.
    if convolves(module) and touched > CONVOLVING_BYTES_CPU:
        return "loop", "convolutions of this size are faster one member after another on a CPU"
    if touched > LOOP_BYTES_CPU:
        return "loop", "one member fills the caches"
    return "stacked", "many small members per step"


def convolves(module: nn.Module) -> bool:
    return any(isinstance(part, CONVOLUTIONS) for part in module.modules())


def too_few(module: nn.Module, touched: int, stack: int) -> bool:
    """Whether so many captured together would be slower than one after another."""
    return stack < FEWEST_GROUPS and touched > GROUPED_BYTES and convolves(module)


def step_bytes(
    module: nn.Module, objective: Objective, batch: tuple[tuple[Tensor, ...], Tensor], state_tensors: int
) -> int:
    """Bytes that one step of one member touches: parameters, gradient, optimiser state, activations, batch."""
    parameters = sum(p.numel() * p.element_size() for p in module.parameters())
    inputs, targets = batch
    data = sum(t.numel() * t.element_size() for t in (*inputs, targets))
    return parameters * (2 + state_tensors) + 2 * activation_bytes(module, objective, inputs, targets) + data


def activation_bytes(module: nn.Module, objective: Objective, inputs: tuple[Tensor, ...], targets: Tensor) -> int:
    """What the backward pass keeps of one forward pass, each storage counted once and parameters not at all."""
    own = {p.untyped_storage().data_ptr() for p in module.parameters()}
    kept: dict[int, int] = {}

    def pack(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = max(kept.get(storage.data_ptr(), 0), storage.nbytes())
        return tensor

    buffers = {name: buffer.clone() for name, buffer in module.named_buffers()}
    saving = torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t)
    with torch.enable_grad(), torch.random.fork_rng(), undisturbed(module), saving:
        outputs = call_with(module, buffers, positional(inputs))
        # held until counted: a freed storage could lend its address to the next one
        held = objective.task.losses(outputs, targets)
    del held
    return sum(kept.values())
