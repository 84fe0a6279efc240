"""Training cells in the shoes of asked ones: what to leave out so that an error on it is an error as asked.

For an asked cell q a training cell c is its stand-in once as few training cells share each level, and each pair of
levels, with c as with q: c is left out, and of the cells that share a pair or level with it so many that no more are
left than q has. A pair of levels that q has and training never shows is left out whole. Where a number of q lies some
way off every seen value, c is left out with all cells that have a nearer value than that. Where q lies beyond the end
of its series, c is of another one, which is cut as short (`cut_short`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

import numpy as np

from recombine.checks.exact.curves import Curve
from recombine.checks.exact.modular import Ints
from recombine.checks.exact.numbered import key_of
from recombine.checks.rules.cut_short import CutShort, Series
from recombine.checks.rules.effects import Subset, subsets_of

TRIED = 8
"""Training cells compared for each asked cell; the one that needs least to be left out stands in."""
LARGEST_GROUP = 600
MOST_FACTORS = 24
"""Factors up to which pairs of levels are matched; above, single levels are."""
FEWEST, MOST_WORK = 60, 10_000
"""Stand-ins that are drawn in any case, and cells left out with all of them after which no more are."""
SPARED = 0.1
"""Of the cells that share a level or pair with a stand-in, the part that stand-ins fitted with it may take away."""


class _Sharing:
    """How many training cells have the same levels in one subset of factors."""

    def __init__(self, codes: Ints, shape: tuple[int, ...], subset: Subset) -> None:
        self.subset, self._shape = subset, shape
        self.of_row = key_of(codes, shape, subset)
        self._order = np.argsort(self.of_row, kind="stable")
        self._keys, self._starts, self._counts = np.unique(
            self.of_row[self._order], return_index=True, return_counts=True
        )
        self._at = np.searchsorted(self._keys, self.of_row)
        self.rarest = int(self._counts.min())

    def counts(self, codes: Ints) -> Ints:
        keys = key_of(codes, self._shape, self.subset)
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[at] == keys, self._counts[at], 0)

    def rows(self, row: int) -> Ints:
        """Training cells that share this one's levels."""
        at = self._at[row]
        start = self._starts[at]
        return self._order[start : start + self._counts[at]]


@dataclass(frozen=True, eq=False)
class StandIns:
    """Groups of training cells to leave out together, the first of each the stand-in, and what goes together."""

    groups: list[Ints]
    cluster: Ints
    """Stand-ins of one cluster share a pair of levels that is left out whole."""
    asked: Ints
    """The same of the asked cells: those that share an unseen pair of levels."""
    unseen: float = 1.0
    """Share of the asked cells that have an unseen pair of levels; of two factors every asked cell is one."""


class _Gap:
    """How far one number of a cell is from every seen value."""

    def __init__(self, curve: Curve, codes: Ints, asked: Ints) -> None:
        self.place = curve.unit[codes]
        seen = np.append(np.unique(self.place), np.inf)
        wanted = curve.unit[asked]
        at = np.searchsorted(seen, wanted)
        self.width = np.minimum(seen[at] - wanted, wanted - seen[np.maximum(at - 1, 0)])
        """Of each asked cell the distance to the nearest seen value."""
        self.width[seen[at] == wanted] = 0.0

    def fits(self, rows: Ints, q: int) -> np.ndarray:
        """Whether so wide a gap around the value of a training cell has cells on both sides."""
        low, high = self.place[rows] - self.width[q], self.place[rows] + self.width[q]
        return np.asarray((low >= self.place.min()) & (high <= self.place.max()))

    def rows(self, row: int, q: int) -> Ints:
        """Training cells inside it."""
        return np.flatnonzero(np.abs(self.place - self.place[row]) < self.width[q] * (1 - 1e-9))


