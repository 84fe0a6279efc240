"""`--dry-run`: what would be computed, what is stored already, and what it might cost."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recombine.runs import Store
    from recombine.runs.planning import Forecast
    from recombine.studies import Scale, Study


def forecast(
    studies: Sequence[Study],
    scale: Scale,
    members: int | None,
    store: str,
    device: str,
    on: str,
    as_json: bool,
) -> int:
    """Print the plan of studies. Nothing is written, not even where the store would be."""
    from recombine.cli.progress import waiting
    from recombine.runs.planning import forecast as look_ahead
    from recombine.runs.planning import makespan
    from recombine.studies.conducting import check_scale
    from recombine.training import pick_device

    check_scale(scale, members)
    workers, chosen = workers_of(on, device), str(pick_device(device))
    runs = {f"{study.name}/{name}": run for study in studies for name, run in study.runs(scale, members).items()}
    with waiting(f"timing a few steps of each training on this {chosen}", quiet=as_json):
        found = look_ahead(_opened(store), runs, chosen)
    pieces = [seconds for run in found for seconds in run.pieces]
    totals = {
        "runs": len(found),
        "stored": sum(run.stored for run in found),
        "unknown": sum(not run.stored and run.estimate.seconds is None for run in found),
        "seconds_one_worker": round(sum(pieces), 1),
        "on": on,
        "workers": workers,
        "seconds": round(makespan(pieces, workers), 1),
        "longest_piece": round(max(pieces, default=0.0), 1),
        "memory_bytes": max((run.estimate.memory or 0 for run in found), default=0) * workers,
    }
    if as_json:
        answer = {"schema": 1, "scale": scale, "device": chosen, "runs": [_row(run) for run in found], "total": totals}
        print(json.dumps(answer, ensure_ascii=False, allow_nan=False))
    else:
        _print(found, totals, scale, chosen)
    return 0


def workers_of(on: str, device: str) -> int:
    """How many pieces are computed at once; a Ray that would only be started for it counts as one worker a core."""
    from recombine.runs.executors import executor
    from recombine.runs.executors.processes import share

    if on == "ray" and not os.environ.get("RAY_ADDRESS"):
        return share(device)
    with executor(on, device) as crew:
        return crew.workers


def _opened(store: str) -> Store | None:
    from recombine.runs import Store, StoreError

    try:
        return Store(store, writable=False)
    except StoreError:
        return None  # It would be made.


def _row(run: Forecast) -> dict[str, Any]:
    return {
        "run": run.name,
        "address": run.address,
        "kind": run.kind,
        "members": run.members,
        "steps": run.steps,
        "stored": run.stored,
        "strategy": run.plan.strategy,
        "stack": run.plan.stack,
        "units": run.plan.units,
        "seconds": None if run.estimate.seconds is None else round(run.estimate.seconds, 2),
        "memory_bytes": run.estimate.memory,
        "basis": "stored" if run.stored else run.estimate.basis,
    }


def _print(found: Sequence[Forecast], totals: dict[str, Any], scale: str, device: str) -> None:
    from rich.console import Console
    from rich.table import Table

    from recombine.reporting.provenance import duration

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("run", "members", "steps", "plan", "units", "time", "memory", "from"):
        table.add_column(name, justify="left" if name in ("run", "plan", "from") else "right", overflow="fold")
    for run in found:
        plan = f"{run.plan.strategy} × {run.plan.stack}" if run.plan.strategy else "–"
        seconds, memory = run.estimate.seconds, run.estimate.memory
        table.add_row(
            run.name, *("–" if count is None else str(count) for count in (run.members, run.steps)), plan,
            str(run.plan.units), "–" if seconds is None else duration(seconds),
            "–" if memory is None else _bytes(memory), "stored" if run.stored else run.estimate.basis,
        )  # fmt: skip
    console = Console()
    console.print(table)
    unknown = f", {totals['unknown']} of unknown length" if totals["unknown"] else ""
    console.print(
        f"\n{totals['runs']} runs at {scale} scale on this {device}: {totals['stored']} stored{unknown}.\n"
        f"About {duration(totals['seconds_one_worker'])} on one worker; on {totals['on']} ({totals['workers']} "
        f"worker{'s' if totals['workers'] > 1 else ''}) about {duration(totals['seconds'])} and "
        f"{_bytes(totals['memory_bytes'])}, the longest piece {duration(totals['longest_piece'])}.\n"
        "Estimates from a short calibration; nothing was written.",
        soft_wrap=True,
    )


def _bytes(count: int) -> str:
    """An estimate is not known to more than two digits."""
    from recombine.cli.printing import size

    return size(float(f"{count:.2g}"))
