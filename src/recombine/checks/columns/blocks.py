"""Days, plates, batches: columns that shift the answer and are not recombined.

    y = effects of the factors + Σ over block columns of a shift + ε,    by least squares over the training rows

The shifts, less that of the average block, are taken off the answers before anything else is asked of them. They can be
told from the factors iff rank[X B] = rank X + rank B − 1; what is determined then is determined with them as without.
What is left of a row is stretched as far as estimating them shrank it (`taken_off`).

Blocks that each lie in one level of a factor, as those of a field trial do in a site, shift answers within that level:
there their shifts add to zero, and a level is that of its average block. What the blocks of a level have in common is
not told from it: with n blocks of shifts of variance σ² a level is off by a variance of σ²/n from all that there could
be, and by twice that from n others. The forecast, by combinations left out of the same blocks, holds none of it.

Rows still to be collected are taken to lie in one new block, whose shift is estimated with them: [X B] with a column
more. So d open directions take d + 1 rows; one that repeats a seen combination is always of use.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import fdtri, stdtrit

from recombine.checks.as_read import shown
from recombine.checks.asked.query import Query
from recombine.checks.columns.anew import alike_in_logs, numbered_anew
from recombine.checks.columns.in_blocks import parted, pieces
from recombine.checks.columns.measured import as_numbers
from recombine.checks.columns.nests import indicators, means_of_parts, nests_of, of_levels
from recombine.checks.columns.steady import steady
from recombine.checks.columns.taken_off import stretched
from recombine.checks.columns.unshown import Unshown, unshown
from recombine.checks.exact.advice import Advice
from recombine.checks.exact.curves import curves_of
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.forecasts.expected import Forecast
from recombine.checks.rules.effects import LEAST_FREEDOM
from recombine.checks.rules.weighing import worth_in
from recombine.errors import InputError, NoPlan
from recombine.space import Codes, Factor, FactorSpace, quoted
from recombine.support import times
from recombine.support.pasted import hint
from recombine.support.table import Table, Target

LARGEST = 30_000_000
"""Rows × effects up to which shifts are estimated."""


@dataclass(frozen=True)
class Shifts:
    """What was taken off the answers."""

    columns: tuple[str, ...]
    blocks: int
    """Combinations of their values that training shows."""
    spread: float
    """Standard deviation of the shifts over them, less what the noise of the rows adds to their estimates."""
    new: int
    """Rows asked about with an answer whose block training does not show: nothing was taken off them."""
    lone: int
    """Training rows that are alone in their block: all that they tell is its shift, so they are not trained on."""
    codes: Codes = field(repr=False)
    """Of the training rows, their factors; beside them the columns of their blocks, and how many rows are alike."""
    columns_of: Floats = field(repr=False)
    counts: Ints = field(repr=False)
    average: Floats = field(repr=False)
    """Those columns of an average block."""
    inside: tuple[str, ...] = ()
    """Factors in one level of which each block lies, of all columns or of some."""
    lying: tuple[str, ...] = ()
    """Those columns."""
    parts: int = 1
    """Sets of blocks within which shifts are told: levels of these factors."""
    of_levels: float = 0.0
    """Variance of what the average block of a level shifts it, against all blocks that there could be in it."""
    anew: tuple[str, ...] = ()
    """Of columns whose blocks may be numbered anew within a factor's levels, how to name them: site:block."""
    multiplying: tuple[str, ...] = ()
    """Columns of whose blocks that is so but for logarithms, which they shift alike over levels."""
    steady: tuple[tuple[str, bool], ...] = ()
    """Columns whose shifts follow a line along it, and whether they are numbers."""
    unshown: Unshown = field(default_factory=Unshown, repr=False)
    """Asked rows of blocks whose shifts training does not tell."""

    @property
    def name(self) -> str:
        return " and ".join(self.columns)

    @property
    def words(self) -> str:
        """For a note."""
        of = f"shifts of {self.name} (standard deviation {shown(self.spread)} over {self.blocks:,}) are taken off"
        said = "".join(_goes_on(name, number) for name, number in self.steady)
        said += f"{of} the answers as effects that add to those of the factors: every answer here is that of an "
        said += f"average {self.name}{self._where}; a single row of a new one scatters by the shifts too, and its "
        said += "range says so."
        if self.inside:
            level, off = " and ".join(self.inside), (2 * self.of_levels) ** 0.5
            said += f" {self._each}, and a {level} is known by the mean of its own: a difference "
            said += f"between levels of {level} holds what these happen to shift (standard error {shown(off)}); one "
            said += "within a level does not."
        for told in self.anew:
            factor = told.partition(":")[0]
            said += (
                f" They differ from {factor} to {factor} beyond chance: if each {factor} numbers its own anew, name "
            )
            said += f"them as {hint('block', told)}."
        for name in self.multiplying:
            said += f" Shifts of {name} differ from level to level beyond chance, those of logarithms do not: they may "
            said += "multiply answers, so give the logarithm of the answer as the target and check again."
        lone = f" {self.lone:,} row{'s are' if self.lone != 1 else ' is'} alone in a {self.name} and left out"
        said += f"{lone}: this tells nothing of the factors." * bool(self.lone)
        plans = f" Plans are for one new {self.name}, whose shift its rows must tell too: one alone tells nothing else."
        said += plans * (not self.inside)
        rows = f"{self.new:,} answered row{'s' if self.new != 1 else ''} asked about"
        said += f" Nothing was taken off {rows}, of a new one." * bool(self.new)
        return said + self.unshown.note(self.name, self.average_one)

    @property
    def new_one(self) -> str:
        """Of what block the range of a single row is."""
        return (
            f"a new {self.name}{' like these, not a later one' * bool(self.steady)}, by the shifts of {self.blocks:,}"
        )

    @property
    def average_one(self) -> str:
        """What answers are of."""
        return f"an average {self.name}{self._where}"

    @property
    def _where(self) -> str:
        return f" of its {' and '.join(self.inside)}" if self.inside else ""

    @property
    def _each(self) -> str:
        return f"Each {' and '.join(self.lying)} lies in one {' and '.join(self.inside)}"

    def for_others(self, told: Forecast) -> Forecast:
        """With what to expect of as many other blocks, and of very many, where they lie in levels. How far means of
        levels are off, beside what the seen blocks tell of it, is a ratio of variances."""
        if not self.inside:
            return told
        off, free = (2 * self.of_levels) ** 0.5, self.blocks - self.parts
        high = float(np.hypot(told.high, off * fdtri(self.parts, free, 0.95) ** 0.5))
        many = None if told.error_many_rows is None else float(np.hypot(told.error_many_rows, self.of_levels**0.5))
        other = float(np.hypot(told.error, off))
        return replace(told, other_blocks=other, other_blocks_high=high, error_many_rows=many)

    def others(self, told: Forecast) -> str:
        """The same for the first lines, which are of the seen blocks."""
        if told.other_blocks is None:
            return ""
        expect = f"expect about {shown(told.other_blocks)} (up to about {shown(told.other_blocks_high)})"
        return f"{self._each}, and this is for the same ones: for as many others {expect}. "

    @property
    def lost(self) -> int:
        """Degrees of freedom that went to the shifts."""
        return self.blocks - self.parts

    def to_dict(self) -> dict[str, Any]:
        return {
            name: getattr(self, name)
            for name in ("columns", "blocks", "spread", "new", "lone", "inside", "anew", "multiplying")
        } | {"steady": [name for name, _ in self.steady]}

    def advised(self, advice: Advice) -> Advice:
        """With what the rows take besides on a new block."""
        same = f" of the same {' and '.join(self.inside)}" if self.inside else ""
        besides = f"{advice.method}; on a new {self.name} repeat a seen one{same} besides, to know its shift"
        return replace(advice, method=besides) if advice.needed and advice.enough else advice

    def with_a_new(
        self, features: Callable[[Codes], Floats], known: Identifiability, pool: Floats, asked: Floats
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Information of the training rows, the pool in a new block, and the asked answers of an average block: of the
        known ones, and of these and the new one."""
        if self.inside:
            level = " and ".join(self.inside)
            raise NoPlan(
                f"a plan is for one new {self.name}, and each lies in one {level}: plan for the rows of one {level}, "
                "or without blocks."
            )

        def beside(x: Floats, known: float, new: float) -> Floats:
            return np.hstack([x, np.tile([*(known * self.average), new], (len(x), 1))])

        share = 1 / (self.blocks + 1)
        information = self.information(features, known, np.ones(len(self.codes)))
        return information, beside(pool, 0, 1), beside(asked, 1, 0), beside(asked, 1 - share, share)

    def information(self, features: Callable[[Codes], Floats], known: Identifiability, weights: Floats) -> Floats:
        """Of the training rows, beside a column of the new block; a row counts by its weight."""
        there = known.members.contains(self.codes)
        rows = np.hstack([features(self.codes[there]), self.columns_of[there], np.zeros((int(there.sum()), 1))])
        counts = self.counts * weights
        return np.asarray((rows * counts[there, None]).T @ rows, dtype=np.float64)

    def new_row(self, blocks: float) -> float:
        """How far a row of a further block is off by its shift, that of an average of so many being known."""
        return self.spread * float(np.sqrt(1 + 1 / blocks))

    def widened(self, query: Query, least: float, most: float) -> Query:
        """With the range of a single row of a new block, which the shifts make wider, as far as answers can go."""
        ends = (query.low, query.high) if query.row_low is None else (query.row_low, query.row_high)
        if not isinstance(query.prediction, float) or None in ends:
            return query
        far = float(stdtrit(self.blocks - self.parts, 0.95)) * self.new_row(self.blocks / self.parts)
        low, high = (float(np.hypot(query.prediction - (end or 0.0), far)) for end in ends)
        row_low, row_high = max(query.prediction - low, least), min(query.prediction + high, most)
        return replace(query, row_low=row_low, row_high=row_high)


def without_shifts(
    tables: Sequence[Table],
    columns: Sequence[str],
    order: int,
    numbers: Mapping[str, str],
    inside: Mapping[str, str] | None = None,
    cut: Collection[str] = (),
) -> tuple[list[Table], Shifts]:
    """The tables, whose last factors are these columns, without them: the first is trained on, and says how far each
    block shifts the answer. ``inside``: a factor within whose levels the values of a column are numbered anew; ``cut``:
    columns of numbers that are cut into bins."""
    train, held = tables[0], len(tables[0].space) - len(columns)
    target, space = train.target, FactorSpace(train.space.factors[:held])
    if target is None or not target.numeric:
        to_do = "" if target is None or target.classes is None else _for_classes(columns, len(target.classes))
        raise InputError(f"shifts of blocks are taken off answers that are numbers; name such a target{to_do}.")
    read, tables = tables, [_told_apart(table, columns, inside or {}) for table in tables]
    whole = train = tables[0]
    alone, named = _alone(train.codes[:, held:], target.count), " and ".join(columns)
    if (target := target.of(~alone)).count.sum() == 0:
        raise InputError(f"every answered row has a {named} of its own, so no shift can be told; leave {named} out.")
    own = None if train.weight is None else train.weight[~alone]
    train = replace(train, codes=train.codes[~alone], counts=train.counts[~alone], target=target, weight=own)
    use = target.count > 0
    codes = train.codes[use].astype(np.int64)
    blocks, nests = codes[:, held:], nests_of(codes, held)
    distinct_blocks, first = np.unique(blocks, axis=0, return_index=True)
    part = np.unique(codes[first][:, sorted({k for nest in nests for k in nest})], axis=0, return_inverse=True)[
        1
    ].ravel()
    known = Identifiability(np.unique(codes[:, :held], axis=0), space.shape, order, curves_of(space, codes, numbers))
    x, shift = known.rows.floats(codes[:, :held]), indicators(blocks, blocks, codes, nests)
    if len(x) * (x.shape[1] + shift.shape[1]) > LARGEST:
        raise InputError(f"the table is too large to estimate the shifts of {', '.join(columns)}.")
    both, rank = np.hstack([x, shift]), int(np.linalg.matrix_rank(np.hstack([x, shift])))
    lost = known.rank + int(np.linalg.matrix_rank(shift)) - int(not all(nests)) - rank
    if lost:
        raise InputError(
            f"the shifts of {named} cannot be told from effects of the factors ({lost:,} of their differences"
            f"{_parted(train.space, codes, held)}): the same combinations in several of them would tell. Leave {named} "
            "out, or a factor that goes with it."
        )
    freedom = int(target.count.sum()) - rank
    if freedom < LEAST_FREEDOM:
        raise InputError(
            f"{int(target.count.sum()):,} rows are too few for {known.rank:,} effects and the shifts of {named}: "
            f"{rank + LEAST_FREEDOM:,} are needed."
        )
    worth = worth_in(both, target.of(use))
    weight = np.sqrt(worth)
    beta = np.linalg.lstsq(both * weight[:, None], target.mean[use] * weight, rcond=None)[0]
    distinct = indicators(distinct_blocks, blocks, codes, nests)
    found, middle = distinct @ beta[x.shape[1] :], means_of_parts(distinct, part)
    usual = middle @ beta[x.shape[1] :]
    of_row = {tuple(b): i for i, b in enumerate(distinct_blocks.tolist())}
    fit = x @ beta[: x.shape[1]] + usual[[of_row[tuple(b)] for b in blocks.tolist()]]
    off = {b: float(found[i] - usual[i]) for b, i in of_row.items()}
    taken = np.zeros(len(train.codes))
    left_over = stretched(target.mean[use] - both @ beta, both, weight, codes[:, :held], known.rank)
    taken[use] = target.mean[use] - fit - left_over
    told = [_pooled(train, target, taken, space)]
    new, without = 0, unshown(read, [whole, *tables[1:]], held, off)
    for table in tables[1:]:
        theirs = [off.get(tuple(b)) for b in table.codes[:, held:].tolist()]
        if table.target is not None:
            new += sum(int(n) for n, o in zip(table.target.count, theirs, strict=True) if o is None)
        told.append(_pooled(table, table.target, np.array([o or 0.0 for o in theirs]), space))
    left = float((worth * (target.mean[use] - both @ beta) ** 2).sum() + target.spread.sum()) / freedom
    known_from = np.linalg.pinv(both * weight[:, None])[x.shape[1] :]
    known_by = known_from.T @ (distinct - middle).T
    parts, held_by = int(part.max()) + 1, target.of(use)
    anew, multiplying = list[str](), list[str]()
    for name, block in zip(columns, blocks.T, strict=True):
        k = numbered_anew(codes[:, :held], block, x, held_by)
        if k is not None and alike_in_logs(codes[:, :held], block, x, held_by):
            multiplying.append(name)
        elif k is not None:
            anew.append(f"{space.names[k]}:{name}")
    variance = float(((found - usual) ** 2).sum() - left * (known_by**2).sum()) / max(len(found) - parts, 1)
    return told, Shifts(
        tuple(columns), len(distinct), max(0.0, variance) ** 0.5, new, int(alone.sum()), codes[:, :held], shift,
        target.count[use], distinct.mean(axis=0),
        tuple(space.names[k] for k in sorted({k for nest in nests for k in nest})),
        tuple(name for name, nest in zip(columns, nests, strict=True) if nest), parts,
        of_levels(blocks, codes, nests, beta[x.shape[1] :], known_from, left),
        tuple(anew), tuple(multiplying),
        () if any(nests) or inside else _steady(train.space, codes, held, x, target.of(use), cut), without,
    )  # fmt: skip


def _goes_on(name: str, number: bool) -> str:
    """What to do where shifts follow a line."""
    how = f"write {name} as a number, first to last, and name that as a factor with --numeric (numeric)"
    if number:
        how = f"name {name} as a factor instead, with {hint('numeric', name)}"
    return (
        f"shifts of {name} follow a line along it, beside which they are no more than noise: for answers at a {name}, "
        f"and for later ones, which ranges here are not for, {how}. Here "
    )


def _order_of(factor: Factor, cut: bool) -> tuple[Floats | None, bool]:
    """What is more, for each level of a column that is a number, cut into bins or not, or a time; whether it is the
    first."""
    levels = factor.levels or ()
    if cut:
        return np.arange(len(levels), dtype=np.float64), True
    with suppress(InputError):
        texts = pl.Series([str(level) for level in levels])
        numbers = as_numbers(texts)
        if numbers.dtype.is_numeric():
            return numbers.to_numpy().astype(np.float64), True
        return times.ranks(factor.name, texts).astype(np.float64), False
    return None, False


def _steady(
    space: FactorSpace, codes: Ints, held: int, x: Floats, target: Target, cut: Collection[str]
) -> tuple[tuple[str, bool], ...]:
    """Columns whose shifts follow a line along it, those of the others beside it."""
    found = []
    for k in range(held, len(space)):
        order, number = _order_of(space.factors[k], space.names[k] in cut)
        others = [np.eye(len(space.factors[j].levels or ()))[codes[:, j]] for j in range(held, len(space)) if j != k]
        if order is not None and steady(codes[:, :held], x, order[codes[:, k]], target, others) is not None:
            found.append((space.names[k], number))
    return tuple(found)


def _for_classes(columns: Sequence[str], classes: int) -> str:
    """What can be done instead."""
    name = " and ".join(map(quoted, columns))
    numbers = ", or write the two classes as 0 and 1 and name the target with --target-kind number" * (classes == 2)
    return f". Of classes, give {name} as a factor{numbers}"


def _parted(space: FactorSpace, codes: Ints, held: int) -> str:
    """Which levels of a factor share no block, where that is why."""
    for block in range(held, len(space)):
        for k in range(held):
            (levels, level), (_, value) = (np.unique(codes[:, i], return_inverse=True) for i in (k, block))
            if len(np.unique(piece := pieces(level, value))) > 1:
                names = [(space.factors[k].levels or ())[int(c)] for c in levels]
                return f"; {parted(space.factors[block].name, space.factors[k].name, names, piece)}"
    return ""


def _alone(blocks: Ints, count: Ints) -> NDArray[np.bool_]:
    """Which answers are the only one of their day, or of their plate."""
    ones = [np.bincount(column, count)[column] == 1 for column in blocks.T.astype(np.int64)]
    return np.asarray(np.any(ones, axis=0) & (count == 1))


def _told_apart(table: Table, columns: Sequence[str], inside: Mapping[str, str]) -> Table:
    """With blocks that are numbered anew within each level of a factor as so many of their own."""
    codes = table.codes.astype(np.int64)
    for name, factor in inside.items():
        at, k = len(table.space) - len(columns) + list(columns).index(name), table.space.names.index(factor)
        codes[:, at] = codes[:, at] * table.space.shape[k] + codes[:, k]
    return replace(table, codes=codes) if inside else table


def _pooled(table: Table, target: Target | None, taken: Floats, space: FactorSpace) -> Table:
    """The table over the factors alone, so much taken off the answers of each of its combinations."""
    codes, at = np.unique(table.codes[:, : len(space)], axis=0, return_inverse=True)
    at = at.ravel()
    counts = np.bincount(at, table.counts).astype(np.int64)
    weight = None
    if table.weight is not None:
        together = np.bincount(at, np.nan_to_num(table.weight)).astype(np.float64)
        weight = np.where(together > 0, together, np.nan)
    if target is None:
        return replace(table, space=space, codes=codes, counts=counts, weight=weight)
    answers = np.where(target.count > 0, target.mean - taken, 0.0)
    count = np.bincount(at, target.count).astype(np.int64)
    weights: Floats = np.bincount(at, target.weight).astype(np.float64)
    mean = np.bincount(at, target.weight * answers) / np.where(count > 0, weights, 1.0)
    spread: Floats = np.bincount(at, target.spread + target.weight * (answers - mean[at]) ** 2).astype(np.float64)
    ends = None
    if target.ends is not None:
        moved = target.ends - taken[:, None]
        low, high = np.full(len(codes), np.inf), np.full(len(codes), -np.inf)
        there = target.count > 0
        np.minimum.at(low, at[there], moved[there, 0])
        np.maximum.at(high, at[there], moved[there, 1])
        ends = np.where(count[:, None] > 0, np.stack([low, high], axis=1), 0.0)
    told = None if target.weights is None else weights
    pooled = replace(target, count=count, mean=mean, spread=spread, ends=ends, weights=told)
    return replace(table, space=space, codes=codes, counts=counts, target=pooled, weight=weight)
