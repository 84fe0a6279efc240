"""Contours: simple closed curves, relations that an independent geometry finds again, and what is drawn."""

from __future__ import annotations

import colorsys

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy import ndimage

from recombine.errors import InputError
from recombine.tasks.odd_one_out import Contours, Family, build
from recombine.tasks.odd_one_out.contours import STEP, curves, sample_count
from recombine.tasks.odd_one_out.drawing import draw, rgb
from recombine.tasks.odd_one_out.problems import of_keys, streams
from recombine.tasks.odd_one_out.relations import encloses, nearest
from recombine.tasks.odd_one_out.scenes import Scenes

Points = NDArray[np.float64]
FAMILIES = [
    (32, ("inside", "contact")),
    (64, ("inside", "contact")),
    (64, ("inside", "number")),
    (32, ("number", "contact")),
    (64, ("number", "contact")),
    (64, ("inside", "contact", "number")),
]


def crosses(one: Points, other: Points) -> bool:
    """Whether any side of one polygon crosses any side of the other, by signed areas."""
    a, b = one[:, None], np.roll(one, -1, 0)[:, None]
    c, d = other[None], np.roll(other, -1, 0)[None]

    def area(p: Points, q: Points, r: Points) -> Points:
        return (q[..., 0] - p[..., 0]) * (r[..., 1] - p[..., 1]) - (q[..., 1] - p[..., 1]) * (r[..., 0] - p[..., 0])

    apart = area(a, b, c) * area(a, b, d) < 0
    return bool((apart & (area(c, d, a) * area(c, d, b) < 0)).any())


def winding(polygon: Points, points: Points) -> NDArray[np.bool_]:
    """Whether points lie inside a polygon: the angles under which its sides are seen add up to a full turn."""
    to = polygon[None] - points[:, None]
    angle = np.arctan2(to[..., 1], to[..., 0])
    step = np.roll(angle, -1, 1) - angle
    return np.abs(((step + np.pi) % (2 * np.pi) - np.pi).sum(1)) > np.pi


def pixels(outline: Points, side: int) -> NDArray[np.bool_]:
    grid = np.zeros((side, side), dtype=bool)
    grid[outline[:, 1].astype(int), outline[:, 0].astype(int)] = True
    return grid


def touch(one: Points, other: Points, side: int) -> bool:
    """Whether a pixel of one is, or is next to, a pixel of the other."""
    around = ndimage.binary_dilation(pixels(one, side), np.ones((3, 3)))
    return bool((around & pixels(other, side)).any())


def groups(outlines: list[Points], side: int) -> int:
    """Connected groups of pixels of all outlines together."""
    together = np.any([pixels(outline, side) for outline in outlines], axis=0)
    return int(ndimage.label(together, np.ones((3, 3)))[1])


def scene(source: Contours, kept: torch.Tensor, seed: int = 0) -> tuple[Scenes, torch.Tensor]:
    """Scenes of panels that keep what each row of ``kept`` says, and how many things each shows."""
    draws = streams(seed, "scene", len(kept))
    counts = source.counts(kept[:, None].expand(-1, 4, -1), draws)[:, 0]
    return source.scenes(kept, counts, of_keys(draws("panels").bits((len(kept),)))), counts


def test_curves_are_simple_boxed_and_finely_sampled() -> None:
    pixels_wide = 40
    outlines = curves(streams(0, "curves", 400), sample_count(pixels_wide))
    size = outlines.amax(1) - outlines.amin(1)
    assert torch.allclose(size.amax(-1), torch.ones(400), atol=1e-5)
    assert torch.allclose((outlines.amax(1) + outlines.amin(1)) / 2, torch.zeros(400, 2), atol=1e-5)
    steps = (outlines.roll(-1, 1) - outlines).norm(dim=-1) * pixels_wide
    assert steps.max() < STEP
    for outline in outlines[:40].double().numpy():
        assert not crosses(outline, outline)
    few = curves(streams(0, "curves", 5), sample_count(pixels_wide))
    assert torch.equal(few, outlines[:5])


def test_nearest_and_encloses_agree_with_plain_loops() -> None:
    outlines = 20 * curves(streams(1, "curves", 12), 64)
    moved = outlines.roll(1, 0) + torch.linspace(0, 25, 12)[:, None, None]
    distance, vector = nearest(outlines, moved)
    for i in range(12):
        all_pairs = np.linalg.norm(outlines[i, :, None].numpy() - moved[i, None].numpy(), axis=-1)
        assert float(distance[i]) == pytest.approx(all_pairs.min(), abs=2e-2)
        assert float(vector[i].norm()) == pytest.approx(float(distance[i]))
    points = torch.rand(12, 2, generator=torch.Generator().manual_seed(0)) * 24 - 12
    found = [winding(o, p[None])[0] for o, p in zip(outlines.double().numpy(), points.double().numpy(), strict=True)]
    assert encloses(outlines, points).tolist() == found
    assert 0 < sum(found) < 12


