"""What `check` reads: the tables, blanks among their answers, and what is worth saying about them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from recombine.checks.columns import in_blocks
from recombine.checks.columns.blocks import Shifts, without_shifts
from recombine.checks.columns.bystanders import MOST_ROWS, bystanders
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.exact.modular import Floats
from recombine.checks.exact.tables import tally
from recombine.checks.headed import Headed
from recombine.errors import InputError
from recombine.space import Codes, Factor, FactorSpace
from recombine.support.numerals import LARGEST_ANSWER, of_one_quantity, refuse_enormous, refuse_tiny
from recombine.support.pasted import hint
from recombine.support.scan import scan
from recombine.support.table import Table, Target, factor_names, read_tables
from recombine.support.times import are_days, are_moments

LOOKED_AT = 100
"""Rows that tell what a column holds."""
MANY, NEARLY_ALL = 20, 0.9
"""Levels, and the share of them in a single row, from which a factor may be an identifier."""
FEW = 8
"""Levels from which it may be one where every row has its own, while levels of another factor recur."""
FEWEST = 3
"""Seen numbers from which a factor with unseen ones may be a measurement."""
LIKELY, MOST_MEASURED = 6, 50
"""Seen numbers from which, and up to which, the first lines say so where some that are asked about lie between them and
levels recur: not of identifiers, nor of years to come."""


def read(
    table: Any,
    test: Any,
    factors: Sequence[str],
    min_support: int,
    blocks: Sequence[str] = (),
    order: int = 1,
    inside: Mapping[str, str] | None = None,
    **how: Any,
) -> tuple[Table, Table | None, Table | None, list[str], Shifts | None]:
    """The training table, the table that is asked about (None: the grid), those of its rows that are training rows
    without an answer, what is worth saying about reading, and the shifts of ``blocks`` that were taken off the answers
    (``inside``: the factor in whose levels they are numbered anew); ``how`` is what `read_tables` takes. A row without
    an answer is a question: asked about, not trained on."""
    tables = read_tables(
        [table] if test is None else [table, test], [*factor_names(factors), *blocks], once=True, beside=blocks, **how
    )
    for told in (table.target for table in tables):
        if told is not None and told.ends is not None and told.count.any():
            ends = float(told.ends[told.count > 0].min()), float(told.ends[told.count > 0].max())
            refuse_enormous(told.name, ends, most=LARGEST_ANSWER)
            refuse_tiny(told.name, ends)
    shifts = None
    if blocks:
        tables, shifts = without_shifts(tables, blocks, order, how.get("numbers") or {}, inside, how.get("bins") or {})
    train, asked = tables[0], tables[1] if len(tables) > 1 else None
    train, questions = _answered(train)
    notes = [*([shifts.words] if shifts else []), *_reading_notes(train, asked, how.get("numbers") or ())]
    if train.rows <= MOST_ROWS:
        split, bins = how.get("split"), how.get("bins") or {}
        used = {how.get("target"), how.get("weights"), *bins, *blocks, *(split[:1] if split else ())}
        plain = [n for n in train.space.names if n not in bins]
        with suppress(InputError):  # such as more bytes in other columns than are allowed: no reason to stop
            notes += bystanders(table, plain, used, how.get("merge_alike"), how.get("max_bytes"))
            if train.rows <= in_blocks.MOST_ROWS:
                notes += in_blocks.in_blocks(
                    table,
                    plain,
                    used,
                    how.get("target"),
                    how.get("merge_alike"),
                    how.get("max_bytes"),
                    [n for n in blocks if n not in bins],
                )
    if questions is not None:
        are = "is" if questions.rows == 1 else "are"
        notes.append(f"{_rows(questions)} without an answer in {how['target']!r} {are} asked about, not trained on.")
        asked = questions if asked is None else both(asked, questions)
    return _supported(train, min_support), asked, questions, notes, shifts


def blocks_of(blocks: str | Sequence[str], factors: Sequence[str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Columns of blocks, and of those written as site:block the factor in whose levels they are numbered anew."""
    pairs = [(n, *n.partition(":")) for n in factor_names(blocks)]
    named = [((factor, block) if block and factor in factors else ("", n)) for n, factor, _, block in pairs]
    return tuple(name for _, name in named), {name: factor for factor, name in named if factor}


