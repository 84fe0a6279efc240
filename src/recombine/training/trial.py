"""A training, tried before it is begun: whatever a model, a task or a loss cannot do is said in a sentence.

A member is its parameters and its buffers, and a step is a function of them, of a batch and of random numbers that are
seeded. What a model keeps elsewhere, such as a counter, would be shared by members, or lost.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from inspect import signature
from typing import Any

import torch
from torch import Tensor, nn

from recombine.errors import InputError
from recombine.models import ByName
from recombine.models.called import call_with
from recombine.training.failures import in_short
from recombine.training.settings import Training
from recombine.training.stack import initial, is_ours, python_state, sow, undisturbed
from recombine.training.strategies import draws_inside

Batch = tuple[tuple[Tensor, ...], Tensor]
CALLING = (RuntimeError, TypeError, ValueError, IndexError, KeyError, NotImplementedError, AttributeError)
"""What a module raises that is called with inputs it is not made for."""


def not_called(
    error: Exception, inputs: Sequence[Tensor], names: Sequence[str] | None = None, of: str = ""
) -> InputError:
    """What a person is told whose model could not be called with these inputs, ``of`` some problems."""
    shapes = [f"{tuple(part.shape)} of {str(part.dtype).removeprefix('torch.')}" for part in inputs]
    if names is not None:
        shapes = [f"{name} {shape}" for name, shape in zip(names, shapes, strict=True)]
    handed = "inputs of a dictionary are handed over by keyword, those of a tuple one after the other"
    how = f"; {handed}" if isinstance(error, TypeError) and (names is not None or len(inputs) > 1) else ""
    return InputError(f"the model cannot be called with {of}inputs {', '.join(shapes)}: {in_short(error)}{how}.")


def one_tensor(outputs: Any, used: str, how: str) -> Tensor:
    """What a model gave, where it is one tensor; otherwise ``how`` that is taken out is said."""
    if isinstance(outputs, Tensor):
        return outputs
    # A loss comes first where libraries give one beside the logits.
    each = dict(outputs) if isinstance(outputs, Mapping) else dict(enumerate(outputs)) if _listed(outputs) else {}
    of_rows = [name for name, part in each.items() if isinstance(part, Tensor) and part.dim()]
    named = "'logits'" if not each or "logits" in each else repr(next(iter(of_rows), next(iter(each))))
    taken = how.format(f"model(x)[{named}]")
    raise InputError(f"the model gives a {type(outputs).__name__}, and one tensor is {used}; {taken}.")


def _listed(outputs: Any) -> bool:
    return isinstance(outputs, Sequence) and not isinstance(outputs, str) and bool(outputs)


def first_member(training: Training) -> nn.Module:
    """The first member, built by a model that builds a new one each time it is asked and draws from torch alone."""
    model, member = training.model, training.ids[0]

    def build() -> nn.Module:
        return initial(model, member, training.seed, training.dtype, training.draws_weights)

    one = build()
    if is_ours(model) or isinstance(model, nn.Module):
        return one
    here, there = _tensors(one), _tensors(two := build())
    shared = [name for name in here if here[name].numel() and here[name].data_ptr() == there[name].data_ptr()]
    if two is one or shared:
        raise InputError(
            "the function that builds the model gives the same "
            + ("module" if two is one else f"tensor {shared[0]!r}")
            + " each time it is called, so members would overwrite each other: build a new one in it, or give the "
            "module itself (fresh=False starts each member from its weights)."
        )
    odd = [name for name in here.keys() | there.keys() if not _equal(here.get(name), there.get(name))]
    mine, again = python_state(one), python_state(two)
    odd += [name for name in mine | again if mine.get(name) != again.get(name)]
    if odd:
        raise InputError(
            f"member {member}, built twice, has another {min(odd)!r} each time: draw with torch's own functions, which "
            "are seeded for each member, and from nothing else."
        )
    return one


def try_member(training: Training, module: nn.Module, batch: Batch) -> None:
    """An error that says what is wrong where a member cannot learn from a batch, or would lose what it keeps."""
    inputs, targets = batch
    settings = (training.optimizer.lr, training.optimizer.weight_decay, training.init_scale, training.penalty_weight)
    alike = training.fresh is False and training.batch_size is None and len(training.ids) > 1
    if alike and not draws_inside(module) and not any(isinstance(value, tuple) for value in settings):
        raise InputError("members from the same weights on the whole set at every step would all be the same.")
    _check_names(getattr(training.task, "input_names", None), module)
    with undisturbed(module):
        outputs, buffers = _call(module, _tensors(module), inputs)
    _check_outputs(outputs, len(targets))
    _check_losses(training, outputs, targets)
    for name, buffer in module.named_buffers():
        after = buffers[name]
        if not isinstance(after, Tensor) or (after.shape, after.dtype) != (buffer.shape, buffer.dtype):
            raise InputError(f"forward gives the buffer {name!r} another shape or dtype; a buffer keeps both.")
    if not is_ours(training.model) and (names := _carried(module, inputs)):
        raise InputError(
            f"forward changes {names[0]!r}, which is neither a parameter nor a buffer, and goes on from it at the next "
            "step; members would share it: use register_buffer, so that each member has its own."
        )


def _tensors(module: nn.Module) -> dict[str, Tensor]:
    return {**dict(module.named_parameters()), **dict(module.named_buffers())}


def _equal(one: Tensor | None, two: Tensor | None) -> bool:
    return one is not None and two is not None and one.shape == two.shape and _alike(one, two)


def _alike(one: Tensor, two: Tensor) -> bool:
    """The same numbers; on a GPU, where sums are not added up in one order, nearly."""
    return torch.allclose(one, two, rtol=1e-3, equal_nan=True) if one.is_cuda else torch.equal(one, two)


def _call(module: nn.Module, tensors: dict[str, Tensor], inputs: tuple[Tensor, ...]) -> tuple[Any, dict[str, Tensor]]:
    """What the module answers with these parameters and buffers, and what becomes of them; from one seed."""
    values = {name: tensor.clone() for name, tensor in tensors.items()}
    with torch.random.fork_rng():
        sow(0)
        try:
            return call_with(module, values, inputs), values
        except CALLING as error:
            if isinstance(error, (InputError, torch.OutOfMemoryError)):
                raise
            raise not_called(error, inputs) from error


def _check_names(names: tuple[str, ...] | None, module: nn.Module) -> None:
    """Named inputs are handed over by position: in their order, or by what calls by name."""
    taken = list(signature(module.forward).parameters.values())
    if names is None or isinstance(module, ByName) or any(p.kind is p.VAR_POSITIONAL for p in taken):
        return
    if names != tuple(p.name for p in taken[: len(names)]):
        raise InputError(
            f"inputs are named {', '.join(names)}, and forward takes {', '.join(p.name for p in taken)}: build "
            "rc.models.ByName(module, task.input_names), or have forward take them in this order."
        )


def _check_outputs(outputs: Any, rows: int) -> None:
    one_tensor(outputs, "trained on", "let forward return one, for example the logits")
    if not outputs.dim() or len(outputs) != rows:
        raise InputError(f"the model gives outputs of shape {tuple(outputs.shape)} for {rows} examples.")
    if not outputs.is_floating_point():
        raise InputError(f"the model gives {outputs.dtype} outputs, which cannot be trained; give real numbers.")


def _check_losses(training: Training, outputs: Tensor, targets: Tensor) -> None:
    labels, classes = getattr(training.task, "labels", None), outputs.shape[1] if outputs.dim() > 1 else 1
    if labels is not None and classes > 1 and (labels[0] < 0 or labels[1] >= classes):
        raise InputError(f"labels go from {labels[0]} to {labels[1]}, and the model has outputs 0 to {classes - 1}.")
    told = f"outputs {tuple(outputs.shape)} and targets {tuple(targets.shape)} of {targets.dtype}"
    try:
        losses = training.task.losses(outputs, targets)
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"the loss cannot be taken of {told}: {in_short(error)}.") from error
    if not isinstance(losses, Tensor) or losses.shape != (len(targets),):
        found = f"shape {tuple(losses.shape)}" if isinstance(losses, Tensor) else f"a {type(losses).__name__}"
        raise InputError(f"the loss must be one number per example (reduction='none'); of {told} it gives {found}.")
    if outputs.requires_grad and not losses.requires_grad:
        raise InputError(f"the loss of {told} does not depend on the outputs in a way that can be differentiated.")


def _carried(module: nn.Module, inputs: tuple[Tensor, ...]) -> list[str]:
    """Attributes that one call hands on to the next: a call with other weights and another order of examples comes out
    differently where another call was made before it."""
    start = python_state(module)
    if not start:
        return []
    fresh, used = copy.deepcopy(module), copy.deepcopy(module)
    first = _tensors(module)
    others = {n: t * 1.1 if isinstance(t, nn.Parameter) and t.is_floating_point() else t for n, t in first.items()}
    turned = tuple(part.flip(0) for part in inputs)
    with torch.no_grad():
        _call(used, first, inputs)
        middle = python_state(used)
        if middle == start:
            return []
        (one, _), (two, _) = _call(fresh, others, turned), _call(used, others, turned)
    ends = python_state(fresh), python_state(used)
    odd = sorted(name for name in ends[0] | ends[1] if ends[0].get(name) != ends[1].get(name))
    return odd or ([] if _alike(one, two) else sorted(n for n in start | middle if start.get(n) != middle.get(n)))
