"""Is the answer additive on the combinations that *were* seen? A test of the assumption everything else rests on.

numbers:  F tests of every pair of factors whose interaction can be estimated, of what a factor that is a number does
          beyond its curve, and of the level that responds to another factor least as the others do (`one_level`), on
          top of all single effects. Against the noise of repeated rows where there are any, with a lack-of-fit test of
          everything at once, and a rejection has to stand where some are noisier than others (`unequal`); of single
          rows it has to stand without the answer that is furthest off, and when signs of what is left are dealt anew,
          which leaves each answer a noise of its own. Without either, one degree of freedom: does the squared fit
          explain what the fit leaves (Tukey 1949), or its slope within any level (Mandel 1961)? A rejection has to
          stand when what a shrunken fit leaves, and all that differs from the mean, is dealt anew: one outlier makes
          effects and bends what they leave, of which F does not know; that by slopes shows without the answer that is
          furthest off, too. Noise is never less than the answers' rounding. Rows that stand for many cases count by
          them, as far as their noise goes (`weighing`)
classes:  score tests of every pair on top of the additive log-odds (`logits`), their largest compared with answers
          drawn from that fit; with several rows in a cell also its deviance, of three or more classes against that of
          answers drawn; where repeated rows always agree, whether any additive log-odds separates the classes (linear
          programme)

p-values are those of the smallest of several tests times their number (Bonferroni).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import orth

from recombine.checks.effects import Block, Effects
from recombine.checks.identifiability import Identifiability
from recombine.checks.lack_of_fit import lack_of_fit
from recombine.checks.logits import Logits
from recombine.checks.modular import Floats, Ints
from recombine.checks.one_level import Odd, steepest
from recombine.checks.recurring import f_test, recurring
from recombine.checks.tables import showing_pairs
from recombine.checks.unequal import Noise, unequal
from recombine.checks.weighing import worth
from recombine.space import Level
from recombine.support.numerals import step
from recombine.support.table import Target

Mask = NDArray[np.bool_]
LEVEL, NOTICED = 0.01, 0.05
"""p-values below which adding up is rejected, and below which a rejection still has to be without one answer."""
LEAST_LEFT = 0.05
"""Share of an answer that no fit takes away, at least: by it what is left is stretched to the noise that was there."""
SMALLEST = 1e-300
"""Below it no p-value is told: it may be 0 because numbers end there."""
LARGEST = 3_000_000
"""Cells × effects up to which a test is of matrices; above, it is of what recurs, and by a sparse fit."""
LOOKED_AT, MOST_RECURRING = 300_000, 1_500_000
"""Cells of which those that recur are found, and cells × factors × pairs up to which that is of all of them."""
DRAWN = 999
MOST_DEALT = 300_000_000
"""Cells × effects × draws up to which so many are dealt."""
MOST_LISTED = 3
"""Interactions that were not tested of which each is named."""
COPIES = "repeated rows agree exactly, as copies do, tell nothing of the noise and count once"
ONE_CLASS = "only one class occurs in training, so nothing contradicts an additive log-odds."
NOTHING_RECURS = "the table is large, and neither pairs of levels nor combinations recur in it"
MOST_FACTORS = 24
"""Factors up to which every pair is tested."""
MOST_SLOPES = 300_000
"""Cells × effects × levels up to which the slope of each level is tested."""
SEVERAL = 5
"""Rows in a cell, on average, from which a deviance is compared with χ²."""


@dataclass(frozen=True)
class Additivity:
    """The outcome; ``rejected`` is None where the seen data cannot test the assumption."""

    test: str
    rejected: bool | None
    p_value: float | None
    explained: float | None
    """Share of the differences between cells that adding up explains on stand-ins of the asked ones, left out."""
    words: str
    evidence: str = ""
    """The test and its p-value, for a sentence of someone else's."""
    untested: str = ""
    """Which interactions were not tested, in words."""
    scale: str = ""
    """The scale on which effects were to add up; none: the answer's own."""
    odd: Odd | None = None
    """Of a rejection by one level: that level, and what it responds to unlike the others."""
    repeats: bool = False
    """Whether nothing but the scatter of repeated rows speaks against it: whether that is the noise, nothing tells."""
    how: str = ""
    """What was done to answers of repeated rows first, where these are not independent."""


