"""A store at a URL: the same runs, the same bytes, nothing secret shown, and nothing imported for a store on a disk."""

from __future__ import annotations

import errno
import importlib
import json
import logging
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import polars as pl
import pytest
import torch
from sums import HERE, SOURCE, Sums, data_files, put

from recombine.errors import InputError
from recombine.runs import Outcome, Store, StoreError, catalogue, collect, failure, get_or_compute, pack, unpack
from recombine.runs._provenance import command
from recombine.runs.location import shown

fsspec = pytest.importorskip("fsspec")
pytest.importorskip("upath")

RUN = Sums(n=5)


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    name = f"memory://{uuid4().hex}/store"
    yield name
    memory = fsspec.filesystem("memory")
    if memory.exists(name):
        memory.rm(name, recursive=True)


def objects(url: str) -> dict[str, bytes]:
    memory = fsspec.filesystem("memory")
    root = memory._strip_protocol(url)
    return {path.removeprefix(f"{root}/"): memory.cat_file(path) for path in memory.find(url)}


def damage(url: str, part: str, data: bytes = b"other") -> str:
    (name,) = (name for name in objects(url) if part in name)
    fsspec.filesystem("memory").pipe_file(f"{url}/{name}", data)
    return name


def test_the_same_run_is_the_same_bytes_as_on_a_disk(url: str, tmp_path: Path) -> None:
    local = put(Store(tmp_path / "local"), RUN)
    store = Store(url)
    assert store.get(RUN) is None
    put(store, RUN)
    stored = store.get(RUN)
    assert stored is not None
    assert stored.table("sums")["sum"].to_list() == [0, 1, 3, 6, 10]
    assert torch.equal(stored.tensors()["w"], torch.arange(5.0))
    assert objects(url) == {
        f"runs/{RUN.address[:2]}/{RUN.address}/{name}": data
        for name, data in {"run.json": (local / "run.json").read_bytes(), **data_files(local)}.items()
    }


def test_list_find_remove_and_the_index(url: str) -> None:
    store, runs = Store(url), [Sums(n=n, weights=False) for n in range(1, 5)]
    for run in runs:
        put(store, run)
    addresses = sorted(run.address for run in runs)
    assert [stored.address for stored in store.list()] == list(store.addresses()) == addresses
    assert store.find(addresses[0][:8]).address == addresses[0]
    first = catalogue(store)
    assert first["address"].to_list() == addresses
    assert "index.parquet" in objects(url)
    store.remove(addresses[0])
    assert catalogue(Store(url, writable=False)).equals(first[1:])
    with pytest.raises(InputError, match="unknown run"):
        store.remove(addresses[0])
    with pytest.raises(InputError, match="unknown run"):
        store.find(addresses[0][:8])


def test_the_workspace_is_on_this_machine_and_survives(url: str, tmp_path: Path) -> None:
    store = Store(url)
    with pytest.raises(InputError, match="1 of 1 runs failed"):
        get_or_compute(store, {"run": Sums(n=6, fail="once")}, device="cpu")
    kept = failure(store, Sums(n=6, fail="once"))
    assert kept is not None
    assert kept["message"] == "once"
    workspace = Store(url).workspace(Sums(n=6))
    assert workspace.is_relative_to(tmp_path / "cache" / "recombine")
    assert Store("memory://another").workspace(Sums(n=6)) != workspace
    (workspace / "steps.txt").write_text("0 1 3")
    found = get_or_compute(Store(url), {"run": Sums(n=6)}, device="cpu")["run"]
    assert found.notes["resumed"] == 3
    assert not workspace.exists()


@pytest.mark.fault
@pytest.mark.parametrize("part", ["run.json", "sums-", "tensors-"])
def test_damage_is_noticed_set_aside_and_mended(url: str, part: str, caplog: pytest.LogCaptureFixture) -> None:
    """fault: a damaged object in a remote store | injected: other bytes in its place | outcome: set aside, redone"""
    store = Store(url)
    put(store, RUN)
    name = damage(url, part)
    reading = Store(url, writable=False)
    with caplog.at_level(logging.WARNING):
        assert reading.get(RUN) is None
    assert name in objects(url)
    with caplog.at_level(logging.WARNING):
        found = get_or_compute(store, {"run": RUN}, device="cpu")["run"]
    assert found.table("sums").height == 5
    aside = [name for name in objects(url) if name.startswith("aside/")]
    assert len(aside) == 5
    assert len(objects(url)) == 9
    assert f"{url}/aside/" in caplog.text


