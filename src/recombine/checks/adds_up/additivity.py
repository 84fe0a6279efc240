"""Is the answer additive on the combinations that *were* seen? A test of the assumption everything else rests on.

numbers:  F tests of every pair of factors whose interaction can be estimated, of what a factor that is a number does
          beyond its curve, of the level that responds to another factor least as the others do (`one_level`: its slope,
          and beside repeated rows all that it does) and of the pair of levels that lies furthest apart (`one_pair`), on
          top of all single effects. Against the noise of repeated rows where there are any, with a lack-of-fit test of
          everything at once, and a rejection has to stand where some are noisier than others (`unequal`); of single
          rows it has to stand without the answer that is furthest off, and when signs of what is left are dealt anew,
          which leaves each answer a noise of its own. Without either, one degree of freedom: does the squared fit
          explain what the fit leaves (Tukey 1949), or its slope within any level (Mandel 1961)? Such a rejection has to
          stand when what a shrunken fit leaves, and all that differs from the mean, is dealt anew: one outlier makes
          effects and bends what they leave, of which F does not know; that by slopes shows without the answer that is
          furthest off, too. Of two factors besides: do levels act together in any other way (`rectangles`)? Noise is
          never less than the answers' rounding. Rows that stand for many cases count by them, as far as their noise
          goes (`weighing`)
classes:  of log-odds (`log_odds_add`)

p-values are those of the smallest of several tests times their number (Bonferroni).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import orth

from recombine.checks.adds_up.lack_of_fit import lack_of_fit
from recombine.checks.adds_up.log_odds_add import log_odds
from recombine.checks.adds_up.one_level import Odd, Unlike, least_alike, profile, steepest
from recombine.checks.adds_up.one_pair import Fitted, Pair, furthest
from recombine.checks.adds_up.rectangles import by_rectangles
from recombine.checks.adds_up.recurring import f_test, recurring
from recombine.checks.adds_up.tested import COPIES, LEVEL, Additivity, Found, copied, noted, untested, verdict
from recombine.checks.adds_up.unequal import Noise, unequal
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.exact.tables import showing_pairs
from recombine.checks.rules.effects import Block, Effects
from recombine.checks.rules.weighing import worth
from recombine.space import Level
from recombine.support.numerals import lattice
from recombine.support.table import Target

Mask = NDArray[np.bool_]
NOTICED = 0.05
"""The p-value below which a rejection still has to be without one answer."""
ADD_UP = 0.2
"""That above which all but one level are taken to add up."""
LEAST_LEFT = 0.05
"""Share of an answer that no fit takes away, at least: by it what is left is stretched to the noise that was there."""
LARGEST = 3_000_000
"""Cells × effects up to which a test is of matrices; above, it is of what recurs, and by a sparse fit."""
LOOKED_AT, MOST_RECURRING = 300_000, 1_500_000
"""Cells of which those that recur are found, and cells × factors × pairs up to which that is of all of them."""
DRAWN = 999
MOST_DEALT = 300_000_000
"""Cells × effects × draws up to which so many are dealt."""
NOTHING_RECURS = "the table is large, and neither pairs of levels nor combinations recur in it"
MOST_FACTORS = 40
"""Factors up to which every pair is tested."""
MOST_SLOPES = 300_000
"""Cells × effects × levels up to which the slope of each level is tested."""


def additivity(
    known: Identifiability, target: Target, names: tuple[str, ...], levels: Sequence[Sequence[Level]] = ()
) -> Additivity:
    """Test effects of the given order on the seen combinations. ``levels`` are those of each factor, by name."""
    use = target.count > 0
    cells = int(use.sum())
    if cells <= known.rank:
        few = f"{cells} seen combination{'s' if cells > 1 else ''} cannot test {known.rank} effect"
        return untested(f"{few}{'s' if known.rank > 1 else ''}: every pattern fits.")
    large = cells * known.rank > LARGEST
    if large and (known.order > 1 or target.classes is not None):
        return untested("the table is too large for this test of additivity.")
    codes, seen = (known.codes, target) if cells == len(use) else (known.codes[use], target.of(use))
    count = seen.count.astype(np.float64)
    pairs, left_over = _pairs(codes, known, cells) if known.order == 1 else ({}, [])
    named = {_product(names, chosen): columns for chosen, columns in pairs.items()}
    too_many = known.order == 1 and len(names) > MOST_FACTORS
    skipped = [f"pairs of {len(names)} factors (those of up to {MOST_FACTORS} are)"] * too_many
    for k, curve in known.curves.items():
        if (columns := curve.more(codes[:, k])) is not None:
            if columns.size <= LARGEST and not large:
                named[f"{names[k]} beyond {curve.words}"] = columns
            else:
                skipped.append(f"{names[k]} beyond {curve.words}")
    if target.classes is not None:
        skipped += [_product(names, pair) for pair in left_over]
        return noted(log_odds(known.rows.floats(codes), named, target, use, known.rank, LARGEST), skipped)
    mean, pure, weights = seen.mean, float(seen.spread.sum()), seen.weights
    tiny = 1e-18 * float((count * mean**2).sum())
    if copies := float(count.sum()) > cells and pure <= tiny:
        count = np.ones(cells)
    rounding = lattice(mean[seen.spread == 0]) ** 2 / 12
    sparse = []
    for pair, p_value, where in _where_they_recur(
        left_over, known, codes, mean, count if weights is None else weights, rounding
    ):
        if p_value is None:
            skipped.append(_product(names, pair))
        else:
            sparse.append(Found("interaction", p_value, f"F test of {_product(names, pair)} {where}"))
    if large:
        most = MOST_RECURRING // len(names)
        p_value = None if copies else lack_of_fit(known, codes.astype(np.int64), seen, rounding, most, LEVEL)
        of_some = f" of up to {most:,} combinations drawn at random" if cells > most else ""
        sparse += [] if p_value is None else [Found("lack of fit", p_value, f"lack-of-fit F test{of_some}")]
        return copied(noted(verdict(sparse) if sparse else untested(NOTHING_RECURS), skipped), copies)
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
        tests.append(Found("lack of fit", p, "lack-of-fit F test"))
    if tests and known.order == 1:
        steep = steepest(codes, known.shape, known.curves, basis, mean, root)
        whole = None if noise is None else least_alike(codes, known.curves, basis, left, root, noise)
        some = [unlike for unlike in (steep, whole) if unlike is not None]
        tests += _level_unlike_others(some, codes, names, levels, basis, left, root, noise, within, rounding)
        fitted = Fitted(codes, basis, left, root, count, noise, within, rounding)
        tests += _pair_apart(fitted, known, named.values(), names, levels)
    if alone := not tests:
        tests = _alone(basis, mean, root, codes, known.shape, rounding, names, levels)
    if not tests:
        few = f"{COPIES}, which" if copies else "one row per combination"
        return noted(untested(f"{few} leaves nothing to test additivity with."), skipped)
    told = replace(verdict(_stood(tests, basis, left, root, rounding)), alone=alone)
    return copied(noted(told, skipped), copies)


def _where_they_recur(
    pairs: Sequence[tuple[int, int]], known: Identifiability, codes: Ints, mean: Floats, rows: Floats, rounding: float
) -> Iterator[tuple[tuple[int, int], float | None, str]]:
    """Pairs of factors with too many pairs of levels for matrices, each with the p-value of its interaction where pairs
    of levels recur, and among which combinations that is; None where they do not."""
    cells, most = len(codes), MOST_RECURRING // (len(known.shape) * max(len(pairs), 1))
    part = np.random.default_rng(0).choice(cells, LOOKED_AT, False) if cells > LOOKED_AT else np.arange(cells)
    some, of_each, rows_each = codes[part].astype(np.int64), mean[part], rows[part]
    where = "where it recurs" + (f" among {LOOKED_AT:,} combinations drawn at random" if cells > LOOKED_AT else "")
    for pair in pairs:
        bent = any(k in known.curves for k in pair)
        p_value = None if bent else recurring(some, known.shape, pair, known.curves, of_each, rows_each, rounding, most)
        yield pair, p_value, where


def _level_unlike_others(
    some: Sequence[Unlike], codes: Ints, names: tuple[str, ...], levels: Sequence[Sequence[Level]], basis: Floats,
    left: Floats, root: Floats, noise: tuple[float, float] | None, within: Noise | None, rounding: float,
) -> list[Found]:  # fmt: skip
    """Whether one level, of all that were looked at, responds unlike the others: beyond the noise of all rows, and
    beyond its own, without which all that it does may be noise."""
    found, looks = list[Found](), sum(unlike.looks for unlike in some)
    for unlike in some:
        whole = unlike.columns.shape[1] > 1
        scattered = within if whole or within is None else replace(within, fit=within.mean - left / root)
        one = interaction("", basis, unlike.columns, left, root, noise, rounding, scattered)
        repeated = None if within is None else within.of_level(*unlike.at[:2])
        own = interaction("", basis, unlike.columns, left, root, repeated or noise, rounding)
        if one is None or own is None or (whole and repeated is None):
            continue
        alone = repeated is not None and own.p_value < LEVEL
        alone &= noise is not None and _alone_in_it(profile(codes, unlike.at), basis, left, root, noise, rounding)
        most, odd = NOTICED if whole else LEVEL, Odd.of(unlike.at, names, levels, alone)
        p = min(1.0, max(one.p_value * looks, own.p_value if own.p_value >= most else 0.0))
        found.append(replace(one, test="one level", p_value=p, words=f"F test of whether {odd.words}", odd=odd))
    return [min(found, key=lambda one: one.p_value)] if found else []


def _pair_apart(
    fitted: Fitted, known: Identifiability, pairs: Iterable[Floats], names: tuple[str, ...],
    levels: Sequence[Sequence[Level]],
) -> list[Found]:  # fmt: skip
    """Whether one pair of levels, of all that have two rows or more, lies apart from a sum, and nothing else does."""
    if (apart := furthest(fitted, known.shape, known.curves)) is None:
        return []
    alone = False
    if apart.p_value < LEVEL:
        basis, left, root, rounding = fitted.basis, fitted.left, fitted.root, fitted.rounding
        indicator = apart.indicator(fitted.codes)
        if fitted.noise is not None:
            alone = _alone_in_it(indicator, basis, left, root, fitted.noise, rounding)
        else:
            own = _new(basis, indicator, root)
            basis, left = np.hstack([basis, own]), left - own @ (own.T @ left)
            found = [interaction("", basis, columns, left, root, None, rounding) for columns in pairs]
            others = [one.p_value for one in found if one is not None]
            alone = min(others, default=0.0) * len(others) > ADD_UP
    pair = Pair.of(apart.at, names, levels, apart.by, alone)
    return [Found("one pair", apart.p_value, f"F test of whether {pair.words}", pair=pair)]


def _alone_in_it(
    columns: Floats, basis: Floats, left: Floats, root: Floats, noise: tuple[float, float], rounding: float
) -> bool:
    """Whether what these columns leave is no more than noise, and they take away more than that."""
    gain, size = gained(basis, columns, left, root)
    freedom, beside = len(left) - basis.shape[1] - size, interaction("", basis, columns, left, root, None, rounding)
    if beside is None or beside.p_value >= LEVEL:
        return False
    return f_test(float(left @ left) - gain, freedom, *noise) > ADD_UP


def _product(names: Sequence[str], factors: Sequence[int]) -> str:
    return " × ".join(names[k] for k in factors)


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
) -> Found | None:
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
    return Found("interaction", p, f"F test of {name}", columns if noise is None else None)


def gained(basis: Floats, columns: Floats, left: Floats, root: Floats) -> tuple[float, int]:
    """Of what a basis leaves, the sum of squares that further columns take away, and how many of them are new."""
    new = _new(basis, columns, root)
    return float(((new.T @ left) ** 2).sum()), new.shape[1]


def _new(basis: Floats, columns: Floats, root: Floats) -> Floats:
    """Orthonormal columns of what further ones have beyond a basis."""
    extra = columns * root[:, None]
    return np.asarray(orth(extra - basis @ (basis.T @ extra), rcond=1e-9))


def _stood(tests: list[Found], basis: Floats, left: Floats, root: Floats, rounding: float) -> list[Found]:
    """The same, with a larger p-value of rejections by single rows that do not stand, until one does."""
    spare = _spare(basis)
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


def _spare(basis: Floats) -> Floats:
    """Share of each answer that the fit leaves."""
    return np.asarray(np.maximum(1 - (basis**2).sum(axis=1), LEAST_LEFT))


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
) -> list[Found]:
    """Tests with one degree of freedom, of one row per combination: of the fit squared, and of the slope of each level
    on the fit, which sees a level that reverses the others' effects."""
    tests = []
    every = [(k, c, codes[:, k] == c) for k, n in enumerate(shape) for c in range(n)]
    slopes = [(k, c, level) for k, c, level in every if _share(basis, mean[:, None], root, level)[0] > 0]
    if (p := _dealt(basis, mean, root, codes, shape, rounding, [None])) is not None:
        tests.append(Found("Tukey one degree of freedom", p, "Tukey's test, one row per combination"))
    if slopes and basis.size * len(slopes) <= MOST_SLOPES:
        p = _dealt(basis, mean, root, codes, shape, rounding, [level for _, _, level in slopes])
        k, c, _ = max(slopes, key=lambda slope: float(_share(basis, mean[:, None], root, slope[2])[0]))
        odd = Odd.of((k, c, 1 - k if len(shape) == 2 else None), names, levels)
        tests += [] if p is None else [Found("one level", p, f"test of slopes, of whether {odd.words}", odd=odd)]
    if len(shape) == 2:
        left = root * mean - basis @ (basis.T @ (root * mean))
        p = by_rectangles(codes, basis, left, _spare(basis), rounding, _draws(basis))
        words = f"test of {_product(names, (0, 1))} by rectangles of four combinations"
        tests += [] if p is None else [Found("interaction", p, words)]
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
    return np.where(size > 1e-18 * (bent**2).sum(axis=0), share, 0.0)
