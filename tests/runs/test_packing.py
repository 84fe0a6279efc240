"""A store as one file: the same bytes every time, and nothing hostile gets out of it."""

from __future__ import annotations

import io
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from sums import Sums, data_files, put

from recombine.errors import InputError
from recombine.runs import Store, Unpacked, pack, unpack

RUNS = [Sums(n=n) for n in (2, 3, 4)]
ADDRESSES = tuple(sorted(run.address for run in RUNS))


@pytest.fixture
def packed(store: Store, tmp_path: Path) -> Path:
    for run in RUNS:
        put(store, run)
    done = pack(store, tmp_path / "all.zip")
    assert done.runs == 3
    assert done.size == (tmp_path / "all.zip").stat().st_size
    return tmp_path / "all.zip"


def rewrite(file: Path, change: dict[str, bytes | None], compress: int = zipfile.ZIP_STORED) -> Path:
    """A copy with some members of a run changed (by address and start of the name) or left out, or others added."""
    target = file.with_name("changed.zip")
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(target, "w", compress) as new:
        used = set()
        for info in old.infolist():
            key = next((k for k in change if info.filename[len("runs/aa/") :].startswith(k)), None)
            if key is None:
                new.writestr(info.filename, old.read(info))
            else:
                used.add(key)
                if (data := change[key]) is not None:
                    new.writestr(info.filename, data)
        for name in change.keys() - used:
            new.writestr(name, change[name] or b"")
    return target


def test_round_trip(packed: Path, store: Store, tmp_path: Path) -> None:
    other = Store(tmp_path / "other")
    put(other, RUNS[0])
    done = unpack(packed, other)
    assert done.added == tuple(a for a in ADDRESSES if a != RUNS[0].address)
    assert done.kept == (RUNS[0].address,)
    assert done.refused == {}
    for run in RUNS:
        here, there = store.get(run), other.get(run)
        assert here is not None
        assert there is not None
        assert data_files(here.directory) == data_files(there.directory)
        assert (here.directory / "run.json").read_bytes() == (there.directory / "run.json").read_bytes()
    assert unpack(packed, other) == Unpacked((), ADDRESSES, {})


def test_the_same_runs_are_the_same_file(packed: Path, store: Store, tmp_path: Path) -> None:
    other = Store(tmp_path / "other")
    unpack(packed, other)
    pack(other, tmp_path / "again.zip")
    pack(store, tmp_path / "named.zip", [address[:8] for address in reversed(ADDRESSES)] + [ADDRESSES[0]])
    assert packed.read_bytes() == (tmp_path / "again.zip").read_bytes() == (tmp_path / "named.zip").read_bytes()


def test_some_runs(store: Store, packed: Path, tmp_path: Path) -> None:
    assert pack(store, tmp_path / "one.zip", [ADDRESSES[1][:6]]).runs == 1
    assert unpack(tmp_path / "one.zip", Store(tmp_path / "other")).added == (ADDRESSES[1],)
    assert pack(store, tmp_path / "none.zip", []).runs == 0
    with pytest.raises(InputError, match="unknown run 'ffff0000'"):
        pack(store, tmp_path / "unknown.zip", ["ffff0000"])
    assert not (tmp_path / "unknown.zip").exists()


def test_a_damaged_run_is_not_packed(store: Store, packed: Path, tmp_path: Path) -> None:
    stored = store.get(RUNS[0])
    assert stored is not None
    next(stored.directory.glob("*.parquet")).write_bytes(b"")
    assert pack(store, tmp_path / "rest.zip").runs == 2


def test_a_file_that_cannot_be_written(store: Store, packed: Path, tmp_path: Path) -> None:
    for file in (packed / "below.zip", tmp_path / "none" / "x.zip"):
        with pytest.raises(InputError, match="cannot be written"):
            pack(store, file)
    assert zipfile.is_zipfile(packed)
    assert not list(tmp_path.glob("*.tmp"))


