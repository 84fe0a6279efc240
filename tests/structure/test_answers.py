"""Where subroutines have different answers, masks are taught and judged among their own; elsewhere nothing changes."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from recombine.structure import MaskSettings, Protocol, Subroutine, attribution_masks, dissect, find_masks
from recombine.structure.answers import own_answers, own_cross_entropy, taught, with_answers
from recombine.tasks import Problems, cross_entropy
from recombine.training import Adam


def test_other_answers_have_no_say() -> None:
    outputs = torch.randn(5, 4, requires_grad=True)
    targets = torch.tensor([0, 2, 2, 0, 2])
    shown = with_answers(Problems(torch.zeros(5, 1), targets), (0, 2)).targets
    assert shown.tolist() == [[t, 0, 2] for t in targets.tolist()]
    loss = own_cross_entropy(outputs, shown)
    expected = nn.functional.cross_entropy(outputs[:, [0, 2]], targets // 2, reduction="none")
    torch.testing.assert_close(loss, expected)
    loss.sum().backward()
    assert outputs.grad is not None
    assert (outputs.grad[:, [1, 3]] == 0).all()
    assert outputs.grad.isfinite().all()


class Joint(nn.Module):
    """The sign of one number and of another, as one class 2·A + B, from two layers that share nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = nn.Linear(1, 2, bias=False), nn.Linear(1, 2, bias=False)
        with torch.no_grad():
            for part in (self.left, self.right):
                part.weight.copy_(torch.tensor([[-3.0], [3.0]]))

    def forward(self, x: Tensor) -> Tensor:
        return (self.left(x[:, :1])[:, :, None] + self.right(x[:, 1:])[:, None, :]).flatten(1)  # type: ignore[no-any-return]


def asked(column: int) -> Problems:
    """One sign varies; the other is negative."""
    generator = torch.Generator().manual_seed(column)
    x = -(0.3 + torch.rand(200, 2, generator=generator))
    x[:, column] *= torch.randn(200, generator=generator).sign()
    return Problems(x, (2 - column) * (x[:, column] > 0).long())


def parts() -> list[Subroutine]:
    return [Subroutine.of(name, asked(i)) for i, name in enumerate("ab")]


def test_the_answers_of_each_unless_all_have_the_same() -> None:
    both = parts()
    assert own_answers(both) == [(0, 2), (0, 1)]
    problems, loss = taught(both, cross_entropy)
    assert loss is own_cross_entropy
    assert [tuple(p.targets.shape) for p in problems] == [(120, 3), (120, 3)]
    # Of the same answers, and of a loss of one's own, nothing changes.
    assert taught([both[0], both[0]], cross_entropy) == ([both[0].train] * 2, cross_entropy)
    assert taught(both, nn.functional.cross_entropy) == ([p.train for p in both], nn.functional.cross_entropy)


SETTINGS = MaskSettings(epochs=12, batch_size=20, penalty=0.1, optimizer=Adam(lr=0.05))


@pytest.mark.parametrize("strategy", ["loop", "stacked"])
@pytest.mark.parametrize("adversary", [0.0, 0.5])
def test_a_mask_need_not_hold_the_other_part(strategy: str, adversary: float) -> None:
    """Both masks in one stack, each with answers of its own; among all classes the mask would keep the other layer."""
    one, two = (with_answers(asked(i), own) for i, own in enumerate(((0, 2), (0, 1))))
    given: Any = {"loss": own_cross_entropy, "strategy": strategy, "other": [two, one] if adversary else None}
    settings = [SETTINGS.replace(adversary=adversary, ceiling=0.69, seed=seed) for seed in (0, 1)]
    masks = find_masks(Joint(), [one, two], settings, **given, progress=lambda *told: None).masks
    for mask, own, other in zip(masks, ("left", "right"), ("right", "left"), strict=True):
        assert mask.keep[f"{own}.weight"].any()
        assert not mask.keep[f"{other}.weight"].any()


def test_pairs_of_a_joint_classifier_come_apart() -> None:
    """The way the tutorial asks for: rows on which the other rule is held still, classes as they are."""
    result = dissect(Joint(), asked(0), asked(1), names=("a", "b"), protocol=Protocol(settings=(SETTINGS,), seeds=1),
                     controls=False, progress=lambda *told: None)  # fmt: skip
    for name, other in (("a", "right"), ("b", "left")):
        mask = result.mask(name)
        assert mask is not None
        assert not mask.keep[f"{other}.weight"].any()
        part = result.part(name)
        assert part is not None
        assert part.finding == "removable"
    left, right = attribution_masks(Joint(), parts())
    assert left.keep["left.weight"].all()
    assert not left.keep["right.weight"].any()
    assert right.keep["right.weight"].all()
