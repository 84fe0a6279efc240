"""How far a network is made of one part per factor: masks for each factor's share of the answer, taken out again.

For every factor a mask is trained whose part of the network still says that factor right; the network *without* it is
then asked for every factor. D_abl = accuracy on its own factor − accuracy on the others, near −1 + chance where the
part can be taken out and leaves the others whole, near 0 where all share their weights (Lepori et al. 2023).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from recombine.errors import InputError
from recombine.measures._lenses import Reading, reading
from recombine.measures.listed import ListedNumbers, listed
from recombine.structure.calling import respond
from recombine.structure.evaluate import ablated, subnetwork
from recombine.structure.methods import ContinuousSparsification
from recombine.structure.schedule import Geometric
from recombine.structure.scoring import difference
from recombine.structure.search import find_masks
from recombine.structure.settings import MaskSettings
from recombine.tasks import Draws, Problems, Task, cross_entropy
from recombine.training import Adam, Ensemble

if TYPE_CHECKING:
    import polars as pl

NOT_ASKED = -1
PASSING = 0.7
COLUMNS = ("d_abl", "d_sub", "passed", "density")


def modularity(
    ensemble: Ensemble,
    task: Task,
    learn: int = 256,
    asked: int = 256,
    epochs: int = 25,
    batch_size: int = 32,
    penalties: ListedNumbers = (5, 20),
    lr: float = 0.03,
    passing: float = PASSING,
    seed: int = 0,
) -> pl.DataFrame:
    """One mask a member, factor and penalty. One row per member: D_abl and D_sub, mean over the masks that pass.

    Masks learn on ``learn`` examples of seen combinations and are measured on ``asked`` others, again of seen ones; one
    passes where its part says its own factor right on at least ``passing`` of them. Nothing is chosen: this is a
    typical mask, not the best of many. Where none passes, D_abl is null. ``passed`` is the share of masks that pass,
    ``density`` the mean share of weights that they keep.

    ``penalties`` must be large: where factors go together in what was seen, a mask that may keep much keeps the other
    factor's part too, and two separate halves look like one network."""
    import polars as pl

    read = reading(task)
    if read is None:
        raise InputError("modularity needs a task that tells the parts of its answers: says(outputs) or answer_part.")
    factors = len(task.space.components)
    chance = 1 / min(task.space.shape)
    settings = [
        MaskSettings(
            method=ContinuousSparsification(start=0.05), optimizer=Adam(lr=lr), temperature=Geometric(per="step"),
            penalty=float(penalty), epochs=epochs, batch_size=batch_size, seed=seed,
        )
        for penalty in listed(penalties)
    ]  # fmt: skip
    inputs, levels = shown(task, learn, "to learn", ensemble.device, seed)
    problems = [Problems(inputs, only(levels, k)) for k in range(factors)]
    fresh = Problems(*shown(task, asked, "to measure", ensemble.device, seed))
    networks = {member: ensemble.member(member) for member in ensemble.members}
    jobs = [(member, k, own) for member in networks for k in range(factors) for own in settings]
    found = find_masks(
        [networks[member] for member, _, _ in jobs],
        [problems[k] for _, k, _ in jobs],
        [own for _, _, own in jobs],
        loss=partial(asked_loss, read),
        # A search this short is over before a compiled step would have paid for itself.
        strategy="captured" if ensemble.device.type == "cuda" else "auto",
    )
    masks: dict[int, list[dict[str, float]]] = {member: [] for member in networks}
    for (member, k, _), mask in zip(jobs, found.masks, strict=True):
        alone, without = (right(part(networks[member], mask), fresh, read) for part in (subnetwork, ablated))
        passed = alone[k] >= passing
        scores = {"d_abl": difference(without, k, chance), "d_sub": difference(alone, k, chance)} if passed else {}
        masks[member].append({**scores, "passed": float(passed), "density": mask.density})
    rows = [
        {"member": member} | {name: mean([mask[name] for mask in own if name in mask]) for name in COLUMNS}
        for member, own in masks.items()
    ]
    return pl.DataFrame(rows, schema={"member": pl.Int32, **dict.fromkeys(COLUMNS, pl.Float64)})


def shown(task: Task, count: int, purpose: str, device: torch.device, seed: int) -> tuple[Any, Tensor]:
    """Inputs of seen combinations and their levels; to learn, made of training material where the task has its own."""
    points = torch.as_tensor(task.train.explicit().codes.copy(), device=device)
    draws = Draws.single(seed, f"modularity {purpose}", device)
    # Every combination in turn, so that none is missing where there are more examples than combinations.
    chosen = points[torch.arange(count, device=device) % len(points)]
    make = task.trained_examples if purpose == "to learn" else task.examples
    return make(chosen, draws)[0], chosen


def only(levels: Tensor, factor: int) -> Tensor:
    """The levels of one factor; the others are not asked for."""
    kept = torch.full_like(levels, NOT_ASKED)
    kept[:, factor] = levels[:, factor]
    return kept


def asked_loss(read: Reading, outputs: Tensor, targets: Tensor) -> Tensor:
    """The cross entropy of the factors that are asked for, one number per example."""
    parts = [
        cross_entropy(scores, targets[..., k].clamp(min=0)) * (targets[..., k] != NOT_ASKED)
        for k, scores in enumerate(read(outputs))
    ]
    return torch.stack(parts).sum(0)


def right(model: nn.Module, problems: Problems, read: Reading) -> list[float]:
    """The share of examples in which each factor is said right."""
    said = read(respond(model, problems))
    levels = problems.targets.to(said[0].device)
    return [float((scores.argmax(-1) == levels[:, k]).double().mean()) for k, scores in enumerate(said)]


def mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None
