"""Generalization, recovery, recombination and maps: models whose answers are known."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import torch
from sklearn.metrics import r2_score
from torch import Tensor, nn

from recombine.errors import InputError
from recombine.measures import (
    composition_shares,
    generalization,
    latent_map,
    recombination,
    reconstruction,
    recovery,
)
from recombine.measures._generalization import points_of
from recombine.models import Compositional, CompositionFamily, Perceptron
from recombine.models.compositional import ComposedNetworks
from recombine.tasks import Draws, SpriteTask, VectorParts
from recombine.tasks.sprites.compose import Addition, SoftOcclusion
from recombine.tasks.sprites.latents import Latents
from recombine.training import Ensemble, train


class Truth(nn.Module):
    """A model that knows the task: its components plus ``moved`` of the first one taken from the second."""

    def __init__(self, task: VectorParts, moved: float = 0.0, wrong: float = 0.0) -> None:
        super().__init__()
        self.task = task
        self.moved, self.wrong = nn.Parameter(torch.tensor(moved)), nn.Parameter(torch.tensor(wrong))
        self.compose = task.composition

    def components(self, latents: Tensor) -> Tensor:
        parts = self.task.components((latents + 1) / 2)
        shift = torch.stack([self.moved, -self.moved])[:, None, None]
        return parts + shift + self.wrong * parts.flip(1)

    def forward(self, latents: Tensor) -> Tensor:
        out: Tensor = self.compose(self.components(latents))
        return out


def ensemble_of(*modules: nn.Module) -> Ensemble:
    rows = [dict(module.named_parameters()) for module in modules]
    tensors = {name: torch.stack([row[name].detach() for row in rows]) for name in rows[0]}
    return Ensemble.of(tensors, tuple(range(len(modules))), lambda: modules[0])


def test_the_truth_has_r2_one_and_recovers_its_components() -> None:
    task = VectorParts(cells=3)
    ensemble = ensemble_of(Truth(task), Truth(task, moved=2.0))
    table = generalization(ensemble, task, count=300)
    assert table["split"].unique(maintain_order=True).to_list() == ["id", "all", "ood"]
    assert table["r2"].to_list() == pytest.approx([1.0] * 6, abs=1e-9)
    assert not table["collapsed"].any()
    found = recovery(ensemble, task)
    assert found["error"].to_list() == pytest.approx([0.0] * 4, abs=1e-9)
    # The sum cannot tell, the components can: only without the ambiguity removed is the second member wrong.
    assert found["raw_error"].to_list()[:2] == pytest.approx([0.0, 0.0], abs=1e-9)
    assert min(found["raw_error"].to_list()[2:]) > 1


def test_nothing_is_removed_for_other_compositions() -> None:
    task = VectorParts(cells=3, composition=SoftOcclusion())
    found = recovery(ensemble_of(Truth(task), Truth(task, moved=1.0)), task)
    assert found["error"].to_list() == found["raw_error"].to_list()
    assert found.filter(pl.col("member") == 1)["error"].min() > 0.1  # type: ignore[operator]


def test_r2_is_scikit_learns_pooled_and_by_batch() -> None:
    task = VectorParts(cells=2)
    ensemble = ensemble_of(Truth(task, wrong=0.4), Truth(task, wrong=-0.2))
    table = generalization(ensemble, task, count=1500, chunk=400).filter(pl.col("split") == "all")
    points = torch.as_tensor(task.space.sample(1500, 0))
    inputs, targets = task.examples(points, Draws.single(0))
    y = targets.flatten(1).numpy()
    outputs = ensemble.predict(inputs).flatten(2).numpy()
    for i, member in enumerate(outputs):
        pooled = r2_score(y, member, multioutput="variance_weighted")
        batches = [
            r2_score(y[s], member[s], multioutput="variance_weighted") for s in (slice(0, 1000), slice(1000, None))
        ]
        assert table["r2"][i] == pytest.approx(pooled, abs=1e-5)
        assert table["r2_batches"][i] == pytest.approx(np.mean(batches), abs=1e-5)
        assert table["mse"][i] == pytest.approx(np.square(member - y).mean(), rel=1e-5)


def test_a_black_picture_has_collapsed() -> None:
    task = SpriteTask(side=8, samples=None, latents=Latents(scale=(0.3, 0.4)))

    class Black(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.level = nn.Parameter(torch.zeros(()))

        def forward(self, latents: Tensor) -> Tensor:
            return self.level.expand(len(latents), 64, 3)

    table = generalization(ensemble_of(Black()), task, count=200)
    assert table["collapsed"].all()
    assert table["r2"].to_list() == pytest.approx(table["blank_r2"].to_list())
    assert max(table["r2"]) < 0
    shown = reconstruction(ensemble_of(Black()), task, examples=2)
    assert shown["output"].abs().max() == 0
    assert shown.height == 2 * 64
    assert shown["target"].max() > 0.2  # type: ignore[operator]


def test_everywhere_leaves_nothing_out() -> None:
    task = VectorParts(support="random")
    assert points_of(task, "ood", 10, 0) is None
    assert set(generalization(ensemble_of(Truth(task)), task, count=50)["split"]) == {"id", "all"}


def test_a_map_shows_where_the_error_is() -> None:
    task = VectorParts(cells=2, latents=1)

    class HalfRight(Truth):
        def components(self, latents: Tensor) -> Tensor:
            return super().components(latents) * (latents[:, :1, None, None] < 0)

    table = latent_map(ensemble_of(HalfRight(task)), task, "a1", "b1", cells=4, count=3)
    assert table.height == 16
    right = table.filter(pl.col("x") < 0.5)["error"]
    assert right.max() < 1e-9 < table.filter(pl.col("x") > 0.5)["error"].min()  # type: ignore[operator]
    with pytest.raises(InputError, match="twice"):
        latent_map(ensemble_of(Truth(task)), task, "a1", "a1")


def test_slots_that_are_the_components_recombine_in_either_order() -> None:
    """Observations with one latent per component that can be read off: two cells, each component alone in one."""
    task = VectorParts(latents=1, cells=2, inputs="observation")
    corner = task.examples(torch.zeros(1, 2), Draws.single(0))[1].flatten(1)
    grid = torch.linspace(0, 1, 101)[:, None].expand(-1, 2)
    lines = task.components(grid).flatten(2)

    class Reader(nn.Module):
        def __init__(self, swapped: bool) -> None:
            super().__init__()
            self.order = nn.Parameter(torch.tensor(float(swapped)))
            self.decoder = ComposedNetworks([_Line(lines[:, 0]), _Line(lines[:, 1])], Addition(), 2)
            self.swapped = swapped

        def slots(self, observed: Tensor) -> Tensor:
            both = torch.cartesian_prod(torch.arange(101), torch.arange(101))
            near = torch.cdist(observed.flatten(1), lines[both[:, 0], 0] + lines[both[:, 1], 1]).argmin(1)
            return both[near] / 100

        def forward(self, observed: Tensor) -> Tensor:
            out: Tensor = self.decoder(self.slots(observed))
            return out

    assert corner.shape == (1, 6)
    table = recombination(ensemble_of(Reader(False)), task, count=20)
    assert table["r2"][0] > 0.99
    assert table["r2_seen"][0] > 0.99


class _Line(nn.Module):
    def __init__(self, values: Tensor) -> None:
        super().__init__()
        self.values = values

    def forward(self, slot: Tensor) -> Tensor:
        return self.values[(slot[:, 0] * 100).round().long().clamp(0, 100)]


def test_shares_of_a_family() -> None:
    task = VectorParts(cells=2)
    family = CompositionFamily(candidates=(Addition(), SoftOcclusion()))
    model = Compositional(component=Perceptron(widths=(2, 4, 6)), composition=family)
    ensemble = train(model, task, members=2, steps=0, device="cpu")
    table = composition_shares(ensemble, task)
    assert table["share"].to_list() == [0.5] * 4
    assert table["candidate"].to_list() == ["addition", "soft_occlusion"] * 2


def test_what_has_no_components_is_refused() -> None:
    task = VectorParts(cells=2)
    plain = train(Perceptron(widths=(4, 4, 6)), task, members=1, steps=0, device="cpu")
    with pytest.raises(InputError, match="Compositional"):
        recovery(plain, task)
    with pytest.raises(InputError, match="SlotAutoencoder"):
        recombination(plain, task)
    with pytest.raises(InputError, match="CompositionFamily"):
        composition_shares(plain, task)
    with pytest.raises(InputError, match="SpriteTask"):
        reconstruction(plain, task)
