"""From networks to what their masks show: gate, search, measure, choose, train again, control.

Every setting of the search is measured and reported, on problems that nothing was chosen on. One setting a network and
subroutine is *chosen on validation*: of those whose part does the target, the one without which the others are kept
best. Only that one is trained again with other seeds and controlled by random masks and shuffled labels. An untrained
network has the same search of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field
from torch import nn

from recombine.description import Description
from recombine.errors import InputError
from recombine.structure.answers import taught
from recombine.structure.calling import Loss, accuracy
from recombine.structure.controls import shuffled
from recombine.structure.masks import Mask
from recombine.structure.scoring import accuracies, examine, examine_random
from recombine.structure.search import find_masks
from recombine.structure.settings import MaskSettings, grid
from recombine.structure.stability import Key, overlaps
from recombine.structure.subroutines import Subroutine
from recombine.tasks import Problems, cross_entropy
from recombine.training.precision import Precision

if TYPE_CHECKING:
    import polars as pl

Kind = Literal["trained", "untrained"]
Progress = Callable[[int, int, str], None]


class Protocol(Description):
    """How networks are dissected: which masks are searched, when they count, and what they are compared with."""

    kind: ClassVar[str] = "protocol"

    settings: tuple[MaskSettings, ...] = Field(default=grid(), min_length=1)
    """The whole search; every one of them is reported."""
    chance: float | None = Field(default=None, ge=0, lt=1)
    """What guessing reaches; unless given, one over the number of answers that a subroutine's problems have."""
    gate: float = Field(default=0.9, ge=0, le=1)
    """A network that does its own task no better than this is not dissected."""
    passing: float = Field(default=0.9, ge=0, le=1)
    """A mask counts where its part reaches this on problems like those it was trained on."""
    seeds: int = Field(default=3, ge=1)
    """Masks of the chosen setting, each with another order of problems."""
    random: int = Field(default=3, ge=0)
    """Random masks drawn for each chosen one, of its size and, as many, from outside it."""
    shuffled: bool = True
    """Whether the chosen setting is trained once more on shuffled answers."""

    def guessing(self, subroutines: Sequence[Subroutine]) -> float:
        """``chance``, or what it is for these subroutines."""
        return self.chance if self.chance is not None else max(1 / max(2, len(s.answers)) for s in subroutines)


@dataclass(frozen=True, eq=False)
class Network:
    """A network to be dissected: a trained base, or an untrained one that stands beside it."""

    base: int
    kind: Kind
    model: nn.Module


@dataclass(frozen=True, eq=False)
class Findings:
    """Tables of a dissection: one row per network, a mask, a mask and subroutine, a pair of masks."""

    bases: pl.DataFrame
    masks: pl.DataFrame
    matrix: pl.DataFrame
    overlap: pl.DataFrame
    chosen: dict[Key, Mask] = field(repr=False)
    """The mask chosen on validation by base, kind and subroutine; none where no setting passed."""
    notes: dict[str, Any] = field(default_factory=dict, repr=False)


Best = dict[tuple[int, int], tuple[dict[str, Any], Mask]]
"""By network and subroutine, the row of the chosen mask and the mask."""


@dataclass(frozen=True, eq=False)
class _Job:
    network: Network
    target: int
    setting: int
    seed: int
    role: str
    problems: Problems


