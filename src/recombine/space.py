"""What can vary: named factors, categorical or continuous, grouped into the components that are recombined.

A *point* is a row with one number per factor: the code of a level (categorical) or a value (continuous). Codes are the
currency of the whole package; levels are what people see.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recombine.errors import InputError, unknown

Level = str | int | float | bool
Codes = NDArray[np.int64]
Points = NDArray[Any]

LARGEST_INDEX = 2**63 - 1


@dataclass(frozen=True)
class Factor:
    """One thing that varies: either ``levels`` (categorical) or a range ``low`` … ``high`` (continuous).

    Examples:
        >>> Factor("colour", levels=("red", "blue")).code("blue")
        1
    """

    name: str
    levels: tuple[Level, ...] | None = None
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name or not _writable(self.name):
            raise InputError(f"a factor needs a name that is a non-empty text, got {self.name!r}.")
        if self.levels is not None:
            object.__setattr__(self, "levels", tuple(self.levels))
            self._check_levels(self.levels)
        elif self.low is None or self.high is None:
            raise InputError(f"factor {self.name!r} needs levels, or both low and high.")
        elif not (_finite(self.low) and _finite(self.high) and self.low < self.high):
            raise InputError(
                f"factor {self.name!r} needs a finite range with low < high, got {self.low} … {self.high}."
            )

    def _check_levels(self, levels: tuple[Level, ...]) -> None:
        if self.low is not None or self.high is not None:
            raise InputError(f"factor {self.name!r} has both levels and a range; give one of them.")
        if not levels:
            raise InputError(f"factor {self.name!r} has no levels.")
        for level in levels:
            if not (_writable(level) if isinstance(level, str) else _finite(level)):
                raise InputError(
                    f"factor {self.name!r} has the level {level!r}; levels are texts, numbers or booleans."
                )
        if len(set(levels)) != len(levels):
            twice = next(level for i, level in enumerate(levels) if level in levels[:i])
            raise InputError(f"factor {self.name!r} has the level {twice!r} twice.")

    @property
    def categorical(self) -> bool:
        return self.levels is not None

    @cached_property
    def _codes(self) -> dict[Level, int]:
        return {level: code for code, level in enumerate(self.levels or ())}

    def __len__(self) -> int:
        if self.levels is None:
            raise InputError(f"factor {self.name!r} is continuous and has no number of levels.")
        return len(self.levels)

    def code(self, level: Level) -> int:
        """The code of a level; a level that does not exist is an error that names the nearest."""
        try:
            return self._codes[level]
        except (KeyError, TypeError):
            raise unknown(f"level of factor {self.name!r}", level, self.levels or ()) from None

    def to_dict(self) -> dict[str, Any]:
        if self.levels is not None:
            return {"name": self.name, "levels": list(self.levels)}
        return {"name": self.name, "low": self.low, "high": self.high}


def categorical(name: str, levels: int | Iterable[Level]) -> Factor:
    """A factor with the given levels; a number n stands for the levels 0 … n − 1.

    Examples:
        >>> categorical("shape", ["disc", "square"]).levels
        ('disc', 'square')
        >>> categorical("digit", 3).levels
        (0, 1, 2)
    """
    if isinstance(levels, (str, bytes, bool)) or not isinstance(levels, (int, Iterable)):
        raise InputError(f"factor {name!r} needs a list of levels or their number, got {levels!r}.")
    return Factor(name, tuple(range(levels)) if isinstance(levels, int) else tuple(levels))


def continuous(name: str, low: float = 0.0, high: float = 1.0) -> Factor:
    """A factor with any value from ``low`` to ``high``.

    Examples:
        >>> continuous("x", -1, 1)
        Factor(name='x', levels=None, low=-1.0, high=1.0)
    """
    return Factor(name, None, float(low), float(high))


@dataclass(frozen=True)
class FactorSpace:
    """Named factors and their grouping into components (blocks recombined as wholes; by default each factor alone).

    Examples:
        >>> space = FactorSpace.of(shape=["disc", "square"], colour=["red", "blue", "green"])
        >>> print(space)
        shape (2) × colour (3) = 6 combinations
        >>> space.size
        6
    """

    factors: tuple[Factor, ...]
    components: tuple[tuple[str, ...], ...] = field(default=())

    def __post_init__(self) -> None:
        object.__setattr__(self, "factors", tuple(self.factors))
        if not self.factors:
            raise InputError("a factor space needs at least one factor.")
        for i, name in enumerate(self.names):
            if name in self.names[:i]:
                raise InputError(f"two factors are called {name!r}.")
        blocks = tuple(tuple(b) for b in self.components) or tuple((n,) for n in self.names)
        object.__setattr__(self, "components", blocks)
        grouped = [name for block in blocks for name in block]
        for name in grouped:
            if name not in self.names:
                raise unknown("factor", name, self.names)
        if sorted(grouped) != sorted(self.names):
            raise InputError("components must hold each factor exactly once.")

    @classmethod
    def of(cls, components: Sequence[Sequence[str]] = (), /, **factors: int | Iterable[Level]) -> FactorSpace:
        """``FactorSpace.of(shape=["disc", "square"], size=4)``: each keyword a categorical factor."""
        return cls(tuple(categorical(n, v) for n, v in factors.items()), tuple(tuple(c) for c in components))

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(f.name for f in self.factors)

    def __len__(self) -> int:
        return len(self.factors)

    def __getitem__(self, name: str) -> Factor:
        return self.factors[self.position(name)]

    def position(self, name: str) -> int:
        """The column of a factor; an unknown name is an error that names the nearest."""
        if name not in self.names:
            raise unknown("factor", name, self.names)
        return self.names.index(name)

    @cached_property
    def finite(self) -> bool:
        return all(f.categorical for f in self.factors)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of levels of each factor."""
        return tuple(len(f) for f in self.factors)

    @cached_property
    def size(self) -> int:
        """The number of combinations, exact however large."""
        return math.prod(self.shape)

    @cached_property
    def _strides(self) -> Codes:
        if self.size > LARGEST_INDEX:
            raise InputError(f"a grid of {about(self.size)} combinations has no 64-bit index; work with codes instead.")
        return np.array([math.prod(self.shape[i + 1 :]) for i in range(len(self))], dtype=np.int64)

    def index(self, codes: Points) -> Codes:
        """The position of each combination in the grid (last factor fastest)."""
        codes = self.check(codes)
        return np.asarray(codes @ self._strides, dtype=np.int64)

    def at(self, index: Iterable[int] | Codes) -> Codes:
        """The combinations (n × factors) at the given positions of the grid."""
        index = np.asarray(index, dtype=np.int64)
        if index.size and (index.min() < 0 or index.max() >= self.size):
            wrong = int(index.min() if index.min() < 0 else index.max())
            raise InputError(f"a grid of {about(self.size)} combinations has no position {wrong}.")
        return (index[..., None] // self._strides) % np.asarray(self.shape, dtype=np.int64)

    def grid(self, start: int = 0, stop: int | None = None) -> Codes:
        """The combinations ``start`` … ``stop`` − 1 of the grid; nothing beyond them is made."""
        stop = self.size if stop is None else min(stop, self.size)
        return self.at(np.arange(start, max(start, stop)))

    def grid_chunks(self, chunk_size: int = 65_536) -> Iterator[Codes]:
        """The whole grid, ``chunk_size`` combinations at a time."""
        for start in range(0, self.size, chunk_size):
            yield self.grid(start, start + chunk_size)

    def sample(self, count: int, seed: int) -> Points:
        """``count`` independent uniform points. Codes are whole numbers even where other factors are continuous."""
        if count < 0 or seed < 0:
            raise InputError(f"a sample has 0 or more points and a seed of 0 or more, got {count} and {seed}.")
        rng = np.random.default_rng(seed)
        columns = [
            rng.integers(len(f.levels), size=count) if f.levels is not None else rng.uniform(f.low, f.high, size=count)  # type: ignore[arg-type]
            for f in self.factors
        ]
        return np.stack(columns, axis=1) if count else np.empty((0, len(self)), np.int64 if self.finite else np.float64)

    def check(self, points: Points | Sequence[Sequence[float]]) -> Points:
        """The points as an array, after making sure that each lies in this space."""
        try:
            points = np.asarray(points)
        except ValueError:
            raise InputError(f"points here are rows of {len(self)} numbers, got rows of other lengths.") from None
        if points.ndim == 1 and points.size == 0:
            points = points.reshape(0, len(self)).astype(np.int64)
        if points.ndim != 2 or points.shape[1] != len(self):
            names = ", ".join(self.names)
            raise InputError(f"points here are rows of {len(self)} numbers ({names}), got shape {points.shape}.")
        if points.dtype.kind not in "biuf":
            raise InputError(f"points of this space are numbers (codes of levels, or values), got {points.dtype}.")
        for column, factor in enumerate(self.factors):
            values = points[:, column]
            low, high = (0, len(factor) - 1) if factor.categorical else (factor.low, factor.high)
            inside = (values >= low) & (values <= high)
            if not inside.all():
                raise InputError(f"factor {factor.name!r} goes from {low} to {high}, got {values[~inside][0]}.")
            if factor.categorical and points.dtype.kind == "f" and (values != np.trunc(values)).any():
                raise InputError(f"codes of levels must be whole numbers; factor {factor.name!r} has others.")
        return points.astype(np.int64, copy=False) if self.finite else points

    def encode(self, combinations: Iterable[Mapping[str, Level]]) -> Points:
        """Points from records such as ``{"shape": "disc", "size": 2}``."""
        if isinstance(combinations, Mapping):
            raise InputError("combinations are a list of records; put a single one in brackets.")
        rows = []
        for record in combinations:
            extra = [name for name in record if name not in self.names]
            if extra:
                raise unknown("factor", extra[0], self.names)
            missing = [name for name in self.names if name not in record]
            if missing:
                raise InputError(f"a combination is missing the factor {missing[0]!r}.")
            rows.append([f.code(record[f.name]) if f.categorical else record[f.name] for f in self.factors])
        return self.check(np.array(rows).reshape(-1, len(self)))

    def decode(self, points: Points) -> list[dict[str, Level]]:
        """Records with level names from points."""
        return [
            {
                f.name: f.levels[int(v)] if f.levels is not None else float(v)
                for f, v in zip(self.factors, row, strict=True)
            }
            for row in self.check(points)
        ]

    def to_dict(self) -> dict[str, Any]:
        return {"factors": [f.to_dict() for f in self.factors], "components": [list(c) for c in self.components]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> FactorSpace:
        try:
            factors = tuple(
                Factor(f["name"], tuple(f["levels"]) if "levels" in f else None, f.get("low"), f.get("high"))
                for f in data["factors"]
            )
            return cls(factors, tuple(tuple(c) for c in data.get("components", ())))
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"this is not the description of a factor space: {type(error).__name__} {error}."
            ) from None

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> FactorSpace:
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError(f"this is not JSON: {error}.") from None
        return cls.from_dict(data)

    def __str__(self) -> str:
        parts = [
            f"{f.name} ({len(f.levels)})" if f.levels is not None else f"{f.name} [{f.low:g}, {f.high:g}]"
            for f in self.factors
        ]
        return " × ".join(parts) + (f" = {about(self.size)} combinations" if self.finite else "")


def in_order(levels: Sequence[Level]) -> list[int]:
    """Places of levels in the order in which people list them: by the numbers in texts (20C before 100C), and as they
    are where a text has none."""
    if not all(isinstance(level, str) and re.search(r"\d", level) for level in levels):
        return list(range(len(levels)))

    def parts(place: int) -> list[tuple[float, str]]:
        found = re.split(r"(\d+(?:\.\d+)?)", str(levels[place]))
        return [(float(part), "") if i % 2 else (-1.0, part) for i, part in enumerate(found)]

    return sorted(range(len(levels)), key=parts)


def quoted(level: Level) -> str:
    """A level inside a sentence: in quotation marks where it would not be read as one word."""
    text = str(level)
    return text if text and not any(sign in text for sign in " ,;:=×") else f"“{text}”"


def about(size: int) -> str:
    """A count for people: exact while it can be read, its order of magnitude beyond."""
    return str(size) if size < 10**15 else f"{size:.2e}" if size < 10**300 else f"about 10^{math.log10(size):.0f}"


def _finite(value: object) -> bool:
    """Whether a value is a number that JSON can hold and that has a place on the line."""
    try:
        return isinstance(value, (int, float)) and math.isfinite(value)
    except OverflowError:
        return False


def _writable(text: str) -> bool:
    """Whether a text can be written to a file: half of a surrogate pair cannot."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)
