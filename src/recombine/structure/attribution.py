"""Where a gradient would look for a part: weights that matter to one subroutine's answers and not to the others'.

A weight matters to a problem by |w · ∂s/∂w|, s the score of the right answer less the mean of the others (of its
subroutine's own, where subroutines have different ones): what removing it would change, to first order (Mozer &
Smolensky 1989). No mask is trained, so this takes a moment; it is reported beside the search, which it must not beat.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from recombine.structure.answers import own_answers
from recombine.structure.calling import arguments, device_of, evaluating, precision
from recombine.structure.choose import Choice, chosen
from recombine.structure.masks import Mask
from recombine.structure.subroutines import Subroutine
from recombine.tasks import Problems
from recombine.training.stack import cast

PROBLEMS = 48


def attribution_masks(
    model: nn.Module,
    subroutines: Sequence[Subroutine],
    choice: Choice = Choice(),  # noqa: B008 - frozen
    problems: int = PROBLEMS,
) -> list[Mask]:
    """For each subroutine the weights that matter more to its own problems than to those of any other, as shares of
    what matters to each."""
    names = list(chosen(model, choice))
    asked = [subroutine.validation.rows(slice(0, problems)) for subroutine in subroutines]
    shares = [_shares(model, part, names, own) for part, own in zip(asked, own_answers(subroutines), strict=True)]
    found = []
    for i, own in enumerate(shares):
        others = [share for j, share in enumerate(shares) if j != i]
        found.append(Mask({name: own[name] > torch.stack([o[name] for o in others]).amax(0) for name in names}))
    return found


def _shares(model: nn.Module, problems: Problems, names: Sequence[str], answers: Sequence[int]) -> dict[str, Tensor]:
    known = dict(model.named_parameters(remove_duplicate=False))
    weights = [known[name] for name in names]
    asked = [(w, w.requires_grad) for w in weights]
    total = [torch.zeros_like(w) for w in weights]
    device, dtype = device_of(model), precision(model)
    try:
        for weight in weights:
            weight.requires_grad_(True)
        with evaluating(model), torch.enable_grad():
            for i in range(len(problems)):
                parts = tuple(cast(part[i : i + 1].to(device), dtype) for part in problems.parts)
                positional, named = arguments(problems.inputs, parts)
                scores = model(*positional, **named)[0]
                right = int(problems.targets[i])
                heard = scores[list(answers)] if len(answers) > 1 else scores
                margin = scores[right] - (heard.sum() - scores[right]) / (len(heard) - 1)
                slopes = torch.autograd.grad(margin, weights, allow_unused=True)
                for place, weight, slope in zip(total, weights, slopes, strict=True):
                    if slope is not None:
                        place += (weight * slope).abs().detach()
    finally:
        for weight, before in asked:
            weight.requires_grad_(before)
    whole = sum(float(part.sum()) for part in total) or 1.0
    return {name: part / whole for name, part in zip(names, total, strict=True)}
