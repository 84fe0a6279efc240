"""Confounding in what was seen: which factors go together in the training rows, and with the answer.

    V = √(χ² / (n · min(r − 1, c − 1)))     I(A; B) = Σ p log₂ p / (p_A p_B)     I(A; B | C) = Σ_C p_C I(A; B | C = c)

p-values compare χ² with tables drawn at random with the same margins, whose cost does not grow with the rows as
shuffling them would. Very large tables get the asymptotic χ² and say so. Of a factor and answers that are numbers
neither V nor bits are told, which would be of bins: p is that of its effect given all others (F test), and how strong
it is, the share of variance tells.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import orth

from recombine.checks.adds_up.additivity import gained
from recombine.checks.adds_up.recurring import f_test
from recombine.checks.exact.modular import Floats
from recombine.checks.exact.tables import CHUNK, MOST_CELLS, Pairs
from recombine.checks.rules.weighing import worth_in
from recombine.space import Codes
from recombine.support.table import Table, Target

FEWEST_DRAWS = 99
WORK = 4_000_000
"""Cells × draws spent on all pairs together, unless that leaves fewer than 99 draws."""
LARGEST_DRAWN = 4_000_000
"""Cells × draws up to which tables are drawn."""
MANY_CELLS = 400
"""Cells above which a table of no more rows is drawn by shuffling them."""
SMALL_TABLE, ENOUGH = 3_000, 5
"""Cells up to which tables are drawn cell by cell; of a larger one with this many expected rows in each cell the χ² is
as good, and drawing needs scipy.stats, which takes a second to import."""
KEPT = 100_000
"""Cells of a table by factors and answer up to which it is kept for the next question."""
MOST_PAIRS = 300
"""Pairs that are looked at one by one; of more, the strongest by V."""
MOST_CONDITIONED = 20_000
"""Two-way tables by class that are counted to hold each factor fixed."""
MOST_FITTED = 50_000_000
"""Cells × levels² up to which effects are fitted."""
THIN = 5
ALIKE = 1e-18
"""Share of the squared answers up to which they count as all the same."""
EFFECT = "F test of its effect given the other factors"
ONE_LEVEL = "one level only"


@dataclass(frozen=True)
class Association:
    """Two columns of the training rows. Names may be factors or the target."""

    one: str
    two: str
    cramers_v: float | None
    """None of a factor and answers that are numbers, as is what follows."""
    information: float | None
    """Mutual information in bits."""
    conditional: float | None
    """Smallest mutual information left once another factor is held fixed (factor with target), or information given the
    target (two factors)."""
    given: str | None
    p_value: float | None
    """None where nothing is left to tell chance by."""
    method: str
    explained: float | None = None
    """Of the variance of rows that the other factors leave, the share that a factor takes away from answers that are
    numbers, less what chance would."""


@dataclass(frozen=True)
class Confounding:
    """All pairs (the 300 strongest of more), strongest first, then effects on numbers, and how thinly combinations are
    seen."""

    pairs: tuple[Association, ...]
    thin: int
    """Distinct training combinations seen in fewer than five rows."""
    combinations: int


def confounding(train: Table, tables: Pairs, draws: int, seed: int) -> Confounding:
    """Associations between all factors of the training rows, and with the answer where the table has one.

    ``tables`` are the two-way tables of its factors."""
    codes, names, shape, target = train.codes, train.space.names, train.space.shape, train.target
    answers = None
    if target is not None and not target.numeric:  # rows of each combination by class
        answers = np.rint(target.mean * target.count[:, None]).astype(np.int64)
    cubes = _Cubes(codes, answers, shape) if answers is not None else None
    pairs = list[Association]()
    chosen = _strongest(tables)
    total = len(chosen) + (len(shape) if answers is not None else 0)
    for (j, k), table in chosen.items():
        conditional = cubes.given_answer(j, k) if cubes is not None and cubes.fits(j, k) else None
        given = target.name if target is not None and conditional is not None else None
        pairs.append(_associate(names[j], names[k], table, conditional, given, draws, total, seed))
    if target is not None and answers is not None and cubes is not None:
        for k in range(len(shape)):
            table = np.stack([np.bincount(codes[:, k], weights=a, minlength=shape[k]) for a in answers.T], axis=1)
            conditional, given = (None, None)
            if len(shape) ** 2 * answers.shape[1] <= MOST_CONDITIONED:
                conditional, given = cubes.left_with_answer(k, names)
            pairs.append(_associate(names[k], target.name, table, conditional, given, draws, total, seed))
    pairs.sort(key=lambda a: -(a.cramers_v or 0.0))
    effects = _effects(train, target) if target is not None and target.numeric else []
    effects.sort(key=lambda a: -(a.explained or 0.0))
    return Confounding((*pairs, *effects), int((train.counts < THIN).sum()), len(train.counts))


def _effects(train: Table, target: Target) -> list[Association]:
    """What each factor does to answers that are numbers, on top of all others (F test); of very large tables nothing.
    Noise is all that the factors leave together, in cells and between them."""
    use, shape = target.count > 0, train.space.shape
    if not use.any() or use.sum() * sum(shape) ** 2 > MOST_FITTED:
        return []
    levels, within = [np.eye(n)[train.codes[use, k]] for k, n in enumerate(shape)], float(target.spread[use].sum())
    root = np.sqrt(worth_in(np.hstack([np.ones((int(use.sum()), 1)), *levels]), target.of(use)))
    y = target.mean[use] * root
    found = []
    for k, name in enumerate(train.space.names):
        others = np.hstack([np.ones((len(y), 1)), *levels[:k], *levels[k + 1 :]])
        basis = orth(others * root[:, None])
        left = y - basis @ (basis.T @ y)
        gain, size = gained(basis, levels[k], left, root)
        rest, freedom = float(left @ left) - gain + within, int(target.count[use].sum()) - basis.shape[1] - size
        p = share = None
        if freedom > 0 and size > 0:
            varies = gain + rest > ALIKE * float(y @ y)
            p = f_test(gain, size, rest, freedom) if varies else 1.0
            share = max((gain - size * rest / freedom) / (gain + rest), 0.0) if varies else 0.0
        found.append(Association(name, target.name, None, None, None, None, p, EFFECT, share))
    return found


def _strongest(tables: Pairs) -> Pairs:
    """The pairs with the largest V, where there are too many to look at one by one."""
    if len(tables) <= MOST_PAIRS:
        return tables
    together: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for pair, table in tables.items():
        together.setdefault(table.shape, []).append(pair)
    strength: dict[tuple[int, int], float] = {}
    for shape, pairs in together.items():
        for start in range(0, len(pairs), 4_096):
            part = pairs[start : start + 4_096]
            stack = np.stack([tables[pair] for pair in part])
            values = chi_square(stack) / (stack.sum(axis=(1, 2)) * max(1, min(shape) - 1))
            strength.update(zip(part, values.tolist(), strict=True))
    return {pair: tables[pair] for pair in sorted(strength, key=lambda pair: -strength[pair])[:MOST_PAIRS]}


def information(table: Floats) -> float:
    """Mutual information of a table of counts, in bits."""
    total = table.sum()
    if not total:
        return 0.0
    p = table / total
    expected = p.sum(axis=1, keepdims=True) * p.sum(axis=0, keepdims=True)
    some = p > 0
    return max(0.0, float((p[some] * np.log2(p[some] / expected[some])).sum()))


class _Cubes:
    """Rows by level of two factors and answer, each counted in one pass; small ones are kept."""

    def __init__(self, codes: Codes, answers: NDArray[np.int64], shape: tuple[int, ...]) -> None:
        self.codes, self.shape, self.classes = codes, shape, answers.shape[1]
        self._parts = []
        for start in range(0, len(codes), CHUNK):
            part = answers[start : start + CHUNK]
            rows, at = np.nonzero(part)
            self._parts.append((start, rows.astype(np.int32), at.astype(np.int32), part[rows, at].astype(np.float64)))
        self._kept: dict[tuple[int, int], Floats] = {}

    def fits(self, j: int, k: int) -> bool:
        return bool(self.shape[j] * self.shape[k] * self.classes <= MOST_CELLS)

    def of(self, j: int, k: int) -> Floats:
        """levels of j × levels of k × answers"""
        if j > k:
            return self.of(k, j).transpose(1, 0, 2)
        if (j, k) in self._kept:
            return self._kept[j, k]
        sizes = (self.shape[j], self.shape[k], self.classes)
        table = np.zeros(math.prod(sizes))
        for start, rows, at, weights in self._parts:
            part = self.codes[start : start + CHUNK]
            keys = (part[:, j].astype(np.int64) * sizes[1] + part[:, k])[rows] * sizes[2] + at
            table += np.bincount(keys, weights=weights, minlength=len(table))
        cube = table.reshape(sizes)
        if cube.size <= KEPT:
            self._kept[j, k] = cube
        return cube

    def given_answer(self, j: int, k: int) -> float:
        """The information that two factors have about each other where the answer is held fixed."""
        return _conditional(self.of(j, k).transpose(2, 0, 1))

    def left_with_answer(self, k: int, names: tuple[str, ...]) -> tuple[float | None, str | None]:
        """The least information factor k still has about the answer with one other factor held fixed, and that
        factor."""
        others = [other for other in range(len(self.shape)) if other != k and self.fits(k, other)]
        return min(((_conditional(self.of(other, k)), names[other]) for other in others), default=(None, None))


def _conditional(cube: Floats) -> float:
    """Mean information of the tables along the first axis."""
    return sum(float(table.sum()) * information(table) for table in cube) / max(1.0, float(cube.sum()))


def chi_square(table: Floats) -> Floats:
    """χ² of independence over non-empty rows and columns, of one table or of each of a stack."""
    total = table.sum(axis=(-2, -1), keepdims=True)
    expected = table.sum(axis=-1, keepdims=True) * table.sum(axis=-2, keepdims=True) / total
    return np.asarray(((table - expected) ** 2 / np.where(expected > 0, expected, 1.0)).sum(axis=(-2, -1)))


def _associate(
    one: str, two: str, table: Floats, conditional: float | None, given: str | None, draws: int, pairs: int, seed: int
) -> Association:  # fmt: skip
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0] if table.size else table
    rank = min(table.shape) - 1
    if rank < 1:
        return Association(one, two, 0.0, 0.0, conditional, given, 1.0, ONE_LEVEL)
    observed = float(chi_square(table))
    v = float(np.sqrt(observed / (table.sum() * rank)))
    p, method = _p_value(table, observed, draws, pairs, seed)
    return Association(one, two, min(1.0, v), information(table), conditional, given, p, method)


def _p_value(table: Floats, observed: float, draws: int, pairs: int, seed: int) -> tuple[float, str]:
    draws = max(FEWEST_DRAWS, min(draws, WORK // (table.size * pairs)))
    expected = table.sum(axis=1)[:, None] * table.sum(axis=0) / table.sum()
    many = table.size > SMALL_TABLE and expected.min() >= ENOUGH
    if many or table.size * draws > LARGEST_DRAWN or table.sum() > 2_000_000:
        from scipy.special import gammaincc

        freedom = (table.shape[0] - 1) * (table.shape[1] - 1)
        return float(gammaincc(freedom / 2, observed / 2)), "asymptotic χ²"
    rows, columns = table.sum(axis=1).astype(np.int64), table.sum(axis=0).astype(np.int64)
    drawn = random_tables(rows, columns, draws, np.random.default_rng(seed))
    values = ((drawn - expected) ** 2 / expected).sum(axis=(1, 2))
    at_least = int((values >= observed * (1 - 1e-12)).sum())
    return (1 + at_least) / (1 + draws), f"{draws} random tables with the same margins"


def random_tables(
    rows: NDArray[np.int64], columns: NDArray[np.int64], draws: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Tables (draws × rows × columns) with these margins, distributed as under independence.

    Small ones cell by cell, each a hypergeometric draw given the cells before it; those of many cells and few rows by
    shuffling these; importing scipy.stats for Patefield's algorithm takes a second, which only large tables win back.
    """
    if MANY_CELLS < len(rows) * len(columns) <= SMALL_TABLE and rows.sum() <= len(rows) * len(columns):
        return _shuffled(rows, columns, draws, rng)
    if len(rows) * len(columns) > SMALL_TABLE:
        from scipy.stats import random_table

        return np.asarray(random_table(rows, columns).rvs(draws, method="patefield", random_state=rng), dtype=np.int64)
    tables = np.zeros((draws, len(rows), len(columns)), dtype=np.int64)
    left = np.tile(columns, (draws, 1))
    for i, total in enumerate(rows[:-1]):
        open_row = np.full(draws, total)
        beyond = left.sum(axis=1)
        for j in range(len(columns) - 1):
            beyond = beyond - left[:, j]
            tables[:, i, j] = rng.hypergeometric(left[:, j], beyond, open_row)
            open_row = open_row - tables[:, i, j]
        tables[:, i, -1] = open_row
        left = left - tables[:, i]
    tables[:, -1] = left
    return tables


def _shuffled(
    rows: NDArray[np.int64], columns: NDArray[np.int64], draws: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """The same, of rows whose levels of one factor are dealt anew."""
    size = len(rows) * len(columns)
    keys = rng.permuted(np.tile(np.repeat(np.arange(len(columns)), columns), (draws, 1)), axis=1)
    keys += np.repeat(np.arange(len(rows)) * len(columns), rows) + np.arange(draws)[:, None] * size
    return np.bincount(keys.ravel(), minlength=draws * size).reshape(draws, len(rows), len(columns))
