"""Options as they can be pasted, into a shell or a call in Python, whatever columns and levels are called."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

PYTHON = {"block": "blocks"}
"""Options that have another name in Python, where it is not that with _ for -."""


def option(name: str, *parts: str) -> str:
    """``--factors 'a,"b, c"'``: a list stands between commas, and a part that holds one, or a quote, in double quotes;
    what the shell would read is quoted for it. A value that begins as an option does is joined by a sign."""
    value = ",".join(map(_listed, parts))
    return f"--{name}{'=' if value.startswith('-') else ' '}{shlex.quote(value)}"


def single(name: str, value: str) -> str:
    """The same of an option that takes one name, which is not read as a list: ``--weights 'b, c'``."""
    return f"--{name}{'=' if value.startswith('-') else ' '}{shlex.quote(value)}"


def hint(name: str, *parts: str) -> str:
    """The option, and beside it the argument in Python: ``--block day (blocks='day')``."""
    return f"{option(name, *parts)} ({argument(name, parts)})"


def chosen(name: str, value: str | int | bool) -> str:
    """The same of an option that takes one value, or none: ``--order 2 (order=2)``, ``--grid (grid=True)``."""
    return f"{f'--{name}' if value is True else single(name, str(value))} ({argument(name, value)})"


def mapped(name: str, values: Mapping[str, Any]) -> str:
    """The same of levels or numbers by column: ``--bins run=4 (bins={'run': 4})``."""
    texts = [f"{column}={value}" for column, value in values.items()]
    return f"{option(name, *texts)} ({argument(name, dict(values))})"


def excluded(records: Sequence[Mapping[str, Any]], more: str = "") -> str:
    """The same of combinations that are left out, and of those that are not named."""
    options = " ".join(option("exclude", *(f"{name}={level}" for name, level in r.items())) for r in records)
    return f"{options}{more} ({argument('exclude', [dict(record) for record in records])})"


def argument(name: str, value: Any) -> str:
    """``blocks=['a, b']``: an argument in Python; of names several, or one with a comma, are a list."""
    if isinstance(value, tuple):
        one = len(value) == 1 and "," not in value[0] and value[0] == value[0].strip()
        value = value[0] if one else list(value)
    return f"{PYTHON.get(name, name.replace('-', '_'))}={value!r}"


def _listed(part: str) -> str:
    quotes = part.replace('"', '""')
    return f'"{quotes}"' if any(sign in part for sign in ',"\r\n') or part != part.strip() else part
