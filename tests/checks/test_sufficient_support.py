"""The theorem's assumptions on tiny problems whose answers can be worked out by hand."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

from recombine.checks import (
    ComponentSupport,
    Connectedness,
    Marginal,
    TheoremResult,
    companions,
    connectedness,
    marginals,
    rank_of_blocks,
    rank_of_jacobians,
)
from recombine.checks.theorem._companions import movable, values_of
from recombine.errors import InputError
from recombine.space import FactorSpace, continuous
from recombine.support import Explicit, Region, Support, band, everywhere, planes

EYE = np.eye(3)
FOUR = FactorSpace(
    tuple(continuous(name) for name in ("front.x", "front.y", "rear.x", "rear.y")),
    (("front.x", "front.y"), ("rear.x", "rear.y")),
)
NAMES = ("front", "rear")


FIRST, SECOND, THIRD = (0, (1, 1)), (1, (0, 0)), (1, (0.5, 0.5))
"""The paper's planes: front free before a fixed rear, then the rear free behind two fronts."""
TWO, THREE = planes(FOUR, FIRST, SECOND), planes(FOUR, FIRST, SECOND, THIRD)
GAP = planes(FOUR, FIRST, SECOND, THIRD, gaps={"front.x": (0.05, 0.45)})
LINE = band(FOUR, 1e-5)
"""Narrower than the step by which a block must be able to move."""


def hard_rear(*covered: list[int]) -> NDArray[np.float64]:
    """Blocks of the rear component on 2 × 2 pixels, for fronts that cover the given pixels."""
    shown = np.ones((len(covered), 4))
    for point, pixels in enumerate(covered):
        shown[point, pixels] = 0
    return shown[:, :, None, None] * EYE


def test_a_pixel_that_is_always_hidden_costs_its_three_channels() -> None:
    found = rank_of_blocks(hard_rear([0], [0, 1]))
    assert (found.summed, found.stacked, found.full) == (9, 9, 12)
    assert found.missing.tolist() == [3, 0, 0, 0]
    assert found.strength.tolist() == [0, 1, 2, 2]
    assert found.weakest == 0


def test_another_front_that_covers_other_pixels_makes_up_for_it() -> None:
    found = rank_of_blocks(hard_rear([0], [3]))
    assert (found.summed, found.weakest) == (12, 1)
    assert found.weakest_stacked == 1
    assert not found.missing.any()


def test_soft_front_block_has_the_singular_values_of_its_closed_form() -> None:
    # Empty front before a red rear pixel: g I + g(1 − g)(a − b)1ᵀ = ½ I − ¼ (1, 0, 0)ᵀ 1ᵀ, determinant ½³ (1 − ½).
    block = 0.5 * EYE - 0.25 * np.outer([1, 0, 0], [1, 1, 1])
    found = rank_of_blocks(block[None, None])
    assert found.summed == 3
    assert found.weakest == pytest.approx(np.linalg.svd(block)[1][-1], abs=1e-14)
    # A secondary colour behind (t = 2) makes it singular, and a second point repairs it.
    singular = 0.5 * EYE - 0.25 * np.outer([1, 1, 0], [1, 1, 1])
    assert rank_of_blocks(singular[None, None]).summed == 2
    assert rank_of_blocks(np.stack([singular, block])[:, None]).summed == 3


def test_a_sum_that_cancels_is_replaced_by_fewer_points_and_a_stack_can_do_more_than_any_sum() -> None:
    cancelled = rank_of_blocks(np.stack([EYE, -EYE])[:, None])
    assert (cancelled.summed, cancelled.points) == (3, 1)
    halves = np.zeros((2, 1, 2, 2))
    halves[0, 0, 0, 0] = halves[1, 0, 0, 1] = 1
    found = rank_of_blocks(halves)
    assert (found.summed, found.stacked) == (1, 2)


def test_fewer_outputs_than_channels_are_never_enough_in_the_sum() -> None:
    found = rank_of_blocks(np.random.default_rng(0).normal(size=(4, 2, 3, 4)))
    assert (found.summed, found.stacked, found.full, found.weakest) == (6, 8, 8, 0)


