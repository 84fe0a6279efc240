"""A drift over an order that nobody named: over times, numbers of rows, or the rows of the table as they stand.

    y = x β + D γ + ε,    F of γ = γ̂ᵀ V⁻¹ γ̂ / directions,    D a line and a bend over ranks of the order

beside sums of all factors, however much of D looks like one of them, of normal scores of what sums leave (of classes,
of what log-odds that add up leave). Means of combinations and rows around these each have a noise of their own: where
pairs act the first is larger, and a table that is sorted keeps its order between combinations.

Rows stand in no order of time where a column that is no factor rises along them, or their answers do. Whole numbers
that number the rows, or never fall along them, are such an order; other numbers may be measured (`unnamed`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import polars as pl
from scipy.special import fdtrc, ndtri

from recombine.checks.columns.bystanders import MOST_COLUMNS
from recombine.checks.columns.in_blocks import describes, shared_by, times_of
from recombine.checks.columns.measured import numbers_runs
from recombine.checks.columns.unnamed import BINS, FEWEST_VALUES, LARGEST, MOST_CLASSES, SEVERAL, over_ranks
from recombine.checks.exact.curves import curves_of
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.rules.drifted import Drift
from recombine.checks.rules.effects import EXACT, LEAST_FREEDOM
from recombine.checks.rules.logits import Logits
from recombine.checks.rules.scales import Scale
from recombine.checks.rules.weighing import worth_in
from recombine.errors import InputError
from recombine.space import FactorSpace
from recombine.support.pasted import option
from recombine.support.rows import ROW, told_rows
from recombine.support.table import Table, Target, read_tables

CHANCE = 0.02
"""p-value below which answers drift, times the orders that are tried."""
SPARE = 1e-3
"""Share of a direction that sums leave from which it is tried: of levels one after another, 1 / levels²."""
ROWS = ""
"""The order in which rows stand."""


def drifting(table: Any, train: Table, blocks: Sequence[str], order: int, scale: Scale | None, **how: Any) -> Drift | None:
    """The drift that is surest; None where none is beyond chance. ``how`` is what `read_tables` takes."""
    names, target = train.space.names, how["target"]
    with suppress(InputError):  # what other columns hold is no reason to stop
        frame = told_rows(table, target, how.get("split"), how.get("max_bytes")).collect()
        read = read_tables([frame], [*names, *blocks, ROW], **{**how, "split": None, "missing": "drop"})[0]
        if read.target is None or not len(read.codes):
            return None
        use = read.target.count > 0
        codes, told = read.codes[use].astype(np.int64), read.target.of(use)
        at = np.searchsorted(frame[ROW].to_numpy(), np.array(read.space[ROW].levels or ())[codes[:, -1]].astype(np.int64))
        codes, told = codes[np.argsort(at)], told.of(np.argsort(at))
        rows, held = frame[np.sort(at)], len(names)
        orders = _orders(rows, codes[:, :held], told, {*names, *blocks, target, *(how.get("split") or ())[:1]}, {*names})
        if not orders:
            return None
        space = FactorSpace(read.space.factors[:held])
        known = Identifiability(codes[:, :held], space.shape, order, curves_of(space, codes[:, :held], how.get("numbers") or {}))
        sizes = [len(f) for f in read.space.factors[held:-1]]
        shifts = np.hstack([np.zeros((len(codes), 0)), *(np.eye(n)[codes[:, held + k]] for k, n in enumerate(sizes))])
        x = known.rows.floats(codes[:, :held])
        if x.size + shifts.size > LARGEST:
            return None
        cell = np.unique(codes[:, :held], axis=0, return_inverse=True)[1].ravel()
        problems = list(_problems(np.hstack([x, shifts]), cell, told, scale))
        found, tried = dict[str, tuple[float, float, Floats, Floats, Floats]](), 0
        for name, values in orders.items():
            bent = over_ranks(values)
            ways = [one for columns in (bent[:, :1], bent) if (one := _over(columns, problems, cell)) is not None]
            if ways:
                found[name] = min(ways, key=lambda one: one[0])
                tried += len(ways)
        if not found:
            return None
        column = min(found, key=lambda name: found[name][0])
        p, share, along, slopes, varies = found[column]
        if p * tried >= CHANCE:
            return None
        root = problems[0][0]
        both = np.linalg.lstsq(np.hstack([x, shifts]) * root[:, None], along * root[:, None], rcond=1e-9)[0]
        common = shifts.mean(axis=0) @ both[x.shape[1] :]
        rows_x = x * root[:, None] / np.sqrt((root**2).mean())
        sure = np.linalg.pinv(rows_x.T @ rows_x, rcond=1e-9)
        spread = np.cov(along.T, aweights=root**2, ddof=0).reshape(along.shape[1], -1)
        alike = [shared_by(_dense(level), orders[column]) for level in codes[:, :held].T]
        return Drift(
            column, names[int(np.argmax(alike))], max(alike), share, p * tried,
            _to_do(column, orders[column], np.hstack([x, shifts])), known, both[: x.shape[1]], common, slopes, varies,
            spread, sure,
        )  # fmt: skip
    return None


def _orders(
    rows: pl.DataFrame, codes: Ints, told: Target, used: set[str | None], factors: set[str]
) -> dict[str, Floats]:
    """Times, numbers of rows, and the rows themselves, where they may be in an order of time."""
    found, sorted_by = dict[str, Floats](), False
    levels = [_dense(level) for level in codes.T]
    names = [n for n, kind in rows.schema.items() if n != ROW and n not in factors and not kind.is_nested()]
    for name in [n for n in names if rows.schema[n] != pl.Object][:MOST_COLUMNS]:
        column = rows[name]
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
    if not (sorted_by or _by_answers(levels, told)):
        found[ROWS] = np.arange(len(rows), dtype=np.float64)
    return found


def _by_answers(levels: Sequence[Ints], told: Target) -> bool:
    """Whether rows are sorted by their answers, in all or within levels of a factor or combinations."""
    y = told.mean if told.numeric else told.mean.argmax(axis=1)
    cell = np.unique(np.stack(levels, axis=1), axis=0, return_inverse=True)[1].ravel()
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


def _problems(x: Floats, cell: Ints, told: Target, scale: Scale | None) -> Any:
    """Of each answer, roots of what rows are worth, what sums leave, the same as normal scores, and a basis of sums."""
    if told.numeric:
        y = told.mean if scale is None else scale.forth(told.mean)
        root = np.sqrt(worth_in(x, told, None if scale is None else y))
        if not np.isfinite(y).all():
            return
        q = _basis(x * root[:, None])
        left = y * root - q @ (q.T @ (y * root))
        if float(left @ left) <= EXACT * float(np.square((y - y.mean()) * root).sum()):
            return
        _, at, many = np.unique(left, return_inverse=True, return_counts=True)
        scores = ndtri((np.cumsum(many) - many / 2)[at] / len(left))
        yield root, left, scores - q @ (q.T @ scores), q
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
        yield root, left, left, q


def _basis(x: Floats) -> Floats:
    u, sizes, _ = np.linalg.svd(x, full_matrices=False)
    return np.asarray(u[:, sizes > 1e-9 * sizes[0]])


def _over(
    columns: Floats, problems: Sequence[tuple[Floats, Floats, Floats, Floats]], cell: Ints
) -> tuple[float, float, Floats, Floats, Floats] | None:
    """p-value, the share explained, the directions that sums leave, and slopes along these with their variance, of each
    answer; None where there are none."""
    if not problems:
        return None
    root, _, _, q = problems[0]
    centred = columns - np.average(columns, axis=0, weights=root**2)
    d = centred * root[:, None]
    whole, axes = np.linalg.eigh(d.T @ d)
    d = d @ (axes / np.sqrt(np.maximum(whole, 1e-300)))
    spare, turn = np.linalg.eigh(d.T @ d - (d.T @ q) @ (q.T @ d))
    turn = (axes / np.sqrt(np.maximum(whole, 1e-300))) @ turn[:, spare > SPARE]
    if not turn.shape[1]:
        return None
    along, p_values, shares, slopes, varies = centred @ turn, list[float](), list[float](), list[Floats](), list[Floats]()
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
    return p_values[best] * len(problems), shares[best], along, np.stack(slopes), np.stack(varies)


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


def _to_do(column: str, order: Floats, x: Floats) -> str:
    """How its shifts are taken off, where they can be."""
    if column and len(order) >= SEVERAL * len(np.unique(order)):
        value = _dense(order)
        if _told(x, value):
            return f"name it with {option('block', column)}"
    elif _told(x, np.minimum(_dense(order) * BINS // len(np.unique(order)), BINS - 1)):
        name = column or "run"
        how = f"{option('bins', f'{name}={BINS}')} {option('block', name)} takes it off in parts"
        return how if column else f"number the rows in a column, run, and {how}"
    return "runs of the same combinations early and late would tell"


def _told(x: Floats, value: Ints) -> bool:
    """Whether shifts of these values can be told from the factors."""
    shifts = np.eye(int(value.max()) + 1)[value]
    rank = np.linalg.matrix_rank
    return bool(rank(np.hstack([x, shifts])) == rank(x) + shifts.shape[1] - 1)