def test_pack_and_unpack_between_kinds_of_store(url: str, tmp_path: Path) -> None:
    local = Store(tmp_path / "local")
    for n in (2, 3):
        put(local, Sums(n=n))
    pack(local, tmp_path / "a.zip")
    assert len(unpack(tmp_path / "a.zip", Store(url)).added) == 2
    pack(Store(url), tmp_path / "b.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_what_may_go(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(url)
    put(store, RUN)
    put(store, Sums(n=2))
    memory = fsspec.filesystem("memory")
    orphan = f"runs/{RUN.address[:2]}/{RUN.address}/sums-000000000000.parquet"
    memory.pipe_file(f"{url}/{orphan}", b"123")
    memory.pipe_file(f"{url}/aside/x/reason.txt", b"why")
    (store.workspace(RUN) / "steps.txt").write_text("0")
    assert collect(store, delete=True, referred=()) == ()
    monkeypatch.setattr(importlib.import_module("recombine.runs._collect"), "HOUR", 0.0)
    found = collect(store, delete=True, referred={RUN.address})
    assert {r.path for r in found if r.what != "run"} == {orphan, "aside/x", str(store.work / RUN.address)}
    assert [r.path.rpartition("/")[2] for r in found if r.what == "run"] == [Sums(n=2).address]
    assert list(store.addresses()) == [RUN.address]
    assert store.get(RUN) is not None
    assert len(objects(url)) == 4


def test_the_command_line(url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from recombine.cli.runs import app

    put(Store(url), RUN)
    monkeypatch.setenv("RECOMBINE_STORE", url)
    for arguments in (["list"], ["list", "--store", url], ["gc"], ["show", RUN.address[:8]]):
        app([*arguments, "--json"], result_action="return_value")
        body = json.loads(capsys.readouterr().out)
        assert body.get("store", url) == url
    with pytest.raises(InputError, match="there is no store at 'memory://nothing'"):
        app(["list", "--store", "memory://nothing"], result_action="return_value")


def test_a_file_url_is_a_path(tmp_path: Path) -> None:
    store = Store(f"file://{tmp_path}/store")
    assert store.root == tmp_path / "store"
    assert store.work == tmp_path / "store" / "work"
    assert store.name == str(tmp_path / "store")


def test_a_store_goes_to_another_process(url: str) -> None:
    put(Store(url), RUN)
    again: Store = pickle.loads(pickle.dumps(Store(url)))
    assert again.get(RUN) is not None


@pytest.mark.parametrize(
    ("given", "seen"),
    [
        ("s3://bucket/path", "s3://bucket/path"),
        ("ftp://me:hidden@host:21/path", "ftp://host:21/path"),
        ("ftp://me:hid/den@host/path", "ftp://host/path"),
        ("ftp://me:hid@den@host", "ftp://host"),
        ("https://hidden@host/path?token=hidden#hidden", "https://host/path"),
        ("s3://bucket/a@b/path", "s3://bucket/a@b/path"),
        ("simplecache::s3://hidden:hidden@bucket/path", "simplecache::s3://bucket/path"),
        ("some/where", "some/where"),
    ],
)
def test_nothing_secret_is_shown(given: str, seen: str) -> None:
    assert shown(given) == seen
    assert "hid" not in command(["recombine", "runs", "list", "--store", given, f"--store={given}"])


def test_one_line_where_a_store_cannot_be_opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in {"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": str(tmp_path / "none")}.items():
        monkeypatch.setenv(name, value)
    for url, message in [
        ("nothing://x/y", "'nothing://x/y' cannot be opened: Unsupported filesystem"),
        ("ftp://me:hidden@127.0.0.1:1/path", "'ftp://127.0.0.1:1/path' cannot be opened: Connection refused"),
    ]:
        for writable in (True, False):
            with pytest.raises(StoreError, match=message) as caught:
                Store(url, writable=writable)
            assert "hidden" not in str(caught.value)
            assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="give it as text"):
        Store(Path("s3://bucket/path"))


@pytest.mark.fault
def test_a_server_that_fails_is_one_line_and_loses_nothing(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """fault: a remote store that stops answering | injected: every read or write raises what such libraries raise |
    outcome: one sentence without secrets, nothing set aside, and the same call completes afterwards"""
    store = Store(url)
    put(store, RUN)
    before, memory = objects(url), type(fsspec.filesystem("memory"))

    def refuse(*_: object, **__: object) -> None:
        raise RuntimeError("no route to\nme:hidden@host")

    for name, work in [
        ("cat_file", lambda: store.get(RUN)),
        ("info", lambda: store.get(RUN)),
        ("pipe_file", lambda: store.put(Sums(n=9, weights=False), Outcome({"t": pl.DataFrame({"x": [1]})}), {})),
        ("pipe_file", lambda: Store(url)),
        ("ls", store.list),
        ("find", lambda: catalogue(store)),
        ("find", lambda: collect(store)),
    ]:
        with monkeypatch.context() as patch:
            patch.setattr(memory, name, refuse)
            with pytest.raises(StoreError, match="no route to host") as caught:
                work()
        assert "\n" not in str(caught.value)
        assert objects(url) == before
    assert store.get(RUN) is not None


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "recombine.runs.remote", raising=False)
    monkeypatch.setitem(sys.modules, "upath", None)
    with pytest.raises(StoreError, match=r"pip install 'recombine\[cluster\]'"):
        Store("s3://bucket/path")


def test_a_store_on_a_disk_imports_nothing_of_this(tmp_path: Path) -> None:
    code = """
import sys
from sums import Sums, put
from recombine.runs import Store, catalogue, collect
store = Store(sys.argv[1])
put(store, Sums(n=2, weights=False))
catalogue(store), collect(store, delete=True), store.list()
print([name for name in ("fsspec", "upath", "recombine.runs.remote") if name in sys.modules])
"""
    environment = {"PYTHONPATH": f"{SOURCE}:{HERE}"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, str(tmp_path)],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout == "[]\n", done.stderr


def test_a_bucket_that_is_not_there(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise FileNotFoundError(errno.ENOENT, "The specified bucket does not exist")

    monkeypatch.setattr(type(fsspec.filesystem("memory")), "pipe_file", refuse)
    with pytest.raises(StoreError, match="there is no such bucket or directory"):
        Store(url)
