"""Two changed views of a panel, to be told from those of other panels: SimCLR (Chen et al. 2020)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from pydantic import Field
from torch import Tensor
from torch.nn import functional

from recombine.description import Description
from recombine.space import FactorSpace, categorical
from recombine.support import Explicit, full
from recombine.tasks.draws import Draws
from recombine.tasks.keeping import Keeping
from recombine.tasks.odd_one_out.contour_items import Contours
from recombine.tasks.odd_one_out.problems import Family, Split, build
from recombine.tasks.task import Task

LUMA = (0.299, 0.587, 0.114)


class TwoViews(Keeping, Description, Task):
    """Two views each of ``panels`` training panels of ``source``; the model gives a vector per view (batch × 2 × d).

    Changes as in Lepori et al. (2023): left–right flip; contrast and saturation by up to half; turned by up to 30°,
    moved by .05, shrunk to .9, sheared by 20°; quarter turns; grey. The loss is NT-Xent at ``temperature``: a view is
    to be nearer to the other view of its panel than to all other views of the batch."""

    kind: ClassVar[str] = "two views"

    source: Contours = Contours()
    panels: int = Field(default=8_192, ge=2)
    held_out: int = Field(default=1_024, ge=2)
    temperature: float = Field(default=0.07, gt=0)
    seed: int = 0

    @property
    def space(self) -> FactorSpace:
        """Nothing is varied: panels of all kinds are mixed."""
        return FactorSpace((categorical("panels", ("mixed",)),))

    @property
    def train(self) -> Explicit:
        return full(self.space).explicit()

    @property
    def test(self) -> Explicit:
        return self.train

    def batch(self, draws: Draws, size: int) -> tuple[Tensor, Tensor]:
        order = draws("order").shuffled(self.panels, size)
        return self._pairs(self._panels("train", order.device)[order], draws)

    def examples(self, points: Tensor, draws: Draws) -> tuple[Tensor, Tensor]:
        chosen = draws("panel").integers(self.held_out, points.shape[:-1])
        return self._pairs(self._panels("test", points.device)[chosen], draws)

    def losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """−log of the share of the other view of the same panel, averaged over both views of it."""
        right, logits = self._likeness(outputs)
        return (torch.logsumexp(logits, -1) - right).reshape(2, -1).mean(0)

    def scores(self, outputs: Tensor, targets: Tensor) -> Mapping[str, Tensor]:
        """Whether the most similar view is the other one of the same panel."""
        right, logits = self._likeness(outputs)
        return {"accuracy": (right >= logits.amax(-1)).to(outputs.dtype).reshape(2, -1).mean(0)}

    def _likeness(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        """Cosines over the temperature, (2·batch) with the other view and (2·batch × 2·batch) with all, oneself out."""
        unit = functional.normalize(outputs.transpose(0, 1).flatten(0, 1), dim=-1)
        logits = unit @ unit.T / self.temperature
        batch = outputs.shape[0]
        right = torch.cat([logits.diagonal(batch), logits.diagonal(-batch)])
        own = torch.eye(2 * batch, device=outputs.device, dtype=outputs.dtype)
        return right, logits - 1e9 * own

    def _pairs(self, panels: Tensor, draws: Draws) -> tuple[Tensor, Tensor]:
        both = torch.stack([changed(panels, draws("one")), changed(panels, draws("other"))], -4)
        return both, torch.zeros(panels.shape[:-3], dtype=torch.int64, device=panels.device)

    def _panels(self, split: Split, device: torch.device) -> Tensor:
        def make() -> tuple[Tensor]:
            count = self.panels if split == "train" else self.held_out
            made = build(self.source, Family(), math.ceil(count / 4), split=split, seed=self.seed)
            return (made.inputs.flatten(0, 1)[:count],)

        return self.kept(split, device, make)[0]


def changed(panels: Tensor, draws: Draws) -> Tensor:
    """Panels (… × 3 × side × side), bytes, each changed at random; bytes again."""
    lead = panels.shape[:-3]
    flat = panels.reshape(-1, *panels.shape[-3:]).to(torch.get_default_dtype()) / 255

    def unit(name: str) -> Tensor:
        return draws(name).uniform(lead).reshape(-1)

    def when(name: str, share: float) -> Tensor:
        return (unit(name) < share).to(flat.dtype)

    grey = (flat * torch.tensor(LUMA, device=flat.device)[:, None, None]).sum(1, keepdim=True)
    jitter = when("jitter", 0.5)
    saturation = 1 + jitter * (unit("saturation") - 0.5)
    saturation = saturation * (1 - when("grey", 0.2))
    flat = grey + (flat - grey) * _wide(saturation)
    middle = grey.mean((-1, -2), keepdim=True)
    flat = middle + (flat - middle) * _wide(1 + jitter * (unit("contrast") - 0.5))
    # Outside the panel is white, so white is made zero while the panel is moved.
    ink = 1 - flat.clamp(0, 1)
    moved = functional.grid_sample(
        ink, functional.affine_grid(_transforms(unit, when), list(ink.shape), align_corners=False), align_corners=False
    )
    return (255 * (1 - moved)).round().to(torch.uint8).reshape(panels.shape)


def _transforms(unit: Any, when: Any) -> Tensor:
    """One affine map a panel (panels × 2 × 3)."""
    moves = when("affine", 0.5)
    quarter = (unit("quarter") * 4).floor() * (math.pi / 2)
    turn = quarter + moves * (2 * unit("turn") - 1) * math.radians(30)
    shear = torch.tan(moves * (2 * unit("shear") - 1) * math.radians(20))
    grow = 1 / (1 - moves * 0.1 * unit("shrink"))
    flip = 1 - 2 * when("flip", 0.5)
    cos, sin = turn.cos() * grow, turn.sin() * grow
    across, down = (moves * 0.1 * (2 * unit(name) - 1) for name in ("across", "down"))
    first = torch.stack([flip * cos, shear * cos - sin, across], -1)
    second = torch.stack([flip * sin, shear * sin + cos, down], -1)
    return torch.stack([first, second], -2)


def _wide(values: Tensor) -> Tensor:
    return values[:, None, None, None]
