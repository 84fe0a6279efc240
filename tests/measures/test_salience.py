from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from recombine.errors import InputError
from recombine.kernels import Kernel, ReLU, nngp, problems
from recombine.measures import salience
from recombine.measures._salience import similarities
from recombine.models import Dense
from recombine.tasks import Draws, SymbolicTask
from recombine.training import train

TASK = SymbolicTask.of(**vars(problems.addition([2], values=range(5))))


class Features(nn.Module):
    """√single on each item and √pair on each pair: a representation whose salience is known by hand."""

    def __init__(self, single: float, pair: float) -> None:
        super().__init__()
        self.single, self.pair = single**0.5, pair**0.5
        self.tap = nn.Identity()
        self.readout = nn.Linear(35, 1)

    def forward(self, x: Tensor) -> Tensor:
        pairs = (x[:, :5, None] * x[:, None, 5:]).flatten(1)
        out: Tensor = self.readout(self.tap(torch.cat([self.single * x, self.pair * pairs], dim=1)))
        return out


class Noisy(SymbolicTask):
    """Codes with independent noise on every input: each example of a combination is another one."""

    kind = "noisy"

    def examples(self, points: Tensor, draws: Draws) -> tuple[Tensor, Tensor]:
        inputs, targets = super().examples(points, draws)
        return inputs + 0.5 * draws("noise").normal(inputs.shape), targets


def measured(model: object, task: SymbolicTask, layers: str, members: int = 2, count: int = 1) -> list[list[float]]:
    ensemble = train(model, task, members=members, steps=0, batch_size=None)  # type: ignore[arg-type]
    table = salience(ensemble, task, layers, count=count)
    return [table.filter(pl_shared(table, k))["salience"].to_list() for k in (1, 2)]


def pl_shared(table: object, k: int) -> object:
    return table["shared"] == k  # type: ignore[index]


@pytest.mark.parametrize(("single", "pair"), [(1.0, 0.0), (0.4, 0.2), (0.1, 0.8)])
def test_features_with_known_similarities_have_their_salience(single: float, pair: float) -> None:
    first, second = measured(lambda: Features(single, pair), TASK, "tap")
    assert first == pytest.approx([single / (2 * single + pair)] * 2, abs=1e-6)
    assert second == pytest.approx([pair / (2 * single + pair)] * 2, abs=1e-6)


def test_the_tangent_kernel_of_a_linear_readout_is_the_kernel_of_its_features() -> None:
    first, _ = measured(lambda: Features(0.4, 0.2), TASK, "tangent")
    assert first == pytest.approx([0.4] * 2, abs=1e-6)


def test_a_structured_representation_is_not_a_violation_and_a_lopsided_one_is() -> None:
    class Lopsided(Features):
        def forward(self, x: Tensor) -> Tensor:
            weights = torch.tensor([3.0, 1.0, 1.0, 1.0, 1.0])
            return super().forward(torch.cat([x[:, :5] * weights, x[:, 5:]], dim=1))

    even, uneven = (
        salience(train(lambda m=m: m(0.4, 0.2), TASK, steps=0, batch_size=None), TASK, "tap", count=1)["violation"][0]
        for m in (Features, Lopsided)
    )
    assert even < 1e-6
    assert uneven > 0.3


def test_noise_biases_neither_salience_nor_violation() -> None:
    task = Noisy(**{name: getattr(TASK, name) for name in SymbolicTask.model_fields})
    ensemble = train(lambda: Features(1.0, 0.0), task, steps=0, batch_size=None)
    tables = [salience(ensemble, task, "tap", count=16, seed=s) for s in range(12)]
    found = np.array([t.filter(pl_shared(t, 1))["salience"][0] for t in tables])
    # With self-pairs, the noise of ten inputs (variance ¼) over 16 examples would add .16 to κ_2 and give .463.
    assert abs(found.mean() - 0.5) < 4 * found.std(ddof=1) / np.sqrt(12)
    assert abs(found.mean() - 0.463) > 4 * found.std(ddof=1) / np.sqrt(12)
    assert np.mean([t["violation"][0] for t in tables]) < 0.1


def test_wide_random_networks_have_the_saliences_of_theory() -> None:
    task = SymbolicTask.of(**vars(problems.addition([4])))
    ensemble = train(Dense(inputs=18, width=4000), task, members=8, steps=0, batch_size=None)
    table = salience(ensemble, task, "relu_1,tangent", count=1)
    # Variances of a pre-activation: 2/18 for each of two codes, 1/54 for the bias.
    exact = nngp(Kernel.one_hot(2), ReLU(), 1, weight_variance=4 / 18, bias_variance=1 / 54).normalized[1, 0]
    found = table.filter((table["layer"] == "relu_1") & (table["shared"] == 1))["salience"].to_numpy()
    assert abs(found.mean() - exact) < 4 * found.std(ddof=1) / np.sqrt(8)
    # In standard parameters the readout's part outweighs the hidden layer's by the width.
    tangent = table.filter((table["layer"] == "tangent") & (table["shared"] == 1))["salience"].to_numpy()
    assert 0.3711 < tangent.mean() < exact  # the salience of the tangent kernel in its own parameters


def test_groups_are_compared_with_each_other_only() -> None:
    groups = torch.zeros(4, 2, 3)
    groups[0, :, 0] = groups[1, :, 1] = groups[2, :, 2] = 1.0
    shared = np.array([[1, 0], [0, 1]])
    kappa, violation = similarities(groups, shared)
    # Means of the even groups (0, 2) and of the odd ones (1, 3) have nothing in common.
    assert kappa.tolist() == [0.0, 0.0]
    assert np.isnan(violation)


def test_unknown_layers_and_impossible_overlaps_are_said() -> None:
    ensemble = train(Dense(inputs=10, width=4), TASK, steps=0, batch_size=None)
    with pytest.raises(InputError, match="relu_1"):
        salience(ensemble, TASK, "relu_11")
    with pytest.raises(InputError, match="share 1 components"):
        similarities(torch.ones(1, 2, 3), np.array([[2, 0], [0, 2]]))
