"""Pictures put together from strips of eight pixels, each of which is looked up in a list.

A run of pixels can lie in a strip in 45 ways. The list begins with all of them in the colour of the rearmost sprite;
for every sprite before it follow the strips of the window around it, painted over what is behind. A picture is then the
numbers of its strips, and is written once: most of it is the same empty strip.
"""

from __future__ import annotations

import torch
from torch import Tensor

STRIP = 8
"""Pixels that are copied together: windows begin at multiples of this."""
WAYS = (STRIP + 1) * (STRIP + 2) // 2
NEAR = 128
"""Pictures that are painted at a time on a CPU: what is computed on the way stays in a core's cache."""


def way(first: Tensor, last: Tensor, left: Tensor) -> Tensor:
    """In which way a run of pixels lies in the strip that begins at ``left``: stop·(stop + 1) / 2 + begin."""
    begin, stop = (first - left).clamp(0, STRIP), (last + 1 - left).clamp(0, STRIP)
    return (stop + 1).mul_(stop).mul_(0.5).add_(begin.minimum(stop))


def weights(like: Tensor) -> Tensor:
    """Every way as weights of 0 and 1 (ways × 3 numbers per pixel)."""
    ends = torch.tril_indices(STRIP + 1, STRIP + 1, device=like.device)[:, :, None]
    pixel = torch.arange(3 * STRIP, device=like.device) // 3
    return ((pixel >= ends[1]) & (pixel < ends[0])).to(like.dtype)


def assemble(found: Tensor, at: Tensor, colour: Tensor, strips: int, out: Tensor | None = None) -> Tensor:
    """So many strips (strips × 3 numbers per pixel), of all pictures one after another. For each sprite, the first in
    front, in each picture: the ways that were found in the strips of its window, their places, and the colour."""
    sprites, pictures, window = found.shape
    every = weights(colour)
    # Over a strip the colours repeat: red, green, blue, red, …
    colour = colour.repeat(1, 1, STRIP)[:, :, None]
    at = at.view(sprites, -1)
    listed = (every * colour[-1]).flatten(0, 1)
    own = found[-1] + WAYS * torch.arange(pictures, device=found.device, dtype=found.dtype)[:, None]
    # Zero is an empty strip, the first of the list.
    shown = own.new_zeros(strips).scatter(0, at[-1], own.view(-1))
    for k in reversed(range(sprites - 1)):
        behind = len(listed)
        number = torch.arange(behind + pictures * window, device=found.device, dtype=found.dtype)
        # What is behind the window is copied to the end of the list, to be painted over.
        listed = listed.index_select(0, torch.cat([number[:behind], shown.index_select(0, at[k])]))
        _paint(listed[behind:].view(pictures, window, 3 * STRIP), found[k], colour[k], every)
        shown = shown.scatter(0, at[k], number[behind:])
    return torch.index_select(listed, 0, shown, out=out)


def _paint(below: Tensor, found: Tensor, colour: Tensor, every: Tensor) -> None:
    """Paint strips (pictures × strips × 3 numbers per pixel) in place."""
    many = NEAR if below.device.type == "cpu" else max(1, len(below))
    for part, ways, tone in zip(below.split(many), found.split(many), colour.split(many), strict=True):
        covered = every.index_select(0, ways.view(-1)).view_as(part)
        # No colour is above one, so less one none is left; `where` would be many times slower on a CPU.
        part.sub_(covered).relu_().add_(covered.mul_(tone))
