"""Vectors made of parts: composed as said, on the support that was named, the same wherever they are made."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

from recombine.errors import InputError
from recombine.support import everywhere
from recombine.tasks import Draws, VectorParts
from recombine.tasks.sprites.compose import Addition, Over, SoftOcclusion

NAMES = ("random", "orthogonal", "orthogonal+", "gap", "diagonal")


def test_the_target_is_the_composition_of_the_components() -> None:
    for composition in (Addition(), SoftOcclusion(), Over()):
        task = VectorParts(composition=composition, cells=3)
        points = torch.rand(5, 4)
        inputs, targets = task.examples(points, Draws.single(0))
        parts = task.components(points)
        assert parts.shape == (5, 2, 3, composition.channels)
        torch.testing.assert_close(targets, composition(parts))
        torch.testing.assert_close(inputs, 2 * points - 1)


def test_a_component_depends_on_its_own_latents_alone() -> None:
    task = VectorParts(blocks=3, latents=2)
    first, second = torch.rand(4, 6), torch.rand(4, 6)
    mixed = torch.cat([first[:, :2], second[:, 2:]], 1)
    parts = task.components(mixed)
    torch.testing.assert_close(parts[:, 0], task.components(first)[:, 0])
    torch.testing.assert_close(parts[:, 1:], task.components(second)[:, 1:])


def test_components_are_waves_by_hand() -> None:
    task = VectorParts(latents=1, waves=1, cells=1, frequency=1.0)
    speed, phase, size = task._waves
    z = torch.tensor([[0.3, 0.6]])
    expected = torch.cos(z[0].double() * speed[:, 0, 0] + phase[:, 0])[:, None] * size[:, 0]
    torch.testing.assert_close(task.components(z)[0, :, 0].double(), expected, rtol=1e-5, atol=1e-6)


def test_components_have_about_unit_variance() -> None:
    task = VectorParts(cells=64, waves=32, frequency=2.0)
    parts = task.components(torch.as_tensor(task.space.sample(4000, 0)))
    assert parts.var(0).mean().item() == pytest.approx(1, abs=0.15)


@pytest.mark.parametrize("name", NAMES)
def test_training_stays_on_its_support(name: str) -> None:
    task = VectorParts(support=name)  # type: ignore[arg-type]
    inputs, _ = task.batch(Draws.of([0, 3], range(2), 0), 50)
    assert isinstance(inputs, torch.Tensor)
    points = ((inputs + 1) / 2).reshape(-1, 4).double().clamp(0, 1).numpy()
    assert task.train.contains(points).all()
    if name != "random":
        assert not task.train.contains(task.test.sample(200, 0)).any()


def test_planes_share_the_corner_and_plus_has_two_a_component() -> None:
    plane = VectorParts().train.sample(400, 0)
    assert ((plane[:, :2] == 0).all(1) | (plane[:, 2:] == 0).all(1)).all()
    plus = VectorParts(support="orthogonal+").train.sample(400, 0)
    assert {0.25, 0.75} <= {v for row in plus for v in row if v in (0.25, 0.75)}
    gap = VectorParts(support="gap", gap=(0.2, 0.9)).train.sample(400, 0)
    assert not ((gap[:, 0] > 0.2) & (gap[:, 0] < 0.9)).any()
    assert ((gap[:, 1] > 0.2) & (gap[:, 1] < 0.9)).any()


@settings(max_examples=15, deadline=None)
@given(members=st.integers(1, 4), member=st.integers(0, 3), size=st.integers(1, 9))
def test_a_member_sees_the_same_in_any_company(members: int, member: int, size: int) -> None:
    member %= members
    task = VectorParts(latents=1, cells=2, waves=2)
    many = task.batch(Draws.of(range(members), range(2), 7), size)
    one = task.batch(Draws.of([member], range(2), 7), size)
    for a, b in zip(many, one, strict=True):
        torch.testing.assert_close(a[:, member], b[:, 0])  # type: ignore[index]


def test_an_autoencoder_is_shown_the_vector_itself() -> None:
    inputs, targets = VectorParts(inputs="observation").batch(Draws.of([0], range(1), 0), 4)
    assert inputs is targets


def test_what_cannot_be_asked() -> None:
    with pytest.raises(InputError, match="another space"):
        VectorParts(latents=1, support=everywhere(VectorParts().space))
    with pytest.raises(InputError, match="batch_size"):
        VectorParts().whole()


def test_two_descriptions_of_one_task_have_one_address() -> None:
    assert VectorParts().address == VectorParts(width=0.1).address
    assert VectorParts().address != VectorParts(seed=1).address
    assert np.array_equal(VectorParts().train.sample(3, 0), VectorParts(seed=1).train.sample(3, 0))
