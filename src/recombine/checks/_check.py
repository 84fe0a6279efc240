"""`check`: know before training which unseen combinations can be answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from recombine.checks.adds_up.tested import where_answered
from recombine.checks.asked.cells import existing, shared_by_missing
from recombine.checks.asked.queries_asked import Asked, ask_grid, ask_table
from recombine.checks.asked.query import Query
from recombine.checks.columns.confounding import THIN, Confounding, confounding
from recombine.checks.columns.unnamed import MOST_ROWS, unnamed
from recombine.checks.drifts import supposed, with_drift
from recombine.checks.exact._coverage import Coverage, coverage
from recombine.checks.exact.advice import Advice
from recombine.checks.exact.components import connected_components, level_groups, levels_never_seen
from recombine.checks.exact.curves import Numeric, curves_of, shapes
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.exact.modular import Floats
from recombine.checks.exact.tables import Pairs, pair_tables
from recombine.checks.exact.witness import Direction
from recombine.checks.given import Given, read_given
from recombine.checks.holes.nested import in_words, nested, together
from recombine.checks.judging import Judged, judge, with_pair
from recombine.checks.misspelt import misspelt
from recombine.checks.never_together import never_together
from recombine.checks.notes import few_rows, notes_on
from recombine.checks.one_thread import one_thread
from recombine.checks.per_cents import per_cents
from recombine.checks.plans.collecting import Cost, Purpose, plan_collection, plan_for
from recombine.checks.plans.planned import Plan
from recombine.checks.reading import blocks_of, levels_only, numbers_unseen, texts_in
from recombine.checks.sharing import shared_repeats
from recombine.checks.slips.totals import named, totals, words_of
from recombine.checks.slips.units import Mixed, mixed_units
from recombine.checks.slips.without import without_level, without_slips
from recombine.checks.slips.words import coded, far_in, slips_in
from recombine.checks.verdicts import prediction as predicting
from recombine.checks.verdicts.queries import describe
from recombine.checks.verdicts.verdict import CheckResult
from recombine.errors import InputError, NoPlan
from recombine.space import Level
from recombine.support.one_target import target_name
from recombine.support.split import split_of
from recombine.support.table import Missing, Table, factor_names

MOST_QUERIES = 10_000


@one_thread
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
    weights: str | None = None,
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
    ``split="column=value"`` the rows that have this value (the others are training; where some are called train,
    those alone), or the rows without an answer
    (where these were all seen, the grid too); ``grid`` asks about the grid as well. ``order`` m: effects of up to m
    factors at once. ``numeric`` names factors that are numbers, which act along a straight line, or with {name:
    "spline"} along a smooth curve. ``blocks`` names columns that shift the answer and are not recombined, such as a day
    or a plate: their shifts are taken off (numbers only), and answers are those of an average one; "site:block" names
    blocks that are numbered anew within each level of the factor site.
    ``weights`` names a column of positive numbers, how many cases each row stands for (or how precise it is): rows that
    weigh more count for more, as far as their noise goes (`checks/rules/weighing.py`), and ranges are as wide as what
    an asked row weighs makes them, or of a typical seen row where that is not told.
    ``merge_alike`` takes texts that differ only in spaces or capitals for one level.
    ``min_support``: a combination counts as trained from this many rows on. ``cost`` prices cells to collect — a
    function of a combination, or {factor: {level: price}} whose prices add up — and ``forbid`` lists (partial)
    combinations that cannot be collected, ``exclude`` those that cannot exist or are no data (a total), of which rows
    are left out, and ``purpose`` says what the rows are for: a budget to be spent well, or an error to be reached.
    ``salience`` or ``depth`` choose the learner whose behaviour is predicted; ``rules`` ("forest", "networks") join
    the contest of rules behind the forecast.

    Examples:
        >>> table = {"shape": ["disc", "disc", "square"], "colour": ["red", "blue", "red"], "price": [3.0, 4.0, 5.0]}
        >>> result = check(table, factors=["shape", "colour"], target="price")
        >>> result.combination(result.queries[0].codes), result.queries[0].status
        ({'shape': 'square', 'colour': 'blue'}, 'determined')
        >>> result.verdict  # three rows cannot show that effects add up
        'assumption unsupported'
    """
    _refuse(split, test, min_support, max_queries, seed)
    target = target_name(target)
    pair, lines = split_of(split), shapes(numeric, factor_names(factors))
    _refuse_two_parts(target, factor_names(factors), blocks, pair)
    if weights is not None:
        _refuse_weights(weights, target, factor_names(factors), blocks, rules, purpose or Purpose())
    how: dict[str, Any] = {
        "target": target, "target_kind": target_kind, "split": pair, "bins": bins, "numbers": lines, "missing": missing,
        "merge_alike": merge_alike, "max_rows": max_rows, "max_bytes": max_bytes, "weights": weights,
        "exclude": exclude,
    }  # fmt: skip
    given = read_given(table, test, factors, grid=grid, blocks=blocks, min_support=min_support, order=order, **how)
    train, space = given.train, given.train.space
    known = Identifiability(train.codes, space.shape, order, curves_of(space, train.codes, lines))
    asked = _ask(known, given, max_queries, seed)
    learner = salience is not None or depth != 1  # who asked about none misses nothing said of one
    prediction, no_prediction = _predict(known, given, asked, salience, depth)
    judged = judge(known, train, asked, given.asked, rules, seed)
    other_columns = _other_columns(table, given, order, judged, how)
    judged, repeats = shared_repeats(table, given, known, judged, other_columns, how)
    judged, drifts = with_drift(table, given, asked, judged, order, [*other_columns, *repeats], how)
    judged, units = with_pair(judged, train), _units(table, train, how)
    slips, unlike = _suspects(train, known, asked, judged, rules, seed) if units is None else ([units.words], [])
    if slips and judged.forecast is not None:  # one slip among repeated rows passes for noise of all
        judged = replace(judged, forecast=replace(judged.forecast, error_many_rows=None))
    if given.shifts is not None and judged.forecast is not None:
        judged = replace(judged, forecast=given.shifts.for_others(judged.forecast))
    plain = levels_only(train, known.curves)
    pairs = pair_tables(plain.codes, plain.counts, plain.space.shape) if plain is not None else {}
    queries, directions = _described(known, given, pairs, asked, prediction, judged)
    advice = _to_collect(known, given, asked, cost, forbid)
    sums = totals(train, known.curves)
    within = nested(train.codes, asked.codes, space, known.curves) if given.on_grid else []
    result = CheckResult(
        space=space, order=order, known=known, row_counts=train.counts, asked=given.words,
        counts=asked.counts, share=asked.share, total=asked.total, worst=asked.worst,
        rank_train=known.rank, rank_needed=known.rank + advice.needed,
        queries=queries, directions=directions, advice=advice, coverage=_coverage(known, given, pairs),
        pieces=connected_components(known, space), groups=level_groups(known, space),
        confounding=_confounding(train, plain, pairs, draws, seed),
        additivity=judged.additivity, rescaled=judged.rescaled, answers=train.target, prediction=prediction,
        forecast=judged.forecast, shifts=given.shifts, unseen_levels=levels_never_seen(known, space),
        slips=len(slips), units=units is not None, coded=coded(train) is not None, totals=named(sums, space),
        texts=texts_in(table, space.names),
        within=tuple(within),
        notes=(
            *slips, *misspelt(levels_never_seen(known, space), space), *words_of(sums, space),
            *supposed(given.notes, judged), *other_columns, *repeats, *drifts, *unlike,
            *numbers_unseen(known, train, given.wanted), *(no_prediction if learner else []), *judged.why_not,
            *notes_on(train, known, asked, given.asked, queries, judged, prediction, learner or "networks" in rules),
            *never_together(known, train.counts, pairs, asked, space, judged.forecast),
            *together(train.codes, asked.codes, space, known.curves),
            *in_words(within, space),
            *(shared_by_missing(known, space, pairs, given.exclude) if given.on_grid else []),
        ),
        settings={
            "factors": list(space.names), "target": target, "split": None if pair is None else f"{pair[0]}={pair[1]}",
            "test": str(test) if isinstance(test, (str, Path)) else None, "grid": grid, "order": order,
            "min_support": min_support, "bins": dict(bins or {}), "numeric": lines,
            "blocks": factor_names(blocks) if blocks else [], "weights": weights, "missing": missing,
            "merge_alike": merge_alike, "salience": salience, "depth": depth, "rules": list(rules), "draws": draws,
            "seed": seed,
        },
    )  # fmt: skip
    as_share = per_cents(judged, result.doubt is not None, known, train, asked, seed)
    few = few_rows(train, known) if result.doubt else []
    result = replace(result, notes=(*result.notes, *as_share, *few))
    try:
        return replace(result, plan=_planned(result, known, given, judged, purpose or Purpose(), cost, forbid, seed))
    except NoPlan as why:
        return replace(result, unplanned=str(why))


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