def levels_only(train: Table, numbers: Collection[int]) -> Table | None:
    """The table without the factors that are numbers, or None where nothing is left."""
    kept = [k for k in range(len(train.space)) if k not in numbers]
    if not kept:
        return None
    space = FactorSpace(tuple(train.space.factors[k] for k in kept))
    return replace(train, space=space, codes=train.codes[:, kept]) if numbers else train


def numbers_unseen(known: Identifiability, train: Table, asked: Codes | None) -> list[str]:
    """A sentence on each factor that looks like a measurement: numbers of which some are asked and were never seen."""
    found, ids = list[str](), identifiers(train)
    for k, (factor, seen) in enumerate(zip(train.space.factors, known.seen_levels, strict=True)):
        levels = factor.levels or ()
        new = [] if asked is None else [levels[c] for c in np.unique(asked[:, k]) if not seen[c]]
        if (
            new
            and seen.sum() >= FEWEST
            and not are_moments(factor.name, levels)
            and all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in levels)
        ):
            name, some = factor.name, ", ".join(str(v) for v in new[:3]) + (" …" if len(new) > 3 else "")
            shown, numeric = [v for v, s in zip(levels, seen, strict=True) if s], hint("numeric", name)
            between = any(min(shown) < v < max(shown) for v in new)
            likely = between and LIKELY <= len(shown) <= MOST_MEASURED and name not in ids
            found.append(
                Headed(
                    f"{name} holds numbers, and some that are asked about were never seen ({some}); if it measures "
                    f"something, {numeric} answers between seen ones.",
                    f"If {name} measures something, {numeric} answers between its seen numbers." if likely else "",
                )
            )
    return found


def texts_in(table: Any, names: Sequence[str]) -> frozenset[str]:
    """Factors whose column holds texts; of a text file, where every column does, none."""
    if isinstance(table, (str, Path, np.ndarray)):
        return frozenset()
    columns = isinstance(table, Mapping)
    some = {n: list(islice(v, LOOKED_AT)) for n, v in table.items()} if columns else table.head(LOOKED_AT)
    return frozenset(n for n, kind in scan(some).collect_schema().items() if n in names and kind == pl.String)


def _rows(table: Table) -> str:
    return f"{table.rows:,} row{'s' if table.rows > 1 else ''}"


def _answered(train: Table) -> tuple[Table, Table | None]:
    """The rows with an answer, and those without (None where every row has one, or the table has no answers)."""
    target = train.target
    if target is None or (target.count == train.counts).all():
        return train, None
    told, untold = target.count > 0, train.counts > target.count
    if not told.any():
        raise InputError(f"no training row has an answer in {target.name!r}, so there is nothing to learn from.")
    weight = train.weight
    seen, new = (None, None) if weight is None else (weight[told], _blank(weight, target)[untold])
    kept = replace(train, codes=train.codes[told], counts=target.count[told], target=target.of(told), weight=seen)
    rest = (train.counts - target.count)[untold]
    return kept, replace(train, codes=train.codes[untold], counts=rest, target=None, dropped=0, weight=new)


def _blank(weight: Floats, target: Target) -> Floats:
    """What the rows without an answer weigh, NaN where that is not told."""
    left = weight - target.weight
    return np.where(left > 1e-9 * weight, left, np.nan)


def both(asked: Table, questions: Table) -> Table:
    """What is asked about on purpose, then those of the questions that are not in it."""
    new = ~asked.support().contains(questions.codes.astype(np.int64))
    codes = np.concatenate([asked.codes, questions.codes[new]])
    counts = np.concatenate([asked.counts, questions.counts[new]])
    target = asked.target
    if target is not None:
        none = np.zeros(int(new.sum()))
        mean = np.concatenate([target.mean, np.zeros((len(none), *target.mean.shape[1:]))])
        count = np.concatenate([target.count, none.astype(np.int64)])
        weights = None if target.weights is None else np.concatenate([target.weights, none])
        spread = np.concatenate([target.spread, none])
        target = replace(target, count=count, mean=mean, spread=spread, ends=None, weights=weights)
    told = [np.full(len(t.codes), np.nan) if t.weight is None else t.weight for t in (asked, questions)]
    weight = None if asked.weight is None and questions.weight is None else np.concatenate([told[0], told[1][new]])
    return replace(asked, codes=codes, counts=counts, target=target, weight=weight)


