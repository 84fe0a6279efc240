"""All steps of a member in one launch: a program written for its network (``fused_source.py``), where there is one.

There is one for perceptrons of Linear layers and activations, SGD, Adam and AdamW, cross-entropy and squared error. A
launch reads a block of batches that were drawn as for every other strategy, and ends where something is looked at.
"""

from __future__ import annotations

import linecache
import math
import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from recombine.errors import InputError
from recombine.models.rounding import products_in_tf32
from recombine.tasks import cross_entropy, squared_error
from recombine.tasks.draws import can_compile
from recombine.training.layout import Layout
from recombine.training.optim import SGD, Adam, AdamW, Optimizer
from recombine.training.penalties import SquaredNorm
from recombine.training.stack import Objective, Stack
from recombine.training.strategies.fused_program import Layer, Program, blocks, power_of_two
from recombine.training.strategies.fused_source import write
from recombine.training.strategies.recording import trace

ACTIVATIONS: dict[type[nn.Module], str] = {nn.ReLU: "relu", nn.Tanh: "tanh", nn.GELU: "gelu", nn.ELU: "elu"}
RULES: dict[type[Optimizer], str] = {SGD: "sgd", Adam: "adam", AdamW: "adamw"}
LOSSES: dict[str, tuple[Callable[[Tensor, Tensor], Tensor], ...]] = {
    "cross entropy": (cross_entropy, lambda o, t: functional.cross_entropy(o, t, reduction="none")),
    "squared error": (squared_error, lambda o, t: functional.mse_loss(o, t, reduction="none").mean(1)),
}
"""Ways to write each loss. A task's own is known by its operations."""
PRECISION = {(torch.float32, False): "tf32x3", (torch.float32, True): "tf32", (torch.float64, False): "ieee"}
"""How tiles are multiplied: of a type, and where torch would use TF32. Three products of TF32 numbers leave an error of
the size of float32's own, and are several times as fast as float32 products outside the matrix units."""

MOST_NUMBERS = 2**16
"""More weights and state than this do not fit the L2 beside those of the other members on the chip (256 KB each)."""
MOST_ACTIVATIONS, BESIDE_LARGE_TILES = 40 * 2**10, 9 * 2**10
"""Activations stay in registers between the passes; beside weights in tiles above `LARGE_TILE` there is less room.
(Nothing with more was measured to be faster than captured.)"""
MOST_TILE, LARGE_TILE = 2**12, 2**11
"""Larger tiles of weights or activations take more registers than there are: 2-128-128-2 spilled 902 per thread."""
RESIDENT = 2**8
"""Up to so many weights and numbers of state are kept in registers from step to step; of more, the L1 is faster."""
A_WARP = 9 * 2**8
"""Activations to a warp."""


def can_fuse(device: torch.device) -> bool:
    """Whether such a program can be run: on a GPU with Triton, or on a CPU in Triton's interpreter."""
    if device.type == "cpu":
        return interpreted()
    return device.type == "cuda" and can_compile()


def interpreted() -> bool:
    return os.environ.get("TRITON_INTERPRET") == "1" and can_compile()


def program_of(
    module: nn.Module,
    objective: Objective,
    optimizer: Optimizer,
    batch: tuple[tuple[Tensor, ...], Tensor],
    *,
    shared: bool = False,
    by_row: bool = False,
    stops: bool = False,
) -> Program | str:
    """The program that trains members like ``module`` on batches like ``batch``, or why there is none."""
    (inputs, *more), targets = batch
    layers = layers_of(module)
    if isinstance(layers, str):
        return layers
    flattened = isinstance(next(iter(module.children())), nn.Flatten)
    precision = PRECISION.get((inputs.dtype, products_in_tf32()))
    if torch.is_autocast_enabled("cuda"):
        return "there is none for torch's autocast"
    if more or precision is None or math.prod(inputs.shape[1:]) != layers[0].inputs:
        return "it has one input, of single or double precision"
    if inputs.dim() != 2 and not flattened:
        return "an example is one row of numbers"
    if type(optimizer) not in RULES or optimizer.clip is not None:
        return f"there is no program for {type(optimizer).__name__}" + " with clip" * (optimizer.clip is not None)
    if objective.penalty is not None and type(objective.penalty) is not SquaredNorm:
        return "of penalties, the squared norm alone has a program"
    loss = loss_of(objective.task.losses, inputs.new_zeros(len(targets), layers[-1].outputs), targets)
    if loss is None:
        return "there are programs for cross-entropy and squared error"
    if isinstance(optimizer, SGD):
        numbers: tuple[float, ...] = (optimizer.momentum, float(optimizer.nesterov))
    else:
        assert isinstance(optimizer, Adam)
        numbers = (*optimizer.betas, optimizer.eps)
    rates = optimizer.weight_decay if isinstance(optimizer.weight_decay, tuple) else (optimizer.weight_decay,)
    made = Program(
        layers, Layout.of(module).width, len(targets), loss, RULES[type(optimizer)], numbers, decay=any(rates),
        penalty=objective.penalty is not None, stops=stops, shared=shared, by_row=by_row,
        precision=precision,
    )  # fmt: skip
    return fitted(made)


def fitted(made: Program) -> Program | str:
    """The program as it fits the chip, or why it does not."""
    numbers = sum(layer.outputs * (layer.inputs + 1) for layer in made.layers) * (1 + len(made.state))
    if numbers > MOST_NUMBERS:
        return "its weights do not fit the chip"
    widths = (made.layers[0].inputs, *(layer.outputs for layer in made.layers))
    widest = [max(block.size for block in blocks(width)) for width in widths]
    tile = max(a * b for a, b in pairwise(widest))
    if max(made.examples * max(widest), tile) > MOST_TILE:
        return "its layers or batches are too wide for the registers"
    if activations(made) > (MOST_ACTIVATIONS if tile <= LARGE_TILE else BESIDE_LARGE_TILES):
        return f"the activations of {made.batch} examples do not fit the registers"
    return replace(made, resident=numbers <= RESIDENT)


