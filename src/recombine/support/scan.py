"""Anything that is a table as a lazily scanned polars frame, or one sentence that says why it is not.

Columns of text files stay texts here: a column is parsed once all of its values are known, so that the millionth row
cannot break a guess made on the first hundred.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from recombine.errors import InputError, refuse_pickle
from recombine.support.limits import BROKEN, check_compression, check_parquet, check_size, compression
from recombine.support.numerals import (
    DECIMAL_COMMA,
    EMPTY_TEXTS,
    durations,
    in_brackets,
    mistyped,
    unit_of,
    units_of,
    with_errors,
)
from recombine.support.opening import OLD_EXCEL, OPENERS, WORKBOOKS, as_utf8, expand, read_workbook

SEPARATORS = {".tsv": "\t", ".tab": "\t"}

HEAD = 65_536
"""Bytes of a file that are looked at before it is scanned."""

MOST_TOLD = 10
"""Texts and rows that a sentence lists."""

IN_MEMORY = 64 * 2**20
"""Bytes of text up to which the columns that are used are kept in memory: read once instead of at every look."""

FEW_ROWS = 10_000
"""Rows of a table in memory up to which it is `Small`."""

PLAINLY = {
    "more fields than": "a row has more cells than the header; a text that holds the separator must stand in quotes.",
}
"""What polars says, and how a person would."""


class Small(pl.LazyFrame):
    """Over few rows that lie in memory; so is what is selected of them. Polars takes longer to start what bounds its
    memory than to look through all of these."""


@dataclass
class Said:
    """What was found out about files while they were opened."""

    notes: list[str] = field(default_factory=list)
    commas_are_decimal: bool = False
    """Whether columns are separated by semicolons, as where decimals are written with a comma."""
    tables: list[pl.LazyFrame] = field(default_factory=list)
    """As they were opened, with every row."""
    written: list[pl.LazyFrame] = field(default_factory=list)
    """Text files as they are written, before any text is read as missing."""
    problems: list[str] = field(default_factory=list)
    """What keeps the tables from being read: told together, so that a file need not be mended cell by cell."""
    merge_alike: bool | None = None
    """Whether texts that differ only in spaces or capitals are one level; None where nobody can ask for it."""

    @contextmanager
    def collecting(self) -> Iterator[None]:
        try:
            yield
        except InputError as problem:
            self.problems.append(str(problem))

    def refuse(self) -> None:
        """One error for all problems, if there are any."""
        if len(self.problems) > 1:
            each = " ".join(f"({i}) {text}" for i, text in enumerate(self.problems, 1))
            raise InputError(f"the table has {len(self.problems)} problems: {each}")
        if self.problems:
            raise InputError(self.problems[0])

    def no_numbers(self, name: str, texts: Collection[str], otherwise: str) -> str:
        """What these texts of a column are, in which cells they stand, and what to do about them."""
        unit = unit_of(texts)
        fix = f"remove the unit {unit!r} from the cells" if unit else otherwise
        if unit == "%":  # of a column that has it throughout it is read
            fix = "some cells have a % and some have none: write all as shares (0.102) or all as per cent (10.2%)"
        if units := units_of(texts):
            fix = f"bring them to one unit (here {', '.join(units)}) and leave it out of the cells"
        if with_errors(texts):
            fix = "write the number alone, without ± and the error behind it"
        if in_brackets(texts):
            fix = "write negative numbers with a minus instead of brackets"
        if durations(texts):
            fix = "write durations as numbers of one unit, such as seconds"
        if all("," in t and DECIMAL_COMMA.fullmatch(t.strip()) for t in texts):
            comma = min(texts).strip()
            fix = f"write a decimal comma as a point ({comma.replace(',', '.')} for {comma}), or {fix}"
        if meant := mistyped(texts):
            typed = ", ".join(f"{text.strip()!r} looks like {number}" for text, number in [*meant.items()][:MOST_TOLD])
            fix = f"write digits for letters ({typed})" + (f", and {otherwise}" if len(meant) < len(texts) else "")
        where = self.places(name, pl.col(name).cast(pl.String).is_in(list(texts)))
        what = ", ".join(repr(t[:80]) for t in sorted(texts)[:MOST_TOLD]) + (" …" if len(texts) > MOST_TOLD else "")
        return f"{what}, which {'is not a number' if len(texts) == 1 else 'are not numbers'}{where}; {fix}"

    def places(self, name: str, odd: pl.Expr) -> str:
        """In how many rows of the tables as they were opened, and in which, something is odd."""
        found = [
            collect(t.select(pl.arg_where(odd).alias(name)))[name].to_list()
            for t in self.tables
            if name in t.collect_schema()
        ]
        cells, rows = sum(map(len, found)), next((rows for rows in found if rows), [])
        if not cells:
            return ""
        first = ", ".join(f"{row + 1:,}" for row in rows[:MOST_TOLD]) + (" …" if len(rows) > MOST_TOLD else "")
        return f" ({f'{cells:,} cells: rows' if cells > 1 else 'row'} {first} below the header)"


def collect(lazy: pl.LazyFrame) -> pl.DataFrame:
    """Run a lazy frame in bounded memory; a file that turns out to be broken is one sentence."""
    try:
        return lazy.collect(engine="in-memory" if isinstance(lazy, Small) else "streaming")
    except BROKEN as error:
        raise InputError(f"the table cannot be read: {_first_line(error)}") from None


def settled(lazy: pl.LazyFrame) -> pl.LazyFrame:
    """The same rows, worked out once where they are few: what is asked of them next need not do it again."""
    return Small(collect(lazy)) if isinstance(lazy, Small) else lazy


def rows_of(frames: list[pl.LazyFrame], text: pl.Expr) -> dict[str, int]:
    """In how many rows each text stands."""
    each = [collect(f.group_by(text.alias("text")).agg(pl.len().alias("rows"))) for f in frames]
    return dict(pl.concat(each).group_by("text").agg(pl.col("rows").sum()).iter_rows())


def scan(
    table: Any,
    what: str = "the table",
    max_bytes: int | None = None,
    max_rows: int | None = None,
    columns: Collection[str] | None = None,
    said: Said | None = None,
) -> pl.LazyFrame:
    """A lazy frame over a file, frame, array or dictionary of columns; ``columns`` are those that will be read, and
    what is found out about the file is written into ``said``."""
    if isinstance(table, (str, Path)):
        return _scan_file(Path(table), max_rows, max_bytes, columns, said or Said())
    frame = _frame(table, what)
    if max_bytes is not None and isinstance(frame, pl.DataFrame) and frame.estimated_size() > max_bytes:
        raise InputError(f"{what} takes {frame.estimated_size():,} bytes, more than the {max_bytes:,} allowed.")
    lazy = _lazily(frame)
    if not lazy.collect_schema().names():
        raise InputError(f"{what} has no columns.")
    return lazy


def _lazily(frame: pl.DataFrame | pl.LazyFrame) -> pl.LazyFrame:
    return Small(frame) if isinstance(frame, pl.DataFrame) and frame.height <= FEW_ROWS else frame.lazy()


def _frame(table: Any, what: str) -> pl.DataFrame | pl.LazyFrame:
    if isinstance(table, pl.DataFrame):
        return table.with_columns(_column(s.to_list()).alias(s.name) for s in table if s.dtype == pl.Object)
    if isinstance(table, pl.LazyFrame):
        return table
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(table, pandas.DataFrame):
        return _from_pandas(table)
    if isinstance(table, np.ndarray):
        return _from_array(table, what)
    if isinstance(table, Mapping):
        try:
            return pl.DataFrame({str(k): _column(v) for k, v in table.items()})
        except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
            raise InputError(
                f"{what} is a dictionary that is not columns of equal length: {_first_line(error)}"
            ) from None
    raise InputError(
        f"{what} is a {type(table).__name__}; give a file name, a polars or pandas frame, an array or a "
        "dictionary of columns."
    )


def _column(given: Any) -> pl.Series:
    if isinstance(given, pl.Series) or (
        isinstance(given, np.ndarray) and given.ndim == 1 and given.dtype.kind in "iufbU"
    ):
        return pl.Series(given)
    values = list(given)
    values = [v.item() if isinstance(v, np.generic) else v for v in values]
    kinds = {type(v) for v in values if v is not None and v == v}
    if len(kinds) > 1 and not kinds <= {int, float}:
        values = [None if v is None or v != v else str(v) for v in values]
    return pl.Series(values)


def _from_pandas(table: Any) -> pl.DataFrame:
    columns: dict[str, Any] = {}
    for position, name in enumerate(table.columns):
        series = table.iloc[:, position]
        if str(name) in columns:
            raise InputError(f"the table has two columns called {str(name)!r}.")
        if series.dtype == object:
            columns[str(name)] = _column([None if _is_missing(v) else v for v in series])
        else:
            columns[str(name)] = pl.from_pandas(series)
    return pl.DataFrame(columns)


def _is_missing(value: Any) -> bool:
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)
    )


def _from_array(table: np.ndarray[Any, Any], what: str) -> pl.DataFrame:
    if table.dtype.names:
        return pl.DataFrame({name: _column(table[name].tolist()) for name in table.dtype.names})
    if table.ndim != 2:
        raise InputError(f"{what} is an array of shape {table.shape}; a table has rows and columns.")
    return pl.DataFrame({str(k): _column(table[:, k].tolist()) for k in range(table.shape[1])})


def _scan_file(
    path: Path, max_rows: int | None, max_bytes: int | None, columns: Collection[str] | None, said: Said
) -> pl.LazyFrame:
    if path.is_dir():
        raise InputError(f"{str(path)!r} is a folder, not a table.")
    if not path.exists():
        raise InputError(f"there is no file {str(path)!r}{_nearest(path) or '.'}")
    if not path.stat().st_size:
        raise InputError(f"the file {str(path)!r} is empty.")
    check_size(path, max_bytes)
    refuse_pickle(path)
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
    except OSError as error:
        raise InputError(f"the file {str(path)!r} cannot be opened: {error.strerror}.") from None
    if head[:4] == b"PAR1":
        check_parquet(path, max_rows, max_bytes, columns)
        return _checked(pl.scan_parquet(path, glob=False), path)
    zipped = compression(head) == "zip" and (path.suffix.lower() in WORKBOOKS or b"[Content_Types].xml" in head)
    if head[:4] == OLD_EXCEL or zipped:
        frame, note = read_workbook(path, max_bytes)
        said.notes += [note] if note else []
        return _without_blank_rows(_without_spaces(frame.lazy()), columns)
    content = None
    if (kind := compression(head)) in OPENERS:
        content = expand(path, str(kind), max_bytes)
        head = content[:HEAD]
    check_compression(path, head)
    if path.suffix.lower() in (".parquet", ".pq"):
        raise InputError(f"the file {str(path)!r} is not a table: it is neither Parquet nor text.")
    content, note = as_utf8(path, content, head, max_bytes)
    said.notes += [note] if note else []
    head = head if content is None else content[:HEAD]
    if b"\0" in head:
        raise InputError(f"the file {str(path)!r} is not a table: it is neither Parquet nor text.")
    text = head.decode("utf-8", errors="ignore").lstrip("\ufeff")  # Where the head ends, a letter may be cut in two.
    if text.lstrip()[:1] in ("{", "<"):
        raise InputError(f"the file {str(path)!r} looks like JSON or markup; give CSV or Parquet.")
    if not text.strip():
        raise InputError(f"the file {str(path)!r} is empty.")
    header = text.splitlines()[0]
    separator = SEPARATORS.get(path.suffix.lower()) or max(",;\t|", key=header.count)
    said.commas_are_decimal |= separator == ";"
    _check_rows(path, text if len(head) < HEAD else text.rpartition("\n")[0], separator, columns)
    lazy, written = (
        pl.scan_csv(
            path if content is None else io.BytesIO(content), separator=separator, infer_schema=False,
            null_values=nothing, glob=False, raise_if_empty=True,
        )
        for nothing in (EMPTY_TEXTS, None)
    )  # fmt: skip
    said.written.append(_without_spaces(_checked(written, path)))
    lazy = _without_blank_rows(_without_spaces(_checked(lazy, path)), columns)
    size = path.stat().st_size if content is None else len(content)
    used = set(columns or ())
    if size > IN_MEMORY or not used or not used <= set(lazy.collect_schema().names()):
        return lazy  # Without one that is needed, all names are there to tell which may have been meant.
    return _lazily(collect(lazy.select(sorted(used))))


def _check_rows(path: Path, text: str, separator: str, columns: Collection[str] | None) -> None:
    """Refuse two columns of one name that is asked for, and a row that is longer than the header, with its line."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        header = [name.strip() for name in next(rows)]
        for name in columns or ():
            if header.count(name) > 1:
                raise InputError(f"the file {str(path)!r} has two columns called {name!r}; rename one of them.")
        for row in rows:
            if len(row) > len(header):
                raise InputError(
                    f"line {rows.line_num} of {str(path)!r} has {len(row)} cells and the header {len(header)}; a text "
                    f"that holds {separator!r} must stand in double quotes."
                )
    except (csv.Error, StopIteration):
        return  # Whoever reads all of it says what is wrong.


