"""The sprite task: the published statistics, sets by address, and a batch that can be traced."""

from __future__ import annotations

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from recombine.errors import InputError
from recombine.support import band, planes
from recombine.tasks import Draws, SpriteTask
from recombine.tasks.sprites import COMPOSITIONS, Addition, HardOcclusion, Latents, Over, SoftOcclusion
from recombine.tasks.sprites.task import kept_pictures

SUPPORTS = ("random", "orthogonal", "orthogonal+", "orthogonal*", "gap", "normal", "diagonal")


def pixel_variance(task: SpriteTask, split: str, count: int = 10_000) -> float:
    """Mean over pixels of the variance over pictures, as R² divides by."""
    total = squares = torch.zeros(task.side**2, 3)
    for points in task.points(split, count, seed=1).split(250):
        pictures = task.pictures(points)
        total, squares = total + pictures.sum(0), squares + pictures.square_().sum(0)
    return float((squares / count - (total / count).square()).mean())


def test_the_published_pixel_variance() -> None:
    task = SpriteTask()
    assert pixel_variance(task, "all") == pytest.approx(0.0252, abs=0.0005)
    assert pixel_variance(task, "id") == pytest.approx(0.0162, abs=0.0004)
    # The released configuration would have made data of half the variance.
    assert pixel_variance(task.replace(composition=SoftOcclusion()), "all", 1000) == pytest.approx(0.0121, abs=0.0006)
    assert pixel_variance(task.replace(support="orthogonal*"), "id", 5000) == pytest.approx(0.0150, abs=0.0005)


def test_scaled_latents_by_hand() -> None:
    inputs, pictures = SpriteTask().examples(
        torch.tensor([[0.0, 0, 0, 0, 0, 1, 1, 1, 1, 1], [0.5, 0.5, 0.24, 0.5, 0.5, 0.5, 0.5, 0.76, 0.5, 0.5]]),
        Draws.single(0),
    )
    assert inputs[0].tolist() == pytest.approx([0.1, 0.2, 0, 0.09, 0.05, 0.9, 0.8, 2, 0.22, 0.95])
    assert inputs[1, [2, 7]].tolist() == [0, 2]
    assert pictures.shape == (2, 4096, 3)
    shapes = Latents().scaled(torch.rand(20_000, 5))[:, 0, 2]
    assert torch.bincount(shapes.long()).div(20_000).tolist() == pytest.approx([0.25, 0.5, 0.25], abs=0.015)


@pytest.mark.parametrize("composition", COMPOSITIONS.values(), ids=lambda c: c.kind)
@pytest.mark.parametrize("raster", ["pil", "centre", "smooth"])
def test_a_picture_is_its_composed_components(composition, raster) -> None:
    task = SpriteTask(side=16, sprites=3, composition=composition, raster=raster, support="random")
    points = task.points("all", 40, seed=2)
    parts = task.components(points)
    assert parts.shape == (40, 3, 256, composition.channels)
    torch.testing.assert_close(task.pictures(points), composition(parts), rtol=0, atol=1e-7)


def test_hard_and_over_draw_the_same_picture() -> None:
    task = SpriteTask(side=24)
    points = task.points("all", 50, seed=3)
    assert torch.equal(task.pictures(points), task.replace(composition=Over()).pictures(points))
    alpha = task.replace(composition=Over()).components(points)[..., 3]
    assert set(alpha.unique().tolist()) == {0.0, 1.0}


@pytest.mark.parametrize("support", SUPPORTS)
def test_splits_lie_where_they_should(support) -> None:
    task = SpriteTask(side=8, support=support, samples=500)
    inside, everything, outside = (task.points(split, 300, seed=4) for split in ("id", "all", "ood"))
    assert task.train.contains(inside.numpy()).all()
    assert task.train.contains(task.sample(torch.arange(500)).numpy()).all()
    assert torch.equal(inside, task.points("id", 300, seed=4))
    if support == "random":
        assert task.train.contains(everything.numpy()).all()
    else:
        assert not task.train.contains(everything.numpy()).any()
        assert not task.train.contains(outside.numpy()).any()