def _supported(train: Table, min_support: int) -> Table:
    keep = train.counts >= min_support
    if not keep.any():
        raise InputError(
            f"no combination occurs in {min_support} rows or more; the most frequent has {int(train.counts.max())}."
        )
    if keep.all():
        return train
    target = None if train.target is None else train.target.of(keep)
    weight = None if train.weight is None else train.weight[keep]
    return replace(train, codes=train.codes[keep], counts=train.counts[keep], target=target, weight=weight)


def identifiers(train: Table, numbers: Collection[str] = ()) -> dict[str, int]:
    """Factors that may be identifiers, as their levels hardly recur, with how many are in a single row."""
    factors, found = train.space.factors, {}
    recurs = any(2 * len(f) <= train.rows for f in factors)
    for k, factor in enumerate(factors):
        once = int((tally(train.codes[:, k], train.counts, len(factor)) == 1).sum())
        own = recurs and once == len(factor) >= FEW and not any(isinstance(v, float) for v in factor.levels or ())
        if factor.name not in numbers and (own or (len(factor) >= MANY and once > NEARLY_ALL * len(factor))):
            found[factor.name] = once
    return found


def _as_written(factors: Sequence[Factor]) -> list[str]:
    """Sentences on levels that are dates, or amounts in several units: nothing is read out of them."""
    days, said = list[str](), list[str]()
    for factor in factors:
        some = (factor.levels or ())[:LOOKED_AT]
        levels = [v for v in some if isinstance(v, str)]
        if are_moments(factor.name, [v for v in some if not isinstance(v, str)]) and not levels:
            days.append(factor.name)
        elif len(levels) < min(len(factor), LOOKED_AT) or len(levels) < 2:
            continue
        elif are_days(levels):
            days.append(factor.name)
        elif units := of_one_quantity(levels):
            which = f"levels in several units ({', '.join(units)})"
            said.append(f"{factor.name} has {which}, which count as different; write all in one.")
    if days:
        hold = "holds dates" if len(days) == 1 else "hold dates"
        other = f"{hint('block', *days)} takes off what a date shifts"
        said.insert(0, f"{' and '.join(days)} {hold}, each taken as a level of its own ({other}).")
    return said


def _reading_notes(train: Table, asked: Table | None, numbers: Collection[str]) -> list[str]:
    notes = list(train.notes)
    dropped = train.dropped + (asked.dropped if asked else 0)
    if dropped:
        rows = "row with a missing factor was" if dropped == 1 else "rows with missing factors were"
        notes.append(f"{dropped:,} {rows} left out.")
    if len(train.space) == 1:
        notes.append("With one factor there is nothing to recombine; name two or more.")
    for name, once in identifiers(train, numbers).items():
        which = f"{once:,} of the {len(train.space[name]):,} levels of {name} occur in a single row"
        notes.append(
            f"{which}, as those of an identifier do: if it is one leave it out, as what is recombined must recur and "
            "rows to collect would have past ones."
        )
    notes += _as_written([factor for factor in train.space.factors if factor.name not in numbers])
    single = [f.name for f in train.space.factors if len(f) == 1]
    if single:
        have = "has" if len(single) == 1 else "have"
        notes.append(f"{', '.join(single)} {have} one level only and cannot be recombined.")
    if train.target is not None and train.target.conflicts:
        many = f"{train.target.conflicts:,} of {len(train.counts):,} training combinations"
        notes.append(
            f"{many} have several rows with different answers: their mean is used, their spread is noise."
            if train.target.numeric
            else f"In {many} rows disagree about the answer; their shares are used."
        )
    return notes
