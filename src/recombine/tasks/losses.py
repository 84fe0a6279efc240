"""Losses and scores of one example, written so that they stack: no reduction over the batch, no masks."""

from __future__ import annotations

import torch
from torch import Tensor

from recombine.errors import InputError


def cross_entropy(outputs: Tensor, targets: Tensor) -> Tensor:
    """−log softmax(outputs)[target]; outputs (batch × classes), targets (batch)."""
    if outputs.shape[-1] < 2:
        raise InputError(f"cross-entropy needs an output per class, and outputs have shape {tuple(outputs.shape)}.")
    if targets.dim() != outputs.dim() - 1:
        raise InputError(
            f"cross-entropy takes the number of the class, and targets have shape {tuple(targets.shape)}; of one-hot "
            "rows and chances of classes give targets.argmax(-1), or the loss torch.nn.CrossEntropyLoss()."
        )
    chosen = outputs.gather(-1, targets.long().unsqueeze(-1)).squeeze(-1)
    return torch.logsumexp(outputs, -1) - chosen


def squared_error(outputs: Tensor, targets: Tensor) -> Tensor:
    """Mean of (output − target)² over all but the batch dimension."""
    if outputs.shape != targets.shape:
        shapes = f"outputs have shape {tuple(outputs.shape)} and targets {tuple(targets.shape)}"
        raise InputError(f"{shapes}; make them alike.")
    return (outputs - targets).square().flatten(1).mean(-1)


def correct(outputs: Tensor, targets: Tensor) -> Tensor:
    """1 where the largest output is the target class, else 0."""
    return (outputs.argmax(-1) == targets).to(outputs.dtype)
