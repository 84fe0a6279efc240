"""Conditions that make a check fail, as ``--fail-on`` names them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from recombine.errors import InputError, unknown

if TYPE_CHECKING:
    from recombine.checks.verdicts.verdict import CheckResult

KNOWN = ("undetermined", "assumption", "slip", "error=NUMBER", "high=NUMBER")


def met(result: CheckResult, condition: str) -> bool:
    """Whether a check is what this condition says: `CheckResult.fails` tells what each means."""
    if condition == "undetermined":
        return not result.determined
    if condition == "assumption":
        return result.worst != "seen" and (result.additivity is None or result.doubt is not None)
    if condition == "slip":
        return result.slips > 0
    name, _, value = condition.partition("=")
    if name not in ("error", "high"):
        raise unknown("condition to fail on", condition, KNOWN)
    try:
        most = float(value)
    except ValueError:
        most = math.nan
    if not most >= 0:
        raise InputError(f"cannot fail on {condition!r}; write {name}=NUMBER, in the units of the forecast.")
    return result.worst != "seen" and (result.forecast is None or getattr(result.forecast, f"worst_{name}") > most)
