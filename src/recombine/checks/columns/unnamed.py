"""A column that nobody named and that explains what the factors leave: a day, an operator, a temperature, a drift.

    F = (Σ over directions of the column that x leaves of their squares / their number) / (the rest / its freedom)

for each column whose values recur, a shift of each value, and for each of numbers or times, a line and a bend over its
ranks; on normal scores of what least squares leaves, which no single large error moves. Of a column only what the
factors do not tell counts, and all of it must be told apart from them: sin² of its principal angles with x is at least
`SEPARATE`; of what combinations leave by themselves, those directions count that are. Of classes, the share of each
among rows is tried, beside combinations: log-odds that add up are no sums of shares. The smallest p-value is multiplied
by the ways in which its column was tried, and by the columns tried.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import coo_array
from scipy.special import fdtrc, ndtri

from recombine.checks.adds_up.between import Means, Way, by_dealing, kept_to, one_each
from recombine.checks.as_read import per_cent
from recombine.checks.columns import computed
from recombine.checks.columns.bystanders import MOST_COLUMNS
from recombine.checks.columns.cases import by_cases, counts_cases, words
from recombine.checks.columns.measured import numbers_runs
from recombine.checks.columns.steady import steady
from recombine.checks.exact.curves import curves_of
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.headed import Headed, Moving
from recombine.checks.rules.effects import EXACT, LEAST_FREEDOM
from recombine.checks.rules.scales import Scale, scaled
from recombine.checks.rules.weighing import worth_in
from recombine.errors import InputError
from recombine.space import FactorSpace, Level, quoted
from recombine.support import times
from recombine.support.numerals import read_numbers
from recombine.support.pasted import argument, hint, option
from recombine.support.scan import collect, scan
from recombine.support.table import Table, Target, read_tables

MOST_ROWS, MOST_LEVELS, LARGEST = 20_000, 600, 1_000_000
"""Rows, levels of a column, and rows × effects, up to which it is tried: it takes longer than all else in `check`."""
BY_CHANCE, MUCH = 0.03, 0.1
"""p-value, all columns counted, and the share of what is left from which one is named. (At 0.05 up to 6.8 % of planted
tables where nothing acts had a column named, as the test is not exact.)"""
OF_CLASSES = 0.02, 0.01
"""The same of classes: rare ones make the test less exact, and most of their scatter is chance, so that shifts of
log-odds by 1 may explain no more."""
MOST = 0.5
"""The share from which the first lines say so: what is left would scatter by less than three quarters as much."""
MOST_CLASSES = 10
"""Classes, the commonest, that are tried."""
SEPARATE = 0.1
FEWEST_VALUES = 6
"""Different numbers or times from which a line and a bend say it in clearly fewer words than a shift of each."""
SEVERAL = 3
"""Rows for each value of a number or time, on average, from which a shift of each is advised where it drifts: of fewer
the many shifts may cost more than the few parts leave, if it drifts little."""
BINS = 4
"""Parts that a number is cut into where its shifts are to be taken off."""
Kind = str
"""What a column may be besides levels: "number", "time", or neither, ""."""


@dataclass(frozen=True, eq=False)
class Beside:
    """A column as it is tried."""

    levels: Ints | None = None
    """The level of each row, where levels recur."""
    order: Floats | None = None
    """A number for each row that says what is more, where it is a number or a time."""

    @property
    def several(self) -> bool:
        """Whether values have several rows each, as days do."""
        return self.levels is not None and len(self.levels) >= SEVERAL * len(np.unique(self.levels))

    def ways(self, root: Floats) -> list[Way]:
        """Directions, orthonormal where row i has the weight rootᵢ², the first of them (together) the constant."""
        found = list[Way]()
        if self.levels is not None:
            _, level = np.unique(self.levels, return_inverse=True)
            size = np.sqrt(np.bincount(level, root**2))
            found.append(Way(coo_array((root / size[level], (level, np.arange(len(root))))).tocsr()))
        if self.order is not None:
            bend = np.hstack([np.ones((len(root), 1)), over_ranks(self.order)])
            found.append(Way(np.linalg.qr(bend * root[:, None])[0].T, lined=True))
        return found


def over_ranks(order: Floats) -> Floats:
    """A line and a bend over the ranks of these numbers, from −1 to 1."""
    _, at, many = np.unique(order, return_inverse=True, return_counts=True)
    place = ((np.cumsum(many) - many / 2) / len(order) * 2 - 1)[at]
    return np.stack([place, place**2], axis=1)


@dataclass(frozen=True)
class Explaining:
    """The column that explains most, by its place."""

    place: int
    share: float
    p_value: float
    tried: int
    """Columns tried; one that was tried twice, within and between combinations, counts twice."""
    lined: bool
    """Whether a line and a bend explain more than a shift of each value."""
    between: bool = False
    """Whether it is of what adding up leaves between combinations."""
    of_classes: bool = False

    def named(self, tried: int) -> bool:
        """Whether it is no chance, so many columns tried, and not little."""
        chance, much = OF_CLASSES if self.of_classes else (BY_CHANCE, MUCH)
        return self.p_value * tried < chance and self.share >= much

    @property
    def what(self) -> str:
        return "what adding up leaves between combinations" if self.between else "the scatter that the factors leave"


def unnamed(
    table: Any, factors: Sequence[str], blocks: Sequence[str], order: int, scale: Scale | None, alone: bool, **how: Any
) -> list[str]:
    """A sentence on the column that explains most of what the factors leave, where that is no chance; ``alone``: of
    what is left of each combination by itself, or between them, where effects do not add up. ``how`` is what
    `read_tables` takes."""
    split = how.get("split")
    used = {*factors, *blocks, how["target"], *(split[:1] if split else ())}
    if how["target"] is None:
        return []
    recurring, kinds = _others(table, used, how["target"], how.get("max_bytes"))
    lines = how.get("numbers") or {}
    for others in (dict.fromkeys([*recurring, *kinds]), dict.fromkeys(recurring)):
        if not others:
            return []
        numbers = {**lines, **{n: "linear" for n in others if kinds.get(n) == "number"}}
        how_here = {**how, "missing": "drop", "numbers": numbers}
        read = read_tables([table], [*factors, *blocks, *others], once=True, **how_here)[0]
        if read.target is None:
            return []
        known, at = _combinations(read, len(factors), order, lines)
        by_cell = alone or not read.target.numeric
        x = _effects(read, known, at, len(blocks), by_cell)
        if x is not None:  # else without the columns that keep rows of a combination apart
            break
    else:
        return []
    told, target, names = read.target.count > 0, read.target, [*others]
    columns = [
        Beside(
            read.codes[told, k].astype(np.int64) if name in recurring else None,
            ordered(name, kinds.get(name, ""), read.space[name].levels or ())[read.codes[told, k]]
            if name in kinds else None,
        )
        for k, name in enumerate(names, len(factors) + len(blocks))
    ]  # fmt: skip
    plain = target.of(told) if target.numeric else None
    answers = _as_numbers(target.of(told)) if plain is None else [plain if scale is None else scaled(plain, scale)]
    y, count = answers[0].mean, answers[0].count
    weighed, weight = how.get("weights"), worth_in(x, answers[0], None if scale is None else y)
    ways = [column.ways(np.sqrt(weight)) for column in columns]
    single = plain is not None and bool((count == 1).all())
    numbers_ = [(k, c.order) for k, c in enumerate(columns) if kinds.get(names[k]) == "number" and c.order is not None]
    counted = [(k, n) for k, n in numbers_ if counts_cases(n, names[k])] if single and not weighed else []
    given = plain.mean if plain is not None and single else None
    made = None if given is None else computed.quotient(given, numbers_) or computed.share_of(given, counted)
    counted = computed.not_outcomes(counted, made)
    few = by_cases(x, y, counted) if counted else None
    said = [] if few is None else [words(names[few.place], few)]
    if made is not None and (made.part is not None or not said):
        part, n = None if made.part is None else names[made.part], dict(numbers_)[made.whole]
        for place in (made.whole,) if made.part is None else (made.part, made.whole):
            ways[place] = []
        counts = made.whole in dict(counted) and not said
        said += [computed.words(quoted(how["target"]), part, names[made.whole], n, counts, made.times)]
    if weighed in names:
        ways[names.index(weighed)] = []
    of_each = (each(x, one.mean, count, float(one.spread.sum()), ways, weight=weight, part=by_cell) for one in answers)
    found, apart = _surest(of_each), list[Explaining]()
    means, sums = Means(at, count), _effects(read, known, at, len(blocks), False) if alone else None
    if sums is not None:
        there, once = [[means.way(way) for way in of_one] for of_one in ways], np.ones(len(known.codes), dtype=np.int64)
        x_means, y_means = means.of(sums), [means.of(one.mean)[:, 0] for one in answers]
        apart = [
            replace(one, between=True) for one in _surest(each(x_means, y, once, 0.0, there, True) for y in y_means)
        ]
    every = [replace(one, of_classes=plain is None) for one in [*found, *apart]]
    if (best := likeliest(every)) is not None:
        order_ = columns[best.place].order
        line = (
            plain is not None
            and not blocks
            and order_ is not None
            and steady(at[:, None], x, order_, plain) is not None
        )
        note, much = (
            _words(names[best.place], best, kinds, columns[best.place], target.classes, line),
            f"{per_cent(best.share)} of {best.what}",
        )
        gist = f"Column {quoted(names[best.place])}, which is not named, explains {much}: a note says what to do."
        name, column = names[best.place], columns[best.place]
        levels = [str(level) for level in read.space[name].levels or ()]
        kind = "time" if times.are_days(levels) else kinds.get(name, "")
        moving = Moving(name, kind, best.lined, best.lined and _numbers_rows(column.order), best.between)
        return [Headed(note, gist if best.share >= MOST else "", moving), *said]
    told_of, several = {one.place for one in apart}, plain is not None and count.sum() > len(known.codes)
    for place, column in enumerate(columns if sums is not None and several else []):
        if place in told_of or column.levels is None or _measured(column):
            continue
        if kept_to(known, at, column.levels):
            return [*one_each(names[place], known, tuple(factors), means.of(y)[:, 0]), *said]
    return said


def _as_numbers(target: Target) -> list[Target]:
    """Of each class (of two, of one) the share of it among rows: what differs in its chance differs in its mean."""
    common = np.argsort(-(target.count @ target.mean), kind="stable")[:MOST_CLASSES]
    found = []
    for k in common[: 1 if target.mean.shape[1] == 2 else None]:
        share = target.mean[:, k]
        found.append(replace(target, classes=None, mean=share, spread=target.count * share * (1 - share)))
    return found


def _surest(of_each: Iterable[Sequence[Explaining]]) -> list[Explaining]:
    """Of each column what it explains of the answers, one of several, that it explains most surely."""
    several, best = list(of_each), dict[int, Explaining]()
    for one in (replace(one, p_value=one.p_value * len(several)) for found in several for one in found):
        if one.place not in best or one.p_value < best[one.place].p_value:
            best[one.place] = one
    return list(best.values())


def _numbers_rows(order: Floats | None) -> bool:
    """Whether these number the rows, from 1 on or without a gap."""
    return order is not None and numbers_runs(order) and len(np.unique(order)) == len(order)


def _words(
    name: str, found: Explaining, kinds: Mapping[str, Kind], column: Beside, classes: Sequence[str] | None,
    line: bool,
) -> str:  # fmt: skip
    beside = f", corrected for the {found.tried} columns looked at" if found.tried > 1 else ""
    chance = f"p = {found.p_value:.1g}" if found.p_value >= 1e-4 else "p below 0.0001"
    first = f"column {quoted(name)}, which is not named, explains {per_cent(found.share)} of {found.what}"
    first += f"{', by a line or a bend along it' if found.lined else ''} ({chance}{beside})"
    first += "; what contradicts that effects add up may be that. If it was " if found.between else ": if it was "
    block, numbers = hint("block", name), kinds.get(name) == "number"
    factor = f"name it as a factor with {hint('numeric', name)}"
    leave = "if it is another result, leave it"
    runs = not numbers or (column.order is not None and numbers_runs(column.order))
    if _measured(column) or (found.lined and not runs):  # a covariate or an outcome: of neither shifts are taken off
        return (
            f"{first}there before the answers, as a temperature is, {factor}, and answers are asked at its values; "
            f"{leave}."
        )
    if classes is not None:
        return (
            f"{first}there before the answers, as a day or an operator is, {for_classes(name, len(classes))}; {leave}."
        )
    if line and numbers and runs:
        blocks = block if column.several else in_parts(name)
        return (
            f"{first}there before the answers, as the number of a run or a week is, {factor}, as it follows a line, "
            f"and answers are asked at its values; or with {blocks}, and they are of an average one; {leave}."
        )
    if not found.lined or column.several:
        named = f"name it with {block}, and its shifts are taken off"
        if not runs:
            measures = f"if it measures something, {factor}; {leave}"
            return f"{first}there before the answers and says which day or batch, {named}; {measures}."
        return (
            f"{first}there before the answers, as a day or an operator is, {named}; or as a factor if its levels can "
            f"be had again, and combinations with them are asked about and planned; {leave}."
        )
    if not numbers:
        return (
            f"{first}there before the answers, something drifts: write its day or week into a column of its own and "
            "name that with --block (blocks), and its shifts are taken off."
        )
    return (
        f"{first}there before the answers, as the number of a run is, {in_parts(name)} takes its shifts off in {BINS} "
        f"steps; if it measures something, {factor}; {leave}."
    )


def in_parts(name: str, bins: int = BINS) -> str:
    """The options that take shifts of parts of a number off."""
    python = f"{argument('bins', {name: bins})}, {argument('block', (name,))}"
    return f"{option('bins', f'{name}={bins}')} {option('block', name)} ({python})"


def for_classes(name: str, classes: int) -> str:
    """What to do about a column whose shifts cannot be taken off, as answers are classes."""
    numbers = f"write the classes as 0 and 1 and name it with --target-kind number {hint('block', name)}"
    return f"name it, or its weeks or parts, as a factor{f', or {numbers}' if classes == 2 else ''}"


def _others(
    table: Any, used: Collection[str | None], target: str, max_bytes: int | None
) -> tuple[list[str], dict[str, Kind]]:
    """The columns besides those used that have no gaps in answered rows: those whose values recur, twice on average,
    and those that are numbers or times, of which there are more than a few."""
    frame = scan(table, max_bytes=max_bytes).filter(pl.col(target).is_not_null())
    held = frame.collect_schema()
    names = [n for n, kind in held.items() if n not in used and not kind.is_nested() and kind != pl.Object]
    rows = collect(frame.select(names[:MOST_COLUMNS])) if names else pl.DataFrame()
    levels = {n: rows[n].n_unique() for n in rows.columns if not rows[n].null_count()}
    kinds = {n: kind_of(n, rows[n]) for n, many in levels.items() if many >= FEWEST_VALUES}
    recurring = [n for n, many in levels.items() if 2 <= many <= min(len(rows) // 2, MOST_LEVELS)]
    return recurring, {n: kind for n, kind in kinds.items() if kind}


def kind_of(name: str, column: pl.Series) -> Kind:
    if column.dtype.is_temporal():
        return "time"
    if column.dtype.is_numeric():
        return _of_numbers(name, column.to_list()) if column.is_finite().all() else ""
    with suppress(InputError):  # an infinite number, or texts that are no times
        texts = column.cast(pl.String).unique()
        numbers = read_numbers(name, texts.head(MOST_COLUMNS))
        if numbers is not None and len(numbers.values) == len(texts.head(MOST_COLUMNS)):
            values = (read_numbers(name, texts) or numbers).values
            return _of_numbers(name, list(values.values())) if len(values) == len(texts) else ""
        times.ranks(name, texts.head(MOST_COLUMNS))
        times.ranks(name, texts)
        return "time"
    return ""


def _of_numbers(name: str, values: Sequence[float]) -> Kind:
    return "time" if times.are_moments(name, values) else "number"


def ordered(name: str, kind: Kind, levels: Sequence[Level]) -> Floats:
    """What is more, for each level."""
    if kind == "number":
        return np.array([float(v) for v in levels])
    return times.ranks(name, pl.Series([str(v) for v in levels])).astype(np.float64)


def _combinations(read: Table, held: int, order: int, lines: Mapping[str, str]) -> tuple[Identifiability, Ints]:
    """The combinations of factors that have an answer, and which of them each answer is of."""
    assert read.target is not None
    codes = read.codes[read.target.count > 0].astype(np.int64)
    space = FactorSpace(read.space.factors[:held])
    cells, at = np.unique(codes[:, :held], axis=0, return_inverse=True)
    return Identifiability(cells, space.shape, order, curves_of(space, codes, lines)), at.ravel()


def _effects(read: Table, known: Identifiability, at: Ints, blocks: int, alone: bool) -> Floats | None:
    """What the factors (and named blocks) may add to each answer; None where it is too much to try."""
    assert read.target is not None
    codes, cells, held = read.codes[read.target.count > 0].astype(np.int64), known.codes, len(known.shape)
    effects = len(cells) if alone else known.rows.rows(cells[:1]).shape[1]
    sizes = [len(f) for f in read.space.factors[held : held + blocks]]
    if len(codes) * (effects + sum(sizes)) > LARGEST:
        return None
    shifts = [np.eye(n)[codes[:, held + k]] for k, n in enumerate(sizes)]
    return np.hstack([(np.eye(len(cells)) if alone else known.rows.floats(cells))[at], *shifts])


def _measured(column: Beside) -> bool:
    """Whether a column is of numbers with fractions, which name no plate."""
    return column.order is not None and bool((column.order % 1 != 0).any())


def explaining(x: Floats, y: Floats, count: Ints, within: float, columns: Sequence[Beside]) -> Explaining | None:
    """Which of the columns explains most of what x leaves of the answers, each the mean of ``count`` rows that differ
    by ``within`` in all. None where it may be chance, or is little."""
    return likeliest(each(x, y, count, within, [column.ways(np.sqrt(count)) for column in columns]))


def likeliest(found: Sequence[Explaining]) -> Explaining | None:
    """The one that is least a matter of chance, all counted that were tried. None where it may be, or is little."""
    if not found:
        return None
    best = min(found, key=lambda one: one.p_value)
    named = best.named(len(found))
    return replace(best, p_value=best.p_value * len(found), tried=len(found)) if named else None


def each(
    x: Floats, y: Floats, count: Ints, within: float, columns: Sequence[Sequence[Way]], dealt: bool = False,
    weight: Floats | None = None, part: bool = False,
) -> list[Explaining]:  # fmt: skip
    """What each column that can be tried explains, by the best of its ways; ``dealt``: which has to stand when the
    column is dealt anew; ``weight``: what each answer is worth, else as many rows as it has; ``part``: whether
    only those directions of a column are left aside that x tells, not all of it."""
    weight = count.astype(np.float64) if weight is None else weight
    root = np.sqrt(weight)
    u, sizes, _ = np.linalg.svd(x * root[:, None], full_matrices=False)
    q = u[:, sizes > 1e-9 * sizes[0]]
    left = y * root - q @ (q.T @ (y * root))
    if float(left @ left) <= EXACT * float(np.square((y - np.average(y, weights=weight)) * root).sum()):
        return []
    _, at, many = np.unique(left, return_inverse=True, return_counts=True)
    scores = ndtri((np.cumsum(many) - many / 2)[at] / len(left))
    scores -= q @ (q.T @ scores)
    whole, rows, found = float(left @ left) + within, int(count.sum()) - q.shape[1], list[Explaining]()
    for place, column in enumerate(columns):
        tried = list[tuple[float, float, bool]]()
        for way in column:
            into, size = way.into, way.into.shape[0]
            apart, axes = np.linalg.eigh(np.eye(size) - (into @ q) @ (into @ q).T)
            first = max(1, int((apart < SEPARATE).sum())) if part else 1
            more = size - first
            free = len(left) - q.shape[1] - more
            if more < 1 or free < LEAST_FREEDOM or apart[first] < SEPARATE:
                continue
            own, scored = (float(((axes[:, first:].T @ (into @ e)) ** 2 / apart[first:]).sum()) for e in (left, scores))
            rest = max(float(scores @ scores) - scored, 1e-300)
            p_value = float(fdtrc(more, free, scored / more * free / rest))
            if dealt and p_value < BY_CHANCE:
                p_value = max(p_value, by_dealing(into, q, scores, scored, SEPARATE))
            tried.append((p_value, 1 - (whole - own) / (rows - more) / (whole / rows), way.lined))
        if tried:
            p_value, share, lined = min(tried)
            found.append(Explaining(place, share, p_value * len(tried), 1, lined))
    return found
