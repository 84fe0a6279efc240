"""Vectors of signs whose two products are what the families ask for."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from recombine.errors import InputError
from recombine.tasks import SignProducts

TASK = SignProducts()


def kept(items: Tensor) -> Tensor:
    """Which rules each item keeps, from its entries alone."""
    return torch.stack([items[..., 0] * items[..., 1], items[..., 12] * items[..., 13]], -1) > 0


@pytest.mark.parametrize("which", [0, 1])
def test_families_are_what_they_say(which: int) -> None:
    rows = torch.arange(900)
    rule = TASK.problems("composition", 900, 0)
    odd = kept(rule.inputs)[rows, rule.targets]
    others = kept(rule.inputs).all(-1).sum(1)
    assert others.unique().tolist() == [3]
    # Three kinds of odd item, 300 expected of each, standard deviation 14.
    kinds = (odd.long() @ torch.tensor([1, 2])).bincount(minlength=4).tolist()
    assert kinds[3] == 0
    assert all(240 < kind < 360 for kind in kinds[:3])
    part = TASK.problems("partition", 900, 0, which)
    assert torch.equal((~kept(part.inputs)[..., which]).long().argmax(1), part.targets)
    assert kept(part.inputs)[..., 1 - which].all()
    sub = TASK.problems("subroutine", 900, 0, which)
    assert torch.equal((~kept(sub.inputs)[..., which]).long().argmax(1), sub.targets)
    assert (kept(sub.inputs)[..., which].sum(1) == 3).all()
    # 3,600 free properties: the standard error of their mean is .008.
    assert abs(float(kept(sub.inputs)[..., 1 - which].double().mean()) - 0.5) < 0.04


def test_items_are_signs_and_seeds_and_splits_are_apart() -> None:
    first, again, other = (TASK.problems("subroutine", 64, seed).inputs for seed in (0, 0, 1))
    assert first.shape == (64, 4, 24)
    assert first.abs().eq(1).all()
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert not torch.equal(first, TASK.problems("subroutine", 64, 0, split="test").inputs)
    with pytest.raises(InputError, match="rules 0 and 1"):
        TASK.problems("partition", 4, 0, 2)
