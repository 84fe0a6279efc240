"""The lines of facts of a check: what was trained on and asked, what was found, and what is to be said of it."""

from __future__ import annotations

from recombine.checks import CheckResult
from recombine.checks.adds_up.tested import where_answered
from recombine.checks.as_read import per_cent, shown
from recombine.checks.forecasts.forecast_words import unlike_shown
from recombine.cli.printing import counted
from recombine.space import about, quoted

FEW = 3
"""Interactions up to which those that are missing are named."""
MOST_COLUMNS = 20
"""Factors up to which combinations are shown as rows of a table."""
MOST_NAMED = 10
"""Levels that are named."""
MOST_PIECES = 5
"""Pieces of training that nothing relates to each other, up to which they are named."""


def facts(result: CheckResult) -> list[tuple[str, str]]:
    """Names and texts: what the verdict rests on, then notes on slips, as nothing holds where there is one; other notes
    last."""
    return [
        *_verdict(result),
        *(("note", slip) for slip in result.notes[: result.slips]),
        *_training_and_asked(result),
        *_coverage(result),
        *_answers(result),
        *(("note", note) for note in result.notes[result.slips :]),
    ]


def _verdict(result: CheckResult) -> list[tuple[str, str]]:
    """What the first line leaves unsaid of the verdict, why some of what is asked is not determined, and what the
    forecast supposes."""
    _, *more = result.paragraphs
    found = list(zip(("verdict", "forecast"), more, strict=False))
    return found[:1] + _apart(result) + found[1:]


def _apart(result: CheckResult) -> list[tuple[str, str]]:
    """Levels that nothing seen relates to the others."""
    if not 1 < len(result.seen_pieces) <= MOST_PIECES or result.determined:
        return []
    pieces = sorted(result.seen_pieces, key=lambda piece: sum(map(len, piece.values())))
    named = [
        " and ".join(f"{name} {_some([quoted(v) for v in levels])}" for name, levels in piece.items())
        for piece in pieces[:-1]
    ]
    seen = f"{named[0]} were seen with each other alone" + (
        f", as were {'; as were '.join(named[1:])}" if named[1:] else ""
    )
    return [("why", f"{seen}: nothing relates them to the others")]


def _training_and_asked(result: CheckResult) -> list[tuple[str, str]]:
    names = result.space.names
    factors = " × ".join(names) if len(names) <= MOST_COLUMNS else f"{len(names)} factors"
    rows, combinations = counted(int(result.row_counts.sum()), "row"), len(result.known.codes)
    return [
        ("training", f"{rows}, {combinations:,} of {count(result.space.size)} combinations of {factors}"),
        ("asked", f"{count(result.total)} combination{'' if result.total == 1 else 's'}: {result.asked}"),
        ("found", _found(result) or "nothing is left to ask"),
    ]


def _found(result: CheckResult) -> str:
    """How many combinations, or which share of them, have each status."""
    sampled = {name: per_cent(share, 1) for name, share in (result.share or {}).items() if share}
    counts = {name: count(n) for name, n in (result.counts or {}).items() if n}
    found = ", ".join(f"{much} {name}" for name, much in (sampled if result.counts is None else counts).items())
    found += " (sampled)" if result.counts is None else ""
    if result.doubts_some and len(result.queries) == result.total:
        found += f", {sum(bool(result.doubt_of(q)) for q in result.queries):,} of them in doubt"
    return found


def _coverage(result: CheckResult) -> list[tuple[str, str]]:
    """What training lacks: effects, levels, and pairs and triples of levels."""
    settled = result.rank_train >= result.rank_needed
    found = [] if settled else [("rank", f"{result.rank_train:,} of {result.rank_needed:,} needed")]
    found += [("unseen", f"{name}: {_some([quoted(v) for v in vs])}") for name, vs in result.unseen_levels.items()]
    for t in (2, 3):
        possible, seen, missing = result.coverage.total(t)
        named = _named(result, t) if missing <= FEW and t < len(result.space) else ""
        if possible and (named or not settled):
            words = f"{seen:,} of {possible:,} interactions seen, {missing:,} asked for and missing"
            found.append((f"{t}-way", words + named))
    return found


def _answers(result: CheckResult) -> list[tuple[str, str]]:
    """What the table's own answers say: of each rule that was tried, and of adding up."""
    found = []
    if result.forecast is not None:
        share = result.forecast.share
        tried = ", ".join(f"{rule.rule} {shown(rule.error, share)}" for rule in result.forecast.rules)
        why = f"; {why}" if (why := unlike_shown(result.forecast)) else ""
        found.append(("rules", f"{tried} ({result.forecast.metric}){why}"))
    there = result.rescaled is not None and where_answered(result.additivity, result.rescaled) is result.rescaled
    if result.additivity is not None and (there or not result.doubt):  # else the first sentence has it
        found.append(("additive", result.additivity.words))
    if result.rescaled is not None and not there:
        found.append(("rescaled", f"on the {result.rescaled.scale} scale {result.rescaled.words}"))
    return found


def _named(result: CheckResult, t: int) -> str:
    """The few interactions that are asked for and were never seen."""
    factors = result.space.factors
    named = [
        " × ".join(f"{quoted(factors[k].name)}={quoted((factors[k].levels or ())[c])}" for k, c in pairs)
        for found in result.coverage.strength(t)
        for pairs in (list(zip(found.factors, example, strict=True)) for example in found.examples)
    ]
    return f" ({', '.join(named)})" if named else ""


def _some(names: list[str]) -> str:
    return ", ".join(names[:MOST_NAMED]) + (f" … ({len(names):,} in all)" if len(names) > MOST_NAMED else "")


def count(number: int) -> str:
    """A number of combinations, which may be astronomical."""
    return f"{number:,}" if number < 10**15 else about(number)
