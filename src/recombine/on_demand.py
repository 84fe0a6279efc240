"""Names of a package that are looked up when they are first used, so that nobody waits for what he does not use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def on_demand(
    package: str, where: Mapping[str, Sequence[str]], modules: Sequence[str] = (), own: Sequence[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package: which names come from which of its modules, which
    ``modules`` are names themselves, and which names it has of its ``own``."""
    module_of = {name: module for module, names in where.items() for name in names}
    known = sorted([*own, *module_of, *modules])

    def look_up(name: str) -> Any:
        if name in module_of:
            return getattr(import_module(f"{package}.{module_of[name]}"), name)
        if name in modules:
            return import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return look_up, lambda: list(known), known
