"""The networks of the page are those of `rc.train`: the same start from the same seed, the same steps from there on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import recombine as rc
from recombine.models import Perceptron
from recombine.models.compositional import Compositional
from recombine.tasks import SymbolicTask, ToyTask
from recombine.tasks.sprites.compose import Addition
from recombine.training.stack import initial

STEPS = 50
CLOSE = 1e-5

TRAINED = """(m, {parts, seed, members, scale, optimiser, lr, cells, answers, rows, columns, steps}) => {
    const net = m.network(parts), x = m.codes(cells, rows, columns), grad = new Float64Array(net.size);
    return members.map(member => {
        const flat = m.start(net, seed, member, scale), first = [...flat], losses = [];
        const step = m.optimiser(optimiser, lr, net.size);
        for (let s = 0; s < steps; s++) { losses.push(m.gradient(net, flat, x, answers, grad)); step(flat, grad); }
        return {first, last: [...flat], losses};
    });
}"""


def symbolic(rows: int, columns: int) -> tuple[list[int], list[float], SymbolicTask]:
    rng = np.random.default_rng(5)
    seen = np.sort(rng.permutation(rows * columns)[: rows * columns // 2])
    answers = rng.normal(size=len(seen)).round(3)
    codes = np.stack(np.divmod(seen, columns), 1)
    task = SymbolicTask.of((rows, columns), codes, answers, np.zeros((0, 2), int), [])
    return seen.tolist(), answers.tolist(), task


@pytest.mark.parametrize(
    ("name", "optimizer", "scale"),
    [
        ("sgd", rc.SGD(lr=0.1), 1.0),
        ("momentum", rc.SGD(lr=0.03, momentum=0.9), 0.5),
        ("adam", rc.Adam(lr=0.01), 1.0),
    ],
)
def test_fifty_steps_from_the_same_seed_are_those_of_train(
    run: Callable[..., Any], name: str, optimizer: Any, scale: float
) -> None:
    cells, answers, task = symbolic(5, 7)
    widths = (12, 16, 16, 1)
    said = run("network", TRAINED, {
        "parts": [{"from": 0, "to": 12, "widths": widths}], "seed": 3, "members": [0, 6], "scale": scale,
        "optimiser": name, "lr": optimizer.lr, "cells": cells, "answers": answers, "rows": 5, "columns": 7,
        "steps": STEPS,
    })  # fmt: skip
    model = Perceptron(widths=widths)
    trained = rc.train(model, task, members=[0, 6], steps=STEPS, batch_size=None, optimizer=optimizer, seed=3,
                       init_scale=scale, device="cpu")  # fmt: skip
    for member, page in zip([0, 6], said, strict=True):
        row = torch.cat([p.detach().flatten() for p in trained.member(member).parameters()])
        start = torch.cat([p.detach().flatten() for p in initial(model, member, 3).parameters()]) * scale
        assert np.allclose(page["first"], start.numpy(), rtol=0, atol=1e-7), "but for the last bit, where compilers differ"
        assert np.allclose(page["last"], row.numpy(), rtol=0, atol=CLOSE)
        assert not np.allclose(page["last"], start.numpy(), rtol=0, atol=100 * CLOSE), "training moved something"
    assert np.allclose([page["losses"] for page in said], trained.history["loss"], rtol=0, atol=CLOSE)


def test_a_compositional_network_is_the_packages(run: Callable[..., Any]) -> None:
    cells, answers, task = symbolic(6, 6)
    parts = [{"from": 6 * k, "to": 6 * k + 6, "widths": (6, 8, 1)} for k in (0, 1)]
    said = run("network", TRAINED, {
        "parts": parts, "seed": 0, "members": [1], "scale": 1, "optimiser": "sgd", "lr": 0.1, "cells": cells,
        "answers": answers, "rows": 6, "columns": 6, "steps": STEPS,
    })  # fmt: skip
    model = Compositional(component=Perceptron(widths=(6, 8, 1)), composition=Addition())
    module = initial(lambda: torch.nn.Sequential(model(), torch.nn.Flatten()), 1, 0)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    inputs, targets = task.whole()
    for _ in range(STEPS):
        optimizer.zero_grad()
        task.losses(module(inputs), targets).mean().backward()
        optimizer.step()
    last = torch.cat([p.detach().flatten() for p in module.parameters()])
    assert np.allclose(said[0]["last"], last.numpy(), rtol=0, atol=CLOSE)
