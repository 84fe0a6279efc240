"""The picture on the page of a check: tables whose cells tell, when pointed at, what determines them."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.checks.as_read import per_cent, range_of
from recombine.figures import check_cells as drawn
from recombine.figures.data import label, number
from recombine.space import quoted

if TYPE_CHECKING:
    from recombine.checks import CheckResult, Query
    from recombine.space import Codes

MOST_WRITTEN = 12
"""Columns up to which cells hold their answers."""
LONGEST_WRITTEN = 8
MOST_TERMS = 5
SIGNS = {**drawn.MARK, "seen": "•", "determined": "="}
SUMS = {None: "sum of effects", "log": "product of effects"}

Cell = dict[str, str]


def picture(result: CheckResult) -> dict[str, Any]:
    """The key, and one table of cells, or one for each pair of three or more factors."""
    factors = range(min(len(result.space), drawn.MOST_FACTORS))
    pairs = [(0, 1)] if len(factors) <= 2 else list(itertools.combinations(factors, 2))
    cells = {pair: drawn.grid_cells(result) if len(factors) <= 2 else drawn.pair_cells(result, *pair) for pair in pairs}
    used = {name for found in cells.values() for _, _, name, _ in found}
    ringed = any(ring for found in cells.values() for *_, ring in found)
    drawn_as = [name for name in SIGNS if name in used]
    key = [{"css": _css(name), "sign": SIGNS[name], "words": _key_words(result, name)} for name in drawn_as]
    collect = "to collect" if len(factors) <= 2 else "pair not seen, to collect"
    ring = [{"css": "collect", "sign": "", "words": collect}] if ringed else []
    tell = _tell_cells(result) if len(factors) <= 2 else _tell_pairs(result)
    return {"key": key + ring, "panels": [_panel(result, *pair, cells[pair], tell(*pair)) for pair in pairs]}


def places(result: CheckResult, codes: Codes) -> str:
    """The drawn cells that hold these combinations, as the script of the page knows them."""
    width = min(codes.shape[1], drawn.MOST_FACTORS)
    pairs = list(itertools.combinations(range(width), 2)) or [(0, 1)]
    found = {_at(j, k, row[j], row[k] if k < width else 0) for row in codes.tolist() for j, k in pairs}
    return " ".join(sorted(found))


def why(result: CheckResult, query: Query) -> str:
    """What settles a combination, or what is free."""
    if query.terms is not None:
        sums = SUMS.get(result.adds_on) or f"sum of effects on the {result.adds_on} scale"
        return f"any {sums} gives {_sum(result, query)}" + _answered(result, query)
    if query.direction is not None:
        effects = result.directions[query.direction]
        names = [_effect(result, levels, value) for levels, value in list(effects.items())[:4]]
        return "may shift together, no seen answer changes: " + ", ".join(names) + (" …" if len(effects) > 4 else "")
    if query.status == "unseen level":
        new = [
            f"{name} = {quoted(label(level))}"
            for name, level in result.combination(query.codes).items()
            if level in result.unseen_levels.get(name, [])
        ]
        return "new: " + ", ".join(new)
    return ""


def _sum(result: CheckResult, query: Query) -> str:
    """The seen combinations that settle one, joined by signs: × and ÷ where effects multiply."""
    times, parts = result.adds_on == "log", list[str]()
    for coefficient, row in (query.terms or ())[:MOST_TERMS]:
        cell, size = ", ".join(label(v) for v in result.combination(row).values()), abs(coefficient)
        first = "" if coefficient > 0 else "1 ÷ " if times else "− "
        sign = first if not parts else ("÷ " if times else "− ") if coefficient < 0 else "× " if times else "+ "
        much = "" if size == 1 else f"^{size}" if times else f"{size} "
        parts.append(f"{sign}({cell}){much}" if times else f"{sign}{much}({cell})")
    return " ".join(parts) + (f" … ({len(query.terms or ())} rows)" if len(query.terms or ()) > MOST_TERMS else "")


def _answered(result: CheckResult, query: Query) -> str:
    """What the answer has to do with the sum, which is one of many and not shrunk."""
    if query.prediction is None:
        return ""
    if result.by_sums:
        sums = "products" if result.adds_on == "log" else "sums"
        return f"; the answer averages over all such {sums}" + (", shrunken" if result.forecast else "")
    return f"; the answer is not this but that of the rule “{result.rule}”"


def said(answer: float | str | None) -> str:
    return answer if isinstance(answer, str) else number(answer) if answer is not None else ""


def answer_of(query: Query) -> str:
    """The answer, of classes with the chance of the class."""
    chance = f" ({per_cent(max(query.probabilities.values()))})" if query.probabilities else ""
    return said(query.prediction) + chance


def within(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else range_of(low, high, number)


def _effect(result: CheckResult, levels: tuple[tuple[int, int], ...], value: int) -> str:
    what = " & ".join(label((result.space.factors[k].levels or ())[level]) for k, level in levels) or "constant"
    return f"{what} {'+' if value > 0 else '−'}{abs(value)}"


def _css(name: str) -> str:
    return name.replace(" ", "-")


def _words(result: CheckResult, name: str) -> str:
    told = {"seen", "determined", "doubtful", "undetermined", "unseen level"}
    return result.in_words(name) if name in told else name


def _key_words(result: CheckResult, name: str) -> str:
    """A colour of the picture in words; of three or more factors it is that of a pair."""
    if len(result.space) <= 2 or name == "not asked":
        return _words(result, name)
    return "pair seen" if name == "seen" else f"pair not seen, most asked with it: {_words(result, name)}"


def _at(j: int, k: int, a: int, b: int) -> str:
    return f"{j}-{k}-{a}-{b}"


def _panel(result: CheckResult, j: int, k: int, cells: list[tuple[int, int, str, bool]], tell: Any) -> dict[str, Any]:
    down, across = drawn.shown(result, j), drawn.shown(result, k)
    names = [*result.space.names, ""]
    found = {(a, b): _cell(tell(a, b, name), _at(j, k, a, b), name, ring) for a, b, name, ring in cells}
    written = [c["sign"] for c in found.values()]
    if len(across) > MOST_WRITTEN or max(map(len, written)) > LONGEST_WRITTEN:
        for (a, b), cell in found.items():
            found[a, b] = {**cell, "sign": SIGNS[cell["name"]]}
    columns = [drawn.level(result, k, b) for b in across]
    widest = max(max(len(c["sign"]) for c in found.values()), 3)
    return {
        "down": names[j],
        "across": names[k],
        "columns": columns,
        "turned": max(map(len, columns)) > widest + 3,
        "rows": [(drawn.level(result, j, a), [found[a, b] for b in across]) for a in down],
    }


def _cell(told: tuple[str, str, str], at: str, name: str, ring: bool) -> Cell:
    sign, words, terms = told
    more = "; to collect" if ring and "to collect" not in words else ""
    css = f"{_css(name)} collect" if ring else _css(name)
    return {"name": name, "css": css, "at": at, "sign": sign or SIGNS[name], "said": words + more, "terms": terms}


def _tell_cells(result: CheckResult) -> Any:
    """For one or two factors: what stands in a cell, what is said of it, and the cells whose sum it is."""
    width = len(result.space)
    queries = {q.codes: q for q in result.queries}
    seen = {tuple(row): i for i, row in enumerate(result.known.codes.astype(np.int64).tolist())}

    def tell(a: int, b: int, name: str) -> tuple[str, str, str]:
        codes = (a, b)[:width]
        where, query = ", ".join(label(v) for v in result.combination(codes).values()), queries.get(codes)
        if codes in seen:
            answer, rows = _seen_answer(result, seen[codes]), int(result.row_counts[seen[codes]])
            return answer, f"{where}: seen in {rows:,} row{'s' if rows != 1 else ''}" + _is("answer", answer), ""
        words = f"{where}: {_words(result, name)}"
        if query is None:
            return "", words, ""
        answer, reason = said(query.prediction), why(result, query)
        words += _is("answer", answer_of(query)) + _is("9 of 10 within", within(query.low, query.high))
        words += f". {reason}" if reason else ""
        terms = [f"{'-' if c < 0 else '+'}{places(result, np.array([row]))}" for c, row in query.terms or ()]
        return answer, words, " ".join(terms)

    return lambda j, k: tell


def _tell_pairs(result: CheckResult) -> Any:
    """For each pair of three or more factors: how often it was seen, what is asked with it, and the worst of that."""

    def of(j: int, k: int) -> Any:
        shape = (result.known.shape[j], result.known.shape[k])
        rows = np.zeros(shape, dtype=np.int64)
        np.add.at(rows, (result.known.codes[:, j], result.known.codes[:, k]), result.row_counts)
        asked = drawn.asked_with(result, j, k)
        worst: dict[tuple[int, int], Query] = {}
        for query in result.queries:  # the worst first
            worst.setdefault((query.codes[j], query.codes[k]), query)

        collected = Counter((int(c[j]), int(c[k])) for c in drawn.to_collect(result))

        def tell(a: int, b: int, name: str) -> tuple[str, str, str]:
            where, query = f"{drawn.level(result, j, a)}, {drawn.level(result, k, b)}", worst.get((a, b))
            words = f"{where}: seen in {rows[a, b]:,} row{'s' if rows[a, b] != 1 else ''}"
            words += f"; {collected[a, b]:,} to collect" if collected[a, b] else ""
            sign = f"{rows[a, b]:,}"
            if query is not None:
                counts = asked[a, b]
                if not result.determined:
                    sign = f"{counts.get('seen', 0) + counts.get('determined', 0)}/{sum(counts.values())}"
                words += "; asked with it: " + ", ".join(f"{n:,} {status}" for status, n in counts.items())
                cell = ", ".join(label(v) for v in result.combination(query.codes).values())
                reason = why(result, query)
                which = "one" if query.status == "determined" else "the worst"
                words += f"; {which} is ({cell}): {result.in_words(query.status, query)}"
                words += _is("answer", answer_of(query)) + (f". {reason}" if reason else "")
            elif not result.determined:
                sign = ""
            return sign, words, ""

        return tell

    return of


def _is(what: str, answer: str) -> str:
    return f"; {what} {answer}" if answer else ""


def _seen_answer(result: CheckResult, place: int) -> str:
    target = result.answers
    if target is None:
        return ""
    mean = target.mean[place]
    return number(float(mean)) if target.classes is None else target.classes[int(mean.argmax())]