def _without_blank_rows(lazy: pl.LazyFrame, columns: Collection[str] | None) -> pl.LazyFrame:
    """Rows with something in them: files end in blank lines, and spreadsheets in rows of separators."""
    names = lazy.collect_schema().names()
    used = [name for name in names if columns is None or name in columns]
    return lazy.filter(~pl.all_horizontal(pl.col(used).is_null())) if len(used) > 1 else lazy


def _without_spaces(lazy: pl.LazyFrame) -> pl.LazyFrame:
    """Names of columns without the spaces around them, which nobody sees in a file and nobody types, and with a quote
    where polars leaves the two that stand for it in a CSV."""
    names = lazy.collect_schema().names()
    bare = [name.strip().replace('""', '"') for name in names]
    return lazy if names == bare or len(set(bare)) < len(bare) else lazy.rename(dict(zip(names, bare, strict=True)))


def _checked(lazy: pl.LazyFrame, path: Path) -> pl.LazyFrame:
    try:
        lazy.collect_schema()
    except BROKEN as error:
        raise InputError(f"the file {str(path)!r} is not a table: {_first_line(error)}") from None
    return lazy


def _nearest(path: Path) -> str:
    """A file beside it that is named nearly so; endings are left out, or all CSV files would be alike."""
    import difflib

    folder = path.parent
    names = {p.stem: p.name for p in list(folder.iterdir())[:10_000]} if folder.is_dir() else {}
    close = difflib.get_close_matches(path.stem, names, n=1)
    return f"; did you mean {str(folder / names[close[0]])!r}?" if close else ""


def _first_line(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    for said, plainly in PLAINLY.items():
        if text and said in text[0]:
            return plainly
    return (text[0][:200] if text else type(error).__name__).rstrip(".") + "."
