"""The table of combinations that a check was asked about, the worst first, and what its columns mean."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.table import Table

from recombine.checks import CheckResult, Query
from recombine.checks.as_read import per_cent, range_of, shown as rounded
from recombine.checks.forecasts.expected import CHANCES
from recombine.cli.printing import console, level, short, shown

SHOWN = 10
UNBROKEN = ("answer", "one row")
"""Columns whose cells stay on one line: a range that breaks inside its brackets is misread."""
SPARED = ("cut", "leverage", "smoothed")
"""Columns left out, one after the other, where a terminal is too narrow."""
NUMBERS = {
    "answer": "by the forecast's rule",
    "one row": "a range meant to hold 9 of 10 single new rows",
    "rows": "of a seen combination, whose answer is what was observed: their mean, or the commonest class",
    "smoothed": "what the rule says of a seen combination, from the other combinations too",
    "leverage": "variance of the answer of a plain additive fit, in units of the noise of one row",
    "cut": "seen combinations that must be lost before it is no longer determined",
    "network": "not an estimate: what a wide network would give, as a share of the sum of seen effects",
}
"""What the numbers of a combination are."""


def print_queries(result: CheckResult) -> None:
    """Title, table and what it means, as far as the terminal has room."""
    listed, title = _listed(result)
    numbers, status = _numbers(result, listed), [_marked(result, q) for q in listed]
    alike = len({_marked(result, q) for q in result.queries}) == 1
    where = console()
    marks = ({} if alike else {"status": status}) | _unshown(result, listed)
    columns = _that_fit(where, result, listed, marks | numbers)
    many, whole = len(result.queries), len(result.queries) == result.total
    of = f", {len(listed)} of {many:,} (--out FILE.csv has {'all' if whole else 'these'})" if many > len(listed) else ""
    title = title.replace("combinations asked", f"asked, {'all ' if many > 1 else ''}{status[0]}") if alike else title
    where.print(shown(f"{title}{of}", style="bold"))
    where.print(_drawn(result, listed, columns))
    if gone := [name for name in SPARED if name in numbers and name not in columns]:
        where.print(shown(f"no room for {' and '.join(gone)}: --out FILE.csv has more columns", style="dim"))
    for line in _meanings(result, listed, [name for name in columns if name in numbers]):
        where.print(shown(line, style="dim"))


def _listed(result: CheckResult) -> tuple[list[Query], str]:
    """The worst first, of one status those that are doubted; where those without an answer would fill the list, as many
    with one beside them."""
    told = [q for q in result.queries if q.prediction is not None]
    dark = [q for q in result.queries if q.prediction is None]
    levered = ", by leverage" if any(q.leverage is not None for q in result.queries) else ""
    if not told or not dark:
        statuses = list(dict.fromkeys(q.status for q in result.queries))
        marked = {_marked(result, q) for q in result.queries}
        listed = sorted(result.queries, key=lambda q: (statuses.index(q.status), result.doubt_of(q) is None))
        worst = ", the worst status first" if len(statuses) > 1 else ", those in doubt first"
        return listed[:SHOWN], "combinations asked" + (worst if len(marked) > 1 else levered)
    first = dark[: max(SHOWN // 2, SHOWN - len(told))]
    return [*first, *told[: SHOWN - len(first)]], "combinations without an answer, then answers" + levered


def _numbers(result: CheckResult, listed: list[Query]) -> dict[str, list[str]]:
    """The columns of which at least one combination has something."""
    numbers = {
        "answer": ["" if q.prediction is None else _answer(q) for q in listed],
        "one row": ["" if q.row_low is None else _ends(q.row_low, q.row_high) for q in listed],
        "rows": ["" if q.rows is None else f"{q.rows:,}" for q in listed],
        "smoothed": ["" if q.smoothed is None else _plain(q.smoothed) for q in listed],
        "leverage": ["" if q.leverage is None else _lever(q.leverage) for q in listed],
        "cut": ["" if q.min_cut is None else str(q.min_cut) for q in listed],
    }
    if result.settings["salience"] is not None or result.settings["depth"] != 1:  # somebody asked about a learner
        shares = [q.shrinkage if q.status == "determined" else None for q in listed]
        numbers["network"] = ["" if s is None else f"× {s:.2f}" for s in shares]
    return {name: cells for name, cells in numbers.items() if any(cells)}


def _unshown(result: CheckResult, listed: list[Query]) -> dict[str, list[str]]:
    """A column that marks rows of blocks whose shifts training does not tell."""
    shifts = result.shifts
    marks = [] if shifts is None else ["new" if q.codes in shifts.unshown else "" for q in listed]
    return {short(shifts.name): marks} if shifts is not None and any(marks) else {}


def _that_fit(
    where: Console, result: CheckResult, listed: list[Query], columns: dict[str, list[str]]
) -> dict[str, list[str]]:
    """The columns without as many of those that can be spared as the terminal has no room for."""
    room, kept = where.options.update(max_width=10_000), dict(columns)
    for name in SPARED:
        if where.measure(_drawn(result, listed, kept), options=room).maximum > where.width:
            kept.pop(name, None)
    return kept


def _drawn(result: CheckResult, listed: list[Query], columns: dict[str, list[str]]) -> Table:
    table = of_combinations(result, list(columns))
    for i, query in enumerate(listed):
        levels = [level(v) for v in result.combination(query.codes).values()]
        table.add_row(*levels, *(cells[i] for cells in columns.values()))
    return table


def of_combinations(result: CheckResult, more: list[str]) -> Table:
    """An empty table with a column for each factor, and more."""
    table = Table(box=None, pad_edge=False)
    for name in result.space.names:
        table.add_column(shown(short(name)), overflow="fold")
    for name in more:
        side: Any = "left" if name == "status" else "right"
        table.add_column(name, justify=side, no_wrap=name in UNBROKEN, overflow="fold")
    return table


def _marked(result: CheckResult, query: Query) -> str:
    """The status, with a mark where something speaks against it."""
    return query.status + (" (?)" if result.doubt_of(query) else "")


def _meanings(result: CheckResult, listed: list[Query], numbers: list[str]) -> Iterator[str]:
    """What the statuses and numbers in the list mean."""
    if doubted := dict.fromkeys(q.status for q in listed if result.doubt_of(q)):
        yield f"{', '.join(f'{name} (?)' for name in doubted)}: only if {result.rests}"
    answered = [q for q in listed if q.prediction is not None and not q.rows]
    if result.shifts is not None and _unshown(result, listed):
        name, average = short(result.shifts.name), result.shifts.average_one
        yield f"{name} new: training does not tell its shift; the answer is that of {average}"
    found = result.forecast
    if found is not None and found.pair is not None and any(found.off_by(q.codes) for q in answered):
        yield f"{found.pair[0].words}: ranges of these reach as far"
    if answered and not result.by_sums and not result.doubt:
        said = f"“determined” supposes that {result.assumes}; the answers are those of the rule “{result.rule}”"
        said += ", which does not suppose that" if result.rule == "substitution" else ""
        yield said
    for name in numbers if answered else [name for name in numbers if name != "answer"]:
        learner = f" ({result.prediction.learner})" if name == "network" and result.prediction is not None else ""
        untried = name == "answer" and result.forecast is None
        what = "the sum of seen effects, not tried" if untried else NUMBERS[name]
        what += f", of {result.shifts.new_one}" if name == "one row" and result.shifts is not None else ""
        if name == "answer" and not untried:
            ranged = any(q.low is not None for q in listed)
            what += ", with a range meant to hold 9 of 10 numbers" if ranged else ""
            what += " (fewer in tables this small)" if ranged and result.forecast and result.forecast.small else ""
            what += f", {CHANCES}" if any(q.probabilities for q in answered) else ""
            what += f"; {'both are' if ranged else 'it is'} of {result.of_means}" if result.of_means else ""
        if name == "smoothed" and not result.doubt and any(q.rows == 1 for q in listed):
            what += "; where that was seen in one row take this: effects add up, and it errs less than one reading"
        yield f"{name}: {what}{learner}"


def _answer(query: Query) -> str:
    said = _plain(query.prediction or 0.0)
    if query.probabilities:
        return f"{said} ({per_cent(max(query.probabilities.values()))})"
    return said if query.low is None else f"{said} ({_ends(query.low, query.high)})"


def _ends(low: float, high: float | None) -> str:
    return range_of(low, high or 0.0)


def _plain(answer: float | str) -> str:
    return answer if isinstance(answer, str) else rounded(answer)


def _lever(value: float) -> str:
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"
