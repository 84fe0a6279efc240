"""A damaged file is never served: it is noticed, set aside with the reason, and computed again to the same bytes."""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from children import call
from hypothesis import given, settings, strategies as st
from injected import kill_at
from small_study import hashes, run_study
from sums import Sums, data_files, put
from test_driver_killed import was_killed

from recombine.runs import Store, StoreError, get_or_compute
from recombine.runs.manifest import Damaged, Manifest, _hash

pytestmark = pytest.mark.fault
RUN = Sums(n=30)
Harm = Callable[[Path], object]


def one(directory: Path, pattern: str) -> Path:
    (path,) = directory.glob(pattern)
    return path


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def flip(path: Path, position: int = -3) -> None:
    data = bytearray(path.read_bytes())
    data[position] ^= 1
    path.write_bytes(data)


def edit(directory: Path, change: Callable[[dict[str, object]], object], *, seal: bool) -> None:
    path = directory / "run.json"
    body = json.loads(path.read_text())
    change(body)
    if seal:
        del body["seal"]
        body["seal"] = _hash(body)
    path.write_text(json.dumps(body))


def foreign(directory: Path) -> None:
    other = put(Store(directory.parents[3] / "other"), Sums(n=2))
    shutil.copy(other / "run.json", directory / "run.json")


def outside(body: dict[str, dict[str, dict[str, str]]]) -> None:
    body["tables"]["sums"]["file"] = "../../../../secret"


