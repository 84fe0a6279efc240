"""The assumptions of the compositional theorem, computed for a task before training or for what a model has learned."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from recombine.checks.theorem._companions import columns_of, companions, values_of
from recombine.checks.theorem.compositional_support import marginals
from recombine.checks.theorem.connected_support import connectedness
from recombine.checks.theorem.promised import TheoremResult
from recombine.checks.theorem.sufficient_support import (
    TOLERANCE,
    ComponentSupport,
    Rank,
    no_rank,
    rank_of_blocks,
    rank_of_jacobians,
)
from recombine.errors import InputError
from recombine.measures.derivatives import Compose, derivative_blocks, jacobians
from recombine.space import FactorSpace, Points
from recombine.support import Support, full
from recombine.tasks import Draws, SpriteTask, Task
from recombine.tasks.abilities import Composed
from recombine.tasks.sprites.compose import Composition
from recombine.tasks.vector_parts import VectorParts
from recombine.training.stack import positional

if TYPE_CHECKING:
    import polars as pl

Parts = Callable[[Tensor], Tensor] | Sequence[Callable[[Tensor], Tensor]]
"""Points (n × factors) → components (n × K × cells × channels); or for each block a function of its own values."""


def sufficient_support(
    composition: Compose,
    components: Parts,
    train: Support,
    test: Support | None = None,
    *,
    names: Sequence[str] = (),
    cellwise: bool = True,
    smooth: bool | None = None,
    same: bool | None = None,
    layout: tuple[int, int] | None = None,
    truth: Parts | None = None,
    values: int = 20,
    points: int = 8,
    seed: int = 0,
    tolerance: float = TOLERANCE,
    device: torch.device | str = "cpu",
) -> TheoremResult:
    """Does the theorem promise that a model with this C, fitted on ``train``, is right on ``test`` (by default, all)?

    ``components`` are the true ones, or a model's after training; ``truth`` are then the true ones, to which the model
    is compared at the initial point. ``smooth`` says whether they can be differentiated, ``same`` whether this C made
    the data. At ``values`` drawn values of
    each block, ``points`` points of training that share it are looked at (all rows of a listed support)."""
    space = train.space
    names = tuple(names) or block_names(space)
    if len(names) != len(space.components):
        raise InputError(f"there are {len(space.components)} blocks and {len(names)} names; give as many.")
    draw = _drawer(components, space, device)
    double = copy.deepcopy(composition).double() if isinstance(composition, nn.Module) else composition
    found = []
    for k, name in enumerate(names):
        shared = _shared(train, k, values, points, seed)
        ranks = [_rank(double, draw(some), k, cellwise, tolerance) for some in shared]
        found.append(ComponentSupport.of(name, ranks or [_nothing(draw, train, seed)]))
    blocks, factors = _marginals(train, full(space) if test is None else test, names, seed)
    connected = _connectedness(train, seed)
    return TheoremResult(
        composition=_name(composition),
        differentiable=getattr(composition, "differentiable", None),
        smooth=smooth,
        same=same,
        blocks=blocks,
        factors=factors,
        components=tuple(found),
        connected=connected,
        layout=layout,
        initial_error=None if truth is None else _distance(draw, _drawer(truth, space, device), connected.initial),
        settings={"values": values, "points": points, "seed": seed, "tolerance": tolerance, "cellwise": cellwise},
    )


def check_theorem(
    task: Task, model: nn.Module | None = None, *, composition: Composition | None = None, **settings: Any
) -> TheoremResult:
    """Does the theorem promise generalization from a task's training support to its test support?

    Before training: for the task's own components and composition, or for a model that composes by another
    ``composition``. After training, with ``model`` (one member, which has ``components`` and ``compose``): for what it
    learned. ``settings`` are those of `sufficient_support`.

        rc.check_theorem(SpriteTask(side=24, raster="smooth", support="orthogonal")).promises
        # examples/check_theorem.py compares six plans
    """
    if not isinstance(task, Composed):
        raise InputError("the theorem is about composed components; this task has none. Use sufficient_support.")
    compose, truth = composition or task.composition, None
    if model is not None:
        learner: Any = model
        if not hasattr(model, "components") or not hasattr(model, "compose"):
            raise InputError("the theorem is about composed components; this model has none. Give a Compositional one.")
        compose, parts, truth = learner.compose, _learned(learner, task), task.components
    else:
        # Another composition may want more channels, such as an alpha, of the same components.
        parts = (cast(Any, task).replace(composition=compose) if compose != task.composition else task).components
    found: dict[str, Any] = {
        "smooth": True if model is not None or isinstance(task, VectorParts) else None,
        "same": compose == task.composition if isinstance(compose, Composition) else None,
        "truth": truth,
    }
    if isinstance(task, SpriteTask):
        found["names"] = ("front", "rear") if task.sprites == 2 else [f"sprite {k + 1}" for k in range(task.sprites)]
        found["layout"] = (task.side, task.side)
        # A shape is one of a list and pixels with hard edges jump: only soft edges of one shape follow their latents.
        found["smooth"] = found["smooth"] or (task.raster == "smooth" and len(task.latents.shapes) == 1)
    return sufficient_support(compose, parts, task.train, task.test, **(found | settings))


def block_names(space: FactorSpace) -> tuple[str, ...]:
    """What a block is called: what the names of its factors share before a dot or number, or all of them."""
    names = []
    for block in space.components:
        starts = {re.split(r"[-. _\d]", name)[0] for name in block}
        names.append(starts.pop() if len(block) > 1 and len(starts) == 1 else ", ".join(block))
    return tuple(names) if len(set(names)) == len(names) else tuple(", ".join(block) for block in space.components)


def theorem_table(results: Iterable[tuple[str, TheoremResult]]) -> pl.DataFrame:
    """One row per support (its name) and result: each assumption, rank ranges, the verdict."""
    import polars as pl

    return pl.DataFrame([result.row(support=name) for name, result in results], infer_schema_length=None)


def _drawer(parts: Parts, space: FactorSpace, device: torch.device | str) -> Callable[[Points], Tensor]:
    """Points as an array → components in double precision, one cell per number where they are vectors."""

    def draw(points: Points) -> Tensor:
        rows = torch.as_tensor(np.array(points), dtype=torch.float64, device=device)
        with torch.no_grad():
            if callable(parts):
                drawn = parts(rows)
            else:
                columns = [torch.as_tensor(columns_of(space, k), device=device) for k in range(len(space.components))]
                drawn = torch.stack([phi(rows[:, c]) for phi, c in zip(parts, columns, strict=True)], dim=1)
        return (drawn if drawn.dim() > 3 else drawn[..., None]).double()

    return draw


@lru_cache(maxsize=64)
def _shared(train: Support, component: int, values: int, points: int, seed: int) -> tuple[Points, ...]:
    """For each drawn value of a block, the points that share it: the same for every composition."""
    chosen = values_of(train, component, values, seed)
    return tuple(companions(train, point, component, points, seed + i) for i, point in enumerate(chosen))


_marginals = lru_cache(maxsize=64)(lambda train, test, names, seed: marginals(train, test, names, seed=seed))
_connectedness = lru_cache(maxsize=64)(lambda train, seed: connectedness(train, seed=seed))


def _name(composition: Compose) -> str:
    if isinstance(composition, nn.Module):
        return "the learned composition"
    return str(getattr(composition, "kind", None) or getattr(composition, "__name__", "the composition"))


def _learned(model: Any, task: Task) -> Callable[[Tensor], Tensor]:
    """A model's components at points of the task."""
    like = next(model.parameters())

    def parts(points: Tensor) -> Tensor:
        inputs, _ = task.examples(points.to(like.device), Draws.single(0, "theorem", like.device))
        made: Tensor = model.components(*(part.to(like) for part in positional(inputs)))
        return made

    return parts


def _rank(composition: Compose, components: Tensor, component: int, cellwise: bool, tolerance: float) -> Rank:
    cells, channels = components.shape[-2:]
    if not len(components):
        return no_rank(cells, channels)
    if cellwise:
        blocks = derivative_blocks(composition, components)[:, component]
        return rank_of_blocks(blocks.detach().cpu().numpy(), tolerance)
    return rank_of_jacobians(jacobians(composition, components, component).cpu().numpy(), cells, tolerance)


def _nothing(draw: Callable[[Points], Tensor], train: Support, seed: int) -> Rank:
    cells, channels = draw(train.sample(1, seed)).shape[-2:]
    return no_rank(cells, channels)


def _distance(one: Callable[[Points], Tensor], other: Callable[[Points], Tensor], point: Sequence[float]) -> float:
    """Between components at one point, relative to the size of the second."""
    here = np.array([point])
    learned, true = one(here).cpu(), other(here).cpu()
    if learned.shape != true.shape:
        raise InputError(f"learned components are {tuple(learned.shape)} and the true ones {tuple(true.shape)}.")
    return float((learned - true).norm() / true.norm().clamp(min=1e-12))
