"""Which combinations are asked about, and how many of each status there are.

A test table is listed. The whole grid minus training is listed up to two million cells; beyond, its counts are still
exact where a closed form has them (everything seen-levelled is determined; two factors: pieces), else they are sampled
shares.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from recombine.checks.asked.cells import cells_with
from recombine.checks.exact.design import Additive
from recombine.checks.exact.identifiability import (
    EXTRAPOLATION,
    SEEN,
    STATUSES,
    UNDETERMINED,
    UNSEEN,
    Identifiability,
)
from recombine.checks.exact.modular import Ints
from recombine.checks.rules.weighing import AskedWeights
from recombine.errors import InputError
from recombine.space import Codes, FactorSpace, Level

LISTED = 2_000_000
SAMPLED = 10_000
KEPT = 10
"""One in so many of the reported queries is kept for each status."""
MOST_LEVELS = 200_000
"""Levels that the reported queries name between them: 1 000 queries of 200 factors, and never fewer than 500."""


@dataclass(frozen=True, eq=False)
class Asked:
    """The queries to report (worst first), and the exact or sampled numbers behind them."""

    codes: Codes
    status: Ints
    counts: dict[str, int] | None
    share: dict[str, float] | None
    total: int
    worst: str
    weights: AskedWeights | None = None
    """What combinations that are asked about weigh, where rows do."""


def ask_table(known: Identifiability, codes: Codes, most: int) -> Asked:
    """About every distinct combination of a test table."""
    most = _readable(most, len(known.shape))
    status = known.status(codes)
    tally = np.bincount(status, minlength=len(STATUSES))
    return _chosen(codes, status, _named(known, tally), len(codes), most)


def ask_grid(
    known: Identifiability,
    space: FactorSpace,
    most: int,
    seed: int,
    exclude: Sequence[Mapping[str, Level]] = (),
) -> Asked:
    """About the grid of the table's levels minus training, and minus the cells that cannot exist."""
    most = _readable(most, len(space))
    if exclude and space.size > LISTED:
        raise InputError(f"to exclude cells the grid is listed; {space.size:.3g} combinations are too many.")
    total = space.size - len(known.codes)
    exact = _closed_form(known, space)
    if space.size <= LISTED:
        return _enumerate(known, space, most, exclude)
    sample = np.unique(space.sample(min(most, SAMPLED) + 1_000, seed), axis=0)
    sample = np.random.default_rng(seed).permutation(sample[~known.members.contains(sample)])[: min(most, SAMPLED)]
    status = known.status(sample)
    if exact is not None:
        return _chosen(sample, status, exact, total, most)
    share = {name: float((status == i).mean()) if len(status) else 0.0 for i, name in enumerate(STATUSES)}
    # The sample may miss rare cells; the ranks do not: a grid of higher rank than training holds something
    # undetermined.
    worst = max(
        int(status.max(initial=SEEN)),
        SEEN if known.complete else UNDETERMINED,
        UNSEEN if not _all_levels(known) else SEEN,
    )
    order = _worst_first(status)
    return Asked(sample[order], status[order], None, share, total, STATUSES[worst])


def _readable(most: int, factors: int) -> int:
    return min(most, max(500, MOST_LEVELS // factors))


def _enumerate(known: Identifiability, space: FactorSpace, most: int, exclude: Sequence[Mapping[str, Level]]) -> Asked:
    kept, statuses = [], []
    tally = np.zeros(len(STATUSES), dtype=np.int64)
    for chunk in space.grid_chunks(262_144):
        fresh = chunk[~known.members.contains(chunk)]
        fresh = fresh[~cells_with(space, fresh, exclude)]
        status = known.status(fresh)
        tally += np.bincount(status, minlength=len(STATUSES))
        small = np.uint8 if max(space.shape) <= 256 else np.uint32
        kept.append(fresh.astype(small))
        statuses.append(status.astype(np.uint8))
    codes = np.concatenate(kept) if kept else np.zeros((0, len(space)), np.int64)
    status = np.concatenate(statuses) if statuses else np.zeros(0, np.uint8)
    return _chosen(codes, status.astype(np.int64), _named(known, tally), len(codes), most)


def _named(known: Identifiability, tally: Ints) -> dict[str, int]:
    """Nothing is extrapolated where no factor is a number."""
    return {name: int(tally[i]) for i, name in enumerate(STATUSES) if known.curves or i != EXTRAPOLATION}


def _chosen(codes: Codes, status: Ints, counts: dict[str, int], total: int, most: int) -> Asked:
    worst = max((i for i, name in enumerate(STATUSES) if counts.get(name)), default=SEEN)
    keep = _worst_first(status)
    if len(keep) > most:
        keep = np.concatenate([_spread(np.flatnonzero(status == s), share) for s, share in _shares(status, most)])
    return Asked(codes[keep].astype(np.int64), status[keep], counts, None, total, STATUSES[worst])


def _shares(status: Ints, most: int) -> list[tuple[int, int]]:
    """Worst statuses first; each takes what is left, so that nothing bad is crowded out by what is well, but for a few
    of each: what can be answered is answered, and forecast, however much cannot."""
    tally = np.bincount(status, minlength=len(STATUSES))
    few = np.minimum(tally, most // KEPT)
    left, shares = most - int(few.sum()), []
    for s in range(UNSEEN, SEEN - 1, -1):
        more = min(left, int(tally[s] - few[s]))
        shares.append((s, int(few[s]) + more))
        left -= more
    return shares


def _spread(positions: Ints, count: int) -> Ints:
    if count >= len(positions):
        return positions
    return positions[np.linspace(0, len(positions) - 1, count).round().astype(np.int64)] if count else positions[:0]


def _worst_first(status: Ints) -> Ints:
    return np.argsort(-status, kind="stable")


def _all_levels(known: Identifiability) -> bool:
    return all(seen.all() for seen in known.seen_levels)


def _closed_form(known: Identifiability, space: FactorSpace) -> dict[str, int] | None:
    """Exact numbers of unseen cells by status without listing them."""
    if known.curves:
        return None
    reachable = math.prod(int(seen.sum()) for seen in known.seen_levels)
    unseen = space.size - reachable
    trained = len(known.codes)
    if known.complete:
        return {"seen": 0, "determined": reachable - trained, "undetermined": 0, "unseen level": unseen}
    if known.graph and isinstance(known.rows, Additive):
        forest = known.rows.forest
        left = np.bincount(forest.piece[: forest.left], minlength=forest.pieces)
        right = np.bincount(forest.piece[forest.left :], minlength=forest.pieces)
        inside = int((left.astype(object) * right.astype(object)).sum())
        return {"seen": 0, "determined": inside - trained, "undetermined": reachable - inside, "unseen level": unseen}
    return None


def stars(known: Identifiability, counts: Ints) -> Codes:
    """Cells that differ from the most frequent training combination in at most ``order`` factors.

    Their rows span those of the whole grid, so collecting among them costs no more than among all cells, and each is a
    small change of something people already have.
    """
    base = known.codes[int(np.argmax(counts))].astype(np.int64)
    cells = [base[None, :]]
    levels = [known.curves[k].spanning.tolist() if k in known.curves else range(n) for k, n in enumerate(known.shape)]
    for size in range(1, known.order + 1):
        for chosen in itertools.combinations(range(len(known.shape)), size):
            block = np.array(
                list(itertools.product(*[[v for v in levels[k] if v != base[k]] for k in chosen])),
                dtype=np.int64,
            )
            if len(block):
                rows = np.repeat(base[None, :], len(block), axis=0)
                rows[:, chosen] = block
                cells.append(rows)
    return np.concatenate(cells)
