"""`--dry-run`: what would be computed, what is stored already, and what it might cost."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from recombine.cli.printing import console, counted, print_json, size

if TYPE_CHECKING:
    from recombine.runs import Store
    from recombine.runs.planning import Forecast
    from recombine.studies import Scale, Study


def forecast(
    studies: Sequence[Study[Any]],
    scale: Scale,
    members: int | None,
    store: str,
    device: str,
    on: str,
    as_json: bool,
) -> int:
    """Print the plan of studies. Nothing is written, not even where the store would be."""
    from recombine.cli.progress import waiting
    from recombine.runs.planning import forecast as look_ahead, makespan
    from recombine.training import pick_device

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
        print_json({"scale": scale, "device": chosen, "runs": [_row(run) for run in found], "total": totals})
    else:
        _print(found, totals, scale, chosen)
    return 0


def workers_of(on: str, device: str) -> int:
    """How many pieces are computed at once; a Ray that would only be started for it counts as one worker per core."""
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
        "at_most": run.at_most,
        "memory_bytes": run.estimate.memory,
        "basis": "stored" if run.stored else run.estimate.basis,
    }


def _print(found: Sequence[Forecast], totals: dict[str, Any], scale: str, device: str) -> None:
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
            str(run.plan.units), "–" if seconds is None else f"{'≤ ' if run.at_most else ''}{duration(seconds)}",
            "–" if memory is None else _bytes(memory), "stored" if run.stored else run.estimate.basis,
        )  # fmt: skip
    where = console()
    where.print(table)
    where.print(f"\n{_sum(found, totals, scale, device)}", soft_wrap=True)


def _sum(found: Sequence[Forecast], totals: dict[str, Any], scale: str, device: str) -> str:
    from recombine.reporting.provenance import duration

    runs, unknown = totals["runs"], totals["unknown"]
    first = f"{counted(runs, 'run')} at {scale} scale on this {device}: {totals['stored']} stored."
    todo = runs - totals["stored"]
    if not todo:
        return f"{first} Nothing is left to compute; nothing was written."
    if todo == unknown:
        return f"{first} How long the others take is not known until one like them is stored; nothing was written."
    lines = [
        first,
        f"About {duration(totals['seconds_one_worker'])} on one worker; on {totals['on']} "
        f"({counted(totals['workers'], 'worker')}) about {duration(totals['seconds'])} and "
        f"{_bytes(totals['memory_bytes'])}, the longest piece {duration(totals['longest_piece'])}.",
    ]
    if unknown:
        lines.append(f"{counted(unknown, 'run')} of unknown length are not in these numbers.")
    if any(run.at_most for run in found if run.pieces):
        lines.append("≤: its members stop once they fit, which may be much sooner.")
    lines.append("Estimates from a short calibration; nothing was written.")
    return "\n".join(lines)


def _bytes(count: int) -> str:
    """An estimate is not known to more than two digits."""
    return size(float(f"{count:.2g}"))
