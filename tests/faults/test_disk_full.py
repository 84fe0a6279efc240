"""A disk that fills in the middle of a write: one sentence, nothing half-written is served, and room completes it."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from children import call
from injected import limit_files, own_disk, resize_disk
from small_study import assert_completes, assert_intact, code_of, hashes, run_study
from sums import Sums, put

from recombine.runs import Store, StoreError, files

pytestmark = pytest.mark.fault
REASONS = ("File too large", "No space left on device")


def study_with_limit(folder: Path, size: int, late: bool) -> None:
    """The study where no file may grow beyond ``size`` bytes; ``late``: once the first run is stored."""
    import recombine.runs.execute as execute

    def limited() -> None:
        if not late:
            limit_files(size)
            return
        real = execute.Store.put

        def put(self: object, *arguments: object) -> object:
            stored = real(self, *arguments)  # type: ignore[arg-type]
            limit_files(size)
            return stored

        execute.Store.put = put  # type: ignore[method-assign, assignment]

    run_study(folder, "small", (limited, ()))


def assert_one_sentence(text: str) -> None:
    """A person is told what is wrong and what to do, and sees no traceback."""
    said = [line for line in text.splitlines() if line.startswith("recombine:")]
    assert len(said) == 1, text
    assert any(reason in said[0] for reason in REASONS), text
    assert "Traceback" not in text


@pytest.mark.parametrize("late", [False, True], ids=["from the start", "after the first run"])
def test_no_file_may_grow_beyond_a_limit(
    tmp_path: Path, undisturbed: dict[str, str], late: bool, record_property: Callable[[str, object], None]
) -> None:
    """fault: disk full in the middle of a write, of results, checkpoints and index | injected: a limit of the operating
    system on the size of files (RLIMIT_FSIZE), at many sizes, for writes of Python and of libraries alike | outcome:
    one sentence and exit code 2; what is visible is whole; with room the same command completes to the same bytes"""
    sizes = (1, 700, 1500, 2200)
    for size in sizes:
        folder = tmp_path / str(size)
        assert_one_sentence(call(study_with_limit, folder, size, late, code=2))
        assert_intact(folder, undisturbed)
        assert list((folder / "store").rglob("*.tmp")) == []
        assert_completes(folder, undisturbed)
    record_property("tried", len(sizes))


def study_on_small_disk(folder: Path, size: int, kept: Path) -> None:
    """The study on a disk of its own that is too small, then on the same disk with room; kept elsewhere to be seen."""
    folder.mkdir()
    own_disk(folder, size)
    code = code_of(run_study, folder)
    print(f"code {code}")
    resize_disk(folder, 2**26)
    left = [str(path) for path in (folder / "store").rglob("*.tmp")]
    shutil.copytree(folder, kept / "full")
    again = code_of(run_study, folder)
    print(f"again {again} left {left}")
    shutil.copytree(folder, kept / "roomy")


def can_mount(folder: Path) -> None:
    own_disk(folder, 2**20)


def test_a_small_disk_fills(
    tmp_path: Path, undisturbed: dict[str, str], record_property: Callable[[str, object], None]
) -> None:
    """fault: disk full in the middle of a write, wherever it comes | injected: a file system in memory (tmpfs) of 8 to
    104 kB; skipped where mounting is not allowed | outcome: one sentence and exit code 2; what is visible is whole;
    with room the same command completes to the same bytes"""
    (tmp_path / "probe").mkdir()
    try:
        call(can_mount, tmp_path / "probe")
    except AssertionError:
        pytest.skip("mounting is not allowed here; the limit on the size of files is tried instead")
    sizes = [2**12 * pages for pages in (2, 9, 15, 20, 26)]
    full = 0
    for size in sizes:
        kept = tmp_path / str(size)
        text = call(study_on_small_disk, tmp_path / f"disk-{size}", size, kept)
        if "code 0" not in text:
            full += 1
            assert "code 2" in text, text
            assert_one_sentence(text.split("code 2")[0])
        assert "again 0 left []" in text, text
        assert_intact(kept / "full", undisturbed)
        assert hashes(kept / "roomy") == undisturbed
    record_property("tried", full)
    assert full >= 3


def test_a_run_that_cannot_be_read_is_not_taken_for_damaged(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """fault: a disk that cannot be read just now | injected: EIO when a finished run is checked | outcome: an error in
    one sentence; the run is not set aside, and is served once the disk answers"""
    directory = put(store, Sums())

    def refuse(*_: object) -> str:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr(files, "sha256_of", refuse)
        with pytest.raises(StoreError, match="cannot be read: Input/output error"):
            store.get(Sums())
    assert directory.exists()
    assert store.get(Sums()) is not None
