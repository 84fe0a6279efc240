"""Which of several items does not belong? The head of Zerroug et al. (2022) on any encoder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from torch import Tensor, nn
from torch.nn import functional

from recombine.description import Description
from recombine.errors import InputError

Reading = Callable[[Any], Tensor]
"""From what an encoder returns to one vector per item."""


class OddOneOut(nn.Module):
    """logit_j = −Σ_k ⟨e_j, e_k⟩, e_j the encoding of item j scaled to length one.

    Every tensor it is called with, by position or by name, is (problems × items × …); the items are folded into the
    encoder's batch. Of an encoder of ``transformers`` the last layer's first token is read."""

    def __init__(self, encoder: nn.Module, read: Reading | None = None) -> None:
        super().__init__()
        self.encoder = encoder
        self.read = read or vector

    def forward(self, *inputs: Any, **named: Any) -> Tensor:
        parts = [part for part in (*inputs, *named.values()) if isinstance(part, Tensor)]
        if not parts or any(part.dim() < 2 or part.shape[:2] != parts[0].shape[:2] for part in parts):
            shapes = [tuple(part.shape) for part in parts]
            raise InputError(
                f"odd-one-out problems are tensors (problems × items × …), all alike; got shapes {shapes}."
            )
        problems, items = parts[0].shape[:2]
        out = self.encoder(*(_fold(part) for part in inputs), **{name: _fold(part) for name, part in named.items()})
        encoded = functional.normalize(self.read(out).reshape(problems, items, -1), dim=-1)
        return -(encoded * encoded.sum(1, keepdim=True)).sum(-1)


class OddOneOutNet(Description):
    """``OddOneOutNet(encoder=Perceptron(widths=(24, 128, 32)))()`` is that perceptron under the odd-one-out head."""

    kind: ClassVar[str] = "odd one out network"

    encoder: Description

    def __call__(self) -> nn.Module:
        if not callable(self.encoder):
            raise InputError(
                f"{type(self.encoder).__name__} does not build a network; give a model of recombine.models."
            )
        return OddOneOut(self.encoder())


def vector(out: Any) -> Tensor:
    """One row per item: a tensor as it is, a ``transformers`` output's first token, the first of several."""
    hidden = getattr(out, "last_hidden_state", None)
    if hidden is not None:
        return hidden[:, 0]  # type: ignore[no-any-return]
    if isinstance(out, (tuple, list)):
        out = out[0]
    if not isinstance(out, Tensor):
        raise InputError(f"the encoder returned a {type(out).__name__}; give OddOneOut a read= that makes it a tensor.")
    return out


def _fold(part: Any) -> Any:
    return part.flatten(0, 1) if isinstance(part, Tensor) else part
