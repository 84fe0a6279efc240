"""What a dissection is compared with: networks that learnt nothing, and answers that mean nothing."""

from __future__ import annotations

import torch
from torch import nn

from recombine.tasks import Draws, Problems
from recombine.training.stack import Model, initial


def untrained(model: Model, seed: int = 0) -> nn.Module:
    """The same architecture with every parameter drawn anew; a function that builds it is called, a module is copied
    and its layers reset. On the device and in the precision of a given module."""
    fresh = initial(model, 0, seed)
    if isinstance(model, nn.Module):
        like = next((p for p in model.parameters() if p.is_floating_point()), None)
        fresh = fresh.to(like) if like is not None else fresh
    return fresh.eval()


def shuffled(problems: Problems, seed: int = 0) -> Problems:
    """The same problems with each other's answers."""
    order = Draws.single(seed, "shuffled answers").uniform((len(problems),), torch.float64).argsort()
    return Problems(problems.inputs, problems.targets[order.to(problems.targets.device)])
