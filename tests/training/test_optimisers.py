"""Each optimiser against torch.optim, and each schedule against torch's own where there is one."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import pytest
import torch
from hypothesis import given, settings, strategies as st

from recombine.errors import InputError
from recombine.training import SGD, Adam, AdamW, Cosine, Exponential, Optimizer, Schedule, Step, Warmup
from recombine.training.optim import PIECE, as_optimizer, column
from recombine.training.sign import SignSGD

RATES, DECAYS = (0.03, 0.1, 0.002), (0.0, 0.1, 0.5)
CASES: list[tuple[Optimizer, Any, dict[str, Any]]] = [
    (SGD(lr=RATES), torch.optim.SGD, {}),
    (SGD(lr=RATES, momentum=0.9), torch.optim.SGD, {"momentum": 0.9}),
    (SGD(lr=RATES, momentum=0.5, weight_decay=DECAYS), torch.optim.SGD, {"momentum": 0.5}),
    (SGD(lr=RATES, weight_decay=DECAYS), torch.optim.SGD, {}),
    (SGD(RATES, momentum=0.9, nesterov=True), torch.optim.SGD, {"momentum": 0.9, "nesterov": True}),
    (Adam(lr=RATES), torch.optim.Adam, {}),
    (Adam(lr=RATES, weight_decay=DECAYS), torch.optim.Adam, {}),
    (Adam(lr=RATES, betas=(0.5, 0.9), eps=1e-3), torch.optim.Adam, {"betas": (0.5, 0.9), "eps": 1e-3}),
    (AdamW(lr=RATES), torch.optim.AdamW, {}),
    (AdamW(lr=RATES, weight_decay=DECAYS, betas=(0.8, 0.99)), torch.optim.AdamW, {"betas": (0.8, 0.99)}),
]
SCHEDULES: list[tuple[Schedule, Any]] = [
    (Schedule(), None),
    (Exponential(factor_each=0.8), lambda o: torch.optim.lr_scheduler.ExponentialLR(o, 0.8)),
    (Exponential(factor_each=0.5, every=7), lambda o: torch.optim.lr_scheduler.StepLR(o, 7, 0.5)),
    (Cosine(steps=20), lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, 20)),
    (Step(at=(3, 11), factor_each=0.3), lambda o: torch.optim.lr_scheduler.MultiStepLR(o, [3, 11], 0.3)),
    (Warmup(steps=5), lambda o: torch.optim.lr_scheduler.LinearLR(o, 1 / 5, 1.0, 4)),
    (
        Warmup(steps=4, then=Cosine(steps=16)),
        lambda o: torch.optim.lr_scheduler.LambdaLR(
            o, lambda s: (s + 1) / 4 if s < 4 else (1 + math.cos(math.pi * (s - 4) / 16)) / 2
        ),
    ),
]


def loss(w: torch.Tensor) -> torch.Tensor:
    """Curved, not convex, and with a flat direction."""
    return (torch.sin(w[..., :4]) ** 2 * torch.arange(1, 5)).sum() + (w[..., 4:] ** 4).sum() / 4


def start() -> torch.Tensor:
    return torch.randn(3, 10, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def ours(optimizer: Optimizer, steps: int) -> torch.Tensor:
    flat = start()
    state = optimizer.start(flat)
    members = range(len(flat))
    lr = column(optimizer.lr, members, flat)
    decay = None if optimizer.weight_decay == 0.0 else column(optimizer.weight_decay, members, flat)
    for hyper in optimizer.hyper(range(steps)).tolist():
        w = flat.clone().requires_grad_()
        (grad,) = torch.autograd.grad(loss(w), w)
        optimizer.update(flat, grad, state, lr, decay, hyper)
    return flat


def torchs(
    kind: Any, keywords: dict[str, Any], optimizer: Optimizer, schedule: Any, steps: int, member: int
) -> torch.Tensor:
    w = start()[member].clone().requires_grad_()
    decay = optimizer.weight_decay
    lr = optimizer.lr
    other = kind(
        [w], lr=lr[member] if isinstance(lr, tuple) else lr,
        weight_decay=decay[member] if isinstance(decay, tuple) else decay, **keywords,
    )  # fmt: skip
    scheduler = schedule(other) if schedule else None
    for _ in range(steps):
        other.zero_grad()
        loss(w).backward()
        other.step()
        if scheduler:
            scheduler.step()
    return w.detach()


@pytest.mark.parametrize(("optimizer", "kind", "keywords"), CASES, ids=lambda v: getattr(v, "kind", ""))
def test_twenty_steps_are_torchs(optimizer: Optimizer, kind: Any, keywords: dict[str, Any]) -> None:
    got = ours(optimizer, 20)
    for member in range(3):
        expected = torchs(kind, keywords, optimizer, None, 20, member)
        torch.testing.assert_close(got[member], expected, rtol=1e-12, atol=1e-14)
    assert not torch.allclose(got, start())


@pytest.mark.parametrize(("schedule", "torchs_own"), SCHEDULES, ids=lambda v: getattr(v, "kind", ""))
@pytest.mark.parametrize("base", [SGD(lr=0.05, momentum=0.9), Adam(lr=0.01), AdamW(lr=0.01)], ids=lambda v: v.kind)
def test_schedules_are_torchs(schedule: Schedule, torchs_own: Any, base: Optimizer) -> None:
    optimizer = base.replace(schedule=schedule)
    kind = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[base.kind]
    keywords = {"momentum": 0.9} if base.kind == "sgd" else {}
    got = ours(optimizer, 20)
    for member in range(3):
        expected = torchs(kind, keywords, optimizer, torchs_own, 20, member)
        torch.testing.assert_close(got[member], expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("members", "numbers"), [(3, 2 * PIECE + 3), (9, PIECE // 2 - 5)])
@pytest.mark.parametrize("optimizer", [*(c[0] for c in CASES), SignSGD(lr=RATES, momentum=0.9)], ids=lambda o: o.kind)
def test_pieces_are_the_whole(optimizer: Optimizer, members: int, numbers: int) -> None:
    """Several pieces to a row, and several rows to a piece, with rates and decays of each member's own."""
    lr, decay = (column(value * 3, range(members), torch.empty(0)) for value in (RATES, DECAYS))
    ends = []
    for update in (optimizer.update, optimizer.update_in_pieces):
        draws = torch.Generator().manual_seed(2)
        flat = torch.randn(members, numbers, generator=draws)
        state = optimizer.start(flat)
        for hyper in optimizer.hyper(range(2)).tolist():
            update(flat, torch.randn(members, numbers, generator=draws), state, lr, decay, hyper)
        ends.append([flat, *state.values()])
    assert all(torch.equal(a, b) for a, b in zip(*ends, strict=True))


