"""A clock that jumps by years, forwards and back: results do not depend on it, and durations stay durations."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from children import call
from injected import jump_clock, kill_at
from small_study import assert_completes, assert_intact, finished, run_study
from test_driver_killed import was_killed

from recombine.runs import Store

pytestmark = pytest.mark.fault
YEAR = 365.25 * 86400


def jump_and_kill(years: float, store: Path, change: int) -> None:
    jump_clock(years)
    kill_at(store, change)


def shift_files(folder: Path, years: float) -> None:
    """Every file and directory was changed that many years away, as if the clock had stood there."""
    for path in [folder, *folder.rglob("*")]:
        there = path.stat()
        os.utime(path, (there.st_atime + years * YEAR, there.st_mtime + years * YEAR))


@pytest.mark.parametrize("jumps", [(20, -30, 0), (-20, 30, -10)], ids=["forwards, back", "back, forwards"])
def test_the_clock_jumps_between_and_within_processes(
    tmp_path: Path, undisturbed: dict[str, str], jumps: tuple[int, ...], record_property: Callable[[str, object], None]
) -> None:
    """fault: a clock that jumps by years in the middle of a study | injected: time.time and datetime.now decades away,
    another jump at every start, and the dates of all files moved | outcome: nothing finished is lost or repeated,
    tables byte for byte those of an undisturbed run, and every duration is between zero and a minute"""
    for jump in jumps[:-1]:
        assert was_killed(run_study, tmp_path, "small", (jump_and_kill, (jump, tmp_path / "store", 55)))
        assert_intact(tmp_path, undisturbed)
        shift_files(tmp_path / "store", jump)
    before = finished(tmp_path)
    assert before
    call(run_study, tmp_path, "small", (jump_clock, (jumps[-1],)))
    assert before.items() <= finished(tmp_path).items()
    assert_completes(tmp_path, undisturbed)
    stored = Store(tmp_path / "store").list()
    assert len(stored) == 3
    assert all(0 <= run.provenance["seconds"] < 60 for run in stored)
    assert len({run.provenance["started"][:4] for run in stored}) > 1
    record_property("tried", len(jumps))