HARMS: dict[str, tuple[Harm, str]] = {
    "truncated Parquet": (lambda d: truncate(one(d, "sums-*.parquet")), "bytes instead of"),
    "empty Parquet": (lambda d: one(d, "sums-*.parquet").write_bytes(b""), "has 0 bytes"),
    "flipped byte in safetensors": (lambda d: flip(one(d, "*.safetensors")), "does not match its SHA-256"),
    "missing table": (lambda d: one(d, "last-*.parquet").unlink(), "is missing"),
    "missing tensors": (lambda d: one(d, "*.safetensors").unlink(), "is missing"),
    "truncated run.json": (lambda d: truncate(d / "run.json"), "is not JSON"),
    "empty run.json": (lambda d: (d / "run.json").write_bytes(b""), "is not JSON"),
    "run.json is no text": (lambda d: (d / "run.json").write_bytes(b"\xff\xfe\x00"), "is not JSON"),
    "run.json nested deeply": (lambda d: (d / "run.json").write_text("[" * 100_000), "is not JSON"),
    "run.json is a list": (lambda d: (d / "run.json").write_text("[]"), "is not an object"),
    "run.json of another run": (foreign, "belongs to another run"),
    "another schema": (lambda d: edit(d, lambda b: b.update(schema=2), seal=True), "has schema '2'"),
    "changed notes": (lambda d: edit(d, lambda b: b.update(notes={"best": 1}), seal=False), "does not match its seal"),
    "not a number": (lambda d: edit(d, lambda b: b.update(notes={"x": float("nan")}), seal=False), "what JSON cannot"),
    "changed description": (
        lambda d: edit(d, lambda b: b["description"].update(n=31), seal=True),  # type: ignore[attr-defined]
        "does not have this address",
    ),
    "no tables": (lambda d: edit(d, lambda b: b.pop("tables"), seal=True), "lacks what a run needs"),
    "a path out of the store": (lambda d: edit(d, outside, seal=True), "a name no table can have"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("harm", HARMS)
def test_damage_is_noticed_set_aside_and_redone(store: Store, caplog: pytest.LogCaptureFixture, harm: str) -> None:
    """fault: a damaged file of a finished run: Parquet, safetensors, run.json | injected: truncated, emptied, flipped,
    removed, exchanged or edited in 17 ways | outcome: noticed when the run is asked for, set aside with the reason,
    computed again to the same bytes; its neighbours stay"""
    do, reason = HARMS[harm]
    directory = put(store, RUN)
    bystander = put(store, Sums(n=3))
    before = data_files(directory)
    do(directory)
    with caplog.at_level(logging.WARNING, logger="recombine.runs"):
        assert store.get(RUN) is None
    assert reason in caplog.text
    assert "set aside" in caplog.text
    assert not directory.exists()
    (aside,) = (store.root / "aside").iterdir()
    assert aside.name.startswith(RUN.address)
    assert reason in (aside / "reason.txt").read_text()

    found = get_or_compute(store, {"run": RUN}, device="cpu")["run"]
    assert data_files(found.directory) == before
    assert data_files(bystander)
    assert store.get(Sums(n=3)) is not None


FILES = {
    "members table": "store/runs/*/*/members-*.parquet",
    "weights": "store/runs/*/*/tensors-*.safetensors",
    "run.json": "store/runs/*/*/run.json",
    "checkpoint.json": "store/work/*/*/checkpoint.json",
    "state of a checkpoint": "store/work/*/*/state-*.safetensors",
    "records of a checkpoint": "store/work/*/*/record-*.parquet",
}
DAMAGES: dict[str, Callable[[Path], object]] = {
    "truncated": truncate,
    "flipped at the front": lambda path: flip(path, 9),
    "flipped in the middle": lambda path: flip(path, path.stat().st_size // 2),
    "removed": Path.unlink,
}


@pytest.fixture(scope="module")
def half(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small study, killed when one run was stored and the next had a checkpoint."""
    for moment in range(60, 200, 2):
        folder = tmp_path_factory.mktemp("half") / "study"
        assert was_killed(run_study, folder, "small", (kill_at, (folder / "store", moment)))
        if all(any(folder.glob(pattern)) for pattern in FILES.values()):
            return folder
    raise AssertionError("no moment leaves a run and a checkpoint")


@pytest.mark.parametrize("file", FILES)
def test_damage_in_the_middle_of_a_study(
    tmp_path: Path, half: Path, undisturbed: dict[str, str], file: str, record_property: Callable[[str, object], None]
) -> None:
    """fault: a truncated Parquet, a flipped byte in a safetensors file, a missing JSON, of finished runs and of
    checkpoints | injected: a study is killed, one of its files cut, flipped or removed | outcome: the same command
    completes, and tables are byte for byte those of an undisturbed run"""
    for i, damage in enumerate(DAMAGES.values()):
        folder = tmp_path / str(i)
        shutil.copytree(half, folder)
        damage(next(iter(sorted(folder.glob(FILES[file])))))
        call(run_study, folder)
        assert hashes(folder) == undisturbed
    record_property("tried", len(DAMAGES))


def test_a_run_without_run_json_is_no_run_and_is_left_to_its_writer(store: Store) -> None:
    """fault: a missing run.json | injected: removed from a finished run | outcome: the run counts as not there; its
    files are left for whoever may be writing it"""
    directory = put(store, RUN)
    (directory / "run.json").unlink()
    assert store.get(RUN) is None
    assert data_files(directory)
    assert not (store.root / "aside").exists()
    assert store.list() == ()


def test_damage_after_opening_is_noticed_when_reading(store: Store) -> None:
    """fault: a file is damaged between opening a run and reading it | injected: one bit flipped, one file removed |
    outcome: an error that names the run, and no number"""
    directory = put(store, RUN)
    stored = store.get(RUN)
    assert stored is not None
    flip(one(directory, "sums-*.parquet"))
    with pytest.raises(StoreError, match="is damaged"):
        stored.table("sums")
    one(directory, "*.safetensors").unlink()
    with pytest.raises(StoreError, match="cannot be read"):
        stored.tensors()


def test_damage_in_a_store_only_read_is_said_and_left(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    """fault: a damaged file in a store that is only read | injected: one bit flipped | outcome: said, not used, not
    moved"""
    directory = put(store, RUN)
    flip(one(directory, "sums-*.parquet"))
    reading = Store(store.root, writable=False)
    assert reading.get(RUN) is None
    assert "is not used" in caplog.text
    with pytest.raises(StoreError, match="is damaged and not used"):
        reading.find(RUN.address[:12])
    assert directory.exists()


def test_no_changed_byte_of_run_json_goes_unnoticed(
    store: Store, record_property: Callable[[str, object], None]
) -> None:
    """fault: any changed byte of run.json | injected: 150 drawn positions and values | outcome: noticed, unless the
    content is the same"""
    put(store, RUN)
    stored = store.get(RUN)
    assert stored is not None
    good = stored.manifest.to_bytes()
    assert good == (stored.directory / "run.json").read_bytes()
    tried = 0

    @settings(max_examples=150, deadline=None)
    @given(st.integers(0, len(good) - 1), st.integers(1, 255))
    def change(position: int, bits: int) -> None:
        nonlocal tried
        tried += 1
        bad = bytearray(good)
        bad[position] ^= bits
        with suppress(Damaged):
            assert Manifest.parse(bytes(bad), RUN.address) == stored.manifest  # One blank between words for another.

    change()
    record_property("tried", tried)


def test_damage_that_cannot_be_set_aside_is_said_and_overwritten(
    store: Store, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """fault: a damaged run that cannot be moved aside | injected: renaming its directory fails with EACCES | outcome:
    said; computed again in its place"""
    flip(one(put(store, RUN), "sums-*.parquet"))
    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", lambda *_: (_ for _ in ()).throw(PermissionError(13, "Permission denied")))
        assert store.get(RUN) is None
        assert "cannot be set aside: Permission denied" in caplog.text
    put(store, RUN)
    assert store.get(RUN) is not None