def test_schedules_by_hand() -> None:
    cosine = Cosine(steps=4, floor=0.2)
    assert [cosine.factor(s) for s in (0, 2, 4, 9)] == pytest.approx([1, 0.6, 0.2, 0.2])
    assert [Cosine(steps=4, every=2).factor(s) for s in range(5)] == pytest.approx([1, 1, 0.5, 0.5, 0])
    assert [Exponential(factor_each=0.5, every=2).factor(s) for s in range(5)] == [1, 1, 0.5, 0.5, 0.25]
    assert Schedule().factor(10**6) == 1


def test_a_zero_learning_rate_leaves_everything_as_it_is() -> None:
    for optimizer in (SGD(lr=0.0, momentum=0.9, weight_decay=0.5), Adam(lr=0.0), AdamW(lr=0.0, weight_decay=0.5)):
        assert torch.equal(ours(optimizer, 3), start())


def test_a_setting_belongs_to_the_member_of_its_number() -> None:
    like = torch.zeros(1, dtype=torch.float32)
    assert column((0.0, 1.0, 2.0, 3.0), [3, 1], like).tolist() == [[3], [1]]
    assert column(0.5, [3, 1], like).tolist() == [[0.5], [0.5]]
    assert column(0.5, [3, 1], like).dtype == torch.float32