def scale_of(rescaled: Additivity | None) -> str | None:
    """The scale of this test, where effects add up there."""
    return rescaled.scale if rescaled is not None and rescaled.rejected is False else None


def where_answered(found: Additivity | None, rescaled: Additivity | None) -> Additivity | None:
    """Of a rejection the test on the scale that answers, where it rejects there too: in the answer's own units every
    product of effects is an interaction, whichever one there is besides."""
    both = found is not None and found.rejected and rescaled is not None and rescaled.rejected
    return rescaled if both else found


@dataclass(frozen=True, eq=False)
class _Found:
    test: str
    p_value: float
    words: str
    columns: Floats | None = None
    """What was tested, where a rejection has yet to stand."""
    odd: Odd | None = None


def additivity(
    known: Identifiability, target: Target, names: tuple[str, ...], levels: Sequence[Sequence[Level]] = ()
) -> Additivity:
    """Test effects of the given order on the seen combinations. ``levels`` are those of each factor, by name."""
    use = target.count > 0
    cells = int(use.sum())
    if cells <= known.rank:
        few = f"{cells} seen combination{'s' if cells > 1 else ''} cannot test {known.rank} effect"
        return _untested(f"{few}{'s' if known.rank > 1 else ''}: every pattern fits.")
    large = cells * known.rank > LARGEST
    if large and (known.order > 1 or target.classes is not None):
        return _untested("the table is too large for this test of additivity.")
    codes, seen = (known.codes, target) if cells == len(use) else (known.codes[use], target.of(use))
    count = seen.count.astype(np.float64)
    pairs, left_over = _pairs(codes, known, cells) if known.order == 1 else ({}, [])
    named = {_product(names, chosen): columns for chosen, columns in pairs.items()}
    skipped = [f"pairs of {len(names)} factors"] if known.order == 1 and len(names) > MOST_FACTORS else []
    for k, curve in known.curves.items():
        if (columns := curve.more(codes[:, k])) is not None:
            if columns.size <= LARGEST and not large:
                named[f"{names[k]} beyond {curve.words}"] = columns
            else:
                skipped.append(f"{names[k]} beyond {curve.words}")
    if target.classes is not None:
        skipped += [_product(names, pair) for pair in left_over]
        return _noted(_classes(known.rows.floats(codes), named, target, use, known.rank), skipped)
    mean, pure, weights = seen.mean, float(seen.spread.sum()), seen.weights
    tiny = 1e-18 * max(1.0, float((count * mean**2).sum()))
    if copies := float(count.sum()) > cells and pure <= tiny:
        count = np.ones(cells)
    rounding = step(mean[seen.spread == 0]) ** 2 / 12
    sparse, most = [], MOST_RECURRING // (len(names) * max(len(left_over), 1))
    part = np.random.default_rng(0).choice(cells, LOOKED_AT, False) if cells > LOOKED_AT else np.arange(cells)
    some, of_each, rows_each = codes[part].astype(np.int64), mean[part], (count if weights is None else weights)[part]
    where = "where it recurs" + (f" among {LOOKED_AT:,} combinations drawn at random" if cells > LOOKED_AT else "")
    for pair in left_over:
        bent = any(k in known.curves for k in pair)
        p_value = None if bent else recurring(some, known.shape, pair, known.curves, of_each, rows_each, rounding, most)
        if p_value is None:
            skipped.append(_product(names, pair))
        else:
            sparse.append(_Found("interaction", p_value, f"F test of {_product(names, pair)} {where}"))
    if large:
        most = MOST_RECURRING // len(names)
        p_value = None if copies else lack_of_fit(known, codes.astype(np.int64), seen, rounding, most, LEVEL)
        of_some = f" of up to {most:,} combinations drawn at random" if cells > most else ""
        sparse += [] if p_value is None else [_Found("lack of fit", p_value, f"lack-of-fit F test{of_some}")]
        return _copied(_noted(_verdict(sparse) if sparse else _untested(NOTHING_RECURS), skipped), copies)
    x = known.rows.floats(codes)
    rows = float(count.sum())
    if weights is not None and rows == cells:  # repeated rows are held against noise alone
        weights = worth(x, mean, weights)
    root = np.sqrt(count if weights is None else weights)
    rounding = rounding if weights is None else rounding * float((root**2).mean())
    basis = orth(x * root[:, None])
    left = root * mean
    left = left - basis @ (basis.T @ left)
    if float(left @ left) <= tiny:
        return Additivity("exact fit", False, 1.0, None, "the seen answers are exactly additive.")
    pure = max(pure, (rows - cells) * rounding)
    noise, within = None, None
    if rows > cells:
        noise = pure, rows - cells
        within = Noise(np.maximum(seen.spread, (count - 1) * rounding), count - 1, codes, mean)
    found = [interaction(pair, basis, columns, left, root, noise, rounding, within) for pair, columns in named.items()]
    tests = [f for f in found if f is not None] + sparse
    if noise is not None and within is not None:
        p = f_test(float(left @ left), cells - known.rank, *noise)
        p = max(p, unequal(float(left @ left), basis, True, within)) if p < LEVEL else p
        tests.append(_Found("lack of fit", p, "lack-of-fit F test"))
    if tests and known.order == 1 and (steep := steepest(codes, known.shape, known.curves, basis, mean, root)):
        odd, inside = Odd.of(steep.at, names, levels), codes[:, steep.at[0]] == steep.at[1]
        spare = float((count[inside] - 1).sum())  # a level may have a noise of its own
        own = (max(float(seen.spread[inside].sum()), spare * rounding), spare) if spare else noise
        one, beside = (interaction("", basis, steep.column[:, None], left, root, n, rounding) for n in (noise, own))
        if one is not None and beside is not None:
            p = min(1.0, max(one.p_value * steep.looks, beside.p_value if beside.p_value >= LEVEL else 0.0))
            tests.append(replace(one, test="one level", p_value=p, words=f"F test of whether {odd.words}", odd=odd))
    if not tests:
        tests = _alone(basis, mean, root, codes, known.shape, rounding, names, levels)
    if not tests:
        few = f"{COPIES}, which" if copies else "one row per combination"
        return _noted(_untested(f"{few} leaves nothing to test additivity with."), skipped)
    return _copied(_noted(_verdict(_stood(tests, basis, left, root, rounding)), skipped), copies)