def activations(program: Program) -> int:
    return program.examples * sum(block.size for layer in program.layers for block in blocks(layer.outputs))


def warps(program: Program) -> int:
    return min(8, power_of_two(-(-activations(program) // A_WARP)))


def asked_for(found: Program | str) -> Program:
    if isinstance(found, str):
        raise InputError(f"the fused strategy cannot train this: {found}; strategy='auto' chooses another.")
    return found


def layers_of(module: nn.Module) -> tuple[Layer, ...] | str:
    """The layers of a perceptron: what its parts are, and where their weights lie in a member's row."""
    slots = {slot.name: slot.start for slot in Layout.of(module).slots}
    if type(module) is not nn.Sequential or any(True for _ in module.buffers()):
        return "it is no sequence of linear layers and activations"
    if not all(parameter.requires_grad for parameter in module.parameters()):
        return "some of its weights are not trained"
    found: list[Layer] = []
    for name, part in _parts(module):
        if part._forward_hooks or part._forward_pre_hooks or part._backward_hooks:
            return f"something hooks into {name!r}"
        if type(part) is nn.Linear and f"{name}.weight" in slots:
            found.append(Layer(part.in_features, part.out_features, slots[f"{name}.weight"], slots.get(f"{name}.bias")))
        elif found and found[-1].activation == "none" and _activation(part):
            found[-1] = replace(found[-1], activation=_activation(part))
        elif not (type(part) is nn.Flatten and not found and (part.start_dim, part.end_dim) == (1, -1)):
            return f"it has a {type(part).__name__} as {name!r}"
    return tuple(found)


def _parts(module: nn.Module, prefix: str = "") -> Iterator[tuple[str, nn.Module]]:
    for name, part in module._modules.items():
        if type(part) is nn.Sequential:
            yield from _parts(part, f"{prefix}{name}.")
        elif part is not None:
            yield f"{prefix}{name}", part


def _activation(part: nn.Module) -> str:
    usual = getattr(part, "approximate", "none") == "none" and getattr(part, "alpha", 1.0) == 1.0
    return ACTIVATIONS.get(type(part), "") if usual else ""


def loss_of(losses: Callable[[Tensor, Tensor], Tensor], outputs: Tensor, targets: Tensor) -> str | None:
    """Which loss a function computes: the one that consists of the same operations."""

    def operations(function: Callable[[Tensor, Tensor], Tensor]) -> list[str] | None:
        try:
            graph = trace(function, (outputs, targets)).graph
        except (RuntimeError, ValueError, TypeError, IndexError):
            return None
        if any(node.op == "get_attr" for node in graph.nodes):
            return None  # a tensor of its own: its numbers do not show
        return [f"{node.target} {node.name} {node.args} {node.kwargs}" for node in graph.nodes]

    found = operations(losses)
    for name, ways in LOSSES.items():
        fits = not targets.is_floating_point() if name == "cross entropy" else targets.is_floating_point()
        if found is not None and fits and any(found == operations(way) for way in ways):
            return name
    return None


@cache
def kernel(program: Program) -> Any:
    """The program, ready to be launched. Triton keeps what it compiles on disk. It is made of numbers and of names that
    are known here; nothing that a person wrote gets into it."""
    words = {program.loss, program.rule, program.precision, *(str(layer.activation) for layer in program.layers)}
    if not all(word.replace(" ", "_").isidentifier() for word in words):
        raise ValueError(f"not the words of a program: {sorted(words)}")
    source = write(program)
    name = f"<a training, {zlib.crc32(source.encode()):08x}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)  # where Triton looks for it
    space: dict[str, Any] = {"__name__": "recombine_fused"}
    exec(compile(source, name, "exec"), space)
    return space["train"]


class Fused:
    """A launch a block, of one instance per member. Batches of a `FixedTask` may come as ``by_row`` gives them."""

    def __init__(self, stack: Stack, objective: Objective, shared: bool) -> None:
        self.stack, self.objective, self.shared = stack, objective, shared
        self.program: Program | None = None

    def advance(self, inputs: tuple[Tensor, ...], targets: Tensor, hyper: Tensor, first: int) -> Tensor:
        """Train through a block of batches (steps × members × …); returns the losses (steps × members)."""
        stack, members = self.stack, len(self.stack)
        by_row = len(inputs) == 2  # all rows of a set, and which of them make up each batch
        if self.program is None:
            if self.shared:
                one = inputs, targets
            elif by_row:
                one = (inputs[0][inputs[1][0, 0]],), targets[inputs[1][0, 0]]
            else:
                one = (inputs[0][0, 0],), targets[0, 0]
            found = program_of(stack.module, self.objective, stack.optimizer, one, shared=self.shared, by_row=by_row,
                               stops=stack.stop_below is not None)  # fmt: skip
            self.program = asked_for(found)
        losses = stack.flat.new_empty(len(hyper), members)
        with torch.cuda.device_of(stack.flat):
            kernel(self.program)[(members,)](
                inputs[0].contiguous(), targets.contiguous(), inputs[-1].contiguous(), stack.flat,
                *(stack.state[name] for name in self.program.state), stack.lr,
                stack.lr if stack.decay is None else stack.decay, stack.weight, stack.held, hyper.contiguous(), losses,
                0.0 if stack.stop_below is None else stack.stop_below, members, len(hyper),
                num_warps=warps(self.program), num_stages=1,
            )  # fmt: skip
        return losses
