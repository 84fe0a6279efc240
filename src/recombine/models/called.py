"""A module called with other tensors in place of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn
from torch.func import functional_call


def call_with(
    module: nn.Module, tensors: Mapping[str, Tensor] | tuple[Mapping[str, Tensor], ...], inputs: Any,
    named: dict[str, Any] | None = None,
) -> Any:  # fmt: skip
    """``torch.func.functional_call``, also for a module that holds another one in two places: torch replaces the
    tensors of that one twice and puts the replaced ones back. A dictionary is left with what buffers were set to."""
    given: Any = tensors
    if _is_tree(module):
        return functional_call(module, given, inputs, named)
    if isinstance(tensors, tuple):
        given = {name: tensor for part in tensors for name, tensor in part.items()}
    first, tied = _places(module)
    once = {first.get(name, name): tensor for name, tensor in given.items()}
    # Tensors that several modules share go by all their names, as torch has it too.
    once |= {other: tensor for name, tensor in list(once.items()) for other in tied.get(name, ()) if other not in once}
    found = functional_call(module, once, inputs, named, tie_weights=False)
    if isinstance(given, dict):
        given.update({name: once[first.get(name, name)] for name in given})
    return found


def _is_tree(module: nn.Module) -> bool:
    """Whether every module within it is in one place."""
    every = list(module.modules())
    return sum(part is not None for one in every for part in one._modules.values()) == len(every) - 1


def _places(module: nn.Module) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Of every name of a parameter or buffer the first of the same place, which is a tensor's in a module; and of each
    of these the other places of its tensor."""
    places: dict[tuple[int, str], str] = {}
    first: dict[str, str] = {}
    same: dict[int, list[str]] = {}
    for prefix, part in module.named_modules(remove_duplicate=False):
        for own, tensor in (*part._parameters.items(), *part._buffers.items()):
            name = f"{prefix}.{own}" if prefix else own
            first[name] = places.setdefault((id(part), own), name)
            if tensor is not None and first[name] == name:
                same.setdefault(id(tensor), []).append(name)
    return first, {name: [other for other in names if other != name] for names in same.values() for name in names}
