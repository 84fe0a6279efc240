"""Validation on held-out rows: members stop when they do not become better, and end as they were best."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from trainees import NET, TOY, Normed, assert_bitwise, assert_same, short

from recombine.space import FactorSpace
from recombine.support import full
from recombine.tasks import FixedTask
from recombine.training import SGD, Adam, Validation

SPACE = FactorSpace.of(a=2, b=2)


def noise(rows: int = 40) -> FixedTask:
    """Labels that nothing explains: whoever fits the training rows does worse on others."""
    generator = torch.Generator().manual_seed(3)
    x, y = torch.randn(rows, 2, generator=generator), torch.randint(2, (rows,), generator=generator)
    codes = SPACE.grid().repeat(rows // 4, 0)
    return FixedTask(SPACE, full(SPACE), full(SPACE), x, y, codes, nn.CrossEntropyLoss, held_out=0.5)


TASK = noise()
HOW: dict[str, Any] = {"task": TASK, "steps": 120, "batch_size": 8, "optimizer": Adam(0.05)}


def held_out_losses(ensemble: Any) -> list[float]:
    inputs, targets = TASK.held_out()
    outputs = ensemble.predict(inputs.double())  # type: ignore[union-attr]
    return [float(TASK.losses(row, targets).mean()) for row in outputs]


@pytest.mark.parametrize("strategy", ["stacked", "loop"])
def test_each_member_ends_as_it_was_best(strategy: str) -> None:
    best = short(Normed, validation=Validation(every=10), strategy=strategy, **HOW)
    last = short(Normed, validation=Validation(every=10, best=False), strategy=strategy, **HOW)
    free = short(Normed, strategy=strategy, **HOW)
    assert_same(last, free, range(4), 0)  # looking changes nothing
    assert held_out_losses(best) == pytest.approx(best.notes["validation_loss"], rel=1e-9)
    assert all(b < f for b, f in zip(held_out_losses(best), held_out_losses(free), strict=True))
    for member, at in enumerate(best.notes["best_at"]):
        assert at % 10 == 0
        assert_same(best, short(Normed, strategy=strategy, **HOW | {"steps": at}), [member], 1e-9)


@pytest.mark.parametrize("strategy", ["stacked", "loop"])
def test_a_member_without_patience_left_stops(strategy: str) -> None:
    patient = short(validation=Validation(every=5, patience=2, best=False), strategy=strategy, **HOW)
    stops = patient.notes["stopped_at"]
    assert any(stop is not None and stop < 120 for stop in stops)
    for member, (at, stop) in enumerate(zip(patient.notes["best_at"], stops, strict=True)):
        assert stop is None or stop - at == 10
        until = short(strategy=strategy, **HOW | {"steps": stop or 120})
        assert_same(patient, until, [member], 1e-9)
    assert patient.status_frame()["stopped_at"].to_list() == stops


def test_a_validated_training_continues_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recombine.training.engine.BLOCK_STEPS", 8)
    how = HOW | {"validation": Validation(every=7, patience=4)}
    whole = short(Normed, **how)
    calls = 0

    def stop(done: int, total: int) -> None:
        nonlocal calls
        calls += 1
        if calls == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        short(Normed, checkpoint=tmp_path, checkpoint_seconds=0.0, progress=stop, **how)
    again = short(Normed, checkpoint=tmp_path, **how)
    assert_bitwise(whole, again)
    assert whole.notes["best_at"] == again.notes["best_at"]


def test_a_task_that_draws_is_validated_on_fresh_examples() -> None:
    ensemble = short(NET, TOY, steps=50, validation=Validation(every=10, fresh=64), optimizer=SGD(0.1))
    assert ensemble.notes["best_at"] == [50] * 4  # nothing to overfit: later is better
