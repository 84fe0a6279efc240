"""How members are run is a function of the description and the kind of device, and of nothing else."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from trainees import NET, TOY, Dropped, short

from recombine.errors import InputError
from recombine.tasks import Draws
from recombine.training.plan import (
    FEWEST_GROUPS,
    LOOP_BYTES_CPU,
    STACK_BYTES,
    Plan,
    activation_bytes,
    make_plan,
    step_bytes,
)
from recombine.training.stack import Objective

CPU, GPU = torch.device("cpu"), torch.device("cuda")
OBJECTIVE = Objective(TOY)


class Conv(nn.Module):
    def __init__(self, channels: int = 4) -> None:
        super().__init__()
        self.conv, self.last = nn.Conv1d(1, channels, 3, padding=1), nn.Linear(2 * channels, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(self.conv(x[:, None]).flatten(1))  # type: ignore[no-any-return]


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell, self.last = nn.GRU(2, 4, batch_first=True), nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(self.cell(x[:, None])[0][:, 0])  # type: ignore[no-any-return]


def plan(module: nn.Module, members: int = 64, device: torch.device = CPU, **more: Any) -> Plan:
    inputs, targets = TOY.batch(Draws.of([0], range(1), 0), 16)
    settings = {"steps": 100, "state_tensors": 0, "strategy": "auto", "chunk_size": "auto"} | more
    return make_plan(module, OBJECTIVE, ((inputs[0, 0],), targets[0, 0]), members=members, device=device, **settings)  # type: ignore[arg-type, index]


WIDE = nn.Sequential(nn.Linear(2, 4000), nn.ReLU(), nn.Linear(4000, 200), nn.Linear(200, 2))


@pytest.mark.parametrize(
    ("module", "device", "members", "strategy"),
    [
        (NET(), CPU, 64, "stacked"),
        (NET(), CPU, 1, "stacked"),
        (NET(), GPU, 64, "captured"),
        (NET(), GPU, 1, "captured"),
        (Conv(), CPU, 64, "stacked"),
        (Conv(2000), CPU, 64, "loop"),
        (Conv(), GPU, 64, "captured"),
        (Recurrent(), CPU, 64, "loop"),
        (Recurrent(), GPU, 64, "loop"),
        (Dropped(), CPU, 64, "loop"),
        (Dropped(), GPU, 64, "loop"),
        (WIDE, CPU, 64, "loop"),
        (WIDE, GPU, 64, "captured"),
    ],
)
def test_the_choice(module: nn.Module, device: torch.device, members: int, strategy: str) -> None:
    first = plan(module, members, device)
    assert first.strategy == strategy
    assert first == plan(module, members, device)
    assert first.reason


def test_large_convolutions_are_stacked_by_many_or_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    assert plan(Conv(), 3, GPU).stack == 3, "small ones are"
    monkeypatch.setattr("recombine.training.plan.GROUPED_BYTES", 0)
    assert plan(Conv(), 3, GPU).stack == 1
    assert plan(Conv(), FEWEST_GROUPS, GPU).stack == FEWEST_GROUPS
    assert plan(NET(), 3, GPU).stack == 3, "it has no convolutions"
    assert plan(Conv(), 3, GPU, chunk_size=2).stack == 2, "asked for"


def test_convolutions_that_fill_a_gpu_are_branches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recombine.training.plan.BRANCHED_BYTES", 0)
    found = plan(Conv(), 64, GPU)
    assert (found.strategy, found.stack) == ("branches", 64)
    assert plan(NET(), 64, GPU).strategy == "captured", "it has no convolutions"
    with pytest.raises(InputError, match="CUDA"):
        plan(Conv(), strategy="branches")


class Pictures(nn.Module):
    """Two numbers as a picture of two pixels."""

    def __init__(self, **how: int) -> None:
        super().__init__()
        self.conv, self.last = nn.Conv2d(1, 3, 1, **how), nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(self.conv(x[:, None, None]).mean((-2, -1)))  # type: ignore[no-any-return]


def test_long_ones_of_few_channels_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recombine.training.plan.BRANCHED_BYTES", 0)
    monkeypatch.setattr("recombine.training.plan.can_compile", lambda: True)
    assert plan(Pictures(), device=GPU, steps=10).strategy == "branches"
    assert plan(Pictures(), device=GPU, steps=10**10).strategy == "compiled-branches"
    assert plan(Pictures(stride=2), device=GPU, steps=10**13).strategy == "compiled"
    monkeypatch.setattr("recombine.training.plan.can_compile", lambda: False)
    assert plan(Pictures(), device=GPU, steps=10**10).strategy == "branches"
    with pytest.raises(InputError, match="Triton"):
        plan(Pictures(), device=GPU, strategy="compiled-branches")


def test_a_long_training_is_compiled_where_it_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recombine.training.plan.can_compile", lambda: True)
    assert plan(NET(), device=GPU, steps=100).strategy == "captured"
    assert plan(NET(), device=GPU, steps=10**9).strategy == "compiled"
    assert plan(NET(), device=CPU, steps=10**9).strategy == "stacked"
    monkeypatch.setattr("recombine.training.plan.can_compile", lambda: False)
    assert plan(NET(), device=GPU, steps=10**9).strategy == "captured"
    with pytest.raises(InputError, match="Triton"):
        plan(NET(), device=GPU, strategy="compiled")


def test_many_steps_of_a_network_with_a_program_are_fused() -> None:
    assert plan(NET(), device=GPU, steps=10**4, fusible=True).strategy == "fused"
    assert plan(NET(), 1, GPU, steps=10**4, fusible=True).strategy == "fused", "however many there are"
    assert plan(NET(), device=GPU, steps=10**4).strategy == "captured"
    assert plan(NET(), device=GPU, steps=100, fusible=True).strategy == "captured"
    assert plan(NET(), 2**18, GPU, steps=100, fusible=True).strategy == "fused", "or steps of very many"
    assert plan(NET(), device=CPU, steps=10**4, fusible=True).strategy == "stacked"


def test_members_that_draw_are_replayed_where_their_layers_are_a_librarys() -> None:
    drawing = nn.Sequential(nn.Linear(2, 4), nn.Dropout(0.5), nn.Linear(4, 2))
    assert (plan(drawing).strategy, plan(drawing, device=GPU).strategy) == ("loop", "replayed")

    class Own(nn.Sequential):
        """Somebody's own may draw in Python as well."""

    assert plan(Own(*drawing), device=GPU).strategy == "loop"
    assert plan(drawing, device=GPU).stack == plan(drawing).stack, "members do not meet"