BLOCKS = st.tuples(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 4), st.integers(1, 3))


def random_blocks(seed: int, points: int, cells: int, channels: int) -> NDArray[np.float64]:
    """Small whole numbers, so that ranks below the full one are common and exact."""
    rng = np.random.default_rng(seed)
    return rng.integers(-1, 2, size=(points, cells, channels, channels)).astype(float)


@given(BLOCKS)
@settings(max_examples=60, deadline=None)
def test_one_dense_matrix_says_what_the_blocks_say(case: tuple[int, int, int, int]) -> None:
    blocks = random_blocks(*case)
    points, cells, out, channels = blocks.shape
    dense = np.zeros((points, cells, out, cells, channels))
    for cell in range(cells):
        dense[:, cell, :, cell] = blocks[:, cell]
    one = rank_of_blocks(blocks)
    other = rank_of_jacobians(dense.reshape(points, cells * out, cells * channels), cells)
    assert (one.summed, one.stacked, one.points, one.full) == (other.summed, other.stacked, other.points, other.full)
    np.testing.assert_allclose(one.missing, other.missing, atol=1e-9)
    assert one.weakest == pytest.approx(other.weakest, abs=1e-9)
    whole = one.missing == 0
    np.testing.assert_allclose(one.strength[whole], other.strength[whole], rtol=1e-6)


