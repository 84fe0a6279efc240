"""Where a result came from: versions, commit, machine, time and memory — and nothing that names a person or a host."""

from __future__ import annotations

import os
import platform
import re
import shlex
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from recombine import __version__
from recombine.runs.code import commit, source
from recombine.runs.location import shown

PACKAGES = ("torch", "numpy", "polars")


@dataclass(frozen=True)
class Started:
    """When work began: the date for people, the monotonic clock for durations, so a clock that jumps does no harm."""

    at: str
    tick: float


def start(device: str = "cpu") -> Started:
    """Begin to measure. On a GPU the peak of memory starts again from what is held now."""
    if device.startswith("cuda"):
        import torch

        torch.cuda.reset_peak_memory_stats(device)
    return Started(datetime.now(UTC).isoformat(timespec="seconds"), time.monotonic())


def provenance(device: str, started: Started) -> dict[str, Any]:
    """What was used since ``started``. Memory on a CPU is the peak of the whole process; on a GPU that of the run."""
    return {
        "versions": {"python": platform.python_version(), "recombine": __version__}
        | {name: version(name) for name in PACKAGES},
        "commit": commit(),
        "source": source(),
        "platform": platform.platform(),
        "cpus": os.cpu_count(),
        "device": device,
        "device_name": device_name(device),
        "started": started.at,
        "seconds": round(time.monotonic() - started.tick, 3),
        "peak_memory_bytes": peak_memory(device),
        "command": command(sys.argv),
    }


@cache
def version(package: str) -> str | None:
    """The installed version, without importing the package; looked up once, as every run is told all of them."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def device_name(device: str) -> str:
    if device.startswith("cuda"):
        import torch

        return torch.cuda.get_device_name(device)
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(errors="replace"), re.MULTILINE)
    except OSError:
        found = None
    return found[1].strip() if found else platform.processor() or platform.machine()


def peak_memory(device: str) -> int | None:
    if device.startswith("cuda"):
        import torch

        return torch.cuda.max_memory_allocated(device)
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def command(arguments: Sequence[str]) -> str:
    """The command line; of every absolute path and address only the last name is kept."""
    program = PureWindowsPath(arguments[0]).name if arguments else ""
    return shlex.join([program, *(_last_name(argument) for argument in arguments[1:])])


def _last_name(argument: str) -> str:
    key, mark, value = argument.partition("=") if argument.startswith("-") else ("", "", argument)
    if "://" in value:
        scheme, _, rest = shown(value).partition("://")
        value = f"{scheme}://…" + (f"/{PurePosixPath(rest).name}" if "/" in rest else "")
    elif value.startswith("~") or PurePosixPath(value).is_absolute() or PureWindowsPath(value).is_absolute():
        value = f"…/{PureWindowsPath(value).name}"
    home = str(Path.home())
    return key + mark + (value.replace(home, "~") if len(home) > 1 else value)
