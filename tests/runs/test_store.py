"""The store when nothing goes wrong."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path

import polars as pl
import pytest
import torch
from polars.testing import assert_frame_equal
from sums import PROVENANCE, Sums, data_files, outcome_of, put

from recombine.errors import InputError
from recombine.runs import Outcome, Store, StoreError
from recombine.runs.formats import table_to_bytes


def test_round_trip(store: Store) -> None:
    run = Sums(n=4)
    assert store.get(run) is None
    put(store, run)
    stored = store.get(run)
    assert stored is not None
    assert stored.address == run.address
    assert stored.description == run.describe() == {"kind": "sums", "version": 1}
    assert stored.table("sums").to_dict(as_series=False) == {"i": [0, 1, 2, 3], "sum": [0, 1, 3, 6]}
    assert {name: table.height for name, table in stored.tables.items()} == {"sums": 4, "last": 1}
    assert torch.equal(stored.tensors()["w"], torch.tensor([0.0, 1.0, 2.0, 3.0]))
    assert stored.notes == {"resumed": 0, "device": "cpu"}
    assert stored.provenance == PROVENANCE
    assert stored.size == sum(map(len, data_files(stored.directory).values()))


def test_the_layout(store: Store) -> None:
    run = Sums()
    directory = put(store, run)
    assert directory == store.root / "runs" / run.address[:2] / run.address
    assert {path.name.split("-")[0] for path in directory.iterdir()} == {"run.json", "sums", "last", "tensors"}
    assert {path.name for path in store.root.iterdir()} == {"runs", "work"}
    assert list((store.root / "work").iterdir()) == []
    body = json.loads((directory / "run.json").read_text())
    assert list(body) == ["schema", "address", "description", "tables", "tensors", "notes", "provenance", "seal"]


def test_run_json_is_written_last(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    replace = os.replace

    def note(source: Path, target: Path) -> None:
        replace(source, target)
        written.append(target.name)

    run, outcome = Sums(), outcome_of(Sums(), store.root / "elsewhere")
    monkeypatch.setattr(os, "replace", note)
    store.put(run, outcome, PROVENANCE)
    assert len(written) == 4
    assert written[-1] == "run.json"


def test_a_table_with_everything_a_measure_returns(store: Store) -> None:
    table = pl.DataFrame(
        {
            "member": pl.Series([0, 1, 2], dtype=pl.UInt32),
            "loss": [0.1, float("nan"), None],
            "shape": pl.Series(["<b>", "a/b", None], dtype=pl.Categorical),
            "codes": [[1, 2], [], None],
            "fitted": [True, False, None],
        }
    )
    run = Sums(n=9)
    store.put(run, Outcome({"all": table, "empty": table.head(0)}), {})
    stored = store.get(run)
    assert stored is not None
    assert_frame_equal(stored.table("all"), table, categorical_as_str=True)
    assert stored.table("empty").schema == table.schema
    assert stored.tensors() == {}


def test_equal_tables_are_equal_bytes_however_they_lie_in_memory() -> None:
    a = pl.col("a")
    table = pl.select(a=pl.int_range(300_000)).with_columns(s=(a % 7).cast(pl.String), l=pl.concat_list(a, a + 1))
    pieces = pl.concat([table[:3], table[3:200_001], table[200_001:]], rechunk=False)
    shifted = pl.concat([table[:5], table])[5:]
    assert pieces.n_chunks() == 3
    assert table_to_bytes(table) == table_to_bytes(table) == table_to_bytes(pieces) == table_to_bytes(shifted)


def test_tensors_that_share_memory_or_are_not_contiguous(store: Store) -> None:
    base = torch.arange(6.0).reshape(2, 3)
    tensors = {
        "row": base[0], "same": base, "turned": base.T, "none": torch.empty(0, 3), "half": base.bfloat16(),
        "learned": torch.nn.Parameter(torch.ones(2)), "count": torch.tensor(3),
    }  # fmt: skip
    stored = store.put(Sums(), Outcome(tensors=tensors), {})
    back = stored.tensors()
    assert back.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert torch.equal(back[name], tensor), name
        assert back[name].dtype == tensor.dtype


def test_the_first_of_two_results_is_kept(store: Store, tmp_path: Path) -> None:
    run = Sums()
    first = put(store, run)
    before = (first / "run.json").read_bytes()
    again = store.put(run, Outcome({"other": pl.DataFrame({"x": [1]})}), {"seconds": 99})
    assert list(again.tables) == ["sums", "last"]
    assert (first / "run.json").read_bytes() == before
    assert {p.name for p in first.iterdir()} == {"run.json", *data_files(first)}


def test_the_same_run_in_two_stores_is_the_same_bytes(tmp_path: Path) -> None:
    one, two = Store(tmp_path / "one"), Store(tmp_path / "two")
    a, b = put(one, Sums(n=50)), put(two, Sums(n=50))
    assert data_files(a) == data_files(b)
    assert (a / "run.json").read_bytes() == (b / "run.json").read_bytes()


def test_unknown_tables_suggest_the_nearest(store: Store, tmp_path: Path) -> None:
    stored = store.put(Sums(), outcome_of(Sums(), tmp_path / "w"), {})
    with pytest.raises(InputError, match="did you mean 'sums'"):
        stored.table("summs")
    with pytest.raises(KeyError):
        stored.tables["summs"]
    assert "sums" in stored.tables
    assert "summs" not in stored.tables
    assert repr(stored) == f"StoredRun(sums, {stored.address[:12]}, tables: sums, last)"


def test_list_find_and_remove(store: Store) -> None:
    runs = [Sums(n=n) for n in range(1, 6)]
    for run in runs:
        put(store, run)
    addresses = sorted(run.address for run in runs)
    assert [stored.address for stored in store.list()] == addresses
    assert store.find(addresses[0][:8]).address == addresses[0]
    store.workspace(addresses[0])
    store.remove(addresses[0])
    assert [stored.address for stored in store.list()] == addresses[1:]
    assert not (store.root / "work" / addresses[0]).exists()
    assert not (store.root / "runs" / addresses[0][:2] / addresses[0]).exists()
    with pytest.raises(InputError, match="unknown run"):
        store.find(addresses[0][:8])
    with pytest.raises(InputError, match="unknown run"):
        store.remove(addresses[0])


@pytest.mark.parametrize("prefix", ["", "abc", "../..", "ABCD", "g" * 8, "a" * 65, "*" * 8, "abcd\n"])
def test_what_is_no_address(store: Store, prefix: str) -> None:
    with pytest.raises(InputError, match="is not the address of a run"):
        store.find(prefix)
    with pytest.raises(InputError, match="is not the address of a run"):
        store.remove(prefix)
    with pytest.raises(InputError, match="is not the address of a run"):
        store.workspace(prefix)


def test_ambiguous_prefixes_ask_for_more(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    for ending in "01":
        directory = store.root / "runs" / "ab" / ("ab" + "c" * 61 + ending)
        directory.mkdir(parents=True)
        (directory / "run.json").write_text("{}")
    with pytest.raises(InputError, match="2 runs begin with 'abcc'"):
        store.find("abcc")
    with caplog.at_level(logging.WARNING):
        assert store.list() == ()
    assert len(caplog.records) == 2


def test_a_store_only_read_makes_nothing(tmp_path: Path, store: Store) -> None:
    with pytest.raises(StoreError, match="there is no store at"):
        Store(tmp_path / "none", writable=False)
    put(store, Sums())
    reading = Store(store.root, writable=False)
    before = sorted(store.root.rglob("*"))
    assert reading.get(Sums()) is not None
    assert reading.get(Sums(n=7)) is None
    assert sorted(store.root.rglob("*")) == before
