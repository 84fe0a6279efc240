from __future__ import annotations

import numpy as np
import pytest
import torch

from recombine.kernels import Kernel, ReLU, nngp, problems
from recombine.kernels.closed_forms import memorization_leak
from recombine.measures import leak
from recombine.measures._leak import line
from recombine.models import Dense
from recombine.tasks import Draws, SymbolicTask
from recombine.training import SGD, train
from recombine.training.stack import initial

EXACT = float(nngp(Kernel.one_hot(2), ReLU(), 1, weight_variance=4 / 18, bias_variance=1 / 54).normalized[1, 0])
VALUES = np.arange(-4.0, 5)


def test_slope_and_intercept_by_hand() -> None:
    slope, intercept = line(np.array([[1.0, 3.0, 5.0], [2.0, 2.0, 2.0]]), np.array([-1.0, 0.0, 1.0]))
    assert slope.tolist() == [2.0, 0.0]
    assert intercept.tolist() == [3.0, 2.0]
    assert np.isnan(line(np.ones((1, 2)), np.ones(2))[0][0])


@pytest.mark.parametrize("anchors", [(4,), (0, 8)])
def test_a_readout_of_frozen_random_features_leaks_as_theory_says(anchors: tuple[int, ...]) -> None:
    task = SymbolicTask.of(**vars(problems.addition(anchors)))
    (seen, answers), (asked, truth) = (
        task.examples(torch.as_tensor(support.codes.copy()), Draws.single(0)) for support in (task.train, task.test)
    )
    slopes = []
    for member in range(8):
        module = initial(Dense(inputs=18, width=4000), member, 0)
        with torch.no_grad():
            known, new = (module.relu_1(module.linear_1(x)).double().numpy() for x in (seen, asked))
        dual = np.linalg.solve(known @ known.T, answers[:, 0].double().numpy())
        slopes.append(line((new @ known.T @ dual)[None], truth[:, 0].double().numpy())[0][0])
    expected = float(memorization_leak(EXACT, VALUES, anchors).slope)
    assert abs(np.mean(slopes) - expected) < 4 * np.std(slopes, ddof=1) / np.sqrt(8)


def test_lazy_and_rich_networks_leak_apart() -> None:
    task = SymbolicTask.of(**vars(problems.addition([0, 8])))
    scales = (1.0,) * 8 + (1e-3,) * 4
    ensemble = train(
        Dense(inputs=18, width=300), task, members=12, steps=3000, batch_size=None,
        optimizer=SGD(lr=(0.02,) * 8 + (0.05,) * 4), init_scale=scales, stop_below=1e-4, fit_below=1e-3,
    )  # fmt: skip
    assert all(ensemble.fitted)
    table = leak(ensemble, task, count=1)
    lazy, rich = table["slope"].to_numpy()[:8], table["slope"].to_numpy()[8:]
    assert abs(lazy.mean() - 2 * EXACT) < 0.06
    assert np.allclose(rich, 1.0, atol=0.02)
    assert rich.min() - lazy.mean() > 4 * lazy.std(ddof=1) / np.sqrt(8)
    assert table["error"].to_numpy()[8:].max() < 0.01
