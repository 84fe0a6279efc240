"""Greedy decoding: answers known by hand, and that a whole answer is right exactly if every next token is."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import torch
from torch import Tensor, nn

from recombine import measures
from recombine.description import Description
from recombine.errors import InputError
from recombine.models import Seq2Seq, Transformer
from recombine.tasks import Draws, ScanTask, Task, ToyTask
from recombine.training import Adam, Ensemble, train

START, END = 3, 2


class Chain(nn.Module):
    """The next token by the one before it alone: scores by a table (tokens and START × tokens)."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.zeros(4, 3))

    def forward(self, given: Tensor, previous: Tensor) -> Tensor:
        return self.table[previous]


class Answers(ScanTask):
    """Answers of three tokens: 0 and 1 are actions that `structure` takes for one, 2 ends."""

    def views(self, draws: Draws, count: int) -> dict[str, tuple[tuple[Tensor, Tensor], Tensor]]:
        def asked(answer: list[int]) -> tuple[tuple[Tensor, Tensor], Tensor]:
            targets = torch.tensor([answer] * count)
            previous = torch.cat([torch.full_like(targets[:, :1], START), targets[:, :-1]], 1)
            return (torch.ones(count, 2, dtype=torch.int64), previous), targets

        return {"chained": asked([0, 1, END]), "short": asked([1, END, END])}

    def scores(self, outputs: Tensor, targets: Tensor) -> Mapping[str, Tensor]:
        answer = outputs.argmax(-1)
        merged = answer.clamp(min=1) == targets.clamp(min=1)
        return {"accuracy": (answer == targets).all(-1).double(), "structure": merged.all(-1).double()}


def chain(*follows: int) -> Tensor:
    """The table in which each token is followed by the given one."""
    return torch.eye(3)[list(follows)]


def test_answers_by_hand() -> None:
    # START → 0 → 1 → END, and START → 1 → END.
    tables = torch.stack([chain(1, END, END, 0), chain(0, END, END, 1)])
    task = Answers()
    ensemble = Ensemble.of({"table": tables}, (0, 1), Chain)
    for looped in (False, True):
        ensemble.looped = looped
        found = {(m, v): scores for m, v, *scores in measures.decoded(ensemble, task, 4).iter_rows()}
        assert found == {(0, "chained"): [1, 1], (1, "chained"): [0, 0], (0, "short"): [0, 0], (1, "short"): [1, 1]}
    # Told the true 1 after its wrong 0, the first member seems to know that the short answer ends there.
    told = {(m, v): scores for m, v, _, *scores in measures.views(ensemble, task, 4).iter_rows()}
    assert told[0, "short"] == [0, 1]


@pytest.mark.parametrize("model", [Seq2Seq(embedding=8, encoder=4), Transformer(width=8)], ids=["lstm", "transformer"])
def test_a_whole_answer_is_right_if_every_next_token_is(model: Description) -> None:
    task = ScanTask(longest=2, pairs=False)
    ensemble = train(model, task, members=2, steps=40, batch_size=16, optimizer=Adam(lr=0.02), device="cpu")  # type: ignore[arg-type]
    told, alone = measures.views(ensemble, task, 64), measures.decoded(ensemble, task, 64)
    assert alone["accuracy"].to_list() == told["accuracy"].to_list()
    assert 0 < alone["accuracy"].mean() < 1  # type: ignore[operator]


def test_a_task_without_answers_to_continue() -> None:
    task: Task = ToyTask()
    ensemble = train(lambda: nn.Linear(2, 2), task, members=1, steps=0, device="cpu")
    with pytest.raises(InputError, match="greedy decoding needs"):
        measures.decoded(ensemble, task, 4)