def test_the_papers_planes() -> None:
    points = SpriteTask(support="orthogonal").points("id", 3000, seed=5)
    fixed = {1.0: [1, 1, 1, 0, 1], 0.0: [0, 0, 0, 0, 0], 0.5: [0.5, 0.5, 0.5, 0, 0.5]}
    rear_fixed = (points[:, 5:] == torch.tensor(fixed[1.0])).all(1)
    front_fixed = [(points[:, :5] == torch.tensor(fixed[v], dtype=points.dtype)).all(1) for v in (0.0, 0.5)]
    assert (rear_fixed | front_fixed[0] | front_fixed[1]).all()
    assert float(rear_fixed.float().mean()) == pytest.approx(1 / 3, abs=0.03)
    plus = SpriteTask(support="orthogonal+")
    assert len(plus.train.parts) == 4
    assert len(SpriteTask(support="orthogonal*").train.parts) == 2
    assert len(SpriteTask(support="orthogonal", sprites=3).train.parts) == 5


def test_a_sample_is_a_function_of_its_place() -> None:
    task = SpriteTask(side=8, samples=50)
    whole = task.sample(torch.arange(50))
    assert torch.equal(task.sample(torch.tensor([[7, 3], [3, 49]])), whole[torch.tensor([[7, 3], [3, 49]])])
    assert len(whole.unique(dim=0)) == 50
    assert not torch.equal(whole, task.replace(seed=1).sample(torch.arange(50)))
    inputs, targets = task.batch(Draws.of([0, 4], range(5), seed=0), 10)
    assert inputs.shape == (5, 2, 10, 10)
    assert targets.shape == (5, 2, 10, 64, 3)
    every, pictures = task.whole()
    for member in range(2):
        seen = inputs[:, member].flatten(0, 1)
        assert torch.equal(seen.unique(dim=0), every.unique(dim=0))
    assert torch.equal(pictures, task.pictures(whole))
    alone = task.batch(Draws.of([4], range(2, 3), seed=0), 10)[0]
    assert torch.equal(alone[0, 0], inputs[2, 1])


def test_a_stream_never_ends_and_has_no_whole() -> None:
    task = SpriteTask(side=8, samples=None, support="diagonal")
    inputs, _ = task.batch(Draws.of([0], range(3), seed=0), 200)
    assert len(inputs.flatten(0, 2).unique(dim=0)) == 600
    with pytest.raises(InputError, match="give samples or a batch_size"):
        task.whole()


@pytest.mark.parametrize("raster", ["pil", "centre", "smooth"])
def test_a_batch_can_be_traced_and_mapped(raster) -> None:
    task = SpriteTask(side=8, samples=None, raster=raster, latents=Latents(shapes=(3, 4)), support="gap")

    def batch(keys):
        return task.batch(Draws(keys, keys, keys), 4)

    first, second = torch.arange(3), torch.arange(3) + 10
    traced = make_fx(batch)(first)
    for ours, theirs in zip(batch(second), traced(second), strict=True):
        assert torch.equal(ours, theirs)
    points = task.points("all", 6, seed=0).reshape(3, 2, 10)
    torch.testing.assert_close(torch.vmap(task.pictures)(points), task.pictures(points))


def test_the_loss_is_over_pixels() -> None:
    task = SpriteTask(side=8)
    targets = task.pictures(task.points("all", 3, seed=0))
    outputs = targets + torch.tensor([0.0, 0.1, 0.5])[:, None, None]
    assert task.losses(outputs.flatten(1), targets).tolist() == pytest.approx([0, 0.01, 0.25])


def test_descriptions_and_supports_of_ones_own() -> None:
    space = Latents().space(2)
    own = planes(space, (0, (0.5,) * 5), (1, (0.5,) * 5))
    tasks = [
        SpriteTask(),
        SpriteTask(support="gap"),
        SpriteTask(support="normal"),
        SpriteTask(support=own),
        SpriteTask(support=band(space, 0.3)),
        SpriteTask(support="diagonal", width=0.3),
        SpriteTask(composition=Addition()),
        SpriteTask(raster="centre"),
    ]
    assert len({task.address for task in tasks}) == len(tasks)
    assert SpriteTask(composition=HardOcclusion()).address == SpriteTask().address
    assert tasks[3].train == own
    with pytest.raises(InputError, match="another space"):
        SpriteTask(support=own, sprites=3)
    with pytest.raises(InputError, match="at least 3 sides"):
        Latents(shapes=(2,))
    with pytest.raises(InputError, match="unknown split"):
        SpriteTask().points("odd", 1, 0)


def test_pictures_that_are_kept_are_those_drawn() -> None:
    task = SpriteTask(side=8, samples=50)
    kept = kept_pictures(task, torch.device("cpu"))
    places = torch.tensor([[3, 49], [0, 3]])
    assert kept is not None
    assert torch.equal(kept[places], task.pictures(task.sample(places)))
