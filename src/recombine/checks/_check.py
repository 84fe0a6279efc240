"""`check`: know before training which unseen combinations can be answered."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from recombine.checks import prediction as predicting
from recombine.checks._coverage import coverage
from recombine.checks.additivity import Additivity, additivity
from recombine.checks.cells import existing, shared_by_missing
from recombine.checks.collecting import Cost, Purpose, plan_collection, plan_for
from recombine.checks.components import connected_components, level_groups, levels_never_seen
from recombine.checks.confounding import THIN, Confounding, confounding
from recombine.checks.curves import Numeric, curves_of, shapes
from recombine.checks.forecast import Forecast, forecast, shown
from recombine.checks.identifiability import DETERMINED, Identifiability
from recombine.checks.modular import Floats
from recombine.checks.outliers import outliers
from recombine.checks.queries import describe
from recombine.checks.queries_asked import Asked, ask_grid, ask_table
from recombine.checks.reading import (
    MOST_WRITTEN,
    in_words,
    levels_only,
    not_asked,
    numbers_unseen,
    read,
    split_of,
    with_grid,
)
from recombine.checks.rules import Cells, scaled
from recombine.checks.tables import pair_tables
from recombine.checks.verdict import CheckResult, Query, scale_of
from recombine.errors import InputError
from recombine.space import Level, about
from recombine.support.table import Missing, Table, Target, factor_names

MOST_QUERIES = 10_000
SMALL = 15
"""Seen combinations below which the forecast's interval held less often than it says."""
NEAR = 5
"""How near to 0 and 100 answers come that may be per cents."""
WORTH_A_WORD = 0.1
"""Share of the asked pull from which a shortcut that does not win is mentioned."""


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
    ``split="column=value"`` the rows that have this value (the others are training), or the rows without an answer;
    ``grid`` asks about the grid as well. ``order`` m: effects of up to m factors at once. ``numeric`` names factors
    that are numbers, which act along a straight line, or with {name: "spline"} along a smooth curve.
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
    train, asked_table, questions, notes = read(
        table, test, factors, min_support, target=target, target_kind=target_kind, split=pair, bins=bins, numbers=lines,
        missing=missing, merge_alike=merge_alike, max_rows=max_rows, max_bytes=max_bytes,
    )  # fmt: skip
    space, answered = train.space, train.target
    if grid and asked_table is not None:
        asked_table = with_grid(asked_table, train, exclude)
    test_codes = None if asked_table is None else asked_table.codes
    curves = curves_of(space, train.codes, lines)
    known = Identifiability(train.codes, space.shape, order, curves)
    if test_codes is None:
        asked = ask_grid(known, space, max_queries, seed, exclude)
    else:
        asked = ask_table(known, test_codes, max_queries)
    wanted = None if test_codes is None else test_codes.astype(np.int64)
    advice = plan_collection(known, space, train, wanted, cost, forbid, exclude)
    prediction, why_not = _predict(known, train, asked, asked_table, salience, depth)
    expected, no_forecast = _forecast(known, train, asked, rules, seed)
    fit = _additivity(known, train, expected)
    rescaled = _rescaled(known, train, fit, expected)
    scale = expected.scale if expected is not None and scale_of(rescaled) else None
    plan = plan_for(known, train, wanted, purpose or Purpose(), cost, forbid, exclude, seed, expected, scale)
    plain = levels_only(train, curves)
    pairs = pair_tables(plain.codes, plain.counts, plain.space.shape) if plain is not None else {}
    shared = shared_by_missing(known, space, pairs, exclude) if test_codes is None or grid else []
    besides, unasked = "", list[str]()
    if questions is not None and test is None and pair is None and not grid:
        besides, unasked = not_asked(known, space, questions.codes.astype(np.int64), exclude)
    queries, directions = describe(known, train.counts, pairs, asked, prediction, expected, answered)
    result = CheckResult(
        space=space,
        order=order,
        known=known,
        row_counts=train.counts,
        asked=in_words(questions, pair, test, grid) + besides,
        counts=asked.counts,
        share=asked.share,
        total=asked.total,
        worst=asked.worst,
        rank_train=known.rank,
        rank_needed=known.rank + advice.needed,
        queries=queries,
        directions=directions,
        advice=advice,
        coverage=coverage(
            train.codes,
            space.shape,
            existing(space, exclude) if exclude and wanted is None else test_codes,
            numbers=curves,
            pairs=None if curves else pairs,
        ),
        pieces=connected_components(known, space),
        groups=level_groups(known, space),
        confounding=confounding(plain, pairs, draws, seed)
        if plain is not None
        else Confounding((), int((train.counts < THIN).sum()), len(train.counts)),
        additivity=fit,
        rescaled=rescaled,
        answers=answered,
        prediction=prediction,
        forecast=expected,
        unseen_levels=levels_never_seen(known, space),
        notes=(
            *unasked,
            *notes,
            *numbers_unseen(known, space, wanted),
            *why_not,
            *no_forecast,
            *_far_off(train),
            *_small(train, expected),
            *_warnings(answered, fit, rescaled, prediction, expected),
            *_per_cent(train.target, expected),
            *_below_zero(train.target, queries),
            *_bends(known, space.names, fit),
            *_long_sums(queries),
            *_part(asked),
            *shared,
        ),
        settings={
            "factors": list(space.names),
            "target": target,
            "split": None if pair is None else f"{pair[0]}={pair[1]}",
            "test": str(test) if isinstance(test, (str, Path)) else None,
            "grid": grid,
            "order": order,
            "min_support": min_support,
            "bins": dict(bins or {}),
            "numeric": lines,
            "missing": missing,
            "merge_alike": merge_alike,
            "salience": salience,
            "depth": depth,
            "rules": list(rules),
            "draws": draws,
            "seed": seed,
        },
    )
    if plan is None:
        return result
    # What its errors rest on may be contradicted, which is known only now.
    beside = None if expected is None else expected.rule
    return replace(result, plan=replace(plan, assumes=result.rests, forecast=beside))


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


