"""Which rows make answers precise: greedy choices with a proof of how far from best they are.

With information M = Σ x xᵀ over rows, an answer at q has variance xqᵀ M⁻¹ xq in units of one row's noise.

    A (default)  the mean variance over the asked answers, φ(M) = tr(C M⁻¹), C = mean xq xqᵀ
    D            the volume of the effects' confidence region, −log det M

φ is convex in M, so its tangent at any M bounds every plan: with M₀ known before and rows from a pool, no plan of total
price B does better than 2 φ(M) − tr(M⁻¹CM⁻¹ M₀) − B max over the pool of xᵀM⁻¹CM⁻¹x / price. The tangent is laid where
effort may be shared out in fractions of rows, which is nearly the best there is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from recombine.checks.exact.modular import Floats, Ints

RIDGE = 1e-3
"""Information that is lent to start with where training leaves directions open, and taken back at the end."""
WEIGHINGS = 200
"""Steps towards the best shares of effort, at which the tangent is laid."""
MOST_WORK = 100_000_000
"""Rows × pool × effects up to which single rows of a plan are exchanged for better ones."""
PASSES = 5
STARTS = 8
"""Random plans that are improved besides the greedy one, where that is cheap."""
OPEN = 30.0
"""Variance that only what was lent can explain."""
SMALL, THIN = 100_000, 0.05
"""Numbers from which zeros are left out of products, and the share that is not zero below which they are."""


@dataclass(frozen=True, eq=False)
class Choice:
    """Rows of a pool, in the order in which they were chosen (a row may be chosen again)."""

    rows: Ints
    mean: float
    """Mean variance of the asked answers; infinite where some are not determined."""
    worst: float
    bound: float
    """No plan of this price has a smaller mean variance (D: a larger determinant, as its log)."""
    value: float
    """What the bound compares with: the mean variance, or log det."""


def _start(before: Floats, pool: Floats, asked: Floats) -> tuple[Floats, Floats, Floats]:
    """All three in coordinates of the space that pool and training span between them."""
    values, vectors = np.linalg.eigh(before + _information(pool))
    kept = values > 1e-9 * values[-1]
    if kept.all():  # rows of indicators stay what they are, nearly all zeros
        return before, pool, asked
    axes = vectors[:, kept]
    return axes.T @ before @ axes, pool @ axes, asked @ axes


def _information(rows: Any, weight: Floats | None = None) -> Floats:
    """Σ w x xᵀ over rows x."""
    x = _thin(rows)
    found = x.T @ (x if weight is None else x * weight[:, None])
    return np.asarray(found.toarray() if issparse(found) else found, dtype=np.float64)


def _along(rows: Any, matrix: NDArray[Any]) -> Floats:
    """xᵀ A x of each row x."""
    x = _thin(rows)
    return np.asarray((x * (x @ matrix)).sum(axis=1), dtype=np.float64).ravel()


def _thin(rows: Any) -> Any:
    """The same rows, without their zeros where nearly all are."""
    if issparse(rows):
        return rows
    few = rows.size > SMALL and np.count_nonzero(rows) < THIN * rows.size
    return csr_array(rows) if few else rows


class Design:
    """Information that grows and shrinks row by row, with the variances of a pool kept up to date."""

    def __init__(self, before: Floats, pool: Floats, asked: Floats) -> None:
        self.before, self.pool, self.asked = _start(before, pool, asked)
        size = len(self.before)
        lent = RIDGE * max(1.0, float(np.trace(self.before)) / max(1, size))
        self.inverse = np.linalg.inv(self.before + lent * np.eye(size))
        values, vectors = np.linalg.eigh(_information(self.asked) / max(1, len(self.asked)))
        self.root = vectors * np.sqrt(np.maximum(values, 0.0))  # root · rootᵀ = C
        self.refresh()

    def refresh(self) -> None:
        self.moved = np.asarray(_thin(self.pool) @ self.inverse)
        self.told = self.moved @ self.root
        self.lever = (self.moved * self.pool).sum(axis=1)

    def change(self, row: int, sign: int) -> None:
        """Add a row of the pool (+1), or take one away (−1), by Sherman and Morrison."""
        direction = self.moved[row]
        scale = sign / (1 + sign * self.lever[row])
        self.inverse = self.inverse - scale * np.outer(direction, direction)
        along = self.moved @ self.pool[row]
        self.told -= np.outer(scale * along, self.told[row])
        self.moved -= np.outer(scale * along, direction)
        self.lever -= scale * along**2

    def gains(self, criterion: str, worst: int | None = None) -> Floats:
        """How much each row of the pool would improve the plan: the mean variance, that of one answer, or log det."""
        if criterion == "D":
            return np.asarray(np.log1p(np.maximum(self.lever, 0.0)))
        told = self.told if worst is None else self.moved @ self.asked[[worst]].T
        return np.asarray((told**2).sum(axis=1) / (1 + self.lever))

    def variances(self) -> Floats:
        return _along(self.asked, self.inverse)


def choose(
    before: Floats,
    pool: Floats,
    asked: Floats,
    prices: Floats,
    budget: float,
    criterion: str = "A",
    first: Ints | None = None,
    fresh: NDArray[np.bool_] | None = None,
) -> Choice:
    """Rows of the pool whose prices add up to at most the budget; ``first`` are taken before any other, and each of
    ``fresh`` once before any is repeated."""
    design = Design(before, pool, asked)
    rows = []
    left = budget
    for row in first if first is not None else ():
        if prices[row] <= left + 1e-9:
            rows.append(int(row))
            design.change(int(row), 1)
            left -= prices[row]
    # While directions are open, the largest volume opens them; precision of the answers counts afterwards.
    while (prices <= left + 1e-9).any():
        gains = design.gains("D" if design.lever.max() > OPEN else criterion) / np.maximum(prices, 1e-12)
        row = int(np.argmax(np.where(_open(fresh, rows, prices <= left + 1e-9), gains, -1.0)))
        if gains[row] <= 1e-15 or (prices[row] <= 0 and row in rows):
            break
        rows.append(row)
        design.change(row, 1)
        left -= prices[row]
    plans = [rows]
    if first is None and fresh is None and len(rows) * pool.size * PASSES <= MOST_WORK:
        _exchange(design, rows, prices, criterion)
        if np.ptp(prices) == 0 and len(rows) * pool.size * PASSES * STARTS <= MOST_WORK:
            for seed in range(STARTS):
                design, other = Design(before, pool, asked), _drawn(len(pool), len(rows), seed)
                for row in other:
                    design.change(row, 1)
                _exchange(design, other, prices, criterion)
                plans.append(other)
    found = [_judged(before, pool, asked, np.array(plan, dtype=np.int64), criterion) for plan in plans]
    best = min(found, key=lambda plan: -plan.value if criterion == "D" else plan.value)
    if not np.isfinite(best.mean) or not budget:
        return best
    return replace(best, bound=_bound(*_start(before, pool, asked), prices, budget, criterion))


def _open(fresh: NDArray[np.bool_] | None, rows: list[int], can: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Of the rows that can be chosen those of ``fresh`` that were not, while there are any."""
    if fresh is None:
        return can
    new = fresh & can
    new[rows] = False
    return new if new.any() else can


