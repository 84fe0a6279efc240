"""A member is the same run stacked, looped, alone, and among more: the promise that all else rests on."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
import torch
from torch import nn
from trainees import (
    NET,
    STEPS,
    TOY,
    Choosy,
    Dropped,
    HalfFrozen,
    Hidden,
    Normed,
    Pair,
    Tied,
    assert_bitwise,
    assert_same,
    fixed_task,
    short,
)

from recombine.tasks import Draws
from recombine.training import SGD, Adam, AdamW, Cosine, Ensemble, Optimizer
from recombine.training.stack import initial
from recombine.training.threads import one_thread_each, threads

OPTIMISERS = [SGD(lr=0.1), SGD(lr=0.1, momentum=0.9, weight_decay=1e-3), Adam(lr=0.01), AdamW(lr=0.01)]
TOLERANCES = [(torch.float64, 1e-9), (torch.float32, 1e-3)]
MODELS: list[tuple[Any, Any]] = [
    (NET, TOY),
    (Normed, TOY),
    (Tied, TOY),
    (Pair, fixed_task(several=True)),
    (HalfFrozen, TOY),
]


@pytest.mark.parametrize(("dtype", "tolerance"), TOLERANCES, ids=["float64", "float32"])
@pytest.mark.parametrize("optimizer", OPTIMISERS, ids=["sgd", "momentum", "adam", "adamw"])
def test_stacked_is_looped_is_member_of_a_larger_stack(
    optimizer: Optimizer, dtype: torch.dtype, tolerance: float
) -> None:
    stacked = short(optimizer=optimizer, dtype=dtype, strategy="stacked")
    looped = short(optimizer=optimizer, dtype=dtype, strategy="loop")
    larger = short(optimizer=optimizer, dtype=dtype, strategy="stacked", members=11)
    alone = short(optimizer=optimizer, dtype=dtype, members=[3])
    assert stacked.flat.dtype == dtype
    assert_same(stacked, looped, range(4), tolerance)
    assert_same(stacked, larger, range(4), tolerance)
    assert_same(stacked, alone, [3], tolerance)
    torch.testing.assert_close(stacked.history["loss"], looped.history["loss"], rtol=tolerance, atol=tolerance)
    torch.testing.assert_close(stacked.history["loss"], larger.history["loss"][:4], rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("optimizer", [SGD(lr=0.1), Adam(lr=0.01)], ids=["sgd", "adam"])
@pytest.mark.parametrize(("model", "task"), MODELS, ids=["plain", "batchnorm", "tied", "tuple", "frozen"])
def test_every_kind_of_model_is_the_same_either_way(model: Any, task: Any, optimizer: Optimizer) -> None:
    stacked = short(model, task, optimizer=optimizer, strategy="stacked")
    looped = short(model, task, optimizer=optimizer, strategy="loop")
    larger = short(model, task, optimizer=optimizer, strategy="stacked", members=7)
    assert_same(stacked, looped, range(4), 1e-9)
    assert_same(stacked, larger, range(4), 1e-9)
    started = short(model, task, optimizer=optimizer, steps=0)
    assert not torch.allclose(stacked.flat, started.flat)


def test_looped_members_are_the_same_bits_on_one_thread_and_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    # The first block is trained one after the other, to see whether the model draws random numbers.
    monkeypatch.setattr("recombine.training.engine.BLOCK_STEPS", 10)
    found = []
    for count in (1, 2, 3):
        with threads(count), one_thread_each():
            found.append(short(strategy="loop", members=5))
    for other in found[1:]:
        assert torch.equal(found[0].flat, other.flat)
        assert torch.equal(found[0].history["loss"], other.history["loss"])


def plain_training(model: Any, member: int, steps: int, optimizer: Any, task: Any = TOY, size: int = 8) -> nn.Module:
    """The same training with nothing of ours but the draws: a module, torch.optim, backward."""
    module = initial(model, member, 0, torch.float64).train()
    chosen = optimizer([p for p in module.parameters() if p.requires_grad])
    for step in range(steps):
        inputs, targets = task.batch(Draws.of([member], range(step, step + 1), 0), size)
        parts = inputs if isinstance(inputs, tuple) else (inputs,)
        x = [part[0, 0].double() if part.is_floating_point() else part[0, 0] for part in parts]
        y = targets[0, 0].double() if targets.is_floating_point() else targets[0, 0]
        chosen.zero_grad()
        task.losses(module(*x), y).mean().backward()
        chosen.step()
    return module


@pytest.mark.parametrize(("model", "task"), MODELS, ids=["plain", "batchnorm", "tied", "tuple", "frozen"])
def test_a_member_is_what_torch_alone_would_train(model: Any, task: Any) -> None:
    ensemble = short(model, task, optimizer=AdamW(lr=0.01, weight_decay=0.1), strategy="stacked")
    for member in (0, 3):
        plain = plain_training(model, member, STEPS, lambda p: torch.optim.AdamW(p, lr=0.01, weight_decay=0.1), task)
        mine = dict(ensemble.member(member).named_parameters()) | dict(ensemble.member(member).named_buffers())
        theirs = dict(plain.named_parameters()) | dict(plain.named_buffers())
        assert mine.keys() == theirs.keys()
        for name, tensor in theirs.items():
            torch.testing.assert_close(mine[name], tensor, rtol=1e-9, atol=1e-11, msg=lambda m, n=name: f"{n}: {m}")


def test_batch_norm_counts_its_batches_for_each_member() -> None:
    ensemble = short(Normed, strategy="stacked", steps=13)
    assert ensemble.buffers["layers.1.num_batches_tracked"].tolist() == [13] * 4
    assert len({tuple(row) for row in ensemble.buffers["layers.1.running_mean"].tolist()}) == 4


def test_frozen_parameters_stay_where_they_started() -> None:
    for strategy in ("stacked", "loop"):
        ensemble = short(HalfFrozen, strategy=strategy, optimizer=AdamW(lr=0.05, weight_decay=0.5))
        start = short(HalfFrozen, steps=0)
        assert torch.equal(ensemble.parameters["fixed.weight"], start.parameters["fixed.weight"])
        assert not torch.allclose(ensemble.parameters["free.weight"], start.parameters["free.weight"])


def norm(parameters: Any) -> torch.Tensor:
    return sum(p.square().sum() for p in parameters.values())  # type: ignore[return-value]


SETTINGS: dict[str, Any] = {
    "lr": lambda v: {"optimizer": SGD(lr=v)},
    "init_scale": lambda v: {"init_scale": v},
    "penalty_weight": lambda v: {"penalty": norm, "penalty_weight": v},
    "weight_decay": lambda v: {"optimizer": AdamW(lr=0.01, weight_decay=v)},
}


VALUES = (0.5, 0.02, 0.1, 0.0)


@cache
def of_its_own(name: str, member: int) -> Ensemble:
    """A member alone with its value of a setting: what either strategy must come to."""
    return short(strategy="loop", members=[member], **SETTINGS[name](VALUES[member]))


@pytest.mark.parametrize("strategy", ["stacked", "loop"])
@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_of_each_member_is_that_of_a_training_of_its_own(name: str, strategy: str) -> None:
    settings = SETTINGS[name]
    together = short(strategy=strategy, **settings(VALUES))
    for member in range(len(VALUES)):
        assert_same(together, of_its_own(name, member), [member], 1e-9)
    other = short(strategy=strategy, **settings(0.1))
    assert_same(together, other, [2], 1e-9)
    with pytest.raises(AssertionError):
        assert_same(together, other, [0], 1e-3)
    some = short(strategy=strategy, members=[2, 0], **settings(VALUES))
    assert_same(together, some, [0, 2], 1e-9)


def test_init_scale_scales_what_members_start_with() -> None:
    plain, scaled = short(steps=0), short(steps=0, init_scale=(1.0, 0.5, 2.0, 0.0))
    assert torch.equal(scaled.flat, plain.flat * torch.tensor([[1.0], [0.5], [2.0], [0.0]]))


def test_the_penalty_is_in_the_gradient_and_not_in_the_loss() -> None:
    plain = short(steps=1, strategy="stacked")
    penalised = short(steps=1, strategy="stacked", penalty=norm, penalty_weight=0.3)
    start = short(steps=0)
    assert torch.equal(plain.history["loss"], penalised.history["loss"])
    torch.testing.assert_close(penalised.flat, plain.flat - 0.1 * 2 * 0.3 * start.flat, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("task", [TOY, fixed_task()], ids=["toy", "fixed"])
def test_full_batch_training(task: Any) -> None:
    stacked = short(task=task, batch_size=None, strategy="stacked", optimizer=Adam(lr=0.01))
    looped = short(task=task, batch_size=None, strategy="loop", optimizer=Adam(lr=0.01))
    assert_same(stacked, looped, range(4), 1e-9)
    losses = stacked.history["loss"]
    assert (losses[:, -1] < losses[:, 0]).all()


def test_epochs_of_a_fixed_set_are_each_members_own() -> None:
    task = fixed_task(24)
    stacked = short(task=task, batch_size=5, strategy="stacked")
    looped = short(task=task, batch_size=5, strategy="loop")
    assert_same(stacked, looped, range(4), 1e-9)
    assert_same(stacked, short(task=task, batch_size=5, members=[2]), [2], 1e-9)
    whole = short(task=task, batch_size=24, strategy="stacked")  # each step one epoch: the order cannot matter
    assert_same(whole, short(task=task, batch_size=None, strategy="stacked"), range(4), 1e-9)


def test_a_schedule_reaches_the_members() -> None:
    optimizer = SGD(lr=0.2, schedule=Cosine(steps=STEPS))
    ensemble = short(optimizer=optimizer, strategy="stacked")

    def torchs(parameters: Any) -> Any:
        chosen = torch.optim.SGD(parameters, lr=0.2)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(chosen, STEPS)
        step = chosen.step

        def both() -> None:
            step()
            schedule.step()

        chosen.step = both  # type: ignore[method-assign, assignment]
        return chosen

    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        plain = plain_training(NET, 1, STEPS, torchs)
    for name, parameter in plain.named_parameters():
        torch.testing.assert_close(dict(ensemble.member(1).named_parameters())[name], parameter, rtol=1e-9, atol=1e-11)


def test_a_module_given_as_instance_is_drawn_anew_for_each_member() -> None:
    instance = NET()
    before = [p.clone() for p in instance.parameters()]
    given, built = short(instance, steps=0, fresh=True), short(NET, steps=0)
    assert_bitwise(given, built)
    trained = short(instance, strategy="stacked", fresh=True)
    assert_same(trained, short(NET, strategy="stacked"), range(4), 1e-9)
    assert all(torch.equal(p, b) for p, b in zip(instance.parameters(), before, strict=True))
    assert len({tuple(row) for row in given.flat.tolist()}) == 4


def test_the_global_random_state_is_neither_used_nor_moved() -> None:
    torch.manual_seed(1)
    first = short(Dropped, strategy="loop")
    state = torch.get_rng_state()
    torch.manual_seed(2)
    torch.rand(5)
    second = short(Dropped, strategy="loop")
    assert_bitwise(first, second)
    torch.manual_seed(1)
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("model", [Dropped, Hidden], ids=["layer", "function"])
def test_dropout_is_the_members_own_whatever_the_ensemble(model: Any) -> None:
    torch.manual_seed(3)
    few = short(model, optimizer=Adam(lr=0.01))
    torch.rand(3)
    many = short(model, optimizer=Adam(lr=0.01), members=9)
    assert few.notes["strategy"] == many.notes["strategy"] == "loop"
    assert_same(few, many, range(4), 0)
    assert_same(few, short(model, optimizer=Adam(lr=0.01), members=[3]), [3], 0)
    torch.rand(2)
    x = torch.randn(5, 2, dtype=torch.float64)
    assert torch.equal(few.predict(x), few.predict(x))  # nothing is dropped in evaluation
    without = short(model, optimizer=Adam(lr=0.01), seed=1)
    assert not torch.allclose(without.flat, few.flat)


def test_a_model_that_cannot_be_batched_is_looped_and_says_why() -> None:
    ensemble = short(Choosy)
    assert ensemble.notes["strategy"] == "loop"
    assert ensemble.notes["reason"].startswith("torch.vmap cannot batch this model: vmap: It looks like")
    plain = plain_training(Choosy, 2, STEPS, lambda p: torch.optim.SGD(p, lr=0.1))
    for name, parameter in plain.named_parameters():
        torch.testing.assert_close(dict(ensemble.member(2).named_parameters())[name], parameter, rtol=1e-9, atol=1e-11)
    x = torch.randn(6, 2, dtype=torch.float64)
    assert torch.equal(ensemble.predict(x)[2], ensemble.member(2)(x).detach())
    with pytest.raises(RuntimeError, match="vmap"):
        short(Choosy, strategy="stacked")


def test_the_same_call_gives_the_same_bits() -> None:
    for strategy in ("stacked", "loop"):
        assert_bitwise(short(strategy=strategy), short(strategy=strategy))
    assert not torch.equal(short().flat, short(seed=1).flat)


def test_chunks_make_the_whole() -> None:
    whole = short(Normed, members=8, strategy="stacked")
    chunks = short(Normed, members=8, strategy="stacked", chunk_size=3)
    assert whole.notes["stacks"] == [8]
    assert chunks.notes["stacks"] == [3, 3, 2]
    assert chunks.members == tuple(range(8))
    assert_same(whole, chunks, range(8), 1e-9)
    torch.testing.assert_close(whole.history["loss"], chunks.history["loss"], rtol=1e-9, atol=1e-12)
    assert torch.equal(whole.history["step"], chunks.history["step"])
    assert len(chunks.status_frame()) == 8


@pytest.fixture(scope="module")
def eight() -> Ensemble:
    return short(members=8, strategy="stacked")


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory"),
        MemoryError(),
        RuntimeError("DefaultCPUAllocator: can't allocate memory"),
    ],
    ids=["device", "python", "host"],
)
def test_running_out_of_memory_splits_the_stack(
    eight: Ensemble, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    from recombine.training.strategies import Stacked

    advance, tried = Stacked.advance, []

    def narrow(self: Stacked, *arguments: Any) -> torch.Tensor:
        tried.append(len(self.stack))
        if len(self.stack) > 2 and self.stack.members[0] == 0:
            raise error
        return advance(self, *arguments)

    monkeypatch.setattr(Stacked, "advance", narrow)
    split = short(members=8, strategy="stacked")
    assert tried[:3] == [8, 4, 2]
    assert split.notes["stacks"] == [2, 2, 4]
    assert_same(eight, split, range(8), 1e-9)


def test_one_member_that_does_not_fit_and_other_errors_are_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    from recombine.training.strategies import Stacked

    def fail(self: Stacked, *arguments: Any) -> torch.Tensor:
        raise error

    monkeypatch.setattr(Stacked, "advance", fail)
    for error in (torch.OutOfMemoryError("no"), RuntimeError("shapes do not match")):
        with pytest.raises(type(error)):
            short(members=4, strategy="stacked")


def test_members_keep_their_numbers_and_order() -> None:
    some = short(members=[5, 1], strategy="stacked")
    assert isinstance(some, Ensemble)
    assert some.members == (5, 1)
    assert_same(some, short(members=6, strategy="stacked"), [1, 5], 1e-9)


class Attending(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.into, self.out = nn.Linear(1, 8), nn.Linear(8, 2)
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(self.layer(self.into(x[..., None])).mean(1))


def convolving() -> nn.Module:
    return nn.Sequential(
        nn.Unflatten(1, (1, 2)), nn.Conv1d(1, 6, 3, padding=1), nn.BatchNorm1d(6), nn.ReLU(),
        nn.Conv1d(6, 6, 3, padding=1), nn.Flatten(), nn.Linear(12, 2),
    )  # fmt: skip


@pytest.mark.parametrize("model", [Attending, convolving])
@pytest.mark.parametrize("batch_size", [32, None])
def test_a_member_alone_comes_to_the_bits_it_has_among_others(model: Any, batch_size: int | None) -> None:
    task = TOY if batch_size else fixed_task()
    how = {"task": task, "batch_size": batch_size, "steps": 16, "dtype": torch.float32, "strategy": "stacked"}
    assert_same(short(model, members=5, **how), short(model, members=[3], **how), [3], 0)
