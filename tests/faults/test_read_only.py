"""A store that turns read-only in the middle of a study: said at once, and what was finished is still served."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from children import call
from injected import on_changes, own_disk, protect_disk, refuse_from
from small_study import assert_completes, assert_intact, code_of, hashes, run_study
from sums import Sums, data_files, put
from test_disk_full import can_mount

from recombine.errors import InputError
from recombine.runs import Store, StoreError, files, get_or_compute

pytestmark = pytest.mark.fault


def test_every_change_is_refused_from_some_moment_on(
    tmp_path: Path, undisturbed: dict[str, str], record_property: Callable[[str, object], None]
) -> None:
    """fault: a store that turns read-only in the middle of a study | injected: every change of a file from the k-th on
    is refused with EROFS (audit hook), so that it holds for root too | outcome: one sentence and exit code 2; what is
    visible is whole; writable again, the same command completes to the same bytes"""
    moments = (3, 12, 45, 75)
    for moment in moments:
        folder = tmp_path / str(moment)
        text = call(run_study, folder, "small", (refuse_from, (folder / "store", moment)), code=2)
        said = [line for line in text.splitlines() if line.startswith("recombine:")]
        assert len(said) == 1, text
        assert "Read-only file system" in said[0], text
        assert "Traceback" not in text
        assert_intact(folder, undisturbed)
        assert_completes(folder, undisturbed)
    record_property("tried", len(moments))


def study_on_disk_that_turns_read_only(folder: Path, moment: int, kept: Path) -> None:
    folder.mkdir()
    own_disk(folder, 2**26)
    turned = False

    def act(k: int) -> None:
        nonlocal turned
        if k >= moment and not turned:
            turned = protect_disk(folder, True)

    code = code_of(run_study, folder, "small", (on_changes, (folder / "store", act)))
    print(f"code {code}")
    shutil.copytree(folder, kept / "protected")
    moment = 10**9
    while not protect_disk(folder, False):
        pass
    turned = True
    print(f"again {code_of(run_study, folder)}")
    shutil.copytree(folder, kept / "writable")


def test_the_file_system_is_remounted_read_only(
    tmp_path: Path, undisturbed: dict[str, str], record_property: Callable[[str, object], None]
) -> None:
    """fault: a file system that turns read-only in the middle of a study | injected: a tmpfs remounted read-only before
    the k-th change of a file; skipped where mounting is not allowed | outcome: one sentence and exit code 2; what is
    visible is whole; remounted writable, the same command completes to the same bytes"""
    (tmp_path / "probe").mkdir()
    try:
        call(can_mount, tmp_path / "probe")
    except AssertionError:
        pytest.skip("mounting is not allowed here")
    moments = (5, 33, 62)
    for moment in moments:
        kept = tmp_path / str(moment)
        text = call(study_on_disk_that_turns_read_only, tmp_path / f"disk-{moment}", moment, kept)
        assert "code 2" in text, text
        assert "Read-only file system" in text
        assert "Traceback" not in text
        assert "again 0" in text, text
        assert_intact(kept / "protected", undisturbed)
        assert hashes(kept / "writable") == undisturbed
    record_property("tried", len(moments))


def test_what_is_finished_is_served_from_a_read_only_store(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """fault: a store that has turned read-only | injected: making directories and files fails with EROFS | outcome: a
    finished run is served, a new one is refused in one sentence"""
    earlier = put(store, Sums(n=3))

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "mkdir", refuse)
    monkeypatch.setattr(files, "write", refuse)
    with pytest.raises(StoreError, match="no workspace can be made"):
        get_or_compute(store, {"new": Sums(n=4)}, device="cpu")
    assert get_or_compute(store, {"old": Sums(n=3)})["old"].table("sums").height == 3
    assert data_files(earlier)


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.ENOSPC])
def test_a_root_that_cannot_be_written_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """fault: a store that cannot be written from the start | injected: the first write fails with EROFS, EACCES, ENOSPC
    | outcome: refused before anything is computed, with the reason"""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "write_bytes", refuse)
    with pytest.raises(InputError, match=f"cannot be written: {os.strerror(number)}; choose another"):
        Store(tmp_path / "store")


NOBODY = 65534


def open_store_without_permission(root: Path) -> None:
    if os.geteuid() == 0:
        os.setuid(NOBODY)  # permissions do not stop root
    Store(root)


def test_a_directory_without_permission() -> None:
    """fault: a directory without permission to write | injected: mode 555, opened by a user who does not own it |
    outcome: refused before anything is computed, with the reason"""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o555)
        said = call(open_store_without_permission, Path(folder) / "store", code=1)
        Path(folder).chmod(0o755)
    assert "cannot be written: Permission denied; choose another" in said


def test_a_root_that_is_a_file_or_lies_below_one(tmp_path: Path) -> None:
    """fault: a store's path is a file or lies below one | injected: both | outcome: refused in one sentence, the file
    untouched"""
    file = tmp_path / "file"
    file.write_text("mine")
    for root in (file, file / "store"):
        with pytest.raises(InputError, match=r"is or lies below a file; give a directory\.$"):
            Store(root)
    assert file.read_text() == "mine"
