"""Panels with contours that are inside one another or not, touch or not, and have a number.

Two kinds. *Pairs*: each a large and a small contour; up to four pairs, each in its own quarter of the panel, or one
that has it all. *Clumps*: copies of one contour that all hang together; where the contact is broken, one lies apart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from recombine.errors import InputError
from recombine.tasks.draws import Draws
from recombine.tasks.odd_one_out.contours import HOLE, curves, sample_count
from recombine.tasks.odd_one_out.problems import of_keys
from recombine.tasks.odd_one_out.relations import APART, TOUCHING, nearest, place

MOST = 4
"""Pairs or copies that a panel can hold."""
ROUNDS = 400
"""How often what could not be placed is drawn anew."""
MARGIN = 1.0
SMALL = (1 / 4, 1 / 2.5)
"""Small contours, in sizes of the large one they go with."""
SMALLEST = 5.0
"""Pixels of the smallest contour that still looks like one."""
COPIES = (0.16, 0.24)


@dataclass(frozen=True)
class Scenes:
    """Outlines in pixels (panels × objects × samples × 2) and which of them are there (panels × objects).

    Of pairs, objects 0 … 3 are the large contours and 4 … 7 the small ones that go with them."""

    outlines: Tensor
    present: Tensor


def large_hole(side: int, alone: bool) -> float:
    """The hole of the ring of large contours: the paper's where they have room, wider where a small contour and the
    white around it would seldom fit in."""
    return HOLE if alone and side >= 64 else 0.3


def large_sizes(side: int, alone: bool) -> tuple[float, float]:
    """Least and greatest size of a large contour in pixels: the paper's .25 to .5 of a panel that it has alone, and
    more on panels so small that nothing would be seen, and .27 to .33 where it shares one."""
    if not alone:
        return 0.27 * side, 0.33 * side
    low = max(0.25, 16 / side)
    return low * side, max(0.5, low + 0.2) * side


def pairs(counts: Tensor, inside: Tensor, contact: Tensor, side: int, alone: bool, draws: Draws) -> Scenes:
    """``counts`` pairs a panel, all nested and touching as told, but for the first, which alone may be otherwise.

    ``inside`` and ``contact`` are (panels × 4), one entry per pair. ``alone`` gives one pair the whole panel."""
    panels, device = len(counts), counts.device
    slots = 1 if alone else MOST
    low, high = large_sizes(side, alone)
    cell = side if alone else side / 2
    present = torch.arange(slots, device=device) < counts[:, None]
    which = present.nonzero()
    keys = draws("pairs").bits((panels, slots))[present]
    chosen = inside[:, :slots][present], contact[:, :slots][present]
    big, small = _placed_pairs(*chosen, cell, (low, high), large_hole(side, alone), of_keys(keys))
    corner = draws("quarter").uniform((panels, MOST)).argsort(-1)[:, :slots][present]
    shift = torch.stack([corner % 2, corner // 2], -1) * (0.0 if alone else cell)
    outlines = torch.zeros(panels, 2 * slots, big.shape[1], 2, device=device)
    outlines[which[:, 0], which[:, 1]] = big + shift[:, None]
    # The small contour has fewer samples; they are repeated to fill the row.
    filled = small[:, torch.arange(big.shape[1], device=device) % small.shape[1]]
    outlines[which[:, 0], slots + which[:, 1]] = filled + shift[:, None]
    return Scenes(outlines, present.repeat(1, 2))


def clumps(counts: Tensor, contact: Tensor, side: int, draws: Draws) -> Scenes:
    """``counts`` copies of one contour per panel, in one clump; without ``contact`` (panels), one copy lies apart."""
    panels = len(counts)
    samples = sample_count(COPIES[1] * side)
    outlines = torch.zeros(panels, MOST, samples, 2, device=counts.device)
    pending = torch.arange(panels, device=counts.device)
    for attempt in range(ROUNDS):
        tried, good = _clump(
            counts[pending], contact[pending], side, samples, of_keys(draws.keys[pending])(f"attempt {attempt}")
        )
        outlines[pending[good]] = tried[good]
        pending = pending[~good]
        if not len(pending):
            return Scenes(outlines, torch.arange(MOST, device=counts.device) < counts[:, None])
    raise _too_small(side)


def _placed_pairs(
    inside: Tensor, contact: Tensor, cell: float, sizes: tuple[float, float], hole: float, draws: Draws
) -> tuple[Tensor, Tensor]:
    """A large and a small contour for each stream, in a square of ``cell`` pixels, related as told."""
    low, high = sizes
    smallest, largest = min(SMALLEST, SMALL[1] * low), max(SMALLEST, SMALL[1] * high)
    many, few = sample_count(high), sample_count(largest)
    device = inside.device
    big, small = torch.zeros(len(inside), many, 2, device=device), torch.zeros(len(inside), few, 2, device=device)
    pending = torch.arange(len(inside), device=device)
    for attempt in range(ROUNDS):
        now = of_keys(draws.keys[pending])(f"attempt {attempt}")
        unit = now("sizes").uniform((len(pending), 4))
        size = low + (high - low) * unit[:, :1]
        part = (size * (SMALL[0] + (SMALL[1] - SMALL[0]) * unit[:, 1:2])).clamp(min=smallest)
        outer = curves(now("large"), many, hole) * size[..., None]
        reach = outer.abs().amax(-2)
        room = cell - 2 * MARGIN - 2 * reach
        outer = outer + (MARGIN + reach + room * unit[:, 2:])[:, None]
        inner = curves(now("small"), few) * part[..., None]
        inner, good = place(outer, inner, inside[pending], contact[pending], MARGIN, cell - MARGIN, now)
        big[pending[good]], small[pending[good]] = outer[good], inner[good]
        pending = pending[~good]
        if not len(pending):
            return big, small
    raise _too_small(round(cell))


def _clump(counts: Tensor, contact: Tensor, side: int, samples: int, draws: Draws) -> tuple[Tensor, Tensor]:
    """One attempt at each clump, and whether it came out right."""
    panels, device = len(counts), counts.device
    size = side * (COPIES[0] + (COPIES[1] - COPIES[0]) * draws("size").uniform((panels,)))
    shape = curves(draws("copy"), samples) * size[:, None, None]
    centres = torch.zeros(panels, 1, 2, device=device)
    good = torch.ones(panels, dtype=torch.bool, device=device)
    together = counts - (~contact).long()
    for number in range(1, MOST):
        # Only panels that hold this copy in their clump are asked where it touches.
        asked = (together > number).nonzero()[:, 0]
        centre = torch.zeros(panels, 1, 2, device=device)
        found, free = _touching(shape[asked], size[asked], centres[asked], of_keys(draws.keys[asked])(f"copy {number}"))
        centre[asked, 0], good[asked] = found, good[asked] & free
        centres = torch.cat([centres, centre], 1)
    here = torch.arange(MOST, device=device) < together[:, None]
    outlines = shape[:, None] + centres[:, :, None]
    far = side * 4.0
    low = torch.where(here[..., None], outlines.amin(2), far).amin(1)
    high = torch.where(here[..., None], outlines.amax(2), -far).amax(1)
    room = side - 2 * MARGIN - (high - low)
    good &= (room >= 0).all(-1)
    outlines = outlines + (MARGIN - low + room.clamp(min=0) * draws("where").uniform((panels, 2)))[:, None, None]
    broken = (~contact).nonzero()[:, 0]
    lone, clear = _apart(shape[broken], outlines[broken], here[broken], side, of_keys(draws.keys[broken])("apart"))
    good[broken] &= clear
    outlines[broken, counts[broken] - 1] = lone
    return outlines, good


def _apart(shape: Tensor, clump: Tensor, here: Tensor, side: int, draws: Draws) -> tuple[Tensor, Tensor]:
    """Another copy somewhere in the panel, and whether it is clear of those of the clump that are ``here``."""
    reach = shape.abs().amax(-2)
    lone = shape + (MARGIN + reach + (side - 2 * MARGIN - 2 * reach) * draws.uniform((len(shape), 2)))[:, None]
    others = torch.where(here[..., None, None], clump, 4.0 * side)
    # Copies of one size cannot enclose one another, so contours that are apart lie beside each other.
    return lone, nearest(others.flatten(1, 2), lone)[0] > APART


def _touching(shape: Tensor, size: Tensor, centres: Tensor, draws: Draws) -> tuple[Tensor, Tensor]:
    """Where another copy touches the clump at ``centres`` (panels × copies × 2), and whether there was a way to it."""
    panels, copies = centres.shape[:2]
    row = torch.arange(panels, device=centres.device)
    base = centres[row, draws("base").integers(copies, (panels,))]
    angle = 2 * math.pi * draws("angle").uniform((panels,))
    # No two points of a contour are further from each other than √2 sizes.
    start = base + (1.5 * size)[:, None] * torch.stack([angle.cos(), angle.sin()], -1)
    free = ((centres - start[:, None]).norm(dim=-1) > 1.45 * size[:, None]).all(-1)
    clump = (shape[:, None] + centres[:, :, None]).flatten(1, 2)
    apart, vector = nearest(clump, shape + start[:, None])
    return start + vector * ((apart - TOUCHING) / apart.clamp(min=1e-9))[:, None], free


def _too_small(pixels: int) -> InputError:
    return InputError(f"contours could not be placed within {pixels} pixels; draw larger panels.")
