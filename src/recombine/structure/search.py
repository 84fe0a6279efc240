"""Find many masks in one call: every setting of a search, on one model or several, stacked where that pays."""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from recombine.errors import InputError
from recombine.structure.calling import (
    Loss,
    as_problems,
    attention_as_written,
    denormals_flushed,
    device_of,
    evaluating,
    placed,
)
from recombine.structure.choose import weights_of
from recombine.structure.frozen import Shortened
from recombine.structure.learning import History, learn
from recombine.structure.masks import Mask
from recombine.structure.plan import Job, groups, plan_group
from recombine.structure.settings import MaskSettings
from recombine.structure.stack import Untraceable
from recombine.structure.units import units_of
from recombine.tasks import Problems, cross_entropy
from recombine.training.failures import whole_or_halves
from recombine.training.plan import ChunkSize, Plan
from recombine.training.precision import Precision, check_precision, rounding
from recombine.training.progress import Progress, reporter
from recombine.training.stack import rules_missing
from recombine.training.threads import in_lanes, side_by_side, threads

if TYPE_CHECKING:
    import polars as pl

HALVED = "; halved, as memory ran out"
Found = dict[int, tuple[Mask, History]]
"""By place in the search."""


@dataclass(frozen=True, eq=False)
class MaskSearch:
    """The masks of a search in the order of its settings, how each was trained, and what its training recorded."""

    settings: tuple[MaskSettings, ...]
    masks: tuple[Mask, ...]
    histories: tuple[History, ...]
    notes: dict[str, Any]

    def __len__(self) -> int:
        return len(self.masks)

    def frame(self) -> pl.DataFrame:
        """One row per mask: its settings, how much it keeps, how it ended."""
        import polars as pl

        rows = [
            {
                "mask": i,
                "method": own.method.kind,
                "start": getattr(own.method, "start", None),
                "layers": own.choice.layers,
                "lr": own.optimizer.lr if isinstance(own.optimizer.lr, float) else None,
                "seed": own.seed,
                "kept": mask.kept,
                "maskable": mask.count,
                "density": mask.density,
                "loss": history.loss[-1] if history.loss else None,
                "undecided": history.undecided[-1] if history.undecided else None,
                "stopped_at": history.stopped_at,
            }
            for i, (own, mask, history) in enumerate(zip(self.settings, self.masks, self.histories, strict=True))
        ]
        return pl.DataFrame(rows, infer_schema_length=None)


def find_masks(
    model: nn.Module | list[nn.Module],
    problems: Any,
    settings: MaskSettings | Sequence[MaskSettings] = MaskSettings(),  # noqa: B008 - frozen
    *,
    other: Any = None,
    loss: Loss = cross_entropy,
    device: str | torch.device = "auto",
    strategy: str = "auto",
    chunk_size: ChunkSize = "auto",
    precision: Precision | None = None,
    progress: Progress | None = None,
    on_found: Callable[[int, Mask], None] | None = None,
) -> MaskSearch:
    """Train a mask for every setting; ``model``, ``problems`` and ``other`` are the same for all masks, or one per
    mask.

    ``problems`` is any object with ``inputs`` and ``targets`` or ``labels`` (one row per problem) that the model,
    called on the inputs, should answer, or a pair of both; a list holds one per mask. ``loss(outputs, targets)`` gives
    one number per problem. The model is neither changed nor copied, and stays in evaluation mode meanwhile. Settings
    with an adversarial term need ``other``.

    Masks are stacked where that pays and trained one by one elsewhere (``notes`` says which and why); mask i is the
    same, to rounding, whatever is trained beside it. Layers before the first masked one are computed once, where that
    fits. ``precision`` is how a GPU rounds products meanwhile, as torch is set unless given. ``device="auto"`` is where
    the model is. ``progress(done, total)`` counts mask-steps; ``on_found(i, mask)`` is told of each as soon as it and
    those beside it are trained."""
    jobs = _jobs(model, problems, other, settings, device)
    place = device_of(jobs[0].model)
    if precision is not None:
        check_precision(precision, place)
    started = time.monotonic()
    results: Found = {}
    plans: list[dict[str, Any]] = []

    def told(found: Found) -> Found:
        if on_found is not None:
            for i, (mask, _) in found.items():
                on_found(i, mask)
        return found

    models = {id(job.model): job.model for job in jobs}.values()
    with evaluating(*models), denormals_flushed(), attention_as_written(), rules_missing():
        trained = [job for job in jobs if job.settings.method.trained]
        total = sum(job.steps for job in trained)
        for job in jobs:
            if not job.settings.method.trained:
                results[job.place] = _untrained(job), History()
        with reporter(progress, total) as report:
            shortened = Shortened()
            for group in map(shortened, groups(trained, loss, place)):
                plan = plan_group(group, loss, place, strategy, chunk_size)
                with rounding(precision) if precision else nullcontext():
                    found, plan = _train_group(group, plan, loss, place, report, told, fixed=strategy != "auto")
                results |= found
                plans.append(
                    {"masks": len(group), "strategy": plan.strategy, "stack": plan.stack, "reason": plan.reason}
                )
    masks, histories = zip(*(results[job.place] for job in jobs), strict=True)
    notes = {"groups": plans, "device": place.type, "seconds": time.monotonic() - started}
    return MaskSearch(tuple(job.settings for job in jobs), masks, histories, notes)


