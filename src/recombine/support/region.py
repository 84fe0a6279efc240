"""A support given by a rule: a membership test and a sampler, for spaces too large or too continuous to list.

A rule is plain data, so that it can be hashed, stored and read back without running anything:

    {"box": {"x": [0.2, 0.5], "y": [0.0, 1.0]}}   inside an interval for each named factor (ends included)
    {"points": [[0, 1], …]}                       a list of combinations
    {"any": [rule, …]}   {"all": [rule, …]}   {"not": rule}
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from recombine.errors import InputError, unknown
from recombine.space import FactorSpace, Points
from recombine.support.support import Explicit, Mask, Support

Rule = Mapping[str, Any]

MOST_TRIES = 1_000
"""Rejection sampling gives up after this many rounds without filling the request."""


class Region(Support):
    """The points of a space that a rule accepts."""

    def __init__(self, space: FactorSpace, rule: Rule) -> None:
        self.space = space
        self.rule: Rule = rule
        _membership(space, rule)

    def contains(self, points: Points) -> Mask:
        return _membership(self.space, self.rule)(self.space.check(points))

    def sample(self, count: int, seed: int) -> Points:
        """Rejection from the uniform distribution over the space."""
        kept: list[Points] = []
        have = 0
        for attempt in range(MOST_TRIES):
            points = self.space.sample(max(count, 256), seed=_spread(seed, attempt))
            kept.append(points[self.contains(points)])
            have += len(kept[-1])
            if have >= count:
                return np.concatenate(kept)[:count]
        raise InputError(
            f"found {have} of {count} points after {MOST_TRIES} rounds: the support is empty or very thin."
        )

    @staticmethod
    def rule_of(support: Support) -> Rule:
        """Any support as a rule."""
        if isinstance(support, Region):
            return support.rule
        if isinstance(support, Explicit):
            return {"points": support.codes.tolist()}
        raise InputError(f"a {type(support).__name__} cannot be written as a rule.")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Region) and self.space == other.space and self.rule == other.rule

    def __hash__(self) -> int:
        return hash((self.space, json.dumps(self.rule, sort_keys=True)))

    def __repr__(self) -> str:
        return f"the part of {' × '.join(self.space.names)} where {json.dumps(self.rule)}"

    def to_dict(self) -> dict[str, Any]:
        return {"space": self.space.to_dict(), "rule": dict(self.rule)}


def _spread(seed: int, attempt: int) -> int:
    return int(np.random.SeedSequence([seed, attempt]).generate_state(1)[0])


def _membership(space: FactorSpace, rule: Rule) -> Callable[[Points], Mask]:
    if not isinstance(rule, Mapping) or len(rule) != 1:
        raise InputError(f"a rule is one of {', '.join(_RULES)} with its argument, got {rule!r}.")
    ((word, argument),) = rule.items()
    if word not in _RULES:
        raise unknown("rule", word, _RULES)
    return _RULES[word](space, argument)


def _box(space: FactorSpace, sides: Mapping[str, tuple[float, float]]) -> Callable[[Points], Mask]:
    columns = [(space.position(name), float(low), float(high)) for name, (low, high) in sides.items()]
    return lambda points: np.logical_and.reduce(
        [np.ones(len(points), bool)] + [(points[:, c] >= low) & (points[:, c] <= high) for c, low, high in columns]
    )


def _points(space: FactorSpace, rows: Any) -> Callable[[Points], Mask]:
    return Explicit(space, rows).contains


def _any(space: FactorSpace, rules: Any) -> Callable[[Points], Mask]:
    tests = [_membership(space, rule) for rule in rules]
    return lambda points: np.logical_or.reduce([test(points) for test in tests])


def _all(space: FactorSpace, rules: Any) -> Callable[[Points], Mask]:
    tests = [_membership(space, rule) for rule in rules]
    return lambda points: np.logical_and.reduce([test(points) for test in tests])


def _not(space: FactorSpace, rule: Rule) -> Callable[[Points], Mask]:
    test = _membership(space, rule)
    return lambda points: ~test(points)


_RULES: dict[str, Callable[[FactorSpace, Any], Callable[[Points], Mask]]] = {
    "box": _box,
    "points": _points,
    "any": _any,
    "all": _all,
    "not": _not,
}
