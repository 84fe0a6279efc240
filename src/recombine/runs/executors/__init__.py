"""Where runs are computed: in this process, in processes of this machine, or on a Ray cluster."""

from __future__ import annotations

import re

from recombine.errors import InputError
from recombine.runs.executors.executor import Executor as Executor
from recombine.runs.executors.here import Here

_PROCESSES = re.compile(r"processes(?::(?P<count>[1-9]\d{0,3}))?")
_RAY = re.compile(r"ray(?:://[^\s/]+:\d+)?")


def executor(on: str, device: str = "auto") -> Executor:
    """The executor that a person names: here, processes, processes:4, ray or ray://HOST:PORT."""
    if on == "here":
        return Here(device)
    if named := _PROCESSES.fullmatch(on):
        from recombine.runs.executors.processes import Processes, share

        count = int(named["count"]) if named["count"] else share(device)
        return Processes(count, device) if count > 1 else Here(device)
    if _RAY.fullmatch(on):
        from recombine.runs.executors.cluster import Cluster

        return Cluster(None if on == "ray" else on, device)
    raise InputError(f"cannot run on {on[:80]!r}; use here, processes, processes:4, ray or ray://HOST:PORT.")