def test_planning_leaves_no_trace() -> None:
    module = nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(4, 2))
    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    state = torch.get_rng_state()
    assert plan(module) == plan(module)
    assert torch.equal(state, torch.get_rng_state())
    assert all(torch.equal(tensor, before[name]) for name, tensor in module.state_dict().items())
    assert all(p.grad is None for p in module.parameters())


def test_the_stack_is_the_largest_power_of_two_within_bounds() -> None:
    module = nn.Sequential(nn.Linear(2, 500), nn.ReLU(), nn.Linear(500, 200), nn.Linear(200, 2))
    inputs, targets = TOY.batch(Draws.of([0], range(1), 0), 16)
    touched = step_bytes(module, OBJECTIVE, ((inputs[0, 0],), targets[0, 0]), 2)  # type: ignore[index]
    assert touched < LOOP_BYTES_CPU
    stack = plan(module, 10_000, state_tensors=2).stack
    assert stack & (stack - 1) == 0
    assert stack * touched <= STACK_BYTES["cpu"] < 2 * stack * touched
    assert plan(module, 3, state_tensors=2).stack == 3
    assert plan(module, 10_000, chunk_size=7).stack == 7
    assert plan(module, 5, chunk_size=7).stack == 5


def test_bytes_are_counted_by_hand() -> None:
    module = nn.Sequential(nn.Linear(2, 8, bias=False), nn.ReLU(), nn.Linear(8, 2, bias=False))
    inputs, targets = TOY.batch(Draws.of([0], range(1), 0), 16)
    kept = activation_bytes(module, OBJECTIVE, (inputs[0, 0],), targets[0, 0])  # type: ignore[index]
    # Kept for the backward pass: at least the input (16 × 2) and what follows ReLU (16 × 8), four bytes each.
    assert 4 * 16 * (2 + 8) <= kept <= 4 * 16 * (2 + 8) + 4000
    wide = nn.Sequential(nn.Linear(2, 800, bias=False), nn.ReLU(), nn.Linear(800, 2, bias=False))
    more = activation_bytes(wide, OBJECTIVE, (inputs[0, 0],), targets[0, 0])  # type: ignore[index]
    assert more - kept == 4 * 16 * (800 - 8)


def test_a_training_runs_as_planned_every_time() -> None:
    notes = [short(members=5, steps=1).notes for _ in range(2)]
    assert [(n["strategy"], n["stack"], n["reason"]) for n in notes] == [
        ("stacked", 5, "many small members per step")
    ] * 2
    assert short(lambda: Conv(2000), members=5, steps=1).notes["strategy"] == "loop"
    assert short(Recurrent, members=2, steps=1).notes["strategy"] == "loop"
