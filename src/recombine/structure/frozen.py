"""What no mask of a search touches is computed once: the first layers of a network whose later ones are masked."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace

from torch import Tensor, nn

from recombine.models.odd_one_out import OddOneOut
from recombine.structure.calling import device_of, respond
from recombine.structure.plan import Job
from recombine.tasks import Problems

MOST_BYTES = {"cuda": 2**34, "cpu": 2**30}
"""What the first layers gave may take; beyond it they are computed anew at every step."""


class Shortened:
    """Jobs on the rest of their network, with what the first layers give as problems; what was computed is kept for
    other jobs on the same problems."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int, tuple[str, ...]], tuple[nn.Module, Problems, Job]] = {}

    def __call__(self, jobs: Sequence[Job]) -> list[Job]:
        """The same masks of the same weights, by the same names. Jobs as they were, where layers do not lie one after
        another, all are masked, or what the first ones give would not fit."""
        masked = {part.parameter for job in jobs for part in job.units.parts}
        return [self._shorter(job, masked) for job in jobs]

    def _shorter(self, job: Job, masked: set[str]) -> Job:
        if job.other is not None or not isinstance(job.problems.inputs, Tensor) or job.settings.epochs < 2:
            return job
        head, rest = split_off(job.model, masked)
        key = id(job.model), id(job.problems), tuple(name for name, _ in head.named_parameters())
        if not key[-1]:
            return job
        if key not in self._known:
            shown = job.problems
            few = respond(head, shown.rows(slice(2)))
            device = device_of(job.model).type
            if few[0].numel() * few.element_size() * len(shown) > MOST_BYTES.get(device, MOST_BYTES["cpu"]):
                return job
            # The job is kept too, so that nobody else gets the addresses of its model and problems.
            self._known[key] = rest, Problems(respond(head, shown), shown.targets), job
        rest, problems, _ = self._known[key]
        return replace(job, model=rest, problems=problems)


def split_off(model: nn.Module, masked: set[str]) -> tuple[nn.Module, nn.Module]:
    """Of a chain of layers those before the first with a ``masked`` parameter, and the others, which keep their names.
    The layers are the model's own; of a model that is no chain all are among the others."""
    before = OrderedDict(_before(model, masked, ""))
    head: nn.Module = nn.Sequential(before)
    return (_OfItems(head) if isinstance(model, OddOneOut) else head), _without(model, set(before), "")


def _before(model: nn.Module, masked: set[str], prefix: str) -> list[tuple[str, nn.Module]]:
    """The layers before the first masked one, by their place, innermost chains taken apart."""
    found: list[tuple[str, nn.Module]] = []
    for name, layer in _chain(model):
        place = f"{prefix}{name}"
        if not any(f"{place}.{own}" in masked for own, _ in layer.named_parameters()):
            found.append((place.replace(".", "/"), layer))
            continue
        return found + _before(layer, masked, f"{place}.")
    return found


def _without(model: nn.Module, gone: set[str], prefix: str) -> nn.Module:
    rest = copy.copy(model)
    rest._modules = {
        name: _without(layer, gone, f"{prefix}{name}/")
        for name, layer in model._modules.items()
        if layer is not None and f"{prefix}{name}" not in gone
    } if _chain(model) else model._modules  # fmt: skip
    return rest


def _chain(model: nn.Module) -> list[tuple[str, nn.Module]]:
    """The layers of a model that does nothing but call them one after another, in this order."""
    if isinstance(model, OddOneOut):
        return [("encoder", model.encoder)] if _chain(model.encoder) else []
    plain = isinstance(model, nn.Sequential) and type(model).forward is nn.Sequential.forward
    hooked = bool(model._forward_hooks or model._forward_pre_hooks)
    return list(model._modules.items()) if plain and not hooked else []  # type: ignore[arg-type]


class _OfItems(nn.Module):
    """Layers on all items of some problems."""

    def __init__(self, layers: nn.Module) -> None:
        super().__init__()
        self.layers = layers

    def forward(self, items: Tensor) -> Tensor:
        problems, count = items.shape[:2]
        return self.layers(items.flatten(0, 1)).unflatten(0, (problems, count))  # type: ignore[no-any-return]
