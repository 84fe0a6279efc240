"""SCAN (Lake & Baroni 2018): every command of its grammar, and the actions each one means.

C → S and S | S after S | S;  S → V twice | V thrice | V;  V → U | D | (U or turn) opposite/around (left or right);
D → (U or turn) (left or right);  U → walk | look | run | jump. 34 verbs, 102 sentences, 102 + 2·102² = 20 910 commands.
A *frame* is a command whose action words are left open ("? left twice and ?"): the syntax without the semantics.
"""

from __future__ import annotations

from functools import cache
from itertools import product

from recombine.errors import InputError, unknown

ACTIONS = ("walk", "look", "run", "jump")
WORDS = (*ACTIONS, "turn", "left", "right", "opposite", "around", "twice", "thrice", "and", "after")
SIDES = ("left", "right")
MANNERS = ("opposite", "around")
TIMES = {"twice": 2, "thrice": 3}
JOINTS = ("and", "after")
OPEN = "?"

OUTPUTS = (*(f"I_{action.upper()}" for action in ACTIONS), "I_TURN_LEFT", "I_TURN_RIGHT")
LONGEST_ANSWER = 48


@cache
def frames() -> tuple[str, ...]:
    """All 3 081 frames, in the order of the grammar: 39 sentences, then their pairs joined by "and" and by "after"."""
    turned = [f"{head} {side}" for head in (OPEN, "turn") for side in SIDES]
    manners = [f"{head} {manner} {side}" for manner in MANNERS for head in (OPEN, "turn") for side in SIDES]
    sentences = [f"{verb}{times}" for times in ("", " twice", " thrice") for verb in (OPEN, *turned, *manners)]
    pairs = [f"{a} {joint} {b}" for joint, a, b in product(JOINTS, sentences, sentences)]
    return (*sentences, *pairs)


@cache
def commands() -> tuple[str, ...]:
    """All 20 910 commands, frame by frame."""
    return tuple(fill(frame, words) for frame in frames() for words in product(ACTIONS, repeat=frame.count(OPEN)))


def fill(frame: str, words: tuple[str, ...]) -> str:
    """The command of a frame: its open places filled with action words, in order."""
    for word in words:
        frame = frame.replace(OPEN, word, 1)
    return frame


def frame_of(command: str) -> tuple[str, tuple[str, ...]]:
    """The frame of a command and the action words that fill it."""
    words = command.split()
    filled = tuple(word for word in words if word in ACTIONS)
    return " ".join(OPEN if word in ACTIONS else word for word in words), filled


def interpret(command: str) -> tuple[str, ...]:
    """The actions that a command means: ``interpret("jump left twice")`` is turn, jump, turn, jump.

    "x and y" is x then y, "x after y" is y then x. An open place is kept as it is."""
    words = command.split()
    if not words:
        raise InputError("an empty command means nothing; a SCAN command has at least one word.")
    for word in words:
        if word not in WORDS and word != OPEN:
            raise unknown("word of SCAN", word, WORDS)
    joints = [i for i, word in enumerate(words) if word in JOINTS]
    if len(joints) > 1:
        raise _malformed(command, "it has more than one 'and' or 'after'")
    if not joints:
        return _sentence(words, command)
    first, second = _sentence(words[: joints[0]], command), _sentence(words[joints[0] + 1 :], command)
    return first + second if words[joints[0]] == "and" else second + first


def _sentence(words: list[str], command: str) -> tuple[str, ...]:
    if not words:
        raise _malformed(command, "'and' and 'after' need something on both sides")
    times = TIMES.get(words[-1], 1)
    return _verb(words[:-1] if times > 1 else words, command) * times


def _verb(words: list[str], command: str) -> tuple[str, ...]:
    if not words or words[0] not in (*ACTIONS, OPEN, "turn"):
        raise _malformed(
            command, f"{' '.join(words[:1]) or 'a repetition'!r} stands where an action or 'turn' is needed"
        )
    head, rest = words[0], words[1:]
    action = () if head == "turn" else (head if head == OPEN else f"I_{head.upper()}",)
    if not rest and action:
        return action
    if not rest or rest[-1] not in SIDES or len(rest) > 2 or (len(rest) == 2 and rest[0] not in MANNERS):
        raise _malformed(command, f"{' '.join(words)!r} is no action with a direction")
    turn = (f"I_TURN_{rest[-1].upper()}",)
    if len(rest) == 1:
        return turn + action
    return turn + turn + action if rest[0] == "opposite" else (turn + action) * 4


def _malformed(command: str, why: str) -> InputError:
    return InputError(f"{command[:80]!r} is no SCAN command: {why}.")