def _predict(
    known: Identifiability, train: Table, asked: Asked, asked_table: Table | None, salience: float | None, depth: int
) -> tuple[predicting.Prediction | None, list[str]]:
    """What the usual learner will do, or a note on why that is not said."""
    found = predicting.predict(
        known, train.space.names, asked.codes, asked.status, train.target, _asked_answers(asked, asked_table),
        salience=salience, depth=depth,
    )  # fmt: skip
    return (None, [found]) if isinstance(found, str) else (found, [])


def _forecast(
    known: Identifiability, train: Table, asked: Asked, rules: Sequence[str], seed: int
) -> tuple[Forecast | None, list[str]]:
    """The error to expect on the determined cells, or a note on why that is not said."""
    target = train.target
    if target is None or asked.worst == "seen":
        return None, []
    cells = Cells.of(known.codes, known.shape, target, known.curves)
    found = forecast(
        cells, asked.codes[asked.status == DETERMINED].astype(np.int64), assumed=known.order, more=rules, seed=seed
    )
    if isinstance(found, str):
        return None, [found]
    # Of very many asked cells a part was passed on, which stands for all of them.
    return found if asked.counts is None else replace(found, cells=asked.counts["determined"]), []


def _additivity(known: Identifiability, train: Table, expected: Forecast | None) -> Additivity | None:
    if train.target is None:
        return None
    found = additivity(known, train.target, train.space.names)
    explained = next((r.explained for r in expected.rules if r.rule == "additive"), None) if expected else None
    return replace(found, explained=explained)


def _rescaled(
    known: Identifiability, train: Table, fit: Additivity | None, expected: Forecast | None
) -> Additivity | None:
    """The same test on the scale of the recommended rule, where that is another one and explains something, and adding
    up in the answer's own units is rejected. (Where it is only not shown, noise would find itself a scale.)"""
    scale = expected.scale if expected is not None and expected.beats else None
    if train.target is None or fit is None or not fit.rejected or scale is None:
        return None
    return replace(additivity(known, scaled(train.target, scale), train.space.names), scale=scale.name)


def _warnings(
    target: Target | None,
    fit: Additivity | None,
    rescaled: Additivity | None,
    prediction: predicting.Prediction | None,
    expected: Forecast | None,
) -> list[str]:
    notes = []
    if fit is not None and fit.rejected and expected is not None and not (rescaled and rescaled.rejected is False):
        notes.append(f"“determined” rests on effects that add up, which is rejected here{_instead(expected)}.")
    shortcut = prediction.shortcut if prediction else None
    holds = expected is not None and expected.explains is not False
    if holds and shortcut is not None and (shortcut.outweighs or shortcut.when_asked < -WORTH_A_WORD):
        strength = (
            "outweighs what points the right way" if shortcut.outweighs else "is weaker than what points the right way"
        )
        notes.append(
            f"Shortcut: {' × '.join(shortcut.factors)} agrees with the answers in training and opposes them "
            f"where asked (judged by {shortcut.judged_by}); for a {prediction.learner if prediction else ''} "
            f"it {strength}."
        )
    if target is not None and prediction is not None and not (target.count > 0).all():
        notes.append("no kernel prediction of answers: some training combinations have no target.")
    return notes