def _drawn(pool: int, rows: int, seed: int) -> list[int]:
    return [int(row) for row in np.random.default_rng(seed).integers(pool, size=rows)]


def _exchange(design: Design, rows: list[int], prices: Floats, criterion: str) -> None:
    """Exchange single rows for better ones of no higher price until nothing improves (Fedorov 1972): for volume first,
    which closes directions that are open, then for the answers."""
    if criterion != "D":
        _exchange(design, rows, prices, "D")
        if design.lever.max() >= OPEN:
            return
    for _ in range(PASSES):
        better = False
        for place, row in enumerate(rows):
            design.change(row, -1)
            gains = np.where(prices <= prices[row] + 1e-12, design.gains(criterion), -1.0)
            new = int(np.argmax(gains))
            if gains[new] <= gains[row] * (1 + 1e-6):
                new = row
            design.change(new, 1)
            better |= new != row
            rows[place] = new
        design.refresh()
        if not better:
            return


def until(
    before: Floats,
    pool: Floats,
    asked: Floats,
    variance: float,
    most: int,
    first: Ints,
    fresh: NDArray[np.bool_] | None = None,
    bounded: bool = True,
) -> tuple[Ints, int]:
    """Rows after which every asked variance is at most this, each chosen for the answer that is then the worst; and a
    number of rows that no plan can do without (0 where that is not asked, ``bounded``)."""
    design = Design(before, pool, asked)
    rows = [int(row) for row in first]  # With these every direction is closed, so nothing need be lent.
    design.inverse = np.linalg.inv(design.before + design.pool[rows].T @ design.pool[rows])
    design.refresh()
    while len(rows) < most and (now := design.variances()).max() > variance * (1 + 1e-9):
        gains = design.gains("A", int(np.argmax(now)))
        row = int(np.argmax(np.where(_open(fresh, rows, gains >= 0), gains, -1.0)))
        rows.append(row)
        design.change(row, 1)
    if not bounded:
        return np.array(rows, dtype=np.int64), 0
    now = design.variances()
    single = [[i] for i in np.argsort(-now)[:50].tolist()]
    several = [np.flatnonzero(now >= share * now.max()).tolist() for share in (0.0, 0.5, 0.8, 0.95)]
    fewest = max(_fewest(design, now, variance, chosen) for chosen in (*single, *several) if chosen)
    # The mean is no larger than the largest: where so many rows cannot bring it down, more are needed.
    parts, enough = _start(before, pool, asked), len(rows)
    cheap = WEIGHINGS * pool.size * len(before) * math.log2(len(rows) + 2) <= 20 * MOST_WORK
    while cheap and enough - fewest > 1 and now.max() <= variance * (1 + 1e-6):
        half = (fewest + enough) // 2
        if _bound(*parts, np.ones(len(pool)), half, "A") > variance * (1 + 1e-6):
            fewest = half + 1
        else:
            enough = half
    return np.array(rows, dtype=np.int64), fewest


