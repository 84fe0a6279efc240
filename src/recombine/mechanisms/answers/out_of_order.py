"""Do predictions go with the answers of other rows than their own, training rows too?

A table that was sorted, or cut and put together again, between predicting and joining leaves predictions that have
nothing to do with the answers beside them. They are told from a learner that learnt nothing by an order of the rows in
which they go with the answers: moved by a few rows, turned round, or taken for the rows in order of a column.

Levels that are encoded one too high are moved by one row as well, where the table lists combinations in turn. Then rows
of one combination are still answered alike; so nothing is said unless these are answered as differently as any others.
And two slow trends may meet in some order: steps from one row to the next have to go together as well. Predictions that
only rise from row to row were sorted, or follow a column that does: it is said where the table holds none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recombine.mechanisms.answers.names import score

FEWEST_ROWS, FEWEST_AGAIN = 40, 10
"""Rows that it takes, and how many of them beyond the first of their combination."""
GOES_WITH, SURELY = 0.3, 6.0
"""How well predictions have to go with answers in another order, and by how many standard errors, …"""
NOT_WITH, QUARTER = 3.0, 0.25
"""… how little in that of the table: within so many standard errors of 0, or by a quarter of that at most."""
HALF = 0.5
FARTHEST = 5
"""By how many rows they are moved."""
SORTED = "sorted"
Order = NDArray[np.signedinteger[Any]]


def out_of_order(y: Any, p: Any, cell: Any, columns: Callable[[], Mapping[str, Any]], classes: bool) -> tuple[str, str]:
    """How predictions have to be put to go with the answers, and in a clause how well they then do; nothing where they
    do as they stand, or in no order that is tried. ``y``, ``p``: numbers, or classes by their number; ``columns`` gives
    what else the table holds of each row."""
    n = len(y)
    again = n - len(np.unique(cell))
    if n < FEWEST_ROWS or again < FEWEST_AGAIN or not _any_row(p, cell, classes):
        return "", ""
    beside, doubt = goes_with(y, p, classes)
    if classes and not np.ptp(y):
        return "", ""
    least = max(GOES_WITH, SURELY * doubt)
    if not abs(beside) <= max(NOT_WITH * doubt, QUARTER * least):
        return "", ""
    name, others = "kappa" if classes else "r", columns()
    if not classes and _in_size(p) and spread_alike(y, p) and not any(map(_in_size, (y, *others.values()))):
        return SORTED, f"from row to row they only {'rise' if p[-1] > p[0] else 'fall'}, and answers do not"
    for how, rows, at in _orders(n, others):
        due, said = y[rows], p[at]
        then = goes_with(due, said, classes)[0]
        if then >= least and _in_steps(due, said, classes) >= HALF * then:
            return how, f"{how} they would go with the answers at {name} = {score('', then)}, not {score('', beside)}"
    return "", ""


def _orders(n: int, columns: Mapping[str, Any]) -> Iterator[tuple[str, Order, Order]]:
    """In words, the rows whose answers stand beside predictions then, and these."""
    every = np.arange(n)
    for k in range(1, FARTHEST + 1):
        by = f"moved by {'one row' if k == 1 else f'{k} rows'}"
        yield by, every[k:], every[:-k]
        yield by, every[:-k], every[k:]
    yield "turned round", every[::-1], every
    for column, values in columns.items():
        rank = np.unique(values, return_inverse=True)[1]
        yield f"taken for rows in order of {column}", np.argsort(rank, kind="stable"), every
        yield f"taken for rows in falling order of {column}", np.argsort(-rank, kind="stable"), every


def goes_with(y: Any, p: Any, classes: bool) -> tuple[float, float]:
    """How predictions go with answers (r, or Cohen's kappa), and its standard error where they do not."""
    if not len(y) or not np.ptp(y) or not np.ptp(p):
        return 0.0, 1.0
    if not classes:
        return float(np.corrcoef(y, p)[0, 1]), 1 / float(np.sqrt(len(y)))
    k = int(max(y.max(), p.max())) + 1
    chance = float(np.bincount(y, minlength=k) @ np.bincount(p, minlength=k)) / len(y) ** 2
    return (float((y == p).mean()) - chance) / (1 - chance), float(np.sqrt(chance / (1 - chance) / len(y)))


def _in_steps(y: Any, p: Any, classes: bool) -> float:
    """How well steps from row to row go together; of classes, answers where they differ from that of the row before."""
    if not classes:
        return goes_with(np.diff(y), np.diff(p), classes)[0]
    new = np.flatnonzero(np.diff(y) != 0) + 1
    return goes_with(y[new], p[new], classes)[0]


def _any_row(p: Any, cell: Any, classes: bool) -> bool:
    """Whether rows of one combination are answered at least half as differently as any rows are."""
    _, place, count = np.unique(cell, return_inverse=True, return_counts=True)
    several = count[place] > 1
    place, said, n = place[several], p[several], count[count > 1]
    if not len(said) or not np.ptp(said):
        return False
    place = np.unique(place, return_inverse=True)[1]
    if classes:
        given = np.zeros((len(n), int(said.max()) + 1))
        np.add.at(given, (place, said), 1)
        off, whole = float((n - given.max(axis=1)).sum()), float(len(said) - given.sum(axis=0).max())
        return off >= HALF * whole
    own = said - (np.bincount(place, said) / n)[place]
    return float(np.square(own).sum()) / float((n - 1).sum()) >= HALF * float(said.var(ddof=1))


def _in_size(values: Any) -> bool:
    return bool((values[1:] >= values[:-1]).all() or (values[1:] <= values[:-1]).all())


def spread_alike(y: Any, p: Any) -> bool:
    """Whether predictions lie where answers do: means within half a spread, spreads within a factor of two."""
    wide, own = float(y.std()), float(p.std())
    return HALF * wide <= own <= wide / HALF and bool(abs(float(y.mean() - p.mean())) <= HALF * wide)
