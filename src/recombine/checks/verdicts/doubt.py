"""What speaks against effects that add up: answers that contradict it, or nothing that shows it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from recombine.checks.adds_up.tested import where_answered
from recombine.checks.as_read import apart, shown
from recombine.checks.forecasts.apart import Apart
from recombine.checks.forecasts.expected import Forecast, RuleError
from recombine.checks.forecasts.forecast_words import less_than_sums

if TYPE_CHECKING:
    from recombine.checks.verdicts.verdict import CheckResult

DOUBT = {"rejected": "which the seen combinations contradict", "unsupported": "which is not shown"}
BESIDE = {"rejected": ", and effects do not simply add up", "unsupported": ", and that effects add up is not shown"}
"""The same for the end of a headline."""
SAME = "the same answer for all"
UNTOLD = "by the forecast the answers may err by more than all seen answers differ"


FAR = 3
"""Times the noise of a mean, by repeated rows, from which an error is far above it: where effects add up it was at most
twice that on planted tables."""


def less_than_safe(result: CheckResult) -> str:
    """What “determined” would hide for the end of a headline: that the test has little power, or that errors are far
    above what repeated rows differ by."""
    found, told, seen = result.rescaled if result.scale else result.additivity, result.forecast, result.answers
    if found is None:
        return ""
    if found.alone:
        return ", though adding up is hardly tested"
    if told is None or seen is None or seen.scatter is None or told.metric != "rmse" or told.shared:
        return ""
    rows = seen.count[seen.count > 0]
    noise = seen.scatter * math.sqrt(float((1 / rows).mean()))
    times = told.error / noise if noise > 0 else 0.0
    return f", with errors {shown(times)} times the noise of repeats" if times > FAR else ""


def evidence(result: CheckResult) -> str:
    """The test that contradicts adding up, and its p-value."""
    found = where_answered(result.additivity, result.rescaled)
    if found is None:
        return ""
    return f"on the {found.scale} scale too: {found.evidence}" if found.scale else found.evidence


def against(result: CheckResult) -> str:
    """What a doubt rests on."""
    return evidence(result) if result.doubt == "rejected" else not_shown(result)


def not_shown(result: CheckResult) -> str:
    """Why nothing shows that effects add up (a test of few combinations may miss what is there); none: it is."""
    return nowhere_shown(result) or ("" if result.forecast is None else _not_shown_of_some(result.forecast))


def nowhere_shown(result: CheckResult) -> str:
    """The same of all that is asked about."""
    found = result.forecast
    if found is None:
        return "it could not be tried on combinations left out, a note says why"
    if found.aliased:
        return "interactions may hide behind single effects (aliased), a note names them"
    if found.unrun is not None:
        return f"{found.unrun.which} in the part of a fraction that was never run, a note says what may hide there"
    if words := spoilt(result):
        return words
    if result.scale is not None and result.doubt:  # what sums do in the answer's own units does not matter then
        return _not_on_its_scale(found)
    return (
        _no_better_than_constant(found)
        or _not_tested(result)
        or _outdone(found)
        or _curves_unknown(found)
        or _too_wide(found)
        or _missing_by_answer(found)
    )


def spoilt(result: CheckResult) -> str:
    """What among the seen answers answers no question, or moves them, so that nothing tried on them holds."""
    if result.units:
        return "some rows seem to be in another unit, a note names them"
    if result.coded:
        return "some answers may be codes for missing, a note names them"
    if result.totals:
        return "some levels are totals of others, a note names them"
    told = result.forecast
    return told.drift.words if told is not None and told.drift is not None and told.drifts else ""


def _not_on_its_scale(found: Forecast) -> str:
    """Why that is not shown of the scale on which effects are said to add up."""
    return (
        _may_be_chance(found)
        if not found.beats
        else (_curves_unknown(found) or _too_wide(found) or _missing_by_answer(found))
    )


def _no_better_than_constant(found: Forecast) -> str:
    """Sums against one answer for all, on combinations left out."""
    tried = found.assumed
    if tried is None:
        return ""
    if (tried.explained or 0.0) <= 0 or found.rule == "constant":
        return f"on combinations left out it is not clearly better than {SAME}"
    return "" if tried.beats else f"on combinations left out it errs {_less(found, tried)}"


def _not_tested(result: CheckResult) -> str:
    """What the test of adding up leaves open, here or on the scale where sums do best."""
    found, there = result.additivity, result.rescaled
    if found is not None and found.open:
        return found.words.rstrip(".")
    if there is not None and there.rejected:
        where = f"on the {there.scale} scale, where sums do best"
        return f"{where}, the seen combinations contradict them ({there.evidence})"
    if found is not None and found.rejected is None:
        return f"nothing here tests it, {found.words.rstrip('.')}"
    return found.untested if found is not None else ""


def _outdone(found: Forecast) -> str:
    """The recommended rule against one answer for all, and against sums."""
    if found.assumed is None:
        return ""
    if not found.beats:
        return _may_be_chance(found)
    if not found.outdone:
        return ""
    less = less_than_sums(found)
    by = f" ({less})" if less else ", where each counts by its rows"
    return f"on combinations left out the rule “{found.rule}” errs less beyond chance{by}"


def _curves_unknown(found: Forecast) -> str:
    """Where values left out show that a curve is not known between seen ones, or answers take over the slope that a
    number has at other levels."""
    gaps = [
        f"values of {gap.factor} left out show that what it does between seen values is not known (answers there may "
        f"be off by about {shown(gap.error)}, where {gap.factor} moves them by {shown(gap.moves)})"
        for gap in found.gaps
        if not gap.known
    ]
    own = [
        f"{own.number} is asked about beyond what was seen of it with {own.which}, a note says what that may do"
        for own in found.own_ranges
    ]
    return "; ".join([*gaps, *own])


def _too_wide(found: Forecast) -> str:
    """Where the forecast tells nothing."""
    return "" if found.tells else UNTOLD


def _missing_by_answer(found: Forecast) -> str:
    """Where what is asked about may be missing because of its answers."""
    return "" if found.by_answer is None else found.by_answer.words


def _not_shown_of_some(found: Forecast) -> str:
    """Why that is not shown of levels apart, or of a corner."""
    corner = "" if found.corner is None else found.corner.words
    return "; ".join(filter(None, [_untold_words(found.untold), corner]))


def _untold_words(levels: Sequence[Apart]) -> str:
    """What is said of levels apart whose combinations nothing is shown to tell from each other."""
    if not levels:
        return ""
    a, more = levels[0], f", nor for {len(levels) - 1:,} more levels" if len(levels) > 1 else ""
    few = f"{a.name} errs far more than the others and was seen in too few combinations to try it there"
    left = (
        f"combinations of {a.name}, which errs far more than the others, are left out, it errs by {shown(a.left_out)}"
    )
    tried = f"where {left}, one answer for all of {a.name} by {shown(a.own_mean)}"
    return (tried if a.own_mean == a.own_mean else few) + more


def _may_be_chance(found: Forecast) -> str:
    tried = next((rule for rule in found.rules if rule.rule == found.rule), found.rules[0])
    return f"on combinations left out the rule “{found.rule}” errs {_less(found, tried)}"


def _less(found: Forecast, tried: RuleError) -> str:
    """How much less than one answer for all a rule erred there, which may be chance."""
    one, two = apart(tried.uncharged, found.rules[0].uncharged, found.share)
    few = f"which on {found.distinct:,} of them may be chance"
    return f"{'hardly ' if one == two else ''}less than {SAME} ({one} against {two}), {few}"
