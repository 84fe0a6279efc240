"""A support: which combinations are in. Training sets, test sets and "everything else" are all supports."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from recombine.errors import InputError
from recombine.space import Codes, FactorSpace, Level, Points, about
from recombine.support.listed import Mask, listed, listed_in
from recombine.support.rules import Rule, membership

ENUMERABLE = 20_000_000
"""Grids up to this size are written out when a set operation needs them."""
MOST_TRIES = 1_000
"""Rejection sampling gives up after this many rounds without filling the request."""


class Support:
    """A subset of a space: it can tell whether a point is in it, draw points, and combine with other supports.

    Examples:
        >>> import recombine as rc
        >>> space = rc.FactorSpace.of(a=3, b=3)
        >>> seen = rc.Explicit(space, [(0, 0), (1, 1), (2, 2)]) | rc.Explicit(space, [(0, 1)])
        >>> {"a": 0, "b": 1} in seen, {"a": 2, "b": 0} in seen
        (True, False)
    """

    space: FactorSpace

    def contains(self, points: Points) -> Mask:
        """For each point, whether it is in."""
        raise TypeError(f"{type(self).__name__} has no membership test")

    def sample(self, count: int, seed: int) -> Points:
        """``count`` independent points, uniform over the support."""
        raise TypeError(f"{type(self).__name__} has no sampler")

    def explicit(self) -> Explicit:
        """The same support as a list of combinations; an error where the grid is not finite or too large."""
        if not self.space.finite:
            raise InputError("a support over continuous factors cannot be listed; sample from it instead.")
        if self.space.size > ENUMERABLE:
            raise InputError(f"a grid of {about(self.space.size)} combinations is too large to list.")
        return Explicit(self.space, np.concatenate([c[self.contains(c)] for c in self.space.grid_chunks()]))

    def __contains__(self, combination: Mapping[str, Level]) -> bool:
        return bool(self.contains(self.space.encode([combination]))[0])

    def __or__(self, other: Support) -> Support:
        self._same_space(other)
        return _combine(self, other, lambda a, b: a | b, "any")

    def __and__(self, other: Support) -> Support:
        self._same_space(other)
        return _combine(self, other, lambda a, b: a & b, "all")

    def __sub__(self, other: Support) -> Support:
        return self & ~other

    def __invert__(self) -> Support:
        """Everything in the space that is not in this support."""
        if self.space.finite and self.space.size <= ENUMERABLE:
            mask = np.ones(self.space.size, dtype=bool)
            mask[self.space.index(self.explicit().codes)] = False
            return Explicit(self.space, self.space.at(np.flatnonzero(mask)))
        return Region(self.space, {"not": Region.rule_of(self)})

    def _same_space(self, other: Support) -> None:
        if self.space != other.space:
            raise InputError("two supports can only be combined over the same factor space.")


class Explicit(Support):
    """A support that lists its combinations: sorted, each once, never changed.

    Examples:
        >>> import recombine as rc
        >>> space = rc.FactorSpace.of(shape=["disc", "square"], colour=["red", "blue", "green"])
        >>> seen = rc.Explicit.of(space, [{"shape": "disc", "colour": "red"}, {"shape": "square", "colour": "blue"}])
        >>> seen, len(~seen)
        (2 of 6 combinations of shape × colour, 4)
    """

    def __init__(self, space: FactorSpace, codes: Points | Iterable[Iterable[int]]) -> None:
        self.space = space
        self.codes: Codes = listed(space, codes)
        self.codes.setflags(write=False)

    @classmethod
    def of(cls, space: FactorSpace, combinations: Iterable[Mapping[str, Level]]) -> Explicit:
        """From records such as ``{"shape": "disc", "size": 2}``."""
        return cls(space, space.encode(combinations))

    def __len__(self) -> int:
        return len(self.codes)

    def contains(self, points: Points) -> Mask:
        return listed_in(self.space, self.codes, self.space.check(points))

    def sample(self, count: int, seed: int) -> Codes:
        if not len(self):
            raise InputError("cannot draw from an empty support.")
        return self.codes[np.random.default_rng(seed).integers(len(self), size=count)]

    def explicit(self) -> Explicit:
        return self

    def require_nonempty(self, what: str) -> Explicit:
        """This support, or an error that says that ``what`` is empty."""
        if not len(self):
            raise InputError(f"the {what} support is empty: no combination is left in it.")
        return self

    def combinations(self) -> list[dict[str, Level]]:
        """The combinations as records, for people."""
        return self.space.decode(self.codes)

    def sha256(self) -> str:
        """The fingerprint of the combination list: SHA-256 over its canonical JSON (factor names, then level rows)."""
        levels = [list(record.values()) for record in self.combinations()]
        text = json.dumps([list(self.space.names), levels], ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Explicit) and self.space == other.space and np.array_equal(self.codes, other.codes)

    def __hash__(self) -> int:
        return hash((self.space, self.codes.tobytes()))

    def __repr__(self) -> str:
        return f"{len(self)} of {about(self.space.size)} combinations of {' × '.join(self.space.names)}"

    def to_dict(self) -> dict[str, Any]:
        return {"space": self.space.to_dict(), "combinations": self.codes.tolist()}


class Region(Support):
    """The points of a space that a rule accepts, where they are too many or too continuous to list.

    Examples:
        >>> import recombine as rc
        >>> space = rc.FactorSpace([rc.continuous("x"), rc.continuous("y")])
        >>> corner = rc.Region(space, {"box": {"x": [0, 0.5], "y": [0, 0.2]}})
        >>> corner.sample(2, seed=0).shape
        (2, 2)
    """

    def __init__(self, space: FactorSpace, rule: Rule) -> None:
        self.space = space
        self._test = membership(space, rule)
        # As JSON reads it back: a rule never changes, and one from a file equals the one that was written.
        try:
            self.rule: Rule = json.loads(json.dumps(rule))
        except TypeError as error:
            raise InputError(f"a rule is made of plain values: {error}.") from None

    def contains(self, points: Points) -> Mask:
        return self._test(self.space.check(points))

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


def _combine(a: Support, b: Support, operation: Any, word: str) -> Support:
    space = a.space
    if space.finite and space.size <= ENUMERABLE:
        masks = []
        for support in (a, b):
            mask = np.zeros(space.size, dtype=bool)
            mask[space.index(support.explicit().codes)] = True
            masks.append(mask)
        return Explicit(space, space.at(np.flatnonzero(operation(*masks))))
    if word == "all" and isinstance(a, Explicit):
        return Explicit(space, a.codes[b.contains(a.codes)])
    return Region(space, {word: [Region.rule_of(a), Region.rule_of(b)]})


def _spread(seed: int, attempt: int) -> int:
    return int(np.random.SeedSequence([seed, attempt]).generate_state(1)[0])
