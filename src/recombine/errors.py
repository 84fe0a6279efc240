"""What a person is told when something they gave us cannot be used."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class InputError(ValueError):
    """Bad input, said in one sentence: what was wrong, where, and what to do. The command line exits with 2."""


def unknown(kind: str, name: object, known: Iterable[object]) -> InputError:
    """An error for a name that does not exist, with the nearest one that does."""
    names = [str(k) for k in known]
    close = difflib.get_close_matches(str(name), names, n=1, cutoff=0.5)
    shown = ", ".join(names[:12]) + (" …" if len(names) > 12 else "")
    hint = f"did you mean {close[0]!r}?" if close else f"there are: {shown}." if names else "there are none."
    return InputError(f"unknown {kind} {_short(name)!r}; {hint}")


def _short(name: object, limit: int = 80) -> str:
    text = str(name)
    return text if len(text) <= limit else text[:limit] + "…"
