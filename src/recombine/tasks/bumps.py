"""Gaussian bumps: from the codes of K coordinates to a picture (Liang, Qian, Ziyin and Fiete 2025).

I[r, c] = exp(−((c − x)² + (r − y)²) / 2σ²): x is the column, y the row, and for K factors the picture has K axes, the
last one x. A *stripe* is the picture of one factor alone, the others absent: exp(−(c − x)²/2σ²) in every row. Drawing
nothing costs Σ I² / N² ≈ π σ²/N² for K = 2, so errors are given as multiples of that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from recombine.description import Description
from recombine.errors import InputError
from recombine.space import FactorSpace, continuous
from recombine.support import Support, corner, cross, diagonal, donut, ell, full, random
from recombine.tasks.draws import Draws
from recombine.tasks.encodings import Encoding, OneHot
from recombine.tasks.task import Inputs, Task

Hole = int | float | tuple[float, float]
HOLDOUTS: dict[str, Callable[[FactorSpace, Any], Support]] = {
    "donut": donut,
    "corner": corner,
    "ell": ell,
    "cross": cross,
    "diagonal": diagonal,
    "random": lambda space, kept: random(space, int(kept), seed=0, cover_levels=True),
    "none": lambda space, _: full(space),
}
POOL = 4096
"""Continuous centres are drawn from this many points of the support, the same for every member."""

NAMES = "xyzuvw"


class BumpTask(Description, Task):
    """Bumps on a ``side``-wide picture, trained on what ``holdout`` leaves and tested on what it takes.

    A member's training set is ``bumps`` bumps (its own draw without replacement from the training support; by default
    every one) and ``stripes`` stripes, as even over factors and places as the number allows, each example once an
    epoch. ``compose="sum"`` makes the picture of a combination the sum of its stripes instead of their product."""

    kind: ClassVar[str] = "bumps"

    side: int = Field(default=28, ge=2)
    sigma: float = Field(default=1.0, gt=0)
    factors: int = Field(default=2, ge=2, le=len(NAMES))
    inverted: bool = False
    """Whether the background is 1 and the bump 0, as in the paper's main setting."""
    centres: Literal["grid", "continuous"] = "grid"
    encoding: Encoding = OneHot()
    holdout: Literal["donut", "corner", "ell", "cross", "diagonal", "random", "none"] = "donut"
    hole: Hole = 17
    """The side of the held-out box; the arms of the L; the width of the cross or band; the combinations kept
    (random)."""
    bumps: int | None = Field(default=None, ge=0)
    stripes: int = Field(default=0, ge=0)
    compose: Literal["product", "sum"] = "product"

    def model_post_init(self, _context: Any) -> None:
        if self.centres == "continuous" and not self.encoding.smooth:
            raise InputError("a one-hot code has no values between its places; use another encoding or centres='grid'.")
        if self.bumps is not None and self.bumps > len(self._candidates):
            raise InputError(f"cannot draw {self.bumps} of {len(self._candidates)} training centres.")
        if not self.bumps and self.bumps is not None and not self.stripes:
            raise InputError("the training set is empty: give bumps or stripes.")

    @cached_property
    def space(self) -> FactorSpace:
        names = NAMES[: self.factors]
        if self.centres == "grid":
            return FactorSpace.of(**dict.fromkeys(names, self.side))
        return FactorSpace(tuple(continuous(name, 0.0, self.side - 1.0) for name in names))

    @cached_property
    def train(self) -> Support:
        return HOLDOUTS[self.holdout](self.space, self.hole)

    @cached_property
    def test(self) -> Support:
        return ~self.train if self.holdout != "none" else self.train

    @property
    def background(self) -> float:
        return 1.0 if self.inverted else 0.0

    @cached_property
    def blank_error(self) -> float:
        """π σ²/N² (K = 2): the error of a picture of the background alone, edges aside."""
        line, overlap = np.pi**0.5 * self.sigma / self.side, (2 * np.pi) ** 0.5 * self.sigma / self.side
        if self.compose == "sum":
            return float(self.factors * line + self.factors * (self.factors - 1) * overlap**2)
        return float(line**self.factors)

    def signal(self, images: Tensor) -> Tensor:
        """Pictures without their background, bumps upwards."""
        return self.background - images if self.inverted else images

    def profile(self, values: Tensor) -> Tensor:
        """exp(−(c − value)²/2σ²) along one axis, (… × side)."""
        places = torch.arange(self.side, device=values.device, dtype=values.dtype)
        return torch.exp(-0.5 * ((places - values[..., None]) / self.sigma).square())

    def codes(self, points: Tensor) -> Tensor:
        """The inputs of points (… × factors): the codes of all factors one after the other."""
        return torch.cat([self.encoding(points[..., k], self.side) for k in range(self.factors)], dim=-1)

    def pictures(self, points: Tensor) -> Tensor:
        """The pictures (… × side × … × side) of points (… × factors); a negative coordinate is an absent factor."""
        values = points if points.is_floating_point() else points.to(torch.get_default_dtype())
        product = torch.ones((), dtype=values.dtype, device=values.device)
        total = torch.zeros((), dtype=values.dtype, device=values.device)
        for k in range(self.factors):
            lines = self.profile(values[..., k])
            shape = [1] * self.factors
            shape[self.factors - 1 - k] = self.side
            lines = lines.reshape(*lines.shape[:-1], *shape)
            present = (values[..., k] >= 0).reshape(*values.shape[:-1], *[1] * self.factors)
            product = product * torch.where(present, lines, torch.ones_like(lines))
            total = total + torch.where(present, lines, torch.zeros_like(lines))
        images = product if self.compose == "product" else total
        images = images.expand(*values.shape[:-1], *[self.side] * self.factors)
        return 1.0 - images if self.inverted else images

    def examples(self, points: Tensor, draws: Draws) -> tuple[Inputs, Tensor]:
        return self.codes(points), self.pictures(points)

    def losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """The mean squared error over pixels; outputs may be flat."""
        return (outputs.flatten(1) - targets.flatten(1)).square().mean(-1)

    def scores(self, outputs: Tensor, targets: Tensor) -> Mapping[str, Tensor]:
        return {"over_blank": self.losses(outputs, targets) / self.blank_error}

    def batch(self, draws: Draws, size: int) -> tuple[Inputs, Tensor]:
        device = draws.keys.device
        points = torch.cat([self._candidates, self.stripe_points()]).to(device)
        order = draws("order").shuffled(self.examples_an_epoch, size)
        if self.bumps is not None:
            order = self._own(draws, order)
        return self.examples(points[order], draws)

    def whole(self, device: torch.device | str = "cpu") -> tuple[Inputs, Tensor]:
        if self.bumps is not None:
            raise InputError("each member draws its own bumps, so there is no whole set for all; give a batch_size.")
        points = torch.cat([self._candidates, self.stripe_points()]).to(device)
        return self.examples(points, Draws.single(0, "whole", device))

    @property
    def examples_an_epoch(self) -> int:
        return (len(self._candidates) if self.bumps is None else self.bumps) + self.stripes

    def stripe_points(self) -> Tensor:
        """The stripes as points with every factor but one absent (−1)."""
        if not self.stripes:
            return torch.empty(0, self.factors)
        kinds = self.factors * self.side
        rounds, rest = divmod(self.stripes, kinds)
        index = torch.cat([torch.arange(kinds).repeat(rounds), torch.arange(rest) * kinds // max(rest, 1)])
        points = torch.full((self.stripes, self.factors), -1.0)
        points[torch.arange(self.stripes), index // self.side] = (index % self.side).float()
        return points

    def _own(self, draws: Draws, order: Tensor) -> Tensor:
        """Positions in a member's own list as positions among all candidates and stripes."""
        assert self.bumps is not None
        device = order.device
        fixed = Draws(draws.keys[:1], draws.member_keys, torch.zeros(1, dtype=torch.int64, device=device))
        mine = torch.arange(len(self._candidates), len(self._candidates) + self.stripes, device=device)
        mine = mine.expand(len(draws.member_keys), -1)
        if self.bumps:
            # The first places of a permutation that depends on the member and on nothing else.
            mine = torch.cat([fixed("bumps").shuffled(len(self._candidates), self.bumps)[0], mine], dim=1)
        return mine.expand(len(order), -1, -1).gather(2, order)

    @cached_property
    def _candidates(self) -> Tensor:
        if self.centres == "grid":
            return torch.as_tensor(self.train.explicit().require_nonempty("training").codes.copy()).float()
        kept: list[Tensor] = []
        rounds = 0
        while sum(map(len, kept)) < POOL:
            points = Draws.single(rounds, "centres").uniform((POOL, self.factors)) * (self.side - 1)
            kept.append(points[torch.as_tensor(self.train.contains(points.double().numpy()))])
            rounds += 1
            if rounds > 1000:
                raise InputError("the training support is empty or very thin: no centre was found in it.")
        return torch.cat(kept)[:POOL]
