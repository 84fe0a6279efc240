"""The page of a check: verdict first, then the picture, what to collect, and the evidence."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.checks.as_read import per_cent, shown
from recombine.checks.asked.query import THEORY
from recombine.checks.columns.confounding import ONE_LEVEL
from recombine.checks.forecasts import forecast_words
from recombine.checks.forecasts.expected import CHANCES
from recombine.checks.plans.in_brief import details, in_brief
from recombine.checks.plans.planned import AT_SEEN, TRAINED
from recombine.checks.plans.run_sheet import named, together
from recombine.figures.check_cells import left_out
from recombine.figures.data import label, number
from recombine.reporting.check_picture import answer_of, picture, places, said, why, within
from recombine.reporting.page import render, script
from recombine.space import quoted

if TYPE_CHECKING:
    from recombine.checks import CheckResult, Plan, Query
    from recombine.checks.columns.confounding import Association
    from recombine.checks.plans.from_nothing import PlanResult
    from recombine.space import FactorSpace

SHOWN = 30
MOST_PLANNED = 200
MOST_OPENED = 10_000_000
"""Combinations to collect × asked × effects up to which it is said what each would determine."""
EACH = 12
OFTEN, LONG = 3, 40
"""Rows that share a status, and characters of what it rests on, from which that is said once, below the table."""
MANY = 8
"""Numbers from which a table of answers can be sorted by them."""

HEADLINES = {
    "seen": "Nothing new is asked",
    "determined": "Everything asked is determined if ",
    "assumption unsupported": "Determined only if effects add up, which is not shown",
    "assumption rejected": "Effects do not simply add up",
    "extrapolation": "Some numbers lie outside what training shows",
    "undetermined": "Some combinations cannot be answered from this data, even if effects add up",
    "unseen level": "Some levels were never seen",
}


def check_page(result: CheckResult) -> str:
    """One self-contained page; names and levels are text wherever they stand."""
    opens = _opens(result)
    shown = [
        q
        for status in ("determined", "extrapolation", "undetermined", "unseen level", "seen")
        for q in _of(result, status)[:EACH]
    ]
    pairs, effects = _associations(result)
    listed, legend = _legend(_said_once([_query(result, q) for q in shown]))
    many, have = len(result.queries), "all" if len(result.queries) == result.total else "these"
    return render(
        "check.html.j2",
        result=result,
        headline=_headline(result),
        further=" ".join(result.paragraphs[1:]),
        statuses=_statuses(result),
        train_rows=int(result.row_counts.sum()),
        train_cells=len(result.known.codes),
        unseen=[(name, _some([quoted(label(v)) for v in levels])) for name, levels in result.unseen_levels.items()],
        picture=picture(result),
        caption=_caption(result),
        script=script("check.js"),
        plan=_plan(result.space, result.plan) if result.plan is not None else None,
        at_seen=f"{AT_SEEN[0].upper()}{AT_SEEN[1:]}." if result.shifts is None else "",
        advice_words=_advice(result),
        nothing=_nothing(result),
        suggestions=[
            {"levels": [label(v) for v in record.values()], "cost": number(float(cost)), **(opens[i] if opens else {})}
            for i, (record, cost) in enumerate(zip(result.suggestions[:SHOWN], result.advice.costs, strict=False))
        ],
        opens=bool(opens),
        sections=_sections(result, shown, bool(effects)),
        pieces=_pieces(result),
        more_suggestions=max(0, len(result.advice.cells) - SHOWN),
        priced=len(set(result.advice.costs.tolist())) > 1,
        queries=listed,
        legend=legend,
        sorts=sum(row["number"] is not None for row in listed) >= MANY,
        alike=listed[0]["words"] if len(listed) > 1 and len({row["words"] for row in listed}) == 1 else "",
        folded=any(row["why"] and row["folded"] for row in listed),
        listed=f": {len(shown)} of {many:,}" if len(shown) < many else "",
        have=f"`--out FILE.csv` has {have}." if len(shown) < many else "",
        levers=any(q.leverage is not None for q in shown),
        cuts=any(q.min_cut is not None for q in shown),
        unanswered=any(q.prediction is None for q in shown),
        predicted=any(q.prediction is not None for q in shown),
        observed=any(q.rows for q in shown),
        chances=CHANCES if any(q.probabilities for q in shown) else "",
        ranged=any(q.low is not None for q in shown),
        single=any(q.row_low is not None for q in shown),
        networks=any(q.network is not None for q in shown),
        words=forecast_words,
        rules=_rules(result),
        learner=result.prediction.learner if result.prediction else None,
        coverage=_coverage(result),
        pairs=pairs,
        given=any(row["given"] for row in pairs),
        effects=effects,
        classes=result.answers is not None and result.answers.classes is not None,
    )


def _sections(result: CheckResult, shown: list[Query], effects: bool) -> list[tuple[str, str]]:
    """What the page has, in its order: where each part stands and what it is called."""
    parts = [
        ("notes", "Worth knowing", bool(result.notes[result.slips :])),
        ("picture", "Picture", True),
        ("queries", "Answers" if any(q.prediction is not None for q in shown) else "Combinations", bool(shown)),
        ("collect", "What to collect", True),
        ("numbers", "Counts", True),
        ("forecast", "Forecast", result.forecast is not None),
        ("coverage", "Coverage", True),
        ("confounding", "Confounding", True),
        ("effects", "Effects", effects or result.additivity is not None),
    ]
    return [(place, words) for place, words, there in parts if there]


def _said_once(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows that lack an answer for one reason, one below the other, say it once, under the last of them."""
    said: list[dict[str, Any]] = []
    for (_, folded), same in groupby(rows, key=lambda row: (row["why"], row["folded"])):
        group = list(same)
        if not folded and len(group) > 1:
            group = [{**row, "why": ""} for row in group[:-1]] + [{**group[-1], "of": f", of these {len(group):,}"}]
        said += group
    return said


