"""What no mask of a search touches is computed once: the first layers of a network whose later ones are masked.

A model is taken apart only where it is certain to be what its layers are one after another: layers without hooks in
plain chains, which give each row of what they are shown a row of its own. That is looked at, and tried on some problems
as they come and one by one; whatever differs is searched whole."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from recombine.models.odd_one_out import OddOneOut
from recombine.structure.calling import device_of, precision, respond
from recombine.structure.plan import Job
from recombine.tasks import Problems
from recombine.training.stack import cast

MOST_BYTES = {"cuda": 2**34, "cpu": 2**30}
"""What first layers gave may take at a time; beyond it they are computed anew at every step."""
TRIED = 4
"""Problems on which the parts are held against the whole, together and one by one."""
Path = tuple[str, ...]
"""Where a layer lies: the names of the chains that hold it, and its own."""


Known = tuple[nn.Module, Problems, Job]
"""The rest of a network, what its first layers gave, and the job it was computed for, which is kept so that nobody else
gets the addresses of its model and problems."""


class Shortened:
    """Jobs on the rest of their network, with what the first layers give as problems; what was computed is kept for
    other jobs of the same call on the same problems."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int, tuple[Path, ...]], Known | None] = {}

    def __call__(self, jobs: Sequence[Job]) -> list[Job]:
        """The same masks of the same weights, by the same names. Jobs as they were, where layers do not lie one after
        another, all are masked, or what the first ones give would not fit."""
        masked = {part.parameter for job in jobs for part in job.units.parts}
        self._known = {}
        return [self._shorter(job, masked) for job in jobs]

    def _shorter(self, job: Job, masked: set[str]) -> Job:
        if job.other is not None or not isinstance(job.problems.inputs, Tensor) or job.settings.epochs < 2:
            return job
        first = layers_before(job.model, masked)
        if not any(list(layer.parameters()) for _, layer in first):
            return job
        key = id(job.model), id(job.problems), tuple(path for path, _ in first)
        if key not in self._known:
            held = sum(sum(part.nbytes for part in known[1].parts) for known in self._known.values() if known)
            self._known[key] = _computed(job, first, held)
        known = self._known[key]
        return job if known is None else replace(job, model=known[0], problems=known[1])


def layers_before(model: nn.Module, masked: set[str]) -> list[tuple[Path, nn.Module]]:
    """The layers of a chain before the first with a ``masked`` parameter, chains within it taken apart; none of a
    model that is no chain, or of which any part is hooked."""
    if any(_hooked(part) for part in model.modules()):
        return []
    return _before(model, masked, ())


def _before(model: nn.Module, masked: set[str], inside: Path) -> list[tuple[Path, nn.Module]]:
    found: list[tuple[Path, nn.Module]] = []
    for name, layer in _chain(model):
        path = (*inside, name)
        if not any(".".join((*path, own)) in masked for own, _ in layer.named_parameters()):
            found.append((path, layer))
            continue
        return found + _before(layer, masked, path)
    return found


def split_off(model: nn.Module, first: Sequence[tuple[Path, nn.Module]]) -> tuple[nn.Module, nn.Module]:
    """The ``first`` layers and the others, which keep their names. The layers are the model's own."""
    head: nn.Module = nn.Sequential(*(layer for _, layer in first))
    return (_OfItems(head) if isinstance(model, OddOneOut) else head), _without(model, {path for path, _ in first}, ())


def _without(model: nn.Module, gone: set[Path], inside: Path) -> nn.Module:
    chain = _chain(model)
    if not any(path[: len(inside)] == inside for path in gone) or not chain:
        return model
    rest = copy.copy(model)
    rest._modules = {
        name: _without(layer, gone, (*inside, name)) for name, layer in chain if (*inside, name) not in gone
    }
    return rest


def _chain(model: nn.Module) -> list[tuple[str, nn.Module]]:
    """The layers of a model that does nothing but call them one after another, in this order."""
    if "forward" in vars(model):
        return []
    if type(model).forward is OddOneOut.forward:
        return [("encoder", model.encoder)] if _chain(model.encoder) else []  # type: ignore[arg-type,list-item]
    plain = type(model).forward is nn.Sequential.forward and type(model).__call__ is nn.Module.__call__
    return list(model._modules.items()) if plain else []  # type: ignore[arg-type]


def _hooked(model: nn.Module) -> bool:
    return any(
        getattr(model, name, None)
        for name in ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    )


def _computed(job: Job, first: Sequence[tuple[Path, nn.Module]], held: int) -> Known | None:
    """None where the parts are not the network, or the first layers give too much beside the bytes that are held."""
    shown = job.problems
    try:
        head, rest = split_off(job.model, first)
        few = shown.rows(slice(TRIED))
        given = respond(head, few)
        most = MOST_BYTES.get(device_of(job.model).type, MOST_BYTES["cpu"])
        if len(given) != len(few) or held + given[0].nbytes * len(shown) > most:
            return None
        whole = respond(job.model, few)
        alone = torch.cat([respond(head, few.rows(slice(i, i + 1))) for i in range(len(few))])
        # A copy, since a layer may work in place on what it is given.
        kept = cast(given, precision(job.model))
        alike = all(_same(respond(rest, Problems(part.clone(), few.targets)), whole) for part in (kept, alone))
        if not alike:
            return None
        return rest, Problems(respond(head, shown), shown.targets), job
    except (RuntimeError, TypeError, ValueError, AttributeError, LookupError, AssertionError):
        return None


def _same(one: Tensor, other: Tensor) -> bool:
    """To rounding, which on a GPU may be to ten bits, and another for another number of rows."""
    within = 1e-9 if other.dtype == torch.float64 else 1e-2 if other.is_cuda else 1e-4
    return one.shape == other.shape and bool((one - other).abs().max() <= within * other.abs().max())


class _OfItems(nn.Module):
    """Layers on all items of some problems."""

    def __init__(self, layers: nn.Module) -> None:
        super().__init__()
        self.layers = layers

    def forward(self, items: Tensor) -> Tensor:
        problems, count = items.shape[:2]
        return self.layers(items.flatten(0, 1)).unflatten(0, (problems, count))  # type: ignore[no-any-return]
