"""A launch for many steps trains the same members, where there is a program for them."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from trainees import NET, TOY, Normed, fixed_task, short

from recombine.errors import InputError
from recombine.models import Perceptron
from recombine.tasks import Draws, ToyTask, cross_entropy, squared_error
from recombine.training import SGD, Adam, AdamW, Optimizer, engine
from recombine.training.penalties import SquaredNorm, VectorVariance
from recombine.training.settings import Training
from recombine.training.sign import SignSGD
from recombine.training.stack import Objective
from recombine.training.strategies import Fused
from recombine.training.strategies.fused import loss_of, program_of
from recombine.training.strategies.fused_program import Program, blocks
from recombine.training.strategies.fused_source import write


@pytest.mark.skipif(find_spec("triton") is None, reason="Triton is not installed; its interpreter runs the programs")
def test_members_are_those_of_the_stacked_strategy() -> None:
    """In a process of its own: Triton looks once, when it is imported, whether it is to interpret."""
    script = Path(__file__).with_name("gpu_fused.py")
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=600, check=False)
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-2000:]


def program(module: nn.Module, task: Any = TOY, optimizer: Optimizer | None = None, **more: Any) -> Program | str:
    inputs, targets = task.batch(Draws.of([0], range(1), 0), 8)
    objective = Objective(task, more.pop("penalty", None))
    return program_of(module, objective, optimizer or SGD(lr=0.1), ((inputs[0, 0],), targets[0, 0]), **more)


@pytest.mark.parametrize("optimizer", [SGD(lr=0.1, momentum=0.5), Adam(lr=0.1), AdamW(lr=(0.1, 0.2))])
def test_perceptrons_have_a_program(optimizer: Optimizer) -> None:
    for module in (NET(), nn.Sequential(nn.Flatten(), nn.Sequential(nn.Linear(2, 70), nn.ELU()), nn.Linear(70, 2))):
        found = program(module, optimizer=optimizer)
        assert isinstance(found, Program)
        assert found.loss == "cross entropy"
        compile(write(found), "a program", "exec")
    assert program(NET(), fixed_task()).loss == "squared error"  # type: ignore[union-attr]
    assert program(NET(), penalty=SquaredNorm(), optimizer=optimizer).penalty  # type: ignore[union-attr]


def frozen() -> nn.Module:
    module = NET()
    next(module.parameters()).requires_grad_(False)
    return module


def tied() -> nn.Module:
    layer = nn.Linear(2, 2)
    return nn.Sequential(layer, nn.Tanh(), layer)


def hooked() -> nn.Module:
    module = NET()
    module[0].register_forward_hook(lambda *_: None)  # type: ignore[index, operator]
    return module


@pytest.mark.parametrize(
    ("module", "more", "reason"),
    [
        (Normed(), {}, "no sequence"),
        (nn.Sequential(nn.Linear(2, 4), nn.LayerNorm(4), nn.Linear(4, 2)), {}, "LayerNorm"),
        (nn.Sequential(nn.Linear(2, 4), nn.GELU("tanh"), nn.Linear(4, 2)), {}, "GELU"),
        (nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.ReLU(), nn.Linear(4, 2)), {}, "ReLU"),
        (frozen(), {}, "not trained"),
        (tied(), {}, "Linear"),
        (hooked(), {}, "hooks"),
        (NET(), {"optimizer": SignSGD(lr=0.1)}, "SignSGD"),
        (NET(), {"optimizer": SGD(lr=0.1, clip=1.0)}, "clip"),
        (NET(), {"penalty": VectorVariance()}, "squared norm"),
        (NET(), {"task": ToyTask(loss="squared tanh")}, "cross-entropy"),
        (Perceptron(widths=(2, 300, 300, 2))(), {}, "do not fit the chip"),
        (Perceptron(widths=(2, *[64] * 12, 2))(), {}, "do not fit the registers"),
        (Perceptron(widths=(2, 128, 128, 2))(), {}, "too wide"),
    ],
)
def test_what_has_no_program_says_why(module: nn.Module, more: dict[str, Any], reason: str) -> None:
    assert reason in str(program(module, **more))


def test_a_loss_is_known_by_its_operations() -> None:
    outputs, labels, numbers = torch.zeros(4, 3), torch.zeros(4, dtype=torch.int64), torch.zeros(4, 3)
    weights = torch.ones(3)
    assert loss_of(cross_entropy, outputs, labels) == "cross entropy"
    assert loss_of(lambda a, b: (a - b).square().mean(-1), outputs, numbers) == "squared error"
    assert loss_of(lambda a, b: nn.functional.mse_loss(a, b, reduction="none").mean(1), outputs, numbers)
    for other in (
        lambda a, b: squared_error(a, b) / 2,
        lambda a, b: (a - b).abs().mean(-1),
        lambda a, b: ((a - b).square() * weights).mean(-1),
        lambda a, b: (a - b).square().sum(-1),
    ):
        assert loss_of(other, outputs, numbers) is None
    assert loss_of(lambda a, b: cross_entropy(2 * a, b), outputs, labels) is None
    assert loss_of(lambda a, b: nn.functional.cross_entropy(a, b, reduction="none", label_smoothing=0.1), outputs,
                   labels) is None  # fmt: skip


@pytest.mark.parametrize("units", [1, 4, 5, 16, 18, 33, 100, 128, 130, 784, 1000])
def test_blocks_hold_every_unit_once(units: int) -> None:
    found = blocks(units)
    assert [block.start for block in found] == [sum(b.size for b in found[:i]) for i in range(len(found))]
    assert sum(b.size for b in found[:-1]) < units <= sum(b.size for b in found)
    assert all(b.size == 1 or (b.size >= 16 and b.size & (b.size - 1) == 0) for b in found)
    assert not any(b.filled for b in found[:-1])


def test_what_a_gpu_has_no_room_for_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    training, asked = Training(NET, fixed_task(), steps=1, batch_size=8, device="cpu"), []

    def advance(self: Fused, inputs: tuple[torch.Tensor, ...], *rest: Any) -> torch.Tensor:
        asked.append([tuple(part.shape) for part in inputs])
        raise RuntimeError("out of resource: shared memory")

    monkeypatch.setattr(Fused, "advance", advance)
    assert engine._misfit(training, [0, 1]) == "out of resource: shared memory"
    assert asked == [[(24, 2), (1, 2, 8)]], "all rows, and which of them"


def test_without_a_gpu_or_triton_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    with pytest.raises(InputError, match="fused strategy needs"):
        short(strategy="fused")
    assert short().notes["strategy"] == "stacked"
