"""Rows of numbers that stand for classes, as one-hot targets do, smoothed or not."""

from __future__ import annotations

from torch import Tensor

ROUNDING = 1e-4


def coded(rows: Tensor) -> bool:
    """Whether each row (… × classes) has one high number and is low elsewhere, with the same two numbers everywhere."""
    numbers = rows.double()
    high, low = numbers.amax(-1, keepdim=True), numbers.amin(-1, keepdim=True)
    near = ROUNDING * float((high - low).amax())
    if near == 0 or max(float(ends.max() - ends.min()) for ends in (high, low)) > near:
        return False
    one = ((numbers - high).abs() <= near).sum(-1) == 1
    rest = ((numbers - low).abs() <= near).sum(-1) == rows.shape[-1] - 1
    return bool((one & rest).all())
