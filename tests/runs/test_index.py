"""Many runs as one table: a cache that is never trusted over run.json, whatever happens to it."""

from __future__ import annotations

import json
import logging
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from sums import Sums, put, start

from recombine.cli.runs import app
from recombine.errors import InputError
from recombine.runs import Outcome, Store, catalogue
from recombine.runs.index import INDEX
from recombine.runs.manifest import _hash
from recombine.runs.query import summarise, where

NOTES = {"members": 8, "steps": 100, "strategy": "stacked", "diverged": 1}
PROVENANCE = {"device": "cpu", "seconds": 1.5, "started": "2026-11-15T08:00:00+00:00"}


def fill(store: Store, count: int) -> list[str]:
    runs = [Sums(n=n, weights=False) for n in range(1, count + 1)]
    for run in runs:
        store.put(run, Outcome({"t": pl.DataFrame({"x": [run.n]})}, {}, NOTES), PROVENANCE)
    return sorted(run.address for run in runs)


@pytest.fixture
def reads(store: Store, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses whose run.json were read."""
    seen: list[str] = []
    read = Store.read_manifest

    def note(self: Store, address: str) -> Any:
        seen.append(address)
        return read(self, address)

    monkeypatch.setattr(Store, "read_manifest", note)
    return seen


def rewrite(path: Path, change: dict[str, Any]) -> None:
    """Another run.json in the old one's place, valid, with the same size and the same time."""
    status, body = path.stat(), json.loads(path.read_text())
    del body["seal"]
    body |= change
    path.write_text(json.dumps(body | {"seal": _hash(body)}, indent=1, ensure_ascii=False))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_a_row_says_what_run_json_says(store: Store) -> None:
    (address,) = fill(store, 1)
    stored = store.get(address)
    assert stored is not None
    assert catalogue(store).to_dicts() == [
        {
            "address": address, "kind": "sums", "task": None, "model": None, "strategy": "stacked", "device": "cpu",
            "started": "2026-11-15T08:00:00+00:00", "tables": "t", "members": 8, "steps": 100, "diverged": 1,
            "bytes": stored.size, "seconds": 1.5,
        }
    ]  # fmt: skip


def test_only_new_and_changed_runs_are_read(store: Store, reads: list[str]) -> None:
    addresses = fill(store, 6)
    first = catalogue(store)
    assert sorted(reads) == addresses == first["address"].to_list()
    reads.clear()
    assert catalogue(store).equals(first)
    assert reads == []
    put(store, Sums(n=50, weights=False))
    store.remove(addresses[0])
    rewrite(
        Path(store.root, "runs", addresses[1][:2], addresses[1], "run.json"),
        {"provenance": PROVENANCE | {"seconds": 2.5}},
    )
    again = catalogue(store)
    assert sorted(reads) == sorted([Sums(n=50, weights=False).address, addresses[1]])
    assert again.filter(pl.col("address") == addresses[1])["seconds"].to_list() == [2.5]
    assert set(again["address"]) == {*addresses[1:], Sums(n=50, weights=False).address}


def test_an_empty_store_and_one_that_is_only_read(store: Store, reads: list[str]) -> None:
    assert catalogue(store).height == 0
    assert catalogue(store).columns == where(catalogue(store), ["members>=1"]).columns
    addresses = fill(store, 3)
    reading = Store(store.root, writable=False)
    for _ in range(2):
        assert catalogue(reading)["address"].to_list() == addresses
    assert len(reads) == 6
    assert not (Path(store.root) / INDEX).exists()


def test_runs_that_say_odd_things_have_empty_cells(store: Store) -> None:
    notes = {"members": "many", "steps": 10**30, "diverged": True, "strategy": ["a"]}
    store.put(Sums(fail="x" * 500), Outcome({}, {}, notes), {"device": {"a": 1}, "seconds": None, "started": 5})
    (row,) = catalogue(store).to_dicts()
    assert [name for name, value in row.items() if value is not None] == ["address", "kind", "tables", "bytes"]


@pytest.mark.fault
def test_a_damaged_run_json_is_left_out_until_it_is_mended(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    """fault: a damaged run.json | injected: its last byte is cut off | outcome: not listed, listed again once mended"""
    addresses = fill(store, 3)
    catalogue(store)
    path = Path(store.root, "runs", addresses[0][:2], addresses[0], "run.json")
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    for _ in range(2):
        with caplog.at_level(logging.WARNING):
            assert catalogue(store)["address"].to_list() == addresses[1:]
    assert len(caplog.records) == 2
    path.write_bytes(whole)
    assert catalogue(store)["address"].to_list() == addresses


@pytest.mark.fault
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_index_costs_time_and_never_a_run(store: Store, data: st.DataObject) -> None:
    """fault: a damaged index.parquet | injected: cut short, bytes flipped, or other bytes | outcome: the same table"""
    if not list(store.addresses()):
        fill(store, 5)
    index = Path(store.root) / INDEX
    index.unlink(missing_ok=True)
    wanted = catalogue(store)
    whole = bytearray(index.read_bytes())
    match data.draw(st.sampled_from(["cut", "flip", "other"])):
        case "cut":
            index.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
        case "flip":
            whole[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
            index.write_bytes(whole)
        case _:
            index.write_bytes(data.draw(st.binary(max_size=300)))
    assert catalogue(store).equals(wanted)
    assert catalogue(store).equals(wanted)


def test_an_index_that_claims_too_many_rows_is_not_read(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(store, 4)
    wanted, path = catalogue(store), Path(store.root) / INDEX
    pl.read_parquet(path)[:1].select(pl.all().repeat_by(300_000).list.explode()).write_parquet(path)
    assert path.stat().st_size < 10**5
    with monkeypatch.context() as patch:
        patch.setattr(pl, "read_parquet", None)
        assert catalogue(store).equals(wanted)
    assert pl.read_parquet(path).height == 4


def test_an_index_with_other_columns_or_rows_told_twice(store: Store, reads: list[str]) -> None:
    fill(store, 4)
    wanted, path = catalogue(store), Path(store.root) / INDEX
    kept = pl.read_parquet(path)
    for table in (kept.drop("members"), kept.rename({"kind": "sort"}), kept.with_columns(steps=pl.lit("9"))):
        table.write_parquet(path)
        reads.clear()
        assert catalogue(store).equals(wanted)
        assert len(reads) == 4
    pl.concat([kept, kept]).write_parquet(path)
    kept.with_columns(members=pl.lit(7, pl.Int64)).write_parquet(Path(store.root) / "lies.parquet")
    assert catalogue(store).equals(wanted)
    (Path(store.root) / "lies.parquet").replace(path)
    assert catalogue(store).equals(wanted)


@pytest.mark.fault
def test_a_clock_that_jumps(store: Store, reads: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """fault: a clock that jumps | injected: time set back and forward, files dated so | outcome: each change is seen"""
    addresses = fill(store, 4)
    catalogue(store)
    for number, (jump, address) in enumerate(zip((-(10**8), 10**8, -3600), addresses, strict=False)):
        now = time.time() + jump
        monkeypatch.setattr(time, "time", lambda now=now: now)
        path = Path(store.root, "runs", address[:2], address, "run.json")
        rewrite(path, {"provenance": PROVENANCE | {"seconds": 3.5 + number}})
        os.utime(path, (time.time(), time.time()))
        new = put(store, Sums(n=60 + number, weights=False))
        os.utime(new / "run.json", (time.time(), time.time()))
        os.utime(Path(store.root) / INDEX, (time.time(), time.time()))
        reads.clear()
        table = catalogue(store)
        assert sorted(reads) == sorted([address, new.name])
        assert table.filter(pl.col("address") == address)["seconds"].to_list() == [3.5 + number]
        assert table.height == 5 + number


WRITER = """
import sys
import polars as pl
from recombine.runs import Outcome, Store, catalogue
from sums import Sums

store, first = Store(sys.argv[1]), int(sys.argv[2])
print("ready", flush=True)
sys.stdin.readline()
mine = set()
for n in range(first, first + 25):
    run = Sums(n=n, weights=False)
    store.put(run, Outcome({"t": pl.DataFrame({"x": [n]})}), {})
    mine.add(run.address)
    assert mine <= set(catalogue(store)["address"])
"""


@pytest.mark.fault
def test_two_processes_that_write_runs_and_the_index(tmp_path: Path) -> None:
    """fault: two writers of one index | injected: two processes store and list at once | outcome: no run is missing"""
    writers = [start(WRITER, tmp_path, first) for first in (1, 101)]
    for writer in writers:
        assert writer.stdout
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        _, errors = writer.communicate(timeout=120)
        assert writer.returncode == 0, errors
    wanted = {Sums(n=n, weights=False).address for first in (1, 101) for n in range(first, first + 25)}
    store = Store(tmp_path)
    assert set(catalogue(store)["address"]) == wanted
    pl.read_parquet(tmp_path / INDEX)


TABLE = pl.DataFrame(
    {
        "address": ["aa11", "aa22", "bb33"], "kind": ["training", "training", "kernels"],
        "task": ["bumps", "toy", None], "tables": ["history,members", "members", ""],
        "members": [64, 8, None], "bytes": [10, 20, 30], "seconds": [1.0, 2.0, None],
        "started": ["2026-10-01", "2026-11-01", "2026-12-01"],
    }
)  # fmt: skip


@pytest.mark.parametrize(
    ("conditions", "rows"),
    [
        ([], "012"), (["members>=64"], "0"), (["members < 64"], "1"), (["members!=8"], "02"), (["members="], "2"),
        (["task=bumps"], "0"), (["task!=bumps"], "12"), (["task!="], "01"), (["kind==training", "members>8"], "0"),
        (["tables=members"], "01"), (["tables=member"], ""), (["tables!=history"], "12"), (["address=aa"], "01"),
        (["started<2026-11-15"], "01"), (["started>2026-11"], "12"), (["seconds<=1e0"], "0"), (["task= bumps "], "0"),
        (["task=a' or 1=1"], ""), (["bytes=20"], "1"),
    ],
)  # fmt: skip
def test_conditions(conditions: list[str], rows: str) -> None:
    assert where(TABLE, conditions).equals(TABLE[[int(row) for row in rows]])


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("members", "is no condition"), ("", "is no condition"), ("__import__('os')", "is no condition"),
        ("membres>3", "did you mean 'members'"), ("members>=many", "members is a number, and 'many' is none"),
        ("members>", "is a number"),
    ],
)  # fmt: skip
def test_what_is_no_condition(condition: str, message: str) -> None:
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        where(TABLE, [condition])


@given(st.text(max_size=30))
def test_any_text_is_a_condition_or_an_input_error(text: str) -> None:
    with suppress(InputError):
        assert set(where(TABLE, [text])["address"]) <= set(TABLE["address"])


def test_counting() -> None:
    assert summarise(TABLE, ["kind"]).rows() == [("training", 2, 30, 72, 3.0), ("kernels", 1, 30, 0, 0.0)]
    assert summarise(TABLE, ["members", "kind"]).columns == ["members", "kind", "runs", "bytes", "seconds"]
    with pytest.raises(InputError, match="did you mean 'task'"):
        summarise(TABLE, ["tasks"])


def test_the_command_line(store: Store, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOMBINE_STORE", str(store.root))
    monkeypatch.setenv("COLUMNS", "200")
    addresses = fill(store, 3)
    put(store, Sums(n=9, weights=False))

    def call(*arguments: str) -> str:
        app(["list", *arguments], result_action="return_value")
        return capsys.readouterr().out

    chosen = json.loads(call("--where", "members>=8", "tables=t", "--json"))["runs"]
    assert sorted(run["address"] for run in chosen) == addresses
    assert (Path(store.root) / INDEX).exists()
    groups = json.loads(call("--by", "members", "--json"))["groups"]
    assert [(group["members"], group["runs"]) for group in groups] == [(8, 3), (None, 1)]
    assert "4 runs in" in call("--by", "kind")
    assert "3 earlier runs not shown" in call("--limit", "1")
    with pytest.raises(InputError, match="unknown column"):
        call("--where", "color=red")
