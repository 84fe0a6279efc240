"""What a decoder draws: its error against a blank picture, where the bump is, and what else is there.

A blank picture costs π σ²/N², so an error is only large or small against that (Liang et al. 2025 give it bare; their
3–5e-3 at side 28 is a blank picture's). Error and place can disagree completely, so both are given. Two factors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d

from recombine.errors import InputError
from recombine.space import Points
from recombine.tasks import BumpTask, Task
from recombine.training import Ensemble

if TYPE_CHECKING:
    import polars as pl

NEAR = 1
"""A bump is located where its largest pixel is at most this far from its centre, in both coordinates."""

REACH = 2
"""Pixels this near the centre's row or column belong to its arms; those near both belong to the bump."""

BLANK = 1e-3
"""An output with less than this share of a bump's energy is blank: it has no place and no shape."""

FIT = 0.01
"""No verdict on unseen combinations above this error over that of a blank picture on the seen ones."""

WINDOW = 7
SAMPLED = 512
"""Combinations that are asked for where centres are real numbers, of which almost surely none was trained on."""


def rendering(ensemble: Ensemble, task: Task, chunk: int = 2048) -> pl.DataFrame:
    """One row per member and split ("seen", "unseen", "inside"): means over its combinations.

    "inside" are the unseen combinations that are further than one pixel from everything seen, where a copy of a seen
    bump cannot count as located (none where centres are real numbers). ``mse``, ``over_blank``; ``located``; ``arms``,
    ``box`` and ``bump``: shares of the output's energy on the row and column of the centre, in the held-out cells, and
    at the centre (null where blank); ``ssim``; ``blank``: the share of outputs that are blank."""
    import polars as pl

    of = pictures_of(task)
    listed = of.space.finite
    points = {name: support.explicit().codes if listed else support.sample(SAMPLED, 0)
              for name, support in (("seen", of.train), ("unseen", of.test))}  # fmt: skip
    box = torch.zeros(of.side, of.side, dtype=torch.bool)
    if listed:
        held = torch.as_tensor(points["unseen"].copy())
        box[held[:, 1], held[:, 0]] = True
    rows: list[dict[str, object]] = []
    for split, codes in points.items():
        scores = _scored(ensemble, of, codes, box, chunk)
        groups = {split: np.ones(len(codes), bool)}
        if split == "unseen" and listed:
            groups["inside"] = inside(points["seen"], codes)
        for name, mask in groups.items():
            if mask.any():
                rows += _means(ensemble, scores, mask, name)
    return pl.DataFrame(rows, schema_overrides={"member": pl.Int32}, infer_schema_length=None)


def outputs_of(ensemble: Ensemble, task: BumpTask, codes: Points, chunk: int = 2048) -> Tensor:
    """Signals (members × points × side × side): outputs without background, bumps upwards."""
    points = torch.as_tensor(np.array(codes), device=ensemble.device)
    parts = []
    for at in range(0, len(points), chunk):
        out = ensemble.predict(task.codes(points[at : at + chunk]).to(ensemble.flat))
        parts.append(out.reshape(*out.shape[:2], task.side, task.side))
    return task.signal(torch.cat(parts, dim=1))


def located(signals: Tensor, points: Tensor) -> Tensor:
    """Whether the largest pixel (… × side × side) is within one pixel of (x, y); x is the column."""
    place = signals.flatten(-2).argmax(-1)
    side = signals.shape[-1]
    near = ((place % side) - points[..., 0]).abs() <= NEAR
    return near & ((place // side - points[..., 1]).abs() <= NEAR)


def inside(seen: Points, asked: Points) -> np.ndarray:
    """Which of the asked combinations are more than one pixel (in some coordinate) from every seen one."""
    far = np.abs(asked[:, None, :] - seen[None, :, :]).max(-1).min(1)
    return np.asarray(far > NEAR)


def ssim(first: Tensor, second: Tensor) -> Tensor:
    """Structural similarity (Wang et al. 2004) over 7 × 7 windows, pictures in [0, 1]; (… × side × side) → (…)."""
    lead = torch.broadcast_shapes(first.shape, second.shape)
    window = min(WINDOW, lead[-1])
    a, b = (p.expand(lead).reshape(-1, 1, *lead[-2:]) for p in (first, second))
    mean_a, mean_b = avg_pool2d(a, window, 1), avg_pool2d(b, window, 1)
    var_a, var_b = avg_pool2d(a * a, window, 1) - mean_a**2, avg_pool2d(b * b, window, 1) - mean_b**2
    both = avg_pool2d(a * b, window, 1) - mean_a * mean_b
    c1, c2 = 0.01**2, 0.03**2
    each = (2 * mean_a * mean_b + c1) * (2 * both + c2) / ((mean_a**2 + mean_b**2 + c1) * (var_a + var_b + c2))
    return each.mean((1, 2, 3)).reshape(lead[:-2])


def pictures_of(task: Task) -> BumpTask:
    if not isinstance(task, BumpTask) or task.factors != 2:
        raise InputError("this measure looks at pictures of two factors; give a BumpTask with factors=2.")
    return task


def _scored(ensemble: Ensemble, task: BumpTask, codes: Points, box: Tensor, chunk: int) -> dict[str, Tensor]:
    """Scores (members × points) of every combination."""
    found: dict[str, list[Tensor]] = {}
    grid = torch.arange(task.side, device=ensemble.device)
    box = box.to(ensemble.device)
    for at in range(0, len(codes), chunk):
        points = torch.as_tensor(np.array(codes[at : at + chunk]), device=ensemble.device)
        signal = outputs_of(ensemble, task, codes[at : at + chunk], chunk)
        target = task.signal(task.pictures(points)).to(signal)
        energy = signal.square()
        total = energy.sum((-1, -2))
        blank = total < BLANK * target.square().sum((-1, -2))
        column = (grid - points[:, :1]).abs() <= REACH
        row = (grid - points[:, 1:]).abs() <= REACH
        cross, centre = row[:, :, None] | column[:, None, :], row[:, :, None] & column[:, None, :]
        undefined = torch.where(blank, torch.nan, 1.0) / total.clamp(min=1e-30)
        each = {
            "mse": (signal - target).square().mean((-1, -2)),
            "located": (located(signal, points) & ~blank).to(signal),
            "arms": (energy * (cross & ~centre)).sum((-1, -2)) * undefined,
            "bump": (energy * centre).sum((-1, -2)) * undefined,
            "box": (energy * box).sum((-1, -2)) * undefined,
            "ssim": ssim(signal, target),
            "blank": blank.to(signal),
        }
        for name, value in each.items():
            found.setdefault(name, []).append(value.double().cpu())
    scores = {name: torch.cat(parts, dim=1) for name, parts in found.items()}
    return scores | {"over_blank": scores["mse"] / task.blank_error}


def _means(ensemble: Ensemble, scores: dict[str, Tensor], mask: np.ndarray, split: str) -> list[dict[str, object]]:
    kept = torch.as_tensor(mask)
    means = {name: value[:, kept].nanmean(1).tolist() for name, value in scores.items()}
    return [
        {"member": member, "split": split, "combinations": int(mask.sum())}
        | {name: value[i] if value[i] == value[i] else None for name, value in means.items()}
        for i, member in enumerate(ensemble.members)
    ]
