"""The first weights of many members of one network without building it for each: what was drawn for the first, drawn
again from each member's seed. Building a small network takes several times as long as drawing its weights."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from recombine.training.layout import Layout

FEW = 8
"""So many members are built one by one: trying whether they can be drawn again builds three."""
aten = torch.ops.aten
FILLED = (aten.uniform_.default, aten.normal_.default, aten.zero_.default, aten.fill_.Scalar)


class _Noting(TorchDispatchMode):
    """Notes what fills tensors with numbers while it is active."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.noted: list[tuple[Callable[..., Tensor], Tensor, Sequence[Any], dict[str, Any]]] = []

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # PyTorch's compiler would be imported to be skipped

    def __torch_dispatch__(
        self, func: Any, types: Iterable[type], args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func in FILLED:
            self.noted.append((func, args[0].detach(), args[1:], kwargs or {}))
        return func(*args, **(kwargs or {}))


def redrawn(built: Callable[[int], nn.Module], members: Sequence[int], seed_of: Callable[[int], int]) -> Tensor | None:
    """The rows of all members, or None where drawing again does not give what building does, to the last bit: tried on
    the first, the second and the last."""
    with _Noting() as noting:
        first = built(members[0])
    if any(True for _ in first.buffers()):
        return None
    layout, dtype = Layout.of(first), next(first.parameters()).dtype
    row = layout.row(dict(first.named_parameters()), dtype)
    views = layout.split(row)
    places = {parameter.data_ptr(): views[name] for name, parameter in first.named_parameters()}
    steps = [(func, places.get(filled.data_ptr()), args, named) for func, filled, args, named in noting.noted]
    if any(view is None or view.numel() != noted[1].numel() for (_, view, _, _), noted in
           zip(steps, noting.noted, strict=True)):  # fmt: skip
        return None
    rows = torch.empty(len(members), layout.width, dtype=dtype)
    with torch.random.fork_rng(devices=[]):
        for i, member in enumerate(members):
            torch.default_generator.manual_seed(seed_of(member))
            for func, view, args, named in steps:
                func(view, *args, **named)
            rows[i] = row
    for i in (0, 1, -1):
        if not torch.equal(rows[i], layout.row(dict(built(members[i]).named_parameters()), dtype)):
            return None
    return rows
