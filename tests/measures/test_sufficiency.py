"""Derivatives of compositions, and the theorem's verdict for true and learned components."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings, strategies as st
from torch import Tensor

from recombine.errors import InputError
from recombine.measures import check_theorem, derivative_blocks, sufficient_support, theorem_table
from recombine.measures.derivatives import jacobians
from recombine.measures.sufficiency import block_names
from recombine.models import CellNetwork, Compositional, Perceptron
from recombine.space import FactorSpace, continuous
from recombine.support import Explicit, Support, band, everywhere, planes
from recombine.tasks import SpriteTask
from recombine.tasks.sprites import Latents
from recombine.tasks.sprites.compose import COMPOSITIONS, Addition, Composition, HardOcclusion, Over, SoftOcclusion
from recombine.tasks.sprites.raster import Raster, draw
from recombine.tasks.vector_parts import VectorParts

LATENTS = ("x", "y", "shape", "scale", "hue")
CUBE = FactorSpace(
    tuple(continuous(f"{block}.{name}") for block in ("front", "rear") for name in LATENTS),
    tuple(tuple(f"{block}.{name}" for name in LATENTS) for block in ("front", "rear")),
)
LOW, HIGH = torch.tensor([0.1, 0.2, 0, 0.09, 0.05]), torch.tensor([0.9, 0.8, 2, 0.22, 0.95])
PLANES = ((0, (1, 1, 1, 0, 1)), (1, (0, 0, 0, 0, 0)), (1, (0.5, 0.5, 0.5, 0, 0.5)))
"""The paper's planes of section 2.1: circle top right; triangle bottom left; square in the middle."""


def sprite(raster: Raster = "pil", side: int = 64) -> Callable[[Tensor], Tensor]:
    """φ of the paper: five latents from 0 to 1 become one picture."""

    def phi(latents: Tensor) -> Tensor:
        values = LOW + (HIGH - LOW) * latents
        values[:, 2] = values[:, 2].round()
        return draw(values, side, raster=raster, largest=0.22)

    return phi


def ranks(composition: Composition, count: int, raster: Raster = "pil") -> dict[str, tuple[int, int, float, float]]:
    """For each component the lowest and highest rank and smallest singular value at 20 values, with some planes."""
    train = planes(CUBE, *PLANES[:count])
    found = sufficient_support(composition, [sprite(raster)] * 2, train, layout=(64, 64))
    return {
        c.name: (int(c.summed.min()), int(c.summed.max()), float(c.weakest.min()), float(c.weakest.max()))
        for c in found.components
    }


def test_rank_table_of_hard_occlusion() -> None:
    one = ranks(HardOcclusion(), 2)
    assert one["rear"] == (12_168, 12_168, 0, 0)
    assert one["front"][2:] == (0, 0)
    # The front is determined where it covers, by whichever sprite the value draws: published 144 – 588.
    assert 100 <= one["front"][0] <= 250 <= 450 <= one["front"][1] <= 750
    assert ranks(HardOcclusion(), 3)["rear"] == (12_288, 12_288, 1, 1)


def test_rank_table_of_soft_occlusion() -> None:
    one, both = ranks(SoftOcclusion(), 2), ranks(SoftOcclusion(), 3)
    assert all(found[:2] == (12_288, 12_288) for found in (*one.values(), *both.values()))
    assert one["front"][2:] == pytest.approx((0.147, 0.147), abs=1e-3)
    assert one["rear"][2:] == pytest.approx((0.215, 0.215), abs=1e-3)
    assert both["rear"][2:] == pytest.approx((0.619, 0.619), abs=1e-3)


def test_pixel_centres_hide_four_pixels_fewer() -> None:
    assert ranks(HardOcclusion(), 2, "centre")["rear"][:2] == (12_180, 12_180)
    assert ranks(HardOcclusion(), 3, "centre")["rear"][:2] == (12_288, 12_288)


@pytest.mark.parametrize("composition", COMPOSITIONS.values(), ids=list(COMPOSITIONS))
@pytest.mark.parametrize("count", [2, 3])
def test_closed_forms_agree_with_autograd(composition: Composition, count: int) -> None:
    torch.manual_seed(0)
    components = torch.rand(4, count, 6, composition.channels, dtype=torch.float64)
    closed = derivative_blocks(composition, components)
    by_code = derivative_blocks(lambda parts: composition(parts), components)
    assert closed.shape == (4, count, 6, 3, composition.channels)
    torch.testing.assert_close(by_code, closed, rtol=1e-12, atol=1e-12)
    for k in range(count):
        whole = jacobians(composition, components, k).reshape(4, 6, 3, 6, -1)
        torch.testing.assert_close(torch.einsum("pcocd->pcod", whole), closed[:, k], rtol=1e-12, atol=1e-12)


