"""Has a pair of factors effects of its own? A test for tables too large for a matrix, on pairs of levels that recur.

    F = ((left by single effects − left by these and the pair) / effects of the pair) / (left by both / its freedom)

of combinations that share their pair of levels with another one: alone in its pair, a combination tells nothing, and a
single large error would look like an effect. Both fits are sparse and iterated, both ranks exact. A rejection has to
stand for normal scores of what single effects leave, too, which no single large error moves. Of very many combinations
some pairs of levels, drawn at random, are tested.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.sparse import csr_array, hstack
from scipy.sparse.linalg import lsmr
from scipy.special import fdtrc, ndtri

from recombine.checks.curves import Curve
from recombine.checks.effects import Block, blocks_of, key_of
from recombine.checks.identifiability import Identifiability
from recombine.checks.modular import Floats, Ints
from recombine.support.table import Target

STEPS, PRECISION = 2_000, 1e-9
"""Steps within which a fit has to settle, and how far."""
EXACT = 1e-14
"""Share of the squared answers up to which nothing is left of them."""
TRIMMED = 0.95
"""Share of the combinations with several rows by which a rejection has to stand."""


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
    both = Identifiability(np.unique(merged, axis=0), sizes, 1, bends).rank
    if both <= single or both >= len(codes):
        return None
    x = [block.columns(codes) for block in blocks_of(codes, shape, 1, curves)]
    z = Block.of(codes, shape, pair).columns(codes)
    alone, beside = _scaled([np.ones((len(codes), 1)), *x], root), _scaled([*x, z], root)
    left = _left(alone, root * mean[kept])
    if left is None:
        return None
    if float(left @ left) <= EXACT * float(((root * mean[kept]) ** 2).sum()):
        return 1.0
    _, at, many = np.unique(left, return_inverse=True, return_counts=True)
    scores = _left(alone, ndtri((np.cumsum(many) - many / 2)[at] / len(left)))
    found = []
    for some, least in ((left, rounding), (scores, 0.0)):
        rest = None if some is None else _left(beside, some)
        if some is None or rest is None:
            return None
        free, unexplained = len(codes) - both, float(rest @ rest)
        found.append(f_test(float(some @ some) - unexplained, both - single, max(unexplained, free * least), free))
    return max(found)


def repeated(
    codes: Ints, shape: tuple[int, ...], curves: Mapping[int, Curve], target: Target, rounding: float, most: int
) -> float | None:
    """p-value of what single effects leave of combinations with several rows, beside the noise of these rows. It has
    to stand without the combinations where most is left or rows differ most."""
    kept = np.flatnonzero(target.count > 1)
    kept = np.random.default_rng(0).permutation(kept)[:most]
    codes, count = codes[kept], target.count[kept].astype(np.float64)
    free = len(kept) - Identifiability(codes, shape, 1, curves).rank
    if free < 1:
        return None
    x = [block.columns(codes) for block in blocks_of(codes, shape, 1, curves)]
    answers = np.sqrt(count) * target.mean[kept]
    left = _left(_scaled([np.ones((len(codes), 1)), *x], np.sqrt(count)), answers)
    if left is None:
        return None
    between, within = left**2, np.maximum(target.spread[kept], (count - 1) * rounding)
    if float(between.sum()) <= EXACT * float(answers @ answers):
        return 1.0
    far = (between + within) / count
    found = []
    for some in (far <= far.max(), far <= np.quantile(far, TRIMMED)):
        size = free * float(some.mean())
        found.append(f_test(float(between[some].sum()), size, float(within[some].sum()), float((count[some] - 1).sum())))
    return max(found)


def f_test(gain: float, size: float, rest: float, freedom: float) -> float:
    """p-value of a gain by so many effects, beside what is left to so many degrees of freedom."""
    return float(fdtrc(size, freedom, (gain / size) / (rest / freedom))) if rest > 1e-12 * gain else 0.0


def _sharing(keys: Ints, most: int) -> Ints:
    """The combinations whose pair of levels recurs; of too many those of some pairs."""
    pairs, at, many = np.unique(keys, return_inverse=True, return_counts=True)
    order = np.random.default_rng(0).permutation(np.flatnonzero(many > 1))
    chosen = np.zeros(len(pairs), dtype=bool)
    chosen[order[np.cumsum(many[order]) <= most]] = True
    return np.flatnonzero(chosen[at])


def _scaled(columns: list[csr_array], root: Floats) -> csr_array:
    """Rows weighted, columns of length one: then few steps suffice."""
    design = csr_array(hstack(columns)).multiply(root[:, None]).tocsc()
    size = np.sqrt(np.asarray(design.multiply(design).sum(axis=0)).ravel())
    return csr_array(design[:, size > 0].multiply(1 / size[size > 0]))


def _left(design: csr_array, answers: Floats) -> Floats | None:
    """What least squares leaves; None where it has not settled."""
    found = lsmr(design, answers, atol=PRECISION, btol=PRECISION, conlim=0, maxiter=STEPS)
    return None if found[1] == 7 else np.asarray(answers - design @ found[0])
