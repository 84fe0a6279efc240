"""Gradient attribution finds parts that were built in, and a class for two things at once is judged one at a time."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from recombine.structure import Mask, MaskSettings, Protocol, Subroutine, attribution_masks, dissect
from recombine.structure.evaluate import anywhere
from recombine.structure.scoring import accuracies
from recombine.tasks import Problems
from recombine.training import Adam


class Joint(nn.Module):
    """Two halves that share nothing: the sign of one input, the sign of the other. One class for each pair of signs."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.left, self.right = nn.Linear(1, 2, bias=True), nn.Linear(1, 2, bias=True)
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for part in (self.left, self.right):
                part.weight.copy_(torch.tensor([[-3.0], [3.0]]))
                part.bias.copy_(0.1 * torch.randn(2, generator=generator))

    def forward(self, x: Tensor) -> Tensor:
        left, right = self.left(x[:, :1]), self.right(x[:, 1:])
        return (left[:, :, None] + right[:, None, :]).flatten(1)


def asked(column: int, seed: int) -> Problems:
    """One sign varies, the other is held still; the answer is the class of both."""
    generator = torch.Generator().manual_seed(10 + column)
    x = torch.full((120, 2), 1.0 if seed % 2 else -1.0)
    x[:, column] = torch.randn(120, generator=generator).sign() * (0.5 + torch.rand(120, generator=generator))
    return Problems(x, 2 * (x[:, 0] > 0).long() + (x[:, 1] > 0).long())


@pytest.mark.parametrize("seed", range(2))
def test_a_joint_classifier_of_two_halves_comes_apart_whatever_is_left_without_one(seed: int) -> None:
    settings = MaskSettings(epochs=10, batch_size=20, penalty=0.1, optimizer=Adam(lr=0.05))
    protocol = Protocol(settings=(settings,), seeds=1, random=1)
    result = dissect(Joint(seed), asked(0, seed), asked(1, seed), names=("left", "right"), protocol=protocol,
                     controls=False)  # fmt: skip
    assert result.chance == 0.5
    for name in ("left", "right"):
        assert "can be taken out" in result.verdict_of(name)
        assert result.score(name, "attribution") < -0.3
    assert "without controls" in result.verdict
    assert "untrained" not in result.verdict
    assert set(result.masks["role"]) == {"search", "attribution"}


def test_attribution_keeps_the_half_that_an_answer_comes_from() -> None:
    model = Joint(0)
    parts = [Subroutine.of(name, asked(i, 0)) for i, name in enumerate(("left", "right"))]
    left, right = attribution_masks(model, parts)
    assert left.keep["left.weight"].all()
    assert not left.keep["right.weight"].any()
    assert right.keep["right.weight"].all()
    assert all(p.requires_grad and p.grad is None for p in model.parameters())
    assert accuracies(model, parts) == [1.0, 1.0]


def test_a_random_mask_of_the_same_size_may_lie_anywhere() -> None:
    mask = Mask({"a": torch.tensor([True] * 6 + [False] * 4), "b": torch.zeros(10, dtype=torch.bool)})
    drawn = [anywhere(mask, seed) for seed in range(20)]
    assert {m.kept for m in drawn} == {6}
    assert len({int(m.keep["b"].sum()) for m in drawn}) > 1
    assert anywhere(Mask({"a": torch.zeros(3, dtype=torch.bool)}), 0).kept == 0
