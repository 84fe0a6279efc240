"""Networks whose structure is known, because they were built: they say what the scores are worth.

*Planted positive*: two networks side by side, each trained on one subroutine, their answers added. The part that
computes a subroutine is one of them, and the whole does both. *Planted negative*: one network that reads either half of
an item with the same weights; whatever is removed is removed from both subroutines alike, so D_abl is 0 but for the
problems drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from recombine.errors import InputError
from recombine.structure.choose import Choice, chosen
from recombine.structure.masks import Mask
from recombine.tasks import Family, OddOneOutTask, SignProducts
from recombine.training import Adam, train
from recombine.training.progress import Progress


class Glued(nn.Module):
    """Several networks on the same input, their answers added."""

    def __init__(self, parts: Sequence[nn.Module]) -> None:
        super().__init__()
        self.parts = nn.ModuleList(parts)

    def forward(self, *inputs: Tensor, **named: Tensor) -> Tensor:
        return torch.stack([part(*inputs, **named) for part in self.parts]).sum(0)

    def truth(self, part: int, choice: Choice = Choice()) -> Mask:  # noqa: B008 - frozen
        """The mask that keeps one of the networks and nothing of the others."""
        inside = f"parts.{part}."
        return Mask(
            {name: torch.full(weight.parameter.shape, name.startswith(inside), dtype=torch.bool)
             for name, weight in chosen(self, choice).items()}
        )  # fmt: skip


class Halves(nn.Module):
    """One network on each half of the input's last dimension, the answers added: nothing in it belongs to one half."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, items: Tensor) -> Tensor:
        if items.shape[-1] % 2:
            raise InputError(f"items of {items.shape[-1]} numbers have no halves.")
        left, right = items.chunk(2, -1)
        answers: Tensor = self.network(left) + self.network(right)
        return answers


def planted_positive(
    source: SignProducts, network: Callable[[], nn.Module], *, steps: int = 600, seed: int = 0, device: str = "cpu",
    progress: Progress | None = None,
) -> Glued:  # fmt: skip
    """Networks trained on the problems of one subroutine each, glued."""
    parts = [
        _trained(network, OddOneOutTask(source=source, family=Family(asks="subroutine", of=rule), seed=seed,
                                        problems=4096), steps, seed + i, device, progress)
        for i, rule in enumerate(source.rules)
    ]  # fmt: skip
    return Glued(parts)


def planted_negative(
    source: SignProducts, network: Callable[[], nn.Module], *, steps: int = 600, seed: int = 0, device: str = "cpu",
    progress: Progress | None = None,
) -> Halves:  # fmt: skip
    """A network trained on the composition with the same weights on both halves of an item."""
    half = source.width // 2
    same = [tuple(place - i * half for place in pair) for i, pair in enumerate(source.pairs)]
    if source.width % 2 or same[0] != same[1]:
        raise InputError("the planted negative needs each rule at the same places of its half; see SignProducts.pairs.")
    task = OddOneOutTask(source=source, seed=seed, problems=4096)
    whole = _trained(lambda: Halves(network()), task, steps, seed, device, progress)
    assert isinstance(whole, Halves)
    return whole


def _trained(
    network: Callable[[], nn.Module], task: OddOneOutTask, steps: int, member: int, device: str,
    progress: Progress | None,
) -> nn.Module:  # fmt: skip
    silent = progress or (lambda done, total: None)
    return train(
        network, task, members=[member], steps=steps, batch_size=64, optimizer=Adam(lr=3e-3), device=device,
        progress=silent,
    ).member(member)  # fmt: skip
