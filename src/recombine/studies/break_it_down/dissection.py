"""A run that dissects: bases are trained or read, masks are searched on them and on untrained ones and measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl
from pydantic import Field

from recombine.description import Description
from recombine.errors import InputError
from recombine.runs.files import sha256_of
from recombine.runs.run import Context, Outcome, Run
from recombine.structure import MaskSettings, Network, Protocol, carry_out, find_masks, subroutines_of, untrained
from recombine.structure.plan import LONG
from recombine.tasks import Contours, OddOneOutTask, Task
from recombine.training import Ensemble, Optimizer, starting_from, train
from recombine.training.precision import Precision, rounding

if TYPE_CHECKING:
    from torch import nn

    from recombine.structure import Findings


class Pretraining(Description):
    """What a base learns before its own task: ``model`` on ``task``; its weights are the base's first ones, by name."""

    kind: ClassVar[str] = "pretraining"

    task: Task
    model: Description
    steps: int = Field(ge=0)
    batch_size: int = Field(default=64, ge=1)
    optimizer: Optimizer


class DissectionRun(Run):
    """Train ``bases`` networks on an odd-one-out task, then dissect those that pass the gate.

    Masks are trained on ``learn`` problems of each subroutine and measured on ``asked`` of each partition. ``weights``
    names a file of trained bases that is read instead of training them; its hash is part of the description, so that
    other weights are another run. ``untrained`` networks of the same kind have the same search of their own; without
    ``bases`` they are all that is searched. Bases are numbered from ``first``. Of a long search masks that were found
    before a kill are not searched again."""

    kind: ClassVar[str] = "dissection"

    task: OddOneOutTask
    model: Description
    bases: int = Field(default=3, ge=0)
    first: int = Field(default=0, ge=0)
    steps: int = Field(ge=0)
    batch_size: int = Field(default=32, ge=1)
    optimizer: Optimizer
    pretraining: Pretraining | None = None
    pruning: MaskSettings | None = None
    """Of each trained base only what this mask of its own task keeps is left, before anything else is asked of it."""
    weights: str | None = None
    weights_hash: str | None = None
    learn: int = Field(default=2000, ge=1)
    asked: int = Field(default=300, ge=1)
    free: bool = True
    """Whether the odd item of a problem to learn may break the other rules too (see Family)."""
    protocol: Protocol
    untrained: int = Field(default=1, ge=0)
    seed: int = 0
    precision: Precision = "float32"
    """How products are rounded where bases are trained on a GPU."""
    search_precision: Precision = "tf32"
    """How they are where masks learn there, which are signs in the end; they are measured in TF32."""

    def compute(self, context: Context) -> Outcome:
        found = self.dissected(context)
        tables = {"bases": found.bases, "masks": found.masks, "matrix": found.matrix, "overlap": found.overlap}
        plans = found.notes["searches"]
        how = {name: plans[0].get(name) if plans else None for name in ("strategy", "stack", "reason")}
        notes = {"members": self.bases, "steps": self.steps, **how, "searches": plans, "settings": self.resolved()}
        return Outcome({name: table for name, table in tables.items() if table.width}, {}, notes)

    def dissected(self, context: Context) -> Findings:
        """The findings with the masks themselves, which a run does not keep."""
        bases = self.trained(context)
        networks = [Network(i, "trained", base) for i, base in enumerate(bases, self.first)]
        networks += [
            Network(i, "untrained", untrained(self._build, self.seed + 1000 + i).to(context.device))
            for i in range(self.untrained)
        ]
        parts = subroutines_of(
            self.task.source, problems=self.learn, asked=self.asked, free=self.free, seed=self.seed + 1,
            # Panels are drawn where there is room for millions of pixels; sentences are looked up.
            device=context.device if isinstance(self.task.source, Contours) else "cpu",
        )  # fmt: skip
        search = self.protocol.settings[0]
        long = search.epochs * (self.learn // search.batch_size) >= LONG
        with rounding("tf32" if context.device.startswith("cuda") else "float32"):
            left = None if self.pruning is None else self._prune(bases, self.pruning, context)
            found = carry_out(
                self.protocol, networks, parts, self.task.split("test"), progress=context.progress,
                strategy=mask_strategy(context.device, long),
                precision=self.search_precision if context.device.startswith("cuda") else None,
                checkpoint=context.workspace / "masks" if long else None,
            )  # fmt: skip
        if left is not None:
            found = replace(found, bases=found.bases.with_columns(left=pl.Series(left + [None] * self.untrained)))
        return found

    def trained(self, context: Context) -> list[nn.Module]:
        """The bases, on the device."""
        if not self.bases:
            return []
        if self.weights is not None:
            ensemble = read_bases(self.weights, self.weights_hash, self._build)
            if len(ensemble) < self.first + self.bases:
                raise InputError(f"{self.weights!r} holds {len(ensemble)} bases, {self.bases} are asked for.")
            some = ensemble.members[self.first :][: self.bases]
            return [ensemble.member(m).to(context.device) for m in some]
        every = list(range(self.first, self.first + self.bases))
        if self.pretraining is None:
            ensembles = [self._train(self, "bases", self._build, every, context)]
        else:
            before = self._train(self.pretraining, "pretraining", self.pretraining.model, every, context)
            builds = {i: starting_from(self._build, before, i) for i in every}
            ensembles = [self._train(self, "bases", build, [i], context) for i, build in builds.items()]
        return [ensemble.member(m) for ensemble in ensembles for m in ensemble.members]

    def _prune(self, bases: list[nn.Module], by: MaskSettings, context: Context) -> list[float]:
        """Set to zero what a mask of the base's own task leaves out; the share of weights that is left, by base."""
        problems, how = self.task.split("train"), mask_strategy(context.device)
        found = find_masks(
            bases, problems, by, strategy=how,
            progress=lambda done, total: context.progress(done, total, "steps of pruning"),
        )  # fmt: skip
        for base, mask in zip(bases, found.masks, strict=True):
            own = dict(base.named_parameters())
            for name, kept in mask.keep.items():
                own[name].data.mul_(kept.to(own[name].device))
        return [mask.density for mask in found.masks]

    def _train(
        self, of: DissectionRun | Pretraining, what: str, build: Any, members: list[int], context: Context
    ) -> Ensemble:
        return train(
            build, of.task, members=members, steps=of.steps, batch_size=of.batch_size, optimizer=of.optimizer,
            seed=self.seed, device=context.device, checkpoint=context.workspace / what,
            precision=self.precision if context.device.startswith("cuda") else "float32",
            progress=lambda done, total: context.progress(done, total, f"steps of {what}"),
        )  # fmt: skip

    def _build(self) -> nn.Module:
        return self.model()  # type: ignore[operator,no-any-return]


def mask_strategy(device: str, long: bool = False) -> str:
    """On a GPU a search is over before a compiled step would have paid for itself, unless it is a long one."""
    return "auto" if long or not device.startswith("cuda") else "captured"


def read_bases(path: str, expected: str | None, build: Any) -> Ensemble:
    """Trained bases from a safetensors file; a relative path is looked up in this package."""
    place = Path(path) if Path(path).is_absolute() else Path(__file__).parents[2] / path
    if not place.is_file():
        raise InputError(f"there are no base weights at {path!r}; train them, or leave weights out.")
    if expected is not None and sha256_of(place) != expected:
        raise InputError(f"the base weights at {path!r} are not those of this description.")
    return Ensemble.load(place, build)
