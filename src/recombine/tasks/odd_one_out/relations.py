"""Placing one contour inside or outside another, touching it or not, exactly and for many pairs at once.

Two curves sampled at most h apart are at least d − h apart where their nearest samples are d apart. A curve that is
moved by the vector between those samples, shortened by h, therefore touches the other and does not cross it.
"""

from __future__ import annotations

import torch
from torch import Tensor

from recombine.tasks.draws import Draws
from recombine.tasks.odd_one_out.contours import STEP

APART = 3.0
"""Pixels between samples of curves that do not touch. At 3, two pixels of theirs are at least 3/√2 − 1 > 1 apart on
some axis, so that there is white between."""
TOUCHING = STEP
"""Pixels left between samples of curves that touch: they fall into the same pixel or into neighbours."""
TRIES = 6
"""Places tried for the second contour before everything is drawn anew."""
COARSE = 3
"""Places are tried with every third sample; the one taken is checked with all."""


def nearest(one: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
    """For pairs of curves (pairs × samples × 2): the least distance of their samples, and the vector that takes the
    nearest sample of ``other`` to that of ``one``."""
    squared = _squared_distances(one, other)
    row = torch.arange(len(one), device=one.device)
    # Least by row, then within the row: far faster than one search through all pairs of samples.
    mine = squared.amin(2).argmin(1)
    theirs = squared[row, mine].argmin(1)
    vector = one[row, mine] - other[row, theirs]
    return vector.norm(dim=-1), vector


def encloses(polygon: Tensor, point: Tensor) -> Tensor:
    """Whether points (… × 2) lie inside polygons (… × samples × 2): a ray to the right crosses the outline oddly."""
    ahead = polygon.roll(-1, -2)
    x, y = point[..., None, 0], point[..., None, 1]
    spans = (polygon[..., 1] > y) != (ahead[..., 1] > y)
    rise = ahead[..., 1] - polygon[..., 1]
    crossing = polygon[..., 0] + (y - polygon[..., 1]) * (ahead[..., 0] - polygon[..., 0]) / torch.where(
        rise == 0, torch.ones_like(rise), rise
    )
    return (spans & (x < crossing)).sum(-1) % 2 == 1


def place(
    big: Tensor, small: Tensor, inside: Tensor, contact: Tensor, low: float, high: float, draws: Draws
) -> tuple[Tensor, Tensor]:
    """Move ``small`` (pairs × samples × 2) so that it is inside ``big`` or not, and touches it or not.

    Both stay within the square from ``low`` to ``high``. Returns the moved contours and which pairs succeeded; for the
    others, nothing that was tried was right."""
    reach = small.abs().amax(-2)
    box_low, box_high = big.amin(-2), big.amax(-2)
    unit = draws("place").uniform((*draws.lead, TRIES, 2))
    # Within the box of the large contour, less the white that must lie between: nothing that is possible is left out.
    clear = reach + torch.where(inside & ~contact, APART, 0.0)[:, None]
    start = torch.where(inside[:, None], box_low, torch.full_like(box_low, low)) + clear
    stop = torch.where(inside[:, None], box_high, torch.full_like(box_high, high)) - clear
    centres = start[:, None] + unit * (stop - start).clamp(min=0)[:, None]
    tried = small[:, None, ::COARSE] + centres[:, :, None]
    rough = big[:, ::COARSE]
    squared = _squared_distances(rough, tried.flatten(1, 2)).amin(1)
    distance = squared.unflatten(1, (TRIES, -1)).amin(-1).clamp(min=0).sqrt()
    right = encloses(rough[:, None], tried[:, :, 0]) == inside[:, None]
    enough = torch.where(contact, 1.5 * STEP, APART)
    # The first place that looks right; none where all look wrong.
    chosen = (right & (distance > enough[:, None])).long().argmax(1)
    row = torch.arange(len(big), device=big.device)
    moved = small + centres[row, chosen][:, None]
    apart, vector = nearest(big, moved)
    good = (encloses(big, moved[:, 0]) == inside) & (apart > enough)
    shift = vector * ((apart - TOUCHING) / apart.clamp(min=1e-9))[:, None]
    moved = torch.where(contact[:, None, None], moved + shift[:, None], moved)
    return moved, good & within(moved, low, high)


def within(outline: Tensor, low: float, high: float) -> Tensor:
    """Whether all of each contour (… × samples × 2) lies in the square from ``low`` to ``high``."""
    return ((outline >= low) & (outline <= high)).flatten(-2).all(-1)


def _squared_distances(one: Tensor, other: Tensor) -> Tensor:
    """|a|² − 2ab + |b|² for all samples of pairs of curves, about a common centre, as one product."""
    middle = one.mean(-2, keepdim=True)
    a, b = one - middle, other - middle
    left = torch.cat([-2 * a, a.square().sum(-1, keepdim=True), torch.ones_like(a[..., :1])], -1)
    right = torch.cat([b, torch.ones_like(b[..., :1]), b.square().sum(-1, keepdim=True)], -1)
    return left @ right.transpose(1, 2)
