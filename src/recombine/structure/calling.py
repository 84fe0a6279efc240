"""Problems as any object with inputs and targets, and calling any module on them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from recombine.errors import InputError
from recombine.tasks import Problems
from recombine.tasks.given import rows, tensor
from recombine.training.stack import cast

Loss = Callable[[Tensor, Tensor], Tensor]
"""(outputs, targets) → one loss per problem, or their mean."""


def as_problems(given: Any) -> Problems:
    """Anything with ``inputs`` and ``targets`` (or ``labels``), a pair of them, or a dataset, as problems."""
    if isinstance(given, Problems):
        return given
    if isinstance(given, (tuple, list)) and len(given) == 2:
        return Problems(_plain(given[0]), _numbers(given[1], "targets"))
    targets = getattr(given, "targets", getattr(given, "labels", None))
    if hasattr(given, "inputs") and targets is not None:
        return Problems(_plain(given.inputs), _numbers(targets, "targets"))
    if isinstance(given, (Dataset, DataLoader)):
        parts, names, answers = rows(given, None)
        return Problems(
            dict(zip(names, parts, strict=True)) if names else parts if len(parts) > 1 else parts[0], answers
        )
    raise InputError(
        f"problems are a pair (inputs, targets), a Dataset, or an object with inputs and targets (or labels); a "
        f"{type(given).__name__} is none of these."
    )


def _plain(inputs: Any) -> Any:
    """Mappings of any class as a dictionary, arrays as tensors."""
    if isinstance(inputs, Mapping):
        return {str(name): _numbers(part, str(name)) for name, part in inputs.items()}
    several = isinstance(inputs, tuple) or (isinstance(inputs, list) and isinstance(inputs[0], (Tensor, np.ndarray)))
    return tuple(_numbers(part, "inputs") for part in inputs) if several else _numbers(inputs, "inputs")


def _numbers(given: Any, what: str) -> Tensor:
    if not isinstance(given, Tensor) and np.asarray(given).dtype.kind in "US":
        raise InputError(
            f"{what} are texts; give what the model takes: a whole number per class, as numpy.unique(texts, "
            "return_inverse=True)[1] makes of answers, and of inputs the numbers that it was trained on."
        )
    return tensor(given, what)


def arguments(like: Any, parts: tuple[Tensor, ...]) -> tuple[tuple[Tensor, ...], dict[str, Tensor]]:
    """Positional and named arguments of a call, from tensors in the order of the inputs ``like``."""
    if isinstance(like, Mapping):
        return (), dict(zip(like, parts, strict=True))
    return parts, {}


@contextmanager
def evaluating(*models: nn.Module) -> Iterator[None]:
    """The models in evaluation mode, each of their parts back in its own mode afterwards: masks are trained on a fixed
    function, so BatchNorm keeps its statistics and nothing is dropped."""
    before = [(module, module.training) for model in models for module in model.modules()]
    try:
        for model in models:
            model.eval()
        yield
    finally:
        for module, mode in before:
            module.training = mode


def device_of(model: nn.Module) -> torch.device:
    return next((p.device for p in model.parameters()), torch.device("cpu"))


def placed(model: nn.Module, device: str | torch.device) -> nn.Module:
    """The model where it is (``"auto"``), or a copy of it elsewhere."""
    if device == "auto" or torch.device(device) == device_of(model):
        return model
    return copy.deepcopy(model).to(device)


def precision(model: nn.Module) -> torch.dtype:
    """The type of the model's first parameter that holds real numbers."""
    return next((p.dtype for p in model.parameters() if p.is_floating_point()), torch.float32)


@torch.no_grad()
def respond(model: nn.Module, problems: Any, batch_size: int = 256) -> Tensor:
    """The model's outputs on all problems, in evaluation mode, on the device where the model is."""
    problems = as_problems(problems)
    outputs = []
    parts, dtype, device = problems.parts, precision(model), device_of(model)
    with evaluating(model):
        for at in range(0, len(problems.targets), batch_size):
            taken = tuple(cast(part[at : at + batch_size].to(device), dtype) for part in parts)
            positional, named = arguments(problems.inputs, taken)
            outputs.append(model(*positional, **named))
    return torch.cat(outputs)


def accuracy(model: nn.Module, problems: Any, batch_size: int = 256, among: Sequence[int] = ()) -> float:
    """The share of problems whose largest output is the target; of outputs ``among`` some answers, where given."""
    problems = as_problems(problems)
    outputs = respond(model, problems, batch_size)
    said = outputs.argmax(-1)
    if among and len(among) < outputs.shape[-1]:
        allowed = torch.tensor(among, device=outputs.device)
        said = allowed[outputs[..., allowed].argmax(-1)]
    return float((said == problems.targets.to(outputs.device)).double().mean())


@contextmanager
def denormals_flushed() -> Iterator[None]:
    """Numbers below 10⁻³⁸ as zero, on a CPU that can. At the end of training most soft masks are such numbers, and
    computing with them made a step five times slower."""
    before = float(torch.tensor(2.0**-130) * 1) == 0
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(before)


@contextmanager
def attention_as_written() -> Iterator[None]:
    """Torch's transformer layers without their fast path, which where no weight is trained hands on tensors of rows of
    unequal length that later layers, whose masked weights are, refuse."""
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)
