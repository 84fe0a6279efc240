"""Answers so far from all others that somebody should look: one slip of the decimal point ruins everything.

The farthest answer is taken out, again and again (Rosner's generalised test, which sees two slips that hide each
other), and its distance from the mean of the rest compared with Student's t, times the number of answers. It must also
lie many median distances off, and three times as far from the median as any that is not named: answers with a long tail
have a farthest one too, but others on the way to it. One that is twice as far is merely said to lie far. All must hold
for logarithms too (where some answers are not above zero: for their arcsinh, in units of the median size), so that a
skewed or multiplicative table has none.

Rows of one combination are compared with each other too: the one farthest from the mean of the others, in units of what
rows differ by in the median combination, must be many units off and three times as many as all that are not named, for
the answers and, where all are above zero, for their logarithms. For the latter alone, and farther off where others lie
on the way to it, where rows are clearly likelier to scatter by shares of the mean of their combination than all alike:
in units of what prices differ by, one a thousand times too small is a few off at most. Of two rows each is as far from
the other: named is the one that is far from the other combinations where the other is not, else both.

A combination of a single row is compared with the sum of effects that the others have: left out, it must be off beyond
chance (Student's t times the number of combinations) and three times as far as any that is not named, for the answers
and for their logarithms too; for the latter alone where the others are clearly likelier products of effects than sums.

One number that several combinations were given, and that is farther from all other answers than these are apart, may
stand for a missing one (-999); one of nines alone, as such codes are, also where a single combination was given it.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import orth
from scipy.special import chdtri, stdtr

from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.exact.modular import Floats
from recombine.checks.rules.weighing import worth_in
from recombine.support.table import Target

LEVEL = 0.01
FAR = 6.0
"""Standard deviations, by the median distance from the median, that an outlier is off."""
TAIL = 2.0
"""Times as far as any that is not named (`GAP` for a likely slip) that an answer lies which a long tail may reach too.
Of 300 clean tables each where nothing acts (22 to 60 single rows) 6, 11, 9, 1 and 0 had a likely slip, and 13, 38, 19,
10 and 3 one that lies far: t with 3 degrees, lognormal and shifted, unequal noise, exponential, t with 5 degrees. With
neither condition 50, 139, 81, 47 and 6 had one named."""
FEWEST, MOST = 8, 5
"""Answers below which none stands apart; answers that are taken out, at most a tenth of all."""
ROW_FAR, GAP = 8.0, 3.0
"""Standard deviations that a row is off from the others of its combination, and times as far as any that is not named:
of 500 clean tables each (normal, lognormal, exponential, t with 3 degrees, cells of unequal noise) at most 4.4 % had
one named; of tables with one answer ten times too large or small all. Of 60 tables of prices each (effects multiply,
noise of 20 %, 2 to 3 or 8 rows a combination) with one row 10, 100 or 1,000 times too small, 41, 60 and 60 had it
named; of 200 clean ones each 12 to 23, where logarithms have t with 3 degrees, 7 where the noise is alike near zero,
and at most 2 else (normal, Laplace, exponential, gamma, unequal noise)."""
FREEDOM, MOST_SUMMED = 4, 1_000
"""Combinations beyond the effects, and most of all, of which a single one is compared with their sum. Of 100 clean
tables each (normal, exponential, t with 3 degrees, unequal noise, interactions, multiplied; 22 to 36 combinations) at
most 4 had one named; a slip of 15 standard deviations was named in 93 to 96 of 100 normal ones."""
LIKELIER = 5.0
"""Logarithm of how many times as likely answers are as products of effects, without those that are named, for products
alone to count. Of 60 tables each whose effects multiply (22 or 36 combinations, noise of 15 %) an answer ten times too
large or small was named in 55 to 60; of 200 clean ones each (t with 3 degrees, unequal noise, squares of sums) at most
12 had one named."""
OFF, NEARER = 4.0, 0.5
"""Standard deviations, by the median distance, that one of two rows is off from the other combinations, and the most
that the other may be off, as a share of that, for the first to be named alone."""

TIMES, DIFFERENT = 2.0, 5
"""Times the range of all other answers that a code for missing is off, and different ones among these, so that a rating
or a few counts have no code. Of 300 clean tables each (normal, lognormal, counts, 0 and 1, ratings) none had one."""


def code_for_missing(target: Target | None) -> tuple[float, list[int], tuple[float, float]] | None:
    """A number that may stand for missing answers, the combinations given it, and between what all others lie."""
    if target is None or target.classes is not None or target.ends is None or not target.count.any():
        return None
    told = target.count > 0
    ends = target.ends if told.all() else np.where(told[:, None], target.ends, np.nan)
    for code in (np.fmin.reduce(ends, axis=None), np.fmax.reduce(ends, axis=None)):
        given = (ends[:, 0] == code) | (ends[:, 1] == code)
        if not (1 if of_nines(code) else 2) <= given.sum() < told.sum() / 2:
            continue
        others = ends[(ends != code) & ~np.isnan(ends)]
        low, high = (float(others.min()), float(others.max())) if len(others) else (np.nan, np.nan)
        if min(abs(low - code), abs(high - code)) > TIMES * (high - low) and len(np.unique(others)) >= DIFFERENT:
            return float(code), np.flatnonzero(given).tolist(), (low, high)
    return None


def of_nines(number: float) -> bool:
    """Whether a number is one that people write for missing: -9, -99, 999."""
    return set(f"{abs(number):g}") == {"9"}


def rows_apart(target: Target | None) -> list[tuple[int, tuple[float, ...]]]:
    """Training combinations one of whose rows stands apart from the others there, with its answer: of two rows that of
    the one that is clearly wrong, else both."""
    if target is None or target.classes is not None or target.ends is None or target.weights is not None:
        return []  # of rows that weigh less, some are far off the others of their combination
    use = np.flatnonzero(target.count > 1)
    if len(use) < FEWEST:
        return []
    rows, mean, ends = target.count[use], target.mean[use], target.ends[use]
    rest = np.maximum((rows * mean).reshape(-1, 1) - ends, ends[:, [0]] * (rows - 1)[:, None]) / (rows - 1)[:, None]
    spread, each = np.sqrt(target.spread[use] / (rows - 1)), np.arange(len(use))
    end = np.abs(ends - mean[:, None]).argmax(axis=1)
    found, as_shares = _gapped(np.abs(ends - rest)[each, end], spread, rows), False
    if ends.min() > 0:  # as far as a logarithm is straight there
        off = np.abs(np.log(ends / rest))
        in_logs = _gapped(off.max(axis=1), spread / mean, rows, wary=True)
        kept = ~np.isin(each, [*in_logs])
        as_shares = bool(in_logs) and _proportional(rows[kept], mean[kept], spread[kept])
        if as_shares:
            found, end = in_logs, off.argmax(axis=1)
        else:
            found &= _gapped(off[each, end], spread / mean, rows)
    far = ends[each, end]
    return [
        (int(use[i]), (float(far[i]),) if rows[i] > 2 else wrong_of_two(target, use[i], as_shares))
        for i in sorted(found)
    ]


def _proportional(rows: np.ndarray, mean: Floats, spread: Floats) -> bool:
    """Whether rows are clearly likelier to scatter by shares of the mean of their combination than all alike."""
    use = spread > 0
    free, mean, spread = (rows - 1.0)[use], mean[use], spread[use]
    if not len(free):
        return False
    own, share = (float(np.average(s**2, weights=free)) for s in (spread, spread / mean))
    return bool((free / 2 * (np.log(own / share) - 2 * np.log(mean))).sum() > LIKELIER)


def wrong_of_two(target: Target, cell: int | np.integer, as_shares: bool = False) -> tuple[float, ...]:
    """Of the two rows of a combination the answer that the other combinations contradict, where they do not the other's
    too; else both. ``as_shares``: by logarithms alone."""
    others = target.count > 0
    others[cell] = False
    y, two = target.mean[others], np.asarray(target.ends)[cell]
    scales = [(y, two), (np.log(y), np.log(two))] if min(y.min(), two.min()) > 0 else [(y, two)]
    off = np.array([_deviations(seen, ends) for seen, ends in scales[int(as_shares) :]])
    far, which = off.max(axis=1), off.argmax(axis=1)
    clear = (far > OFF).all() and (off.min(axis=1) < NEARER * far).all() and (which == which[0]).all()
    return (float(two[which[0]]),) if clear else (float(two[0]), float(two[1]))


def _deviations(seen: Floats, values: Floats) -> Floats:
    middle = float(np.median(seen))
    unit = 1.4826 * max(float(np.median(np.abs(seen - middle))), 1e-9 * float(np.abs(seen).max()))
    return np.asarray(np.abs(values - middle) / max(unit, 1e-300))


def _gapped(distance: Floats, spread: Floats, rows: np.ndarray, wary: bool = False) -> set[int]:
    """Places of the few distances, in units of the median spread, that are far and apart from all others; ``wary``:
    farther from these the longer their tail."""
    unit = float(np.median(spread / np.sqrt(chdtri(rows - 1, 0.5) / (rows - 1))))
    if unit <= 0:  # most repeated rows agree exactly
        return set()
    off = distance / (unit * np.sqrt(rows / (rows - 1)))
    order = np.argsort(-off)
    most = min(MOST, max(1, len(off) // 10))
    beyond = [max(ROW_FAR, GAP * off[i], off[i] ** 2 if wary else 0.0) for i in order[1 : most + 1]]
    last = max((k for k in range(most) if off[order[k]] > beyond[k]), default=-1)
    return {int(i) for i in order[: last + 1]}


def off_the_sum(target: Target, known: Identifiability, gap: float = GAP) -> tuple[list[int], str]:
    """Training combinations of a single row whose answer the others contradict as they contradict no other, and what
    of effects it is off: their sum or their product; ``gap``: times as far as any that is not named."""
    use = np.flatnonzero(target.count > 0)
    if target.classes is not None or not known.rank + FREEDOM <= len(use) <= MOST_SUMMED:
        return [], "sum"
    x, y = known.rows.floats(known.codes[use]), target.mean[use]
    scales = [y, np.log(y)] if y.min() > 0 else [y]
    rows = [worth_in(x, target.of(target.count > 0), values) for values in scales]
    found = [_jumps(x, values, own, gap) for values, own in zip(scales, rows, strict=True)]
    kept = ~np.isin(np.arange(len(y)), [*found[-1]])
    # where effects multiply, no sum comes near to the answers, whatever slip there is
    product = len(scales) > 1 and bool(found[1]) and _multiplied(x[kept], y[kept], *(own[kept] for own in rows))
    off = found[1] if product else set.intersection(*found)
    return sorted(int(use[i]) for i in off if target.count[use[i]] == 1), "product" if product else "sum"


def _multiplied(x: Floats, y: Floats, rows: Floats, rows_of_log: Floats) -> bool:
    """Whether products of effects are clearly likelier than sums."""
    log = np.log(y)
    basis, left = _fitted(x, y, rows)
    _, left_of_log = _fitted(x, log, rows_of_log)
    own, other = (max(float(e @ e), 1e-300) for e in (left, left_of_log))
    return bool((len(y) - basis.shape[1]) / 2 * (np.log(own / other) - 2 * log.mean()) > LIKELIER)


def _jumps(x: Floats, y: Floats, rows: Floats, gap: float) -> set[int]:
    """Rows of a linear fit that are far off the others' fit, the farthest taken out again and again."""
    left, taken, last = np.arange(len(y)), list[int](), 0
    for step in range(1, min(MOST, max(1, len(y) // 10)) + 1):
        if len(left) < np.linalg.matrix_rank(x[left]) + FREEDOM:
            break
        off, t = _left_out(x[left], y[left], rows[left])
        worst = int(np.abs(t).argmax())
        rest = np.delete(left, worst)
        others, _ = _left_out(x[rest], y[rest], rows[rest])
        freedom = len(rest) - np.linalg.matrix_rank(x[rest])
        beyond = 2 * stdtr(freedom, -abs(t[worst])) * len(left) < LEVEL
        taken.append(int(left[worst]))
        last = step if beyond and abs(off[worst]) > gap * np.abs(others).max() > 0 else last
        left = rest
    return set(taken[:last])


def _left_out(x: Floats, y: Floats, rows: Floats) -> tuple[Floats, Floats]:
    """What each row is off the fit to the others, 0 where these do not tell, and the same in standard errors."""
    root, (basis, residual) = np.sqrt(rows), _fitted(x, y, rows)
    spare = np.maximum(1 - (basis**2).sum(axis=1), 0.0)
    told = spare > 1e-6
    spare = np.where(told, spare, 1.0)
    noise = np.maximum(float(residual @ residual) - residual**2 / spare, 1e-300) / (len(y) - basis.shape[1] - 1)
    return np.where(told, residual / spare / root, 0.0), np.where(told, residual / np.sqrt(noise * spare), 0.0)


def _fitted(x: Floats, y: Floats, rows: Floats) -> tuple[Floats, Floats]:
    """Orthonormal columns that span x, and what they leave of y, both times the root of the rows."""
    root = np.sqrt(rows)
    basis = orth(x * root[:, None])
    return basis, root * y - basis @ (basis.T @ (root * y))


def outliers(target: Target | None, gap: float = GAP) -> list[int]:
    """Training combinations whose answer stands apart from all others, the farthest first; ``gap``: times as far as any
    that is not named."""
    if target is None or target.classes is not None:
        return []
    use = np.flatnonzero(target.count > 0)
    y = target.mean[use]
    if len(y) < FEWEST:
        return []
    if not (found := _apart(y, gap)):
        return []
    also = _apart(np.log(y) if y.min() > 0 else np.arcsinh(y / (float(np.median(np.abs(y))) or 1.0)), gap)
    return [int(use[i]) for i in found if i in also]


def _apart(y: Floats, gap: float) -> list[int]:
    left, taken, last = np.arange(len(y)), list[int](), 0
    off = np.abs(y - np.median(y))
    far = off > FAR * 1.4826 * max(float(np.median(off)), 1e-9 * float(np.abs(y).max()))
    for step in range(1, min(MOST, max(1, len(y) // 10)) + 1 if far.any() else 1):
        freedom, distance = len(left) - 2, y[left] - y[left].mean()
        worst = int(np.abs(distance).argmax())
        own = distance[worst] ** 2 * len(left) / (len(left) - 1)
        t = np.sqrt(own * freedom / max(float(distance @ distance) - own, 1e-24 * own, 1e-300))
        taken.append(int(left[worst]))
        own, left = float(off[left[worst]]), np.delete(left, worst)
        beyond = 2 * stdtr(freedom, -t) * (len(left) + 1) < LEVEL
        last = step if beyond and own > gap * float(off[left].max()) else last
    return [i for i in taken[:last] if far[i]]