def _train_group(
    group: list[Job], plan: Plan, loss: Loss, device: torch.device, report: Callable[[int], None],
    told: Callable[[Found], Found], fixed: bool,
) -> tuple[Found, Plan]:  # fmt: skip
    """The results and the plan that worked: what does not fit into memory is halved, and what cannot be traced is
    looped unless the strategy is ``fixed``."""
    lanes = min(side_by_side(), len(group))
    if plan.strategy == "loop" and device.type == "cpu" and lanes > 1:
        return told(_side_by_side(group, lanes, loss, device, report)), plan
    results: Found = {}
    while True:
        chunk = group[len(results) : len(results) + plan.stack]
        if not chunk:
            return results, plan
        try:
            with threads(plan.threads):
                parts = whole_or_halves(
                    partial(learn, strategy=plan.strategy, loss=loss, device=device, report=report), chunk
                )
        except Untraceable as refused:
            if fixed:
                raise InputError(
                    f"this model cannot be {plan.strategy}: {refused}; leave strategy= to 'auto'."
                ) from None
            plan = _fallback(plan, device, refused)
        else:
            found = [result for part in parts for result in part]
            results |= told({job.place: result for job, result in zip(chunk, found, strict=True)})
            if len(parts) > 1:
                reason = plan.reason.removesuffix(HALVED) + HALVED
                plan = replace(plan, stack=max(map(len, parts)), reason=reason)


def _side_by_side(
    group: list[Job], lanes: int, loss: Loss, device: torch.device, report: Callable[[int], None]
) -> Found:
    """Looped masks on several threads, each mask on one: all cores are busy, and a mask's numbers do not depend on how
    many there are. A model stands in for one mask at a time, so every lane but the first has copies of its own."""
    lock = threading.Lock()
    # Copied before any starts: while a mask is trained, its model holds masked weights.
    models = [{id(job.model): job.model for job in group[first::lanes]} for first in range(lanes)]
    copies = [{own: copy.deepcopy(model) for own, model in each.items()} for each in models[1:]]

    def told(steps: int) -> None:
        with lock:
            report(steps)

    def lane(first: int) -> Found:
        own = group[first::lanes]
        if first:
            own = [replace(job, model=copies[first - 1][id(job.model)]) for job in own]
        with denormals_flushed():
            return {job.place: learn([job], "loop", loss, device, told)[0] for job in own}

    return {place: result for part in in_lanes(lane, lanes) for place, result in part.items()}


def _fallback(plan: Plan, device: torch.device, refused: Untraceable) -> Plan:
    if device.type == "cuda" and plan.stack > 1:
        return replace(plan, stack=1, reason=f"torch.vmap cannot batch this model: {refused}")
    return Plan("loop", 1, f"this model cannot be traced: {refused}")


def _untrained(job: Job) -> Mask:
    method = job.settings.method
    weights = {name: weight.parameter for name, weight in weights_of(job.model).items()}
    numbers = method.begin(job.units, weights)
    level = method.level(numbers, 1.0)
    return Mask(
        {
            part.parameter: part.spread(method.hard(numbers[part.units], level)).clone().cpu()
            for part in job.units.parts
        },
        method.scale,
        {"settings": job.settings.described()},
    )


def _jobs(model: Any, problems: Any, other: Any, settings: Any, device: str | torch.device) -> list[Job]:
    asked = [settings] if isinstance(settings, MaskSettings) else list(settings)
    lengths = {len(v) for v in (model, problems, other) if isinstance(v, list)}
    if len(asked) == 1 and len(lengths) == 1:
        asked *= next(iter(lengths))
    count = len(asked)
    if not asked or any(length != count for length in lengths):
        raise InputError(
            f"give one model, problems and settings for all masks or one per mask; there are {count} settings."
        )
    models = _each(model, count)
    moved = {id(m): placed(m, device) for m in models}
    if len({device_of(m) for m in moved.values()}) != 1:
        raise InputError("the models of one search must be on one device; say device=.")
    known: dict[int, Problems] = {}
    jobs = []
    for i, (own, m, p, o) in enumerate(zip(asked, models, _each(problems, count), _each(other, count), strict=True)):
        if own.adversary > 0 and o is None:
            raise InputError("settings with an adversarial term need the other subroutine's problems: give other=.")
        here, shown = moved[id(m)], known.setdefault(id(p), as_problems(p))
        against = known.setdefault(id(o), as_problems(o)) if own.adversary > 0 else None
        jobs.append(Job(i, here, shown, against, own, units_of(here, own.choice)))
    return jobs


def _each(value: Any, count: int) -> list[Any]:
    return value if isinstance(value, list) else [value] * count
