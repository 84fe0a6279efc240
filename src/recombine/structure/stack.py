"""Masks that are trained together, laid out as one stack."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from recombine.structure.batches import Batches
from recombine.structure.branches import MaskBranches
from recombine.structure.calling import Loss, precision
from recombine.structure.choose import weights_of
from recombine.structure.masks import Mask
from recombine.structure.methods import constants
from recombine.structure.objective import Constants, MaskObjective
from recombine.structure.plan import Job
from recombine.structure.strategies import LoopedMask, Shape, mask_step
from recombine.structure.units import Part, Units
from recombine.tasks import Draws
from recombine.training.failures import in_short, out_of_memory
from recombine.training.layout import Layout
from recombine.training.stack import Stack
from recombine.training.strategies import STRATEGIES, Stacked

UNDECIDED = (0.05, 0.95)
"""A unit whose soft mask lies between these is neither kept nor removed."""


class Untraceable(Exception):
    """Why a model's step cannot be recorded for a stack of masks."""


class MaskStack:
    """Masks that are stepped together, with all that one step needs."""

    def __init__(self, jobs: Sequence[Job], loss: Loss, device: torch.device) -> None:
        self.jobs, self.device = list(jobs), device
        first = jobs[0]
        self.units, self.method = union([job.units for job in jobs]), first.settings.method
        self.layout = Layout.of_shapes(self.units.shapes)
        dtype = torch.float64 if precision(first.model) is torch.float64 else torch.float32
        flat = torch.stack([self._row(job, dtype) for job in jobs]).to(device)
        optimizer = first.settings.optimizer
        decays = torch.tensor([[float(job.settings.optimizer.weight_decay)] for job in jobs], dtype=dtype)  # type: ignore[arg-type]
        rates = [[float(job.settings.optimizer.lr)] for job in jobs]  # type: ignore[arg-type]
        self.stack = Stack(
            members=tuple(job.place for job in jobs), module=first.model, layout=self.layout, flat=flat, buffers={},
            state=optimizer.start(flat), optimizer=optimizer, lr=torch.tensor(rates, dtype=dtype, device=device),
            decay=decays.to(device) if decays.any() else None, weight=self._column(_penalty, dtype), seed=0,
        )  # fmt: skip
        self.one_model = all(job.model is first.model for job in jobs)
        self.weights = _weights(jobs, self.one_model)
        self.constants = self._constants(dtype)
        self.objective = MaskObjective(
            model=first.model, units=self.units, method=self.method, loss=loss, like=first.problems.inputs,
            aliases={name: weight.aliases for name, weight in weights_of(first.model).items() if weight.aliases},
            everywhere=bool(self.constants.active.all()), scaled=bool((self.constants.scale != 1).any()),
            targeted=first.settings.target_density is not None, ceiling=first.settings.ceiling,
        )  # fmt: skip
        self.betas = torch.stack(
            [job.settings.temperature.values(job.steps, job.settings.epochs) for job in jobs], 1
        ).to(device, dtype)
        seeds, size, kind = [job.settings.seed for job in jobs], first.settings.batch_size, precision(first.model)
        self.batches = Batches([job.problems for job in jobs], seeds, size, device, kind)
        others = [job.other for job in jobs if job.other is not None]
        self.others = Batches(others, seeds, size, device, kind, "other problems") if others else None
        self.shape = Shape(
            noise=tuple(self.units.shapes) if self.method.draws else (),
            inputs=len(first.problems.parts), other=len(others[0].parts) + 1 if others else 0,
            shared=self.batches.shared, other_shared=self.others is None or self.others.shared,
        )  # fmt: skip

    def block(self, steps: range) -> tuple[tuple[Tensor, ...], Tensor]:
        """All that changes from step to step, for a block of steps."""
        *inputs, targets = self.batches.block(steps)
        other = self.others.block(steps) if self.others is not None else ()
        return (self.betas[steps.start : steps.stop], *self._noise(steps), *inputs, *other), targets

    def strategy(self, name: str) -> LoopedMask | Stacked:
        """How these masks are stepped: a stack as training steps members, its step tried here and now."""
        kind = STRATEGIES[name]
        if not issubclass(kind, Stacked):
            return LoopedMask(self.stack, self.objective, self.weights, self.constants, self.shape)
        described = self.stack, self.objective, self.weights, self.one_model, self.constants, self.shape
        branched = kind is STRATEGIES["branches"]
        runner = MaskBranches(*described) if branched else kind(self.stack, mask_step(*described), shared=False)
        inputs, targets = self.block(range(1))
        try:
            runner.prepare(tuple(part[0] for part in inputs), targets[0], len(self.betas))
        except (RuntimeError, NotImplementedError, ValueError, TypeError) as error:
            if out_of_memory(error):
                raise
            raise Untraceable(in_short(error)) from error
        return runner

    @torch.no_grad()
    def state(self, step: int) -> Tensor:
        """Soft density and undecided share of each mask (2 × masks)."""
        low, high = UNDECIDED
        levels = self._levels(step)
        sums = []
        for part in self.layout.split(self.stack.flat).values():
            soft = self.method.expected(part, levels.reshape(-1, *(1 for _ in part.shape[1:])))
            open_ = ((soft > low) & (soft < high)).to(soft.dtype)
            sums.append(torch.stack([soft.flatten(1).sum(1), open_.flatten(1).sum(1)]))
        return (torch.stack(sums, -1) * self.constants.share).sum(-1)

    @torch.no_grad()
    def hard(self) -> list[Mask]:
        masks = []
        levels = self._levels(len(self.betas) - 1)
        for job, numbers, level in zip(self.jobs, self._numbers(), levels, strict=True):
            kept = {name: self.method.hard(part, level).cpu() for name, part in numbers.items()}
            keep = {part.parameter: part.spread(kept[part.units]).clone() for part in job.units.parts}
            masks.append(Mask(keep, job.settings.method.scale, {"settings": job.settings.described()}))
        return masks

    def _levels(self, step: int) -> Tensor:
        """What the soft masks of a step share, for each mask."""
        if not self.method.ranks:
            return self.betas[step]
        return torch.stack([torch.as_tensor(self.method.level(numbers, 1.0)) for numbers in self._numbers()])

    def _numbers(self) -> list[dict[str, Tensor]]:
        return [self.layout.split(row) for row in self.stack.flat]

    def _row(self, job: Job, dtype: torch.dtype) -> Tensor:
        start = constants(self.units, 0.0) | job.settings.method.begin(job.units, dict(job.model.named_parameters()))
        return self.layout.row(start, dtype)

    def _column(self, value: Callable[[Job], float], dtype: torch.dtype) -> Tensor:
        return torch.tensor([value(job) for job in self.jobs], dtype=dtype, device=self.device)

    def _constants(self, dtype: torch.dtype) -> Constants:
        covered = [{part.parameter for part in job.units.parts} for job in self.jobs]
        active = [[part.parameter in own for part in self.units.parts] for own in covered]
        share = [[job.units.covers.get(name, 0) / job.units.weights for name in self.units.shapes] for job in self.jobs]
        return Constants(
            active=torch.tensor(active, device=self.device),
            share=torch.tensor(share, dtype=dtype, device=self.device),
            target=self._column(lambda job: job.settings.target_density or 0.0, dtype),
            scale=self._column(lambda job: job.settings.method.scale, dtype),
            adversary=self._column(lambda job: job.settings.adversary, dtype),
        )

    def _noise(self, steps: range) -> list[Tensor]:
        """Addressed by seed, step and unit tensor, so that it does not depend on what else is masked."""
        seeds = [job.settings.seed for job in self.jobs]
        drawn = {seed: Draws.of([0], steps, seed, self.device) for seed in dict.fromkeys(seeds)}
        return [
            torch.stack([drawn[seed](f"mask {name}").uniform((len(steps), 1, *self.units.shapes[name]))[:, 0]
                         for seed in seeds], 1)
            for name in self.shape.noise
        ]  # fmt: skip


def union(several: Sequence[Units]) -> Units:
    """All parts of some units, each once."""
    parts: dict[str, Part] = {}
    shapes: dict[str, tuple[int, ...]] = {}
    covers: dict[str, int] = {}
    for units in several:
        parts |= {part.parameter: part for part in units.parts}
        shapes |= units.shapes
        covers |= units.covers
    return Units(tuple(parts.values()), shapes, covers)


def _weights(jobs: Sequence[Job], one_model: bool) -> dict[str, Tensor]:
    """All parameters and buffers, not to be trained; stacked where the masks belong to different models."""

    def named(job: Job) -> dict[str, Tensor]:
        model = job.model
        return {name: tensor.detach() for name, tensor in [*model.named_parameters(), *model.named_buffers()]}

    if one_model:
        return named(jobs[0])
    columns = [named(job) for job in jobs]
    return {name: torch.stack([column[name] for column in columns]) for name in columns[0]}


def _penalty(job: Job) -> float:
    return job.settings.penalty * (job.units.weights if job.settings.penalty_on == "sum" else 1)
