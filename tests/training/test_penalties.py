"""Penalties by hand, and that a weight means the same at every size."""

from __future__ import annotations

import math

import pytest
import torch

from recombine.models import EmbeddingCNN, PixelDecoder
from recombine.models.rendering import low_rank
from recombine.runs.training import TrainingRun
from recombine.tasks import BumpTask
from recombine.training import (
    AdamW,
    CoefficientEntropy,
    MapVariance,
    NuclearNorm,
    Together,
    VectorVariance,
    train,
)


def test_entropy_of_equal_and_single_terms() -> None:
    equal, single = torch.ones(2, 3, 8), torch.eye(8)[None, :3]
    assert float(CoefficientEntropy()({"strength": equal})) == pytest.approx(math.log(8))
    assert float(CoefficientEntropy()({"strength": single})) == pytest.approx(0, abs=1e-5)
    assert float(CoefficientEntropy()({"strength": torch.ones(2, 30, 8)})) == pytest.approx(math.log(8))


def test_variance_of_vectors() -> None:
    steady, wild = torch.ones(2, 4), torch.tensor([[1.0, -1.0]])
    assert float(VectorVariance()({"rows": steady, "columns": steady})) == 0
    assert float(VectorVariance()({"rows": steady, "columns": wild})) == pytest.approx(1)


def test_stripes_have_no_map_variance_and_x_is_the_column() -> None:
    side = 4
    column = torch.arange(4.0).expand(side, side)
    maps = torch.stack([column, column.T], dim=-1)
    weight = maps.reshape(side * side, 2)
    assert float(MapVariance(side=side)({"seed.weight": weight})) == 0
    assert float(MapVariance(side=side)({"seed.weight": weight.flip(1)})) == pytest.approx(1.25)


def test_the_least_that_a_picture_costs_is_its_nuclear_norm() -> None:
    """By its singular value decomposition it costs the sum of its singular values over the side, otherwise more."""
    parts = {"strength": torch.randn(1, 4), "rows": torch.randn(1, 4, 4), "columns": torch.randn(1, 4, 4)}
    rows, values, columns = torch.linalg.svd(low_rank(**parts))
    least = {"strength": values, "rows": rows.mT, "columns": columns}
    assert torch.allclose(low_rank(**least), low_rank(**parts), atol=1e-5)
    assert float(NuclearNorm()(least)) == pytest.approx(float(values.sum()) / 4)
    assert float(NuclearNorm()(parts)) > float(NuclearNorm()(least))


def test_together_is_the_weighed_sum() -> None:
    parts = {"strength": torch.ones(2, 3, 8), "rows": torch.ones(1, 2), "columns": torch.tensor([[1.0, -1.0]])}
    both = Together(parts=((2.0, CoefficientEntropy()), (3.0, VectorVariance())))
    assert float(both(parts)) == pytest.approx(2 * math.log(8) + 3)


@pytest.mark.parametrize("penalty", [CoefficientEntropy(), VectorVariance(), NuclearNorm()])
def test_every_penalty_stacks_and_falls(penalty) -> None:
    ensemble = train(
        EmbeddingCNN(side=8), BumpTask(side=8, hole=4), members=2, steps=40, batch_size=4, device="cpu",
        optimizer=AdamW(lr=3e-2), penalty=penalty, penalty_weight=(10.0, 0.0), strategy="stacked",
    )  # fmt: skip
    with_it, without = (float(penalty({name: p[i] for name, p in ensemble.parameters.items()})) for i in (0, 1))
    assert with_it < 0.7 * without


def test_a_run_without_a_penalty_keeps_its_address() -> None:
    def run(**more) -> TrainingRun:
        return TrainingRun(
            task=BumpTask(side=8, hole=4), model=PixelDecoder(inputs=16, side=8), members=2, steps=1, batch_size=4,
            optimizer=AdamW(lr=1e-2), **more,
        )  # fmt: skip

    assert "penalty" not in run().describe()
    assert run().address != run(penalty=MapVariance(side=8), penalty_weight=1.0).address
