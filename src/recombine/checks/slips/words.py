"""Answers that may be slips, in words: one of them changes the forecast, the test and every answer."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from recombine.checks.as_read import shown
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.exact.modular import Ints
from recombine.checks.forecasts.harder import Harder
from recombine.checks.slips.outliers import (
    TAIL,
    code_for_missing,
    of_nines,
    off_the_sum,
    outliers,
    rows_apart,
    wrong_of_two,
)
from recombine.space import quoted
from recombine.support.table import Table, Target

MOST_NAMED = 3
"""Pairs of levels that are named."""
ALONE = 0.9
"""Share of the spread of a combination's rows that one of them makes where it alone is off."""


def slips_in(train: Table, known: Identifiability) -> tuple[list[str], list[int]]:
    """Sentences about answers that may be slips, and their combinations."""
    if train.target is None:
        return [], []
    code = coded(train)
    missing = [] if code is None else code[1]
    target = replace(train.target, count=train.target.count.copy())
    target.count[missing] = 0
    apart = outliers(target)
    within = [(i, rows) for i, rows in rows_apart(target) if i not in apart]
    cells = [*missing, *apart, *(i for i, _ in within)]
    off, what_of = ([], "") if cells else off_the_sum(target, known)

    slip, said = "look for a slip, it changes everything said here.", []
    if code is not None:
        low, high = map(shown, code[2])
        which, these = ("combination", "it") if len(missing) == 1 else ("combinations", "these")
        said.append(
            f"in {len(missing):,} {which} an answer is {shown(code[0])}, far from all others ({low} to {high}): a "
            f"code for missing? If so, blank {these} and check again."
        )
    if apart:
        what = "the answer {} lies" if len(apart) == 1 else "the answers {} lie"
        named = ", ".join(f"{_own(train.target, i)} {_of(train, i)}" for i in apart)
        said.append(f"{what.format(named)} far from all others: {slip}")
    if within:
        named = ", ".join(f"{' or '.join(map(shown, rows))} {_of(train, i)}" for i, rows in within)
        said.append(f"{named} lies far from the other rows of its combination: {slip}")
    if off:
        what = "the answer {} lies" if len(off) == 1 else "the answers {} lie"
        named = ", ".join(f"{shown(float(train.target.mean[i]))} {_of(train, i)}" for i in off)
        pairs = _seen_once(train, off[0]) if len(off) == 1 else ""
        right = f" If it is right, {pairs} may lie apart from a {what_of}: a second row of both would tell."
        off_it = f"far from the {what_of} of effects, as no other does: {slip}{right * bool(pairs)}"
        said.append(f"{what.format(named)} {off_it}")
    return said, [*cells, *off]


def far_in(train: Table, known: Identifiability) -> list[str]:
    """A sentence on answers that lie far from all others, but no farther than a long tail may reach; or far from the
    sum of effects, which levels that were seen together in one row alone may do as well as a slip."""
    if train.target is None:
        return []
    if not (far := outliers(train.target, TAIL)):
        off, what_of = off_the_sum(train.target, known, TAIL)
        pairs = _seen_once(train, off[0]) if len(off) == 1 else ""
        lies = f"lies far from the {what_of} of effects, at least twice as far as any other: it may be a slip or a row"
        other = f"that scatters more, or {pairs} may lie apart from a {what_of}: a second row of both would tell."
        return [f"the answer {_own(train.target, i)} {_of(train, i)} {lies} {other}" for i in off if pairs]
    one = len(far) == 1
    named = ", ".join(f"{_own(train.target, i)} {_of(train, i)}" for i in far)
    what = f"the answer {named} lies" if one else f"the answers {named} lie"
    right, mend = ("it is right", "it") if one else ("they are right", "them")
    return [
        f"{what} far from the others, though no farther than a long tail may reach: if {right}, asked answers may lie "
        f"as far out; if not, mend {mend} and check again."
    ]


def _seen_once(train: Table, cell: int) -> str:
    """Pairs of levels that were seen together in a combination of one row alone; none where all were in others too."""
    told = train.codes[train.target.count > 0] if train.target is not None else train.codes
    names, row = [], train.codes[cell]
    for j, k in itertools.combinations(range(len(train.space)), 2):
        if (told[:, [j, k]] == row[[j, k]]).all(axis=1).sum() == 1:
            factors = ((train.space.factors[i], int(row[i])) for i in (j, k))
            both = (f"{factor.name} {quoted((factor.levels or ())[code])}" for factor, code in factors)
            names.append(" with ".join(both))
    if not names:
        return ""
    some, more = ", ".join(names[:MOST_NAMED]), len(names) - MOST_NAMED
    return f"{some}{f' or {more:,} more pairs' * (more > 0)}, seen together in this row alone,"


def _of(train: Table, cell: int) -> str:
    return f"of ({', '.join(map(str, train.space.decode(train.codes[[cell]])[0].values()))})"


def coded(train: Table) -> tuple[float, list[int], tuple[float, float]] | None:
    """A code for missing, unless it is what all combinations of one level answered, as they do of other levels."""
    code = code_for_missing(train.target)
    if code is None or of_nines(code[0]) or train.target is None:
        return code
    given, target = np.isin(np.arange(len(train.codes)), code[1]), train.target
    filled = [level for level in train.codes.T if np.array_equal(level == level[code[1][0]], given)]
    return None if any(_one_number(level[~given], target.of(~given)) for level in filled) else code


def _one_number(levels: Ints, target: Target) -> bool:
    """Whether half of the levels that were seen in several combinations answered one number in all of them."""
    each = (target.mean[(levels == level) & (target.count > 0)] for level in np.unique(levels))
    alike = [bool(np.ptp(answers) == 0) for answers in each if len(answers) > 1]
    return 2 * sum(alike) >= len(alike)


def in_common(cells: list[int], train: Table, harder: Sequence[Harder]) -> str:
    """A question about a level, or several, that suspects share, or one that errs more than others; else nothing."""
    named = {(h.factor, h.level) for h in harder}
    shared = [f"{factor.name} {quoted((factor.levels or ())[int(train.codes[cells[0], k])])}"
              for k, factor in enumerate(train.space.factors)
              if len(cells) > 1 and len(np.unique(train.codes[cells, k])) == 1]  # fmt: skip
    if len(shared) > 1:
        return f"All are in {' and '.join(shared)}: do these act together?"
    for k, factor in enumerate(train.space.factors):
        codes = train.codes[cells, k]
        for level in np.unique(codes):
            name, often = quoted((factor.levels or ())[int(level)]), int((codes == level).sum())
            if often > 1 or (factor.name, name) in named:
                which = "It is" if len(cells) == 1 else "All are" if often == len(cells) else f"{often} of them are"
                return f"{which} in {factor.name} {name}: a level that behaves differently?"
    return ""


def _own(target: Target, i: int) -> str:
    """The answer that is off: of two rows the one that is wrong, of more the one that makes nearly all of their spread,
    else their mean."""
    mean, rows = float(target.mean[i]), int(target.count[i])
    if target.ends is not None and rows == 2:
        wrong = wrong_of_two(target, i)
        if len(wrong) == 1:
            return f"{shown(wrong[0])} in one of 2 rows"
    elif target.ends is not None and rows > 1:
        far = float(max(target.ends[i], key=lambda end: abs(end - mean)))
        if (far - mean) ** 2 * rows / (rows - 1) > ALONE * float(target.spread[i]) > 0:
            return f"{shown(far)} in one of {rows:,} rows"
    return shown(mean) + (f", the mean of {rows:,} rows," if rows > 1 else "")