def carry_out(
    protocol: Protocol,
    networks: Sequence[Network],
    subroutines: Sequence[Subroutine],
    whole: Problems | None = None,
    *,
    loss: Loss = cross_entropy,
    strategy: str = "auto",
    precision: Precision | None = None,
    progress: Progress | None = None,
    checkpoint: Path | None = None,
) -> Findings:
    """Dissect ``networks``; ``whole`` are problems of their own task, for the gate (by default the subroutines');
    ``strategy`` and ``precision`` are those of ``find_masks``.

    Masks are kept in ``checkpoint`` as they are found. Begun again, a dissection goes on from there: of the same
    networks and problems, which only their weights are checked of."""
    import polars as pl

    if len(subroutines) < 2 or len({s.name for s in subroutines}) != len(subroutines):
        raise InputError("a dissection needs two or more subroutines, each with its own name.")
    bases = [gated(network, subroutines, whole, protocol.gate) for network in networks]
    kept = [network for network, row in zip(networks, bases, strict=True) if row["gated"]]
    how = {"strategy": strategy, "precision": precision}
    problems, loss = taught(subroutines, loss)
    work = _Work(protocol, subroutines, loss, how, progress, len(kept), checkpoint)
    searched = [
        _Job(network, target, setting, protocol.settings[setting].seed, "search", shown)
        for network in kept
        for target, shown in enumerate(problems)
        for setting in range(len(protocol.settings))
    ]
    rows, masks = work.measure(searched)
    best = _choose(rows, masks, searched)
    again: list[_Job] = []
    for job, row in zip(searched, rows, strict=True):
        picked = best.get(_key(job))
        row["chosen"] = picked is not None and picked[0] is row
        if row["chosen"]:
            again += [replace(job, role="other seed", seed=job.seed + s) for s in range(1, protocol.seeds)]
            if protocol.shuffled and job.network.kind == "trained":
                answers = shuffled(job.problems, protocol.settings[job.setting].seed)
                again.append(replace(job, role="shuffled answers", problems=answers))
    more, others = work.measure(again)
    seeds: dict[tuple[int, int], list[Mask]] = {key: [mask] for key, (_, mask) in best.items()}
    for job, mask in zip(again, others, strict=True):
        if job.role == "other seed":
            seeds[_key(job)].append(mask)
    controls = [
        {**_labels(job, protocol, subroutines), **control}
        for job, row, mask in zip(searched, rows, masks, strict=True)
        if row["chosen"]
        for control in examine_random(
            job.network.model, mask, subroutines, job.target, work.chance, protocol.random
        )
    ]  # fmt: skip
    of_seeds: dict[Key, list[Mask]] = {
        (network.base, network.kind, subroutine.name): seeds[id(network), target]
        for network in kept
        for target, subroutine in enumerate(subroutines)
        if (id(network), target) in seeds
    }
    table = pl.DataFrame([*rows, *more, *controls], infer_schema_length=None) if rows else pl.DataFrame()
    return Findings(
        bases=pl.DataFrame(bases, infer_schema_length=None),
        masks=table,
        matrix=pl.DataFrame(work.matrix, infer_schema_length=None),
        overlap=overlaps(of_seeds),
        chosen={key: some[0] for key, some in of_seeds.items()},
        notes={"searches": work.notes, "asked": {part.name: len(part.test) for part in subroutines}},
    )


