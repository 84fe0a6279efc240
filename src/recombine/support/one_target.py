"""A table has one column of answers: what is said where several are named."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from recombine.errors import InputError


def target_name(target: Any) -> Any:
    """The name of the target; of names in a list, all with commas between them."""
    return target if target is None or isinstance(target, str) else ",".join(map(str, target))


def refuse_several(target: str | None, columns: Collection[str]) -> None:
    """An error where the target is none of the ``columns``, but names several of them with commas between."""
    parts = [] if target is None or target in columns else [name.strip() for name in target.split(",")]
    if len(parts) > 1 and {*parts} <= {*columns}:
        named = ", ".join(map(repr, parts[:4])) + ", …" * (len(parts) > 4)
        raise InputError(
            f"the target is one column, and {named} are several; of "
            "one-hot columns give one that names the class, of labels that are yes or no and of several numbers ask "
            "about one at a time. A model with several outputs is measured through a task (rc.FixedTask)."
        )
