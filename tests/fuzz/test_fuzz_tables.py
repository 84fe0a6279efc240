"""Whatever bytes are offered as a table: read, or refused in one sentence."""

from __future__ import annotations

import io
import json
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from damage import OUTCOMES, mutated, or_refused
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.structure import read_problems
from recombine.support.table import read_tables

ROWS: dict[str, list[Any]] = {
    "a": ["x", "y", "x", "z", "ü,\n"], "b": [1, 2, 3, 1, None], "y": [0.5, 1.5, None, 2.0, 9.0],
    "d": [True, False, None, True, True],
}  # fmt: skip


def parquet(**how: Any) -> bytes:
    made = pl.DataFrame(ROWS).with_columns(
        pl.lit("2020-01-01").str.to_date().alias("when"), pl.lit("k").cast(pl.Categorical).alias("kind")
    )
    buffer = io.BytesIO()
    made.write_parquet(buffer, **how)
    return buffer.getvalue()


WHOLE = [
    b"a,b,y\nx,1,0.5\ny,2,1.5\nx,3,\n",
    b'a;b;y\n"x;1";1;0,5\n"y""q";2;\n',
    "\ufeffa\tb\ty\nü\t1\t2\n\n\t\t\n".encode(),
    b'a,b,y\n"open,1,2\n',
    b"a,a,b\n1,2,3\n",
    "\n".join(json.dumps({"a": "x", "b": i, "y": i / 2}) for i in range(4)).encode(),
    parquet(compression="uncompressed"),
    parquet(compression="zstd"),
    parquet(compression="snappy", row_group_size=2),
]
BYTES = st.one_of(st.binary(max_size=200), st.sampled_from(WHOLE).flatmap(mutated), st.sampled_from(WHOLE))
FOUND = sorted((Path(__file__).parent / "found").glob("*.*"))
"""Files that the long run found; each once ended in more than one sentence."""


def read(folder: Path, data: bytes, ending: str, missing: Any) -> None:
    file = folder / (f"t.{ending}" if ending else "t")
    file.write_bytes(data)
    ways: list[dict[str, Any]] = [{"target": "y"}, {"bins": {"b": 2}}]
    for how in ways:
        with or_refused(InputError):
            (table,) = read_tables([file], ["a", "b"], missing=missing, max_rows=10_000, max_bytes=10**7, **how)
            assert table.rows == table.counts.sum()
    with or_refused(InputError):
        read_problems(file, max_rows=10_000, max_bytes=10**7)


def test_any_bytes_as_a_table(fuzz: Any, tmp_path: Path) -> None:
    endings, ways = ("csv", "parquet", "tsv", "txt", "npz", ""), ("error", "drop", "level")
    ended = fuzz(250, partial(read, tmp_path), BYTES, st.sampled_from(endings), st.sampled_from(ways))
    assert min(ended["read"], ended["refused"]) > 0, "either nothing was read or nothing was refused"


@pytest.mark.parametrize("file", FOUND, ids=[file.name for file in FOUND])
def test_what_was_found(file: Path, tmp_path: Path) -> None:
    for missing in ("error", "drop", "level"):
        OUTCOMES.clear()
        read(tmp_path, file.read_bytes(), file.suffix[1:], missing)
        assert set(OUTCOMES) == {"refused"}
