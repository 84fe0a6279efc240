"""The splits of SCAN by rule: which commands train, how often, and which are asked.

Each rule gives exactly the published files (brendenlake/SCAN) as sets; those were checked once and their counts are
tested. The published "simple" split is a random draw and cannot be derived: ours is our own draw, seeded. The splits of
maximal compound divergence (Keysers et al. 2020) are read from their official index files.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from recombine.errors import InputError, unknown
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


def read_mcd(index: str | Path, tasks: str | Path) -> Split:
    """An official MCD split: ``index`` its JSON file, ``tasks`` the file SCAN/tasks.txt that the indices number line by
    line, from 0. Every line is checked against the grammar and the interpreter.

    Keys are matched by prefix, whatever their case: one that begins with "train" and one that begins with "test"
    (trainIdxs and testIdxs, train_indices, Train …). Others, such as devIdxs, are not used."""
    try:
        chosen = json.loads(Path(index).read_text(encoding="utf-8"))
        lines = Path(tasks).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise InputError(f"the MCD split cannot be read: {error}.") from None
    parts = [_numbers(chosen, part, str(index)) for part in ("train", "test")]
    found = [_read_line(number, line) for number, line in enumerate(lines, 1)]
    for number in (i for part in parts for i in part):
        if not 0 <= number < len(found):
            raise InputError(f"{str(index)!r} does not number lines of {str(tasks)!r}: there is no line {number}.")
    train, test = (tuple(found[i] for i in part) for part in parts)
    if shared := set(train) & set(test):
        raise InputError(f"{str(index)!r} has {min(shared)!r} on both sides; training and test must be apart.")
    return Split(train, test)


def _numbers(chosen: object, part: str, where: str) -> list[int]:
    """The line numbers under the one key that begins with ``part``."""
    if not isinstance(chosen, dict):
        raise InputError(f"{where!r} is no MCD split: a JSON object is needed, found a {type(chosen).__name__}.")
    keys = [key for key in chosen if key.lower().startswith(part)]
    if len(keys) != 1:
        held = ", ".join(repr(key) for key in chosen) or "none"
        raise InputError(
            f"{where!r} must have one key that begins with {part!r}, such as {part}Idxs; its keys: {held}."
        )
    numbers = chosen[keys[0]]
    # A bool is an int to Python; in a list of lines it is a mistake.
    if not isinstance(numbers, list) or not all(type(number) is int for number in numbers):
        raise InputError(f"{where!r} must have a list of line numbers under {keys[0]!r}.")
    return numbers


def _read_line(number: int, line: str) -> str:
    match = re.fullmatch(r"IN: (.+) OUT: (.+)", line.strip())
    if match is None:
        raise InputError(f"line {number} of the SCAN file is not 'IN: … OUT: …': {line[:80]!r}.")
    command, answer = match[1], tuple(match[2].split())
    if interpret(command) != answer:
        raise InputError(f"line {number} of the SCAN file gives {command!r} another meaning than the grammar.")
    return command


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
