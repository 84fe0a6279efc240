"""Odd-one-out items from any table of factors: rows of codes, rules over them, and a function that makes the items."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from recombine.errors import InputError, unknown
from recombine.space import Codes, FactorSpace
from recombine.support import full
from recombine.tasks.draws import Draws
from recombine.tasks.odd_one_out.problems import ITEMS, SHARES, Source, Split, of_keys

Rule = Callable[[Codes], NDArray[np.bool_]]
"""Which rows of codes (rows × factors) keep a rule."""


class FactorTable(Source):
    """Items are rows of ``codes`` (by default every combination of ``space``), made by ``item`` (codes → tensor).

    Rows that agree in the factors ``alike`` (by default all) go to the same split, so that a split has not even their
    relatives; which split is a hash of them alone. The levels of ``even`` are drawn equally often, however many rows
    each has. No problem holds the same row twice."""

    def __init__(
        self,
        space: FactorSpace,
        rules: Mapping[str, Rule],
        item: Callable[[Tensor], Tensor],
        *,
        codes: Codes | None = None,
        alike: Sequence[str] | None = None,
        even: str | None = None,
    ) -> None:
        for name in (*(alike or ()), *((even,) if even else ())):
            if name not in space.names:
                raise unknown("factor", name, space.names)
        if clash := set(rules) & set(space.names):
            raise InputError(f"a rule and a factor are both called {min(clash)!r}; rename one.")
        self.space, self.item = space, item
        self._codes: Codes = full(space).explicit().codes if codes is None else space.check(codes)
        self._rules = dict(rules)
        self._alike = tuple(alike) if alike is not None else space.names
        self._even = even

    @property
    def rules(self) -> tuple[str, ...]:
        return tuple(self._rules)

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self._rules, *self.space.names)

    def items(self, kept: Tensor, draws: Draws, split: Split) -> tuple[Tensor, Tensor]:
        rows = self._drawn(kept, draws, split)
        codes = torch.as_tensor(self._codes.copy(), device=kept.device)[rows]
        made = self.item(codes.flatten(0, 1)).unflatten(0, (-1, ITEMS))
        return made, torch.cat([kept.long(), codes], -1)

    @cached_property
    def splits(self) -> dict[Split, NDArray[np.bool_]]:
        """Which rows belong to each split."""
        columns = [self.space.names.index(name) for name in self._alike]
        strides = np.cumprod([1, *(len(self.space.factors[c]) for c in columns[:-1])])
        relatives = torch.as_tensor(self._codes[:, columns] @ strides)
        at = of_keys(relatives)("split").uniform((len(relatives),), torch.float64).numpy()
        ends = np.cumsum(list(SHARES.values()))
        part = np.searchsorted(ends, at, side="right").clip(max=len(SHARES) - 1)
        return {name: part == number for number, name in enumerate(SHARES)}

    def _drawn(self, kept: Tensor, draws: Draws, split: Split) -> Tensor:
        """Rows (problems × 4) that keep what is asked, none twice in a problem."""
        order, first, count = self._sorted(split)
        strata = len(count) >> len(self._rules)
        # A sum, not a product of matrices: there is none for whole numbers on a GPU.
        cells = (kept.long() << torch.arange(len(self._rules), device=kept.device)).sum(-1)
        there = (count.reshape(-1, strata) > 0).to(kept.device)
        if not there.any(1)[cells].all():
            missing = {name: bool(flag) for name, flag in zip(self._rules, kept[~there.any(1)[cells]][0], strict=True)}
            raise InputError(f"the table has no row for {split} that keeps {missing}; give more rows.")
        unit = draws("row").uniform((*draws.lead, ITEMS, 2), torch.float64)
        levels = there.sum(1)
        level = (unit[..., 0] * levels[cells]).long()
        stratum = there.long().argsort(dim=1, descending=True, stable=True)[cells, level]
        cell = cells * strata + stratum
        many = count.to(cell.device)[cell]
        place = (unit[..., 1] * many).long()
        for _ in range(ITEMS):
            for j in range(1, ITEMS):
                same = (cell[:, :j] == cell[:, j : j + 1]) & (place[:, :j] == place[:, j : j + 1])
                place[:, j] = torch.where(same.any(1), (place[:, j] + 1) % many[:, j], place[:, j])
        return order.to(cell.device)[first.to(cell.device)[cell] + place]

    def _sorted(self, split: Split) -> tuple[Tensor, Tensor, Tensor]:
        """The rows of a split sorted by cell (rules kept, then the level of ``even``), where each cell begins, and how
        many it has."""
        if split not in self._cells:
            kept = np.stack([rule(self._codes) for rule in self._rules.values()], -1).astype(np.int64)
            cell = kept @ (1 << np.arange(len(self._rules)))
            strata = 1
            if self._even is not None:
                at = self.space.names.index(self._even)
                strata = len(self.space.factors[at])
                cell = cell * strata + self._codes[:, at]
            rows = np.flatnonzero(self.splits[split])
            rows = rows[np.argsort(cell[rows], kind="stable")]
            count = np.bincount(cell[rows], minlength=strata << len(self._rules))
            first = np.cumsum(count) - count
            self._cells[split] = torch.as_tensor(rows), torch.as_tensor(first), torch.as_tensor(count)
        return self._cells[split]

    @cached_property
    def _cells(self) -> dict[Split, tuple[Tensor, Tensor, Tensor]]:
        return {}
