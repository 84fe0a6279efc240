"""A support as a JSON file that proves itself: the combination list and its SHA-256, checked when it is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from recombine.errors import InputError
from recombine.space import FactorSpace
from recombine.support._planes import placed_from
from recombine.support.rules import rows_of
from recombine.support.support import Explicit, Region, Support

SCHEMA = 1


def save_manifest(support: Support, path: str | Path, reason: str = "") -> Path:
    """Write a support; ``reason`` says why these combinations were chosen."""
    data: dict[str, Any] = {"schema": SCHEMA, "reason": reason}
    if isinstance(support, Explicit):
        data |= {"count": len(support), "sha256": support.sha256(), **support.to_dict()}
    elif isinstance(support, Region):
        data |= support.to_dict()
    else:
        raise InputError(f"a {type(support).__name__} has no manifest.")
    path = Path(path)
    path.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")
    return path


def load_manifest(path: str | Path) -> Support:
    """Read a support back; a list that does not match its SHA-256 is refused."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"there is no manifest at {str(path)!r}.") from None
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"the manifest {str(path)!r} cannot be read: {error}.") from None
    if not isinstance(data, dict) or data.get("schema") != SCHEMA or "space" not in data:
        raise InputError(f"{str(path)!r} is not a support manifest of schema {SCHEMA}.")
    try:
        space = FactorSpace.from_dict(data["space"])
        if "mixture" in data or "band" in data:
            return placed_from(space, data)
        if "rule" in data:
            return Region(space, data["rule"])
        support = Explicit(space, rows_of(data.get("combinations")))
    except (InputError, RecursionError) as error:
        raise InputError(f"the manifest {str(path)!r} cannot be used: {error}") from None
    if support.sha256() != data.get("sha256"):
        raise InputError(f"the manifest {str(path)!r} was changed: its combination list does not match its SHA-256.")
    return support
