"""Members as branches: the gradients of a stacked step, without a GPU (streams are stood in for)."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest
import torch

from recombine.kernels import problems
from recombine.models import ConvNet
from recombine.tasks import Draws, ImageTask, SymbolicTask
from recombine.training import SGD
from recombine.training.stack import Objective, stack_members
from recombine.training.strategies import Branches, strategy_for
from recombine.training.strategies.stacked import member_step


class Stream:
    def wait_stream(self, other: object) -> None:
        pass


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "Stream", Stream)
    monkeypatch.setattr(torch.cuda, "current_stream", Stream)
    monkeypatch.setattr(torch.cuda, "stream", lambda _: nullcontext())
    monkeypatch.setattr(torch, "compile", lambda recorded, dynamic: recorded)


@pytest.mark.usefixtures("no_gpu")
@pytest.mark.parametrize("name", ["branches", "compiled-branches"])
def test_branches_are_a_stacked_step(name: str) -> None:
    """In double precision, where nothing is rounded to halves."""
    apart, together = steps_of(name, torch.float64)
    for one, other in zip(apart[:2], together[:2], strict=True):
        assert torch.allclose(one, other, atol=1e-12)
    assert len(apart[2]) == len(together[2]) > 0
    for one, other in zip(apart[2], together[2], strict=True):
        assert torch.allclose(one, other)


@pytest.mark.usefixtures("no_gpu")
def test_a_compiled_step_convolves_in_halves() -> None:
    (rows, losses, _), (exact, right, _) = steps_of("compiled-branches", torch.float32)
    assert 1e-5 < float((rows - exact).norm() / exact.norm()) < 0.05
    torch.testing.assert_close(losses, right, rtol=1e-3, atol=1e-3)


def steps_of(name: str, dtype: torch.dtype) -> tuple[Any, Any]:
    """Gradients, losses and buffers of three members after a step as branches, and as a stack."""
    task = ImageTask(symbolic=SymbolicTask.of(**vars(problems.addition([4]))), per_class=10, examples_seen=40)
    model = ConvNet(shape=task.shape, filters=(3, 4), kernel=3, dense=(5,))
    stack = stack_members(model, [0, 1, 2], optimizer=SGD(lr=0.1), seed=0, device=torch.device("cpu"), dtype=dtype)
    inputs, targets = task.batch(Draws.of([0, 1, 2], range(1), 0), 6)
    objective = Objective(task)
    branches = strategy_for(name, stack, objective, False)
    assert isinstance(branches, Branches)
    given = branches._arguments((inputs[0].to(dtype),), targets[0].to(dtype))
    with torch.no_grad():
        return branches._record(given)(*given), member_step(stack, objective, False)(*given)
