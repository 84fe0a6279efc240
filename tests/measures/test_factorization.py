"""Scores of factorization on kernels and networks whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from recombine.errors import InputError
from recombine.kernels import Kernel
from recombine.measures import factorization, geometry
from recombine.measures._factorization import additive, combined, grid_levels, multiplicative
from recombine.measures._geometry import cosine, kernel_of, metric, released_score, volume
from recombine.measures.tangent import tangent_kernel, wide_tangent_kernel
from recombine.models import Perceptron
from recombine.tasks import BumpTask, Population
from recombine.training import Ensemble, train


def product_kernel(xs: int = 5, ys: int = 6) -> np.ndarray:
    x, y = (np.exp(-0.5 * (np.arange(n)[:, None] - np.arange(n)) ** 2) for n in (xs, ys))
    return x[:, None, :, None] * y[None, :, None, :]


def test_the_product_kernel_scores_one() -> None:
    assert multiplicative(product_kernel()) == pytest.approx(1, abs=1e-12)
    assert combined(product_kernel())["product"] == pytest.approx(1, abs=1e-12)


def of_table(table: np.ndarray) -> np.ndarray:
    return kernel_of(torch.as_tensor(table).flatten(0, 1), *table.shape[:2])


def test_the_kernel_of_bumps_is_a_product_and_of_their_sums_is_not() -> None:
    def score(task: BumpTask) -> float:
        grid = torch.cartesian_prod(torch.arange(8), torch.arange(8))
        return multiplicative(kernel_of(task.signal(task.pictures(grid)).flatten(1).double(), 8, 8))

    assert score(BumpTask(side=8, hole=4)) == pytest.approx(1, abs=1e-9)
    assert score(BumpTask(side=8, hole=4, inverted=True)) == pytest.approx(1, abs=1e-6)
    assert score(BumpTask(side=8, hole=4, compose="sum")) < 0.999


@pytest.mark.parametrize("name", ["sum", "product", "min", "max"])
def test_each_combiner_finds_itself(name: str) -> None:
    combine = {"sum": np.add, "product": np.multiply, "min": np.minimum, "max": np.maximum}[name]
    k = np.exp(-0.5 * (np.arange(7)[:, None] - np.arange(7)) ** 2)
    found = combined(combine(k[:, None, :, None], k[None, :, None, :]))
    assert found[name] == pytest.approx(1, abs=1e-9)
    assert max(found, key=lambda n: found[n]) == name


def test_additive_share_by_hand() -> None:
    a, b = np.random.default_rng(0).normal(size=(2, 6, 3))
    table = a[:, None] + b[None]
    assert additive(of_table(table)) == pytest.approx(1)
    pure = np.array([[1.0, -1.0], [-1.0, 1.0]])[..., None]
    assert additive(of_table(pure)) == pytest.approx(0)
    assert additive(of_table(pure + np.array([[1.0], [-1.0]])[:, None])) == pytest.approx(0.5)
    assert np.isnan(additive(of_table(np.ones((3, 3, 2)))))


def test_metric_of_a_plane() -> None:
    x, y = np.meshgrid(np.arange(5.0), np.arange(5.0), indexing="ij")
    tensor = metric(of_table(np.stack([2 * x, x + y], axis=-1)))
    assert tensor[2, 2].tolist() == [[5, 1], [1, 1]]
    assert volume(tensor)[0, 0] == pytest.approx(2)
    assert cosine(tensor)[1, 1] == pytest.approx(5**-0.5)
    assert released_score(tensor) == pytest.approx(1 - 1 / 6)


def test_the_released_score_cannot_fall_below_one_half() -> None:
    x, y = np.meshgrid(np.arange(5.0), np.arange(5.0), indexing="ij")
    assert released_score(metric(of_table((x + y)[..., None]))) == pytest.approx(0.5)


def linear(task: BumpTask, weight: torch.Tensor) -> Ensemble:
    def model() -> nn.Module:
        return nn.Linear(weight.shape[1], weight.shape[0], bias=False).double()

    return Ensemble.of({"weight": weight[None].double()}, (0,), model)


def test_a_linear_map_of_one_hot_codes_is_additive_at_every_layer() -> None:
    task = BumpTask(side=8, hole=2)
    weight = torch.randn(64, 16, generator=torch.Generator().manual_seed(0))
    table = factorization(linear(task, weight), task, layers="input,output,tangent", where="all,seen")
    assert table.height == 6
    assert table.filter(table["layer"] != "tangent")["additive"].to_list() == pytest.approx([1, 1, 1, 1])
    assert (table["combined"] > 0.5).all()
    assert table.filter(table["layer"] == "tangent")["combiner"].to_list() == ["sum", "sum"]


def test_seen_grids_hold_nothing_unseen() -> None:
    task = BumpTask(side=10, hole=4)
    xs, ys = grid_levels(task, "seen")
    assert xs == [0, 1, 2, 7, 8, 9]
    assert all({"x": x, "y": y} in task.train for x in xs for y in ys)
    with pytest.raises(InputError, match="not 'unseen'"):
        grid_levels(task, "unseen")


def test_jacobian_and_differences_agree_on_a_smooth_code() -> None:
    task = BumpTask(side=12, hole=4, encoding=Population(width=3.0))
    weight = torch.randn(144, 24, generator=torch.Generator().manual_seed(0)) / 5
    ensemble = linear(task, weight)
    exact = geometry(ensemble, task, method="jacobian").filter(_middle())
    near = geometry(ensemble, task).filter(_middle())
    np.testing.assert_allclose(exact["volume"], near["volume"], rtol=0.1)
    with pytest.raises(InputError, match="derivative"):
        geometry(linear(BumpTask(side=8, hole=4), torch.ones(64, 16)), BumpTask(side=8, hole=4), method="jacobian")


def _middle():
    import polars as pl

    return pl.col("x").is_between(3, 8) & pl.col("y").is_between(3, 8)


@pytest.mark.parametrize(
    ("components", "printed"),
    [
        (2, [[0.5], [0.3711], [0.2877], [0.2305], [0.1594], [0.0836]]),
        (3, [[1 / 3, 0], [0.2303, 0.0718], [0.1712, 0.0913], [0.1334, 0.0935], [0.0891, 0.0835], [0.0450, 0.0558]]),
    ],
)
def test_the_wide_tangent_kernel_has_the_printed_saliences(components: int, printed: list[list[float]]) -> None:
    # The first combination, and one that shares all, all but one, … none of its components.
    shown = np.stack([np.arange(components) >= components - shared for shared in range(components, -1, -1)])
    codes = np.stack([shown, ~shown], axis=-1).reshape(len(shown), -1).astype(float)
    for depth, expected in zip((0, 1, 2, 3, 5, 10), printed, strict=True):
        by_shared = wide_tangent_kernel(codes, depth, bias=0.0)[0][::-1]
        got = Kernel.from_similarities(by_shared).normalized[: components - 1]
        np.testing.assert_allclose(got, expected, atol=0.5e-4 + 1e-12)


def test_the_empirical_tangent_kernel_of_a_linear_map() -> None:
    task = BumpTask(side=4, hole=2)
    inputs = task.codes(torch.tensor([[0, 0], [0, 1], [2, 3]]))
    kernel = tangent_kernel(linear(task, torch.zeros(16, 8)), 0, inputs, directions=3)
    np.testing.assert_allclose(kernel, 16 * (inputs @ inputs.T).numpy())


def test_the_tangent_kernels_of_the_layers_add_up() -> None:
    task = BumpTask(side=4, hole=2)
    inputs = task.codes(torch.tensor([[0, 0], [0, 1], [2, 3]]))
    ensemble = train(Perceptron(widths=(8, 5, 16)), task, steps=0, device="cpu")
    parts = [tangent_kernel(ensemble, 0, inputs, part) for part in ("0.", "2.", "")]
    np.testing.assert_allclose(parts[0] + parts[1], parts[2], rtol=1e-6)
    assert np.linalg.norm(parts[0]) > 0
    with pytest.raises(InputError, match="seed"):
        tangent_kernel(ensemble, 0, inputs, "seed")
