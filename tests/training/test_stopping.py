"""Members that stop by their loss on fresh examples: when, where they are then, and what is written down."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from trainees import NET, Normed, assert_same, short

from recombine.models import Perceptron
from recombine.runs.run import Context
from recombine.runs.training import TrainingRun
from recombine.space import FactorSpace
from recombine.studies.gradient_descent.evolution import EvolutionRun
from recombine.support import full
from recombine.tasks import FixedTask, ToyTask, squared_error
from recombine.training import SGD, Adam, train
from recombine.training.sign import SignSGD
from recombine.training.stopping import fresh_losses

EASY = ToyTask(second="uninformative")
BOUND, EVERY = 0.15, 3
FRESH: dict[str, Any] = {"task": EASY, "batch_size": 16, "stop_below": BOUND, "stop_on": 256, "stop_every": EVERY}


@pytest.mark.parametrize("strategy", ["stacked", "loop"])
@pytest.mark.parametrize("model", [NET, Normed], ids=["plain", "batchnorm"])
def test_a_member_stops_at_the_first_step_asked_at_which_fresh_examples_say_so(model: Any, strategy: str) -> None:
    how = {**FRESH, "optimizer": Adam(lr=0.03), "strategy": strategy}
    ensemble = short(model, steps=300, fit_below=BOUND, **how)
    judged = fresh_losses(EASY, 256, 0, ensemble.flat)
    final = ensemble.notes["final_loss"]
    assert final == pytest.approx(judged(ensemble).tolist())
    assert max(final) <= BOUND
    assert ensemble.fitted == (True,) * 4
    stops = ensemble.notes["stopped_at"]
    assert ensemble.status_frame()["stopped_at"].to_list() == stops
    assert len(set(stops)) > 1
    free = {**how, "stop_below": None}
    for member, stop in enumerate(stops):
        assert stop % EVERY == 0
        assert_same(ensemble, short(model, steps=stop, members=[member], **free), [member], 1e-9)
        before = short(model, steps=stop - EVERY, members=[member], **free)
        assert float(judged(before)) > BOUND


def test_the_examples_are_the_same_for_every_optimiser_and_no_batch() -> None:
    task = ToyTask()
    small = [train(NET, task, steps=0, seed=seed, device="cpu") for seed in (0, 1)]
    assert torch.equal(*(fresh_losses(task, 64, 5, small[0].flat)(small[0]) for _ in range(2)))
    assert float(fresh_losses(task, 64, 5, small[0].flat)(small[0])) != float(
        fresh_losses(task, 64, 6, small[0].flat)(small[0])
    )
    finals = [
        short(NET, steps=2000, **FRESH | {"stop_every": 1}, optimizer=optimizer).notes["final_loss"]
        for optimizer in (SGD(lr=0.1), SignSGD(lr=0.003))
    ]
    assert all(0.9 * BOUND < loss <= BOUND for each in finals for loss in each)


def test_one_that_never_gets_there_says_its_loss_at_the_end() -> None:
    ensemble = short(NET, steps=10, fit_below=1e-9, **{**FRESH, "stop_below": 1e-9})
    assert ensemble.notes["stopped_at"] == [None] * 4
    assert ensemble.fitted == (False,) * 4
    judged = fresh_losses(EASY, 256, 0, ensemble.flat)(ensemble)
    assert ensemble.notes["final_loss"] == pytest.approx(judged.tolist())


def test_evolution_stops_on_the_same_examples(tmp_path: Path) -> None:
    task, model = ToyTask(), Perceptron(widths=(2, 8, 2))
    run = EvolutionRun(
        task=task, model=model, members=3, generations=400, batch_size=64, stop_below=0.3, stop_on=256, stop_every=3
    )
    table = run.compute(Context("cpu", tmp_path)).tables["members"]
    assert table["fitted"].all()
    assert table["final_loss"].max() < 0.3  # type: ignore[operator]
    assert all(count % 3 == 0 for count in table["generations"])
    by_batch = run.replace(stop_on=None, stop_every=1).compute(Context("cpu", tmp_path)).tables["members"]
    assert (by_batch["generations"] < table["generations"]).any()


def test_runs_without_it_keep_their_address() -> None:
    how: dict[str, Any] = {"task": ToyTask(), "model": NET, "members": 2, "steps": 3, "optimizer": SGD(lr=0.1)}
    assert "stop_on" not in TrainingRun(**how, stop_below=0.1).describe()
    assert TrainingRun(**how, stop_below=0.1).address != TrainingRun(**how, stop_below=0.1, stop_on=8).address


def test_a_fixed_set_is_judged_on_its_training_rows_and_not_on_a_lucky_batch() -> None:
    """A tenth of the rows has another answer than the rest: batches without any of them are below the bound at once."""
    space = FactorSpace.of(a=2)
    codes = torch.zeros(200, 1, dtype=torch.long)
    targets = torch.where(torch.arange(200) % 10 == 0, 5.0, 0.0)[:, None]
    task = FixedTask(space, full(space), full(space), torch.ones(200, 1), targets, codes, squared_error, held_out=0)
    found = train(
        lambda: nn.Linear(1, 1, bias=False), task, members=4, steps=60, batch_size=4, optimizer=SGD(lr=0.01),
        stop_below=0.5, fit_below=0.5, device="cpu",
    )  # fmt: skip
    assert found.notes["stopped_at"] == [None] * 4
    assert found.fitted == (False,) * 4
    whole = float(squared_error(found.predict(torch.ones(1, 1))[0].expand(200, 1), targets).mean())
    assert found.notes["final_loss"][0] == pytest.approx(whole, rel=1e-5)


def test_who_is_not_stopped_is_trained_on_and_says_when_it_was_fitted() -> None:
    """One weight that goes from 0 to 1: after t full steps it is off by 0.9^t, and its loss by the square of that."""
    space = FactorSpace.of(a=2)
    codes = torch.zeros(20, 1, dtype=torch.long)
    ones = torch.ones(20, 1)
    task = FixedTask(space, full(space), full(space), ones, ones, codes, squared_error, held_out=0)

    class Zero(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(torch.zeros(1))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.w * x

    how: dict[str, Any] = {"task": task, "steps": 60, "optimizer": SGD(lr=0.05), "device": "cpu"}
    for batch_size, first in ((4, 25), (None, 23)):  # judged once in an epoch of 5 steps; before each full step
        found = train(Zero, batch_size=batch_size, fit_below=0.01, **how)
        free = train(Zero, batch_size=batch_size, **how)
        assert torch.equal(found.flat, free.flat)
        assert found.notes["fitted_at"] == [first]
        assert found.status_frame()["fitted_at"].to_list() == [first]
        assert found.fitted == (True,)
        assert "fitted_at" not in free.notes
    assert train(Zero, batch_size=4, fit_below=1e-9, **how).notes["fitted_at"] == [None]
