"""Hold-outs of whole combinations that the rest of the table still determines.

A set F of combinations can be held out iff training without it has the same row space, so every level is seen and every
held-out answer is determined. Where it has not, the fewest members of F that repair it go back to training (`advise`).
How hard a combination is, is its leverage given training: the variance of its answer in units of one row's noise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recombine.checks.advice import advise
from recombine.checks.cells import cells_with
from recombine.checks.design import Mask
from recombine.checks.identifiability import Identifiability, Members
from recombine.checks.modular import Floats, Ints
from recombine.checks.robustness import leverage
from recombine.errors import InputError
from recombine.space import Level
from recombine.support.rows import Rows, read_rows
from recombine.support.table import Missing


@dataclass(frozen=True, eq=False)
class Fold:
    """One hold-out: rows by their place in the table, held-out combinations by their place in `Rows.combinations`."""

    train: Ints
    test: Ints
    apart: Ints
    """Rows in neither: they share a group with the other side, or come at the wrong time."""
    held_out: Ints
    leverage: Floats
    """Of each held-out combination; NaN where there are too many effects to compute it."""
    back: int
    """Combinations that were to be held out and are not: the others need them, or they have no row to test on."""


class CombinationSplit:
    """Cross-validation over combinations, for scikit-learn: whole combinations are held out, every level stays seen and
    every held-out answer is determined by training.

    ``factors`` are columns of X (None: all). ``hold_out`` None cuts the combinations into ``n_splits`` folds; a share
    or a number draws so many afresh for each split; a list of (partial) combinations holds out those, once.
    ``graded``: the first fold holds out what the other rows support best (low leverage), the last what they support
    least. Rows of one ``group`` (a column, or scikit-learn's ``groups``) never lie on both sides, and with ``time`` no
    training row is later than a test row; rows that this excludes are in neither part.

    Examples:
        >>> import numpy as np
        >>> rows = np.array([[a, b] for a in range(3) for b in range(3)])
        >>> train, test = next(CombinationSplit(n_splits=3).split(rows))
        >>> len(train), len(test)
        (6, 3)
    """

    def __init__(
        self,
        factors: Sequence[str | int] | None = None,
        *,
        n_splits: int = 5,
        hold_out: float | Sequence[Mapping[str, Level]] | None = None,
        graded: bool = False,
        group: str | None = None,
        time: str | None = None,
        bins: Mapping[str, int] | None = None,
        missing: Missing = "error",
        seed: int = 0,
    ) -> None:
        given = not isinstance(hold_out, (int, float)) and hold_out is not None
        if not given and n_splits < (2 if hold_out is None else 1):
            raise InputError(f"n_splits is {n_splits}; folds need 2 or more, splits with hold_out 1 or more.")
        if isinstance(hold_out, (int, float)) and not (
            0 < hold_out < 1 or (hold_out >= 1 and hold_out == int(hold_out))
        ):
            raise InputError(
                f"hold_out is {hold_out:g}; give a share between 0 and 1, or a whole number of combinations."
            )
        self.factors, self.hold_out, self.graded = factors, hold_out, graded
        self.group, self.time, self.bins, self.missing, self.seed = group, time, bins, missing, seed
        self.n_splits = 1 if given else n_splits

    def __repr__(self) -> str:
        return f"CombinationSplit({self.factors!r}, n_splits={self.n_splits}, hold_out={self.hold_out!r})"

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Ints, Ints]]:
        """Row numbers of training and test, split after split."""
        for fold in self.folds(self.rows(X), groups):
            yield fold.train, fold.test

    def rows(self, table: Any, **limits: int | None) -> Rows:
        names = None if self.factors is None else [str(name) for name in self.factors]
        others = [name for name in (self.group, self.time) if name is not None]
        return read_rows(table, names, others=others, bins=self.bins, missing=self.missing, **limits)

    def folds(self, rows: Rows, groups: Any = None) -> list[Fold]:
        """The hold-outs with what is known about them."""
        if self.group is not None:
            groups = rows.frame[self.group].to_numpy()
        elif groups is not None:
            groups = np.asarray(groups)[rows.index]
        later = None if self.time is None else _order(rows, self.time)
        folds = []
        tested = self._tested_groups(rows, groups) if groups is not None else None
        for number, chosen in enumerate(self._choices(rows)):
            may_train, may_test = np.ones((2, len(rows.index)), dtype=bool)
            share = len(chosen) / len(rows.combinations)
            if tested is not None:
                may_train, may_test = ~tested[number], tested[number]
            if later is not None:
                cut = min(np.quantile(later, 1 - share, method="lower"), later.max() - 1)
                may_train, may_test = may_train & (later <= cut), may_test & (later > cut)
            folds.append(_fold(rows, chosen, may_train, may_test))
        return sorted(folds, key=lambda fold: float(np.median(fold.leverage))) if self.graded else folds

    def _tested_groups(self, rows: Rows, groups: NDArray[Any]) -> list[Mask] | None:
        """For each split the rows of the groups that it may test on; None where each group lies in one combination, so
        that whole combinations are whole groups already."""
        names, place = np.unique(groups.astype(str), return_inverse=True)
        pairs = np.unique(np.stack([place, rows.combination]), axis=1)
        if np.bincount(pairs[0]).max() == 1:
            return None
        if len(names) < 2:
            raise InputError("all rows are of one group, so none can be left for testing.")
        orders = [np.random.default_rng([self.seed, i]).permutation(len(names)) for i in range(self.n_splits)]
        if self.hold_out is None:
            parts = np.array_split(orders[0], min(self.n_splits, len(names)))
            return [np.isin(place, parts[i % len(parts)]) for i in range(self.n_splits)]
        share = self.hold_out if isinstance(self.hold_out, float) and self.hold_out < 1 else 0.2
        return [np.isin(place, order[: max(1, round(share * len(names)))]) for order in orders]

    def _choices(self, rows: Rows) -> list[Ints]:
        """The combinations that each split would hold out, before any goes back."""
        count = len(rows.combinations)
        if self.hold_out is not None and not isinstance(self.hold_out, (int, float)):
            chosen = np.flatnonzero(cells_with(rows.space, rows.combinations, self.hold_out))
            if not len(chosen):
                raise InputError("no row has one of the combinations to hold out.")
            return [chosen]
        orders = [np.random.default_rng([self.seed, i]).permutation(count) for i in range(self.n_splits)]
        if self.graded:
            hard = _difficulty(rows)[
                orders[0]
            ]  # Equally hard ones stay in random order: neighbours share their levels.
            orders = [orders[0][np.argsort(hard, kind="stable")][: int(np.isfinite(hard).sum())]] * self.n_splits
        if self.hold_out is None:
            return np.array_split(orders[0], self.n_splits)
        size = min(count, int(self.hold_out) if self.hold_out >= 1 else max(1, round(self.hold_out * count)))
        if not self.graded:
            return [order[:size] for order in orders]
        starts = np.linspace(0, max(0, len(orders[0]) - size), self.n_splits).astype(int)
        return [orders[0][start : start + size] for start in starts]


def _fold(rows: Rows, chosen: Ints, may_train: Mask, may_test: Mask) -> Fold:
    out = np.zeros(len(rows.combinations), dtype=bool)
    out[chosen] = True
    for _ in range(len(chosen) + 1):
        test = out[rows.combination] & may_test
        train = ~out[rows.combination] & may_train
        seen = np.bincount(rows.combination[train], minlength=len(out))
        asked = np.unique(rows.combination[test])
        if not len(asked) or not train.any():
            break
        known = Identifiability(rows.combinations[seen > 0], rows.space.shape)
        advice = advise(known, rows.combinations[asked])
        if not advice.listed:
            raise InputError("too little is left to train on; hold out fewer combinations.")
        if not len(advice.cells):
            found = leverage(known, seen[seen > 0], rows.combinations[asked])
            hard = np.full(len(asked), np.nan) if found is None else found
            sides = [rows.index[part] for part in (train, test, ~train & ~test)]
            return Fold(sides[0], sides[1], sides[2], asked, hard, len(chosen) - len(asked))
        out[asked[Members(advice.cells, rows.space.shape).contains(rows.combinations[asked])]] = False
    raise InputError(
        f"nothing can be held out: each of the {len(chosen):,} combinations tried is needed to determine the others, "
        "or has no row that group and time allow."
    )


def _difficulty(rows: Rows) -> Floats:
    """Leverage of each combination once its own rows are gone, h / (1 − n h); infinite where it is needed."""
    known = Identifiability(rows.combinations, rows.space.shape)
    own = leverage(known, rows.counts, rows.combinations)
    if own is None:
        raise InputError("there are too many levels to grade combinations by leverage.")
    left = 1 - rows.counts * own
    return np.where(left > 1e-9, np.round(own / np.maximum(left, 1e-9), 9), np.inf)


def _order(rows: Rows, time: str) -> Ints:
    """The rank of each row's time; times are numbers or dates, or texts that sort as they pass."""
    if rows.frame[time].null_count():
        raise InputError(f"the time column {time!r} has missing values; fill them in or leave those rows out.")
    values = rows.frame[time]
    numbers = values.cast(float, strict=False) if values.dtype == str else values
    return np.asarray((values if numbers.null_count() else numbers).rank("dense").to_numpy(), dtype=np.int64)