def blurred(components: Tensor) -> Tensor:
    """Soft occlusion whose front is smeared over three neighbouring cells."""
    smeared = (components[..., :1, :, :].roll(1, -2) + components[..., :1, :, :].roll(-1, -2)) / 4
    return SoftOcclusion()(torch.cat([smeared + components[..., :1, :, :] / 2, components[..., 1:, :, :]], dim=-3))


def test_code_that_mixes_cells_is_noticed_and_differentiated_as_a_whole() -> None:
    train, phi = planes(CUBE, *PLANES[:2]), sprite("pil", 8)
    with pytest.raises(InputError, match="cellwise=False"):
        sufficient_support(blurred, [phi, phi], train, values=2)
    found = sufficient_support(blurred, [phi, phi], train, values=2, cellwise=False)
    front, rear = found.components
    # ¼, ½, ¼ around a ring has the Fourier gains (1 + cos ω)/2: that of alternating cells is 0, three channels a ring.
    assert set(front.summed.tolist()) <= {189, 192}
    assert front.weakest.max() < 0.02
    assert rear.holds
    assert found.differentiable is None
    assert found.assumptions[0].words == "blurred and the components can be differentiated"


def test_a_picture_that_is_too_large_for_a_whole_jacobian_is_refused() -> None:
    with pytest.raises(InputError, match="12,288 × 12,288 is too large"):
        sufficient_support(SoftOcclusion(), [sprite()] * 2, planes(CUBE, *PLANES), values=1, cellwise=False)


def test_over_never_has_full_rank() -> None:
    def rgba(latents: Tensor) -> Tensor:
        colours = sprite("pil", 16)(latents)
        return torch.cat([colours, (colours.sum(-1, keepdim=True) > 0).to(colours)], dim=-1)

    for train in (planes(CUBE, *PLANES), band(CUBE, 0.2), everywhere(CUBE)):
        found = sufficient_support(Over(), [rgba, rgba], train, values=5)
        for component in found.components:
            assert not component.holds
            assert not component.solvable
            # Three outputs a cell cannot determine four channels, and a transparent one tells alpha only.
            assert (component.summed <= 3 * 256).all()
            assert (component.stacked < 4 * 256).all()


PAIR = FactorSpace.of(a=4, b=3)
ROWS = st.sets(st.sampled_from([(a, b) for a in range(4) for b in range(3)]), min_size=1)


def table_of(levels: int) -> Callable[[Tensor], Tensor]:
    vectors = torch.randn(levels, 5, generator=torch.Generator().manual_seed(levels), dtype=torch.float64)
    return lambda codes: vectors[codes[:, 0].long()]


@given(ROWS, ROWS)
@settings(max_examples=40, deadline=None)
def test_addition_is_sufficient_whatever_the_support(seen: set[tuple[int, int]], asked: set[tuple[int, int]]) -> None:
    found = sufficient_support(
        Addition(), [table_of(4), table_of(3)], Explicit(PAIR, sorted(seen)), Explicit(PAIR, sorted(asked))
    )
    shown = all({p[k] for p in asked} <= {p[k] for p in seen} for k in (0, 1))
    row = found.row()
    assert (row["A1"], row["A2"], row["A3"]) == (None, shown, True)
    assert found.promises == (shown and found.connected.holds)
    for component in found.components:
        assert component.full == 5
        assert (component.weakest == component.points).all()


def test_a_learned_composition_and_learned_components_can_be_checked() -> None:
    torch.manual_seed(1)
    network = Perceptron(widths=(5, 8, 12))
    model = Compositional(component=network, composition=CellNetwork(hidden=4))()
    found = sufficient_support(
        model.compose,  # type: ignore[arg-type]
        lambda points: model.components(points.float()),  # type: ignore[operator]
        planes(CUBE, *PLANES),
        truth=lambda points: model.components(points.float()) * 1.5,  # type: ignore[operator]
        smooth=True,
        values=4,
    )
    assert [c.full for c in found.components] == [12, 12]
    assert all(c.holds for c in found.components)
    assert found.initial_error == pytest.approx(1 / 3, abs=1e-5)
    assert "A4 fails because the learned components are 33.3% off at the initial point" in found.verdict


