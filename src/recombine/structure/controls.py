"""What a dissection is compared with: networks that learnt nothing, and answers that mean nothing."""

from __future__ import annotations

import torch
from torch import nn

from recombine.errors import InputError
from recombine.tasks import Draws, Problems
from recombine.training.failures import in_short
from recombine.training.stack import Model, initial


def untrained(model: Model, seed: int = 0, drawn: list[str] | None = None) -> nn.Module:
    """The same architecture with every parameter drawn anew; a function that builds it is called, a module is copied
    and its layers reset. On the device and in the precision of a given module.

    A parameter of the module's own, such as a table of positions, does not say how it is drawn. It is drawn from a
    normal distribution with the mean and the standard deviation of its numbers: of what it learnt there remains how
    large they are, and a single number as it is. Its name is added to ``drawn``."""

    def left(name: str, parameter: nn.Parameter) -> None:
        values = parameter.detach()
        if values.is_floating_point() and values.numel() > 1:
            mean, spread = values.double().mean(), values.double().std()
            values.copy_(mean + spread * torch.randn(values.shape, dtype=torch.float64))
        if drawn is not None:
            drawn.append(name)

    try:
        fresh = initial(model, 0, seed, left=left)
    except TypeError as error:
        if isinstance(model, nn.Module):
            raise
        raise InputError(
            f"the function that builds a new network cannot be called without arguments: {in_short(error)}."
        ) from error
    if isinstance(model, nn.Module):
        like = next((p for p in model.parameters() if p.is_floating_point()), None)
        fresh = fresh.to(like) if like is not None else fresh
    return fresh.eval()


def shuffled(problems: Problems, seed: int = 0) -> Problems:
    """The same problems with each other's answers."""
    order = Draws.single(seed, "shuffled answers").uniform((len(problems),), torch.float64).argsort()
    return Problems(problems.inputs, problems.targets[order.to(problems.targets.device)])
