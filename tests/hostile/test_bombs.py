"""Small files that stand for enormous ones are refused by what they say of themselves, before memory is taken."""

from __future__ import annotations

import gzip
import io
import json
import struct
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recombine.checks import check
from recombine.cli import main
from recombine.errors import MAX_ROWS, InputError
from recombine.mechanisms import measure_predictions
from recombine.models import Perceptron
from recombine.structure import load_model, read_problems, save_model
from recombine.support import load_manifest
from recombine.training import Ensemble

MANY = 10_000_000


@pytest.fixture(scope="module")
def parquet_bomb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten million rows in some kilobytes."""
    path = tmp_path_factory.mktemp("bomb") / "bomb.parquet"
    no = pa.array(np.zeros(MANY, bool))
    table = pa.table({"a": no, "b": no, "y": no, "p": no})
    pq.write_table(table, path, compression="zstd", use_dictionary=False, row_group_size=MANY)
    assert path.stat().st_size < 200_000
    return path


@pytest.fixture(autouse=True)
def _little_memory() -> Iterator[None]:
    """No test here may take a hundred megabytes from Python's own allocators, numpy's included."""
    tracemalloc.start()
    yield
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 * 2**20, f"{peak:,} bytes were taken"


def test_rows_are_counted_before_a_parquet_file_is_read(parquet_bomb: Path) -> None:
    with pytest.raises(InputError, match=r"has 10,000,000 rows, more than the 1,000,000 allowed.*--max-rows"):
        check(parquet_bomb, ["a", "b"], max_rows=1_000_000)
    with pytest.raises(InputError, match="has 10,000,000 rows"):
        measure_predictions(parquet_bomb, ["a", "b"], target="y", prediction="p", split="a=x", max_rows=10)
    with pytest.raises(InputError, match="has 10,000,000 rows"):
        read_problems(parquet_bomb, max_rows=10)


def test_decompressed_bytes_are_counted_before_a_parquet_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "wide.parquet"
    pl.DataFrame({"a": ["x" * 1_000_000] * 3, "b": ["y", "z", "w"]}).write_parquet(path, compression="zstd")
    assert path.stat().st_size < 50_000
    with pytest.raises(InputError, match=r"bytes once decompressed, more than the 100,000 allowed.*--max-bytes"):
        check(path, ["a", "b"], max_bytes=100_000)
    with pytest.raises(InputError, match="once decompressed"):
        read_problems(path, max_bytes=100_000)


def test_the_command_line_says_so_in_one_sentence(parquet_bomb: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(parquet_bomb)
    measure = ["measure", file, "--factors", "a,b", "--target", "y", "--prediction", "p", "--split", "a=x"]
    for words in (["check", file, "--factors", "a,b"], measure):
        for limit in ("--max-rows", "--max-bytes"):
            with pytest.raises(SystemExit) as ended:
                main([*words, limit, "1000"])
            err = capsys.readouterr().err
            assert ended.value.code == 2
            assert "allowed" in err
            assert limit in err
            assert err.count("\n") == 1


def test_ten_million_rows_are_within_the_defaults() -> None:
    assert MAX_ROWS >= 10 * 10_000_000


def test_compressed_text_is_expanded_up_to_what_is_allowed(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 10_000_000))
    with pytest.raises(InputError, match="holds more than 10,000,000 bytes once decompressed; save it as Parquet"):
        check(path, ["a", "b"], max_bytes=10_000_000)
    with pytest.raises(InputError, match="is compressed"):
        read_problems(path)


def npz(path: Path, shape: tuple[int, ...], content: bytes = b"", kind: str = "<f8") -> Path:
    """An array file whose header says what one likes."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": kind, "fortran_order": False, "shape": shape})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inputs.npy", header.getvalue() + content)
        archive.writestr("targets.npy", header.getvalue() + content)
    return path


def test_an_array_that_says_it_is_larger_than_its_bytes(tmp_path: Path) -> None:
    for shape in ((10**12,), (10**6, 10**6), (2**63 - 1,), (-5,), (0, -1)):
        with pytest.raises(InputError, match="cannot be read as arrays"):
            read_problems(npz(tmp_path / "a.npz", shape))