def test_bad_settings_are_refused() -> None:
    for call, words in (
        (lambda: SGD(lr=0.1, momentum=1), "SGD: momentum"),
        (lambda: SGD(-0.1), "lr must be a number from 0 on, or one for each member; got -0.1"),
        (lambda: Adam(lr=(0.1, float("nan"))), "lr must be a number from 0 on"),
        (lambda: AdamW(weight_decay=float("inf")), "weight_decay must be a number from 0 on"),
        (lambda: SGD(0.1, clip=0.0), "SGD: clip"),
        (lambda: Adam(lr="fast"), "Adam: lr"),
        (lambda: Adam(lr=0.1, beta=(0.9, 0.99)), "did you mean 'betas'"),
        (lambda: Cosine(steps=0), "Cosine: steps"),
        (lambda: Exponential(factor_each=0.0), "Exponential: factor_each"),
    ):
        with pytest.raises(InputError, match=words):
            call()
    with pytest.raises(InputError, match="Optimizer without a kind"):
        Optimizer(lr=0.1)


@given(st.integers(0, 10**6), st.integers(1, 5))
@settings(max_examples=30)
def test_what_changes_from_step_to_step_hangs_on_the_step_alone(first: int, count: int) -> None:
    adam = Adam(lr=0.1, schedule=Exponential(factor_each=0.999))
    block = adam.hyper(range(first, first + count))
    assert torch.equal(block, torch.cat([adam.hyper(range(s, s + 1)) for s in range(first, first + count)]))


def test_an_optimiser_is_ours_or_named_or_torchs_with_keywords() -> None:
    assert (Adam(), AdamW(), SGD()) == (Adam(lr=1e-3), AdamW(lr=1e-3), SGD(lr=1e-3))  # torch's own rates
    assert SGD(0.1) == SGD(lr=0.1)
    assert Adam(lr=0.001).describe() == {"kind": "adam", "version": 1, "lr": 0.001}  # addresses stay
    same: list[tuple[Any, Optimizer]] = [
        (SGD(0.3), SGD(0.3)),
        ("adam", Adam()),
        ("AdamW", AdamW()),
        (torch.optim.Adam, Adam()),
        (partial(torch.optim.SGD, lr=0.1, momentum=0.9, nesterov=True), SGD(0.1, momentum=0.9, nesterov=True)),
        (partial(torch.optim.AdamW, lr=0.1, weight_decay=0.2, fused=True), AdamW(0.1, weight_decay=0.2)),
        (partial(torch.optim.AdamW, betas=(0.8, 0.9), amsgrad=False), AdamW(betas=(0.8, 0.9))),
    ]
    for given_as, ours_is in same:
        assert as_optimizer(given_as) == ours_is
    weight = torch.zeros(1, requires_grad=True)
    for wrong, words in (
        ("adan", "unknown optimizer 'adan'; did you mean 'adam'"),
        (torch.optim.RMSprop, "optimizer is rc.SGD"),
        (torch.optim.Adam([weight]), "before it is given parameters; got Adam"),
        (partial(torch.optim.Adam, amsgrad=True), "amsgrad=True of torch.optim.Adam has no like here"),
        (0.1, "optimizer is rc.SGD"),
    ):
        with pytest.raises(InputError, match=words):
            as_optimizer(wrong)


def test_clipping_is_torchs_for_each_member() -> None:
    optimizer = SGD(0.1, clip=2.0)
    grads = torch.randn(3, 50, generator=torch.Generator().manual_seed(0)) * torch.tensor([[0.01], [1.0], [100.0]])
    for mine, grad in zip(optimizer.clipped(grads), grads, strict=True):
        weight = torch.zeros(50, requires_grad=True)
        weight.grad = grad.clone()
        torch.nn.utils.clip_grad_norm_([weight], 2.0)
        torch.testing.assert_close(mine, weight.grad)
    assert SGD(0.1).clipped(grads) is grads


def test_a_schedule_by_name_is_told_the_schedules_and_where_they_are() -> None:
    with pytest.raises(InputError, match=r"Cosine\(steps=…\).* of recombine\.training; got 'cosine'"):
        Adam(1e-3, schedule="cosine")
