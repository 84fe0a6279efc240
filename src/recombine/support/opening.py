"""Files as people have them: gzipped, in latin-1 or UTF-16, out of Excel; made UTF-8 text in memory."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import zipfile
from pathlib import Path
from typing import Any, Literal

import polars as pl

from recombine.errors import InputError

EXPANDED = 2 * 2**30
"""Bytes that a compressed or re-encoded file may hold: it is kept in memory."""
PIECE = 2**22
OPENERS: dict[str, Any] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}
WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
OLD_EXCEL = b"\xd0\xcf\x11\xe0"


def expand(path: Path, kind: str, max_bytes: int | None) -> bytes:
    """The content of a compressed file, read piece by piece up to what is allowed."""
    limit = min(EXPANDED, max_bytes or EXPANDED)
    parts, total = [], 0
    try:
        with OPENERS[kind](path, "rb") as file:
            while piece := file.read(PIECE):
                parts.append(piece)
                total += len(piece)
                if total > limit:
                    raise InputError(
                        f"the file {str(path)!r} holds more than {limit:,} bytes once decompressed; save it as Parquet."
                    )
    except (OSError, EOFError, lzma.LZMAError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"the file {str(path)!r} cannot be decompressed ({kind}): {error}.") from None
    return b"".join(parts)


def as_utf8(path: Path, content: bytes | None, head: bytes, max_bytes: int | None) -> tuple[bytes | None, str | None]:
    """The content as UTF-8 (None: the file is that already, as it lies there), and a note where it was not."""
    coding = _utf_16(head)
    if coding is None and _is_utf8(path if content is None else io.BytesIO(content)):
        return content, None
    if coding is None and (b"\0" in head or any(c < 32 and c not in b"\t\n\r\f" for c in head)):
        raise InputError(f"the file {str(path)!r} is not a table: it is neither Parquet nor text.")
    limit = min(EXPANDED, max_bytes or EXPANDED)
    if content is None and path.stat().st_size > limit:
        raise InputError(f"the file {str(path)!r} is not UTF-8 and too large to be converted; save it in UTF-8.")
    try:
        text = (path.read_bytes() if content is None else content).decode(coding or "cp1252")
    except UnicodeDecodeError:
        raise InputError(f"the file {str(path)!r} is not UTF-8 text; save it as CSV in UTF-8, or as Parquet.") from None
    note = f"{path.name!r} is not UTF-8 and was read as Windows-1252 (latin-1); save it in UTF-8 if letters look wrong."
    return text.encode("utf-8", errors="replace"), None if coding else note


def _utf_16(head: bytes) -> str | None:
    if head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return "utf-16"
    for place, coding in (
        (1, "utf-16-le"),
        (0, "utf-16-be"),
    ):  # Without a mark: every other byte of plain text is zero.
        if len(head) > 8 and head[place::2].count(0) > 0.8 * len(head) / 2 and not head[1 - place :: 2].count(0):
            return coding
    return None


def _is_utf8(source: Path | io.BytesIO) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    with source.open("rb") if isinstance(source, Path) else source as file:
        try:
            while piece := file.read(PIECE):
                decoder.decode(piece)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
    return True


def read_workbook(path: Path, max_bytes: int | None) -> tuple[pl.DataFrame, str | None]:
    """The first sheet of a workbook, and a note where there are others."""
    sheets = 1
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            size = sum(part.file_size for part in archive.infolist())
            sheets = sum(name.startswith("xl/worksheets/sheet") for name in archive.namelist())
        if size > min(EXPANDED, max_bytes or EXPANDED):
            raise InputError(
                f"the file {str(path)!r} holds {size:,} bytes once decompressed; save it as CSV or Parquet."
            )
    engines: tuple[Literal["calamine", "openpyxl"], ...] = ("calamine", "openpyxl")
    for engine in engines:
        try:
            frame = pl.read_excel(path, engine=engine)
        except ImportError:
            continue
        except Exception as error:  # Whatever the reader raises at a damaged workbook, it is the file that is at fault.
            reason = (str(error).splitlines() or [type(error).__name__])[0][:200].rstrip(".")
            raise InputError(f"the file {str(path)!r} cannot be read as a workbook: {reason}.") from None
        note = f"The workbook {path.name!r} has {sheets} sheets; the first was read." if sheets > 1 else None
        return frame, note
    raise InputError(
        f"the file {str(path)!r} is an Excel workbook, which needs a reader: pip install fastexcel (or save it as CSV)."
    )
