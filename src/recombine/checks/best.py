"""Which combination is best: asked ones with the largest or smallest answers, and how many cannot be told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from recombine.checks.expected import shown

if TYPE_CHECKING:
    from recombine.checks.verdict import CheckResult, Query

SHOWN = 3


def best(result: CheckResult, end: Literal["max", "min"]) -> dict[str, Any]:
    """The first few of the asked combinations and the best seen one. ``alike`` counts the others whose range holds the
    answer of the first: the data do not say which of them is best. Answers of the rule are shrunken towards each other,
    but the first of many was also the luckiest, so it is more likely to disappoint than to please."""
    sign = 1 if end == "max" else -1
    told = [q for q in result.queries if isinstance(q.prediction, (int, float)) and not q.rows]
    order = sorted(told, key=lambda q: -sign * float(q.prediction or 0.0))
    top_answer = float(order[0].prediction or 0.0) if order else 0.0
    ends = [q.high if end == "max" else q.low for q in order[1:]]
    alike = [far for far in ends if far is not None and sign * (far - top_answer) >= 0]
    found: dict[str, Any] = {"end": end, "asked": len(told), "alike": len(alike), "ranged": False, "words": ""}
    if not order or result.answers is None or not result.answers.numeric:
        return found | {"words": "no asked combination has an answer that is a number"}
    found["ranged"] = order[0].low is not None
    found["first"] = [result.combination(q.codes) | {"answer": q.prediction} for q in order[:SHOWN]]
    use = result.answers.count > 0
    mean = result.answers.mean[use]
    top = int((sign * mean).argmax())
    named = ", ".join(map(str, result.combination(result.known.codes[use][top]).values()))
    said = "; ".join(_said(result, q) for q in order[:SHOWN])
    told_apart = (
        "it has no range, so nothing says which others are as good" if not found["ranged"]
        else f"{len(alike):,} of the {len(told) - 1:,} others have a range that reaches it: they cannot be told apart"
        if alike else "no other asked one has a range that reaches it"
    )  # fmt: skip
    luck = "; the first of many is likely to turn out less good than it looks" if len(told) > 1 else ""
    found["words"] = f"{said}; {told_apart}{luck}; the best seen one is {named}, {shown(float(mean[top]))}"
    return found


def _said(result: CheckResult, query: Query) -> str:
    named = ", ".join(map(str, result.combination(query.codes).values()))
    ends = "" if query.low is None or query.high is None else f" ({shown(query.low)} to {shown(query.high)})"
    return f"{named}: {shown(float(query.prediction or 0.0))}{ends}"
