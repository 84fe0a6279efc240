"""Everything that says how one mask is trained."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field

from recombine.description import Description
from recombine.structure.choose import Choice
from recombine.structure.methods import ContinuousSparsification, Method
from recombine.structure.schedule import Geometric, Temperature
from recombine.training import Adam, Optimizer


class MaskSettings(Description):
    """One mask: method, which weights, optimiser, temperature, penalty, length, seed of the order of problems.

    What is minimised is the mean loss on the problems plus ``penalty`` × the share of maskable weights that the soft
    mask keeps, so a penalty means the same for any number N of maskable weights. The paper's 10⁻⁸ × Σ m is a penalty of
    10⁻⁸·N: .13 for its BERT of 12.85 million weights and .19 to .28 for its ResNet50, which is why .2 is the default;
    ``penalty_on="sum"`` takes the paper's form. Only with Adam is so small a number more than nothing: a weight's
    penalty gradient is λ·β·m(1−m) with λ = penalty/N, at most 2.5·10⁻⁹ at the start for the paper, and Adam divides it
    by its own size plus eps = 10⁻⁸. So λ, optimiser and eps belong together, and all three are in this description.

    With ``target_density`` the penalty is on |density − target|. A mask of which no more than the share
    ``stop_undecided`` of weights is undecided (soft mask between .05 and .95) after an epoch is left as it is from
    then on. ``adversary`` > 0 adds adversary × max(0, ``ceiling`` − loss on the other subroutine's problems): the
    mask is pushed to do those no better than chance, ln 4 for four items; the paper has no such term."""

    kind: ClassVar[str] = "mask settings"

    method: Method = ContinuousSparsification()
    choice: Choice = Choice()
    optimizer: Optimizer = Adam(lr=1e-2)
    temperature: Temperature = Geometric()
    penalty: float = Field(default=0.2, ge=0)
    penalty_on: Literal["mean", "sum"] = "mean"
    target_density: float | None = Field(default=None, gt=0, lt=1)
    epochs: int = Field(default=90, ge=1)
    batch_size: int = Field(default=64, ge=1)
    stop_undecided: float | None = Field(default=None, ge=0, lt=1)
    adversary: float = Field(default=0.0, ge=0)
    ceiling: float = Field(default=1.3862943611198906, gt=0)
    seed: int = 0

    def described(self) -> dict[str, Any]:
        """The description, to be kept with a mask; a choice by a function is kept as its name."""
        if self.choice.where is None:
            return self.describe()
        where = getattr(self.choice.where, "__name__", "a function")
        return self.replace(choice=self.choice.replace(where=None)).describe() | {"where": where}  # type: ignore[no-any-return]


def grid(
    *,
    starts: Sequence[float] = (-0.05, 0.0, 0.05, 0.1),
    choices: Sequence[Choice] = (Choice(),),
    lrs: Sequence[float] = (1e-2, 1e-4),
    penalties: Sequence[float] | None = None,
    base: MaskSettings | None = None,
) -> tuple[MaskSettings, ...]:
    """Every start × choice of layers × learning rate: with three choices the 24 settings of Lepori et al. (2023); ×
    penalty, where these are given."""
    base = base or MaskSettings()
    return tuple(
        base.replace(method=base.method.replace(start=start), choice=choice, optimizer=base.optimizer.replace(lr=lr),
                     penalty=penalty)
        for start, choice, lr, penalty in itertools.product(starts, choices, lrs, penalties or (base.penalty,))
    )  # fmt: skip
