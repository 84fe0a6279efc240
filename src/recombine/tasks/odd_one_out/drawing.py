"""Contours as pixels: one pixel wide, coloured, on white, all panels at once."""

from __future__ import annotations

import torch
from torch import Tensor

from recombine.tasks.draws import Draws


def colours(draws: Draws) -> Tensor:
    """One colour a stream (streams × 3), bytes: any hue, saturation from .5 to 1, any value."""
    unit = draws("colour").uniform((*draws.lead, 3))
    return rgb(unit[..., 0], 0.5 + 0.5 * unit[..., 1], unit[..., 2])


def rgb(hue: Tensor, saturation: Tensor, value: Tensor) -> Tensor:
    """Bytes of hue, saturation and value, each from 0 to 1: c = v − v s · max(0, min(k, 4 − k, 1)), k = (n + 6h) mod 6
    with n = 5, 3, 1 for red, green and blue."""
    k = (torch.tensor([5.0, 3.0, 1.0], device=hue.device) + 6 * hue[..., None]) % 6
    dip = torch.minimum(k, 4 - k).clamp(0, 1)
    return (255 * value[..., None] * (1 - saturation[..., None] * dip)).round().to(torch.uint8)


def draw(outlines: Tensor, present: Tensor, palette: Tensor, side: int) -> Tensor:
    """Panels (panels × 3 × side × side), bytes, of outlines in pixels (panels × objects × samples × 2).

    A pixel is coloured where a sample falls into it; of two objects that share a pixel, the later one has it."""
    panels, objects = present.shape
    pixel = outlines.floor().long().clamp(0, side - 1)
    place = pixel[..., 1] * side + pixel[..., 0]
    # What is absent is drawn into one place behind the panel, which is then cut off.
    place = torch.where(present[..., None], place, side * side)
    canvas = torch.full((panels, 3, side * side + 1), 255, dtype=torch.uint8, device=outlines.device)
    for number in range(objects):
        where = place[:, number, None].expand(-1, 3, -1)
        canvas.scatter_(2, where, palette[:, number, :, None].expand(where.shape))
    return canvas[..., :-1].reshape(panels, 3, side, side)
