"""How much a file may hold, seen before anything of it is expanded in memory.

A Parquet file of a kilobyte can hold a billion rows, and says so in its last bytes."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import polars as pl

from recombine.errors import InputError

COMPRESSED = {b"\x1f\x8b": "gzip", b"PK\3\4": "zip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bzip2", b"\xfd7zXZ": "xz"}

BROKEN = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, MemoryError)
"""What polars raises at a file that is not what it says it is."""


def check_size(path: Path, max_bytes: int | None) -> None:
    """Refuse a file that is larger than allowed."""
    size = path.stat().st_size
    if max_bytes is not None and size > max_bytes:
        raise InputError(
            f"the file {str(path)!r} has {size:,} bytes, more than the {max_bytes:,} allowed (--max-bytes)."
        )


def compression(head: bytes) -> str | None:
    """How a file is compressed, by its first bytes."""
    return next((name for magic, name in COMPRESSED.items() if head.startswith(magic)), None)


def check_compression(path: Path, head: bytes) -> None:
    """Refuse a compressed file."""
    if name := compression(head):
        raise InputError(f"the file {str(path)!r} is compressed ({name}); decompress it, or save it as Parquet.")


def check_parquet(
    path: Path, max_rows: int | None, max_bytes: int | None, columns: Collection[str] | None = None
) -> None:
    """Refuse a Parquet file whose own count of rows, or of bytes once decompressed, is beyond what is allowed; then
    one whose ``columns`` (all, if none are named) cannot be read from end to end.

    A page that lies about its size makes polars end the process; Arrow says what is wrong, in bounded memory and in a
    small part of the time that any use of the table takes."""
    import pyarrow
    from pyarrow import parquet

    broken = (pyarrow.ArrowException, OSError, ValueError, OverflowError, MemoryError)
    try:
        about = parquet.read_metadata(path)
        rows = about.num_rows
        size = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
        rows = max(rows, sum(about.row_group(i).num_rows for i in range(about.num_row_groups)))
    except broken as error:
        raise _no_table(path, error) from None
    if rows < 0 or size < 0:
        raise InputError(f"the file {str(path)!r} is not a table: its own counts are negative.")
    if max_rows is not None and rows > max_rows:
        raise InputError(
            f"the table has {rows:,} rows, more than the {max_rows:,} allowed; raise max_rows (--max-rows)."
        )
    if max_bytes is not None and size > max_bytes:
        raise InputError(
            f"the file {str(path)!r} holds {size:,} bytes once decompressed, more than the {max_bytes:,} allowed; "
            "raise max_bytes (--max-bytes)."
        )
    try:
        file = parquet.ParquetFile(path)
        wanted = None if columns is None else [name for name in file.schema_arrow.names if name in columns]
        for _ in file.iter_batches(batch_size=2**16, columns=wanted):
            pass
    except broken as error:
        raise _no_table(path, error) from None


def _no_table(path: Path, error: BaseException) -> InputError:
    reason = (str(error).splitlines() or [type(error).__name__])[0][:200].rstrip(".")
    return InputError(f"the file {str(path)!r} is not a table: {reason}.")
