"""A task of each member's own: what a member learns is a plain task, whoever is trained beside it."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
import torch

from recombine.errors import InputError
from recombine.kernels import problems
from recombine.measures import leak
from recombine.models import Perceptron
from recombine.tasks import Draws, ImageTask, PerMember, SymbolicTask, ToyTask
from recombine.training import SGD, Record, train

PICTURES = ImageTask(symbolic=SymbolicTask.of(**vars(problems.addition([4]))), per_class=20, examples_seen=170)
OWN = PerMember(task=PICTURES)


class Flat(Perceptron):
    kind = "flat"
    version = 1

    def __call__(self) -> torch.nn.Module:
        return torch.nn.Sequential(torch.nn.Flatten(), super().__call__())


NET = Flat(widths=(128, 8, 1))


def test_members_have_maps_of_their_own_that_hang_on_their_number_alone() -> None:
    maps = {tuple(OWN.of(member)._classes[0].tolist()) for member in range(8)}  # type: ignore[attr-defined]
    assert len(maps) == 8
    assert OWN.of(3) == PerMember(task=PICTURES).of(3)
    assert OWN.of(3) != PerMember(task=PICTURES.replace(seed=1)).of(3)


def test_members_may_have_the_seeds_that_authors_number() -> None:
    numbered = PerMember(task=PICTURES.replace(as_published="own"), numbered=True)
    maps = [numbered.of(member)._classes for member in range(3)]  # type: ignore[attr-defined]
    assert [numbered.of(member).seed for member in range(3)] == [0, 1, 2]  # type: ignore[attr-defined]
    rng = np.random.default_rng(2)
    assert maps[2].tolist() == [rng.permutation(len(row)).tolist() for row in maps[2]]


def test_a_batch_is_that_of_each_members_task() -> None:
    inputs, targets = OWN.batch(Draws.of([5, 2], range(3, 6), 0), 16)
    assert inputs.shape == (3, 2, 16, 2, 8, 8)
    for i, member in enumerate((5, 2)):
        alone, answers = OWN.of(member).batch(Draws.of([member], range(3, 6), 0), 16)
        assert torch.equal(inputs[:, i : i + 1], alone)
        assert torch.equal(targets[:, i : i + 1], answers)


def test_training_and_measures_are_those_of_each_members_task() -> None:
    record = Record("leak", lambda ensemble, task: leak(ensemble, task, count=2), (0, -1))
    how: dict[str, Any] = {"steps": 5, "batch_size": 8, "optimizer": SGD(lr=0.01), "records": [record], "device": "cpu"}
    both = train(NET, OWN, members=[1, 4], **how)
    for member in (1, 4):
        alone = train(NET, OWN.of(member), members=[member], **how)
        row = both.flat[both.position(member)]
        assert torch.allclose(row, alone.flat[0], atol=1e-6)
        found = both.records["leak"].filter(pl.col("member") == member)
        for column in ("slope", "intercept"):
            assert found[column].to_list() == pytest.approx(alone.records["leak"][column].to_list(), abs=1e-5)


def test_what_has_no_answer_is_said() -> None:
    with pytest.raises(InputError, match=r"task\.of"):
        OWN.examples(torch.zeros(1, 2, dtype=torch.int64), Draws.single(0))
    with pytest.raises(InputError, match="no seed"):
        PerMember(task=ToyTask()).of(0)


def test_trained_examples_are_training_images_of_their_class() -> None:
    from recombine.tasks.data import load_images

    images = load_images("digits")
    known = {image.tobytes(): int(c) for image, c in zip(images.train, images.train_classes, strict=True)}
    points = torch.tensor([[0, 3], [8, 2], [4, 4]])
    shown, answers = PICTURES.trained_examples(points, Draws.single(0))
    found = [[known[picture[c : c + 1].numpy().tobytes()] for c in range(2)] for picture in shown]
    assert found == PICTURES._class_of(points).tolist()
    assert answers.flatten().tolist() == [-5.0, 2.0, 0.0]