def _product(names: Sequence[str], factors: Sequence[int]) -> str:
    return " × ".join(names[k] for k in factors)


def _noted(found: Additivity, skipped: list[str]) -> Additivity:
    """The same with what was not tested."""
    if not skipped or found.rejected is None:
        return found
    few = skipped if len(skipped) <= MOST_LISTED else [*skipped[:MOST_LISTED], f"{len(skipped) - MOST_LISTED} more"]
    untested = f"{', '.join(few)} {'was' if len(skipped) == 1 else 'were'} not tested, too large or too seldom seen"
    return replace(found, words=f"{found.words.rstrip('.')}; {untested}.", untested=untested)


def _copied(found: Additivity, copies: bool) -> Additivity:
    """The same, with that copies count once where there are any."""
    return replace(found, words=f"{found.words.rstrip('.')}; {COPIES}.") if copies else found


def _untested(why: str) -> Additivity:
    return Additivity("none", None, None, None, why)


def _verdict(tests: list[_Found], what: str = "additivity") -> Additivity:
    best = min(tests, key=lambda t: t.p_value)
    p = min(1.0, best.p_value * len(tests))
    value = f"p = {_as_near(p)}" if p > SMALLEST else f"p < {SMALLEST:g}"
    said = f"{value}, {best.words}" + (f", the smallest of {len(tests)} tests" if len(tests) > 1 else "")
    words = (
        f"{what} is {'' if p < LEVEL else 'not '}rejected on the seen combinations ({said}; rejected below {LEVEL:g})."
    )
    return Additivity(best.test, p < LEVEL, p, None, words, said, odd=best.odd if p < LEVEL else None)


def _as_near(p: float) -> str:
    """Two digits, or as many as tell on which side of the level it lies."""
    texts = [f"{p:.{digits}g}" for digits in range(2, 18)]
    return next((t for t in texts if np.sign(float(t) - LEVEL) == np.sign(p - LEVEL)), texts[0])