def _refuse_two_parts(
    target: str | None, factors: Sequence[str], blocks: str | Sequence[str], split: tuple[str, str] | None
) -> None:
    """An error where a block or the split is a factor or the target as well."""
    shifting = blocks_of(blocks, factors)[0] if blocks else ()
    if target is not None and split is not None and split[0] == target:
        raise InputError(f"{target!r} cannot be both the target and the column that says which rows are asked about.")
    for name in shifting:
        if name in factors:
            raise InputError(
                f"{name!r} cannot be both a factor and a block: a factor is recombined, a block only shifts answers; "
                "leave it out of one of them."
            )
        if name == target:
            raise InputError(f"{name!r} cannot be both the target and a block; a block is what shifts the target.")


def _refuse_weights(
    weights: str, target: str | None, factors: Sequence[str], blocks: str | Sequence[str], rules: Sequence[str],
    purpose: Purpose,
) -> None:  # fmt: skip
    """An error where rows would weigh alike after all, or a column would have two parts."""
    if target is None:
        raise InputError(f"the weights {weights!r} say how much each answer tells; name the target too.")
    parts = {"the target": [target], "a factor": factors, "a block": factor_names(blocks) if blocks else []}
    for part, names in parts.items():
        if weights in names:
            raise InputError(f"{weights!r} cannot be both {part} and the weights.")
    if rules:
        take = "takes" if len(rules) == 1 else "take"
        raise InputError(f"{' and '.join(rules)} {take} all rows alike; leave out the weights, or the rules.")
    if purpose.budget is not None or purpose.error is not None:
        raise InputError("a plan (--budget, --until-error) takes all rows alike; leave the weights out.")


