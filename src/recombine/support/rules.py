"""Rules that say which points are in a support, and the membership test that each means.

A rule is plain data, so that it can be hashed, stored and read back without running anything:

    {"box": {"x": [0.2, 0.5], "y": [0.0, 1.0]}}   inside an interval for each named factor (ends included)
    {"points": [[0, 1], …]}                       a list of combinations
    {"near": {"groups": [["x1", "x2"], …], "width": 0.1}}   the factors of each group at most this far from their mean
    {"any": [rule, …]}   {"all": [rule, …]}   {"not": rule}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from recombine.errors import InputError, unknown
from recombine.space import LARGEST_INDEX, FactorSpace, Points
from recombine.support.listed import Mask, listed, listed_in

Rule = Mapping[str, Any]


def _short(value: object, limit: int = 80) -> str:
    text = repr(value)
    return text if len(text) <= limit else text[:limit] + "…"


def membership(space: FactorSpace, rule: Rule) -> Callable[[Points], Mask]:
    """For each point, whether the rule accepts it; an error where it is no rule."""
    if not isinstance(rule, Mapping) or len(rule) != 1:
        raise InputError(f"a rule is one of {', '.join(_RULES)} with its argument, got {_short(rule)}.")
    ((word, argument),) = rule.items()
    if word not in _RULES:
        raise unknown("rule", word, _RULES)
    return _RULES[word](space, argument)


def _box(space: FactorSpace, sides: Mapping[str, tuple[float, float]]) -> Callable[[Points], Mask]:
    if not isinstance(sides, Mapping):
        raise InputError(f"a box has an interval for each factor it names, got {_short(sides)}.")
    columns = [(space.position(name), *_ends(name, side)) for name, side in sides.items()]
    return lambda points: np.logical_and.reduce(
        [np.ones(len(points), bool)] + [(points[:, c] >= low) & (points[:, c] <= high) for c, low, high in columns]
    )


def _ends(name: str, side: Any) -> tuple[float, float]:
    try:
        low, high = (float(end) for end in side)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"the side of a box along {name!r} has two ends, got {_short(side)}.") from None
    if not low <= high:
        raise InputError(f"the side of a box along {name!r} goes from {low} to {high}: low must not exceed high.")
    return low, high


def _points(space: FactorSpace, rows: Any) -> Callable[[Points], Mask]:
    codes = listed(space, rows_of(rows))
    return lambda points: listed_in(space, codes, points)


def rows_of(rows: Any) -> list[list[int]]:
    """Rows of codes as a file holds them: lists of whole numbers and nothing that merely looks like them."""
    if not isinstance(rows, Sequence) or isinstance(rows, str):
        raise InputError(f"combinations are listed as rows of codes, got {_short(rows)}.")
    for row in rows:
        whole = isinstance(row, Sequence) and not isinstance(row, str)
        if not whole or not all(type(code) is int and abs(code) <= LARGEST_INDEX for code in row):
            raise InputError(f"a combination is a row of whole numbers, got {_short(row)}.")
    if len({len(row) for row in rows}) > 1:
        raise InputError("all combinations of a list have as many codes.")
    return [list(row) for row in rows]


def _near(space: FactorSpace, argument: Any) -> Callable[[Points], Mask]:
    try:
        groups = [[space.position(name) for name in group] for group in argument["groups"]]
        width = float(argument["width"])
    except (TypeError, KeyError, ValueError):
        raise InputError(f"'near' needs groups of factors and a width, got {_short(argument)}.") from None

    def test(points: Points) -> Mask:
        inside = np.ones(len(points), bool)
        for columns in groups:
            own = points[:, columns]
            inside &= np.linalg.norm(own - own.mean(axis=1, keepdims=True), axis=1) <= width
        return inside

    return test


def _tests(space: FactorSpace, rules: Any) -> list[Callable[[Points], Mask]]:
    if not isinstance(rules, Sequence) or isinstance(rules, str) or not rules:
        raise InputError(f"'any' and 'all' need a list of rules, got {_short(rules)}.")
    return [membership(space, rule) for rule in rules]


def _any(space: FactorSpace, rules: Any) -> Callable[[Points], Mask]:
    tests = _tests(space, rules)
    return lambda points: np.logical_or.reduce([test(points) for test in tests])


def _all(space: FactorSpace, rules: Any) -> Callable[[Points], Mask]:
    tests = _tests(space, rules)
    return lambda points: np.logical_and.reduce([test(points) for test in tests])


def _not(space: FactorSpace, rule: Rule) -> Callable[[Points], Mask]:
    test = membership(space, rule)
    return lambda points: ~test(points)


_RULES: dict[str, Callable[[FactorSpace, Any], Callable[[Points], Mask]]] = {
    "box": _box,
    "points": _points,
    "near": _near,
    "any": _any,
    "all": _all,
    "not": _not,
}
