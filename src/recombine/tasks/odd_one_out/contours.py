"""Closed random curves: one point in each quadrant of a ring, and every side split at a jittered midpoint.

The construction follows the shapes of Zerroug et al. (2022) with one change: a midpoint keeps to the angles between its
two ends and to the ring, instead of the whole curve being drawn again when it leaves it. So every curve is star-shaped,
hence simple, and thousands are made at once. A curve is resampled at equal steps along its length.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from recombine.tasks.draws import Draws

OUTER, HOLE = 0.5, 0.2
"""The ring; a wider hole makes rounder curves."""
SPLITS = 4
"""Sides are split this often: 4 · 2⁴ = 64 corners, about the spacing of the paper's large shapes."""
JITTER = 0.2
"""How far a midpoint is moved at most along each axis, in lengths of its side."""
STEP = 0.9
"""The most pixels between two samples of a curve: less than one, so that they fall into neighbouring pixels."""
LENGTH = 4.0
"""The length of a curve, in sizes, that its samples are counted for; the longest of 20 000 was 3.9."""


def sample_count(pixels: float) -> int:
    """Samples of a curve of this size, at most `STEP` apart."""
    return 16 * math.ceil(LENGTH * pixels / STEP / 16)


def curves(draws: Draws, samples: int, hole: float = HOLE) -> Tensor:
    """One curve a stream (streams × samples × 2), turned at random, centred, the longer side of its box 1."""
    lead = draws.lead
    quadrant = torch.arange(4, device=draws.keys.device)
    angle = (quadrant + draws("angle").uniform((*lead, 4))) * (math.pi / 2)
    radius = hole + (OUTER - hole) * draws("radius").uniform((*lead, 4))
    for level in range(SPLITS):
        angle, radius = _split(angle, radius, draws(f"split {level}"), hole)
    angle = angle + 2 * math.pi * draws("turn").uniform((*lead, 1))
    return _boxed(_resampled(radius[..., None] * _direction(angle), samples))


def _split(angle: Tensor, radius: Tensor, draws: Draws, hole: float) -> tuple[Tensor, Tensor]:
    """Every side with a midpoint put in, jittered, then held between its ends and within the ring."""
    ends = radius[..., None] * _direction(angle)
    following = ends.roll(-1, -2)
    side = following - ends
    jitter = (2 * draws.uniform(ends.shape) - 1) * JITTER * side.norm(dim=-1, keepdim=True)
    middle = (ends + following) / 2 + jitter
    gap = torch.cat([angle[..., 1:], angle[..., :1] + 2 * math.pi], -1) - angle
    turned = torch.atan2(_cross(ends, middle), (ends * middle).sum(-1))
    between = angle + turned.clamp(min=0.15 * gap, max=0.85 * gap)
    distance = middle.norm(dim=-1).clamp(hole, OUTER)
    return torch.stack([angle, between], -1).flatten(-2), torch.stack([radius, distance], -1).flatten(-2)


def _resampled(corners: Tensor, samples: int) -> Tensor:
    """Points at equal steps along a closed polygon."""
    closed = torch.cat([corners, corners[..., :1, :]], -2)
    lengths = closed.diff(dim=-2).norm(dim=-1)
    reached = torch.cat([torch.zeros_like(lengths[..., :1]), lengths.cumsum(-1)], -1)
    wanted = reached[..., -1:] * torch.arange(samples, device=corners.device) / samples
    before = (torch.searchsorted(reached, wanted.contiguous(), right=True) - 1).clamp(0, corners.shape[-2] - 1)
    along = (wanted - reached.gather(-1, before)) / lengths.gather(-1, before).clamp(min=1e-9)
    pairs = before[..., None].expand(*before.shape, 2)
    first, second = closed.gather(-2, pairs), closed.gather(-2, pairs + 1)
    points: Tensor = first + along[..., None] * (second - first)
    return points


def _boxed(points: Tensor) -> Tensor:
    low, high = points.amin(-2, keepdim=True), points.amax(-2, keepdim=True)
    return (points - (low + high) / 2) / (high - low).amax(-1, keepdim=True)


def _direction(angle: Tensor) -> Tensor:
    return torch.stack([angle.cos(), angle.sin()], -1)


def _cross(a: Tensor, b: Tensor) -> Tensor:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
