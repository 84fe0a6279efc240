"""A column that keeps to combinations, as a plate with all repeats of each does: the scatter of repeats never shows it.

    F = (Σ over directions of the column that x leaves of their squares / their number) / (the rest / its freedom)

of means of combinations, each counted once; the column is the share of their rows that each of its values has. Beside
it stands what is left of these means, in which any real interaction stays: beside the scatter of repeats, interactions
would be blamed on whatever column there is.

Where nearly every combination has a value of its own, as of one plate each, no test tells interactions from what the
plates differ by: a rejection by the scatter of repeats is then one of both together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from recombine.checks.adds_up.additivity import additivity
from recombine.checks.adds_up.tested import Additivity
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.rules.effects import LEAST_FREEDOM
from recombine.space import Level, quoted
from recombine.support.answers import Target

DEALS, MOST_DEALT = 999, 1_000_000_000
"""Times that a column is dealt anew, and directions × combinations × effects × times up to which it is."""


@dataclass(frozen=True, eq=False)
class Way:
    """Directions of a column (directions × answers), orthonormal by rows, of which one (together) is the constant."""

    into: Any
    lined: bool = False
    """Whether they are a line and a bend, not a shift of each value."""


@dataclass(frozen=True, eq=False)
class Means:
    """Means of combinations of answers that are each the mean of so many rows."""

    at: Ints
    """The combination of each answer."""
    count: Ints

    def of(self, values: Any) -> Floats:
        """Means of these (answers × columns, or one for each) over the rows of each combination."""
        rows = np.bincount(self.at, self.count)
        dense = np.asarray(values, dtype=np.float64).reshape(len(self.at), -1)
        sums = np.stack([np.bincount(self.at, self.count * column) for column in dense.T], axis=1)
        return np.asarray(sums / rows[:, None])

    def way(self, way: Way) -> Way:
        """The same over combinations, each counted once."""
        there = way.into.toarray() if issparse(way.into) else way.into
        u, sizes, _ = np.linalg.svd(self.of(there.T / np.sqrt(self.count)[:, None]), full_matrices=False)
        return Way(u[:, sizes > 1e-9 * sizes[0]].T, way.lined)


def by_dealing(into: Floats, q: Floats, scores: Floats, found: float, apart: float) -> float:
    """Share of deals of the column over the combinations, among those that x tells apart from it, in which it explains
    as much; 0 where none does: how unlikely that is then F alone tells. A few interactions that are large, of a column
    with a few rare values, make F larger than it says."""
    rng, as_much, tried = np.random.default_rng(0), 0, 0
    for _ in range(min(DEALS, MOST_DEALT // max(into.size * q.shape[1], 1))):
        anew = into[:, rng.permutation(into.shape[1])]
        shared = anew @ q
        sizes, axes = np.linalg.eigh(np.eye(len(anew)) - shared @ shared.T)
        if sizes[1] >= apart:
            tried += 1
            as_much += float(((axes[:, 1:].T @ (anew @ scores)) ** 2 / sizes[1:]).sum()) >= found * (1 - 1e-9)
    return (1 + as_much) / (1 + tried) if as_much else 0.0


def kept_to(known: Identifiability, at: Ints, level: Ints) -> bool:
    """Whether every combination has one value of a column, which no factors but all of them tell, and there are so many
    values that shifts of each leave too little."""
    codes, values = known.codes, len(np.unique(level))
    if len(codes) - known.rank - (values - 1) >= LEAST_FREEDOM:
        return False
    if len(np.unique(np.stack([at, level], axis=1), axis=0)) != len(codes):
        return False
    value = np.zeros(len(codes), dtype=np.int64)
    value[at] = level
    for k in range(codes.shape[1]):
        others = np.unique(np.delete(codes, k, axis=1), axis=0, return_inverse=True)[1].ravel()
        if len(np.unique(np.stack([others, value], axis=1), axis=0)) == others.max() + 1:
            return False
    return True


def of_means(
    known: Identifiability,
    means: Floats,
    names: tuple[str, ...],
    levels: Sequence[Sequence[Level]] = (),
    weights: Floats | None = None,
) -> Additivity:
    """The test of whether effects add up on means of combinations, each taken for one row."""
    once, none = np.ones(len(means), dtype=np.int64), np.zeros(len(means))
    return additivity(known, Target("", None, once, means, none, weights=weights), names, levels)


def repeats_alone(
    found: Additivity, known: Identifiability, target: Target, names: tuple[str, ...], on: str = ""
) -> Additivity | None:
    """A rejection that rests on the scatter of repeated rows alone, as one of which nobody knows: rows of a combination
    that are readings of one run scatter less than runs do, and every difference between runs then looks like an
    interaction. None where means of combinations contradict that effects add up, too, or one level or pair of levels
    does alone: runs of the others differ no more than their rows do."""
    if not found.rejected or not target.numeric or not target.conflicts or not (target.count > 0).all():
        return None
    alone = of_means(known, target.mean, names, weights=target.weights)
    if alone.rejected or any(one is not None and one.alone for one in (found.odd, found.pair)):
        return None
    left = "leave nothing to test it with" if alone.p_value is None else f"do not (p = {alone.p_value:.2g})"
    words = (
        f"{on}the scatter of repeated rows contradicts it ({found.evidence}), but means of combinations, each taken "
        f"for one row, {left}: either effects do not simply add up, or rows of a combination are not independent, as "
        "readings of one run are not. Whole combinations run anew would tell; such readings are better averaged first."
    )
    return replace(found, rejected=None, words=words, odd=None, pair=None, open=True)


def one_each(column: str, known: Identifiability, names: tuple[str, ...], means: Floats) -> list[str]:
    """A sentence on a column of which every combination has one value, where the means of combinations, each taken for
    one row, do not contradict that effects add up: then nothing but the scatter of repeats does."""
    alone = of_means(known, means, names)
    if alone.rejected:
        return []
    left = "they leave nothing to test it with" if alone.p_value is None else f"p = {alone.p_value:.2g}"
    return [
        f"all rows of each combination have one and the same {quoted(column)}: if it is a plate or a batch, repeats do "
        "not tell how far one is off another, and what contradicts that effects add up may be just that. Means of "
        f"combinations, each taken for one row, do not contradict it ({left}); repeats in several would tell."
    ]


__all__ = ["Means", "Way", "by_dealing", "kept_to", "of_means", "one_each", "repeats_alone"]
