"""Interactions that the seen combinations cannot tell from single effects, or from each other: aliases.

A fraction of a factorial shows every single effect. The combinations that it lacks break its aliases, and no seen one
that is left out does: forecasts and tests see nothing of an interaction that is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from recombine.checks.exact.modular import Floats, Ints

MOST_CELLS, MOST_COLUMNS, MOST_PAIRS = 300, 400, 2_000
"""Beyond these nobody runs a fraction, and looking takes seconds."""
SAME = 1e-8

Pair = tuple[int, int]


@dataclass(frozen=True)
class Aliases:
    """Pairs of factors whose interaction single effects hide, and groups of pairs whose interactions are one."""

    hidden: tuple[Pair, ...] = ()
    alike: tuple[tuple[Pair, ...], ...] = ()
    saturated: bool = False
    """Whether there are as many single effects, all of them determined, as seen combinations: these hide every
    interaction, and nothing is left that tells how much answers err."""

    def words(self, names: Sequence[str]) -> list[str]:
        def of(pairs: Sequence[Pair], joined: str = ", ") -> str:
            return joined.join(f"{names[a]} × {names[b]}" for a, b in pairs)

        said = []
        if self.saturated:
            said.append(
                "no interaction of any two factors can be told from single effects, which are as many as the seen "
                "combinations (aliased): one that is there would spoil the answers, and no test can see it."
            )
        if self.hidden:
            which = f"interaction of {of(self.hidden)}" if len(self.hidden) == 1 else f"interactions {of(self.hidden)}"
            said.append(
                f"the {which} cannot be told from single effects on the seen combinations (aliased): one that is there "
                "would spoil the answers, and neither tests nor the forecast can see it."
            )
        if self.alike:
            groups = "; ".join(of(group, " and ") for group in self.alike)
            said.append(
                f"on the seen combinations these interactions are one and the same (aliased): {groups}. A test that "
                "names one cannot tell it from the other; --order 2 (order=2) says what would."
            )
        return said


def aliases(cells: Ints, shape: tuple[int, ...]) -> Aliases:
    """Of the distinct cells that were seen. Where these determine no more than some of the single effects no pair is
    called an alias: there it is cells that lack."""
    pairs = len(shape) * (len(shape) - 1) // 2
    if len(shape) < 3 or len(cells) > MOST_CELLS or sum(shape) > MOST_COLUMNS or pairs > MOST_PAIRS:
        return Aliases()
    single = [np.eye(n)[cells[:, k]] for k, n in enumerate(shape)]
    main = _basis(np.concatenate(single, axis=1))
    if main.shape[1] == len(cells):
        return Aliases(saturated=main.shape[1] == sum(shape) - len(shape) + 1)
    spaces: dict[Pair, Floats] = {}
    hidden = []
    for a, b in combinations(range(len(shape)), 2):
        _, both = np.unique(cells[:, [a, b]], axis=0, return_inverse=True)
        columns = np.eye(int(both.max()) + 1)[both.ravel()]
        own = columns.shape[1] - _basis(np.concatenate([single[a], single[b]], axis=1)).shape[1]
        left = _basis(columns - main @ (main.T @ columns))
        if own > 0 and left.shape[1] == 0:
            hidden.append((a, b))
        elif left.shape[1] and main.shape[1] + left.shape[1] < len(cells):
            spaces[a, b] = left
    groups: list[list[Pair]] = []
    marks, anything = np.full(len(spaces), np.nan), np.random.default_rng(0).normal(size=len(cells))
    for pair, space in spaces.items():
        # Where spaces are one, so is what they keep of anything: only such groups are looked at.
        mark = float(np.square(anything @ space).sum())
        near = np.flatnonzero(np.abs(marks - mark) < 1e-6)
        same = next((g for g in near if _equal(spaces[groups[g][0]], space)), None)
        if same is None:
            marks[len(groups)] = mark
            groups.append([pair])
        else:
            groups[same].append(pair)
    return Aliases(tuple(hidden), tuple(tuple(group) for group in groups if len(group) > 1))


def _basis(columns: Floats) -> Floats:
    """Orthonormal columns that span the same."""
    left, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(left[:, sizes > SAME * max(1.0, float(sizes.max(initial=0.0)))])


def _equal(one: Floats, other: Floats) -> bool:
    return one.shape == other.shape and bool(np.allclose(one @ (one.T @ other), other, atol=1e-7))
