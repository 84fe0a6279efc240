"""Blocks that seem to be numbered anew within each level of a factor: block 1 of one site is not block 1 of another.

    F of the columns block × factor, beside those of the combinations (or of the effects, where too few rows repeat
    them) and of the blocks, by least squares over the training rows

A day that acts on some levels more than on others looks the same, so that it is asked and not claimed. So does one that
multiplies answers; of logarithms such blocks are alike over levels.
"""

from __future__ import annotations

import numpy as np
from scipy.special import fdtrc

from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.rules.effects import LEAST_FREEDOM
from recombine.checks.rules.scales import scaled, scales
from recombine.checks.rules.weighing import worth_in
from recombine.support.table import Target

CHANCE = 0.01
"""How often it may be asked, at most, where blocks shift all levels alike: over all factors."""
ALIKE = 0.05
"""p-value from which blocks are alike over levels."""
MOST_WORK = 30_000_000
"""Rows × columns up to which this is looked at."""


def beside(base: Floats, more: Floats, target: Target) -> float | None:
    """The p of these columns beside others; None where too few rows are left, or these add nothing."""
    worth = worth_in(np.hstack([base, more]), target)
    weight = np.sqrt(worth)
    left, ranks = [], []
    for x in (base, np.hstack([base, more])):
        beta, _, rank, _ = np.linalg.lstsq(x * weight[:, None], target.mean * weight, rcond=1e-9)
        left.append(float((worth * (target.mean - x @ beta) ** 2).sum() + target.spread.sum()))
        ranks.append(int(rank))
    freedom, extra = int(target.count.sum()) - ranks[1], ranks[1] - ranks[0]
    if freedom < LEAST_FREEDOM or not extra or left[1] <= 0:
        return None
    return float(fdtrc(extra, freedom, max((left[0] - left[1]) / extra / (left[1] / freedom), 0.0)))


def numbered_anew(codes: Ints, blocks: Ints, effects: Floats, target: Target, chance: float = CHANCE) -> int | None:
    """The factor, by place, within whose levels a column of blocks is numbered anew, by these answers; None: none is.
    ``effects``: the columns of the model that is fitted; ``chance``: of one where none is."""
    values, block = np.unique(blocks, return_inverse=True)
    cells = np.unique(codes, axis=0, return_inverse=True)[1].ravel()
    if len(codes) * (int(cells.max()) + 1 + len(values) * max(int(codes.max()) + 1, 2)) > MOST_WORK:
        return None
    shifts = np.eye(len(values))[block.ravel()]
    found: list[tuple[float, int]] = []
    for k in range(codes.shape[1]):
        levels, level = np.unique(codes[:, k], return_inverse=True)
        both = np.unique(np.stack([block.ravel(), level.ravel()]), axis=1, return_inverse=True)[1].ravel()
        if len(levels) < 2 or not _crossed(block.ravel(), level.ravel()):
            continue
        for base in (np.eye(int(cells.max()) + 1)[cells], effects):
            p = beside(np.hstack([base, shifts]), np.eye(int(both.max()) + 1)[both], target)
            if p is not None:
                found.append((p, k))
                break
    p, k = min(found, default=(1.0, 0))
    return k if p < chance / max(len(found), 1) else None


def alike_in_logs(codes: Ints, blocks: Ints, effects: Floats, target: Target) -> bool:
    """Whether blocks shift the logarithms of all levels alike, where answers have any and differ enough."""
    log = next((scale for scale in scales(target.mean) if scale.name == "log"), None)
    return log is not None and numbered_anew(codes, blocks, effects, scaled(target, log), ALIKE) is None


def _crossed(block: Ints, level: Ints) -> bool:
    """Whether every block is seen with several levels, as one that is numbered anew in each would be."""
    return all(np.ptp(level[block == one]) > 0 for one in np.unique(block))
