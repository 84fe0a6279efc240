"""The small base networks: how large they are, and that their weights can be kept and read again."""

from __future__ import annotations

from pathlib import Path

import torch

from recombine.runs.training import TrainingRun
from recombine.training import Base, Ensemble, contour_base, sentence_base


def shrunk(base: Base) -> Base:
    task = base.task.replace(problems=32, held_out=8)
    return base.replace(task=task, steps=2, batch_size=4)  # type: ignore[no-any-return]


def test_eight_members_of_each_base_fit_in_a_megabyte() -> None:
    for base, parameters in ((contour_base(), 23_480), (sentence_base(), 29_632)):
        assert sum(p.numel() for p in base.model().parameters()) == parameters
        assert 8 * 4 * parameters < 2**20


def test_weights_are_kept_and_read_again(tmp_path: Path) -> None:
    for base in (shrunk(contour_base()), shrunk(sentence_base())):
        made = base.train([0, 3], progress=lambda done, total: None, device="cpu")
        again = Ensemble.load(made.save(tmp_path / "base.safetensors"), base.model)
        problems = base.task.split("test")
        assert again.members == (0, 3)
        assert torch.equal(again.member(3)(problems.inputs), made.member(3)(problems.inputs))


def test_a_base_can_be_a_run() -> None:
    base = sentence_base()
    run = TrainingRun(
        task=base.task, model=base.model, members=2, steps=1, batch_size=4, optimizer=base.optimizer
    )  # fmt: skip
    assert len(run.address) == 64
    assert run.address != run.replace(task=base.task.replace(seed=1)).address
