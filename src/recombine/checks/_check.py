"""`check`: know before training which unseen combinations can be answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from recombine.checks import prediction as predicting
from recombine.checks._coverage import coverage
from recombine.checks.cells import existing, shared_by_missing
from recombine.checks.collecting import Cost, Purpose, plan_collection, plan_for
from recombine.checks.components import connected_components, level_groups, levels_never_seen
from recombine.checks.confounding import THIN, Confounding, confounding
from recombine.checks.curves import Numeric, curves_of, shapes
from recombine.checks.identifiability import Identifiability
from recombine.checks.itself import left_out, with_itself
from recombine.checks.judging import Judged, judge
from recombine.checks.modular import Floats
from recombine.checks.notes import few_rows, notes_on
from recombine.checks.planned import Plan
from recombine.checks.queries import describe
from recombine.checks.queries_asked import Asked, ask_grid, ask_table
from recombine.checks.reading import (
    MOST_LISTED,
    blocks_of,
    hidden_grid,
    in_words,
    levels_only,
    not_asked,
    numbers_unseen,
    read,
    split_of,
    texts_in,
    with_grid,
)
from recombine.checks.slips import coded, slips_in
from recombine.checks.tables import Pairs, pair_tables
from recombine.checks.unnamed import MOST_ROWS, unnamed
from recombine.checks.verdict import CheckResult
from recombine.checks.without import without_level, without_slips
from recombine.errors import InputError
from recombine.space import Codes, FactorSpace, Level
from recombine.support.table import Missing, Table, factor_names

MOST_QUERIES = 10_000


def check(
    table: Any,
    factors: Sequence[str],
    *,
    target: str | None = None,
    target_kind: Literal["number", "class"] | None = None,
    split: str | tuple[str, str] | None = None,
    test: Any = None,
    grid: bool = False,
    order: int = 1,
    min_support: int = 1,
    bins: Mapping[str, int] | None = None,
    numeric: Numeric = (),
    blocks: str | Sequence[str] = (),
    missing: Missing = "error",
    merge_alike: bool = False,
    cost: Cost | None = None,
    forbid: Sequence[Mapping[str, Level]] = (),
    exclude: Sequence[Mapping[str, Level]] = (),
    purpose: Purpose | None = None,
    salience: float | None = None,
    depth: int = 1,
    rules: Sequence[str] = (),
    max_queries: int = MOST_QUERIES,
    max_rows: int | None = None,
    max_bytes: int | None = None,
    draws: int = 999,
    seed: int = 0,
) -> CheckResult:
    """Which combinations this table determines if effects add up, how wrong the answers will be, which it leaves
    open, and which rows to collect.

    ``table`` is a file (CSV, Parquet), a polars or pandas frame, an array or a dictionary; ``factors`` are its columns
    that are recombined. Asked about is the grid of the table's levels minus training, or a ``test`` table, or with
    ``split="column=value"`` the rows that have this value (the others are training), or the rows without an answer
    (where these were all seen, the grid too); ``grid`` asks about the grid as well. ``order`` m: effects of up to m
    factors at once. ``numeric`` names factors that are numbers, which act along a straight line, or with {name:
    "spline"} along a smooth curve. ``blocks`` names columns that shift the answer and are not recombined, such as a day
    or a plate: their shifts are taken off (numbers only), and answers are those of an average one; "site:block" names
    blocks that are numbered anew within each level of the factor site.
    ``merge_alike`` takes texts that differ only in spaces or capitals for one level.
    ``min_support``: a combination counts as trained from this many rows on. ``cost`` prices cells to collect — a
    function of a combination, or {factor: {level: price}} whose prices add up — and ``forbid`` lists (partial)
    combinations that cannot be collected, ``exclude`` those that cannot exist, and ``purpose`` says what the rows
    are for: a budget to be spent well, or an error to be reached. ``salience`` or ``depth`` choose the learner
    whose behaviour is predicted; ``rules`` ("forest", "networks") join the contest of rules behind the forecast.

    Examples:
        >>> table = {"shape": ["disc", "disc", "square"], "colour": ["red", "blue", "red"], "price": [3.0, 4.0, 5.0]}
        >>> result = check(table, factors=["shape", "colour"], target="price")
        >>> result.combination(result.queries[0].codes), result.queries[0].status
        ({'shape': 'square', 'colour': 'blue'}, 'determined')
        >>> result.verdict  # three rows cannot show that effects add up
        'assumption unsupported'
    """
    _refuse(split, test, min_support, max_queries, seed)
    pair, lines = split_of(split), shapes(numeric, factor_names(factors))
    nuisances, inside = blocks_of(blocks, factor_names(factors)) if blocks else ((), {})
    how: dict[str, Any] = {
        "target": target, "target_kind": target_kind, "split": pair, "bins": bins, "numbers": lines, "missing": missing,
        "merge_alike": merge_alike, "max_rows": max_rows, "max_bytes": max_bytes,
    }  # fmt: skip
    train, asked_table, questions, told, shifts = read(
        table, test, factors, min_support, nuisances, order, inside, **how
    )
    space = train.space
    there = train.codes if asked_table is None else np.vstack([train.codes, asked_table.codes])
    itself, both = with_itself(there, space)
    exclude = [*exclude, *itself]
    blanks = questions if test is None and pair is None and not grid else None
    told += (hidden := hidden_grid(train, blanks, exclude))
    if (grid or hidden) and asked_table is not None:
        asked_table = with_grid(asked_table, train, exclude) if grid or space.size <= MOST_LISTED else None
    wanted = None if asked_table is None else asked_table.codes.astype(np.int64)
    curves = curves_of(space, train.codes, lines)
    known = Identifiability(train.codes, space.shape, order, curves)
    asked = _ask(known, space, wanted, max_queries, seed, exclude)
    prediction, why_not = _predict(known, train, asked, asked_table, salience, depth)
    judged = judge(known, train, asked, asked_table, rules, seed)
    if train.rows <= MOST_ROWS and target is not None:
        with suppress(InputError):  # what other columns hold is no reason to stop
            told += unnamed(table, space.names, nuisances, order, judged.scale, judged.contradicted, **how)
    slips, unlike = _suspects(train, known, asked, judged, rules, seed)
    if slips and judged.forecast is not None:  # one slip among repeated rows passes for noise of all
        judged = replace(judged, forecast=replace(judged.forecast, error_many_rows=None))
    plain = levels_only(train, curves)
    pairs = pair_tables(plain.codes, plain.counts, plain.space.shape) if plain is not None else {}
    besides, unasked = not_asked(train, None if hidden else blanks, exclude)
    without, twice = left_out(both if wanted is None or grid or hidden else ())
    queries, directions = describe(known, train.counts, pairs, asked, prediction, judged.forecast, train.target)
    if shifts is not None and train.target is not None:
        ends = train.target.bounds if judged.forecast is None else judged.forecast.bounds
        queries = tuple(shifts.widened(query, *ends) for query in queries)
    possible = existing(space, exclude) if exclude and wanted is None else wanted
    advice = plan_collection(known, space, train, wanted, cost, forbid, exclude)
    advice = advice if shifts is None else shifts.advised(advice)
    advice = replace(advice, outside=known.still_beyond(asked.codes, advice.cells))
    plan = plan_for(
        known, train, wanted, purpose or Purpose(), cost, forbid, exclude, seed, judged.forecast, judged.scale,
        not judged.adds_up(order), shifts,
    )  # fmt: skip
    result = CheckResult(
        space=space, order=order, known=known, row_counts=train.counts,
        asked=in_words(questions if wanted is not None else None, pair, test, grid or bool(hidden)) + without + besides,
        counts=asked.counts, share=asked.share, total=asked.total, worst=asked.worst,
        rank_train=known.rank, rank_needed=known.rank + advice.needed,
        queries=queries, directions=directions, advice=advice,
        coverage=coverage(train.codes, space.shape, possible, numbers=curves, pairs=None if curves else pairs),
        pieces=connected_components(known, space), groups=level_groups(known, space),
        confounding=_confounding(train, plain, pairs, draws, seed),
        additivity=judged.additivity, rescaled=judged.rescaled, answers=train.target, prediction=prediction,
        forecast=judged.forecast, shifts=shifts, unseen_levels=levels_never_seen(known, space),
        slips=len(slips), coded=coded(train) is not None, texts=texts_in(table, space.names),
        notes=(
            *slips, *unasked, *twice, *told, *unlike, *numbers_unseen(known, space, wanted), *why_not, *judged.why_not,
            *notes_on(train, known, asked, asked_table, queries, judged, prediction),
            *(shared_by_missing(known, space, pairs, exclude) if wanted is None or grid or hidden else []),
        ),
        settings={
            "factors": list(space.names), "target": target, "split": None if pair is None else f"{pair[0]}={pair[1]}",
            "test": str(test) if isinstance(test, (str, Path)) else None, "grid": grid, "order": order,
            "min_support": min_support, "bins": dict(bins or {}), "numeric": lines,
            "blocks": factor_names(blocks) if blocks else [], "missing": missing, "merge_alike": merge_alike,
            "salience": salience, "depth": depth, "rules": list(rules), "draws": draws, "seed": seed,
        },
    )  # fmt: skip
    if result.doubt:
        result = replace(result, notes=(*result.notes, *few_rows(train, known)))
    return result if plan is None else replace(result, plan=_resting(plan, result, wanted is None).in_runs(seed))


def _refuse(split: str | tuple[str, str] | None, test: Any, min_support: int, max_queries: int, seed: int) -> None:
    """An error for what contradicts itself, before anything is read."""
    if split is not None and test is not None:
        raise InputError("give either a split or a test table, not both.")
    if min_support < 1:
        raise InputError(f"min_support is {min_support}; give 1 or more rows.")
    if not 1 <= max_queries <= MOST_QUERIES:
        raise InputError(f"max_queries is {max_queries}; give 1 … {MOST_QUERIES:,}.")
    if seed < 0:
        raise InputError(f"seed is {seed}; give 0 or more.")


def _ask(
    known: Identifiability, space: FactorSpace, wanted: Codes | None, most: int, seed: int,
    exclude: Sequence[Mapping[str, Level]],
) -> Asked:  # fmt: skip
    """About these combinations; None: about the grid minus training."""
    if wanted is None:
        return ask_grid(known, space, most, seed, exclude)
    return ask_table(known, wanted, most)


def _suspects(
    train: Table, known: Identifiability, asked: Asked, judged: Judged, rules: Sequence[str], seed: int
) -> tuple[list[str], list[str]]:
    """What is said of answers that may be slips, and of a level that responds unlike the others."""
    harder = () if judged.forecast is None else judged.forecast.harder
    slips = without_slips(*slips_in(train, known), train, known, asked, rules, seed, harder)
    odd = judged.additivity.odd if judged.additivity and judged.contradicted else None
    return slips, without_level(odd, train, known, asked, rules, seed)


def _resting(plan: Plan, result: CheckResult, whole: bool) -> Plan:
    """The plan with what its errors rest on: that may be contradicted, which is known only once all is judged."""
    told = result.forecast
    others = result.doubt == "rejected" or (result.order == 1 and told is not None and told.by_pairs)
    rule = None if told is None else told.rule
    return replace(plan, assumes=result.rests, forecast=rule, contradicted=others, whole=whole)


def _confounding(train: Table, plain: Table | None, pairs: Pairs, draws: int, seed: int) -> Confounding:
    """Of the factors that are levels; where none is, only how thinly combinations are seen."""
    if plain is None:
        return Confounding((), int((train.counts < THIN).sum()), len(train.counts))
    return confounding(plain, pairs, draws, seed)


def _predict(
    known: Identifiability, train: Table, asked: Asked, asked_table: Table | None, salience: float | None, depth: int
) -> tuple[predicting.Prediction | None, list[str]]:
    """What the usual learner will do, or a note on why that is not said."""
    found = predicting.predict(
        known, train.space.names, asked.codes, asked.status, train.target, _asked_answers(asked, asked_table),
        salience=salience, depth=depth,
    )  # fmt: skip
    wanted = salience is not None or depth != 1  # who asked about no learner misses none
    return (None, [found] if wanted else []) if isinstance(found, str) else (found, [])


def _asked_answers(asked: Asked, table: Table | None) -> Floats | None:
    """Mean asked target of each query (two classes as ±1), NaN where there is none."""
    target = None if table is None else table.target
    if table is None or target is None:
        return None
    values = predicting.numbers(target)
    if values.ndim > 1:
        return None
    values = np.where(target.count > 0, values, np.nan)
    if np.isnan(values).all():
        return None
    place = {row.tobytes(): i for i, row in enumerate(np.ascontiguousarray(table.codes.astype(np.int64)))}
    return np.array([values[place[row.tobytes()]] for row in np.ascontiguousarray(asked.codes.astype(np.int64))])
