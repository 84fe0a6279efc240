"""Answers that may be per cents, though neither their name nor how near they come to 0 and 100 says so.

Where effects are not shown to add up they are taken for per cents and judged again: if log-odds then do best, effects
add up on these, and the error forecast there is clearly smaller, the first lines say how to call the answer.
"""

from __future__ import annotations

from dataclasses import replace

from recombine.checks.as_read import apart
from recombine.checks.asked.queries_asked import Asked
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.forecasts.expected import Forecast
from recombine.checks.headed import Headed
from recombine.checks.judging import Judged, judge
from recombine.support.answers import NEAR_ENDS
from recombine.support.table import Table

CLEARLY = 0.9
"""Times the error forecast that the one on log-odds is, at most, for the first lines to speak of it."""


def per_cents(
    judged: Judged, doubted: bool, known: Identifiability, train: Table, asked: Asked, seed: int
) -> list[str]:
    """How log-odds would be tried, where another rule than adding up is best or effects are not shown to add up, and
    what they would give there."""
    target, told = train.target, judged.forecast
    if target is None or not target.numeric or told is None or target.share:
        return []
    low, high = target.reach
    if low < 0 or not 50 < high <= 100:
        return []
    between = f"{target.name} lies between {low:.3g} and {high:.3g}"
    there = _on_log_odds(known, train, asked, seed) if doubted else None
    if there is not None and there.error < CLEARLY * told.error:
        less = " against ".join(apart(there.error, told.error))
        return [
            Headed(
                f"{between}: taken as per cents, effects add up on log-odds, with a forecast of {less}. If these are "
                f"per cents, write a % sign, or a name that says so ({target.name} per cent), and check again; if not, "
                "this may be chance.",
                f"If {target.name} is in per cent, effects add up on log-odds: write a % sign, or a name that says so "
                f"({target.name} per cent), and check again.",
            )
        ]
    bent = told.scale is not None and told.scale.name == "rank"
    if told.rule == "additive" or not (bent or high > 100 - NEAR_ENDS):
        return []
    named = "write a % sign, or a name that says so (… per cent)"
    return [f"{between}: if these are per cents, {named}, and log-odds are tried."]


def _on_log_odds(known: Identifiability, train: Table, asked: Asked, seed: int) -> Forecast | None:
    """What is forecast of the same answers as per cents, where effects add up on log-odds alone."""
    assert train.target is not None
    anew = judge(known, replace(train, target=replace(train.target, percent=True)), asked, None, (), seed)
    found = anew.forecast
    if found is None or found.scale is None or found.scale.name != "log-odds" or not found.beats or anew.contradicted:
        return None
    return None if anew.rescaled is not None and anew.rescaled.rejected else found
