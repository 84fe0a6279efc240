"""How far our runs are from the paper's: steps, members, data and size, each as a share of the paper's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Shares:
    """Ours over the paper's; None where the paper does not say, or the question is ours."""

    steps: float | None = None
    members: float | None = None
    data: float | None = None
    size: float | None = None

    @classmethod
    def least(cls, of: Sequence[Shares]) -> Shares:
        """The smallest of several runs in each respect: what a claim that rests on all of them is worth."""
        columns = {f.name: [v for s in of if (v := getattr(s, f.name)) is not None] for f in fields(cls)}
        return cls(**{name: min(values) if values else None for name, values in columns.items()})

    def to_dict(self) -> dict[str, float]:
        found = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: float(f"{value:.3g}") for name, value in found.items() if value is not None}

    def __str__(self) -> str:
        """In words, such as “.26 % of the paper's steps, 60 % of its members”; empty where nothing is known."""
        told = [f"{_share(value)} its {name}" for name, value in self.to_dict().items()]
        return ", ".join(told).replace("its", "the paper's", 1)


Place = float | tuple[str | Callable[[Any], float], float]
"""A number of the paper's, and where a description has ours: under the same name, unless a path says otherwise, or a
function that works it out."""


@dataclass(frozen=True)
class Faithful:
    """The paper's own setting of a run: ``Faithful(steps=15_700, members=10, size=("model.width", 1000))``."""

    steps: Place | None = None
    members: Place | None = None
    data: Place | None = None
    size: Place | None = None

    def shares(self, run: Any) -> Shares:
        """Worked out from the description of a run."""
        found = {}
        for field in fields(self):
            place = getattr(self, field.name)
            if place is not None:
                path, paper = place if isinstance(place, tuple) else (field.name, place)
                found[field.name] = (path(run) if callable(path) else _number(run, path)) / paper
        return Shares(**found)


def _number(run: Any, path: str) -> float:
    """A number that a description holds; of a list, how many there are."""
    value = run
    for name in path.split("."):
        value = getattr(value, name)
    return float(len(value)) if isinstance(value, (tuple, list)) else float(value)


def _share(share: float) -> str:
    if share >= 2:
        return f"{share:.2g} times"
    text = f"{100 * share:.2g}" if share < 0.1 else f"{100 * share:.0f}"
    return f"{text.removeprefix('0')} % of"
