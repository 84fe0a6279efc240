"""Masks of each factor's share of the answer: in a network of two separate halves, and in one that mixes them."""

from __future__ import annotations

from collections import OrderedDict

import pytest
import torch
from torch import Tensor, nn

from recombine.errors import InputError
from recombine.structure import modularity
from recombine.structure._modularity import NOT_ASKED, asked_loss, only, shown
from recombine.tasks import ToyTask, cross_entropy
from recombine.tasks.two_factors import LEVELS, DigitTask, SumsTask
from recombine.training import Ensemble

WIDTH = 2 * LEVELS


def two_layers(hidden: Tensor, readout: Tensor) -> Ensemble:
    def build() -> nn.Module:
        return nn.Sequential(
            OrderedDict(
                hidden=nn.Linear(WIDTH, WIDTH, bias=False),
                relu=nn.ReLU(),
                readout=nn.Linear(WIDTH, WIDTH, bias=False),
            )
        )

    return Ensemble.of({"hidden.weight": hidden[None], "readout.weight": readout[None]}, (4,), build)


def test_a_part_that_stands_alone_can_be_taken_out() -> None:
    task = SumsTask(offsets=(0, 1))
    halves = two_layers(torch.eye(WIDTH), task._vectors.reshape(WIDTH, WIDTH).T.contiguous())
    found = modularity(halves, task, epochs=30).row(0, named=True)
    assert found["member"] == 4
    assert found["passed"] == 1.0
    assert found["d_abl"] < -0.8
    assert found["d_sub"] > 0.5
    assert found["density"] < 0.5


def test_a_network_that_mixes_everything_does_not_come_apart() -> None:
    task = SumsTask(offsets=(0, 1))
    turned = torch.linalg.qr(torch.randn(WIDTH, WIDTH, generator=torch.Generator().manual_seed(0)))[0]
    # ReLU is kept open by a constant that the readout takes off again, so only the basis is mixed.
    mixed = two_layers(turned + 1.0, task._vectors.reshape(WIDTH, WIDTH).T @ torch.linalg.inv(turned + 1.0))
    found = modularity(mixed, task, epochs=30).row(0, named=True)
    assert found["passed"] == 1.0
    assert -0.2 < found["d_abl"] < 0.1


def test_only_what_is_asked_counts() -> None:
    levels = torch.tensor([[3, 7], [1, 2]])
    assert only(levels, 1).tolist() == [[NOT_ASKED, 7], [NOT_ASKED, 2]]
    scores = torch.randn(2, 20, generator=torch.Generator().manual_seed(0))
    task = DigitTask(offsets=(0,))
    loss = asked_loss(task.says, scores, only(levels, 1))
    assert loss.tolist() == pytest.approx(cross_entropy(scores[:, 10:], levels[:, 1]).tolist())


def test_masks_see_seen_combinations_alone_and_learn_from_training_images() -> None:
    task = DigitTask(offsets=(0, 5))
    learnt, levels = shown(task, 40, "to learn", torch.device("cpu"), 0)
    fresh, again = shown(task, 40, "to measure", torch.device("cpu"), 0)
    assert levels.tolist() == again.tolist()
    assert len({tuple(row) for row in levels.tolist()}) == 20
    assert task.train.contains(levels.numpy()).all()
    assert not torch.equal(learnt, fresh)


def test_a_task_whose_answers_have_no_parts_is_refused() -> None:
    with pytest.raises(InputError, match="parts of its answers"):
        modularity(two_layers(torch.eye(WIDTH), torch.eye(WIDTH)), ToyTask())
