"""Members as branches: the gradients of a stacked step, without a GPU (streams are stood in for)."""

from __future__ import annotations

from contextlib import nullcontext

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


def test_branches_are_a_stacked_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "Stream", Stream)
    monkeypatch.setattr(torch.cuda, "current_stream", Stream)
    monkeypatch.setattr(torch.cuda, "stream", lambda _: nullcontext())
    task = ImageTask(symbolic=SymbolicTask.of(**vars(problems.addition([4]))), per_class=10, examples_seen=40)
    model = ConvNet(shape=task.shape, filters=(3, 4), kernel=3, dense=(5,))
    stack = stack_members(model, [0, 1, 2], optimizer=SGD(lr=0.1), seed=0, device=torch.device("cpu"),
                          dtype=torch.float64)  # fmt: skip
    inputs, targets = task.batch(Draws.of([0, 1, 2], range(1), 0), 6)
    objective = Objective(task)
    branches = strategy_for("branches", stack, objective, False)
    assert isinstance(branches, Branches)
    given = branches._arguments((inputs[0].double(),), targets[0].double())
    apart, together = branches._step(*given), member_step(stack, objective, False)(*given)
    for one, other in zip(apart[:2], together[:2], strict=True):
        assert torch.allclose(one, other, atol=1e-12)
    assert len(apart[2]) == len(together[2]) == len(stack.buffers)
    for one, other in zip(apart[2], together[2], strict=True):
        assert torch.allclose(one, other)
