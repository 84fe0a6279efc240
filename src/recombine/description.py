"""A frozen description: plain values that say completely what is to be computed. Its hash is its address."""

from __future__ import annotations

import hashlib
import json
import math
from functools import cached_property
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, ValidationError

from recombine.errors import InputError, unknown
from recombine.identity import identity, is_library


class Description(BaseModel):
    """Base of everything that is described before it is made: tasks, models, optimisers, runs.

    ``kind`` names the class in the hash; ``version`` is raised when the same fields come to mean another computation.
    A class of somebody's own that states no version is hashed with its code.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    kind: ClassVar[str]
    version: ClassVar[int] = 1

    def __init__(self, **fields: Any) -> None:
        if not hasattr(type(self), "kind"):
            raise InputError(f"{type(self).__name__} without a kind describes nothing.")
        extra = [name for name in fields if name not in type(self).model_fields]
        if extra:
            raise unknown(f"setting of {type(self).__name__}", extra[0], type(self).model_fields)
        try:
            super().__init__(**fields)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or "a field"
            raise InputError(
                f"{type(self).__name__}: {where}: {first['msg']} (got {str(first['input'])[:80]!r})."
            ) from None

    def describe(self) -> dict[str, Any]:
        """What makes this description different, as JSON values: kind, version and every field not at its default.

        Defaults are left out so that a setting added later does not change the address of what was computed before
        it existed; a default whose meaning changes takes a new ``version``."""
        return self._plain_fields(resolved=False)

    def resolved(self) -> dict[str, Any]:
        """Every field, defaults included, as JSON values."""
        return self._plain_fields(resolved=True)

    def _plain_fields(self, resolved: bool) -> dict[str, Any]:
        fields = {}
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            if resolved or field.is_required() or value != field.get_default(call_default_factory=True):
                fields[name] = _plain(value, resolved)
        return {"kind": self.kind, "version": self.version, **self._code(), **fields}

    def _code(self) -> dict[str, str]:
        """What stands for a version where none is stated: the code, in words that no field is called by."""
        # Wherever pydantic lies, its classes are nobody's own.
        above = [one for one in type(self).__mro__ if one not in BaseModel.__mro__]
        own = [one for one in above if not is_library(one.__module__)]
        stated = any("version" in vars(one) for one in own)
        return {"its code": identity(type(self))} if own and not stated else {}

    @cached_property
    def address(self) -> str:
        """SHA-256 of the canonical JSON of the description."""
        text = json.dumps(self.describe(), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def replace(self, **changes: Any) -> Any:
        """A copy with some fields changed, checked like a new one."""
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self)(**(fields | changes))


def _plain(value: Any, resolved: bool) -> Any:
    # Numbers and texts first: there are many, and whether something is a description is a slow question.
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InputError(f"{value} cannot be part of a description; leave the setting out or give a finite number.")
        # 1 and 1.0 describe the same computation, so they must have the same address.
        return int(value) if value.is_integer() else value
    if isinstance(value, (list, tuple)):
        return [_plain(inner, resolved) for inner in value]
    if isinstance(value, dict):
        return {str(key): _plain(inner, resolved) for key, inner in value.items()}
    if isinstance(value, Description):
        return value.resolved() if resolved else value.describe()
    to_dict = getattr(value, "to_dict", None)
    if to_dict is not None:
        return _plain(to_dict(), resolved)
    raise InputError(f"a {type(value).__name__} cannot be part of a description.")
