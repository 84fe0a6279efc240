"""Disks that are full, stores that cannot be written: one clear sentence, and everything finished is still there."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from sums import Sums, data_files, put, start

from recombine.errors import InputError
from recombine.runs import Store, StoreError, files, obtain


def test_a_root_that_is_a_file_or_lies_below_one(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    for root in (file, file / "store"):
        with pytest.raises(InputError, match=r"is or lies below a file; give a directory\.$"):
            Store(root)
    assert file.read_text() == "mine"


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.ENOSPC])
def test_a_root_that_cannot_be_written_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "write_bytes", refuse)
    with pytest.raises(InputError, match=f"cannot be written: {os.strerror(number)}; choose another"):
        Store(tmp_path / "store")


@pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not stop root")
def test_a_directory_without_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="cannot be written: Permission denied"):
        Store(tmp_path / "store")


def test_a_store_that_turns_read_only(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    earlier = put(store, Sums(n=3))

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "mkdir", refuse)
    monkeypatch.setattr(files, "write", refuse)
    with pytest.raises(StoreError, match="no workspace can be made"):
        obtain(store, {"new": Sums(n=4)}, device="cpu")
    assert obtain(store, {"old": Sums(n=3)})["old"].table("sums").height == 3
    assert data_files(earlier)


def test_a_disk_that_fills_during_the_run_stops_everything_and_loses_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync, seen = files._sync, 0

    def fill(descriptor: int) -> None:
        nonlocal seen
        seen += 1
        if seen == 6:  # four files of the first run, then the second of the next
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(descriptor)

    monkeypatch.setattr(files, "_sync", fill)
    runs = {"one": Sums(n=3), "two": Sums(n=4), "three": Sums(n=5)}
    with pytest.raises(StoreError, match="No space left on device; finished runs are intact"):
        obtain(store, runs, device="cpu")
    assert [stored.address for stored in store.list()] == [Sums(n=3).address]
    assert (store.workspace(Sums(n=4)) / "steps.txt").exists()
    assert list(store.root.rglob("*.tmp")) == []

    found = obtain(store, runs, device="cpu")
    assert found["two"].notes["resumed"] == 4
    assert found["three"].table("sums").height == 5


LIMITED = """
import resource, signal, sys
import polars as pl
from recombine.runs import Outcome, Store, StoreError
from sums import Sums

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
store = Store(sys.argv[1])
large = pl.DataFrame({"x": range(100_000)}).select(pl.col("x").hash(seed=0))
small = store.put(Sums(n=1), Outcome({"t": pl.DataFrame({"x": [1]})}), {})
try:
    store.put(Sums(n=2), Outcome({"t": pl.DataFrame({"x": [1]}), "u": large}), {})
except StoreError as error:
    print(error)
assert small.table("t")["x"].to_list() == [1]
"""


def test_a_limit_of_the_operating_system_on_file_size(tmp_path: Path) -> None:
    process = start(LIMITED, tmp_path)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert "cannot be written" in output
    assert "File too large" in output
    store = Store(tmp_path)
    assert [stored.address for stored in store.list()] == [Sums(n=1).address]
    assert store.get(Sums(n=1)) is not None
    assert store.get(Sums(n=2)) is None
    assert list(tmp_path.rglob("*.tmp")) == []


def test_a_run_that_cannot_be_read_is_not_taken_for_damaged(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = put(store, Sums())

    def refuse(path: Path) -> str:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr(files, "sha256_of", refuse)
        with pytest.raises(StoreError, match="cannot be read: Input/output error"):
            store.get(Sums())
    assert directory.exists()
    assert store.get(Sums()) is not None
