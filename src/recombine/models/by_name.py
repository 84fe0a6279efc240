"""A module that takes its inputs by name and answers with several tensors, such as one of ``transformers``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor, nn


class ByName(nn.Module):
    """Called with tensors by position, it hands them on by ``names``, and of the answer it gives ``output``."""

    def __init__(self, module: nn.Module, names: Sequence[str], output: str = "logits") -> None:
        super().__init__()
        self.module, self.names, self.output = module, tuple(names), output

    def forward(self, *inputs: Tensor) -> Tensor:
        answer: Any = self.module(**dict(zip(self.names, inputs, strict=True)))
        found: Tensor = answer if isinstance(answer, Tensor) else answer[self.output]
        return found
