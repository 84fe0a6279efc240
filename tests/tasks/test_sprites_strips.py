"""Pictures from strips: by hand, in any size and number, and into memory that is there."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st
from PIL import Image, ImageDraw
from torch import Tensor
from torch.fx.experimental.proxy_tensor import make_fx

from recombine.errors import InputError
from recombine.tasks import SpriteTask
from recombine.tasks.sprites import COMPOSITIONS, Composition, HardOcclusion, draw
from recombine.tasks.sprites.spans import Raster, spans
from recombine.tasks.sprites.strips import STRIP, WAYS, assemble, way, weights

SHAPES = (3, 4, 5, 7, 30)
RASTERS: tuple[Raster, ...] = ("pil", "centre")


def any_sprites(*shape: int, seed: int) -> Tensor:
    """Turned sprites of all shapes and sizes, also over the edges of the picture."""
    low = torch.tensor([-0.2, -0.2, 0.0, 0.05, 0.0, 0.0])
    high = torch.tensor([1.2, 1.2, len(SHAPES) - 1e-3, 0.5, 1.0, 1.0])
    sprites = low + (high - low) * torch.rand(*shape, 6, generator=torch.Generator().manual_seed(seed))
    sprites[..., 2] = sprites[..., 2].floor()
    return sprites


def test_every_way_by_hand() -> None:
    every = weights(torch.zeros(())).view(WAYS, STRIP, 3)
    assert torch.equal(every, every[..., :1].expand_as(every))
    for stop in range(STRIP + 1):
        for begin in range(stop + 1):
            row = int(way(torch.tensor(begin + 40.0), torch.tensor(stop + 39.0), torch.tensor(40.0)))
            expected = [float(begin <= pixel < stop) for pixel in range(STRIP)]
            assert every[row, :, 0].tolist() == expected


@pytest.mark.parametrize(
    ("first", "last", "pixels"),
    [(-3, 2, 3), (5, 99, 3), (-9, 99, 8), (8, 20, 0), (-20, -1, 0), (1e30, -1e30, 0), (3, 3, 1), (4, 3, 0)],
)
def test_a_run_is_cut_to_its_strip(first: float, last: float, pixels: int) -> None:
    row = int(way(torch.tensor(float(first)), torch.tensor(float(last)), torch.tensor(0.0)))
    assert weights(torch.zeros(()))[row].sum() == 3 * pixels


def test_two_sprites_by_hand() -> None:
    """One picture of three strips; windows of two. The rear fills the middle, the front lies over half of it."""
    full, left_half, empty = 36, 10, 0  # 8·9/2 + 0, 4·5/2 + 0, 0
    found = torch.tensor([[[left_half, empty]], [[empty, full]]], dtype=torch.int32)
    at = torch.tensor([[[1, 2]], [[0, 1]]])
    colour = torch.tensor([[[1.0, 0.5, 0.25]], [[0.0, 0.0, 1.0]]])
    pixels = assemble(found, at, colour, 3).view(3, STRIP, 3)
    assert not pixels[0].any()
    assert torch.equal(pixels[1, :4], colour[0].expand(4, 3))
    assert torch.equal(pixels[1, 4:], colour[1].expand(4, 3))
    assert not pixels[2].any()


@settings(max_examples=40)
@given(
    side=st.integers(2, 40),
    sprites=st.integers(1, 4),
    raster=st.sampled_from(RASTERS),
    largest=st.sampled_from([0.5, 1.0]),
    seed=st.integers(0, 10_000),
)
def test_any_number_in_any_size(side: int, sprites: int, raster: Raster, largest: float, seed: int) -> None:
    them = any_sprites(3, 2, sprites, seed=seed)
    together = draw(them, side, shapes=SHAPES, raster=raster, largest=largest, stacked=True)
    alone = torch.stack([
        draw(sprite, side, shapes=SHAPES, raster=raster) for sprite in them.flatten(0, -2)
    ]).view(3, 2, sprites, side * side, 3)  # fmt: skip
    assert together.shape == (3, 2, side * side, 3)
    assert torch.equal(together, HardOcclusion()(alone))


@pytest.mark.parametrize("raster", RASTERS)
def test_a_picture_does_not_depend_on_its_batch(raster: Raster) -> None:
    """On a CPU sprites and pictures are taken some at a time."""
    sprites = any_sprites(300, 2, seed=1)
    together = draw(sprites, 20, shapes=SHAPES, raster=raster, largest=0.5, stacked=True)
    for k in (0, 127, 128, 255, 299):
        alone = draw(sprites[k], 20, shapes=SHAPES, raster=raster, largest=0.5, stacked=True)
        assert torch.equal(together[k], alone)


def test_an_edge_that_is_almost_level_hides_no_row() -> None:
    """Its line leaves the picture at once; in rows it does not reach it must not count."""
    across = torch.tensor([1.0, 5.0, 5.0, 1.0], dtype=torch.float64)[:, None]
    up = torch.tensor([1.0, 1.0 + 1e-15, 4.0, 4.0 - 1e-15], dtype=torch.float64)[:, None]
    first, last = spans(across, up, torch.arange(6)[:, None].double(), "centre")
    crossed = [(int(a), int(b)) for a, b in zip(first[1:4, 0], last[1:4, 0], strict=True)]
    assert crossed == [(1, 4)] * 3
    assert (first > last)[[0, 4, 5], 0].all()


def test_right_ends_left_of_the_picture_round_half_up() -> None:
    """An end at −½ reaches pixel 0, one at ½ does not reach pixel 1, as in Pillow."""
    for corners, reached in (([(-4, 0), (-1, 0), (0, 2), (-4, 2)], 0), ([(-4, 0), (0, 0), (1, 2), (-4, 2)], 0)):
        across, up = torch.tensor(corners, dtype=torch.float32).t()[:, :, None]
        last = spans(across, up, torch.tensor([[1.0]]), "pil")[1]
        image = Image.new("L", (4, 3))
        ImageDraw.Draw(image).polygon(corners, fill=1)
        assert int(last) == np.asarray(image)[1].sum() - 1 == reached


@pytest.mark.parametrize("composition", COMPOSITIONS.values(), ids=lambda c: c.kind)
@pytest.mark.parametrize("side", [16, 17])
def test_pictures_into_memory_that_is_there(composition: Composition, side: int) -> None:
    task = SpriteTask(side=side, composition=composition, support="random")
    points = task.points("all", 6, seed=2).view(2, 3, -1)
    memory = torch.full((2, 3, side * side, 3), torch.nan)
    made = task.pictures(points, out=memory)
    assert made.data_ptr() == memory.data_ptr()
    assert made.shape == memory.shape
    assert torch.equal(memory, task.pictures(points))


def test_memory_of_another_shape_is_refused() -> None:
    task = SpriteTask(side=16)
    points = task.points("all", 4, seed=2)
    for memory in (
        torch.empty(4, 256),
        torch.empty(3, 256, 3),
        torch.empty(4, 3, 256).mT,
        torch.empty(4, 256, 3).double(),
    ):
        with pytest.raises(InputError, match=r"contiguous tensor of torch.float32 and shape \(4, 256, 3\)"):
            task.pictures(points, out=memory)


@pytest.mark.parametrize("side", [16, 17])
def test_many_pictures_can_be_traced(side: int) -> None:
    first, second = any_sprites(150, 3, seed=3), any_sprites(150, 3, seed=4)

    def drawn(sprites: Tensor) -> Tensor:
        return draw(sprites, side, shapes=SHAPES, largest=0.5, stacked=True)

    assert torch.equal(make_fx(drawn)(first)(second), drawn(second))
    assert torch.equal(torch.vmap(drawn)(second.view(3, 50, 3, 6)).view(150, -1, 3), drawn(second))
