"""The splits of SCAN by rule: which commands train, how often, and which are asked.

Each rule gives exactly the published files (brendenlake/SCAN) as sets; those were checked once and their counts are
tested. The published "simple" split is a random draw and cannot be derived: ours is our own draw, seeded.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from recombine.errors import unknown
from recombine.tasks.draws import Draws
from recombine.tasks.scan.grammar import ACTIONS, commands, interpret

OVERSAMPLED = 0.1
"""The one command with the new primitive is repeated until it is this share of the training set."""


@dataclass(frozen=True)
class Split:
    """Training commands with repetitions, and test commands."""

    train: tuple[str, ...]
    test: tuple[str, ...]


def simple(seed: int = 0) -> Split:
    """80 : 20 at random. Our own draw, not the published one."""
    everything = commands()
    order = Draws.single(seed, "scan simple")("order").uniform((len(everything),)).argsort().tolist()
    cut = round(0.8 * len(everything))
    return Split(*(tuple(everything[i] for i in sorted(part)) for part in (order[:cut], order[cut:])))


def length(seed: int = 0) -> Split:
    """Train on commands of at most 22 actions, test on longer ones."""
    return _divide(lambda c: len(interpret(c)) > 22)


def jump(seed: int = 0) -> Split:
    """Train without "jump" but for the command "jump" itself; test on every other command that has it."""
    return _add_primitive("jump", lambda c: "jump" in c.split())


def turn_left(seed: int = 0) -> Split:
    """The same for the phrase "turn left"; "turn opposite left" and "turn around left" stay in training."""
    return _add_primitive("turn left", lambda c: "turn left" in c)


def _template(template: str, asked: str = "|".join(ACTIONS)) -> Callable[[int], Split]:
    """Test on an action with the template; commands that turn by it are left out of both sides."""

    def split(seed: int = 0) -> Split:
        held = re.compile(rf"\b(?:{asked}) {template}\b")
        return _divide(lambda c: bool(held.search(c)), lambda c: f"turn {template}" not in c)

    split.__doc__ = (
        f"Test on commands with “{'jump' if asked == 'jump' else '(action)'} {template}”, train on the rest."
    )
    return split


def _filler(known: tuple[str, ...]) -> Callable[[int], Split]:
    """Test on "jump around right"; of the other actions only ``known`` are shown with "around right"."""

    def split(seed: int = 0) -> Split:
        actor = re.compile(rf"\b({'|'.join(ACTIONS)}) around right\b")
        allowed = [c for c in commands() if "turn around right" not in c]
        train = tuple(c for c in allowed if set(actor.findall(c)) <= set(known))
        return Split(train, tuple(c for c in allowed if "jump around right" in c))

    split.__doc__ = f"Test on “jump around right”; of the other actions {len(known)} are shown with “around right”."
    return split


SPLITS: dict[str, Callable[[int], Split]] = {
    "simple": simple,
    "length": length,
    "jump": jump,
    "turn_left": turn_left,
    "around_right": _template("around right"),
    "opposite_right": _template("opposite right"),
    "right": _template("right"),
    "jump_around_right": _template("around right", "jump"),
    "filler_0": _filler(()),
    "filler_1": _filler(("look",)),
    "filler_2": _filler(("look", "walk")),
    "filler_3": _filler(("look", "walk", "run")),
}


def find_split(name: str, seed: int = 0) -> Split:
    """The split of that name; an unknown one is an error that names the nearest."""
    if name not in SPLITS:
        raise unknown("split of SCAN", name, SPLITS)
    return SPLITS[name](seed)


def _divide(asked: Callable[[str], bool], allowed: Callable[[str], bool] = lambda c: True) -> Split:
    kept = [c for c in commands() if allowed(c)]
    return Split(tuple(c for c in kept if not asked(c)), tuple(c for c in kept if asked(c)))


def oversample(train: tuple[str, ...]) -> tuple[str, ...]:
    """The commands that are there more than once, repeated until they are a tenth of the set; none where there are
    none."""
    count = Counter(train)
    once, often = [c for c in count if count[c] == 1], [c for c in count if count[c] > 1]
    repeats = round(len(once) * OVERSAMPLED / (1 - OVERSAMPLED) / len(often)) if often else 0
    return (*once, *(c for c in often for _ in range(max(repeats, 1))))


def _add_primitive(alone: str, has: Callable[[str], bool]) -> Split:
    parts = _divide(has)
    return Split(oversample((*parts.train, alone, alone)), tuple(c for c in parts.test if c != alone))