def _pairs(
    codes: Ints, known: Identifiability, cells: int
) -> tuple[dict[tuple[int, int], Floats], list[tuple[int, int]]]:
    """Indicators of the seen pairs of levels, for pairs of factors with more cells than that, and the pairs of factors
    that have too many."""
    found, large = dict[tuple[int, int], Floats](), list[tuple[int, int]]()
    if len(known.shape) > MOST_FACTORS:
        return found, large
    some = codes if known.curves else showing_pairs(codes, known.shape)
    for chosen in itertools.combinations(range(len(known.shape)), 2):
        curves = {k: np.hstack(known.curves[k].smooth) for k in chosen if k in known.curves}
        block = Block.of(some, known.shape, chosen, curves)
        if len(block) < cells and cells * max(len(block), known.rank) <= LARGEST:
            found[chosen] = block.columns(codes).toarray()
        elif len(block) < cells:
            large.append(chosen)
    return found, large


def interaction(
    name: str,
    basis: Floats,
    columns: Floats,
    left: Floats,
    root: Floats,
    noise: tuple[float, float] | None = None,
    rounding: float = 0.0,
    within: Noise | None = None,
) -> _Found | None:
    """F test of columns (of a pair of factors) on top of a basis (all single effects); what it leaves is no less than
    ``rounding``. ``within``: the noise of each combination's rows; a rejection has to stand if these differ."""
    new = _new(basis, columns, root)
    gain, size = float(((new.T @ left) ** 2).sum()), new.shape[1]
    freedom = len(left) - basis.shape[1] - size
    if size == 0 or (noise is None and freedom < 1):
        return None
    rest = (max(float(left @ left) - gain, freedom * rounding), freedom) if noise is None else noise
    p = f_test(gain, size, *rest)
    if p < LEVEL and within is not None:
        p = max(p, unequal(gain, new, False, within))
    return _Found("interaction", p, f"F test of {name}", columns if noise is None else None)


def gained(basis: Floats, columns: Floats, left: Floats, root: Floats) -> tuple[float, int]:
    """Of what a basis leaves, the sum of squares that further columns take away, and how many of them are new."""
    new = _new(basis, columns, root)
    return float(((new.T @ left) ** 2).sum()), new.shape[1]


def _new(basis: Floats, columns: Floats, root: Floats) -> Floats:
    """Orthonormal columns of what further ones have beyond a basis."""
    extra = columns * root[:, None]
    return np.asarray(orth(extra - basis @ (basis.T @ extra), rcond=1e-9))


def _stood(tests: list[_Found], basis: Floats, left: Floats, root: Floats, rounding: float) -> list[_Found]:
    """The same, with a larger p-value of rejections by single rows that do not stand, until one does."""
    spare = np.maximum(1 - (basis**2).sum(axis=1), LEAST_LEFT)
    kept = np.arange(len(left)) != np.argmax(np.abs(left) / np.sqrt(spare))
    while (best := min(tests, key=lambda t: t.p_value)).columns is not None and best.p_value * len(tests) < LEVEL:
        inner = orth(basis[kept])
        rest = left[kept] - inner @ (inner.T @ left[kept])
        without = interaction("", inner, best.columns[kept], rest, root[kept], None, rounding)
        extra, drawn = _new(basis, best.columns, root), _draws(basis)
        dealt = np.random.default_rng(0).choice([-1.0, 1.0], (len(left), drawn)) * (left / spare)[:, None]
        dealt -= basis @ (basis.T @ dealt)
        share = float(((extra.T @ left) ** 2).sum() / (left @ left))
        often = ((extra.T @ dealt) ** 2).sum(axis=0) >= share * (1 - 1e-9) * (dealt**2).sum(axis=0)
        doubts = (
            (1.0 if without is None else without.p_value, NOTICED),
            ((1 + int(often.sum())) / (1 + drawn), LEVEL),
        )
        p = max(best.p_value, *(p if p >= most else 0.0 for p, most in doubts))
        stood = replace(best, p_value=p, columns=None)
        tests = [stood if test is best else test for test in tests]
    return tests