def _legend(rows: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows with letters for what a status of several, though not of all, rests on, and what the letters say."""
    often = Counter(row["words"] for row in rows)
    long = [words for words, count in often.items() if count >= OFTEN and len(words.partition(" if ")[2]) > LONG]
    if len(often) == 1 or not long:
        return rows, []
    told = dict[str, tuple[str, str]]()
    for letter, words in zip(ascii_lowercase, long, strict=False):
        first, _, rests = words.partition(" if ")
        told[words] = (f"{first} if ({letter})", f"({letter}) {rests}")
    return [{**row, "words": told.get(row["words"], (row["words"],))[0]} for row in rows], [b for _, b in told.values()]


def plan_page(result: PlanResult) -> str:
    """The page of a plan from nothing: its rows in visiting order, beside the published plans."""
    return render("plan.html.j2", result=result, plan=_plan(result.space, result.plan), at_seen="", beside=[
        {"name": b["plan"], "rows": f"{b['distinct']:,}", "determined": per_cent(b["determined"]),
         "error": "" if b["error"] is None else number(b["error"]),
         "worst": "" if b["worst"] is None else number(b["worst"])} for b in result.beside
    ])  # fmt: skip


def _plan(space: FactorSpace, plan: Plan) -> dict[str, Any]:
    """Rows to collect, by the first run of each combination, and what is known of them."""
    found, brief = together(plan), in_brief(plan)
    records = space.decode(plan.cells[[runs[0] - 1 for runs in found[:MOST_PLANNED]]])
    return {
        "words": brief[0].upper() + brief[1:],
        "details": details(plan),
        "order": f"{plan.order[:1].upper()}{plan.order[1:]}.",
        "names": space.names,
        "priced": len(set(plan.costs.tolist())) > 1,
        "several": any(len(runs) > 1 for runs in found),
        "seen": TRAINED in plan.repeats,
        "rows": [
            {"levels": [label(v) for v in record.values()], "cost": number(float(plan.costs[runs[0] - 1])),
             "runs": named(runs), "times": len(runs), "seen": plan.repeats[runs[0] - 1] == TRAINED}
            for record, runs in zip(records, found, strict=False)
        ],
        "more": max(0, len(found) - MOST_PLANNED),
    }  # fmt: skip


def _pieces(result: CheckResult) -> list[str]:
    return [
        " · ".join(f"{name} {_some([quoted(label(v)) for v in levels])}" for name, levels in piece.items())
        for piece in result.seen_pieces[:SHOWN]
    ] + (["…"] if len(result.seen_pieces) > SHOWN else [])


def _opens(result: CheckResult) -> list[dict[str, str]]:
    """What each combination to collect would determine of what is asked and open, were it collected alone."""
    asked = np.array([q.codes for q in result.queries if q.status not in ("seen", "determined")], dtype=np.int64)
    cells = result.advice.cells[:SHOWN].astype(np.int64)
    if not len(cells) or not len(asked) or len(cells) * len(asked) * result.known.rank > MOST_OPENED:
        return []
    found = []
    for cell in cells:
        fixed = asked[result.known.with_rows(cell[None]).rows.contains(asked)]
        fixed = fixed[(fixed != cell).any(axis=1)]
        names = ["(" + ", ".join(label(v) for v in result.combination(row).values()) + ")" for row in fixed[:SHOWN]]
        word = f"{len(fixed):,} more combination{'s' if len(fixed) != 1 else ''}"
        names += ["…"] if len(names) < len(fixed) else []
        found.append({"count": word, "opens": ", ".join(names), "places": places(result, fixed)})
    return found


def _rules(result: CheckResult) -> list[dict[str, str]]:
    if result.forecast is None:
        return []
    return [
        {"name": f"{r.rule} (recommended)" if r.rule == result.forecast.rule else r.rule,
         "error": shown(r.error, share=True) if result.forecast.share else number(r.error),
         "explained": "" if r.explained is None else per_cent(r.explained).replace("-", "−")
         + (" (may be chance)" if r.explained > 0 and not r.beats else "")} for r in result.forecast.rules
    ]  # fmt: skip


def _of(result: CheckResult, status: str) -> list[Query]:
    return [q for q in result.queries if q.status == status]


def _some(names: list[str], most: int = 12) -> str:
    return ", ".join(names[:most]) + (f" … ({len(names):,} in all)" if len(names) > most else "")


def _headline(result: CheckResult) -> str:
    """What is found; “determined” with what it rests on, on whatever scale."""
    if result.verdict.startswith("determined"):
        return HEADLINES["determined"] + result.assumes + result.beside
    return HEADLINES[result.verdict] + result.beside


def _caption(result: CheckResult) -> str:
    words = []
    if len(result.space) > 2:
        written = "of the combinations asked with it how many were seen or are determined (3/5: three of five)"
        written = "in how many rows" if result.determined else written
        words.append(f"For each pair of factors: was the pair of levels seen, and {written}.")
    elif result.answers is not None:
        seen = "commonest" if result.answers.classes else "mean"
        told = any(query.prediction is not None and query.status != "seen" for query in result.queries)
        elsewhere = f", that of the rule “{result.rule}” elsewhere" if told else ""
        words.append(f"In cells with room: the {seen} answer where seen{elsewhere}.")
    return " ".join([*words, left_out(result)]).strip()


def _statuses(result: CheckResult) -> list[dict[str, str]]:
    rows = []
    for status, theory in THEORY.items():
        if not (result.counts if result.counts is not None else result.share or {}).get(status):
            continue
        if result.counts is not None:
            shown = f"{result.counts[status]:,}"
        else:
            shown = f"{per_cent((result.share or {}).get(status, 0.0), 1)} of a sample"
        rows.append({"status": status, "number": shown, "words": result.in_words(status), "theory": theory})
    return rows


def _nothing(result: CheckResult) -> str:
    """What to collect where no row is missing for effects that add up: nothing only as far as they do."""
    if result.worst == "seen":
        return "Nothing: every combination that was asked about was seen."
    if result.worst == "extrapolation":
        return f"Rows at the numbers asked about outside the seen range; inside, training suffices if {result.rests}."
    if result.doubt is None:
        return f"Nothing: training determines everything that was asked if {result.assumes}."
    return f"Training determines everything that was asked only if {result.rests}: collect what you must be sure of."


def _advice(result: CheckResult) -> str:
    advice = result.advice
    if not advice.enough:
        return (
            f"No allowed set suffices: {advice.needed:,} independent combinations are missing and what may be "
            "collected "
            "does not supply them. These determine as much as can be."
        )
    count = (
        f"{len(advice.cells):,} combination{'s' if len(advice.cells) != 1 else ''}"
        if advice.listed
        else f"{advice.needed:,} combinations (too many to list)"
    )
    proof = (
        "No smaller or cheaper set does"
        if advice.exact
        else f"A heuristic; no set can cost less than {number(advice.lower_bound)}"
    )
    what = result.reached("everything asked")
    return f"{count} after which {what} is determined if {result.rests}. {proof} ({advice.method})."


def _query(result: CheckResult, query: Query) -> dict[str, Any]:
    reason = why(result, query)
    alone = isinstance(query.prediction, float) and (query.terms is not None or not reason)
    return {
        "number": query.prediction if alone else None,
        "levels": [label(v) for v in result.combination(query.codes).values()],
        "words": result.in_words(query.status, query)
        + ("" if query.rows is None else f" ({query.rows:,} row{'s' if query.rows > 1 else ''})"),
        "leverage": number(query.leverage) if query.leverage is not None else "",
        "cut": "" if query.min_cut is None else str(query.min_cut),
        "prediction": answer_of(query),
        "range": within(query.low, query.high),
        "row": within(query.row_low, query.row_high),
        "network": said(query.network),
        "why": reason,
        "folded": query.terms is not None,
        "of": "",
    }


def _coverage(result: CheckResult) -> list[dict[str, str]]:
    rows = []
    for t in (1, 2, 3):
        found = sorted(result.coverage.strength(t), key=lambda i: -i.missing)
        if not found:
            continue
        rows.append(_covered(f"all choices of {t} factor{'s' if t > 1 else ''}", *result.coverage.total(t)))
        for i in found[:6] if len(found) > 1 else []:
            if not i.missing:
                continue
            levels = [result.space.factors[k].levels or () for k in i.factors]
            examples = [", ".join(label(n[c]) for n, c in zip(levels, row, strict=True)) for row in i.examples[:3]]
            shown = " ".join(f"({example})" for example in examples) + (" …" if i.missing > 3 else "")
            name = " × ".join(result.space.names[k] for k in i.factors)
            rows.append(_covered(name, i.possible, i.seen, i.missing, shown))
    return rows


def _covered(name: str, possible: int, seen: int, missing: int, examples: str = "") -> dict[str, str]:
    counts = {"possible": possible, "seen": seen, "missing": missing}
    return {"name": name, "examples": examples, **{key: f"{count:,}" for key, count in counts.items()}}


def _associations(result: CheckResult) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """Pairs of factors, and factors with the answer."""
    target = result.answers
    ours = [a for a in result.confounding.pairs if target is not None and a.two == target.name]
    factors = [a for a in result.confounding.pairs if a not in ours]
    return [_pair(a) for a in factors[:SHOWN]], [{**_pair(a), "name": a.one} for a in ours[:SHOWN]]


def _pair(association: Association) -> dict[str, str]:
    given = f"{number(association.conditional)} | {association.given}" if association.conditional is not None else ""
    return {
        "name": f"{association.one} – {association.two}",
        "v": number(association.cramers_v, 2),
        "information": number(association.information, 3),
        "given": given,
        "explained": "" if association.explained is None else per_cent(association.explained),
        "p": "" if association.p_value is None else f"{association.p_value:.2g}",
        "method": association.method if association.method != ONE_LEVEL else "",
    }