def floor(before: Floats, pool: Floats, asked: Floats) -> Floats:
    """The variances of the asked answers after any number of rows of the pool: what it does not touch stays."""
    before, pool, asked = _start(before, pool, asked)
    values, vectors = np.linalg.eigh(pool.T @ pool)
    still = vectors[:, values <= 1e-9 * values.max(initial=0.0)]
    known = asked @ still
    return np.asarray(((known @ np.linalg.inv(still.T @ before @ still)) * known).sum(axis=1))


def _fewest(design: Design, now: Floats, variance: float, chosen: list[int]) -> int:
    """Where the mean variance of some answers is to fall so far, the tangent says how many rows that takes at least."""
    known = design.asked[chosen] @ design.inverse
    slack = float((2 * now[chosen] - ((known @ design.before) * known).sum(axis=1)).mean()) - variance
    steepest = float(((design.pool @ known.T) ** 2).mean(axis=1).max(initial=0.0))
    return max(0, math.ceil(slack / steepest - 1e-6)) if steepest > 0 else 0


def _judged(before: Floats, pool: Floats, asked: Floats, rows: Ints, criterion: str) -> Choice:
    """What a plan gives, computed afresh without anything lent."""
    before, pool, asked = _start(before, pool, asked)
    information = before + pool[rows].T @ pool[rows]
    values = np.linalg.eigvalsh(information)
    if not len(values) or values[0] <= 1e-9 * values[-1]:
        return Choice(rows, np.inf, np.inf, 0.0, -np.inf if criterion == "D" else np.inf)
    variances = _along(asked, np.linalg.inv(information))
    mean = float(variances.mean()) if len(asked) else 0.0
    value = float(np.linalg.slogdet(information)[1]) if criterion == "D" else mean
    return Choice(rows, mean, float(variances.max(initial=0.0)), 0.0, value)


def _bound(before: Floats, pool: Floats, asked: Floats, prices: Floats, budget: float, criterion: str) -> float:
    """The tangent of the criterion where the budget is shared out over the pool in fractions of rows."""
    asking = _information(asked) / max(1, len(asked))
    prices = np.maximum(prices, 1e-12)
    share = np.full(len(pool), 1 / len(pool))
    bounds = []
    steps = WEIGHINGS if WEIGHINGS * pool.size * len(before) <= 100 * MOST_WORK else 10
    rows = _thin(pool)
    for _ in range(steps):
        information = before + _information(rows, budget * share / prices)
        inverse = np.linalg.inv(information)
        weight = inverse if criterion == "D" else inverse @ asking @ inverse
        worth = np.maximum(_along(rows, weight), 0.0) / prices  # rounded, nothing can be below nothing
        old = float((weight * before).sum())
        if criterion == "D":
            bounds.append(float(np.linalg.slogdet(information)[1]) + old + budget * float(worth.max()) - len(before))
        else:
            bounds.append(2 * float((inverse * asking).sum()) - old - budget * float(worth.max()))
        share = share * (worth if criterion == "D" else np.sqrt(worth))  # Silvey, Titterington and Torsney 1978
        share /= share.sum()
    return min(bounds) if criterion == "D" else max(0.0, max(bounds))
