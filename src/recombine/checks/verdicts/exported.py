"""A check as a table and as the object that ``--json`` prints."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from recombine.checks.adds_up.one_level import Odd
from recombine.checks.adds_up.one_pair import Pair
from recombine.checks.asked.query import THEORY, Query
from recombine.checks.exact.witness import Terms

if TYPE_CHECKING:
    import polars as pl

    from recombine.checks.verdicts.prediction import Prediction
    from recombine.checks.verdicts.verdict import CheckResult

SCHEMA = 1


def frame(result: CheckResult) -> pl.DataFrame:
    import polars as pl

    columns: dict[str, Any] = {}
    for k, factor in enumerate(result.space.factors):
        levels = factor.levels or ()
        values = [levels[q.codes[k]] for q in result.queries]
        mixed = len({type(v) for v in levels}) > 1
        columns[factor.name] = [str(v) for v in values] if mixed or factor.name in result.texts else values
    more: dict[str, Any] = {}
    if any(q.row_low is not None for q in result.queries):
        more |= {"row_low": pl.Float64, "row_high": pl.Float64}
    if any(q.rows for q in result.queries):
        more |= {"rows": pl.Int64, "smoothed": pl.Float64}
    for name, kind in (_frame_types(pl) | more).items():
        of = {"words": lambda q: result.in_words(q.status, q), "doubt": result.doubt_of, "rule": result.rule_of}
        said: list[Any] = [of[name](q) if name in of else getattr(q, name) for q in result.queries]
        texts = name in ("prediction", "smoothed") and any(isinstance(v, str) for v in said)
        columns[name if name not in columns else f"check: {name}"] = pl.Series(
            [v if isinstance(v, str) else None for v in said] if texts else said, dtype=pl.String if texts else kind
        )
    for name in next((q.probabilities for q in result.queries if q.probabilities), {}):
        columns[f"probability: {name}"] = pl.Series(
            [(q.probabilities or {}).get(name) for q in result.queries], dtype=pl.Float64
        )
    return pl.DataFrame(columns)


def record(result: CheckResult) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "verdict": result.verdict,
        "doubt": result.doubt,
        "sentence": result.sentence(),
        "asked": {"what": result.asked, "total": result.total, "listed": len(result.queries)},
        "order": result.order,
        "rank": {"train": result.rank_train, "needed": result.rank_needed},
        "counts": result.counts,
        "share": result.share,
        "factors": {f.name: len(f.levels or ()) for f in result.space.factors},
        "train": {"rows": int(result.row_counts.sum()), "combinations": len(result.known.codes)},
        "unseen_levels": result.unseen_levels,
        "queries": [query_record(result, q) for q in result.queries],
        "directions": [result.named(d) for d in result.directions],
        "suggestions": result.suggestions,
        "advice": {
            "needed": result.advice.needed,
            "cost": result.advice.cost,
            "costs": [float(c) for c in result.advice.costs],
            "lower_bound": result.advice.lower_bound,
            "exact": result.advice.exact,
            "enough": result.advice.enough and not (result.advice.outside or result.doubt),
            "outside": result.advice.outside,
            "listed": result.advice.listed,
            "may_not_exist": result.may_not_exist,
            "method": result.advice.method,
        },
        "plan": None if result.plan is None else result.plan.to_dict(result.space),
        "unplanned": result.unplanned or None,
        "pieces": list(result.pieces),
        "groups": result.groups,
        "totals": result.totals,
        "coverage": _coverage(result),
        "confounding": {
            "pairs": [_plain(vars(a)) for a in result.confounding.pairs],
            "thin": result.confounding.thin,
            "combinations": result.confounding.combinations,
        },
        "forecast": None
        if result.forecast is None
        else {**result.forecast.to_dict(), "scatter": result.answers.scatter if result.answers is not None else None},
        "elsewhere": result.elsewhere,
        "additivity": None if result.additivity is None else _plain(vars(result.additivity)),
        "rescaled": None if result.rescaled is None else _plain(vars(result.rescaled)),
        "scale": result.scale,
        "blocks": None if result.shifts is None else result.shifts.to_dict(),
        "learner": None if result.prediction is None else _learner(result.prediction),
        "notes": list(result.notes),
        "settings": result.settings,
    }


def query_record(result: CheckResult, query: Query) -> dict[str, Any]:
    record: dict[str, Any] = {
        "combination": result.combination(query.codes),
        "status": query.status,
        "doubt": result.doubt_of(query),
        "words": result.in_words(query.status, query),
        "theory": THEORY[query.status],
        "leverage": query.leverage,
        "min_cut": query.min_cut,
        "shrinkage": query.shrinkage,
        "prediction": query.prediction,
        "low": _finite(query.low),
        "high": _finite(query.high),
        "rule": result.rule_of(query),
        "network": query.network,
        "witness": None,
    }
    if query.row_low is not None:
        record |= {"row_low": _finite(query.row_low), "row_high": _finite(query.row_high)}
    if sides := [s for s, end in (("below", query.low), ("above", query.high)) if end is not _finite(end)]:
        record["open"] = sides
    if query.rows is not None:
        record |= {"rows": query.rows, "smoothed": query.smoothed}
    if query.probabilities is not None:
        record["probabilities"] = query.probabilities
    if query.network_parts is not None:
        record["network_parts"] = query.network_parts
    if query.terms is not None:
        record["witness"] = summed(result, query.terms)
    elif query.direction is not None:
        record["witness"] = {"direction": query.direction}
    return record


def summed(result: CheckResult, terms: Terms | None) -> dict[str, Any]:
    """The signed sum of seen combinations that gives another."""
    listed = None if terms is None else [[str(c), list(result.combination(row).values())] for c, row in terms]
    return {"sum": listed, "scale": result.adds_on}


def _finite(end: float | None) -> float | None:
    """An end as JSON can write it: none where the range is open."""
    return None if end is None or math.isinf(end) else end


def _coverage(result: CheckResult) -> dict[str, Any]:
    names = result.space.names
    report: dict[str, Any] = {"skipped": list(result.coverage.skipped)}
    for t in (1, 2, 3):
        possible, seen, missing = result.coverage.total(t)
        report[str(t)] = {
            "possible": possible,
            "seen": seen,
            "missing": missing,
            "factors": [
                {
                    "factors": [names[k] for k in i.factors],
                    "possible": i.possible,
                    "seen": i.seen,
                    "missing": i.missing,
                    "unused": i.unused,
                    "examples": [
                        [(result.space.factors[k].levels or ())[c] for k, c in zip(i.factors, row, strict=True)]
                        for row in i.examples
                    ],
                }
                for i in result.coverage.strength(t)
            ],
        }
    return report


def _learner(prediction: Prediction) -> dict[str, Any]:
    shortcut = prediction.shortcut
    return {
        "learner": prediction.learner,
        "salience": list(prediction.salience),
        "shortcut": None if shortcut is None else {**_plain(vars(shortcut)), "factors": list(shortcut.factors)},
    }


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    values = {k: vars(v) if isinstance(v, Odd | Pair) else v for k, v in values.items()}
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in values.items()}


def _frame_types(pl: Any) -> dict[str, Any]:
    return {
        "status": pl.String,
        "doubt": pl.String,
        "words": pl.String,
        "rule": pl.String,
        "leverage": pl.Float64,
        "min_cut": pl.Int64,
        "prediction": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
    }
