"""Which combinations are seen: seven regular splits, and nine drawn at random.

Regular ones are offsets b − a. Half of all combinations can leave every unseen one open (02468: even and odd levels
never meet), and a fifth can determine them all (01), so what is determined is not how much is seen. In those drawn at
random the number of pairs and the share of the others that they determine, if factors add up, are crossed.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TypedDict

import numpy as np

from recombine.tasks.two_factors import LEVELS

COUNTS, DETERMINED = (20, 30, 45), (0.1, 0.5, 1.0)
NEAR = 0.05
"""How far the determined share of a drawn split may lie from the one that is stated."""
Pairs = tuple[tuple[int, int], ...]
REGULAR = ("0", "05", "02468", "02", "01", "012", "01247")
DRAWN = {f"r{count}-{100 * share:.0f}": (count, share) for count in COUNTS for share in DETERMINED}
SPLITS = (*REGULAR, *DRAWN)


class Seen(TypedDict, total=False):
    """What a task is told of its split."""

    offsets: tuple[int, ...]
    pairs: Pairs


@cache
def seen_in(split: str) -> Seen:
    """What a split shows, by its name; drawn when it is first asked for, since some draws take long."""
    return {"pairs": drawn(*DRAWN[split])} if split in DRAWN else {"offsets": tuple(map(int, split))}


def drawn(count: int, determined: float, seed: int = 0) -> Pairs:
    """``count`` pairs that show every level of both factors and determine about so much of the others.

    Levels are dealt into groups at random, and pairs are seen within groups only. A forest hangs the levels of each
    group together, so that a pair is determined if it lies within a group; what else is seen is drawn from these."""
    rng = np.random.default_rng([count, round(100 * determined), seed])
    while True:
        groups = int(rng.integers(1, LEVELS)) if determined < 1 else 1
        first, second = rng.integers(groups, size=(2, LEVELS))
        sizes, others = (np.bincount(side, minlength=groups) for side in (first, second))
        if not (sizes.all() and others.all()):
            continue
        order = rng.permutation(int(sizes @ others))
        share = (len(order) - count) / (LEVELS**2 - count)
        if share < 0 or abs(share - determined) > NEAR or 2 * LEVELS - groups > count:
            continue
        inside = np.argwhere(first[:, None] == second[None, :])[order]
        joins = _forest(inside)
        seen = np.concatenate([inside[joins], inside[~joins]])[:count]
        return tuple(sorted((int(a), int(b)) for a, b in seen))


def _forest(pairs: np.typing.NDArray[np.int64]) -> np.typing.NDArray[np.bool_]:
    """Which pairs, one after the other, join what did not hang together before."""
    names = np.arange(2 * LEVELS)
    joins = []
    for a, b in pairs:
        one, other = names[a], names[LEVELS + b]
        joins.append(one != other)
        names[names == other] = one
    return np.array(joins)


def joined(pairs: set[tuple[int, int]]) -> bool:
    """Whether all levels of both factors hang together, so that the pairs determine all others if factors add up."""
    return bool(_forest(np.array(sorted(pairs))).sum() == 2 * LEVELS - 1)


def times(pairs: Iterable[tuple[int, int]]) -> np.typing.NDArray[np.int64]:
    """How often each level of either factor is shown."""
    first, second = np.array(sorted(pairs)).T
    return np.concatenate([np.bincount(side, minlength=LEVELS) for side in (first, second)])


@cache
def unevenness() -> dict[str, float]:
    """Of every split the standard deviation of how often it shows a level; 0 of regular ones."""
    shown = {name: seen_in(name).get("pairs") for name in SPLITS}
    return {name: float(times(pairs).std()) if pairs else 0.0 for name, pairs in shown.items()}


def distance(pairs: Iterable[tuple[int, int]]) -> float:
    """How many steps from level to level lie between an unseen pair and the nearest seen one, in the mean."""
    seen = np.array(sorted(pairs))
    grid = np.stack(np.meshgrid(np.arange(LEVELS), np.arange(LEVELS), indexing="ij"), -1).reshape(-1, 2)
    steps = np.abs(grid[:, None] - seen[None]).sum(-1).min(1)
    return float(steps[steps > 0].mean())


def imprecision(pairs: Iterable[tuple[int, int]]) -> float:
    """The variance of the answer that adding up gives to an unseen pair, in the mean, where seen ones have a variance
    of 1. All are determined."""
    seen = np.array(sorted(pairs))
    eye = np.eye(LEVELS)
    grid = np.stack(np.meshgrid(np.arange(LEVELS), np.arange(LEVELS), indexing="ij"), -1).reshape(-1, 2)
    rows, every = (np.hstack([eye[of[:, 0]], eye[of[:, 1]]]) for of in (seen, grid))
    variances = np.einsum("ij,jk,ik->i", every, np.linalg.pinv(rows.T @ rows), every)
    return float(variances[~(grid[:, None] == seen[None]).all(-1).any(1)].mean())


@cache
def distances() -> dict[str, float]:
    """`distance` of every split."""
    grid = [(a, b) for a in range(LEVELS) for b in range(LEVELS)]
    return {name: distance(seen.get("pairs") or [(a, b) for a, b in grid if (b - a) % LEVELS in seen["offsets"]])
            for name, seen in ((name, seen_in(name)) for name in SPLITS)}  # fmt: skip
