"""Members that part ways are said to, and no mean of them convicts or acquits all."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from everything_said import everything
from torch import nn

import recombine as rc
from recombine.support import Explicit

SPACE = rc.FactorSpace.of(animal=6, place=6)
TRAIN = Explicit(SPACE, [(i, (i + s) % 6) for i in range(6) for s in (0, 1, 2)])
CODES = torch.as_tensor(SPACE.sample(900, seed=0))
X = nn.functional.one_hot(CODES, 6).flatten(1).float()
TASK = rc.FixedTask(SPACE, TRAIN, ~TRAIN, X, CODES[:, 0], CODES, loss=nn.CrossEntropyLoss())
RIGHT, WRONG, UNFIT = range(3)


class Member(nn.Module):
    """Right everywhere, right where seen alone, or the same everywhere."""

    def __init__(self, kind: int) -> None:
        super().__init__()
        self.kind = nn.Parameter(torch.tensor(float(kind)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        animal, place = x[:, :6].argmax(1), x[:, 6:].argmax(1)
        wrong = torch.where((place - animal) % 6 < 3, animal, (animal + 1) % 6)
        said = torch.where(self.kind == WRONG, wrong, torch.where(self.kind == UNFIT, 0 * animal, animal))
        return 6.0 * nn.functional.one_hot(said, 6).float()


def measured(*kinds: int) -> Any:
    return rc.measure([Member(kind) for kind in kinds], TASK)


@pytest.mark.parametrize("right", [1, 3, 8])
def test_one_wrong_member_convicts_no_other(right: int) -> None:
    result = measured(*[RIGHT] * right, WRONG)
    assert result.verdict == "partly"
    others = "1 composes" if right == 1 else f"{right} compose"
    assert f"by themselves 1 of {right + 1} members fails, {others}" in result.sentence()
    frame = result.members_frame()
    assert frame["verdict"].to_list() == ["composes"] * right + ["fails"]
    assert frame["unseen"].to_list() == [0.0] * right + [1.0]
    assert result.to_dict()["members"]["each"][-1]["verdict"] == "fails"


def test_where_most_fail_or_all_are_alike_the_verdict_stays() -> None:
    most = measured(RIGHT, *[WRONG] * 5)
    assert most.verdict == "fails"
    assert "by themselves 5 of 6 members fail, 1 composes" in most.sentence()
    for kind, verdict in ((RIGHT, "composes"), (WRONG, "fails")):
        alike = measured(*[kind] * 4)
        assert (alike.verdict, "part ways" in everything(alike)) == (verdict, False)
        assert alike.members_frame()["verdict"].to_list() == [None] * 4


def test_below_four_of_five_members_that_fitted_no_verdict_is_given() -> None:
    assert measured(*[RIGHT] * 4, UNFIT).verdict == "composes"
    few = measured(*[RIGHT] * 2, UNFIT)
    assert few.verdict == "unclear"
    assert "only 2 of 3 members fitted" in few.sentence()
