"""What the layers of a network say: activations caught by forward hooks, the model left as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from recombine.errors import unknown
from recombine.training import Ensemble

INPUT, OUTPUT = "input", "output"


def activations(ensemble: Ensemble, member: int, inputs: Tensor, layers: Sequence[str]) -> dict[str, Tensor]:
    """Activations (examples × numbers) of one member at each of ``layers``: names of submodules, "input" or
    "output"."""
    names = [name for name in layers if name not in (INPUT, OUTPUT)]
    known = dict(ensemble.module.named_modules())
    for name in names:
        if name not in known:
            raise unknown("layer", name, [n for n in known if n])
    inputs = inputs.to(ensemble.flat)
    with _caught({name: known[name] for name in names}) as caught, torch.no_grad():
        out = ensemble.select([member]).predict(inputs)[0]
    rows = len(inputs)
    found = {name: caught[name].reshape(rows, -1) for name in names} | {INPUT: inputs, OUTPUT: out.reshape(rows, -1)}
    return {name: found[name].double() for name in layers}


@contextmanager
def _caught(parts: dict[str, nn.Module]) -> Iterator[dict[str, Tensor]]:
    caught: dict[str, Tensor] = {}

    def keep(name: str) -> Any:
        def hook(_module: nn.Module, _inputs: Any, output: Tensor) -> None:
            caught[name] = output.detach()

        return hook

    hooks = [part.register_forward_hook(keep(name)) for name, part in parts.items()]
    try:
        yield caught
    finally:
        for hook in hooks:
            hook.remove()
