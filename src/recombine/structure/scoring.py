"""What a mask is worth: accuracies on its own subroutine and on the others, with the part alone and without it.

    D_sub = acc(part alone, target) − acc(part alone, other)        near +.75 where the part does the target alone
    D_abl = acc(without it, target) − acc(without it, other)        near −.75 where it can be taken out

each accuracy no lower than chance (Lepori et al. 2023); without that floor they are the *raw* differences. With more
than two subroutines, other is the mean over the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from torch import nn

from recombine.structure.answers import own_answers
from recombine.structure.calling import accuracy
from recombine.structure.evaluate import Removal, ablated, same_size, subnetwork
from recombine.structure.masks import Mask
from recombine.structure.subroutines import Subroutine

Split = Literal["validation", "test"]
OTHER_REMOVALS: tuple[Removal, ...] = ("mean", "random")


def accuracies(model: nn.Module, subroutines: Sequence[Subroutine], split: Split = "test") -> list[float]:
    """The accuracy on the problems of each subroutine.

    Where subroutines have different answers, an answer is the largest among the subroutine's own: one class for two
    things at once is otherwise wrong about both as soon as one of them is removed."""
    answers = own_answers(subroutines)
    return [accuracy(model, getattr(s, split), among=own) for s, own in zip(subroutines, answers, strict=True)]


def difference(found: Sequence[float], target: int, chance: float | None) -> float:
    """Target minus the mean of the others, each no lower than ``chance`` where that is given."""
    floor = -np.inf if chance is None else chance
    values = [max(value, floor) for value in found]
    others = [value for i, value in enumerate(values) if i != target]
    return float(values[target] - np.mean(others))


def scores(alone: Sequence[float], without: Sequence[float], target: int, chance: float) -> dict[str, float]:
    """The columns of one mask: four accuracies and both differences, with the floor and without."""
    others = [i for i in range(len(alone)) if i != target]
    return {
        "sub_target": alone[target],
        "sub_other": float(np.mean([alone[i] for i in others])),
        "abl_target": without[target],
        "abl_other": float(np.mean([without[i] for i in others])),
        "d_sub": difference(alone, target, chance),
        "d_abl": difference(without, target, chance),
        "d_sub_raw": difference(alone, target, None),
        "d_abl_raw": difference(without, target, None),
    }


def examine(
    model: nn.Module, mask: Mask, subroutines: Sequence[Subroutine], target: int, chance: float, passing: float = 0.0
) -> tuple[dict[str, Any], list[list[float]]]:
    """All that is measured of one mask, as columns, and the two rows it adds to the matrix of mask × subroutine.

    What is left without the part is also measured on the problems for choosing and, where the part does its own (at
    least ``passing``), with what is removed set to the mean of its parameter or drawn anew instead of zero."""
    alone, without = subnetwork(model, mask), ablated(model, mask)
    own = accuracy(alone, subroutines[target].passing, among=own_answers(subroutines)[target])
    both = [accuracies(part, subroutines) for part in (alone, without)]
    row: dict[str, Any] = {"passing": own, "passed": own >= passing, **scores(both[0], both[1], target, chance)}
    row["val_d_abl"] = difference(accuracies(without, subroutines, "validation"), target, chance)
    for removal in OTHER_REMOVALS if row["passed"] else ():
        found = accuracies(ablated(model, mask, removal), subroutines)
        others = [value for i, value in enumerate(found) if i != target]
        row |= {f"{removal}_target": found[target], f"{removal}_other": float(np.mean(others)),
                f"{removal}_d_abl": difference(found, target, chance)}  # fmt: skip
    return row, both


def examine_random(
    model: nn.Module, mask: Mask, subroutines: Sequence[Subroutine], target: int, chance: float, draws: int
) -> list[dict[str, Any]]:
    """The same accuracies for random masks that keep as many weights of each parameter, drawn from all of them or,
    where there is room, from what the mask does not keep."""
    rows = []
    room = all(2 * int(part.sum()) <= part.numel() for part in mask.keep.values())
    for role, outside in (("same size", False), ("same size, outside", True)):
        if outside and not room:
            continue
        for draw in range(draws):
            other = same_size(mask, draw, outside)
            alone, without = (accuracies(m, subroutines) for m in (subnetwork(model, other), ablated(model, other)))
            rows.append({"role": role, "seed": draw, **scores(alone, without, target, chance)})
    return rows