HOSTILE = [
    "../evil", "/etc/evil", "runs/../../evil", "runs\\..\\evil", "C:/evil", "run.json", "runs/aa/run.json",
    f"runs/aa/{'b' * 64}/run.json", f"runs/aa/{'a' * 64}/../x-{'0' * 12}.parquet", f"runs/aa/{'a' * 64}/evil.py",
    f"runs/aa/{'a' * 64}/x-{'0' * 12}.pickle", f"runs/aa/{'a' * 64}/x-{'0' * 12}.parquet\n", "runs/", "\x1b[31m",
    f"RUNS/aa/{'a' * 64}/run.json", f"runs/aa/{'a' * 64}/{'x' * 101}-{'0' * 12}.parquet",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_refuse_the_whole_file(packed: Path, tmp_path: Path, name: str) -> None:
    other = Store(tmp_path / "other")
    changed = rewrite(packed, {name: b"evil"})
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError, match="has no place in a store"):
        unpack(changed, other)
    assert sorted(tmp_path.rglob("*")) == before


def test_the_bound_on_size(packed: Path, tmp_path: Path) -> None:
    other = Store(tmp_path / "other")
    with pytest.raises(InputError, match=r"holds \d+ bytes, and at most 1000 are allowed"):
        unpack(packed, other, max_bytes=1000)
    bomb = rewrite(packed, {f"runs/aa/{'a' * 64}/x-{'0' * 12}.parquet": bytes(10**6)}, zipfile.ZIP_DEFLATED)
    with pytest.raises(InputError, match="is compressed or encrypted"):
        unpack(bomb, other)
    assert list(other.root.iterdir()) == []


def test_the_same_name_twice(packed: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(packed, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr(archive.namelist()[0], b"again")
    with pytest.raises(InputError, match="has no place in a store"):
        unpack(packed, Store(tmp_path / "other"))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({f"{ADDRESSES[0]}/run.json": b"{}"}, "has schema"),
        ({f"{ADDRESSES[0]}/run.json": None}, "run.json is missing"),
        ({f"{ADDRESSES[0]}/tensors": b"x"}, "bytes instead of"),
        ({f"{ADDRESSES[0]}/sums": None}, "its files are not those"),
        ({f"runs/{ADDRESSES[0][:2]}/{ADDRESSES[0]}/more-{'0' * 12}.parquet": b""}, "its files are not those"),
    ],
)
def test_a_damaged_run_is_refused_and_the_others_are_added(
    packed: Path, tmp_path: Path, change: dict[str, bytes | None], reason: str
) -> None:
    other = Store(tmp_path / "other")
    done = unpack(rewrite(packed, change), other)
    assert done.added == ADDRESSES[1:]
    assert list(done.refused) == [ADDRESSES[0]]
    assert reason in done.refused[ADDRESSES[0]]
    assert not (other.root / "runs" / ADDRESSES[0][:2] / ADDRESSES[0]).exists()


def test_what_is_no_packed_file(tmp_path: Path) -> None:
    other = Store(tmp_path / "other")
    with pytest.raises(InputError, match="there is no file"):
        unpack(tmp_path / "none.zip", other)
    with pytest.raises(InputError, match="cannot be read"):
        unpack(tmp_path, other)
    (tmp_path / "text.zip").write_text("hello")
    with pytest.raises(InputError, match="is not a file made by 'recombine runs pack'"):
        unpack(tmp_path / "text.zip", other)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_change_of_the_file_brings_a_wrong_run_in(packed: Path, tmp_path: Path, data: st.DataObject) -> None:
    good = packed.read_bytes()
    bad = bytearray(good)
    for _ in range(data.draw(st.integers(1, 4))):
        # Most of what zip readers stumble over is in the directory at the end.
        position = data.draw(st.integers(0, len(good) - 1) | st.integers(len(good) - 400, len(good) - 1))
        bad[position] = data.draw(st.integers(0, 255))
    file = tmp_path / "bad.zip"
    file.write_bytes(bad[: data.draw(st.just(len(bad)) | st.integers(0, len(bad)))])
    other = Store(tmp_path / "fuzzed")
    with suppress(InputError):
        unpack(file, other)
    for stored in other.list():
        checked = other.get(stored.address)
        assert checked is not None
        assert data_files(checked.directory).items() <= members(good, stored.address).items()
        other.remove(stored.address)
    assert not (other.root / "aside").exists()


def members(archive: bytes, address: str) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        return {name.rsplit("/", 1)[1]: opened.read(name) for name in opened.namelist() if address in name}
