"""Which combination is best: asked ones with the largest or smallest answers, and how many cannot be told apart."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from recombine.checks.as_read import per_cent, range_of, shown
from recombine.space import quoted

if TYPE_CHECKING:
    from recombine.checks.asked.query import Query
    from recombine.checks.verdicts.verdict import CheckResult

SHOWN = 3
WANTED = ("yes", "1", "true", "pass", "passed", "ok", "success", "good")
"""Of two classes the one whose chance is meant by “largest”; unless one of them alone is such, it is the rarer."""
NOTHING = "the rule is “constant”: nothing tells the asked combinations apart"


def best(result: CheckResult, end: Literal["max", "min"]) -> dict[str, Any]:
    """The first few of the asked combinations and the best seen one. ``alike`` counts the others whose range holds the
    answer of the first: the data do not say which of them is best. Answers of the rule are shrunken towards each other,
    but the first of many was also the luckiest, so it is more likely to disappoint than to please."""
    if result.answers is None:
        return {"end": end, "words": "no answers are known: give --target"}
    if result.answers.classes is not None:
        return _likeliest(result, end, result.answers.classes)
    sign = 1 if end == "max" else -1
    told = [q for q in result.queries if isinstance(q.prediction, (int, float)) and not q.rows]
    order = sorted(told, key=lambda q: -sign * float(q.prediction or 0.0))
    top_answer = float(order[0].prediction or 0.0) if order else 0.0
    ends = [q.high if end == "max" else q.low for q in order[1:]]
    alike = [far for far in ends if far is not None and sign * (far - top_answer) >= 0]
    found: dict[str, Any] = {"end": end, "asked": len(told), "alike": len(alike), "ranged": False, "words": ""}
    if not order or result.rule == "constant":
        why = "no asked combination has an answer that is a number" if not order else NOTHING
        return found | {"words": why}
    found["ranged"] = order[0].low is not None
    found["first"] = [result.combination(q.codes) | {"answer": q.prediction} for q in order[:SHOWN]]
    use = result.answers.count > 0
    mean = result.answers.mean[use]
    top = int((sign * mean).argmax())
    codes = result.known.codes[use][[top]]
    named = ", ".join(map(str, result.combination(codes[0]).values()))
    said = "; ".join(_said(result, q) for q in order[:SHOWN])
    told_apart = (
        "it has no range, so nothing says which others are as good" if not found["ranged"]
        else f"{len(alike):,} of the {len(told) - 1:,} others have a range that reaches it: they cannot be told apart"
        if alike else "no other asked one has a range that reaches it"
    )  # fmt: skip
    luck = "; the first of many is likely to turn out less good than it looks" if len(told) > 1 else ""
    if math.isinf((order[0].high if end == "max" else order[0].low) or 0.0):
        luck = "; it may be better than all that was seen, by how much a rank scale does not tell"
    found["words"] = f"{said}; {told_apart}{luck}; the best seen one is {named}, {shown(float(mean[top]))}"
    if result.forecast is not None and result.answers.count[use][top] == 1:
        smoothed = float(result.forecast.estimate(codes.astype(np.int64)).answers[0])
        found["words"] += f" in its one row ({shown(smoothed)} smoothed by the rule)"
    return found


def _likeliest(result: CheckResult, end: Literal["max", "min"], classes: tuple[str, ...]) -> dict[str, Any]:
    """Of two classes the asked combinations by the chance of “yes”, “pass” or the like, else of the rarer one."""
    assert result.answers is not None
    told = [q for q in result.queries if q.probabilities and not q.rows]
    found: dict[str, Any] = {"end": end, "asked": len(told)}
    if len(classes) > 2 or not told:
        why = "answers of more than two classes have no largest one: make a column of yes and no for the class you want"
        return found | {"words": why if told else "no asked combination has an answer"}
    if result.rule == "constant":
        return found | {"words": NOTHING}
    shares = (result.answers.mean * result.answers.count[:, None]).sum(axis=0)
    wanted = [c for c in classes if c.strip().lower() in WANTED]
    named, rarer = (wanted[0], "") if len(wanted) == 1 else (classes[int(shares.argmin())], ", the rarer class")
    sign = -1 if end == "max" else 1
    order = sorted(told, key=lambda q: sign * (q.probabilities or {})[named])[:SHOWN]
    first = [result.combination(q.codes) | {"chance": (q.probabilities or {})[named]} for q in order]
    said = "; ".join(
        f"{', '.join(map(str, result.combination(q.codes).values()))}: {per_cent((q.probabilities or {})[named])}"
        for q in order
    )
    other = "the other end, min or max, is by that of the other class"
    return found | {
        "class": named,
        "first": first,
        "words": f"by the chance of {quoted(named)}{rarer}: {said}; {other}",
    }


def _said(result: CheckResult, query: Query) -> str:
    named = ", ".join(map(str, result.combination(query.codes).values()))
    ends = "" if query.low is None or query.high is None else f" ({range_of(query.low, query.high)})"
    return f"{named}: {shown(float(query.prediction or 0.0))}{ends}"
