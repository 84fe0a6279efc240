"""`recombine runs`: look into a store of runs, move it as one file, and tidy it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import cyclopts
from cyclopts import Parameter

from recombine.cli.gc import gc
from recombine.cli.options import STORE, Json, MaxBytes, StorePath
from recombine.cli.printing import counted, print_json, print_table, say, size
from recombine.errors import MAX_BYTES, InputError

if TYPE_CHECKING:
    import polars as pl

    from recombine.runs import Store, StoredRun

app = cyclopts.App(
    name="runs",
    help="Look into the store of runs, move it as one file, and tidy it.",
    sort_key=7,
    help_epilogue="""Examples:

    recombine runs list
    recombine runs list --where kind=training 'members>=64' --by task
    recombine runs show 3fa9c1
    recombine runs pack results.zip
    recombine runs unpack results.zip --store shared
    recombine runs remove 3fa9c1
    recombine runs gc""",
    help_format="plaintext",
)
app.command(gc, sort_key=6, help_epilogue="")

Address = Annotated[str, Parameter(help="The address of a run, or its first letters (4 or more).")]

PackedFile = Annotated[Path, Parameter(help="The one file, a zip.")]
Addresses = Annotated[
    list[str] | None, Parameter(help="Addresses of runs or their first letters; all if none is given.")
]
Where = Annotated[
    list[str] | None,
    Parameter(
        name="--where",
        consume_multiple=True,
        negative=(),
        help="Only runs that meet each condition: a column, one of = != < <= > >=, and a value. Quote < and >, which "
        "mean something to a shell. 'tables=history' asks for a table, 'task=' for a run that names no task.",
    ),
]
By = Annotated[
    list[str] | None,
    Parameter(
        name="--by",
        consume_multiple=True,
        negative=(),
        help="Count runs, bytes, members and seconds by these columns instead.",
    ),
]
Limit = Annotated[int, Parameter(help="Print at most so many rows, the latest; --json always has all.")]


ASIDE = ("strategy", "device", "started", "tables", "diverged")
"""Columns that a line of a terminal has no room for: they can be asked for, and are in the JSON."""


@app.command(name="list", sort_key=1, help_epilogue="")
def list_runs(
    *, where: Where = None, by: By = None, limit: Limit = 200, store: StorePath = STORE, as_json: Json = False
) -> None:
    """List the runs of a store, oldest first, all or those that meet conditions; or count them by columns.

    Columns: address, kind, task, model, strategy, device, started, tables, members, steps, diverged, bytes, seconds.

    Example: recombine runs list --where kind=training 'members>=64' --by task"""
    from recombine.runs import catalogue
    from recombine.runs.query import summarise, where as meeting

    if limit < 1:
        raise InputError(f"--limit is at least 1, got {limit}.")
    opened = _open(store, remember=True)
    table = meeting(catalogue(opened), where or ())
    if by:
        groups = summarise(table, by)
        if as_json:
            print_json({"store": opened.name, "by": by, "groups": groups.to_dicts()})
        else:
            _print_rows(f"{counted(table.height, 'run')} in {opened.name} by {', '.join(by)}", groups, limit)
        return
    table = table.sort("started", "address", nulls_last=True)
    if as_json:
        print_json({"store": opened.name, "runs": [_listed(row) for row in table.iter_rows(named=True)]})
        return
    _print_rows(f"{counted(table.height, 'run')} in {opened.name}", table, limit)


@app.command(sort_key=2, help_epilogue="")
def show(address: Address, /, *, store: StorePath = STORE, as_json: Json = False) -> None:
    """Show what a run was, what it found and where it came from. Its files are checked on the way.

    Example: recombine runs show 3fa9c1"""
    run = _open(store).find(address)
    details = {"description": run.description, "notes": run.notes, "provenance": run.provenance}
    tables: dict[str, Any] = {
        name: {"rows": table.height, "columns": table.columns} for name, table in run.tables.items()
    }
    if as_json:
        print_json(_summary(run) | details | {"tables": tables})
        return
    print_table(
        f"run {run.address}",
        ("", ""),
        [(part, json.dumps(value, indent=1, ensure_ascii=False)) for part, value in details.items()],
    )
    print_table(
        "tables", ("name", "rows", "columns"), [(n, t["rows"], ", ".join(t["columns"])) for n, t in tables.items()]
    )


@app.command(sort_key=3, help_epilogue="")
def pack(file: PackedFile, addresses: Addresses = None, /, *, store: StorePath = STORE, as_json: Json = False) -> None:
    """Write runs as one file: all of the store, or those whose addresses are given.

    Example: recombine runs pack results.zip 3fa9c1 77d0"""
    from recombine.runs import pack as pack_runs

    done = pack_runs(_open(store), file, addresses or None)
    if as_json:
        print_json({"file": str(file), "runs": done.runs, "bytes": done.size})
        return
    say(f"{counted(done.runs, 'run')}, {size(done.size)}, in {file}")


@app.command(sort_key=4, help_epilogue="")
def unpack(
    file: PackedFile, /, *, store: StorePath = STORE, max_bytes: MaxBytes = MAX_BYTES, as_json: Json = False
) -> None:
    """Take the runs of a packed file into a store. Every hash is verified; runs already there are kept.

    Example: recombine runs unpack results.zip --store shared"""
    from recombine.runs import Store, unpack as unpack_runs

    opened = Store(store)
    done = unpack_runs(file, opened, max_bytes=max_bytes)
    if as_json:
        print_json({"store": opened.name, "added": done.added, "kept": done.kept, "refused": done.refused})
        return
    say(f"{counted(len(done.added), 'run')} added, {len(done.kept)} already there, {len(done.refused)} refused")
    if done.refused:
        print_table("refused", ("address", "why"), [(a[:12], reason) for a, reason in done.refused.items()])


@app.command(sort_key=5, help_epilogue="")
def remove(address: Address, /, *, store: StorePath = STORE, as_json: Json = False) -> None:
    """Delete one run from a store.

    Example: recombine runs remove 3fa9c1"""
    from recombine.runs import Store

    opened = Store(store)
    run = opened.find(address)
    opened.remove(run.address)
    if as_json:
        print_json({"store": opened.name, "removed": run.address})
        return
    say(f"removed {run.address}")


def _open(store: str, *, remember: bool = False) -> Store:
    """The store, only to be read; with ``remember`` one that keeps its index up to date, where it may be written."""
    from recombine.runs import Store, StoreError

    opened = Store(store, writable=False)
    if remember:
        try:
            return Store(store)
        except StoreError:
            pass  # It can be read, which is all that was asked for.
    return opened


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


def _listed(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"tables": row["tables"].split(",") if row["tables"] else []}


def _print_rows(title: str, table: pl.DataFrame, limit: int) -> None:
    left = max(0, table.height - limit)
    shown = table.tail(limit) if "address" in table.columns else table.head(limit)
    kept = [name for name in shown.columns if "address" not in shown.columns or name not in ASIDE]
    columns = [name for name in kept if name == "address" or shown[name].null_count() < shown.height]
    rows = [tuple(map(_cell, columns, row)) for row in shown.select(columns).iter_rows()]
    print_table(title, columns, rows, one_line=True)
    if left:
        what = counted(left, "earlier run" if "address" in table.columns else "group")
        say(f"{what} not shown; --limit shows more, --where fewer, --json all")


def _cell(column: str, value: Any) -> object:
    if value is None:
        return None
    if column == "address":
        return value[:12]
    if column == "started":
        return value[:16].replace("T", " ")
    if column == "seconds":
        return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
    return size(value) if column == "bytes" else value
