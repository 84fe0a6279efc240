"""`check`: know before training which unseen combinations can be answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from recombine.checks import prediction as predicting
from recombine.checks.additivity import additivity
from recombine.checks.asked import Asked, ask_grid, ask_table
from recombine.checks.collecting import Cost, plan_collection
from recombine.checks.confounding import answer_counts, confounding
from recombine.checks.coverage import coverage
from recombine.checks.identifiability import Identifiability
from recombine.checks.pieces import connected_pieces, level_groups, levels_never_seen
from recombine.checks.queries import describe
from recombine.checks.tables import pair_tables
from recombine.checks.verdict import CheckResult
from recombine.errors import InputError
from recombine.space import Level
from recombine.support.table import Missing, Table, Target, read_tables

MOST_QUERIES = 10_000
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
    order: int = 1,
    min_support: int = 1,
    bins: Mapping[str, int] | None = None,
    missing: Missing = "error",
    cost: Cost | None = None,
    forbid: Sequence[Mapping[str, Level]] = (),
    salience: float | None = None,
    depth: int = 1,
    max_queries: int = MOST_QUERIES,
    max_rows: int | None = None,
    max_bytes: int | None = None,
    draws: int = 999,
    seed: int = 0,
) -> CheckResult:
    """Which combinations can any learner get right from this table, which not, and which rows to collect.

    ``table`` is a file (CSV, Parquet), a polars or pandas frame, an array or a dictionary; ``factors`` are its columns
    that are recombined. Asked about is the grid of the table's levels minus training, or a ``test`` table, or with
    ``split="column=value"`` the rows that have this value (the others are training). ``order`` m: effects of up to m
    factors at once. ``min_support``: a combination counts as trained from this many rows on. ``cost`` prices cells to
    collect — a function of a combination, or {factor: {level: price}} whose prices add up — and ``forbid`` lists
    (partial) combinations that cannot be collected. ``salience`` or ``depth`` choose the learner whose behaviour is
    predicted.
    """
    if split is not None and test is not None:
        raise InputError("give either a split or a test table, not both.")
    if min_support < 1:
        raise InputError(f"min_support is {min_support}; give 1 or more rows.")
    if not 1 <= max_queries <= MOST_QUERIES:
        raise InputError(f"max_queries is {max_queries}; give 1 … {MOST_QUERIES:,}.")
    pair = _split(split)
    tables = read_tables(
        [table] if test is None else [table, test],
        factors,
        target=target,
        target_kind=target_kind,
        split=pair,
        bins=bins,
        missing=missing,
        max_rows=max_rows,
        max_bytes=max_bytes,
    )
    train, asked_table = tables[0], tables[1] if len(tables) > 1 else None
    notes = _reading_notes(train, asked_table)
    train = _supported(train, min_support)
    space = train.space
    if not 1 <= order <= len(space):
        raise InputError(
            f"order {order} is not possible with {len(space)} factor{'s' if len(space) > 1 else ''}; use 1 … "
            f"{len(space)}."
        )
    known = Identifiability(train.codes, space.shape, order)
    asked = (
        ask_grid(known, space, max_queries, seed)
        if asked_table is None
        else ask_table(known, asked_table.codes, max_queries)
    )
    advice = plan_collection(
        known, space, train, None if asked_table is None else asked_table.codes.astype(np.int64), cost, forbid
    )
    answers = None if asked_table is None or asked_table.target is None else asked_table.target
    predicted = predicting.predict(
        known,
        space.names,
        asked.codes,
        asked.status,
        train.target,
        _asked_answers(asked, asked_table, answers),
        salience=salience,
        depth=depth,
    )
    fit = additivity(known, train.target) if train.target is not None else None
    prediction = None if isinstance(predicted, str) else predicted
    notes += [predicted] if isinstance(predicted, str) else []
    notes += _warnings(train.target, fit, prediction)
    pairs = pair_tables(train.codes, train.counts, space.shape)
    queries, directions = describe(known, train.counts, pairs, asked, prediction, train.target)
    seen_answers = answer_counts(train.target) if train.target is not None else None
    if any(q.status == "determined" and q.terms is None for q in queries):
        notes.append(
            "some sums behind “determined” have long fractions and are not written out; ask "
            ".witness(combination) for any of them."
        )
    what = _in_words(asked_table, pair, test)
    return CheckResult(
        space=space,
        order=order,
        known=known,
        row_counts=train.counts,
        asked=what,
        counts=asked.counts,
        share=asked.share,
        total=asked.total,
        worst=asked.worst,
        rank_train=known.rank,
        rank_needed=known.rank + advice.needed,
        queries=queries,
        directions=directions,
        advice=advice,
        coverage=coverage(train.codes, space.shape, None if asked_table is None else asked_table.codes),
        pieces=connected_pieces(known, space),
        groups=level_groups(known, space),
        confounding=confounding(
            train.codes, train.counts, space.names, space.shape, pairs, seen_answers, target or "", draws, seed
        ),
        additivity=fit,
        prediction=prediction,
        unseen_levels=levels_never_seen(known, space),
        notes=tuple(notes),
        settings={
            "factors": list(space.names),
            "target": target,
            "split": None if pair is None else f"{pair[0]}={pair[1]}",
            "test": str(test) if isinstance(test, (str, Path)) else None,
            "order": order,
            "min_support": min_support,
            "bins": dict(bins or {}),
            "missing": missing,
            "salience": salience,
            "depth": depth,
            "draws": draws,
            "seed": seed,
        },
    )


def _split(split: str | tuple[str, str] | None) -> tuple[str, str] | None:
    if split is None or not isinstance(split, str):
        return None if split is None else (str(split[0]), str(split[1]))
    column, sign, value = split.partition("=")
    if not sign or not column or not value:
        raise InputError(f"split is {split!r}; write column=value, for example split=test.")
    return column, value


def _in_words(asked: Table | None, split: tuple[str, str] | None, test: Any) -> str:
    if asked is None:
        return "the grid of the table's levels minus training"
    return (
        f"the rows with {split[0]} = {split[1]}"
        if split
        else f"the test table {test}"
        if isinstance(test, (str, Path))
        else "the test table"
    )


def _supported(train: Table, min_support: int) -> Table:
    keep = train.counts >= min_support
    if not keep.any():
        raise InputError(
            f"no combination occurs in {min_support} rows or more; the most frequent has {int(train.counts.max())}."
        )
    if keep.all():
        return train
    target = train.target
    if target is not None:
        target = Target(target.name, target.classes, target.count[keep], target.mean[keep], target.spread[keep])
    return Table(train.space, train.codes[keep], train.counts[keep], train.dropped, target)


def _reading_notes(train: Table, asked: Table | None) -> list[str]:
    notes = []
    dropped = train.dropped + (asked.dropped if asked else 0)
    if dropped:
        notes.append(f"{dropped:,} rows with missing factors were left out.")
    single = [f.name for f in train.space.factors if len(f) == 1]
    if single:
        notes.append(
            f"{', '.join(single)} has one level only and cannot be recombined."
            if len(single) == 1
            else f"{', '.join(single)} have one level only and cannot be recombined."
        )
    if train.target is not None and train.target.conflicts:
        notes.append(
            f"{train.target.conflicts:,} training combinations were given different answers in different rows; "
            "their average is used."
        )
    return notes


def _warnings(target: Target | None, fit: Any, prediction: predicting.Prediction | None) -> list[str]:
    notes = []
    if fit is not None and fit.rejected:
        notes.append(
            f"The additive assumption itself does not hold: {fit.words} Read every “determined” with that in "
            "mind, or raise the order."
        )
    shortcut = prediction.shortcut if prediction else None
    if shortcut is not None and (shortcut.outweighs or shortcut.when_asked < -WORTH_A_WORD):
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


def _asked_answers(asked: Asked, table: Table | None, target: Target | None) -> Any:
    """Mean asked target of each query (two classes as ±1), NaN where there is none."""
    if table is None or target is None or (target.classes is not None and len(target.classes) != 2):
        return None
    values = target.mean if target.classes is None else 2 * target.mean[:, 1] - 1
    values = np.where(target.count > 0, values, np.nan)
    if np.isnan(values).all():
        return None
    place = {row.tobytes(): i for i, row in enumerate(np.ascontiguousarray(table.codes.astype(np.int64)))}
    return np.array([values[place[row.tobytes()]] for row in np.ascontiguousarray(asked.codes.astype(np.int64))])
