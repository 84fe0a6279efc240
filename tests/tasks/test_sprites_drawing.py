"""Drawing sprites: Pillow's pixels, exact centres, smooth edges."""

from __future__ import annotations

import colorsys
import math
import platform

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st
from PIL import Image, ImageDraw
from torch import Tensor

from recombine.tasks.sprites import Latents, coverage, draw
from recombine.tasks.sprites.shapes import PAPER_SHAPES, colours, corners, polygon
from recombine.tasks.sprites.smooth import distance


def by_pillow(sprite: Tensor, shapes: tuple[int, ...], side: int) -> np.ndarray:
    """(cells × 3) bytes of one sprite, drawn by Pillow with y upwards."""
    x, y, shape, scale, hue, *angle = sprite.double().tolist()
    turn = 2 * math.pi * angle[0] if angle else 0.0
    rotation = np.array([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]])
    outline = side * (scale * (polygon(shapes[int(shape)]).t().numpy() @ rotation) + np.array([x, y]))
    colour = tuple(int(255 * level) for level in colorsys.hsv_to_rgb(hue, 1.0, 1.0))
    image = Image.new("RGB", (side, side))
    ImageDraw.Draw(image).polygon([(float(a), float(b)) for a, b in outline], fill=colour)
    return np.flipud(np.asarray(image)).reshape(-1, 3)


def random_sprites(count: int, seed: int) -> Tensor:
    return Latents().scaled(torch.rand(count, 5, generator=torch.Generator().manual_seed(seed)))[:, 0]


@pytest.mark.parametrize("side", [64, 16, 33])
def test_the_pil_raster_is_pillows(side: int) -> None:
    sprites = random_sprites(3000 if side == 64 else 500, seed=side)
    ours = draw(sprites, side, raster="pil", largest=0.22)
    theirs = np.stack([by_pillow(sprite, PAPER_SHAPES, side) for sprite in sprites])
    assert (ours.numpy() != theirs.astype(np.float32) / 255).sum() == 0


def test_pillow_with_any_polygon_angle_and_size_also_over_the_edge() -> None:
    shapes = (3, 4, 5, 6, 7, 30)
    generator = torch.Generator().manual_seed(0)
    low = torch.tensor([-0.2, -0.2, 0.0, 0.02, 0.0, 0.0])
    high = torch.tensor([1.2, 1.2, 6.0, 1.0, 1.0, 1.0])
    sprites = low + (high - low) * torch.rand(3000, 6, generator=generator)
    sprites[:, 2] = sprites[:, 2].floor().clamp(max=5)
    for side, part in zip((64, 24, 50), sprites.split(1000), strict=True):
        ours = draw(part, side, shapes=shapes, raster="pil").sum(-1) > 0
        theirs = np.stack([by_pillow(sprite, shapes, side) for sprite in part]).sum(-1) > 0
        # Pillow's C code is compiled with fused multiply-adds on ARM, which round once where two steps round twice.
        allowed = 0 if platform.machine() in ("x86_64", "AMD64") else 1e-5
        assert (ours.numpy() != theirs).mean() <= allowed


@settings(max_examples=60)
@given(side=st.integers(2, 70), seed=st.integers(0, 10_000), turned=st.booleans())
def test_pillow_in_any_size(side: int, seed: int, turned: bool) -> None:
    sprites = torch.rand(4, 6 if turned else 5, generator=torch.Generator().manual_seed(seed))
    sprites[:, 2] = (3 * sprites[:, 2]).floor()
    sprites[:, 3] = 0.03 + 0.5 * sprites[:, 3]
    theirs = np.stack([by_pillow(sprite, PAPER_SHAPES, side) for sprite in sprites]).astype(np.float32) / 255
    assert np.array_equal(draw(sprites, side, largest=0.53).numpy(), theirs)


def test_the_window_does_not_matter() -> None:
    sprites = random_sprites(200, seed=1)
    for side in (64, 12):
        for raster in ("pil", "centre"):
            narrow = draw(sprites, side, raster=raster, largest=0.22)
            assert torch.equal(narrow, draw(sprites, side, raster=raster))
            turned = torch.cat([sprites, torch.zeros(200, 1)], dim=1)
            assert torch.equal(narrow, draw(turned, side, raster=raster, largest=0.22))


def test_the_papers_fixed_sprites() -> None:
    """The two fixed front sprites cover 40 and 36 pixels without overlap, which is why the third plane exists."""
    points = torch.tensor([[0.0, 0, 0, 0, 0], [0.5, 0.5, 0.5, 0, 0.5], [1, 1, 1, 0, 1]])
    drawn = draw(Latents().scaled(points)[:, 0], 64, largest=0.22).sum(-1) > 0
    assert drawn[:2].sum(1).tolist() == [40, 36]
    assert not (drawn[0] & drawn[1]).any()
    rows, columns = drawn[2].reshape(64, 64).nonzero().T
    assert rows.float().mean() == pytest.approx(64 * 0.2, abs=1)  # y = 0.8 is near the top
    assert columns.float().mean() == pytest.approx(64 * 0.9, abs=1)


