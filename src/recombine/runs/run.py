"""What a run is before it exists: a description of work, what the work is given, and what it hands back."""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recombine.description import Description
from recombine.errors import InputError

if TYPE_CHECKING:
    import polars as pl
    import torch

Progress = Callable[[int, int, str], None]
"""Told how far a run has come: done, total, and a few words."""

NAME = re.compile(r"[a-z0-9_-]{1,100}")
"""What a table may be called. The name becomes part of a file name, so nothing here can make a path."""


def silence(done: int, total: int, text: str) -> None:
    """The progress that tells nobody."""


@dataclass(frozen=True)
class Context:
    """What a run is given besides its description; none of it may change the run's tables."""

    device: str
    workspace: Path
    """A private directory for checkpoints. It survives kills and failures, and is deleted once the run is stored."""
    progress: Progress = silence


@dataclass(frozen=True)
class Outcome:
    """What a run hands back. Names are checked here, while the run can still be blamed for them."""

    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    tensors: Mapping[str, torch.Tensor] = field(default_factory=dict)
    notes: Mapping[str, Any] = field(default_factory=dict)
    """Small JSON values: strategy, stack size, diverged members. JSON has no NaN or infinity: they become null."""

    def __post_init__(self) -> None:
        for name in self.tables:
            check_name(name)
        object.__setattr__(self, "notes", plain(self.notes))


@dataclass(frozen=True)
class RunPlan:
    """How a run will be computed on a kind of device, as far as that can be said beforehand."""

    units: int = 1
    """In how many pieces it can be handed out."""
    strategy: str | None = None
    stack: int | None = None
    reason: str | None = None
    touched: int | None = None
    """Bytes that a step of one member touches."""


class Run(Description):
    """A description of work. Equal descriptions have one address and are computed once."""

    @abstractmethod
    def compute(self, context: Context) -> Outcome:
        """Do the work; called again after a kill, it continues from what it left in ``context.workspace``."""

    def plan(self, device: str) -> RunPlan:
        """How it will be computed: a function of the description and the kind of device. Unless said otherwise, in one
        piece."""
        return RunPlan()

    def first_member(self) -> Run | None:
        """The same with its first member alone, whose figures are those that it has among the others; None where
        members cannot be told apart."""
        return None

    def compute_unit(self, unit: int, context: Context) -> bool:
        """Do one piece of the plan into the workspace, and say whether all are there: then ``compute`` joins them."""
        raise InputError(f"a {self.kind} run is computed in one piece.")


def check_name(name: object) -> str:
    """The name of a table, or an error that says what a table may be called."""
    if isinstance(name, str) and NAME.fullmatch(name):
        return name
    raise InputError(f"a table cannot be called {str(name)[:80]!r}; use 1 to 100 of a-z, 0-9, '-' and '_'.")


def plain(value: Any) -> Any:
    """A value as JSON can hold it: tuples as lists, numpy scalars as numbers, not-finite numbers as null."""
    if isinstance(value, Mapping):
        return {plain(str(key)): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if isinstance(value, str):
        # A command line may hold bytes that are no text; they must not make a finished run impossible to write.
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int)):
        return value
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):
        return plain(value.item())
    raise InputError(f"a {type(value).__name__} cannot be kept in the notes of a run; put it in a table or a tensor.")
