"""Each subroutine's own answers: where they differ, a mask is taught and judged among those of its own alone.

A class may stand for two things at once, 2·A + B. Asked about A while B is held at 0, the answers are 0 and 2; a part
for A leaves open what B is, so that one taught to tell all four classes would have to hold B's part as well. Answers
that two subroutines share count for both: each is told from the other answers of the same question.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from recombine.structure.calling import Loss
from recombine.structure.subroutines import Subroutine
from recombine.tasks import Problems, cross_entropy


def own_answers(subroutines: Sequence[Subroutine]) -> list[tuple[int, ...]]:
    """The answers of each subroutine; empty for all where they have the same ones, and every output counts."""
    apart = len({subroutine.answers for subroutine in subroutines}) > 1
    return [subroutine.answers if apart else () for subroutine in subroutines]


def taught(subroutines: Sequence[Subroutine], loss: Loss) -> tuple[list[Problems], Loss]:
    """What masks of each subroutine are trained on, and the loss. Cross entropy hears of the subroutine's own answers
    alone, where these differ; another loss gets outputs and targets as they are."""
    answers = own_answers(subroutines)
    problems = [subroutine.train for subroutine in subroutines]
    if loss is not cross_entropy or not all(answers):
        return problems, loss
    return [with_answers(part, own) for part, own in zip(problems, answers, strict=True)], own_cross_entropy


def with_answers(problems: Problems, answers: Sequence[int]) -> Problems:
    """The problems with all ``answers`` that come into question behind each target, as `own_cross_entropy` wants it."""
    targets = problems.targets
    behind = torch.tensor(answers, dtype=targets.dtype, device=targets.device).expand(*targets.shape, -1)
    return Problems(problems.inputs, torch.cat([targets.unsqueeze(-1), behind], -1))


def own_cross_entropy(outputs: Tensor, targets: Tensor) -> Tensor:
    """The cross entropy among the answers that stand behind each target (… × 1 + answers); other scores have no say."""
    classes = torch.arange(outputs.shape[-1], device=outputs.device)
    own = (targets[..., 1:, None] == classes).any(-2)
    return cross_entropy(outputs.masked_fill(~own, -torch.inf), targets[..., 0])
