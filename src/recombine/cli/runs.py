"""`recombine runs`: look into a store of runs, move it as one file, and tidy it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import cyclopts
from cyclopts import Parameter

from recombine.cli.options import STORE, Json, StorePath

if TYPE_CHECKING:
    from recombine.runs import Store, StoredRun

app = cyclopts.App(
    name="runs",
    help="Look into the store of runs, and move it as one file.",
    help_epilogue="""Examples:

    recombine runs list
    recombine runs show 3fa9c1
    recombine runs pack results.zip
    recombine runs unpack results.zip --store shared
    recombine runs remove 3fa9c1""",
    help_format="plaintext",
)

Address = Annotated[str, Parameter(help="The address of a run, or its first letters (4 or more).")]

PackedFile = Annotated[Path, Parameter(help="The one file, a zip.")]
Addresses = Annotated[
    list[str] | None, Parameter(help="Addresses of runs or their first letters; all if none is given.")
]
Bound = Annotated[int, Parameter(help="Refuse a file that holds more than this.")]


@app.command(name="list")
def list_runs(*, store: StorePath = STORE, as_json: Json = False) -> None:
    """List the runs of a store, oldest first.

    Example: recombine runs list --store shared --json"""
    runs = sorted(_open(store).list(), key=lambda run: (str(run.provenance.get("started")), run.address))
    if as_json:
        _print_json({"store": str(store), "runs": [_summary(run) for run in runs]})
        return
    _print_table(
        f"{len(runs)} runs in {store}",
        ("address", "kind", "tables", "size", "seconds", "device", "started"),
        [
            (
                run.address[:12],
                run.description.get("kind"),
                ", ".join(run.tables),
                _size(run.size),
                run.provenance.get("seconds"),
                run.provenance.get("device"),
                str(run.provenance.get("started"))[:16].replace("T", " "),
            )
            for run in runs
        ],
    )


@app.command
def show(address: Address, *, store: StorePath = STORE, as_json: Json = False) -> None:
    """Show what a run was, what it found and where it came from. Its files are checked on the way.

    Example: recombine runs show 3fa9c1"""
    run = _open(store).find(address)
    details = {"description": run.description, "notes": run.notes, "provenance": run.provenance}
    tables: dict[str, Any] = {
        name: {"rows": table.height, "columns": table.columns} for name, table in run.tables.items()
    }
    if as_json:
        _print_json(_summary(run) | details | {"tables": tables})
        return
    _print_table(
        f"run {run.address}",
        ("", ""),
        [(part, json.dumps(value, indent=1, ensure_ascii=False)) for part, value in details.items()],
    )
    _print_table(
        "tables", ("name", "rows", "columns"), [(n, t["rows"], ", ".join(t["columns"])) for n, t in tables.items()]
    )


@app.command
def pack(
    file: PackedFile, addresses: Addresses = None, /, *, store: StorePath = STORE, as_json: Json = False
) -> None:
    """Write runs as one file: all of the store, or those whose addresses are given.

    Example: recombine runs pack results.zip 3fa9c1 77d0"""
    from recombine.runs import pack as pack_runs

    done = pack_runs(_open(store), file, addresses or None)
    if as_json:
        _print_json({"file": str(file), "runs": done.runs, "bytes": done.size})
        return
    _say(f"{done.runs} runs, {_size(done.size)}, in {file}")


@app.command
def unpack(
    file: PackedFile, /, *, store: StorePath = STORE, max_bytes: Bound = 16 * 2**30, as_json: Json = False
) -> None:
    """Take the runs of a packed file into a store. Every hash is verified; runs already there are kept.

    Example: recombine runs unpack results.zip --store shared"""
    from recombine.runs import Store
    from recombine.runs import unpack as unpack_runs

    done = unpack_runs(file, Store(store), max_bytes=max_bytes)
    if as_json:
        _print_json({"store": str(store), "added": done.added, "kept": done.kept, "refused": done.refused})
        return
    _say(f"{len(done.added)} runs added, {len(done.kept)} already there, {len(done.refused)} refused")
    if done.refused:
        _print_table("refused", ("address", "why"), [(a[:12], reason) for a, reason in done.refused.items()])


@app.command
def remove(address: Address, *, store: StorePath = STORE, as_json: Json = False) -> None:
    """Delete one run from a store.

    Example: recombine runs remove 3fa9c1"""
    from recombine.runs import Store

    opened = Store(store)
    run = opened.find(address)
    opened.remove(run.address)
    if as_json:
        _print_json({"store": str(store), "removed": run.address})
        return
    _say(f"removed {run.address}")


def _open(store: Path) -> Store:
    from recombine.runs import Store

    return Store(store, writable=False)


def _summary(run: StoredRun) -> dict[str, Any]:
    return {
        "address": run.address,
        "kind": run.description.get("kind"),
        "tables": list(run.tables),
        "bytes": run.size,
        "seconds": run.provenance.get("seconds"),
        "device": run.provenance.get("device"),
        "started": run.provenance.get("started"),
    }


def _print_json(body: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"schema": 1} | body, ensure_ascii=True) + "\n")


def _print_table(title: str, columns: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(_printable(title)), title_justify="left", show_header=any(columns))
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(_printable(str(cell))) for cell in row))
    Console().print(table)


def _say(sentence: str) -> None:
    sys.stdout.write(_printable(sentence) + "\n")


def _printable(text: str) -> str:
    """Text from a file as text: what could steer a terminal is shown as an escape instead."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode("ascii") for c in text)


def _size(count: float) -> str:
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.4g} {unit}"
        count /= 1000
    return f"{count:.4g} GB"
