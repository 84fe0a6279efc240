"""Many runs as one table, in seconds: what their run.json say, remembered in one Parquet file at the store's root.

The file is a cache and nothing more. Each row carries the mark its run.json had when it was read, and a seal over its
own values. The directories are listed anew each time: a row whose mark or seal does not fit is dropped, a run without a
row is read. So a file that is missing, cut short, old, or written over by another process costs time and never a run.
"""

from __future__ import annotations

import io
import logging
from typing import TYPE_CHECKING, Any, TypeGuard

from recombine.runs import files
from recombine.runs.layout import StoreError, why
from recombine.runs.listing import marks
from recombine.runs.manifest import Damaged

if TYPE_CHECKING:
    import polars as pl

    from recombine.runs.store import Store
    from recombine.runs.stored import StoredRun

log = logging.getLogger("recombine.runs")

INDEX = "index.parquet"
WORDS = ("address", "kind", "task", "model", "strategy", "device", "started", "tables")
NUMBERS = ("members", "steps", "diverged", "bytes")
_LONGEST = 200
_LARGEST = 2**53
_SPARE = 100_000


def catalogue(store: Store) -> pl.DataFrame:
    """One row per run, by address: kind, task, model, strategy, device, started, tables, members, steps, … and seconds.

    Damaged run.json are left out with a warning. A store that may be written remembers what was read."""
    import polars as pl

    try:
        there = marks(store.root / "runs")
    except OSError as error:
        raise StoreError(f"the runs of {store.name!r} cannot be listed: {why(error)}.") from error
    listed = pl.DataFrame(list(there.items()), {"address": pl.String, "mark": pl.String}, orient="row")
    remembered = _remembered(store, len(there))
    good = remembered.join(listed, on=["address", "mark"], how="semi")
    missing = listed.join(good, on="address", how="anti")["address"]
    read = [_row(run) | {"mark": there[run.address]} for run in map(store.read_manifest, missing) if run is not None]
    fresh = pl.DataFrame(read, _schema())
    table = pl.concat([good, fresh.with_columns(_seal(fresh))]).sort("address")
    if store.writable and (read or good.height < remembered.height):
        _remember(store, table)
    return table.drop("mark", "seal")


def _remembered(store: Store, runs: int) -> pl.DataFrame:
    """The rows of the file that are what was written; none where there is no such file, or it is no index of ours."""
    import polars as pl

    from recombine.runs.formats import table_from_bytes

    schema = pl.Schema(_schema() | {"seal": pl.UInt64})
    try:
        data = files.read_optional(store.root / INDEX)
        # A small file may claim any number of rows; ours never holds many more than there are runs.
        if data is None or _height(data) > 2 * runs + _SPARE or (table := table_from_bytes(data)).schema != schema:
            return pl.DataFrame(schema=schema)
    except (Damaged, OSError) as problem:
        log.debug("the index of %s is not used: %s", store.name, problem)
        return pl.DataFrame(schema=schema)
    return table.filter(table["seal"] == _seal(table)).unique("address", keep="first")


def _height(data: bytes) -> int:
    import polars as pl

    try:
        return int(pl.scan_parquet(io.BytesIO(data)).select(pl.len()).collect().item())
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise Damaged(str(error)) from None


def _remember(store: Store, table: pl.DataFrame) -> None:
    buffer = io.BytesIO()
    table.write_parquet(buffer, compression="zstd", compression_level=1)
    try:
        files.write(store.root / INDEX, buffer.getvalue())
    except OSError as error:
        log.debug("the index of %s cannot be written: %s", store.name, why(error))


def _schema() -> dict[str, Any]:
    import polars as pl

    words, numbers = dict.fromkeys(WORDS, pl.String), dict.fromkeys(NUMBERS, pl.Int64)
    return words | numbers | {"seconds": pl.Float64, "mark": pl.String}


def _seal(table: pl.DataFrame) -> pl.Series:
    """A number for each row that changes with any of its values."""
    return table.select(*_schema()).hash_rows(seed=10).alias("seal")


def _row(run: StoredRun) -> dict[str, Any]:
    """What a run.json says, where it says it in the expected kind of value; it may have come from anywhere."""
    notes, provenance = run.notes, run.provenance
    words = {
        "address": run.address,
        "kind": run.description.get("kind"),
        "task": _kind(run.description.get("task")),
        "model": _kind(run.description.get("model")),
        "strategy": notes.get("strategy"),
        "device": provenance.get("device"),
        "started": provenance.get("started"),
    }
    numbers = {name: notes.get(name) for name in ("members", "steps", "diverged")} | {"bytes": run.size}
    seconds = provenance.get("seconds")
    return (
        {name: value[:_LONGEST] if isinstance(value, str) else None for name, value in words.items()}
        | {name: value if _is_count(value) else None for name, value in numbers.items()}
        | {"seconds": float(seconds) if isinstance(seconds, float) or _is_count(seconds) else None}
        | {"tables": ",".join(run.tables)}
    )


def _kind(described: object) -> object:
    return described.get("kind") if isinstance(described, dict) else None


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST
