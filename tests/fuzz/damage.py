"""What fuzzed files are made of: bytes that were something once, and JSON that is almost what is read."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hypothesis import strategies as st

SCALARS: st.SearchStrategy[Any] = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 12), st.integers(), st.floats(), st.text(max_size=8),
    st.sampled_from([2**31, 2**63, 2**64, -(2**63), 10**30]),
    st.sampled_from(["", "a", "x", "number", "\0", "../x", "\u202e", "=1+1", "NaN", "1e999", "a" * 300]),
)  # fmt: skip
JSON: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


OUTCOMES: Counter[str] = Counter()
"""How often something was read and how often it was refused, since a test cleared it."""


@contextmanager
def or_refused(*kinds: type[Exception]) -> Iterator[None]:
    """What is done may be refused with one of these errors, and a reason; any other error is a finding."""
    try:
        yield
        OUTCOMES["read"] += 1
    except kinds as error:
        OUTCOMES["refused"] += 1
        if not str(error).strip():
            raise AssertionError("refused without a reason") from error


@st.composite
def mutated(draw: st.DrawFn, whole: bytes) -> bytes:
    """Bytes with some of them flipped, cut out, doubled, exchanged or added."""
    data = bytearray(whole)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        length = draw(st.integers(1, 40))
        match draw(st.sampled_from(("flip", "set", "cut", "double", "add", "end"))):
            case "flip" if data:
                data[at] ^= 1 << draw(st.integers(0, 7))
            case "set" if data:
                data[at] = draw(st.sampled_from((0, 1, 0x22, 0x2C, 0x7F, 0x80, 0xFF)))
            case "cut":
                del data[at : at + length]
            case "double":
                data[at:at] = data[at : at + length]
            case "add":
                data[at:at] = draw(st.binary(max_size=12))
            case "end":
                del data[at:]
    return bytes(data)


@st.composite
def altered(draw: st.DrawFn, value: Any) -> Any:
    """A JSON value with one or two of its parts exchanged, left out or added."""
    made = json.loads(json.dumps(value))
    for _ in range(draw(st.integers(1, 2))):
        made = _alter(draw, made)
    return made


def _alter(draw: st.DrawFn, value: Any) -> Any:
    if isinstance(value, dict) and value and draw(st.integers(0, 5)):
        key = draw(st.sampled_from(sorted(value)))
        match draw(st.sampled_from(("inside", "inside", "inside", "drop", "more"))):
            case "drop":
                return {k: v for k, v in value.items() if k != key}
            case "more":
                return value | {draw(st.text(max_size=6)): draw(JSON)}
            case _:
                return value | {key: _alter(draw, value[key])}
    if isinstance(value, list) and value and draw(st.integers(0, 4)):
        at = draw(st.integers(0, len(value) - 1))
        return [*value[:at], _alter(draw, value[at]), *value[at + 1 :]]
    return draw(JSON)
