"""Levels that are totals of others: a pivot melted with its `Total` row and column, a sector that is a sum of sectors.

    y(t, j) = Σ y(i, j) over the other levels i,  at every place j (levels of the other factors) where all were seen

A name (Total, Sum, All, …) needs few such places. Without one the sum has to hold in all of them and to be no chance:
a level that is no total has noise of its own, at least σ_j as the others have, and hits a sum to within its rounding δ
at place j with a probability of δ / σ_j at most. The product over the places, times what was tried, must be small. σ_j
is what neither a sum nor a product of effects explains of the others at j, so that a rule without noise, in which 3 =
1 + 2 at every place, is no total.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from recombine.checks.exact.design import Mask
from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.headed import Headed
from recombine.space import FactorSpace, Level, quoted
from recombine.support.pasted import excluded
from recombine.support.table import Table

CHANCE = 1e-4
"""How often a level is a sum by chance, at most, over all levels and sets of others."""
FEWEST_OTHERS, FEWEST_PLACES, SPARE = 2, 4, 3
"""Levels that are summed; places that show it of a level without a name; places beyond the levels that a sum is chosen
from."""
MOSTLY = 0.75
"""Share of the places in which the sum holds for a level with a name: a cell may have been mended since."""
SMALL, SHOWN = 0.05, 100
"""What rounding of all levels may come to there, as a share of their sum; how large such sums are, in steps between
different answers and multiplied, where two levels are summed: small counts are sums of others by chance, and rarely of
many others."""
NEAR = 1e-9
"""Rounding of numbers that are computed."""
LARGEST, MOST_PARTS, MOST_FITTED = 2_000_000, 60, 300
"""Levels × places up to which this is looked at; levels up to which sums of some are, and places that choose these."""
MOST_DIGITS, MOST_NAMED, MOST_OPTIONS = 6, 5, 12
TOTAL = re.compile(
    r"(grand |sub)?totals?|sums?|sum total|all|overall|gesamt|summe|gesamtsumme|insgesamt|totaux|total g[ée]n[ée]ral|"
    r"ensemble|totale|totaal|suma|summa|totalt|i alt|yhteensä|razem|ogółem|suma końcowa|celkem|összesen|toplam|"
    r"total general|total geral|итого|всего|合计|总计|總計|合計|総計|总和|합계|총계|إجمالي|المجموع|סך הכל"
)
PART_OF_NAME = re.compile(r"(grand |sub)?total\b.*|.*\b(grand |sub)?total|all .*|.*\(total\)|sum of .*")
"""A total that says of what: Total sales, all regions, North total."""
MEAN = re.compile(r".*\b(average|avg\.?|mean|median|mittelwert|durchschnitt|moyenne|media|std|sd|count|min|max)\b.*")


@dataclass(frozen=True)
class Total:
    """A level that is a total of others."""

    factor: int
    level: int
    of: tuple[int, ...]
    """The levels that it sums; empty: all others that are no totals."""
    holds: int
    places: int
    """In how many places it is their sum, of how many in which they were all seen."""


def totals(train: Table, numbers: Collection[int]) -> list[Total]:
    """Those of each factor that is no number."""
    target = train.target
    if target is None or not target.numeric or len(train.space) < 2:
        return []
    told = target.count > 0
    codes, y = train.codes[told].astype(np.int64), target.mean[told]
    found = list[Total]()
    for _ in range(2):  # those of one factor known, the places are told that are sums of others
        more = list[Total]()
        for k in (k for k in range(len(train.space)) if k not in numbers):
            if (table := _table(codes, y, k, train.space, found)) is not None:
                more += _of_factor(k, *table, train.space, found)
        if not more:
            break
        found += more
    return sorted(found, key=lambda total: (total.factor, total.level))


def _table(codes: Ints, y: Floats, k: int, space: FactorSpace, found: Sequence[Total]) -> tuple[Floats, Mask] | None:
    """Levels × places, NaN where nothing was seen, and which places have no total of another factor; None: too many."""
    rest = [i for i in range(len(space)) if i != k]
    if math.prod(space.shape) < 2**62:  # one number a place is told faster from others than several
        keys = np.ravel_multi_index(tuple(codes[:, rest].T), tuple(space.shape[i] for i in rest))
        _, first, at = np.unique(keys, return_index=True, return_inverse=True)
        places = codes[first][:, rest]
    else:
        places, at = np.unique(codes[:, rest], axis=0, return_inverse=True)
    if space.shape[k] * len(places) > LARGEST:
        return None
    there = np.full((space.shape[k], len(places)), np.nan)
    there[codes[:, k], at.ravel()] = y
    inner = np.ones(len(places), bool)
    for column, i in zip(places.T, rest, strict=True):
        total = np.array([called_total(level) for level in space.factors[i].levels or ()])
        total[[t.level for t in found if t.factor == i]] = True
        inner &= ~total[column]
    return there, inner


def called_total(level: Level) -> bool:
    """Whether a level is called as totals are."""
    name = _name(level)
    return bool(TOTAL.fullmatch(name) or PART_OF_NAME.fullmatch(name))


def _name(level: Level) -> str:
    text = level if isinstance(level, str) else ""
    return " ".join(text.strip().strip(".:*").casefold().replace("_", " ").split())


def _of_factor(k: int, there: Floats, inner: Mask, space: FactorSpace, found: Sequence[Total]) -> Iterator[Total]:
    """Totals of one factor besides those that were found, by name and without one."""
    names, tried = space.factors[k].levels or (), sum(space.shape)
    known = [t.level for t in found if t.factor == k]
    called, means = (np.array([of(level) for level in names]) for of in (called_total, _called_mean))
    seen = np.array(np.isfinite(there).any(axis=1))
    seen[known] = False
    step, named = _step(there), dict[int, tuple[int, int]]()
    for t in map(int, np.flatnonzero(seen & called)):
        twin = any(_name(names[t]) == _name(_level(other, space)) for other in found)
        for others in (seen & ~called & ~means, seen & ~called, seen & (np.arange(len(names)) != t)):
            if t not in named and (told := _named(there, t, np.flatnonzero(others), step, twin)):
                named[t] = told
    yield from (Total(k, t, (), *told) for t, told in named.items())
    if any(isinstance(level, str) for level in names):  # 3 = 1 + 2 of doses is no total
        seen[[*named]] = False
        yield from _nameless(k, there[:, inner], np.flatnonzero(seen & ~means), step, tried)


def _named(there: Floats, t: int, others: Ints, step: float, twin: bool) -> tuple[int, int] | None:
    """In how many places a level that is called a total is one, and of how many; None where it is not. ``twin``: a
    level of another factor that is called so is a total, as in a pivot with a Total row and a Total column."""
    if len(others) < FEWEST_OTHERS:
        return None
    places = there[:, np.isfinite(there[t]) & (np.isfinite(there[others]).sum(axis=0) >= FEWEST_OTHERS)]
    sums, own, whole = np.nansum(places[others], axis=0), places[t], np.isfinite(places[others]).all(axis=0)
    slack, off = _slack(places[others], step), np.abs(own - sums)
    holds = (off <= NEAR * np.abs(sums)) | ((off <= slack) & (slack <= SMALL * np.abs(sums)))
    width = _apart(there[np.isfinite(there)]) + 8 * np.where(off <= NEAR * np.abs(sums), 0.0, slack)
    size = np.abs(sums / width)[holds]
    shown = np.log(np.maximum(size, 1.0)).sum() >= math.log(SHOWN / (len(others) - 1))
    compared, held = int(whole.sum()), int((holds & whole).sum())
    if compared and shown and held >= (MOSTLY * compared if compared >= FEWEST_PLACES else compared):
        return held, compared
    absent = shown and not compared and holds.sum() > 1 and holds.all()
    if (twin or absent) and (own > 0).any() and _covers(there, t, others, step):
        return 0, 0  # some inner cells are not there, and it is nowhere less than those that are
    return None


def _covers(there: Floats, t: int, others: Ints, step: float) -> bool:
    """Whether nothing is negative and the level is at least the sum of the others that were seen, everywhere."""
    seen = np.isfinite(there[t])
    sums = np.nansum(there[others][:, seen], axis=0)
    slack = _slack(there[others][:, seen], step)
    return bool(np.nanmin(there) >= 0 and (there[t, seen] >= sums - slack).all())


def _called_mean(level: Level) -> bool:
    return bool(MEAN.fullmatch(_name(level)))


def _nameless(k: int, there: Floats, plain: Ints, step: float, tried: int) -> Iterator[Total]:
    """Levels that are the sum of all others, or of those of them that are no sums themselves."""
    whole = there[:, np.isfinite(there[plain]).all(axis=0)]
    if len(plain) <= FEWEST_OTHERS or whole.shape[1] < FEWEST_PLACES:
        return
    all_, near = whole[plain].sum(axis=0), _slack(whole[plain], step)
    for t in plain[(np.abs(2 * whole[plain] - all_) <= near).all(axis=1)].tolist():
        others, holds = plain[plain != t], whole.shape[1]
        covers = np.nanmin(there) < 0 or _covers(there, t, others, step)
        if covers and _beyond_chance(whole, t, others, step, math.log(tried)):
            yield Total(k, t, (), holds, holds)
            return
    if len(plain) <= MOST_PARTS and whole[plain].min() >= 0:
        yield from _subsets(k, whole, plain, step, tried)


def _subsets(k: int, whole: Floats, plain: Ints, step: float, tried: int) -> Iterator[Total]:
    """The same of some of the others: those of which least squares gives each a part of 0 or 1. Totals are larger than
    their parts, so levels are gone through from the smallest on, and a total is no part of the next."""
    parts, places = list[int](), whole.shape[1]
    some = whole[:, :: -(-places // MOST_FITTED)]
    for t in plain[np.argsort(whole[plain].mean(axis=1), kind="stable")].tolist():
        if len(parts) >= FEWEST_OTHERS and some.shape[1] >= len(parts) + SPARE:
            share = np.linalg.lstsq(some[parts].T, some[t], rcond=NEAR)[0]
            of = np.array(parts)[share.round() == 1]
            plainly = np.abs(share - (share.round() == 1)).max() < 0.1
            ways = math.log(tried) + len(parts) * math.log(2)
            if plainly and len(of) >= FEWEST_OTHERS and _beyond_chance(whole, t, of, step, ways):
                yield Total(k, t, tuple(of.tolist()), places, places)
                continue
        parts.append(t)


def _beyond_chance(whole: Floats, t: int, others: Ints, step: float, ways: float) -> bool:
    """Whether a level is the sum of others at all places, by no chance."""
    off, slack = np.abs(whole[t] - whole[others].sum(axis=0)), _slack(whole[others], step)
    used = whole[others][(whole[others] != 0).any(axis=1)]
    # Of a rule without noise a few numbers make all places: one coincidence among them is one at every place.
    if (off > slack).any() or np.linalg.matrix_rank(used) < min(used.shape):
        return False
    exact = NEAR * np.abs(whole[others]).sum(axis=0)
    apart = _apart(whole[others])
    hit = (apart + 2 * (exact if (off <= exact).all() else slack)) / np.maximum(_noise(whole[others]), 1e-300)
    return bool(np.log(np.minimum(hit, 1.0)).sum() + ways < math.log(CHANCE))


def _noise(others: Floats) -> Floats:
    """By place, what neither a sum nor a product of effects of levels and places explains, root mean square; 0 where
    rounding is all that is left."""
    added = others - others.mean(axis=0) - others.mean(axis=1)[:, None] + others.mean()
    u, s, v = np.linalg.svd(others, full_matrices=False)
    times = others - s[0] * np.outer(u[:, 0], v[0])
    left = np.minimum(*(np.sqrt((part**2).mean(axis=0)) for part in (added, times)))
    return np.where(left > NEAR * np.abs(others).max(), left, 0.0)


def _apart(values: Floats) -> float:
    """How far different answers lie apart where they lie close: a tenth of the gaps between them are smaller."""
    gaps = np.diff(np.unique(values))
    gaps = gaps[gaps > NEAR * np.abs(values).max()] if len(gaps) else gaps
    return float(np.quantile(gaps, 0.1)) if len(gaps) else math.inf


def _step(there: Floats) -> float:
    """The last digit to which answers are rounded; 0 where they are not."""
    values = there[np.isfinite(there)]
    for digits in range(MOST_DIGITS):
        if (np.abs(values - values.round(digits)) <= NEAR * np.abs(values)).all():
            return 10.0**-digits
    return 0.0


def _slack(others: Floats, step: float) -> Floats:
    """By place, how far a sum of rounded answers may be from the rounded sum."""
    return np.asarray(NEAR * np.nansum(np.abs(others), axis=0) + step * (np.isfinite(others).sum(axis=0) + 1) / 2)


def named(found: Sequence[Total], space: FactorSpace) -> dict[str, list[Level]]:
    """Their levels by factor."""
    factors = dict.fromkeys(space.names[total.factor] for total in found)
    return {name: [_level(t, space) for t in found if space.names[t.factor] == name] for name in factors}


def words_of(found: Sequence[Total], space: FactorSpace) -> list[Headed]:
    """A note on all of them, of which the first lines say what to do."""
    if not found:
        return []
    levels = [{space.names[total.factor]: _level(total, space)} for total in found[:MOST_OPTIONS]]
    options = excluded(levels, " …" if len(found) > MOST_OPTIONS else "")
    each = "; ".join(_one(total, space) for total in found[:MOST_NAMED])
    each += f"; and {len(found) - MOST_NAMED:,} more" if len(found) > MOST_NAMED else ""
    leave = f"leave {'it' if len(found) == 1 else 'them'} out with {options} and check again"
    why = "totals count as good combinations, stand in for others and widen what answers differ by"
    names = ", ".join(f"{quoted(space.names[t.factor])} {quoted(_level(t, space))}" for t in found[:MOST_NAMED])
    names += " …" if len(found) > MOST_NAMED else ""
    first = "Among the levels is a total of others" if len(found) == 1 else "Some levels are totals of others"
    return [Headed(f"{each}: {why}; {leave}.", f"{first} ({names}): {leave}.")]


def _one(total: Total, space: FactorSpace) -> str:
    factor = space.factors[total.factor]
    some = [quoted((factor.levels or ())[i]) for i in total.of]
    of = f"{', '.join(some[:-1])} and {some[-1]}" if 0 < len(some) <= MOST_NAMED else f"{len(some):,} other levels"
    what = f"{quoted(factor.name)} {quoted(_level(total, space))} is the sum of {of if some else 'the other levels'}"
    if not total.places:
        return f"{what}, by its name and as nowhere it is less than those that were seen"
    which = f"all {total.places:,}" if total.holds == total.places else f"{total.holds:,} of {total.places:,}"
    where = f"in {which} places" if total.places > 1 else "in the one place"
    return f"{what} ({where} where these were all seen)"


def _level(total: Total, space: FactorSpace) -> Level:
    return (space.factors[total.factor].levels or ())[total.level]
