"""The networks of the page are those of `rc.train`: the same start from the same seed, the same steps from there on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import recombine as rc
from recombine.models import Perceptron
from recombine.models.rendering import StripeDecoder
from recombine.tasks import Draws, SymbolicTask, ToyTask
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
        assert np.allclose(page["first"], start.numpy(), rtol=0, atol=1e-7), "last bits aside"
        assert np.allclose(page["last"], row.numpy(), rtol=0, atol=CLOSE)
        assert not np.allclose(page["last"], start.numpy(), rtol=0, atol=100 * CLOSE), "training moved something"
    assert np.allclose([page["losses"] for page in said], trained.history["loss"], rtol=0, atol=CLOSE)


TOY = """async (m, {seed, steps, lr}) => {
    const learner = m.toyLearner({seen: [1, 1, 1, 0], seed, lr, scale: 1});
    const batch = m.toyBatch(seed, 2, 7, [0, 1, 2]);
    for (let s = 0; s < steps; s++) learner.step();
    return {batch, last: learner.members.map(member => [...member.flat])};
}"""


def test_the_toy_has_the_batches_and_the_networks_of_the_package(run: Callable[..., Any]) -> None:
    task = ToyTask()
    said = run("learners", TOY, {"seed": 4, "steps": STEPS, "lr": 0.1})
    inputs, targets = task.batch(Draws.of([2], range(7, 8), 4), 10)
    assert np.allclose(said["batch"]["inputs"], inputs[0, 0], rtol=0, atol=1e-7)
    assert said["batch"]["targets"] == targets[0, 0].tolist()
    trained = rc.train(Perceptron(widths=(2, 8, 8, 8, 2), start="playground"), task, members=8, steps=STEPS,
                       batch_size=10, optimizer=rc.SGD(lr=0.1), seed=4, device="cpu")  # fmt: skip
    for member, row in enumerate(said["last"]):
        last = torch.cat([p.detach().flatten() for p in trained.member(member).parameters()])
        assert np.allclose(row, last.numpy(), rtol=0, atol=CLOSE)


STRIPES = """(m, {side, cells, pictures, seed, steps}) => {
    const flat = m.startStripes(side, seed, 0), grad = new Float64Array(flat.length), losses = [];
    for (let s = 0; s < steps; s++) {
        losses.push(m.stripeGradient(side, flat, cells, pictures, grad));
        for (let i = 0; i < flat.length; i++) flat[i] -= 0.5 * grad[i];
    }
    return {losses, answers: [...m.stripeAnswers(side, flat, cells)]};
}"""


def test_the_decoder_that_renders_first_is_the_packages(run: Callable[..., Any]) -> None:
    side, cells = 5, [0, 3, 7, 11, 16, 24]
    places = torch.tensor([[c % side, c // side] for c in cells])
    lines = torch.exp(-0.5 * (torch.arange(side) - places[..., None].float()).square())
    pictures = lines[:, 1, :, None] * lines[:, 0, None, :]
    said = run("stripes", STRIPES, {"side": side, "cells": cells, "pictures": pictures.flatten().tolist(), "seed": 1,
                                    "steps": STEPS})  # fmt: skip
    module = initial(StripeDecoder(inputs=2 * side, side=side), 0, 1)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.5)
    codes = torch.nn.functional.one_hot(places, side).float().flatten(1)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = (module(codes) - pictures).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2
    assert np.allclose(said["losses"], losses, rtol=0, atol=CLOSE)
    assert np.allclose(said["answers"], module(codes).detach().flatten(), rtol=0, atol=CLOSE)
