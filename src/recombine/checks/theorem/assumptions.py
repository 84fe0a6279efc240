"""The assumptions of the theorem in words: whether each holds, and where it does not.

A0  the model's C is the data's C                where both are given
A1  C and the components can be differentiated   as they declare; that C is Lipschitz is taken as given
A2  training shows every block that is asked     `compositional_support`
A3  it determines every component's derivative   `sufficient_support`
A4  and one initial point reaches all of it      `connected_support`; that the model is right there is an assumption
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recombine.checks.theorem.compositional_support import Marginal
from recombine.checks.theorem.connected_support import Connectedness
from recombine.checks.theorem.sufficient_support import ComponentSupport

INITIAL = 0.05
"""A learned initial point counts as right below this relative error."""


@dataclass(frozen=True)
class Assumption:
    """One assumption: whether it holds (None: cannot be told from here) and why. Read ``words`` after "holds:", "given
    that" or "fails"."""

    id: str
    name: str
    holds: bool | None
    words: str


def known(composition: str, same: bool) -> Assumption:
    words = f"both by {composition}" if same else f"because the data was not composed by {composition}"
    return Assumption("A0", "the model composes as the data does", same, words)


def differentiable(composition: str, can: bool | None, smooth: bool | None) -> Assumption:
    name, said = "C and the components can be differentiated", {composition: can, "the components": smooth}
    wrong = [what for what, holds in said.items() if holds is False]
    if wrong:
        return Assumption("A1", name, False, f"because {' and '.join(wrong)} cannot be differentiated")
    untold = [what for what, holds in said.items() if holds is None]
    words = f"{' and '.join(untold or said)} can be differentiated"
    return Assumption("A1", name, None if untold else True, words)


def compositional(blocks: Sequence[Marginal], factors: Sequence[Marginal]) -> Assumption:
    name = "training shows every block that is asked for"
    wrong = [m for m in blocks if not m.holds]
    if not wrong:
        drawn = "" if blocks[0].exact else f" ({blocks[0].asked} drawn of each block)"
        return Assumption("A2", name, True, "all asked values are shown" + drawn)
    where = [f"{m.name}{_span(m)}" for m in factors if not m.holds]
    which = f" (its factors: {', '.join(where)})" if where else " (each factor alone is shown)"
    words = " and ".join(f"for {m.name} at {m.asked - m.shown} of {m.asked} asked values" for m in wrong)
    return Assumption("A2", name, False, words + which)


def sufficient(component: ComponentSupport, composition: str, cell: str) -> Assumption:
    name, full = f"training determines how {component.name} changes", f"{component.full:,}"
    if not component.points.any():
        return Assumption("A3", name, False, f"for {component.name}: it never moves alone inside the support")
    if component.holds:
        words = f"rank {full} of {full} at all {len(component.summed)} values, smallest singular value "
        return Assumption("A3", name, True, words + f"{component.weakest.min():.3g}")
    lost = np.unique(component.full - component.summed[component.summed < component.full])
    entries = f"{lost[0]:,}" if len(lost) == 1 else f"{lost[0]:,} – {lost[-1]:,}"
    words = f"for {component.name} at {entries} of {full} entries under {composition}: {_where(component, cell)}"
    if component.solvable:
        words += " in the sum, though stacked Jacobians have full rank and suffice to solve"
    return Assumption("A3", name, False, words)


def connected(found: Connectedness, names: Sequence[str], initial_error: float | None) -> Assumption:
    name = "one initial point reaches every value of every block"
    if not found.holds:
        short = [
            f"{share:.0%} of the values of {k}" for k, share in zip(names, found.reached, strict=True) if share < 1
        ]
        words = f"because the support is in {found.pieces} pieces and one initial point reaches only "
        return Assumption("A4", name, False, words + " and ".join(short))
    if initial_error is None:
        among = f"{found.points:,} combinations" if found.exact else f"{found.points} drawn points"
        words = f"the model is right at one initial point (the support is connected: {among})"
        return Assumption("A4", name, None, words)
    words = f"the learned components are {initial_error:.1%} off at the initial point"
    return Assumption("A4", name, initial_error <= INITIAL, words if initial_error <= INITIAL else f"because {words}")


def _where(component: ComponentSupport, cell: str) -> str:
    """How many cells never show the component, and how many only at some of the sampled values."""
    always, some = component.share_missing == 1, component.share_missing > 0
    channels = component.full // component.missing.shape[1]
    part = "" if (component.missing[:, always] == channels).all() else "all of "
    sometimes = int((some & ~always).sum())
    if not always.any():
        return f"{_many(sometimes, cell)} {part}it at some of {len(component.summed)} values only"
    words = f"{_many(int(always.sum()), cell, 'never ')} {part}it"
    return words + (f", {sometimes:,} at some of {len(component.summed)} values only" if sometimes else "")


def _many(count: int, what: str, how: str = "") -> str:
    return f"{count:,} {what} {how}shows" if count == 1 else f"{count:,} {what}s {how}show"


def _span(marginal: Marginal) -> str:
    if marginal.span is None:
        return ""
    return f" from {marginal.span[0]:.2f} to {marginal.span[1]:.2f}"