def test_an_array_of_zeros_that_was_compressed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bomb = npz(tmp_path / "zeros.npz", (4_000_000,), bytes(32_000_000))
    assert bomb.stat().st_size < 100_000
    with pytest.raises(InputError, match=r"holds 32,000,000 bytes.*--max-bytes"):
        read_problems(bomb, max_bytes=1_000_000)
    net = Perceptron(widths=(2, 2))
    save_model(tmp_path / "model", net(), net)
    with pytest.raises(SystemExit) as ended:
        main(["dissect", str(tmp_path / "model"), str(bomb), str(bomb), "--max-rows", "1000"])
    assert ended.value.code == 2
    assert "--max-rows" in capsys.readouterr().err


def safetensors(path: Path, header: bytes, length: int | None = None) -> Path:
    path.write_bytes(struct.pack("<Q", len(header) if length is None else length) + header)
    return path


HEADERS: dict[str, Callable[[Path], Path]] = {
    "a header of exabytes": lambda p: safetensors(p, b"{}", 2**63),
    "a header of 99 MB that is not there": lambda p: safetensors(p, b"{}", 99_000_000),
    "a tensor of exabytes": lambda p: safetensors(
        p, b'{"0.weight":{"dtype":"F64","shape":[1152921504606846976],"data_offsets":[0,9223372036854775807]}}'
    ),
    "nested deeply": lambda p: safetensors(p, b'{"a":' * 50_000 + b"1" + b"}" * 50_000),
    "overflowing shape": lambda p: safetensors(
        p, b'{"0.weight":{"dtype":"F64","shape":[4294967296,4294967296,4294967296],"data_offsets":[0,0]}}'
    ),
    "members nested deeply": lambda p: safetensors(
        p, json.dumps({"__metadata__": {"members": "[" * 100_000}}).encode()
    ),
    "endless members": lambda p: safetensors(p, json.dumps({"__metadata__": {"members": "[Infinity]"}}).encode()),
    "a huge number": lambda p: safetensors(p, json.dumps({"__metadata__": {"members": f"[{'9' * 9000}]"}}).encode()),
}


@pytest.mark.parametrize("bomb", HEADERS)
def test_a_safetensors_header_that_lies(tmp_path: Path, bomb: str) -> None:
    net = Perceptron(widths=(2, 2))
    folder = save_model(tmp_path / "model", net(), net)
    file = HEADERS[bomb](folder / "model.safetensors")
    with pytest.raises(InputError):
        load_model(folder)
    with pytest.raises(InputError, match="does not hold the weights"):
        Ensemble.load(file, net)


ARCHITECTURES = {
    "nested deeply": '{"kind": "perceptron", "widths": ' + "[" * 100_000,
    "a wide layer": json.dumps({"kind": "perceptron", "widths": [2, 10**13, 2]}),
    "a huge number": '{"kind": "perceptron", "widths": [2, ' + "9" * 9000 + "]}",
    "a large number": json.dumps({"kind": "perceptron", "widths": [2, 10**30, 2]}),
    "kinds in kinds": '{"kind": "perceptron", "widths": ' * 400 + "1" + "}" * 400,
}


@pytest.mark.parametrize("bomb", ARCHITECTURES)
def test_an_architecture_that_is_too_large(tmp_path: Path, bomb: str) -> None:
    net = Perceptron(widths=(2, 2))
    folder = save_model(tmp_path / "model", net(), net)
    (folder / "architecture.json").write_text(ARCHITECTURES[bomb])
    with pytest.raises(InputError):
        load_model(folder)


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '{"schema": 1, "space": ' + "[" * 100_000, '{"schema": 1, "space": ' + "9" * 9000 + "}",
     '{"schema": 1, "space": {"factors": [{"name": "a", "levels": ' + "[" * 5000 + "]" * 5000 + "}]}}",
     '{"schema": 1, "space": {"factors": [{"name": "a", "low": 0, "high": 1e999}]}, "rule": {}}'],
)  # fmt: skip
def test_a_manifest_that_is_too_deep(tmp_path: Path, text: str) -> None:
    path = tmp_path / "m.json"
    path.write_text(text)
    with pytest.raises(InputError):
        load_manifest(path)