def test_a_verdict_for_each_support_and_composition_is_one_table() -> None:
    phi = sprite("pil", 16)
    supports: dict[str, Support] = {
        "three planes": planes(CUBE, *PLANES),
        "gap": planes(CUBE, *PLANES, gaps={"front.x": (0.05, 0.45)}),
        "band": band(CUBE, 0.1),
    }
    table = theorem_table(
        (name, sufficient_support(SoftOcclusion(), [phi, phi], s, smooth=True)) for name, s in supports.items()
    )
    assert table["support"].to_list() == list(supports)
    assert table["promises"].to_list() == [True, False, True]
    assert table["A2"].to_list() == [True, False, True]
    assert table["A4"].to_list() == [None, False, None]
    assert (table["rear weakest"] > 0.2).all()


def test_the_same_seed_gives_the_same_numbers_and_more_points_a_stronger_rear() -> None:
    phi, train = sprite("pil", 16), band(CUBE, 0.2)
    first, again = (sufficient_support(SoftOcclusion(), [phi, phi], train, values=3, seed=4) for _ in range(2))
    assert first.to_frame().equals(again.to_frame())
    few = sufficient_support(SoftOcclusion(), [phi, phi], train, values=3, seed=4, points=2)
    assert (few.components[1].weakest < first.components[1].weakest).all()


def test_blocks_are_named_by_what_their_factors_share() -> None:
    assert block_names(CUBE) == ("front", "rear")
    assert block_names(PAIR) == ("a", "b")
    assert block_names(VectorParts(blocks=3).space) == ("a", "b", "c")
    assert block_names(FactorSpace.of((("x", "y"), ("u", "v")), x=2, y=2, u=2, v=2)) == ("x, y", "u, v")
    with pytest.raises(InputError, match="2 blocks and 1 names"):
        sufficient_support(Addition(), [table_of(4), table_of(3)], Explicit(PAIR, [[0, 0]]), names=["a"])


def test_a_task_without_components_is_told_what_to_use() -> None:
    from recombine.tasks import ToyTask

    with pytest.raises(InputError, match="Use sufficient_support"):
        check_theorem(ToyTask())


SMALL = SpriteTask(side=16, samples=None)


def test_one_line_tells_before_training_what_a_task_allows() -> None:
    hard = check_theorem(SMALL, values=5)
    assert (hard.composition, hard.layout, [c.name for c in hard.components]) == (
        "hard_occlusion",
        (16, 16),
        ["front", "rear"],
    )
    row = hard.row()
    assert (row["A0"], row["A1"], row["A2"], row["A3"], row["A4"]) == (True, False, True, False, None)
    soft = check_theorem(SMALL, composition=SoftOcclusion(), values=5)
    assert (soft.same, soft.row()["A3"]) == (False, True)
    over = check_theorem(SMALL, composition=Over(), values=5)
    assert over.components[0].full == 16 * 16 * 4
    assert not over.components[0].holds
    one_shape = SMALL.replace(raster="smooth", latents=Latents(shapes=(30,)), composition=SoftOcclusion())
    promised = check_theorem(one_shape, values=5)
    assert promised.promises
    assert promised.verdict.startswith("The theorem promises generalization under soft occlusion, given that the model")


def test_on_vectors_every_assumption_can_hold() -> None:
    found = {name: check_theorem(VectorParts(support=name)) for name in ("random", "orthogonal", "gap", "diagonal")}
    assert {name: result.promises for name, result in found.items()} == {
        "random": True,
        "orthogonal": True,
        "gap": False,
        "diagonal": True,
    }
    soft = check_theorem(VectorParts(support="diagonal", composition=SoftOcclusion()))
    assert soft.promises
    assert "A1 fails because hard occlusion cannot" in check_theorem(VectorParts(composition=HardOcclusion())).verdict


def test_after_training_the_learned_components_are_checked_and_compared_at_the_initial_point() -> None:
    torch.manual_seed(0)
    network = Perceptron(widths=(5, 8, 16 * 16 * 3))
    model = Compositional(component=network, composition=SoftOcclusion())()
    found = check_theorem(SMALL, model, values=3)
    assert found.smooth
    assert found.same is False
    assert found.initial_error is not None
    assert found.initial_error > 0.5
    assert "off at the initial point" in found.verdict
    with pytest.raises(InputError, match="this model has none"):
        check_theorem(SMALL, torch.nn.Linear(10, 3))
