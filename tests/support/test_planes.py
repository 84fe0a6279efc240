"""Planes, gaps, other densities and bands: exact weights, membership, and what is strictly outside."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st
from scipy.stats import kstest, truncnorm

from recombine.errors import InputError
from recombine.space import FactorSpace, continuous
from recombine.support import Band, Mixture, Placed, Region, band, everywhere, load_manifest, planes, save_manifest


def cube(components: int = 2, factors: int = 2) -> FactorSpace:
    blocks = tuple(tuple(f"{'abcde'[d]}{k + 1}" for d in range(factors)) for k in range(components))
    return FactorSpace(tuple(continuous(name) for block in blocks for name in block), blocks)


THREE = ((0, (1.0, 0.7)), (1, (0.0, 0.0)), (1, (0.5, 0.0)))


def every() -> list[Placed]:
    space = cube()
    return [
        everywhere(space),
        planes(space, *THREE),
        planes(space, *THREE, gaps={"a1": (0.05, 0.45)}),
        planes(space, *THREE, normal=(0.5, 1.0)),
        band(space, 0.1),
        band(cube(3), 0.2),
    ]


def test_planes_by_hand() -> None:
    points = planes(cube(), *THREE).sample(30_000, seed=1)
    first = (points[:, 2:] == (1.0, 0.7)).all(1)
    second, third = (points[:, :2] == (0.0, 0.0)).all(1), (points[:, :2] == (0.5, 0.0)).all(1)
    assert (first | second | third).all()
    assert [mask.mean() for mask in (first, second, third)] == pytest.approx([1 / 3] * 3, abs=0.01)
    for free in (points[first, 0], points[first, 1], points[second, 2], points[third, 3]):
        assert kstest(free, "uniform").pvalue > 1e-3


def test_a_gap_makes_its_plane_rarer() -> None:
    support = planes(cube(), *THREE, gaps={"a1": (0.05, 0.45)})
    assert [weight for weight, _ in support.parts] == pytest.approx([0.6 / 2.6, 1 / 2.6, 1 / 2.6])
    points = support.sample(30_000, seed=2)
    free = points[(points[:, 2:] == (1.0, 0.7)).all(1), 0]
    assert len(free) / 30_000 == pytest.approx(0.2308, abs=0.01)
    assert not ((free > 0.05) & (free < 0.45)).any()
    squeezed = np.where(free <= 0.05, free, free - 0.4) / 0.6
    assert kstest(squeezed, "uniform").pvalue > 1e-3


def test_a_normal_density_is_cut_to_the_range() -> None:
    points = planes(cube(), *THREE, normal=(0.5, 1.0)).sample(30_000, seed=3)
    free = points[(points[:, :2] == (0.0, 0.0)).all(1), 3]
    assert kstest(free, truncnorm(-0.5, 0.5, loc=0.5, scale=1.0).cdf).pvalue > 1e-3


@pytest.mark.parametrize("width", [0.05, 0.1, 0.2, 0.6, 2.0])
def test_a_band_of_two_is_uniform_within_it(width: float) -> None:
    points = band(cube(), width).sample(30_000, seed=4)
    apart = np.abs(points[:, 0] - points[:, 2])
    limit = min(math.sqrt(2) * width, 1.0)
    assert limit * 0.99 < apart.max() <= limit + 1e-12
    # Uniform over the band: the area with |z1 - z2| <= t is t (2 - t).
    assert kstest(apart, lambda t: t * (2 - t) / (limit * (2 - limit))).pvalue > 1e-3
    assert (points[:, 1] > points[:, 3]).mean() == pytest.approx(0.5, abs=0.015)


@pytest.mark.parametrize(("components", "width"), [(3, 0.2), (3, 5.0), (4, 0.3)])
def test_a_band_of_several_is_what_rejection_gives(components: int, width: float) -> None:
    space = cube(components, 1)
    ours = band(space, width).sample(4_000, seed=5)
    plain = np.random.default_rng(6).random((400_000, components))
    plain = plain[np.linalg.norm(plain - plain.mean(1, keepdims=True), axis=1) <= width]
    for statistic in (np.min, np.ptp, lambda x, axis: x[:, 0]):
        assert kstest(statistic(ours, axis=1), statistic(plain, axis=1)).pvalue > 1e-3


@pytest.mark.parametrize("support", every(), ids=repr)
def test_samples_are_in_and_the_complement_is_out(support: Placed) -> None:
    points = support.sample(500, seed=7)
    assert support.contains(points).all()
    assert support.contains(points.astype(np.float32)).all()
    assert np.array_equal(points, support.sample(500, seed=7))
    assert not np.array_equal(points, support.sample(500, seed=8))
    if support == everywhere(support.space):
        with pytest.raises(InputError, match="nothing is outside"):
            support.outside()
        return
    outside = support.outside(0.05).sample(500, seed=7)
    assert not support.contains(outside).any()
    assert not support.outside(0.05).contains(points).any()


def test_the_margin_of_the_complement() -> None:
    outside = planes(cube(), (0, (0.5, 0.5))).outside(0.1)
    rows = np.array([[0.3, 0.3, 0.55, 0.45], [0.3, 0.3, 0.55, 0.65], [0.3, 0.3, 0.5, 0.5]])
    assert outside.contains(rows).tolist() == [False, True, False]
    beside = band(cube(), 0.1).outside(0.1)
    rows = np.array([[0.5, 0.5, 0.5, 0.5], [0.3, 0.5, 0.5, 0.5], [0.1, 0.5, 0.5, 0.5]])
    assert beside.contains(rows).tolist() == [False, False, True]


@pytest.mark.parametrize("support", every(), ids=repr)
def test_numpy_and_torch_place_alike(support: Placed) -> None:
    units = np.random.default_rng(9).random((64, support.numbers))
    with_torch = support.place(torch.as_tensor(units), torch)
    np.testing.assert_allclose(support.place(units), with_torch.numpy(), atol=1e-9)
    rounded = support.place(torch.as_tensor(units, dtype=torch.float32), torch)
    assert rounded.dtype == torch.float32
    assert support.contains(rounded.numpy()).all()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0, 1 - 2**-53), min_size=5, max_size=5))
def test_any_numbers_give_a_point_of_the_support(numbers: list[float]) -> None:
    for support in every()[:5]:
        units = np.array([(numbers * 3)[: support.numbers]])
        assert support.contains(support.place(units)).all()


@pytest.mark.parametrize("support", every(), ids=repr)
def test_a_manifest_keeps_the_density(support: Placed, tmp_path) -> None:
    loaded = load_manifest(save_manifest(support, tmp_path / "s.json"))
    assert loaded == support
    assert np.array_equal(loaded.sample(5, 0), support.sample(5, 0))


def test_a_density_is_part_of_what_a_support_is() -> None:
    plain, normal = every()[1], every()[3]
    assert plain.rule == normal.rule
    assert plain != normal
    assert len({*every(), *every()}) == len(every())
    assert (plain | normal).contains(plain.sample(10, 0)).all()
    assert not (~plain).contains(plain.sample(10, 0)).any()


def test_bad_supports_say_why() -> None:
    space = cube()
    with pytest.raises(InputError, match="at least one plane"):
        planes(space)
    with pytest.raises(InputError, match="no component 2"):
        planes(space, (2, (0.0, 0.0)))
    with pytest.raises(InputError, match="2 factors, a plane fixes it at 3"):
        planes(space, (0, (0.0, 0.0, 0.0)))
    with pytest.raises(InputError, match="does not lie inside factor 'a1'"):
        planes(space, *THREE, gaps={"a1": (0.5, 1.5)})
    with pytest.raises(InputError, match="is no part of it"):
        planes(space, (0, (2.0, 0.0)))
    with pytest.raises(InputError, match="a weight above zero"):
        Mixture(space, [])
    with pytest.raises(InputError, match="law of factor 'a1'"):
        Mixture(space, [(1.0, {"a1": {"uniforn": [[0, 1]]}})])
    with pytest.raises(InputError, match="must not overlap"):
        Mixture(space, [(1.0, {"a1": {"uniform": [[0, 0.5], [0.4, 1]]}})])
    with pytest.raises(InputError, match="categorical"):
        Mixture(FactorSpace.of(a=2, b=2), [(1.0, {})])
    with pytest.raises(InputError, match="two or more components"):
        Band(cube(1), 0.1)
    with pytest.raises(InputError, match="'near' needs groups"):
        Region(space, {"near": {"width": 0.1}})
    with pytest.raises(InputError, match="width above zero"):
        Band(space, 0.0)
    with pytest.raises(InputError, match="nothing is farther"):
        band(space, 0.7).outside(0.05)