class _Work:
    """Trains lists of masks and measures each; knows how far everything has come."""

    def __init__(
        self, protocol: Protocol, subroutines: Sequence[Subroutine], loss: Loss, how: dict[str, Any],
        progress: Progress | None, networks: int, checkpoint: Path | None = None,
    ) -> None:  # fmt: skip
        self.protocol, self.subroutines, self.loss, self.how = protocol, subroutines, loss, how
        self.chance, self.checkpoint = protocol.guessing(subroutines), checkpoint
        self.progress = progress or (lambda done, total, text: None)
        self.matrix: list[dict[str, Any]] = []
        self.notes: list[Any] = []
        again = protocol.seeds - 1 + protocol.shuffled
        self.total, self.done = networks * len(subroutines) * (len(protocol.settings) + again), 0

    def measure(self, jobs: Sequence[_Job]) -> tuple[list[dict[str, Any]], list[Mask]]:
        """Train the masks of all jobs in one search, then measure each."""
        if not jobs:
            return [], []
        masks = [self._known(job) for job in jobs]
        left = [(i, job) for i, job in enumerate(jobs) if masks[i] is None]
        start = self.done + len(jobs) - len(left)

        def report(done: int, total: int) -> None:
            self.progress(start + len(left) * done // max(total, 1), self.total, "masks")

        def keep(place: int, mask: Mask) -> None:
            i, job = left[place]
            masks[i] = mask
            if (path := self._file(job)) is not None:
                mask.save(path.with_suffix(".part"), job.network.model).replace(path)

        if left:
            found = find_masks(
                [job.network.model for _, job in left],
                [job.problems for _, job in left],
                [self._settings(job) for _, job in left],
                loss=self.loss,
                **self.how,
                progress=report,
                on_found=keep,
            )
            self.notes += found.notes["groups"]
            for place, mask in enumerate(found.masks):
                masks[left[place][0]] = mask
        self.done += len(jobs)
        whole = [mask for mask in masks if mask is not None]
        return [self._row(job, mask) for job, mask in zip(jobs, whole, strict=True)], whole

    def _settings(self, job: _Job) -> MaskSettings:
        return self.protocol.settings[job.setting].replace(seed=job.seed)  # type: ignore[no-any-return]

    def _file(self, job: _Job) -> Path | None:
        of = (job.network.kind, job.network.base, job.role.replace(" ", "_"), job.target, job.setting, job.seed)
        return None if self.checkpoint is None else self.checkpoint / ("-".join(map(str, of)) + ".safetensors")

    def _known(self, job: _Job) -> Mask | None:
        """The mask that was kept when this was begun before; none where a base has come out otherwise since."""
        path = self._file(job)
        if path is None or not path.is_file():
            return None
        try:
            mask = Mask.load(path, job.network.model)
        except InputError:
            return None
        return mask if mask.notes["settings"] == json.loads(json.dumps(self._settings(job).described())) else None

    def _row(self, job: _Job, mask: Mask) -> dict[str, Any]:
        labels = _labels(job, self.protocol, self.subroutines)
        row, (alone, without) = examine(
            job.network.model, mask, self.subroutines, job.target, self.chance, self.protocol.passing
        )
        for asked, sub, rest in zip(self.subroutines, alone, without, strict=True):
            self.matrix.append({**labels, "asked": asked.name, "subnetwork": sub, "ablated": rest})
        size = {"kept": mask.kept, "maskable": mask.count, "density": mask.density}
        return {**labels, "chosen": False, **size, **row}


def _key(job: _Job) -> tuple[int, int]:
    return id(job.network), job.target


def _choose(rows: Sequence[dict[str, Any]], masks: Sequence[Mask], jobs: Sequence[_Job]) -> Best:
    """For each network and subroutine, of the masks that pass, the one without which the others are kept best."""
    best: Best = {}
    for job, row, mask in zip(jobs, rows, masks, strict=True):
        key = _key(job)
        if row["passed"] and (key not in best or row["val_d_abl"] < best[key][0]["val_d_abl"]):
            best[key] = row, mask
    return best


def gated(network: Network, subroutines: Sequence[Subroutine], whole: Problems | None, gate: float) -> dict[str, Any]:
    """What a network does before anything is masked, and whether that is enough to dissect it."""
    found = accuracies(network.model, subroutines)
    own = accuracy(network.model, whole) if whole is not None else sum(found) / len(found)
    parts = {f"on {s.name}": value for s, value in zip(subroutines, found, strict=True)}
    enough = network.kind == "untrained" or own > gate
    return {"base": network.base, "network": network.kind, "accuracy": own, **parts, "gated": enough}


def _labels(job: _Job, protocol: Protocol, subroutines: Sequence[Subroutine]) -> dict[str, Any]:
    own = protocol.settings[job.setting]
    return {
        "base": job.network.base,
        "network": job.network.kind,
        "role": job.role,
        "subroutine": subroutines[job.target].name,
        "setting": job.setting,
        "start": getattr(own.method, "start", None),
        "layers": own.choice.layers,
        "lr": own.optimizer.lr,
        "penalty": own.penalty,
        "seed": job.seed,
    }
