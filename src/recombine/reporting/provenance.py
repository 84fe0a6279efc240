"""Where a study's runs came from, arranged for reading: what differs by run, and what all runs share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

ORDER = (
    "address",
    "members",
    "device",
    "device_name",
    "strategy",
    "stack",
    "seconds",
    "peak_memory_bytes",
    "commit",
    "versions",
)
LABEL = {"peak_memory_bytes": "peak memory", "device_name": "processor", "cpus": "cores", "seconds": "time"}
BY_RUN = ("address", "members", "device", "strategy", "stack", "seconds", "peak_memory_bytes")
"""Shown for each run even where all runs are alike: a reader looks for them there."""


@dataclass(frozen=True)
class Provenance:
    """A table of the runs (heading and rows) and the facts they share."""

    heading: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    shared: tuple[tuple[str, str], ...]


def arranged(provenance: Mapping[str, Mapping[str, Any]]) -> Provenance:
    """The provenance of a study result, by run name."""
    keys = sorted(
        {key for run in provenance.values() for key in run}, key=lambda k: (ORDER.index(k) if k in ORDER else 99, k)
    )
    alike = [key for key in keys if key not in BY_RUN and len({repr(run.get(key)) for run in provenance.values()}) == 1]
    apart = [key for key in keys if key not in alike]
    first = next(iter(provenance.values()), {})
    return Provenance(
        heading=("run", *(_label(key) for key in apart)),
        rows=tuple((name, *(_text(key, run.get(key)) for key in apart)) for name, run in provenance.items()),
        shared=tuple((_label(key), _text(key, first[key])) for key in alike),
    )


def computing(provenance: Mapping[str, Mapping[str, Any]]) -> str:
    """How long the runs took together, whenever that was; a study whose runs are in the store takes no time."""
    return duration(sum(float(run.get("seconds") or 0) for run in provenance.values()))


def duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _label(key: str) -> str:
    return LABEL.get(key, key.replace("_", " "))


def _text(key: str, value: Any) -> str:
    if value is None:
        return "–"
    if key == "address":
        return str(value)[:12]
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {inner}" for name, inner in value.items() if inner is not None)
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if key.endswith("bytes"):
            return f"{value / 2**30:.2f} GiB" if value >= 2**30 else f"{value / 2**20:.0f} MiB"
        if key == "seconds":
            return duration(value)
        if isinstance(value, float):
            return f"{value:g}"
    return str(value)