def _ask(known: Identifiability, given: Given, most: int, seed: int) -> Asked:
    """About the combinations that are wanted, or about the grid minus training."""
    if given.wanted is None:
        return ask_grid(known, given.train.space, most, seed, given.exclude)
    return replace(ask_table(known, given.wanted, most), weights=given.asked_weights)


def _other_columns(table: Any, given: Given, order: int, judged: Judged, how: dict[str, Any]) -> list[str]:
    """What is said of a column that is no factor and explains what the factors leave."""
    if given.train.rows > MOST_ROWS or how["target"] is None:
        return []
    with suppress(InputError):  # what other columns hold is no reason to stop
        return unnamed(table, given.train.space.names, given.blocks, order, judged.scale, judged.contradicted, **how)
    return []


def _units(table: Any, train: Table, how: dict[str, Any]) -> Mixed | None:
    """Rows that seem to be in another unit."""
    with suppress(InputError):  # what other columns hold is no reason to stop
        return mixed_units(table, train, **how)
    return None


def _suspects(
    train: Table, known: Identifiability, asked: Asked, judged: Judged, rules: Sequence[str], seed: int
) -> tuple[list[str], list[str]]:
    """What is said of answers that may be slips, and of those that merely lie far off or a level that responds unlike
    the others."""
    slips = without_slips(*slips_in(train, known), train, known, asked, rules, seed, judged.forecast)
    against = where_answered(judged.additivity, judged.rescaled) if judged.contradicted else None
    return slips, [*([] if slips else far_in(train, known)), *without_level(against, train, known, asked, rules, seed)]