def _instead(expected: Forecast) -> str:
    """What answers come from where effects do not add up."""
    if expected.rule == "constant":
        return ", and no rule that was tried beats the same answer for all"
    if expected.assumed is not None and expected.rule == expected.assumed.rule:
        return "; no rule that was tried does better, so the answers are sums, as wrong as the forecast says"
    pairs = "; --order 2 tells what is determined if pairs act together" if expected.rule == "pairs" else ""
    return f": the answers are those of the rule “{expected.rule}” instead{pairs}"


def _far_off(train: Table) -> list[str]:
    """Answers that may be slips: one of them changes the forecast, the test and every answer."""
    apart = outliers(train.target)
    if train.target is None or not apart:
        return []
    named = [
        f"{shown(float(train.target.mean[i]))} of ({', '.join(map(str, record.values()))})"
        for i, record in zip(apart, train.space.decode(train.codes[apart]), strict=True)
    ]
    what = "the answer {} lies" if len(named) == 1 else "the answers {} lie"
    return [f"{what.format(', '.join(named))} far from all others: look for a slip, it changes everything said here."]


def _small(train: Table, expected: Forecast | None) -> list[str]:
    if train.target is None or expected is None or expected.metric != "rmse" or (train.target.count > 0).sum() >= SMALL:
        return []
    return ["on tables this small the forecast's 90 % interval held about three times in four when tried."]


def _per_cent(target: Target | None, expected: Forecast | None) -> list[str]:
    """What to try where another rule than adding up is best and the answers may be per cents that nothing calls so."""
    if target is None or not target.numeric or target.share or expected is None or expected.rule == "additive":
        return []
    y = target.mean[target.count > 0]
    if not (0 <= y.min() <= NEAR and 100 - NEAR <= y.max() <= 100):
        return []
    return [f"{target.name} lies between 0 and 100: if these are per cents, a % sign lets log-odds be tried."]


def _below_zero(target: Target | None, queries: Sequence[Query]) -> list[str]:
    """Where ranges leave what may be possible. Nothing is cut: of degrees as of counts all that were seen may be whole
    numbers from 0 on, so only a person knows; and the ranges were tried as they are."""
    ranged = [q for q in queries if q.low is not None]
    below = sum((q.low or 0.0) < 0 for q in ranged)
    if target is None or not target.numeric or not below or target.mean[target.count > 0].min() < 0:
        return []
    wrong = sum(isinstance(q.prediction, float) and q.prediction < 0 for q in ranged)
    answers = f" and {wrong:,} answer{'s' if wrong != 1 else ''}" if wrong else ""
    which = f"{below:,} of {len(ranged):,} ranges{answers} reach below 0, which no seen answer does"
    return [f"{which}: if answers cannot be negative, read 0 there; a range cut so holds as often."]


def _bends(known: Identifiability, names: tuple[str, ...], fit: Additivity | None) -> list[str]:
    """What to try where a number does not act along a straight line."""
    straight = [names[k] for k, c in known.curves.items() if c.shape == "linear" and c.bent() is not None]
    bent = [n for n in straight if fit is not None and fit.rejected and fit.evidence.find(f"{n} beyond") >= 0]
    return [f"{n} does not act along a straight line; a curve may do: --numeric {shlex.quote(n)}=spline." for n in bent]


def _long_sums(queries: Sequence[Query]) -> list[str]:
    if not any(q.status == "determined" and q.terms is None for q in queries):
        return []
    return [
        "some sums behind “determined” have long fractions and are not written out; ask "
        ".witness(combination) for any of them."
    ]


def _part(asked: Asked) -> list[str]:
    if len(asked.codes) >= asked.total:
        return []
    many = f"{asked.total:,}" if asked.total < MOST_WRITTEN else about(asked.total)
    listed = f"{len(asked.codes):,} of the {many} combinations asked about are listed, here and in files"
    return [f"{listed}; for others name them with --test."]


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
