"""Hold-outs of whole combinations that the rest of the table still determines.

A set F of combinations can be held out iff training without it has the same row space, so every level is seen and every
held-out answer is determined. Where it has not, the fewest members of F that repair it go back to training (`advise`).
Such sets are the independent sets of a matroid (the dual of the training rows'), so taking further combinations in any
order, as long as they can go, ends with as many as can be held out at all.
How hard a combination is, is its leverage given training: the variance of its answer in units of one row's noise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recombine.checks.asked.cells import cells_with
from recombine.checks.exact.advice import advise
from recombine.checks.exact.design import Mask
from recombine.checks.exact.identifiability import Identifiability, Members
from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.exact.robustness import leverage
from recombine.errors import InputError
from recombine.space import Level
from recombine.support.rows import Rows, read_rows
from recombine.support.table import Missing
from recombine.support.times import ranks


@dataclass(frozen=True, eq=False)
class Fold:
    """One hold-out: rows by their place in the table, held-out combinations by their place in `Rows.combinations`."""

    train: Ints
    test: Ints
    apart: Ints
    """Rows in neither: they share a group with the other side, or come at the wrong time."""
    spare: Ints
    """Rows of seen combinations that are held out as well (``seen_rows``)."""
    held_out: Ints
    leverage: Floats
    """Of each held-out combination; NaN where there are too many effects to compute it."""
    back: int
    """How many fewer than asked for: the others need them, or they have no row to test on."""


class CombinationSplit:
    """Cross-validation over combinations, for scikit-learn: whole combinations are held out, every level stays seen and
    every held-out answer is determined by training.

    ``factors`` are columns of X (None: all). ``hold_out`` None cuts the combinations into ``n_splits`` folds; a share
    or a number draws so many afresh for each split; a list of (partial) combinations holds out those, once. Every row
    counts as answered unless ``target`` names the column of answers: rows where it is blank are in neither part.
    ``graded``: the first fold holds out what the other rows support best (low leverage), the last what they support
    least. Rows of one ``group`` (a column, or scikit-learn's ``groups``) never lie on both sides, and with ``time`` no
    training row is later than a test row; rows that this excludes are in neither part. ``merge_alike`` takes texts that
    differ only in spaces or capitals for one level. ``seen_rows`` is a share of the rows of seen combinations that
    have several, which are tested on too: what `measure` compares unseen combinations with. With groups these are rows
    of whole groups: of those that are tested on anyway, or, where every group has one combination, a share of each.

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
        target: str | None = None,
        graded: bool = False,
        group: str | None = None,
        time: str | None = None,
        bins: Mapping[str, int] | None = None,
        missing: Missing = "error",
        merge_alike: bool = False,
        seen_rows: float = 0.0,
        seed: int = 0,
    ) -> None:
        given = not isinstance(hold_out, (int, float)) and hold_out is not None
        if given:
            _refuse_no_combinations(hold_out)
        if not given and n_splits < (2 if hold_out is None else 1):
            raise InputError(f"n_splits is {n_splits}; folds need 2 or more, splits with hold_out 1 or more.")
        if isinstance(hold_out, (int, float)) and not (
            0 < hold_out < 1 or (hold_out >= 1 and hold_out == int(hold_out))
        ):
            raise InputError(
                f"hold_out is {hold_out:g}; give a share between 0 and 1, or a whole number of combinations."
            )
        if not 0 <= seen_rows < 1:
            raise InputError(f"seen_rows is {seen_rows:g}; give a share from 0 to below 1.")
        if seen_rows and time:
            raise InputError("seen_rows tests on rows of all times, which time forbids.")
        self.factors, self.hold_out, self.target, self.graded = factors, hold_out, target, graded
        self.group, self.time, self.bins, self.missing, self.seed = group, time, bins, missing, seed
        self.merge_alike, self.seen_rows = merge_alike, seen_rows
        self.n_splits = 1 if given else n_splits

    def __repr__(self) -> str:
        return f"CombinationSplit({self.factors!r}, n_splits={self.n_splits}, hold_out={self.hold_out!r})"

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Ints, Ints]]:
        """Row numbers of training and test, split after split."""
        for fold in self.folds(self.rows(X), groups):
            yield fold.train, np.sort(np.concatenate([fold.test, fold.spare]))

    def rows(self, table: Any, **limits: int | None) -> Rows:
        names = None if self.factors is None else [str(name) for name in self.factors]
        others = [name for name in (self.group, self.time) if name is not None]
        return read_rows(
            table, names, others=others, target=self.target, bins=self.bins, missing=self.missing,
            merge_alike=self.merge_alike, **limits,
        )  # fmt: skip

    def folds(self, rows: Rows, groups: Any = None) -> list[Fold]:
        """The hold-outs with what is known about them."""
        rows = rows.with_answer()
        if self.seen_rows and rows.counts.max(initial=0) == 1:
            raise InputError(
                "seen_rows holds out rows of combinations that have several, and here each has one: leave it out "
                "(--seen-rows), or take a second row of some of them first."
            )
        if self.group is not None:
            groups = rows.frame[self.group].to_numpy()
        elif groups is not None:
            groups = np.asarray(groups)[rows.index]
        later = None if self.time is None else ranks(self.time, rows.frame[self.time])
        folds = []
        for number, (order, size) in enumerate(self._choices(rows)):
            best: Fold | None = None
            rng = np.random.default_rng([self.seed, number, 1])
            for tested in self._tested(rows, groups, number, order[:size]):
                if groups is None:
                    spare = _spare(rows, self.seen_rows, rng)
                elif tested is None or not self.seen_rows:
                    spare = _spare_groups(rows, groups, self.seen_rows, rng)
                else:
                    spare = tested
                may_train, may_test = np.ones((2, len(rows.index)), dtype=bool) if tested is None else (~tested, tested)
                if later is not None:
                    share = min(1.0, size / len(rows.combinations))
                    cut = min(np.quantile(later, 1 - share, method="lower"), later.max() - 1)
                    may_train, may_test = may_train & (later <= cut), may_test & (later > cut)
                found = _fold(rows, order, size, may_train, may_test, spare)
                if found is not None and (best is None or found.back < best.back):
                    best = found
                if best is not None and not best.back:
                    break
            if best is None:
                tried = f"each of the {len(order):,} combinations" if len(order) != 1 else "the one combination"
                raise InputError(
                    f"nothing can be held out: {tried} tried is needed to determine the others, or has no row that "
                    "group and time allow; or too many are asked for at once."
                )
            folds.append(best)
        return sorted(folds, key=lambda fold: float(np.median(fold.leverage))) if self.graded else folds

    def _tested(self, rows: Rows, groups: NDArray[Any] | None, number: int, chosen: Ints) -> Iterator[Mask | None]:
        """Rows of the groups that a split may test on, one attempt after the other; None: all rows. Folds test on each
        group in turn. Else groups are drawn; and then all those of the combinations to hold out, half of them, …: what
        they have elsewhere is set aside, and the fewer they are, the more is left to train on."""
        if groups is None:
            yield None
            return
        names, place = np.unique(groups.astype(str), return_inverse=True)
        pairs = np.unique(np.stack([place, rows.combination]), axis=1)
        if np.bincount(pairs[0]).max() == 1:
            yield None  # Whole combinations are whole groups already.
            return
        if len(names) < 2:
            raise InputError("all rows are of one group, so none can be left for testing.")
        order = np.random.default_rng([self.seed, 0 if self.hold_out is None else number]).permutation(len(names))
        if self.hold_out is None:
            parts = np.array_split(order, min(self.n_splits, len(names)))
            yield np.isin(place, parts[number % len(parts)])
            return
        if isinstance(self.hold_out, (int, float)):
            yield np.isin(place, order[: max(1, round(len(chosen) / len(rows.combinations) * len(names)))])
        there = order[np.isin(order, place[np.isin(rows.combination, chosen)])]
        while len(there):
            yield np.isin(place, there)
            there = there[: len(there) // 2]

    def _choices(self, rows: Rows) -> list[tuple[Ints, int]]:
        """For each split the combinations that may be held out, the first ones first, and how many."""
        count = len(rows.combinations)
        if self.hold_out is not None and not isinstance(self.hold_out, (int, float)):
            chosen = np.flatnonzero(cells_with(rows.space, rows.combinations, self.hold_out))
            if not len(chosen):
                answer = "" if self.target is None else " and an answer"
                raise InputError(f"no row has one of the combinations to hold out{answer}.")
            return [(chosen, len(chosen))]
        orders = [np.random.default_rng([self.seed, i]).permutation(count) for i in range(self.n_splits)]
        if self.graded:
            hard = _difficulty(rows)[
                orders[0]
            ]  # Equally hard ones stay in random order: neighbours share their levels.
            orders = [orders[0][np.argsort(hard, kind="stable")][: int(np.isfinite(hard).sum())]] * self.n_splits
        if self.hold_out is None:
            return [(part, len(part)) for part in np.array_split(orders[0], self.n_splits)]
        size = int(self.hold_out) if self.hold_out >= 1 else max(1, round(self.hold_out * count))
        if not self.graded:
            return [(order, size) for order in orders]
        # What a window of difficulty lacks comes from the next harder ones, then from the next easier.
        starts = np.linspace(0, max(0, len(orders[0]) - size), self.n_splits).astype(int)
        return [(np.concatenate([orders[0][start:], orders[0][:start][::-1]]), size) for start in starts]


def _refuse_no_combinations(hold_out: Any) -> None:
    """An error unless combinations are listed, each with a level at least: {} would be all of them."""
    written = "a share, a number, or a list of combinations such as [{'shape': 'disc', 'colour': 'red'}]"
    if isinstance(hold_out, (str, Mapping)) or not all(isinstance(record, Mapping) for record in hold_out):
        raise InputError(f"hold_out is {str(hold_out)[:80]!r}; give {written}.")
    if not len(hold_out) or not all(hold_out):
        raise InputError(f"hold_out names {'an empty' if len(hold_out) else 'no'} combination; give {written}.")


def _spare(rows: Rows, share: float, rng: np.random.Generator) -> Mask:
    """A share of the rows of combinations that have several, spread over them evenly, and never all of one."""
    order = rng.permutation(len(rows.combination))
    order = order[np.argsort(rows.combination[order], kind="stable")]
    count = rows.counts
    drawn = rng.permutation(np.flatnonzero(count > 1))
    few = np.zeros_like(count)
    few[drawn] = np.diff(np.ceil(share * np.cumsum(count[drawn])), prepend=0)
    few = np.minimum(few, count - 1)
    own = rows.combination[order]
    spare = np.zeros(len(order), dtype=bool)
    spare[order] = np.arange(len(order)) - (np.cumsum(count) - count)[own] < few[own]
    return spare


def _spare_groups(rows: Rows, groups: NDArray[Any], share: float, rng: np.random.Generator) -> Mask:
    """Rows of whole groups, a share of all rows, of combinations that rows of other groups are left of."""
    place = np.unique(groups.astype(str), return_inverse=True)[1]
    of_group = np.split(np.argsort(place, kind="stable"), np.cumsum(np.bincount(place))[:-1])
    spare, left, wanted = np.zeros(len(place), dtype=bool), rows.counts.copy(), share * len(place)
    for group in rng.permutation(len(of_group)):
        if spare.sum() >= wanted:
            break
        cells, mine = np.unique(rows.combination[of_group[group]], return_counts=True)
        if (left[cells] > mine).all():
            spare[of_group[group]], left[cells] = True, left[cells] - mine
    return spare


def _fold(rows: Rows, order: Ints, size: int, may_train: Mask, may_test: Mask, spare: Mask) -> Fold | None:
    """The first ``size`` combinations of the order that can be held out together, later ones in place of those that
    training needs; None where there are none."""
    held, taken = order[:0], 0
    while len(held) < size and taken < len(order):
        more = max(size - len(held), taken)
        kept = _without_needed(rows, np.concatenate([held, order[taken : taken + more]]), may_train, may_test)
        held, taken = kept[:size] if len(kept) > len(held) else held, taken + more
    if not len(held):
        return None
    out = np.isin(np.arange(len(rows.combinations)), held)[rows.combination]
    spare = spare & ~out
    train, test = ~out & ~spare & may_train, out & may_test
    seen, asked = np.bincount(rows.combination[train], minlength=len(rows.combinations)), np.sort(held)
    spare = spare & (seen > 0)[rows.combination]
    known = Identifiability(rows.combinations[seen > 0], rows.space.shape)
    found = leverage(known, seen[seen > 0], rows.combinations[asked])
    hard = np.full(len(asked), np.nan) if found is None else found
    sides = [rows.index[part] for part in (train, test, ~train & ~test & ~spare)]
    return Fold(sides[0], sides[1], sides[2], rows.index[spare], asked, hard, size - len(asked))


def _without_needed(rows: Rows, chosen: Ints, may_train: Mask, may_test: Mask) -> Ints:
    """Those of the chosen that have a row to test on and that training determines; the fewest go back to it."""
    held = chosen[np.isin(chosen, rows.combination[may_test])]
    while len(held):
        train = np.isin(rows.combination, held, invert=True) & may_train
        if not train.any():
            held = held[:-1]
            continue
        known = Identifiability(rows.combinations[np.unique(rows.combination[train])], rows.space.shape)
        advice = advise(known, rows.combinations[held])
        if not advice.listed:
            return held[:0]
        if not len(advice.cells):
            break
        held = held[~Members(advice.cells, rows.space.shape).contains(rows.combinations[held])]
    return held


def _difficulty(rows: Rows) -> Floats:
    """Leverage of each combination once its own rows are gone, h / (1 − n h); infinite where it is needed."""
    known = Identifiability(rows.combinations, rows.space.shape)
    own = leverage(known, rows.counts, rows.combinations)
    if own is None:
        raise InputError("there are too many levels to grade combinations by leverage.")
    left = 1 - rows.counts * own
    return np.where(left > 1e-9, np.round(own / np.maximum(left, 1e-9), 9), np.inf)
