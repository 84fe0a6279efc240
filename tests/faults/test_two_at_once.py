"""Two studies at once on one store: neither loses or spoils what the other does."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from children import call, start
from small_study import assert_intact, hashes, run_study
from sums import PROVENANCE, Sums

from recombine.runs import Outcome, Store, files

pytestmark = pytest.mark.fault


def wait_for(moment: float) -> None:
    time.sleep(max(0.0, moment - time.monotonic()))


def run_together(folder: Path, *names: str) -> None:
    """Start one study per name at the same instant and wait for all."""
    moment = time.monotonic() + 0.3
    for child in [start(run_study, folder, name, (wait_for, (moment,))) for name in names]:
        child.finish()


def test_the_same_study_twice_at_once(
    tmp_path: Path, undisturbed: dict[str, str], record_property: Callable[[str, object], None]
) -> None:
    """fault: two processes run the same study on one store at once | injected: twice, started at the same instant |
    outcome: both end well, one whole run each, tables byte for byte those of one process alone"""
    for i in range(2):
        folder = tmp_path / str(i)
        run_together(folder, "small", "small")
        assert hashes(folder) == undisturbed
        assert_intact(folder, undisturbed)
        assert not any((folder / "store" / "work").iterdir())
    record_property("tried", 2)


def test_two_studies_that_share_a_run_at_once(tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    """fault: two different studies on one store at once, one of their runs the same | injected: twice, started at the
    same instant | outcome: both end well; tables byte for byte those of one after the other"""
    for name in ("small", "other"):
        call(run_study, tmp_path / "alone", name)
    expected = hashes(tmp_path / "alone")
    assert len(expected) == 4 * 4 + 2
    for i in range(2):
        folder = tmp_path / str(i)
        run_together(folder, "small", "other")
        assert hashes(folder) == expected
    record_property("tried", 2)


def write_runs(root: Path, name: str, moment: float) -> None:
    store = Store(root)
    wait_for(moment)
    for n in range(60):
        outcome = Outcome({"who": pl.DataFrame({"name": [name] * (n + 1)}), "n": pl.DataFrame({"n": [n]})})
        stored = store.put(Sums(n=n + 1), outcome, {"who": name})
        assert stored.table("who").height == n + 1
        assert stored.table("who")["name"].unique().to_list() == [stored.provenance["who"]]


def test_two_writers_of_the_same_runs(tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    """fault: two processes store the same runs with different content at once | injected: 60 runs, started at the same
    instant | outcome: one whole run each, from one writer alone, never a mixture"""
    moment = time.monotonic() + 0.3
    for writer in [start(write_runs, tmp_path, name, moment) for name in ("first", "second")]:
        writer.finish()
    store = Store(tmp_path)
    assert len(store.list()) == 60
    for n in range(60):
        stored = store.get(Sums(n=n + 1))
        assert stored is not None
        assert stored.table("who").rows() == [(stored.provenance["who"],)] * (n + 1)
    assert not (tmp_path / "aside").exists()
    record_property("tried", 60)


def test_a_directory_removed_under_a_writer_is_made_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """fault: another process removes the directory of a run while it is written | injected: removed between two of its
    files | outcome: written again, whole"""
    write, calls = files.write, []

    def interfere(path: Path, *arguments: object) -> None:
        calls.append(path.name)
        if len(calls) == 2:
            shutil.rmtree(path.parent)
        write(path, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(files, "write", interfere)
    stored = store.put(Sums(), Outcome({"a": pl.DataFrame({"x": [1]}), "b": pl.DataFrame({"x": [2]})}), PROVENANCE)
    assert stored.table("a")["x"].to_list() == [1]
    assert len(calls) == 5