@pytest.mark.parametrize(("side", "rules"), FAMILIES)
def test_every_panel_shows_what_it_keeps_and_nothing_else(side: int, rules: tuple[str, ...]) -> None:
    source = Contours(side=side, obeyed=rules)
    kept = torch.tensor([[bool(n >> i & 1) for i in range(len(rules))] for n in range(2 ** len(rules))])
    kept = kept.repeat(24 // len(kept) + 8, 1)
    found, counts = scene(source, kept)
    for panel in range(len(kept)):
        here = found.present[panel].tolist()
        outlines = [o for o, there in zip(found.outlines[panel].double().numpy(), here, strict=True) if there]
        held = dict(zip(rules, kept[panel].tolist(), strict=True))
        assert min(o.min() for o in outlines) > 0
        assert max(o.max() for o in outlines) < side
        if "inside" in rules:
            half = len(outlines) // 2
            pairs = list(zip(outlines[:half], outlines[half:], strict=True))
            assert half == counts[panel]
            for n, (big, small) in enumerate(pairs):
                assert not crosses(big, small)
                inside = held["inside"] if n == 0 else True
                assert winding(big, small).tolist() == [inside] * len(small)
                asked = held.get("contact", False) if n == 0 else "contact" in rules
                assert touch(big, small, side) == asked
            # Pairs do not run into each other: as many groups as pairs, and one more for each that does not touch.
            loose = sum(not touch(big, small, side) for big, small in pairs)
            assert groups(outlines, side) == half + loose
        else:
            assert len(outlines) == counts[panel]
            assert groups(outlines, side) == (1 if held["contact"] else 2)
            for a in range(len(outlines)):
                for b in range(a):
                    assert not crosses(outlines[a], outlines[b])
                    assert not winding(outlines[a], outlines[b][:1])[0]
            copies = [o - (o.min(0) + o.max(0)) / 2 for o in outlines]
            assert max(np.abs(c - copies[0]).max() for c in copies) < 1e-4


def test_numbers_are_the_problem_s_or_one_off() -> None:
    for rules, others in ((("inside", "number"), {2: {1, 3}, 3: {2, 4}}), (("number", "contact"), {2: {3}, 3: {2, 4}})):
        source = Contours(obeyed=rules)
        kept = torch.ones(600, 4, 2, dtype=torch.bool)
        kept[:, 3, rules.index("number")] = False
        counts = source.counts(kept, streams(0, "numbers", 600))
        assert (counts[:, :3] == counts[:, :1]).all()
        seen = {(int(a), int(b)) for a, b in counts[:, [0, 3]].tolist()}
        assert seen == {(a, b) for a, some in others.items() for b in some}


def test_colours_are_those_of_the_formula() -> None:
    hue, saturation, value = torch.rand(3, 50, generator=torch.Generator().manual_seed(0))
    expected = [
        colorsys.hsv_to_rgb(*row) for row in zip(hue.tolist(), saturation.tolist(), value.tolist(), strict=True)
    ]
    assert np.abs(rgb(hue, saturation, value).numpy() - 255 * np.array(expected)).max() <= 0.51


def test_a_square_is_drawn_one_pixel_wide() -> None:
    edge = torch.arange(0, 4, 0.5)
    low, high = torch.full_like(edge, 2.2), torch.full_like(edge, 6.2)
    sides = [(2.2 + edge, low), (high, 2.2 + edge), (6.2 - edge, high), (low, 6.2 - edge)]
    square = torch.cat([torch.stack(side, -1) for side in sides])
    outlines = torch.stack([square, square + 1])[None]
    palette = torch.tensor([[[255, 0, 0], [0, 0, 255]]], dtype=torch.uint8)
    panel = draw(outlines, torch.tensor([[True, False]]), palette, 10)[0]
    expected = torch.full((10, 10), 255, dtype=torch.uint8)
    expected[2:7, 2:7] = 0
    expected[3:6, 3:6] = 255
    assert torch.equal(panel[1], expected)
    assert (panel[0] == 255).all()
    both = draw(outlines, torch.tensor([[True, True]]), palette, 10)[0]
    assert both[:, 3, 6].tolist() == [0, 0, 255]  # the later object has the pixel that both share
    assert both[:, 2, 2].tolist() == [255, 0, 0]


def test_panels_are_bytes_addressed_by_problem_and_never_twice_the_same() -> None:
    source = Contours(side=32)
    train, few = build(source, Family(), 60), build(source, Family(), 7)
    assert train.inputs.dtype == torch.uint8
    assert train.inputs.shape == (60, 4, *source.shape)
    assert torch.equal(few.inputs, train.inputs[:7])
    assert len(train.distinct) == 240
    for family in (Family(), Family(asks="subroutine", of="inside"), Family(asks="partition", of="contact")):
        assert not train.distinct & build(source, family, 60, split="test").distinct
    assert not train.distinct & build(source, Family(), 60, seed=1).distinct


def test_what_cannot_be_drawn_is_said() -> None:
    with pytest.raises(InputError, match="two or three of inside, contact, number"):
        Contours(obeyed=("inside", "colour"))
    with pytest.raises(InputError, match="48 or more"):
        Contours(side=32, obeyed=("inside", "number"))
    with pytest.raises(InputError, match="numbers must be from 2 to 3"):
        Contours(numbers=(1, 2))
