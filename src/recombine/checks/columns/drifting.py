"""A drift over an order that nobody named: over times, numbers of rows, or the rows of the table as they stand.

    y = x β + D γ + ε,    F of γ = γ̂ᵀ V⁻¹ γ̂ / directions,    D a line and a bend over ranks of the order

beside sums of all factors, however much of D looks like one of them, of normal scores of what sums leave (of classes,
of what log-odds that add up leave). Means of combinations and rows around these each have a noise of their own: where
pairs act the first is larger, and a table that is sorted keeps its order between combinations.

Rows stand in no order of time where a column that is no factor rises along them, or their answers do. No order tells
where it sorts rows by combination: the factors change along it, and what pairs do would look like a bend. Whole numbers
that number the rows, or never fall along them, are such an order; other numbers may be measured (`unnamed`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy.special import fdtrc, ndtri

from recombine.checks.columns.bystanders import MOST_COLUMNS
from recombine.checks.columns.in_blocks import describes, shared_by, times_of
from recombine.checks.columns.measured import as_numbers, numbers_runs
from recombine.checks.columns.steady import steady
from recombine.checks.columns.taken_off import same_levels
from recombine.checks.columns.unnamed import BINS, FEWEST_VALUES, LARGEST, SEVERAL, for_classes, in_parts, over_ranks
from recombine.checks.exact.curves import curves_of
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.rules.drifted import Drift
from recombine.checks.rules.effects import EXACT, LEAST_FREEDOM
from recombine.checks.rules.logits import Logits
from recombine.checks.rules.scales import Scale
from recombine.checks.rules.weighing import worth_in
from recombine.errors import InputError
from recombine.support.pasted import hint, option
from recombine.support.rows import ROW, told_rows
from recombine.support.table import Table, Target, read_tables

CHANCE = 0.02
"""p-value below which answers drift, times the orders that are tried."""
SPARE = 0.01
"""Share of a direction that sums leave from which it is tried: of levels one after another, 1 / levels²."""
DEALT = 999
"""How often classes are dealt anew to the rows of their combination."""
ROWS = ""
"""The order in which rows stand."""


@dataclass(frozen=True, eq=False)
class _Rows:
    """Training rows that have an answer, in the order of the table."""

    frame: pl.DataFrame
    """All of their columns."""
    codes: Ints
    """Of the factors."""
    told: Target
    known: Identifiability
    x: Floats
    """What the factors may add to each."""
    shifts: Floats
    """The same of named blocks."""
    along: str | None
    """The block that never falls along the rows: what drifts along these goes on within it."""
    parts: int
    """Values that it has."""

    @property
    def both(self) -> Floats:
        return np.hstack([self.x, self.shifts])

    @property
    def cell(self) -> Ints:
        """Which combination each row is of."""
        return np.unique(self.codes, axis=0, return_inverse=True)[1].ravel()


@dataclass(frozen=True, eq=False)
class _Slopes:
    """What an order explains."""

    p_value: float
    share: float
    along: Floats
    """Directions that sums leave (rows × directions)."""
    slopes: Floats
    varies: Floats


def drifting(
    table: Any, train: Table, blocks: Sequence[str], order: int, scale: Scale | None, **how: Any
) -> Drift | None:
    """The drift that is surest; None where none is beyond chance. ``how`` is what `read_tables` takes."""
    with suppress(InputError):  # what other columns hold is no reason to stop
        if (rows := _read(table, train, blocks, order, how)) is None:
            return None
        split = how.get("split") or ()
        orders = _orders(
            rows,
            {*train.space.names, *blocks, how["target"], *split[:1]},
            {*train.space.names},
            {*(how.get("bins") or {})},
        )
        problems = list(_problems(rows.both, rows.cell, rows.told, scale)) if orders else []
        found, tried = dict[str, _Slopes](), 0
        for name, values in orders.items():
            bent = over_ranks(values)
            ways = [one for columns in (bent[:, :1], bent) if (one := _over(columns, problems, rows.cell)) is not None]
            tried += len(ways)
            found |= {name: min(ways, key=lambda one: one.p_value)} if ways else {}
        column = min(found, key=lambda name: found[name].p_value, default=None)
        if column is not None and found[column].p_value * tried < CHANCE:
            line = found[column].along.shape[1] == 1
            if rows.told.classes is not None and _when_dealt(orders[column], rows, line) * tried >= CHANCE:
                return None
            best = replace(found[column], p_value=found[column].p_value * tried)
            return _found(column, orders[column], best, rows, problems[0].root, train.space.names)
    return None


def _read(table: Any, train: Table, blocks: Sequence[str], order: int, how: Mapping[str, Any]) -> _Rows | None:
    """None where there are copies, which count once, or it is too much."""
    names, lines = train.space.names, how.get("numbers") or {}
    frame = told_rows(table, how["target"], how.get("split"), how.get("max_bytes")).collect()
    read = read_tables([frame], [*names, *blocks, ROW], **{**how, "split": None, "missing": "drop"})[0]
    if read.target is None or train.target is None or not same_levels(read, train, len(blocks) + 1):
        return None
    use, held = read.target.count > 0, len(names)
    codes, told = read.codes[use].astype(np.int64), read.target.of(use)
    if len(codes) != int(told.count.sum()) or (not blocks and len(codes) != int(train.target.count.sum())):
        return None
    row = np.array(read.space[ROW].levels or (), dtype=np.int64)[codes[:, -1]]
    place = np.argsort(row)
    codes, told = codes[place], _in_order(told, place)
    kept = frame[np.searchsorted(frame[ROW].to_numpy(), row[place])]
    factors = codes[:, :held]
    known = Identifiability(factors, train.space.shape, order, curves_of(train.space, factors, lines))
    sizes = [len(factor) for factor in read.space.factors[held:-1]]
    if len(codes) * (known.rows.rows(factors[:1]).shape[1] + sum(sizes)) > LARGEST:
        return None
    shifts = np.hstack([np.zeros((len(codes), 0)), *(np.eye(n)[codes[:, held + k]] for k, n in enumerate(sizes))])
    rising = [(n, k) for k, n in enumerate(sizes) if _rises(codes[:, held + k])]
    parts, along = max(((n, blocks[k]) for n, k in rising), default=(0, None))
    return _Rows(kept, factors, told, known, known.rows.floats(factors), shifts, along, parts)


def _rises(block: Ints) -> bool:
    """Whether each value has rows next to each other, as blocks that follow one another have."""
    return int((np.diff(block) != 0).sum()) == len(np.unique(block)) - 1


def _in_order(told: Target, place: Ints) -> Target:
    weights = None if told.weights is None else told.weights[place]
    return replace(
        told, count=told.count[place], mean=told.mean[place], spread=told.spread[place], ends=None, weights=weights
    )


def _found(column: str, order: Floats, best: _Slopes, rows: _Rows, root: Floats, names: Sequence[str]) -> Drift:
    """What sums make of it."""
    effects, weight = rows.x.shape[1], root[:, None]
    taken: Floats = np.asarray(
        np.linalg.lstsq(rows.both * weight, best.along * weight, rcond=1e-9)[0], dtype=np.float64
    )
    usual = rows.x * weight / np.sqrt((root**2).mean())
    centred = best.along - np.average(best.along, axis=0, weights=root**2)
    spread = (centred * weight).T @ (centred * weight) / float((root**2).sum())
    alike = [shared_by(_dense(level), order) for level in rows.codes.T]
    number = column != ROWS and as_numbers(rows.frame[column]).dtype.is_numeric()
    usually = rows.shifts.mean(axis=0) @ taken[effects:]
    return Drift(
        column, names[int(np.argmax(alike))], max(alike), best.share, best.p_value, _to_do(column, order, rows, number),
        rows.known, taken[:effects], usually, best.slopes, best.varies, spread,
        np.asarray(np.linalg.pinv(usual.T @ usual, rcond=1e-9), dtype=np.float64),
    )  # fmt: skip


def _orders(
    rows: _Rows, used: Collection[str | None], factors: Collection[str], binned: Collection[str]
) -> dict[str, Floats]:
    """Times, numbers of rows, and the rows themselves, where they may be in an order of time: not where a factor that
    is cut into bins rises along them, as answers change with it within a bin."""
    found, sorted_by, frame = dict[str, Floats](), False, rows.frame
    levels = [_dense(level) for level in rows.codes.T]
    names = [n for n, kind in frame.schema.items() if n != ROW and n not in factors and not kind.is_nested()]
    for name in binned:
        exact = as_numbers(frame[name])
        sorted_by = sorted_by or exact.is_sorted() or exact.is_sorted(descending=True)
    for name in [n for n in names if frame.schema[n] != pl.Object][:MOST_COLUMNS]:
        column = as_numbers(frame[name])
        if column.null_count() or column.n_unique() < FEWEST_VALUES:
            continue
        order = times_of(name, column)
        if order is None and column.dtype.is_numeric():
            values = column.to_numpy().astype(np.float64)
            if not np.isfinite(values).all():
                continue
            rises = bool((np.diff(values) >= 0).all())
            if numbers_runs(values) and (rises or len(np.unique(values)) == len(values)):
                order = values
            sorted_by = sorted_by or rises or bool((np.diff(values) <= 0).all())
        if order is None:
            continue
        sorted_by = sorted_by or bool((np.diff(order) >= 0).all()) or bool((np.diff(order) <= 0).all())
        if name not in used and not any(describes(_dense(order), level) for level in levels):
            found[name] = order
    if not (sorted_by or _by_answers(levels, rows.cell, rows.told)):
        found[ROWS] = np.arange(len(frame), dtype=np.float64)
    return {name: order for name, order in found.items() if not _by_combination(order, levels, rows.cell)}


def _by_combination(order: Floats, levels: Sequence[Ints], cell: Ints) -> bool:
    """Whether rows of each combination stand together in this order, and those of each level of some factor."""
    place = np.lexsort((cell, *levels[::-1], order))  # at one time they have no order

    def together(of: Ints) -> bool:
        return int((np.diff(of[place]) != 0).sum()) == len(np.unique(of)) - 1

    return together(cell) and any(map(together, levels))


def _by_answers(levels: Sequence[Ints], cell: Ints, told: Target) -> bool:
    """Whether rows are sorted by their answers, in all or within levels of a factor or combinations."""
    y = told.mean if told.numeric else told.mean.argmax(axis=1)
    for group in (np.zeros(len(y), np.int64), *levels, cell):
        order = np.argsort(group, kind="stable")
        step = np.diff(y[order])[np.diff(group[order]) == 0]
        if told.numeric and len(step) >= LEAST_FREEDOM and ((step >= 0).all() or (step <= 0).all()):
            return True
        if not told.numeric and len(step) >= LEAST_FREEDOM:
            kinds = len(np.unique(np.stack([group, y], axis=1), axis=0)) - len(np.unique(group))
            if int((step != 0).sum()) <= kinds < len(step) / 2:
                return True
    return False


def _dense(values: Ints | Floats) -> Ints:
    return np.unique(values, return_inverse=True)[1].ravel()


class _Problem(NamedTuple):
    """An answer: roots of what rows are worth, what sums leave, the same as normal scores, and a basis of sums."""

    root: Floats
    left: Floats
    scores: Floats
    q: Floats


def _problems(x: Floats, cell: Ints, told: Target, scale: Scale | None) -> Iterator[_Problem]:
    """The answer, or whether it is each class: of two, the second."""
    if told.numeric:
        with np.errstate(divide="ignore", invalid="ignore"):  # rows of a positive mean may be 0
            y = told.mean if scale is None else scale.forth(told.mean)
        if not np.isfinite(y).all():
            return
        root = np.sqrt(worth_in(x, told, None if scale is None else y))
        q = _basis(x * root[:, None])
        left = y * root - q @ (q.T @ (y * root))
        if float(left @ left) <= EXACT * float(np.square((y - y.mean()) * root).sum()):
            return
        _, at, many = np.unique(left, return_inverse=True, return_counts=True)
        scores = ndtri((np.cumsum(many) - many / 2)[at] / len(left))
        yield _Problem(root, left, scores - q @ (q.T @ scores), q)
        return
    first = np.unique(cell, return_index=True)[1]
    counts = np.bincount(cell).astype(np.float64)
    classes = told.mean.shape[1]
    for c in range(classes) if classes > 2 else [1]:
        share = np.bincount(cell, told.mean[:, c]) / counts
        fit = Logits.of(x[first], np.stack([1 - share, share], axis=1), counts)
        p = np.clip(fit.p[cell, 1], 1e-4, 1 - 1e-4)
        root = np.sqrt(p * (1 - p))
        q = _basis(x * root[:, None])
        left = (told.mean[:, c] - p) / root
        left -= q @ (q.T @ left)
        yield _Problem(root, left, left, q)


def _basis(x: Floats) -> Floats:
    u, sizes, _ = np.linalg.svd(x, full_matrices=False)
    return np.asarray(u[:, sizes > 1e-9 * sizes[0]])


def _over(columns: Floats, problems: Sequence[_Problem], cell: Ints) -> _Slopes | None:
    """What these columns explain; None where sums leave nothing of them, or nothing to tell it by."""
    if not problems:
        return None
    root, q = problems[0].root, problems[0].q
    centred = columns - np.average(columns, axis=0, weights=root**2)
    d = centred * root[:, None]
    whole, axes = np.linalg.eigh(d.T @ d)
    d = d @ (axes / np.sqrt(np.maximum(whole, 1e-300)))
    spare, turn = np.linalg.eigh(d.T @ d - (d.T @ q) @ (q.T @ d))
    turn = (axes / np.sqrt(np.maximum(whole, 1e-300))) @ turn[:, spare > SPARE]
    if not turn.shape[1]:
        return None
    along, shares, p_values = centred @ turn, list[float](), list[float]()
    slopes, varies = list[Floats](), list[Floats]()
    for root, left, scores, q in problems:
        z = along * root[:, None]
        z = z - q @ (q.T @ z)
        tested, told = _estimated(z, scores, root, cell, q.shape[1]), _estimated(z, left, root, cell, q.shape[1])
        if tested is None or told is None:
            return None
        p_values.append(tested[2])
        slopes.append(told[0])
        varies.append(told[1])
        shares.append(1 - float(np.square(left - z @ told[0]).sum()) / float(left @ left))
    best = int(np.argmin(p_values))
    return _Slopes(p_values[best] * len(problems), shares[best], along, np.stack(slopes), np.stack(varies))


def _when_dealt(order: Floats, rows: _Rows, line: bool) -> float:
    """How often classes that are dealt anew to the rows of their combination go as much along a line, or a line and a
    bend, within combinations; 0 where too few rows share one to tell.

    A class that is hardly ever due makes one row most of what sums leave, so that F has no distribution of its own."""
    cell = rows.cell
    many = np.bincount(cell).astype(np.float64)
    if len(cell) - len(many) < LEAST_FREEDOM:
        return 0.0

    def within(values: Floats) -> Floats:
        means = np.stack([np.bincount(cell, column) for column in values.T], axis=1) / many[:, None]
        return np.asarray(values - means[cell])

    bent, answers = within(over_ranks(order)), within(rows.told.mean)
    along = bent[:, :1] / np.linalg.norm(bent[:, 0]) if line else _basis(bent)
    rng, place = np.random.default_rng(0), np.argsort(cell, kind="stable")
    own, dealt = np.square(along.T @ answers).sum(), np.empty_like(answers)
    often = 0
    for _ in range(DEALT):
        dealt[place] = answers[np.lexsort((rng.random(len(cell)), cell))]
        often += bool(np.square(along.T @ dealt).sum() >= own * (1 - 1e-9))
    return (1 + often) / (1 + DEALT)


def _estimated(z: Floats, left: Floats, root: Floats, cell: Ints, rank: int) -> tuple[Floats, Floats, float] | None:
    """Slopes along z, their variance, and the p-value of all of them: combinations and rows around their means each by
    their own noise."""
    cells, size = int(cell.max()) + 1, z.shape[1]
    worth = np.bincount(cell, root**2)

    def between(v: Floats) -> Floats:
        return np.asarray(root * (np.bincount(cell, root * v) / worth)[cell])

    z_b = np.stack([between(column) for column in z.T], axis=1)
    z_w, e_b = z - z_b, between(left)
    e_w = left - e_b
    once = np.linalg.lstsq(z, left, rcond=1e-9)[0]
    of_b = float(np.square(z_b).sum() / np.square(z).sum()) * size
    free_b, free_w = cells - rank - of_b, len(left) - cells - (size - of_b)
    if free_b + free_w < LEAST_FREEDOM:
        return None
    rest_b, rest_w = float(np.square(e_b - z_b @ once).sum()), float(np.square(e_w - z_w @ once).sum())
    pooled = (rest_b + rest_w) / (free_b + free_w)
    if pooled <= 0:
        return None
    noise_w = rest_w / free_w if free_w >= LEAST_FREEDOM else pooled
    noise_b = max(rest_b / free_b, noise_w) if free_b >= LEAST_FREEDOM else max(pooled, noise_w)
    told_b, told_w = z_b.T @ z_b / noise_b, z_w.T @ z_w / noise_w
    variance = np.linalg.pinv(told_b + told_w, rcond=1e-12)
    slopes = variance @ (z_b.T @ e_b / noise_b + z_w.T @ e_w / noise_w)
    part = float(np.trace(variance @ told_b)) / size  # of what is told, that between combinations
    free = 1 / (part**2 / max(free_b, 1.0) + (1 - part) ** 2 / max(free_w, 1.0))
    wald = float(slopes @ np.linalg.pinv(variance, rcond=1e-12) @ slopes) / size
    return slopes, np.asarray(variance * free / max(free - 2, 1.0)), float(fdtrc(size, free, wald))


def _to_do(column: str, order: Floats, rows: _Rows, number: bool) -> str:
    """How it is taken off, where it can be: as a number where it follows a line, in blocks where it does not."""
    x, classes = rows.both, rows.told.classes
    if classes is not None:
        if column:
            return for_classes(column, len(classes))
        return "number their parts, first to last, in a column and name it as a factor"
    name, first = column or "run", "" if column else "number the rows in a column, run, and "
    within = rows.along if not column else None
    if (number or not column) and steady(rows.codes, rows.x if within else x, order, rows.told) is not None:
        instead = f" instead of {option('block', within)}" if within else ""
        what = f"{first}name {name if column else 'it'} as a factor"
        return f"as that follows a line, {what} with {hint('numeric', name)}{instead}"
    if column and len(order) >= SEVERAL * len(np.unique(order)):
        if _told(x, _dense(order)):
            return f"name it with {hint('block', column)}"
    elif column and not number:
        return "write its day or week into a column of its own and name that with --block (blocks)"
    elif _told(rows.x if within else x, _dense(order) * (bins := max(BINS, 2 * rows.parts)) // len(np.unique(order))):
        how = f"{in_parts(name, bins)} takes it off in parts"
        return f"{first}{how}" + (f", more than {within} has" if within else "")
    return "runs of the same combinations early and late would tell"


def _told(x: Floats, value: Ints) -> bool:
    """Whether shifts of these values can be told from the factors."""
    shifts = np.eye(int(value.max()) + 1)[value]
    rank = np.linalg.matrix_rank
    return bool(rank(np.hstack([x, shifts])) == rank(x) + shifts.shape[1] - 1)