@given(BLOCKS, st.floats(0.01, 100), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_ranks_do_not_depend_on_scale_basis_or_order_and_more_points_never_hurt_the_stack(
    case: tuple[int, int, int, int], scale: float, random: Any
) -> None:
    blocks = random_blocks(*case)
    found = rank_of_blocks(blocks)
    turn = np.linalg.qr(np.random.default_rng(case[0]).normal(size=(blocks.shape[-1],) * 2))[0]
    turned = rank_of_blocks(scale * blocks @ turn)
    assert (turned.summed, turned.stacked) == (found.summed, found.stacked)
    assert turned.weakest == pytest.approx(scale * found.weakest, abs=1e-9 * scale)
    order = random.sample(range(len(blocks)), len(blocks))
    assert rank_of_blocks(blocks[order]).stacked == found.stacked
    assert rank_of_blocks(blocks[:, ::-1]).summed == found.summed
    assert found.summed <= found.stacked
    assert found.missing.sum() == found.full - found.summed
    if len(blocks) > 1:
        assert rank_of_blocks(blocks[1:]).stacked <= found.stacked


def test_derivatives_of_the_wrong_kind_are_refused() -> None:
    with pytest.raises(InputError, match="points × cells × out × channels"):
        rank_of_blocks(EYE)
    with pytest.raises(InputError, match="finite"):
        rank_of_blocks(np.full((1, 1, 2, 2), np.nan))
    with pytest.raises(InputError, match="divided into 2 cells"):
        rank_of_jacobians(EYE[None], cells=2)


GRID = FactorSpace.of((("shape", "size"), ("colour",)), shape=2, size=2, colour=3)


def test_a_block_can_be_missing_while_each_of_its_factors_is_shown() -> None:
    train = Explicit(GRID, [[0, 0, c] for c in range(3)] + [[1, 1, 0]])
    blocks, factors = marginals(train, Explicit(GRID, GRID.grid()), ("thing", "colour"))
    assert [(m.name, m.asked, m.shown, m.exact) for m in blocks] == [("thing", 4, 2, True), ("colour", 3, 3, True)]
    assert blocks[0].missing == ((0, 1), (1, 0))
    assert all(m.holds for m in factors)


def test_a_gap_is_found_in_its_block_and_its_factor_only() -> None:
    blocks, factors = marginals(GAP, everywhere(FOUR), NAMES, values=400)
    assert not blocks[0].holds
    assert blocks[0].asked - blocks[0].shown == pytest.approx(160, abs=50)
    assert blocks[1].holds
    assert [m.name for m in factors if not m.holds] == ["front.x"]
    assert factors[0].span is not None
    assert 0.05 < factors[0].span[0] < 0.1 < 0.4 < factors[0].span[1] < 0.45
    for train in (TWO, THREE, band(FOUR, 0.05), LINE):
        assert all(m.holds for m in marginals(train, everywhere(FOUR), NAMES)[0]), train


def test_supports_over_different_spaces_are_refused() -> None:
    with pytest.raises(InputError, match="same factor space"):
        marginals(TWO, Explicit(GRID, GRID.grid()), NAMES)


def test_a_listed_support_hangs_together_through_points_that_differ_in_one_block() -> None:
    pair = FactorSpace.of(a=4, b=4)
    ell = Explicit(pair, [[0, b] for b in range(4)] + [[a, 0] for a in range(4)])
    assert connectedness(ell) == Connectedness(1, 7, True, (1.0, 1.0), (0.0, 0.0))
    squares = Explicit(pair, [[a, b] for a in range(4) for b in range(4) if (a < 2) == (b < 2)])
    found = connectedness(squares)
    assert (found.pieces, found.reached, found.holds) == (2, (0.5, 0.5), False)
    diagonal = connectedness(Explicit(pair, [[a, a] for a in range(4)]))
    assert (diagonal.pieces, diagonal.reached) == (4, (0.25, 0.25))


def test_a_second_piece_does_no_harm_if_the_first_reaches_every_value() -> None:
    # (0, 1, 2) differs from every point of the path in two blocks or more, and the path holds all nine values.
    cube = FactorSpace.of(a=3, b=3, c=3)
    path = [[0, 0, 0], [1, 0, 0], [2, 0, 0], [2, 1, 0], [2, 2, 0], [2, 2, 1], [2, 2, 2]]
    found = connectedness(Explicit(cube, [*path, [0, 1, 2]]))
    assert (found.pieces, found.holds) == (2, True)
    assert found.initial == (0, 0, 0)


@pytest.mark.parametrize("train", [TWO, THREE, band(FOUR, 0.2), Region(FOUR, {"box": {"front.x": [0.2, 0.7]}})])
def test_planes_bands_and_boxes_hang_together(train: Support) -> None:
    found = connectedness(train)
    assert (found.pieces, found.holds) == (1, True)
    assert train.contains(np.array([found.initial]))[0]


def test_a_gap_cuts_a_support_in_two_and_the_larger_side_is_where_to_start() -> None:
    found = connectedness(GAP)
    assert (found.pieces, found.holds) == (2, False)
    assert found.reached[1] == 1.0
    assert 0.3 < found.reached[0] < 0.8


def test_companions_of_planes_are_the_fixed_values_of_the_other_block() -> None:
    rear = np.array([0.5, 0.5, 0.3, 0.8])
    found = companions(THREE, rear, 1, 8, seed=0)
    assert sorted(map(tuple, found.tolist())) == [(0, 0, 0.3, 0.8), (0.5, 0.5, 0.3, 0.8)]
    front = companions(THREE, np.array([0.2, 0.4, 1.0, 1.0]), 0, 8, seed=0)
    assert front.tolist() == [[0.2, 0.4, 1, 1]]


def test_companions_do_not_count_where_the_block_cannot_move() -> None:
    # Of all training points with front at 0, only the one on the plane of the front shows its derivative.
    assert companions(TWO, np.array([0.0, 0, 0.3, 0.8]), 0, 8, seed=0).tolist() == [[0, 0, 1, 1]]
    assert not movable(LINE, LINE.sample(20, 0), 0).any()
    assert len(values_of(LINE, 0, 5, seed=0)) == 0


@given(st.integers(0, 1000), st.sampled_from([0.02, 0.1, 0.3]))
@settings(max_examples=20, deadline=None)
def test_companions_share_the_block_and_lie_in_the_support(seed: int, width: float) -> None:
    train = band(FOUR, width)
    point = values_of(train, 1, 1, seed)[0]
    found = companions(train, point, 1, 8, seed)
    assert len(found) == 8
    assert (found[:, 2:] == point[2:]).all()
    assert train.contains(found).all()
    assert np.ptp(found[:, 0]) > width / 4


def test_companions_of_a_listed_support_are_all_its_rows() -> None:
    train = Explicit(GRID, GRID.grid()[::2])
    assert len(companions(train, np.array([0, 0, 0]), 0, 1, 0)) == 2


def result(**changes: Any) -> TheoremResult:
    """Everything holds on two pixels, unless told otherwise."""
    whole = ComponentSupport.of("front", [rank_of_blocks(np.ones((1, 2, 1, 1)))] * 3)
    fields: dict[str, Any] = {
        "composition": "soft_occlusion",
        "differentiable": True,
        "smooth": True,
        "same": None,
        "blocks": (Marginal("front", 4, 4, True), Marginal("rear", 4, 4, True)),
        "factors": (),
        "components": (whole, ComponentSupport.of("rear", [rank_of_blocks(np.ones((1, 2, 1, 1)))] * 3)),
        "connected": Connectedness(1, 8, True, (1.0, 1.0), (0.0, 0.0)),
        "layout": (1, 2),
    }
    return TheoremResult(**(fields | changes))


def test_the_verdict_says_what_is_promised_and_on_what_it_rests() -> None:
    found = result()
    assert found.promises
    assert found.verdict == (
        "The theorem promises generalization under soft occlusion, given that the model is right at one initial point "
        "(the support is connected: 8 combinations)."
    )
    assert result(initial_error=0.01).verdict == "The theorem promises generalization under soft occlusion."
    assert "A4 fails because the learned components are 30.0% off" in result(initial_error=0.3).verdict
    other = (
        "A0 fails because the data was not composed by soft occlusion. What it asks of the support, A2 to A4, holds."
    )
    assert other in result(same=False).verdict
    assert "given that soft occlusion can be differentiated" in result(differentiable=None).verdict


def test_the_verdict_names_every_assumption_that_fails_and_where() -> None:
    hidden = np.ones((1, 2, 1, 1))
    hidden[0, 1] = 0
    rear = ComponentSupport.of("rear", [rank_of_blocks(hidden)] * 3)
    found = result(
        composition="hard_occlusion",
        differentiable=False,
        components=(result().components[0], rear),
        blocks=(Marginal("front", 4, 3, True), Marginal("rear", 4, 4, True)),
        factors=(Marginal("front.x", 9, 5, False, (), (0.05, 0.45)),),
        connected=Connectedness(2, 8, True, (0.5, 1.0), (0.0, 0.0)),
    )
    assert not found.promises
    assert found.verdict == (
        "The theorem promises nothing here: A1 fails because hard occlusion cannot be differentiated; A2 fails for "
        "front at 1 of 4 asked values (its factors: front.x from 0.05 to 0.45); A3 fails for rear at 1 of 2 entries "
        "under hard occlusion: 1 pixel never shows it; A4 fails because the support is in 2 pieces and one "
        "initial point reaches only 50% of the values of front."
    )
    row = found.row(support="gap")
    assert [row[a] for a in ("support", "A1", "A2", "A3", "A4")] == ["gap", False, False, False, False]
    assert (row["rear rank low"], row["rear full"], row["rear stacked"]) == (1, 2, False)


def test_a_result_is_a_table_json_a_picture_and_a_page(tmp_path: Any) -> None:
    import recombine  # noqa: F401  (registers how results are drawn)

    found = result()
    frame = found.to_frame()
    assert frame.shape == (6, 8)
    assert frame["summed"].to_list() == [2] * 6
    assert json.loads(found.to_json())["components"][0]["stacked"] == [2, 2, 2]
    svg = found.save(tmp_path / "a.svg").read_text()
    assert "training determines how rear changes" in svg
    assert "rank 2 of 2" in svg
    page = found.save(tmp_path / "a.html").read_text()
    assert "<h1>The theorem promises generalization</h1>" in page
    assert "<script" not in page


@pytest.mark.parametrize("width", ["double", "single", "phone"])
def test_the_picture_stays_within_its_width(width: Any) -> None:
    import xml.etree.ElementTree as ET

    from recombine.figures import drawn_for, to_svg
    from recombine.figures.sufficiency import theorem_figure
    from recombine.figures.theme import WIDTHS

    with drawn_for(width):
        svg = to_svg(theorem_figure(result(initial_error=0.3)))
    assert float(ET.fromstring(svg).attrib["width"]) <= WIDTHS[width] + 1