class _Unlike:
    """How unlike training cells are to an asked one: Σ |log((t − ½) / (w + ½))| over what they share with t training
    cells and it with w. Few numbers of cells occur, again and again: each pair of them is compared once."""

    def __init__(self, of_train: Ints, of_asked: Ints) -> None:
        (train, self._train), (asked, self._asked) = (
            np.unique(counts, return_inverse=True) for counts in (of_train, of_asked)
        )
        self._table = np.abs(np.log((train - 0.5)[:, None] / (asked + 0.5)))
        self._train, self._asked = self._train.reshape(of_train.shape), self._asked.reshape(of_asked.shape)

    def __call__(self, cells: Ints, q: int) -> np.ndarray:
        return np.asarray(self._table[self._train[:, cells], self._asked[:, q, None]].sum(axis=0))


def stand_ins(
    codes: Ints,
    shape: tuple[int, ...],
    asked: Ints,
    count: int,
    rng: np.random.Generator,
    curves: Mapping[int, Curve] | None = None,
    series: Series | None = None,
) -> StandIns:
    """Up to ``count`` stand-ins for asked cells; of a pair of levels that is left out whole, two each time. ``series``:
    of those that are asked about beyond their end."""
    curves = curves or {}
    gaps = [_Gap(curve, codes[:, k], asked[:, k]) for k, curve in curves.items()]
    subsets = [s for s in reversed(_matched(shape)) if not curves.keys() & set(s)]
    sharing = [_Sharing(codes, shape, s) for s in subsets]
    of_train, of_asked = (
        np.array([s.counts(cells) for s in sharing]).reshape(len(sharing), len(cells)) for cells in (codes, asked)
    )
    alone = np.array([len(s.subset) == 1 for s in sharing], dtype=bool)
    single = [same for same in sharing if len(same.subset) == 1]
    unlike, never = _Unlike(of_train, of_asked), np.where((of_train[alone] < 2).any(axis=0), np.inf, 0.0)
    unshown = ~alone[:, None] & (of_asked == 0)
    lacks, kept = unshown.any(axis=0).tolist(), of_asked + np.sqrt(of_asked)
    by, asked_cluster = _unseen_pairs(asked, shape, sharing, of_asked)
    short = None if series is None else CutShort(series, codes, asked)
    groups, clusters, work = [], [], 0
    turns = np.concatenate([rng.permutation(len(asked)) for _ in range(-(-count // len(asked)))])[:count]
    for q in turns.tolist():
        cut = short if short is not None and short.beyond[q] else None
        tried = rng.integers(len(codes), size=TRIED) if cut is None else rng.permutation(cut.pool(q))[:TRIED]
        if not len(tried):
            continue
        apart = unlike(tried, q) + never[tried]
        for gap in gaps:
            apart[~gap.fits(tried, q)] = np.inf
        best = int(apart.argmin())
        if not math.isfinite(apart[best]):
            continue
        row = int(tried[best])
        around = [gap.rows(row, q) for gap in gaps] + ([] if cut is None else [cut.rows(row, q)])
        near = sorted({row}.union(*(cells.tolist() for cells in around)))
        if len(near) > LARGEST_GROUP:
            continue
        crowded = (of_train[:, row] - 1 > kept[:, q]).nonzero()[0].tolist()
        group = _left_out(row, near, [(sharing[i], int(of_asked[i, q])) for i in crowded], single, len(codes), rng)
        if group is None:
            continue
        name = (int(by[q]), int(sharing[by[q]].rows(row).min()) if by[q] >= 0 else row)
        mates = list[int]()
        if lacks[q]:
            whole = [sharing[i].rows(row) for i in np.flatnonzero(unshown[:, q])]
            gone = np.zeros(len(codes), dtype=bool)
            gone[group] = True
            mates = [m for m in reduce(np.intersect1d, whole) if m != row and _levels_left(m, gone, single)]
        groups.append(group)
        if mates:
            mate = int(rng.choice(mates))
            groups.append(np.concatenate([[mate], group[group != mate]]))
        both = 1 + bool(mates)
        clusters += [name] * both
        work += len(group) * both
        if len(groups) >= count or (len(groups) >= FEWEST and work > MOST_WORK):
            break
    names = {name: i for i, name in enumerate(dict.fromkeys(clusters))}
    unseen = float((of_asked[~alone] == 0).any(axis=0).mean()) if not alone.all() else 1.0
    return StandIns(groups, np.array([names[c] for c in clusters], dtype=np.int64), asked_cluster, unseen)


def packed(groups: list[Ints], codes: Ints, shape: tuple[int, ...]) -> list[tuple[Ints, Ints]]:
    """For rules that must be fitted anew: stand-ins that one fit serves, and the cells that it goes without.

    What the others of a pack leave out costs none of its stand-ins more than `SPARED` of the cells that its own group
    leaves: of all cells, and of those with each of its levels and pairs of levels. So none of these vanishes."""
    keys = np.array([key_of(codes, shape, subset) for subset in ((), *_matched(shape))])
    own = [keys[:, group[:1]] for group in groups]
    spared = [
        SPARED * ((keys == mine).sum(axis=1) - (keys[:, group] == mine).sum(axis=1))
        for group, mine in zip(groups, own, strict=True)
    ]

    def spares(i: int, gone: Ints) -> bool:
        return not ((keys[:, np.setdiff1d(gone, groups[i])] == own[i]).sum(axis=1) > spared[i]).any()

    packs: list[tuple[list[int], Ints]] = []
    for i in sorted(range(len(groups)), key=lambda i: -len(groups[i])):
        for at, (members, gone) in enumerate(packs):
            both = np.union1d(gone, groups[i])
            if all(spares(m, both) for m in (i, *members)):
                packs[at] = [*members, i], both
                break
        else:
            packs.append(([i], groups[i]))
    return [(np.array([groups[m][0] for m in members]), gone) for members, gone in packs]


def _matched(shape: tuple[int, ...]) -> list[Subset]:
    """Factors, and pairs of them, whose levels are matched; of two factors a pair is the cell itself."""
    return subsets_of(len(shape), 2 if 2 < len(shape) <= MOST_FACTORS else 1)


def _unseen_pairs(asked: Ints, shape: tuple[int, ...], sharing: list[_Sharing], of_asked: Ints) -> tuple[Ints, Ints]:
    """For each asked cell the pair of factors (its place in ``sharing``, or −1) whose levels were never seen together
    (of several the one that most asked cells share), and the cluster that this puts the cell in."""
    by, cluster = np.full(len(asked), -1), np.arange(len(asked))
    largest = np.zeros(len(asked))
    for i, same in enumerate(sharing):
        if len(same.subset) < 2:
            continue
        unseen = np.flatnonzero(of_asked[i] == 0)
        if not len(unseen):
            continue
        _, at, counts = np.unique(key_of(asked[unseen], shape, same.subset), return_inverse=True, return_counts=True)
        better = counts[at] > largest[unseen]
        here = unseen[better]
        by[here], largest[here] = i, counts[at][better]
        cluster[here] = len(asked) * (1 + i) + at[better]
    return by, np.unique(cluster, return_inverse=True)[1]


def _levels_left(row: int, gone: np.ndarray, single: list[_Sharing]) -> bool:
    """Whether each level of a cell still occurs without these cells."""
    few = np.count_nonzero(gone)  # A level with more rows than are gone is still there.
    return not any(same.rarest <= few and gone[same.rows(row)].all() for same in single)


def _left_out(
    row: int, near: list[int], crowded: list[tuple[_Sharing, int]], single: list[_Sharing], cells: int,
    rng: np.random.Generator,
) -> Ints | None:  # fmt: skip
    """A cell and what goes with it: what is ``near``, and so many of those that share levels with it that no more than
    wanted are left."""
    gone = np.zeros(cells, dtype=bool)
    gone[near] = True
    for same, wanted in crowded:
        left = same.rows(row)
        left = left[~gone[left]]
        gone[rng.permutation(left)[: max(0, len(left) - wanted)]] = True
    if not _levels_left(row, gone, single):
        return None
    gone[row] = False
    others = gone.nonzero()[0]
    if len(others) > LARGEST_GROUP:
        gone[near] = False
        few = [r for r in near if r != row]
        others = np.concatenate([few, rng.choice(np.flatnonzero(gone), LARGEST_GROUP - len(few), replace=False)])
    return np.concatenate([[row], others]).astype(np.int64, copy=False)
