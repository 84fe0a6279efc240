"""Options of the command line as they can be pasted into a shell, whatever columns and levels are called."""

from __future__ import annotations

import shlex


def option(name: str, *parts: str) -> str:
    """``--factors 'a,"b, c"'``: a list stands between commas, and a part that holds one, or a quote, in double quotes;
    what the shell would read is quoted for it. A value that begins as an option does is joined by a sign."""
    value = ",".join(map(_listed, parts))
    return f"--{name}{'=' if value.startswith('-') else ' '}{shlex.quote(value)}"


def single(name: str, value: str) -> str:
    """The same of an option that takes one name, which is not read as a list: ``--weights 'b, c'``."""
    return f"--{name}{'=' if value.startswith('-') else ' '}{shlex.quote(value)}"


def _listed(part: str) -> str:
    quotes = part.replace('"', '""')
    return f'"{quotes}"' if any(sign in part for sign in ',"\r\n') or part != part.strip() else part