def test_the_centre_raster_is_exact() -> None:
    sprites = torch.cat([random_sprites(100, seed=2).double(), torch.rand(100, 1).double()], dim=1)
    for side in (48, 17):
        drawn = draw(sprites, side, raster="centre", largest=0.22).sum(-1) > 0
        away = distance(sprites, side)
        sure = away.abs() > 1e-9
        assert torch.equal(drawn[sure], (away < 0)[sure])
        assert sure.float().mean() > 0.999


def test_polygons_have_area_one_and_stand_on_a_side() -> None:
    for sides in (3, 4, 5, 6, 7, 8, 30):
        x, y = polygon(sides)
        area = 0.5 * (x * y.roll(-1) - y * x.roll(-1)).sum()
        assert float(area) == pytest.approx(1)
        lowest = y.argsort()[:2]
        assert float(y[lowest[0]] - y[lowest[1]]) == pytest.approx(0, abs=1e-12)
    assert polygon(4).abs().flatten().tolist() == pytest.approx([0.5] * 8)


def test_hues_are_colours() -> None:
    hues = torch.rand(200, dtype=torch.float64)
    expected = torch.tensor([colorsys.hsv_to_rgb(float(hue), 1, 1) for hue in hues], dtype=torch.float64)
    torch.testing.assert_close(colours(hues, whole=False), expected)
    assert torch.equal(colours(hues, whole=True), torch.floor(255 * expected) / 255)


def test_stacked_sprites_are_painted_from_the_back() -> None:
    sprites = random_sprites(60, seed=3).reshape(20, 3, 5)
    sprites[:, 1:, :2] = sprites[:, :1, :2] + 0.04
    parts = draw(sprites, 64, largest=0.22)
    expected = parts[:, 2]
    for k in (1, 0):
        expected = torch.where(parts[:, k].sum(-1, keepdim=True) > 0, parts[:, k], expected)
    assert torch.equal(draw(sprites, 64, largest=0.22, stacked=True), expected)
    assert draw(sprites[:0], 64, stacked=True).shape == (0, 4096, 3)


def test_smooth_coverage_is_the_area() -> None:
    sprites = random_sprites(40, seed=4).double()
    sprites[:, :2] = 0.3 + 0.4 * torch.rand(40, 2, dtype=torch.float64)
    covered = coverage(sprites, 64).sum(1)
    torch.testing.assert_close(covered, (64 * sprites[:, 3]).square(), rtol=0.08, atol=0)
    fine = coverage(sprites[:5], 256).sum(1)
    torch.testing.assert_close(fine, (256 * sprites[:5, 3]).square(), rtol=0.01, atol=0)


def test_signed_distance_by_hand() -> None:
    square = torch.tensor([[0.5, 0.5, 0.0, 0.4, 0.0]], dtype=torch.float64)
    away = distance(square, 10, shapes=(4,)).reshape(10, 10)  # from 3 to 7 in both directions
    assert away[4, 4] == pytest.approx(-1.5)
    assert away[4, 0] == pytest.approx(2.5)
    assert away[0, 0] == pytest.approx(math.hypot(2.5, 2.5))


def test_smooth_sprites_can_be_differentiated() -> None:
    sprites = torch.tensor([[0.52, 0.47, 1.0, 0.3, 0.4, 0.11], [0.4, 0.61, 0.0, 0.21, 0.4, 0.0]], dtype=torch.float64)
    moving = sprites[:, [0, 1, 3, 5]].clone().requires_grad_()

    def covered(values: Tensor) -> Tensor:
        x, y, scale, angle = values.unbind(1)
        return coverage(
            torch.stack([x, y, sprites[:, 2], scale, sprites[:, 4], angle], 1), 6, shapes=(4, 7), softness=2.0
        )

    assert torch.autograd.gradcheck(covered, moving, eps=1e-7, atol=1e-5)
    slopes = torch.func.jacrev(covered)(moving.detach())
    assert torch.isfinite(slopes).all()
    assert (slopes.abs().amax((0, 1, 2)) > 1e-3).all()


def test_corners_turn_counter_clockwise() -> None:
    quarter = torch.tensor([[0.5, 0.5, 0.0, 0.1, 0.0, 0.25]], dtype=torch.float64)
    upright = torch.tensor([[0.5, 0.5, 0.0, 0.1, 0.0, 0.0]], dtype=torch.float64)
    (x, y), (from_x, from_y) = corners(quarter, (3,), 10), corners(upright, (3,), 10)
    torch.testing.assert_close(torch.stack([x - 5, y - 5]), torch.stack([-(from_y - 5), from_x - 5]))
