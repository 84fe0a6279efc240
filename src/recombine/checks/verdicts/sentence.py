"""A check in a few sentences: the error to expect, what the verdict says, and what both suppose."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from recombine.checks.as_read import apart
from recombine.checks.forecasts.forecast_words import against_many, less_than_sums, pairs_asked, substituted
from recombine.checks.headed import gists
from recombine.checks.verdicts.doubt import DOUBT, against, evidence, not_shown

if TYPE_CHECKING:
    from recombine.checks.verdicts.verdict import CheckResult

REPLACED = "levels that answered alike wherever both were seen replace each other, whether or not effects add up"
LIKE_THE_SEEN = (
    "The forecast supposes that the asked combinations behave like the seen ones and are not missing because of their "
    "answers"
)
PER_ROW = "This log loss is that of one row, averaged over combinations that count alike."


def paragraphs(result: CheckResult) -> tuple[str, ...]:
    """What to read first: the error to expect; what the verdict rests on and what speaks against it; what the forecast
    supposes. Without a forecast the second alone."""
    said = _verdict_words(result)
    if result.units:
        said += " Mend these first: error and answers count them as they are."
    elif result.slips:
        said += " A seen answer may be a slip, a note names it: look at that first."
    said += gists(result.notes)
    if result.asked.endswith("not asked about"):  # who left one cell blank may have meant all that is missing
        said += f" Asked about are only {result.asked} (--grid, grid=True)."
    if result.forecast is None:
        return (said,)
    of = f"This is of {result.of_means}{against_many(result.forecast)}. " if result.of_means else ""
    of += "" if result.shifts is None else result.shifts.others(result.forecast)
    of += f"{PER_ROW} {_wrong(result)} " if result.forecast.metric == "log loss" else ""
    of += f"Substitution: {REPLACED}; it {substituted(result.forecast)}. " if result.rule == "substitution" else ""
    corner = result.forecast.corner
    but = f", but {corner.words}" if corner is not None and corner.words not in said else ""
    by_answer = result.forecast.by_answer
    but = f", but {by_answer.words}" if by_answer is not None and by_answer.words not in said else but
    tried = "" if result.forecast.early is None else f" {result.forecast.early.words}"
    return f"{_open(result)}{result.expected} {of}".rstrip(), said, f"{LIKE_THE_SEEN}{but}.{tried}"


def _open(result: CheckResult) -> str:
    """How many of the asked combinations the forecast is not for, since nothing tells their answers."""
    counts = result.counts or {}
    left = sum(counts.values()) - sum(counts.get(name, 0) for name in ("seen", "determined"))
    if result.determined or not left:
        return ""
    return f"{left:,} of the {result.total:,} asked combinations {'is' if left == 1 else 'are'} not determined. "


def _wrong(result: CheckResult) -> str:
    """How often the likeliest class was wrong, for who cannot read a log loss."""
    found = result.forecast
    if found is None or found.wrong is None or found.wrong_constant is None:
        return ""
    rule, same = apart(found.wrong, found.wrong_constant, share=True)
    said = f"On combinations left out, which count alike, its likeliest class was wrong in {rule}"
    said += f", the commonest in {same}"
    if found.wrong <= found.wrong_constant:
        return f"{said}."
    chances = ": it tells the chances of classes better, not which is the likeliest."
    return said + (chances if found.beats else ": for a class alone take the commonest.")


def _verdict_words(result: CheckResult) -> str:
    """What the worst status of all asked combinations says of them."""
    if result.worst == "seen":
        return "Every combination asked about was seen in training."
    if result.worst == "determined":
        return _determined(result)
    if result.worst == "extrapolation":
        return _extrapolated(result)
    missing = result.rank_needed - result.rank_train
    cells = f"{missing:,} further combination{'s' if missing != 1 else ''}"
    how = f"would determine {result.reached('all of them')}"
    how = how if result.advice.enough else "would be needed, but no allowed set suffices"
    caveat = f" if {result.assumes}" if result.doubt or result.worst == "unseen level" else ""
    caveat += f", {DOUBT[result.doubt]} ({against(result)})" if result.doubt else ""
    if result.worst == "undetermined":
        return f"Some combinations are not determined by this data even if {result.assumes}; {cells} {how}{caveat}."
    return f"Some combinations use levels that training never shows; {cells} {how}{caveat}."


def _determined(result: CheckResult) -> str:
    """That sums would answer everything, and what the seen answers say of sums."""
    every = f"Every combination asked about is determined if {result.assumes}"
    if result.additivity is None:
        return f"{every}."
    if result.rescaled is not None and result.scale is not None and not result.doubt:
        scaled = f"on the {result.scale} scale ({result.rescaled.evidence or result.rescaled.test})"
        rejected = result.additivity.rejected
        plain = f"it is ({evidence(result)})" if rejected else f"that is not shown: {not_shown(result)}"
        return f"{every}: adding up is not rejected {scaled}; in the answer's own units {plain}."
    if result.verdict == "assumption rejected" and result.rule == "surface":
        answers = "the answers are those of a surface of lines, squares and products"
        return f"The seen combinations contradict effects that add up ({evidence(result)}); {answers} instead."
    if result.verdict == "assumption rejected":
        return f"{every}, which the seen combinations contradict ({evidence(result)})."
    if result.verdict == "determined":
        how = f" ({result.additivity.how})" if result.additivity.how else ""
        how += ", which single rows hardly test" if result.additivity.alone else ""
        return f"{every}, and the seen combinations do not contradict that{how}{_on_scale(result)}{_rather(result)}."
    return f"{every}, but that is not shown{result.for_some}: {not_shown(result)}."


def _on_scale(result: CheckResult) -> str:
    """The scale on which sums are recommended: the best, or that on which answers are likelier."""
    told = result.forecast
    if told is None or told.scale is None:
        return ""
    plain = next((rule.error for rule in told.rules if rule.rule == "additive"), math.inf)
    if plain >= told.error and (told.scale_told or not math.isfinite(plain)):
        return f"; adding up does best on a {told.scale.name} scale"
    less = " against ".join(apart(told.error, plain))
    if plain >= told.error:
        return f"; on a {told.scale.name} scale it erred less ({less}), though that may be chance"
    return f"; on a {told.scale.name} scale the seen answers are likelier, if forecast no better ({less})"


def _rather(result: CheckResult) -> str:
    """Which answers to take where sums are not contradicted and another rule answers."""
    found = result.forecast
    sums = ("additive", "constant", "pairs" if result.order > 1 else "additive")
    if found is None or found.assumed is None or found.rule.startswith(sums):
        return ""
    if not (less := less_than_sums(found)) or found.error >= found.assumed.error:
        as_much = f"; the answers given are of the rule “{found.rule}”, which errs about as much as sums"
        return as_much + (f" ({less})" if less else "") + pairs_asked(found)
    less = f"it erred less on combinations left out ({less}), though that may be chance"
    return f"; take the answers given, of the rule “{found.rule}”: {less}{pairs_asked(found)}"


def _extrapolated(result: CheckResult) -> str:
    """That numbers lie outside the seen range, and what is known even inside."""
    even = "already" if result.doubt == "rejected" else "even inside"
    said = f", {DOUBT[result.doubt]} {even} ({against(result)})" if result.doubt else ""
    bent = "; the answers are those of the rule “curved”, whose curve was not tried there"
    said += bent if result.rule == "curved" else ""
    where = f"Some numbers asked about lie outside {_ranges(result)}"
    return f"{where}: answers there hold only if {result.assumes} that far out{said}."


def _ranges(result: CheckResult) -> str:
    """What training shows of each number."""
    seen = [(result.space.factors[k], curve.seen) for k, curve in result.known.curves.items()]
    ends = [(f.name, *((f.levels or ())[int(s[i])] for i in (0, -1))) for f, s in seen]
    beside = "" if result.order == 1 else ", or outside what it shows with their other levels"
    return "what training shows (" + ", ".join(f"{n} {a:g} to {b:g}" for n, a, b in ends) + ")" + beside
