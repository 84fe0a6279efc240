"""Has a pair of factors effects of its own? A test for tables too large for a matrix, on pairs of levels that recur.

    F = ((left by single effects − left by these and the pair) / effects of the pair) / (left by both / its freedom)

of combinations that share their pair of levels with another one: alone in its pair, a combination tells nothing, and a
single large error would look like an effect. Both fits are sparse and iterated, both ranks exact. F supposes one noise
for all; a rejection has to stand for

    z = (Σ e e′ − its mean) / √ Σ (e e′)²   over any two combinations with the same pair of levels

too, where e are normal scores of what single effects leave: no single large error moves it, nor levels that scatter
more than others. Of very many combinations some pairs of levels, drawn at random, are tested.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.sparse import csr_array, hstack
from scipy.sparse.linalg import lsmr
from scipy.special import fdtrc, ndtr, ndtri

from recombine.checks.exact.curves import Curve
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.exact.numbered import key_of
from recombine.checks.rules.effects import Block, blocks_of

STEPS, PRECISION = 2_000, 1e-9
"""Steps within which a fit has to settle, and how far."""
EXACT = 1e-14
"""Share of the squared answers up to which nothing is left of them."""
DOUBTFUL, PROBES = 0.2, 10
"""p-value of F from which z is not asked, and draws of signs for its mean."""
FEWEST = 4
"""Combinations of a pair of levels that are kept at least."""


def recurring(
    codes: Ints,
    shape: tuple[int, ...],
    pair: tuple[int, int],
    curves: Mapping[int, Curve],
    mean: Floats,
    count: Floats,
    rounding: float,
    most: int,
) -> float | None:
    """p-value of effects of a pair of factors, by up to ``most`` combinations whose answers are ``count`` rows each,
    with no less noise than ``rounding`` in a row; None where no fit tells."""
    kept = _sharing(key_of(codes, shape, pair), most)
    codes, root = codes[kept], np.sqrt(count[kept])
    keys, together = np.unique(key_of(codes, shape, pair), return_inverse=True)
    others = [k for k in range(len(shape)) if k not in pair]
    merged = np.column_stack([codes[:, others], together])
    bends = {place: curves[k] for place, k in enumerate(others) if k in curves}
    sizes = (*(shape[k] for k in others), len(keys))
    single = Identifiability(codes, shape, 1, curves).rank
    both = Identifiability(merged, sizes, 1, bends).rank
    if both <= single or both >= len(codes):
        return None
    x = [block.columns(codes) for block in blocks_of(codes, shape, 1, curves)]
    z = Block.of(codes, shape, pair).columns(codes)
    alone, beside = scaled([np.ones((len(codes), 1)), *x], root), scaled([*x, z], root)
    left = left_by(alone, root * mean[kept])
    if left is None:
        return None
    if float(left @ left) <= EXACT * float(((root * mean[kept]) ** 2).sum()):
        return 1.0
    _, at, many = np.unique(left, return_inverse=True, return_counts=True)
    scores, rest = left_by(alone, ndtri((np.cumsum(many) - many / 2)[at] / len(left))), left_by(beside, left)
    if scores is None or rest is None:
        return None
    free, unexplained = len(codes) - both, float(rest @ rest)
    p_value = f_test(float(left @ left) - unexplained, both - single, max(unexplained, free * rounding), free)
    one, two, four = (np.bincount(together, scores**power) for power in (1, 2, 4))
    if p_value >= DOUBTFUL:
        return p_value
    beneath = _beneath(alone, together) - single
    total = float((one**2 - two).sum()) + beneath * float(two.sum()) / (len(codes) - single)
    return max(p_value, upper(total, 2 * float((two**2 - four).sum())))


def _beneath(design: csr_array, group: Ints) -> float:
    """Σ over groups of the squared length of what the design fits to the group: by so much single effects take away
    what combinations of one group have in common (by random signs)."""
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (PROBES, int(group.max()) + 1))
    left = [left_by(design, sign[group]) for sign in signs]
    return float(np.mean([len(group) - float(some @ some) for some in left if some is not None] or [0.0]))


def upper(total: float, variance: float) -> float:
    """p-value of a sum of many terms that have no mean, by their own squares."""
    return float(ndtr(-total / np.sqrt(variance))) if variance > 0 else 1.0


def f_test(gain: float, size: float, rest: float, freedom: float) -> float:
    """p-value of a gain by so many effects, beside what is left to so many degrees of freedom."""
    return float(fdtrc(size, freedom, (gain / size) / (rest / freedom))) if rest > 1e-12 * gain else 0.0


def _sharing(keys: Ints, most: int) -> Ints:
    """The combinations whose pair of levels recurs; of too many, as many of each pair, or those of some pairs."""
    rng = np.random.default_rng(0)
    keys = keys.astype(np.min_scalar_type(keys.max(initial=0)))  # small numbers are sorted faster
    order = rng.permutation(len(keys))
    order = order[np.argsort(keys[order], kind="stable")]
    keys = keys[order]
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    many = np.diff(np.append(first, len(keys)))
    each = np.where(many > 1, np.minimum(many, max(FEWEST, most // len(many))), 0)
    drawn = rng.permutation(len(many))
    each[drawn[np.cumsum(each[drawn]) > most]] = 0
    return np.sort(order[np.arange(len(order)) - np.repeat(first, many) < np.repeat(each, many)])


def scaled(columns: list[csr_array], root: Floats) -> csr_array:
    """Rows weighted, columns of length one: then few steps suffice."""
    design = csr_array(hstack(columns)).multiply(root[:, None]).tocsc()
    size = np.sqrt(np.asarray(design.multiply(design).sum(axis=0)).ravel())
    return csr_array(design[:, size > 0].multiply(1 / size[size > 0]))


def left_by(design: csr_array, answers: Floats) -> Floats | None:
    """What least squares leaves; None where it has not settled."""
    found = lsmr(design, answers, atol=PRECISION, btol=PRECISION, conlim=0, maxiter=STEPS)
    return None if found[1] == 7 else np.asarray(answers - design @ found[0])
