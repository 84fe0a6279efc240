"""By what the errors of a plan are reckoned: the noise of a row, the scale on which effects add up, and the unit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.forecasts.expected import Forecast
from recombine.checks.plans.chances import Chances
from recombine.checks.plans.planned import Units
from recombine.checks.plans.rivals import either, least_squares, rivals
from recombine.checks.plans.translated import Translated
from recombine.checks.plans.uneven import Uneven
from recombine.checks.rules.effects import LEAST_FREEDOM
from recombine.checks.rules.scales import PLAIN, Scale, scaled
from recombine.errors import InputError, NoPlan
from recombine.support.table import Target

if TYPE_CHECKING:
    from recombine.checks.columns.blocks import Shifts

LARGEST_FIT = 30_000_000
"""Combinations × effects up to which the noise of one row is estimated."""
NO_STEPS = "on a rank scale nothing tells what a standard error is in the answer's units, least so beyond the seen ones"
"""Why an error in the answer's units is not planned for."""


@dataclass(frozen=True, eq=False)
class Reckoned:
    """By what; as it is: in units of the noise of one row."""

    noise: float = 1.0
    """Of one row, on the scale."""
    freedom: float | None = None
    """Degrees of freedom that it was estimated with; None where it was given or is the unit."""
    rule: str | None = None
    """The rule around which it was estimated."""
    units: Units = "noise"
    scale: str | None = None
    """The scale on which effects add up, where it is not the answer's own."""
    typical: float | None = None
    """How far a small step on this scale moves a typical answer."""
    translated: Translated | Chances | None = None
    """What standard errors on the scale are in the units of the error to reach."""
    untold: str = ""
    """Why that cannot be told."""
    unit: float = 1.0
    """Of one error here, in the answer's units, in which shifts of blocks are."""
    uneven: Uneven | None = None
    """How the noise goes along the answer, of an error to reach where it was estimated."""


def every_way(
    known: Identifiability, target: Target | None, scale: Scale | None, expected: Forecast | None,
    shifts: Shifts | None, error: float | None, noise: float | None, doubted: bool,
) -> list[Reckoned]:  # fmt: skip
    """By all that it may be: of an error to reach on the scales, too, that the seen answers do not tell from this one,
    or for every class; where effects are ``doubted`` to add up on any, and nothing is promised, on this one alone."""
    if error is not None and target is not None and target.classes is not None:
        return _classes(known, target, target.classes, error, noise)
    first = _numbers(known, target, scale, expected, shifts, error, noise)
    if error is None or target is None or first.units != "answer" or first.untold or doubted:
        return [first]
    others = rivals(known, target, scale, shifts is not None)
    if shifts is not None and others:
        own = f"shifts of {shifts.name} are in the answer's own units"
        why = f"the seen answers do not tell whether effects {either(scale, others)}, and {own}"
        return [replace(first, untold=why)]
    more = (_numbers(known, target, None if s is PLAIN else s, None, None, error, noise) for s in others)
    return [first, *(way for way in more if way.units == "answer")]


def _classes(
    known: Identifiability, target: Target, classes: Sequence[str], error: float, noise: float | None
) -> list[Reckoned]:
    """For the chance of each class against all others; of two it is one and the same."""
    if len(classes) < 2:
        raise NoPlan("rows until an error are planned for answers of two classes or more, and here is 1.")
    if len(known.codes) * known.rank > LARGEST_FIT:
        raise NoPlan("the table is too large to plan for an error in the chance of a class; give a budget.")
    if noise is not None:
        raise InputError("the noise of a class follows from its chance; leave the noise out.")
    if error >= 0.5:
        raise InputError(f"the error to reach is {error:g}, in the chance of a class; give less than 0.5.")
    some = range(len(classes) if len(classes) > 2 else 1)
    return [Reckoned(units="chance", translated=Chances.of(known, target, c)) for c in some]


def _numbers(
    known: Identifiability, target: Target | None, scale: Scale | None, expected: Forecast | None,
    shifts: Shifts | None, error: float | None, given: float | None,
) -> Reckoned:  # fmt: skip
    """Of answers that are numbers, on one scale; the noise is that around the rule of the forecast, or of least
    squares."""
    left, freedom = _noise(known, target) if expected is None else (expected.noise, expected.noise_freedom)
    noise, rule = given or left, None if given or not left else "additive" if expected is None else expected.rule
    free = None if rule is None or freedom is None else max(freedom - (0 if shifts is None else shifts.lost), 1.0)
    if not noise:
        return Reckoned(scale=None if scale is None else scale.name)
    if scale is None:
        judged = target is not None and error is not None and not given
        uneven = Uneven.of(known, target) if target is not None and judged else None
        return Reckoned(noise, free, rule, "answer", uneven=uneven)
    if shifts is not None and error is not None:
        why = f"effects add up on a {scale.name} scale, and shifts of {shifts.name} are in the answer's own units"
        return Reckoned(noise, free, rule, "answer", scale.name, untold=why)
    if target is None or (error is None and scale.name != "log"):
        return Reckoned(1.0, None, None, "noise", scale.name, unit=noise)
    if error is not None and scale.steepest is None:
        return Reckoned(noise, free, rule, "answer", scale.name, untold=NO_STEPS)
    there = scaled(target, scale)
    typical, (share, own) = _step(there, scale), (None, None) if given else _noise(known, there)
    noise, freedom = (share, own) if share else (noise / typical, freedom)
    free = None if rule is None or freedom is None else max(freedom - (0 if shifts is None else shifts.lost), 1.0)
    if error is None:
        return Reckoned(noise, free, rule, "share", scale.name, typical, unit=typical)
    rule = None if rule is None else f"additive on a {scale.name} scale"
    told = Translated(known, there, scale, noise, None if given else freedom, error)
    return Reckoned(noise, free, rule, "answer", scale.name, typical, told)


def _step(there: Target, scale: Scale) -> float:
    """How far a small step on the scale moves an answer in the middle of the seen ones: on a log scale the answer."""
    middle, small = float(np.average(there.mean, weights=there.count)), 1e-3
    return float(scale.back(np.array(middle + small)) - scale.back(np.array(middle - small))) / (2 * small)


def _noise(known: Identifiability, target: Target | None) -> tuple[float | None, float | None]:
    """The standard deviation of one row around the fit, and its degrees of freedom, where the table has answers enough
    to tell."""
    large = len(known.codes) * known.rank > LARGEST_FIT
    if target is None or target.classes is not None or int(target.count.sum()) - known.rank < LEAST_FREEDOM or large:
        return None, None
    left, freedom = least_squares(known, target)
    return (math.sqrt(left / freedom), freedom) if left else (None, None)
