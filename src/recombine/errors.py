"""What a person is told when something they gave us cannot be used."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

MAX_ROWS = 100_000_000
MAX_BYTES = 16 * 2**30
"""What the command line reads of one file unless it is told otherwise; more is refused before it is expanded."""


class InputError(ValueError):
    """Bad input, said in one sentence: what was wrong, where, and what to do. The command line exits with 2.

    Examples:
        >>> import recombine as rc
        >>> rc.check({"a": ["x"]}, factors=["colour"])
        Traceback (most recent call last):
        recombine.errors.InputError: ...
    """


class NoPlan(InputError):
    """Why no rows can be planned for this table, in one sentence: what was found of it stands."""


def unknown(kind: str, name: object, known: Iterable[object]) -> InputError:
    """An error for a name that does not exist, with the nearest one that does."""
    names = [_short(k) for k in known]
    close = difflib.get_close_matches(_short(name), names, n=1, cutoff=0.5)
    shown = ", ".join(names[:12]) + (" …" if len(names) > 12 else "")
    hint = f"did you mean {close[0]!r}?" if close else f"there are: {shown}." if names else "there are none."
    return InputError(f"unknown {kind} {_short(name)!r}; {hint}")


def refuse_pickle(path: Path) -> None:
    """Raise where a file begins as a pickle does, bare or in torch's zip: opening one runs whatever it says."""
    try:
        with path.open("rb") as file:
            head = file.read(128)
    except OSError:
        return  # Whoever opens it next says why it cannot be read.
    # The length that a safetensors file begins with may read as a pickle's first bytes; its header then tells.
    bare = head[:1] == b"\x80" and head[1:2] in b"\2\3\4\5" and head[8:9] != b"{"
    if bare or (head[:4] == b"PK\3\4" and b"/data.pkl" in head):
        raise InputError(
            f"{str(path)!r} is a pickle, which can run any program when it is opened, and is not read: save weights "
            "as safetensors (recombine.structure.save_model), tables as CSV or Parquet."
        )


def _short(name: object, limit: int = 80) -> str:
    text = str(name)
    return text if len(text) <= limit else text[:limit] + "…"
