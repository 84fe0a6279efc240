"""Compositions: by hand, and their closed-form derivatives against autograd."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from recombine.errors import InputError
from recombine.tasks.sprites.compose import COMPOSITIONS, Addition, Composition, HardOcclusion, Over, SoftOcclusion

EVERY = [*COMPOSITIONS.values(), Over(leak=0.1), SoftOcclusion(temperature=0.3)]


def cell(*components: tuple[float, ...]) -> Tensor:
    """Components of one cell, front first."""
    return torch.tensor(components, dtype=torch.float64)[:, None, :]


def test_by_hand() -> None:
    front, rear, empty = (0.5, 0.0, 0.25), (0.0, 1.0, 0.5), (0.0, 0.0, 0.0)
    assert Addition()(cell(front, rear)).tolist() == [[0.5, 1.0, 0.75]]
    assert HardOcclusion()(cell(front, rear)).tolist() == [[*front]]
    assert HardOcclusion()(cell(empty, rear)).tolist() == [[*rear]]
    weight = 1 / (1 + math.exp(-0.75))
    expected = [weight * a + (1 - weight) * b for a, b in zip(front, rear, strict=True)]
    assert SoftOcclusion()(cell(front, rear))[0].tolist() == pytest.approx(expected)
    sharp = SoftOcclusion(temperature=0.5)(cell(front, empty))[0].tolist()
    assert sharp == pytest.approx([a / (1 + math.exp(-1.5)) for a in front])
    assert SoftOcclusion()(cell(empty, rear))[0].tolist() == pytest.approx([0, 0.5, 0.25])
    half = Over()(cell((*front, 0.5), (*rear, 1.0)))
    assert half[0].tolist() == pytest.approx([0.25, 0.5, 0.375])
    assert Over()(cell((*front, 7.0), (*rear, 1.0)))[0].tolist() == pytest.approx(front)
    assert Over()(cell((*front, -1.0), (*rear, 0.5)))[0].tolist() == pytest.approx([0, 0.5, 0.25])
    leaking = Over(leak=0.1)(cell((*front, -1.0), (*rear, 0.5)))[0]
    assert leaking.tolist() == pytest.approx([-0.1 * f + 1.1 * b for f, b in zip(front, (0, 0.5, 0.25), strict=True)])


def test_three_components_are_folded_from_the_back() -> None:
    parts = torch.rand(3, 5, 3, dtype=torch.float64)
    parts[0, :2] = 0
    soft = SoftOcclusion()
    rest = soft(parts[1:])
    torch.testing.assert_close(soft(parts), soft(torch.stack([parts[0], rest])))
    assert torch.equal(HardOcclusion()(parts), torch.cat([parts[1, :2], parts[0, 2:]]))
    assert torch.equal(HardOcclusion()(parts[:1]), parts[0])


@pytest.mark.parametrize("composition", EVERY, ids=lambda c: c.kind)
@pytest.mark.parametrize("count", [1, 2, 4])
def test_blocks_are_the_derivative(composition: Composition, count: int) -> None:
    generator = torch.Generator().manual_seed(count)
    parts = torch.randn(2, count, 6, composition.channels, generator=generator, dtype=torch.float64)
    parts[:, :, 0] = 0
    whole = torch.func.vmap(torch.func.jacrev(composition))(parts).clone()  # batch × cells × out × K × cells × channels
    cells = torch.arange(6)
    expected = whole[:, cells, :, :, cells].permute(1, 3, 0, 2, 4)
    blocks = composition.blocks(parts)
    assert blocks.shape == (2, count, 6, 3, composition.channels)
    torch.testing.assert_close(blocks, expected)
    whole[:, cells, :, :, cells] = 0
    assert not whole.any()


def test_vectors_are_added_with_one_channel() -> None:
    parts = torch.rand(2, 7, 1)
    assert Addition().blocks(parts).shape == (2, 7, 1, 1)
    torch.testing.assert_close(Addition()(parts), parts.sum(0))
    with pytest.raises(InputError, match="3 channels, got 1"):
        SoftOcclusion()(parts)
    with pytest.raises(InputError, match="4 channels, got 3"):
        Over()(torch.rand(2, 7, 3))


def test_the_determinant_of_the_soft_front_block() -> None:
    """det dC/da = g³ (1 + (1 − g)(s − t)): zero at an empty front before a pure secondary colour."""
    parts = torch.rand(2, 20, 3, dtype=torch.float64)
    s, t = parts.sum(-1)
    g = torch.sigmoid(s)
    torch.testing.assert_close(torch.linalg.det(SoftOcclusion().blocks(parts)[0]), g**3 * (1 + (1 - g) * (s - t)))
    secondary = cell((0, 0, 0), (1, 1, 0))
    assert float(torch.linalg.det(SoftOcclusion().blocks(secondary)[0, 0])) == pytest.approx(0, abs=1e-12)


def test_only_hard_occlusion_is_not_differentiable() -> None:
    assert [c.kind for c in COMPOSITIONS.values() if not c.differentiable] == ["hard_occlusion"]
    assert len({c.address for c in EVERY}) == len(EVERY)
