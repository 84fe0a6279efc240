"""Symbolic tasks shown as pictures: one image per component, each in its own channels, moved apart by a distance.

The image of component c is padded at its left by c · distance and at its right by (C − 1 − c) · distance columns,
repeating its edge (Lippl & Stachenfeld 2025, section 6): at distance 0 the images lie over each other, and a filter
sees both; far apart, it sees one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from recombine.description import Description
from recombine.errors import InputError
from recombine.space import FactorSpace
from recombine.support import Explicit
from recombine.tasks.data import PIXELS, Source, load_images
from recombine.tasks.draws import Draws
from recombine.tasks.keeping import Keeping
from recombine.tasks.symbolic import SymbolicTask
from recombine.tasks.task import Task


class ImageTask(Keeping, Description, Task):
    """The combinations and answers of ``symbolic``, each level a class of images of ``source``.

    Training draws from a fixed set of ``examples_seen`` pictures, made of ``per_class`` images a class and component;
    everything that is measured is asked with images that were never trained on. ``seed`` draws which class stands for
    which level (one draw, shared by all components), which images are used, and how they are paired.

    ``as_published="each"``: the levels of a component are the first classes, as many as it has, by a draw of its own,
    and held-out images those of the training split that no component is trained on. So the paper draws all three, but
    that it leaves out what the component itself is trained on alone. ``"own"``: so, and ``seed`` gives the very classes
    that the paper's seed of that number gives (numpy's generator, a permutation of each component in turn).
    ``True``: so, but by one draw. ``"split"``: its images, of any classes."""

    kind: ClassVar[str] = "images"

    symbolic: SymbolicTask
    source: Source = "digits"
    distance: int = Field(default=0, ge=0)
    per_class: int = Field(default=100, ge=1)
    examples_seen: int = Field(default=20_000, ge=1)
    seed: int = 0
    as_published: bool | Literal["split", "each", "own"] = False

    @property
    def space(self) -> FactorSpace:
        return self.symbolic.space

    @property
    def train(self) -> Explicit:
        return self.symbolic.train

    @property
    def test(self) -> Explicit:
        return self.symbolic.test

    @cached_property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height and width of an input."""
        channels, height, width = PIXELS[self.source]
        components = len(self.symbolic.levels)
        return components * channels, height, width + self.distance * (components - 1)

    def examples(self, points: Tensor, draws: Draws) -> tuple[Tensor, Tensor]:
        """Held-out images of each point, drawn alike for every component."""
        unit = draws("image").uniform(points.shape, torch.float64)
        pool, first, count = self._held_out(points.device)
        level = self._class_of(points)
        return self._compose(pool, first[level] + (unit * count[level]).long()), self.symbolic.answer(points)

    def trained_examples(self, points: Tensor, draws: Draws) -> tuple[Tensor, Tensor]:
        """Training images of each point, of each component its own, paired anew."""
        number = draws("image").integers(self.per_class, points.shape)
        images = self._places(points, number)
        return self._compose(self._trained(points.device), images), self.symbolic.answer(points)

    def batch(self, draws: Draws, size: int) -> tuple[Tensor, Tensor]:
        device = draws.keys.device
        points, images = self._pictures(device)
        order = draws("order").shuffled(len(points), size)
        return self._compose(self._trained(device), images[order]), self.symbolic.answer(points[order])

    def whole(self, device: torch.device | str = "cpu") -> tuple[Tensor, Tensor]:
        points, images = self._pictures(torch.device(device))
        return self._compose(self._trained(torch.device(device)), images), self.symbolic.answer(points)

    def losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        return self.symbolic.losses(outputs, targets)

    def scores(self, outputs: Tensor, targets: Tensor) -> Mapping[str, Tensor]:
        return self.symbolic.scores(outputs, targets)

    def _compose(self, pool: Tensor, images: Tensor) -> Tensor:
        """Pictures (… × channels × height × width) of chosen images (… × C)."""
        components, width = images.shape[-1], pool.shape[-1]
        at = torch.arange(width + self.distance * (components - 1), device=pool.device)
        parts = [pool[images[..., c]][..., (at - c * self.distance).clamp(0, width - 1)] for c in range(components)]
        return torch.cat(parts, dim=-3)

    def _class_of(self, points: Tensor) -> Tensor:
        return self._classes.to(points.device)[torch.arange(points.shape[-1], device=points.device), points]

    @cached_property
    def _classes(self) -> Tensor:
        """The class that stands for each level of each component (C × levels of the largest)."""
        available = int(load_images(self.source).train_classes.max()) + 1
        if max(self.symbolic.levels) > available:
            raise InputError(f"{self.source} has {available} classes, too few for {max(self.symbolic.levels)} levels.")
        most = max(self.symbolic.levels)
        if self.as_published == "own":
            rng = np.random.default_rng(self.seed)
            mine = [torch.as_tensor(rng.permutation(levels)) for levels in self.symbolic.levels]
            return torch.stack([torch.nn.functional.pad(row, (0, most - len(row))) for row in mine])
        draws = Draws.single(self.seed, "classes")
        first, each = self.as_published in (True, "each"), self.as_published == "each"
        ranks = [draws(f"level {c}" if each and c else "level").uniform((available,))
                 for c in range(len(self.symbolic.levels))]  # fmt: skip
        rows = [rank[: levels if first else available].argsort()
                for rank, levels in zip(ranks, self.symbolic.levels, strict=True)]  # fmt: skip
        return torch.stack([torch.nn.functional.pad(row[:most], (0, most - len(row[:most]))) for row in rows])

    @cached_property
    def _chosen(self) -> Tensor:
        """Which training images are used (classes × components × per_class): each component has its own."""
        classes = torch.as_tensor(load_images(self.source).train_classes)
        rank = Draws.single(self.seed, "images")("rank").uniform((len(classes),))
        wanted = self.per_class * len(self.symbolic.levels)
        rows = []
        for number in range(int(classes.max()) + 1):
            mine = (classes == number).nonzero()[:, 0]
            if len(mine) < wanted:
                raise InputError(
                    f"{self.source} has {len(mine)} training images of class {number}; {self.per_class} for each of "
                    f"{len(self.symbolic.levels)} components are {wanted}."
                )
            rows.append(mine[rank[mine].argsort()[:wanted]])
        return torch.stack(rows)

    def _trained(self, device: torch.device) -> Tensor:
        """The training images in use ((classes · components · per_class) × channels × height × width)."""
        return self.kept("trained", device, lambda: (
            torch.as_tensor(load_images(self.source).train)[self._chosen.flatten()],
        ))[0]  # fmt: skip

    def _held_out(self, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
        """All held-out images sorted by class; where each class begins, and how many it has."""

        def make() -> tuple[Tensor, ...]:
            images = load_images(self.source)
            pictures, classes = torch.as_tensor(images.held_out), torch.as_tensor(images.held_out_classes)
            if self.as_published:
                left = torch.ones(len(images.train), dtype=torch.bool)
                left[self._chosen.flatten()] = False
                pictures, classes = torch.as_tensor(images.train)[left], torch.as_tensor(images.train_classes)[left]
            order, count = classes.argsort(stable=True), classes.bincount()
            return pictures[order], count.cumsum(0) - count, count

        pool, first, count = self.kept("held out", device, make)
        return pool, first, count

    def _pictures(self, device: torch.device) -> tuple[Tensor, Tensor]:
        """The training set: the combination of each picture (N × C) and its images (N × C), combinations in turn."""

        def make() -> tuple[Tensor, ...]:
            codes = torch.as_tensor(self.train.require_nonempty("training").codes.copy())
            points = codes[torch.arange(self.examples_seen) % len(codes)]
            number = Draws.single(self.seed, "pairs")("image").integers(self.per_class, points.shape)
            return points, self._places(points, number)

        points, images = self.kept("pictures", device, make)
        return points, images

    def _places(self, points: Tensor, number: Tensor) -> Tensor:
        """Where the training images lie that are the ``number``-th of their class and component (… × C)."""
        components = points.shape[-1]
        own = self._class_of(points) * components + torch.arange(components, device=points.device)
        return own * self.per_class + number