def _described(
    known: Identifiability, given: Given, pairs: Pairs, asked: Asked, prediction: predicting.Prediction | None,
    judged: Judged,
) -> tuple[tuple[Query, ...], tuple[Direction, ...]]:  # fmt: skip
    """Everything said about each query; where shifts were taken off, ranges are as wide as these are uncertain."""
    target, shifts, told = given.train.target, given.shifts, judged.forecast
    queries, directions = describe(known, given.train.counts, pairs, asked, prediction, told, target)
    if shifts is not None and target is not None:
        ends = target.bounds if told is None else told.bounds
        queries = tuple(shifts.widened(query, *ends) for query in queries)
    return queries, directions


def _to_collect(
    known: Identifiability, given: Given, asked: Asked, cost: Cost | None, forbid: Sequence[Mapping[str, Level]]
) -> Advice:
    """The combinations that determine what is asked."""
    train, wanted, shifts = given.train, given.wanted, given.shifts
    advice = plan_collection(known, train.space, train, wanted, cost, forbid, given.exclude)
    advice = advice if shifts is None else shifts.advised(advice)
    return replace(advice, outside=known.still_beyond(asked.codes, advice.cells))


def _coverage(known: Identifiability, given: Given, pairs: Pairs) -> Coverage:
    """Of what is asked about, or of all combinations that can exist."""
    space = given.train.space
    possible = existing(space, given.exclude) if given.exclude and given.asked is None else given.wanted
    numbers = known.curves
    return coverage(given.train.codes, space.shape, possible, numbers=numbers, pairs=None if numbers else pairs)


def _planned(
    result: CheckResult, known: Identifiability, given: Given, judged: Judged, purpose: Purpose, cost: Cost | None,
    forbid: Sequence[Mapping[str, Level]], seed: int,
) -> Plan | None:  # fmt: skip
    """The rows that serve a purpose, where one was named, with what their errors rest on: that may be doubted, which is
    known only once all is judged."""
    told, doubted = result.forecast, result.doubt is not None
    distinct = doubted or not judged.adds_up(known.order)
    doubted |= result.order == 1 and told is not None and told.by_pairs
    scale = judged.scale if doubted or told is None else told.scale  # that of the answers, if nothing speaks against it
    plan = plan_for(
        known, given.train, given.wanted, purpose, cost, forbid, given.exclude, seed, judged.forecast, scale,
        distinct, given.shifts, doubted,
    )  # fmt: skip
    if plan is None:
        return None
    rule, rests = None if told is None else told.rule, result.rests if doubted else plan.assumes
    plan = replace(plan, assumes=rests, forecast=rule, doubted=doubted, whole=given.asked is None)
    return plan.in_runs(seed)


def _confounding(train: Table, plain: Table | None, pairs: Pairs, draws: int, seed: int) -> Confounding:
    """Of the factors that are levels; where none is, only how thinly combinations are seen."""
    if plain is None:
        return Confounding((), int((train.counts < THIN).sum()), len(train.counts))
    return confounding(plain, pairs, draws, seed)


def _predict(
    known: Identifiability, given: Given, asked: Asked, salience: float | None, depth: int
) -> tuple[predicting.Prediction | None, list[str]]:
    """What the usual learner will do, or a note on why that is not said."""
    train = given.train
    found = predicting.predict(
        known, train.space.names, asked.codes, asked.status, train.target, _asked_answers(asked, given.asked),
        salience=salience, depth=depth,
    )  # fmt: skip
    return (None, [found]) if isinstance(found, str) else (found, [])


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
