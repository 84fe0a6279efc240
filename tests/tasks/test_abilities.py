"""What tasks can do is asked for by name, and what every task does has a default."""

from __future__ import annotations

import pytest
import torch

from recombine.tasks import BumpTask, Draws, SpriteTask, Task, ToyBoth, ToyTask, VectorParts
from recombine.tasks.abilities import AnswersInParts, Composed, HasComponents, OnBackground, Pictures, SaysLevels
from recombine.training.remedies import GroupBalanced


@pytest.mark.parametrize(
    ("task", "able"),
    [
        (ToyTask(), set()),
        (ToyBoth(), {AnswersInParts}),
        (VectorParts(), {HasComponents, Composed}),
        (SpriteTask(), {HasComponents, Composed, OnBackground, Pictures}),
        (BumpTask(), {OnBackground, Pictures}),
    ],
)
def test_a_task_can_do_what_it_has(task: Task, able: set[type]) -> None:
    every = (SaysLevels, AnswersInParts, HasComponents, Composed, OnBackground, Pictures)
    assert {ability for ability in every if isinstance(task, ability)} == able


def test_what_every_task_does_has_a_default_and_a_task_around_another_passes_it_on() -> None:
    for task in (ToyTask(), GroupBalanced(task=ToyTask())):
        points = torch.as_tensor(task.train.explicit().codes.copy())
        draws = Draws.single(0)
        assert torch.equal(task.trained_examples(points, draws)[1], task.examples(points, draws)[1])
        assert task.part(0) is None
        views = task.views(draws, 5)
        assert list(views) == ["trained", "unseen"]
        assert all(len(targets) == 5 for _, targets in views.values())
