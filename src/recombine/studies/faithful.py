"""How far our runs are from the paper's: steps, members, data and size, each as a share of the paper's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

RESPECTS = ("steps", "members", "data", "size")
WORDS = {
    "side": "pixels along a side", "learn": "problems to learn from", "samples": "pictures",
    "per_class": "pictures per class", "batch_size": "examples in a batch",
}  # fmt: skip
"""What fields of descriptions are called on a page, where their name alone does not say it."""


@dataclass(frozen=True)
class Shares:
    """Ours over the paper's; None where the paper does not say, or the question is ours."""

    steps: float | None = None
    members: float | None = None
    data: float | None = None
    size: float | None = None
    called: Mapping[str, str] = field(default_factory=dict, compare=False)
    """What is counted as data and size, where it has a name of its own: width, side …"""

    @classmethod
    def least(cls, of: Sequence[Shares]) -> Shares:
        """The smallest of several runs in each respect: what a claim that rests on all of them is worth."""
        said = {name: [(value, s.called.get(name, "")) for s in of if (value := getattr(s, name)) is not None]
                for name in RESPECTS}  # fmt: skip
        least = {name: min(values) for name, values in said.items() if values}
        called = {name: word for name, (_, word) in least.items() if word}
        return cls(**{name: value for name, (value, _) in least.items()}, called=called)

    def to_dict(self) -> dict[str, float]:
        found = {name: getattr(self, name) for name in RESPECTS}
        return {name: float(f"{value:.3g}") for name, value in found.items() if value is not None}

    def __str__(self) -> str:
        """In words, such as “.26 % of the paper's steps, 60 % of its size (width)”; empty where nothing is known."""
        named = {name: f"{name} ({word})" for name, word in self.called.items()}
        told = [f"{_share(value)} its {named.get(name, name)}" for name, value in self.to_dict().items()]
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
        found, called = {}, {}
        for name in (respect.name for respect in fields(self)):
            place = getattr(self, name)
            if place is not None:
                path, paper = place if isinstance(place, tuple) else (name, place)
                found[name] = (path(run) if callable(path) else _number(run, path)) / paper
                word = path.__name__ if callable(path) else path.rpartition(".")[2]
                if name in ("data", "size") and word.isidentifier():
                    called[name] = WORDS.get(word, word.replace("_", " "))
        return Shares(**found, called=called)


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