def _draws(basis: Floats) -> int:
    return DRAWN if basis.size * DRAWN <= MOST_DEALT else max(399, MOST_DEALT // basis.size)


def _alone(
    basis: Floats,
    mean: Floats,
    root: Floats,
    codes: Ints,
    shape: tuple[int, ...],
    rounding: float,
    names: tuple[str, ...],
    levels: Sequence[Sequence[Level]],
) -> list[_Found]:
    """Tests with one degree of freedom, of one row per combination: of the fit squared, and of the slope of each level
    on the fit, which sees a level that reverses the others' effects."""
    tests = []
    every = [(k, c, codes[:, k] == c) for k, n in enumerate(shape) for c in range(n)]
    slopes = [(k, c, level) for k, c, level in every if _share(basis, mean[:, None], root, level)[0] > 0]
    if (p := _dealt(basis, mean, root, codes, shape, rounding, [None])) is not None:
        tests.append(_Found("Tukey one degree of freedom", p, "Tukey's test, one row per combination"))
    if slopes and basis.size * len(slopes) <= MOST_SLOPES:
        p = _dealt(basis, mean, root, codes, shape, rounding, [level for _, _, level in slopes])
        k, c, _ = max(slopes, key=lambda slope: float(_share(basis, mean[:, None], root, slope[2])[0]))
        odd = Odd.of((k, c, 1 - k if len(shape) == 2 else None), names, levels)
        tests += [] if p is None else [_Found("one level", p, f"test of slopes, of whether {odd.words}", odd=odd)]
    return tests


def _dealt(
    basis: Floats,
    mean: Floats,
    root: Floats,
    codes: Ints,
    shape: tuple[int, ...],
    rounding: float,
    levels: Sequence[Mask | None],
) -> float | None:
    """p-value of the largest share that a curve of these levels explains, times their number; a rejection has to stand
    when answers are dealt anew, what is left of each as far as its noise goes."""

    def largest(answers: Floats) -> Floats:
        return np.asarray(np.max([_share(basis, answers, root, level) for level in levels], axis=0))

    gain = float(largest(mean[:, None])[0])
    p = _of_largest(basis, mean, root, rounding, levels)
    if p is not None and p < LEVEL and levels[0] is not None:  # one answer that is off bends the level it is in
        y = root * mean
        off = np.abs(y - basis @ (basis.T @ y)) / np.sqrt(np.maximum(1 - (basis**2).sum(axis=1), 1e-9))
        kept = np.arange(len(mean)) != off.argmax()
        levels_kept = [level[kept] for level in levels if level is not None]
        without = _of_largest(orth(basis[kept]), mean[kept], root[kept], rounding, levels_kept)
        p = p if without is not None and without < NOTICED else max(p, without or 1.0)
    if p is not None and p < LEVEL:
        effects, rng = Effects(codes, shape, mean, 1 / root**2, 1), np.random.default_rng(0)
        drawn, middle = _draws(basis), mean.mean() if np.ptp(root) == 0 else np.average(mean, weights=root**2)
        for around in (effects.design @ effects.beta, np.full(len(mean), middle)):
            left = root * (mean - around)
            dealt = np.stack([around + rng.permutation(left) / root for _ in range(drawn)], axis=1)
            p = max(p, (1 + int((largest(dealt) >= gain * (1 - 1e-9)).sum())) / (1 + drawn))
    return p


def _of_largest(
    basis: Floats, mean: Floats, root: Floats, rounding: float, levels: Sequence[Mask | None]
) -> float | None:
    """p-value of the same by F alone; None where nothing is left to test it with."""
    freedom = len(mean) - basis.shape[1] - 1
    gain = max(float(_share(basis, mean[:, None], root, level)[0]) for level in levels)
    if freedom < 1 or gain <= 0:
        return None
    y = root * mean
    left = float(((y - basis @ (basis.T @ y)) ** 2).sum())
    return min(1.0, len(levels) * f_test(gain * left, 1, max((1 - gain) * left, freedom * rounding), freedom))


def _share(basis: Floats, answers: Floats, root: Floats, level: Mask | None) -> Floats:
    """Share of what the fit to each column leaves that its squared fit explains, or the fit within a level; 0 where
    that is no more than the fit."""
    answers = root[:, None] * answers
    fit = basis @ (basis.T @ answers)
    bent = fit**2 / root[:, None] if level is None else level[:, None] * fit
    curve, left = bent - basis @ (basis.T @ bent), answers - fit
    size = (curve**2).sum(axis=0)
    share = (left * curve).sum(axis=0) ** 2 / (size * (left**2).sum(axis=0) + 1e-300)
    return np.where(size > 1e-18 * np.maximum(1.0, (bent**2).sum(axis=0)), share, 0.0)


def _classes(x: Floats, pairs: dict[str, Floats], target: Target, use: NDArray[np.bool_], rank: int) -> Additivity:
    shares, counts = target.mean[use], target.count[use].astype(np.float64)
    if shares.shape[1] < 2:
        return _separated(ONE_CLASS)
    certain = bool(((shares > 0).sum(axis=1) == 1).all())
    if certain and counts.sum() > len(counts):
        return _separable(x, shares.argmax(axis=1))
    fit, tests = Logits.of(x, shares, counts), []
    several, answers = counts.mean() >= SEVERAL, shares[:, :, None]
    if pairs or (several and shares.shape[1] > 2):
        answers = np.concatenate([answers, fit.drawn()], axis=2)
    left, gained = fit.left(answers)
    if pairs:
        tests.append(_score(fit, pairs, left))
    if several:
        tests.append(_deviance(fit.deviance(answers) - gained, (len(shares) - rank) if shares.shape[1] == 2 else None))
    if not tests:
        return _untested("too few rows per combination to tell noise from answers that do not add up.")
    return _verdict(tests, "an additive log-odds")


def _score(fit: Logits, pairs: dict[str, Floats], left: Floats) -> _Found:
    """The largest standardised score of any pair and class, compared with answers drawn from the additive fit."""
    weights = np.maximum(fit.counts[:, None] * fit.p * (1 - fit.p), 1e-9)
    largest, drawn, where = -np.inf, np.full(left.shape[2] - 1, -np.inf), ""
    for c in range(left.shape[1]) if left.shape[1] > 2 else [1]:
        for name, indicators in pairs.items():
            values = ((indicators.T @ left[:, c]) ** 2 / ((indicators**2).T @ weights[:, c])[:, None]).sum(axis=0)
            values = (values - values[1:].mean()) / (values[1:].std() or 1.0)
            if values[0] > largest:
                largest, where = float(values[0]), name
            drawn = np.maximum(drawn, values[1:])
    p_value = (1 + int((drawn >= largest).sum())) / (1 + len(drawn))
    return _Found("interaction", p_value, f"score test of {where} among all pairs")


def _separable(x: Floats, label: NDArray[np.int64]) -> Additivity:
    """Is there W with (w_y − w_k) · x ≥ 1 for every cell and every other class k?"""
    from scipy.optimize import linprog
    from scipy.sparse import lil_array

    present = np.unique(label)
    if len(present) < 2:
        return _separated(ONE_CLASS)
    features = x.shape[1]
    if len(x) * (len(present) - 1) * 2 * features > LARGEST:
        return _untested("the table is too large for the separability test.")
    place = {int(c): i for i, c in enumerate(present)}
    free = len(present) - 1
    matrix = lil_array((len(x) * free, features * free))
    line = 0
    for row, own in zip(x, label, strict=True):
        for other in range(len(present)):
            mine = place[int(own)]
            if other == mine:
                continue
            if mine < free:
                matrix[[line], mine * features : (mine + 1) * features] = -row[None, :]
            if other < free:
                matrix[[line], other * features : (other + 1) * features] = row[None, :]
            line += 1
    found = linprog(
        np.zeros(features * free), A_ub=matrix.tocsr(), b_ub=-np.ones(line), bounds=(None, None), method="highs"
    )
    if found.status == 2:
        why = "no additive log-odds gives the classes that every repeated row confirms (linear programme)"
        return Additivity("separability", True, None, None, f"additivity is rejected: {why}.", why)
    return _separated("an additive log-odds gives every class seen.")


def _separated(words: str) -> Additivity:
    return Additivity("separability", False, None, None, words)


def _deviance(deviance: Floats, freedom: int | None) -> _Found:
    """Of the first of these against χ² of so many degrees of freedom; None: against a multiple of χ² that has mean and
    variance of the others, drawn from the fit. Of three classes some are rare in any few rows, and χ² is off."""
    from scipy.special import gammaincc

    mean, variance = (freedom, 2 * freedom) if freedom else (float(f(deviance[1:])) for f in (np.mean, np.var))
    p = float(gammaincc(mean**2 / variance, max(float(deviance[0]), 0.0) * mean / variance))
    return _Found("deviance", p, "deviance test")
