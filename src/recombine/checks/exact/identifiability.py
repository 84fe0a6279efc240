"""Which answers the training combinations determine, exactly (first principles §1; kernel theory §1).

Under effects of order m, f(q) = Σ over subsets J of at most m factors of f_J(q_J), the answer at q is determined by the
answers at the training combinations iff row(q) lies in the row space of the training rows: otherwise some change of the
effects alters f(q) and no training answer. No learner can know better without a further assumption. A factor that is a
number acts along a curve (`curves`): between the values that training shows its answers are determined as others are,
outside of them they are an extrapolation.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from recombine.checks.exact.curves import Curve
from recombine.checks.exact.design import Additive, Conjunctive, Mask, grid_rank, row_space
from recombine.checks.exact.modular import Ints
from recombine.checks.exact.numbered import key_of
from recombine.space import Codes

SEEN, DETERMINED, EXTRAPOLATION, UNDETERMINED, UNSEEN = range(5)
STATUSES = ("seen", "determined", "extrapolation", "undetermined", "unseen level")
"""From best to worst."""
SCALES = {"log": "multiply", "log-odds": "multiply the odds", "rank": "add up on a scale of ranks"}
"""What effects do that add up on a scale."""


class Members:
    """Fast membership in a list of distinct combinations."""

    def __init__(self, codes: Codes, shape: tuple[int, ...]) -> None:
        self._strides = None
        if math.prod(shape) < 2**62:
            self._strides = np.array([math.prod(shape[i + 1 :]) for i in range(len(shape))], dtype=np.int64)
        keys = self.keys(codes)
        ordered = self._strides is not None and (keys[1:] >= keys[:-1]).all()  # as a table's are
        self._sorted = keys if ordered else np.sort(keys)

    def keys(self, codes: Codes) -> Ints:
        """One sortable value per row."""
        if self._strides is not None:
            keys = np.zeros(len(codes), dtype=np.int64)
            for k, stride in enumerate(self._strides):
                keys += codes[:, k].astype(np.int64) * stride
            return keys
        rows = np.ascontiguousarray(codes.astype(">u4"))
        return rows.view(f"S{rows.shape[1] * 4}").ravel()

    def contains(self, codes: Codes) -> Mask:
        if not len(self._sorted):
            return np.zeros(len(codes), dtype=bool)
        keys = self.keys(codes)
        at = np.minimum(np.searchsorted(self._sorted, keys), len(self._sorted) - 1)
        return np.asarray(self._sorted[at] == keys)


@dataclass(frozen=True, eq=False)
class Identifiability:
    """What distinct training combinations (rows of codes) determine under effects of one order."""

    codes: Codes
    shape: tuple[int, ...]
    order: int = 1
    curves: Mapping[int, Curve] = field(default_factory=dict)
    """What the factors that are numbers may do, by their place."""

    @cached_property
    def rows(self) -> Additive | Conjunctive:
        return row_space(self.codes, self.shape, self.order, self.curves)

    @property
    def graph(self) -> bool:
        """Whether levels are nodes and training combinations edges, and pieces decide everything."""
        return self.order == 1 and len(self.shape) == 2 and not self.curves

    def assumes(self, names: Sequence[str], scale: str | None = None) -> str:
        """What “determined” rests on, in words; ``scale``: where effects add up on another than the answer's own."""
        effects = "effects" if self.order == 1 else f"effects of up to {self.order} factors at once"
        curves = "".join(f" and {names[k]} acts along {curve.words}" for k, curve in self.curves.items())
        return f"{effects} {SCALES[scale] if scale else 'add up'}{curves}"

    def _sizes(self, levels: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(self.curves[k].width + 1 if k in self.curves else n for k, n in enumerate(levels))

    @property
    def rank(self) -> int:
        return self.rows.rank

    @cached_property
    def grid_rank(self) -> int:
        return grid_rank(self._sizes(self.shape), self.order)

    @cached_property
    def members(self) -> Members:
        return Members(self.codes, self.shape)

    @cached_property
    def seen_levels(self) -> tuple[Mask, ...]:
        """For each factor, which levels occur in training; a number needs not."""
        return tuple(
            (np.bincount(self.codes[:, k], minlength=n) > 0) | (k in self.curves) for k, n in enumerate(self.shape)
        )

    def levels_seen(self, codes: Codes) -> Mask:
        """Compositional support: which rows are made of levels that each occur in training."""
        inside = np.ones(len(codes), dtype=bool)
        for k, seen in enumerate(self.seen_levels):
            inside &= seen[codes[:, k]]
        return inside

    @cached_property
    def complete(self) -> bool:
        """Whether training determines every combination of seen levels."""
        return self.rank == grid_rank(self._sizes(tuple(int(s.sum()) for s in self.seen_levels)), self.order)

    def status(self, codes: Codes) -> Ints:
        """For each combination its place in STATUSES."""
        status = np.full(len(codes), UNSEEN, dtype=np.int64)
        possible = np.flatnonzero(self.levels_seen(codes))
        if self.complete:
            status[possible] = DETERMINED
        else:
            status[possible] = np.where(self.rows.contains(codes[possible]), DETERMINED, UNDETERMINED)
        if self.curves:
            status[(status == DETERMINED) & self.beyond(codes)] = EXTRAPOLATION
        status[possible[self.members.contains(codes[possible])]] = SEEN
        return status

    def beyond(self, codes: Codes) -> Mask:
        """Which combinations have a number outside the range of values that training shows: with their other levels,
        where effects are of several factors at once."""
        outside = np.zeros(len(codes), dtype=bool)
        others = [k for k in range(len(self.shape)) if k not in self.curves]
        for k, beside in itertools.product(
            self.curves, itertools.combinations(others, min(self.order - 1, len(others)))
        ):
            keys, place = np.unique(key_of(self.codes, self.shape, beside), return_inverse=True)
            low, high = np.full(len(keys), self.shape[k]), np.full(len(keys), -1)
            np.minimum.at(low, place, self.codes[:, k])
            np.maximum.at(high, place, self.codes[:, k])
            wanted = key_of(codes, self.shape, beside)
            at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            outside |= (keys[at] == wanted) & ((codes[:, k] < low[at]) | (codes[:, k] > high[at]))
        return outside

    def still_beyond(self, codes: Codes, collected: Codes) -> int:
        """How many of these combinations would be an extrapolation even if further ones were collected."""
        if not self.curves:
            return 0
        whole = self.with_rows(collected) if len(collected) else self
        return int((whole.beyond(codes) & ~whole.members.contains(codes)).sum())

    def with_rows(self, codes: Codes) -> Identifiability:
        """The same after collecting further combinations."""
        return replace(self, codes=np.vstack([self.codes, codes.astype(self.codes.dtype)]))
