"""What a thing computes, as a hash: values and data in full, and the code of whatever is not a library's.

A description has a kind and a version; a person's own function or class has neither, and is edited. So its bytecode is
hashed, with its defaults, what it closes over and the globals it reads, and likewise whatever those are made of. What a
library holds, this package included, is named. Bytecode rather than source: a file may be edited after it was imported,
and another Python computes again rather than being served what it did not compute.
"""

from __future__ import annotations

import dis
import functools
import hashlib
import importlib
import importlib.util
import sys
import sysconfig
import types
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from recombine.errors import InputError

PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), range, slice)
WRAPPED = (property, staticmethod, classmethod, functools.cached_property)
HERE = __name__.partition(".")[0]


def identity(value: Any) -> str:
    """SHA-256 of what ``value`` is and computes: the same in another process, another as soon as a part of it is.

    Caches of ``functools`` do not count; what else an object only remembers, its ``__getstate__`` may leave out."""
    return _Reader().digest(value).hex()


class _Reader:
    def __init__(self) -> None:
        self.known: dict[int, tuple[bytes, Any]] = {}
        self.open: list[int] = []

    def digest(self, value: Any) -> bytes:
        if type(value) in PLAIN:
            return _hash(type(value).__name__, repr(value).encode())
        mark = id(value)
        if mark in self.known:
            return self.known[mark][0]
        if mark in self.open:  # It leads back to itself: how far back stands for it.
            return _hash("again", str(len(self.open) - self.open.index(mark)).encode())
        self.open.append(mark)
        try:
            kind, *parts = self.parts(value)
            found = _hash(kind, *(part if isinstance(part, bytes) else self.digest(part) for part in parts))
        finally:
            self.open.pop()
        self.known[mark] = (found, value)  # held, so that its number is not given to another
        return found

    def parts(self, value: Any) -> Iterator[Any]:
        """A word for its kind, then bytes that are hashed as they are and values that are looked into."""
        named = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
        if isinstance(value, (type, types.FunctionType)) and is_library(named[0]):
            yield from ("named", *named)
        elif isinstance(value, type):
            yield from ("class", value.__qualname__, *_members(value))
        elif isinstance(value, types.FunctionType):
            cells = [_content(cell) for cell in value.__closure__ or ()]
            yield from ("function", value.__code__, value.__defaults__, value.__kwdefaults__, cells)
            yield list(_read_by(value.__code__, value.__globals__))
        elif isinstance(value, types.CodeType):
            yield from ("code", value.co_code, value.co_consts, value.co_names, value.co_varnames, value.co_freevars)
        elif isinstance(value, types.MethodType):
            yield from ("method", value.__func__, value.__self__)
        elif isinstance(value, WRAPPED):
            yield type(value).__name__
            yield [getattr(value, name, None) for name in ("__func__", "func", "fget", "fset")]
        elif isinstance(value, (types.ModuleType, types.MappingProxyType)):
            yield from ("read", getattr(value, "__name__", None) or dict(value))
        elif hasattr(value, "__wrapped__"):
            yield from ("wrapped", value.__wrapped__)
        elif isinstance(value, dict):
            yield from ("dict", type(value), list(value.keys()), list(value.values()))
        elif isinstance(value, (list, tuple)):
            yield from ("list", type(value), *value)
        elif isinstance(value, (set, frozenset)):
            yield from ("set", *sorted(self.digest(part) for part in value))
        elif hasattr(value, "describe") and hasattr(value, "address"):
            yield from ("described", value.describe())
        elif (array := _array(value)) is not None:
            yield from ("array", str(getattr(value, "dtype", None)), array.shape, getattr(value, "requires_grad", None))
            yield array.tolist() if array.dtype.hasobject else array.tobytes()
        else:
            yield from self.reduced(value)

    def reduced(self, value: Any) -> Iterator[Any]:
        """An object as it would be copied: its class and its state."""
        if is_a("torch", "Generator", value):
            yield from ("generator", value.get_state())
            return
        try:
            found = value.__reduce_ex__(4)
        except Exception as error:
            why = f"what a {type(value).__name__} computes cannot be told, so nothing can be kept of it: {error}."
            raise InputError(why) from None
        if isinstance(found, str):
            yield from ("named", type(value).__module__, found)
            return
        function, arguments, state, *items = (*found, None, None, None)[:5]
        if isinstance(state, dict):
            state = {k: v for k, v in state.items() if not isinstance(getattr(type(value), str(k), None), WRAPPED[3])}
        yield from ("object", function, arguments, state, *(list(more) for more in items if more is not None))


def _members(cls: type) -> Iterator[Any]:
    """What a class is made of: the code of its methods and its own attributes, and so for each class above it."""
    for above in cls.__mro__[1:]:
        yield above if is_library(above.__module__) else list(_members(above))
    for name, field in sorted(getattr(cls, "__pydantic_fields__", {}).items()):
        yield [name, field.default, field.default_factory, str(field.annotation)]
    for name, value in sorted(vars(cls).items()):
        special = name.startswith("__") and name.endswith("__")
        own = not isinstance(value, (types.MemberDescriptorType, types.GetSetDescriptorType)) and name != "_abc_impl"
        if own and (not special or isinstance(value, (types.FunctionType, *WRAPPED))):
            yield [name, value]


def _read_by(code: types.CodeType, where: Mapping[str, Any]) -> Iterator[Any]:
    """The globals that code and the functions within it read; of a module of one's own, what they may read of it."""
    for step in dis.get_instructions(code):
        found: Any = None
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME") and step.argval in where:
            found = where[step.argval]
        elif step.opname == "IMPORT_NAME" and not is_library(step.argval or HERE):
            with suppress(ImportError):
                found = importlib.import_module(step.argval)
        if isinstance(found, types.ModuleType) and not is_library(found.__name__):
            found = [getattr(found, name) for name in code.co_names if hasattr(found, name)]
        if found is not None:
            yield [step.argval, found]
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _read_by(inner, where)


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return "nothing yet"


def _array(value: Any) -> Any:
    """Tensors and arrays as numpy has them, whatever device or order in memory they had."""
    import numpy as np

    if is_a("torch", "Tensor", value):
        import torch

        flat = value.detach().cpu().contiguous()
        return np.asarray(flat.numpy() if flat.dtype != torch.bfloat16 else flat.view(torch.int16).numpy())
    return np.asarray(value) if isinstance(value, (np.ndarray, np.generic)) else None


def is_a(module: str, name: str, value: Any) -> bool:
    """Whether a value is of a class of a library, which is not imported to find out."""
    return module in sys.modules and isinstance(value, getattr(sys.modules[module], name, ()))


@functools.cache
def is_library(module: str | None) -> bool:
    """Whether a module is installed, built in or this package's, rather than somebody's own."""
    root = (module or "__main__").partition(".")[0]
    if root in (HERE, "builtins") or (root in sys.stdlib_module_names and root != "__main__"):
        return True
    there = sys.modules.get(root)
    origin = getattr(there, "__file__", None)
    if there is None:
        with suppress(ImportError, ValueError):
            spec = importlib.util.find_spec(root)
            origin = spec.origin if spec is not None else None
    installed = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
    return origin is not None and any(Path(folder) in Path(origin).parents for folder in installed if folder)


def _hash(kind: str, *parts: bytes) -> bytes:
    digest = hashlib.sha256(kind.encode())
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.digest()
