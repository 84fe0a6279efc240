"""Tidying a store: what may go goes, what a study refers to never does, and nobody at work is disturbed."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from sums import PROVENANCE, Sums, data_files, put, start

from recombine.cli.runs import app
from recombine.errors import InputError
from recombine.runs import Outcome, Store, StoreError, collect, failure, files, get_or_compute
from recombine.runs.failures import keep_failure

DAY = 86400.0
OLD, NEW = Sums(n=3, weights=False), Sums(n=4, weights=False)


def age(root: Path, days: float = 400.0) -> None:
    """Date everything below ``root`` so many days back."""
    then = time.time() - days * DAY
    for path in (root, *root.rglob("*")):
        os.utime(path, (then, then), follow_symlinks=False)


def clutter(store: Store) -> dict[str, str]:
    """A store with one run and every kind of rubbish, all of it old: paths by kind of rubbish."""
    root = Path(store.root)
    directory = put(store, OLD)
    (directory / "sums-000000000000.parquet").write_bytes(b"12345")
    (directory / ".run.json.0123456789ab.tmp").write_bytes(b"1")
    half = root / "runs" / NEW.address[:2] / NEW.address
    half.mkdir(parents=True)
    (half / "sums-000000000000.parquet").write_bytes(b"123")
    (root / "aside" / f"{OLD.address}-01234567").mkdir(parents=True)
    (root / "aside" / f"{OLD.address}-01234567" / "reason.txt").write_text("why\n")
    keep_failure(store, OLD, ValueError("once"))
    keep_failure(store, NEW, ValueError("still"))
    (store.workspace(OLD) / "steps.txt").write_text("0")
    (store.workspace(NEW) / "steps.txt").write_text("0 1")
    (root / ".index.parquet.0123456789ab.tmp").write_bytes(b"12")
    age(root)
    return {
        "named by nobody": f"{directory.relative_to(root)}/sums-000000000000.parquet",
        "cut short": f"{directory.relative_to(root)}/.run.json.0123456789ab.tmp",
        "half": str(half.relative_to(root)),
        "aside": f"aside/{OLD.address}-01234567",
        "failure": f"failed/{OLD.address}.json",
        "finished": str(root / "work" / OLD.address),
        "forgotten": str(root / "work" / NEW.address),
        "index": ".index.parquet.0123456789ab.tmp",
    }


def paths(found: Any) -> set[str]:
    return {rubbish.path for rubbish in found}


def everything(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}


def test_what_may_go_is_shown_first_and_gone_when_asked(store: Store) -> None:
    wanted, root = clutter(store), Path(store.root)
    before, valid = everything(root), data_files(root / "runs" / OLD.address[:2] / OLD.address)
    shown = collect(store)
    assert paths(shown) == set(wanted.values())
    assert {r.path: r.bytes for r in shown}[wanted["half"]] == 3
    assert {r.what for r in shown} == {"leftover", "damaged", "failure", "workspace"}
    assert everything(root) == before
    assert collect(Store(root, writable=False)) == shown
    assert collect(store, delete=True) == shown
    assert collect(store) == ()
    stored = store.get(OLD)
    assert stored is not None
    assert {p: valid[p] for p in valid if "000000" not in p} == data_files(stored.directory)
    assert failure(store, NEW) is not None
    assert everything(root) == {
        f"failed/{NEW.address}.json",
        *(f"runs/{OLD.address[:2]}/{OLD.address}/{name}" for name in ("run.json", *data_files(stored.directory))),
    }


def test_runs_go_only_when_it_is_said_which_stay(store: Store) -> None:
    runs = [Sums(n=n, weights=False) for n in range(1, 7)]
    for run in runs:
        put(store, run)
    age(Path(store.root))
    assert collect(store, delete=True) == ()
    kept = {run.address for run in runs[:4]}
    gone = collect(store, delete=True, referred=kept)
    assert [r.what for r in gone] == ["run", "run"]
    assert set(store.addresses()) == kept
    assert all(store.get(address) for address in kept)


def test_what_is_new_unfinished_or_not_ours_stays(store: Store) -> None:
    wanted, root = clutter(store), Path(store.root)
    foreign = ["notes.txt", "work/readme", "runs/zz/mine", f"runs/aa/{'b' * 64}/x", "failed/mine.json", "cache/picture"]
    for name in foreign:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("mine")
        age(root / name)
    os.symlink(root / "cache", root / "work" / ("c" * 64))
    os.utime(root / "work" / NEW.address / "steps.txt", (time.time() - 10 * DAY,) * 2)
    found = paths(collect(store))
    assert found == set(wanted.values()) - {wanted["forgotten"]}
    assert paths(collect(store, older_than=9)) == set(wanted.values())
    for path in root.rglob("*"):
        os.utime(path, follow_symlinks=False)
    assert collect(store, older_than=0, referred=()) == ()


@pytest.mark.parametrize("days", [-1, float("nan")])
def test_days_that_are_none(store: Store, days: float) -> None:
    with pytest.raises(InputError, match="at least 0"):
        collect(store, older_than=days)
    with pytest.raises(InputError, match="read only"):
        collect(Store(store.root, writable=False), delete=True)


@pytest.mark.fault
def test_a_clock_that_jumps(store: Store, monkeypatch: pytest.MonkeyPatch, record_property: Any) -> None:
    """fault: a clock that jumps while a store is tidied | injected: time set 10 years forward and back, files dated in
    the future | outcome: nothing recent is taken, and what the studies refer to stays whatever the clock says"""
    put(store, OLD)
    (store.workspace(NEW) / "steps.txt").write_text("0 1")
    jumps = (3650 * DAY, -3650 * DAY, 0.0)
    for jump in jumps:
        with monkeypatch.context() as patch:
            now = time.time() + jump
            patch.setattr(time, "time", lambda now=now: now)
            assert collect(store, delete=True, referred=()) == ()
    age(Path(store.root), -3650)
    assert collect(store, delete=True, older_than=0, referred=()) == ()
    age(Path(store.root), 3650)
    assert {r.what for r in collect(store, delete=True, referred={OLD.address})} == {"workspace"}
    assert store.get(OLD) is not None
    record_property("tried", len(jumps) + 2)


@pytest.mark.fault
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(choice=st.data())
def test_any_store_any_ages_what_is_referred_to_stays(store: Store, choice: st.DataObject) -> None:
    """fault: files with any dates, some from a clock that was wrong | injected: each file dated at random within 3000
    days of today | outcome: runs that are referred to, and runs at all where nothing is said, are whole afterwards"""
    shutil.rmtree(store.root)
    store = Store(store.root)
    clutter(store)
    runs = [Sums(n=n, weights=False) for n in range(10, 13)]
    for run in (*runs, OLD):
        put(store, run)
    for path in Path(store.root).rglob("*"):
        age_in_days = choice.draw(st.sampled_from([-3000.0, -1.0, 0.0, 0.01, 2.0, 3000.0]))
        os.utime(path, (time.time() - age_in_days * DAY,) * 2)
    referred = choice.draw(st.none() | st.sets(st.sampled_from([run.address for run in runs])))
    collect(store, delete=True, older_than=choice.draw(st.sampled_from([0.0, 1.0, 30.0])), referred=referred)
    for run in runs:
        stored = store.get(run)
        if referred is None or run.address in referred:
            assert stored is not None
            assert stored.table("sums").height == run.n


@pytest.mark.fault
def test_a_collector_that_trusts_no_age_under_a_writer(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """fault: files taken while a run is written | injected: a collector that thinks everything is old runs after each
    file | outcome: the writer notices, writes again, and the run is whole"""
    write, taken, module = files.write, 0, importlib.import_module("recombine.runs._collect")

    def collect_after(path: Path, data: bytes) -> None:
        nonlocal taken
        write(path, data)
        if taken < 3:
            with monkeypatch.context() as patch:
                patch.setattr(module, "HOUR", -1e12)
                taken += len(collect(store, delete=True, referred={OLD.address}))

    monkeypatch.setattr(files, "write", collect_after)
    stored = store.put(OLD, Outcome({"a": pl.DataFrame({"x": [1]}), "b": pl.DataFrame({"x": [2]})}), PROVENANCE)
    assert taken == 3
    assert stored.table("a")["x"].to_list() == [1]
    assert store.get(OLD) is not None


def test_a_run_whose_workspace_was_taken_starts_again_to_the_same_result(store: Store, tmp_path: Path) -> None:
    wanted = put(Store(tmp_path / "other"), NEW)
    (store.workspace(NEW) / "steps.txt").write_text("0 1")
    age(Path(store.root))
    assert [r.what for r in collect(store, delete=True)] == ["workspace"]
    found = get_or_compute(store, {"new": NEW}, device="cpu")["new"]
    assert found.notes["resumed"] == 0
    assert data_files(found.directory) == data_files(wanted)


COLLECTOR = """
import importlib, sys, time
from recombine.runs import Store, collect
importlib.import_module("recombine.runs._collect").HOUR = -1e12
store = Store(sys.argv[1])
print("ready", flush=True)
taken = 0
while True:
    taken += len(collect(store, delete=True))
    if store.root.joinpath("stop").exists():
        break
    time.sleep(0.01)
print(taken)
"""


@pytest.mark.fault
def test_a_process_that_collects_all_the_time(tmp_path: Path, record_property: Any) -> None:
    """fault: a store tidied while runs are written | injected: a process that takes even what is new, every few
    milliseconds, beside one that writes 40 runs | outcome: each run is whole, at once or when it is written again"""
    (tmp_path / "aside" / "damaged").mkdir(parents=True)
    (tmp_path / "aside" / "damaged" / "reason.txt").touch()
    store, collector = Store(tmp_path), start(COLLECTOR, tmp_path)
    try:
        assert collector.stdout
        assert collector.stdout.readline() == "ready\n"
        for n in range(1, 41):
            run = Sums(n=n, weights=False)
            outcome = Outcome({"t": pl.DataFrame({"x": [n]})})
            stored = None
            while stored is None:
                with suppress(StoreError):
                    stored = store.put(run, outcome, PROVENANCE)
            assert stored.table("t")["x"].to_list() == [n]
    finally:
        (tmp_path / "stop").touch()
        taken, errors = collector.communicate(timeout=60)
    assert collector.returncode == 0, errors
    assert int(taken) > 0
    assert all(store.get(Sums(n=n, weights=False)) for n in range(1, 41))
    record_property("tried", 40)


def test_the_command_line(
    store: Store, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RECOMBINE_STORE", str(store.root))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> str:
        app(["gc", *arguments], result_action="return_value")
        return capsys.readouterr().out

    assert call() == "nothing may go\n"
    wanted = clutter(store)
    text = call()
    assert f"{len(wanted)} things, 0 of them runs" in text
    assert "--delete deletes them" in text
    shown = json.loads(call("--json"))
    assert {r["path"] for r in shown["found"]} == set(wanted.values())
    assert not shown["deleted"]
    assert "deleted" in call("--delete")
    assert call() == "nothing may go\n"
    for n in (5, 6):
        put(store, Sums(n=n, weights=False))
    age(Path(store.root))
    (tmp_path / "results" / "mine").mkdir(parents=True)
    (tmp_path / "results" / "mine" / "study.json").write_text(json.dumps({"runs": {"a": {"address": OLD.address}}}))
    keep = ("--unreferenced", "--keep", Sums(n=5, weights=False).address[:8], "--keep-from", "results")
    (gone,) = json.loads(call(*keep, "--delete", "--json"))["found"]
    assert gone["what"] == "run"
    assert gone["path"].endswith(Sums(n=6, weights=False).address)
    assert set(store.addresses()) == {OLD.address, Sums(n=5, weights=False).address}
    for arguments, message in [
        (("--keep", "abcd"), "with --unreferenced"),
        (("--unreferenced", "--keep", "abc"), "no run in"),
        (("--unreferenced", "--keep", "0" * 64), "no run in"),
        (("--unreferenced", "--keep-from", "nowhere"), "holds no study.json"),
        (("--older-than", "-1"), "at least 0"),
        (("--store", "nowhere"), "there is no store"),
    ]:
        with pytest.raises(InputError, match=message):
            call(*arguments)


def test_what_the_studies_refer_to_stays(store: Store) -> None:
    from recombine.cli.gc import _referred
    from recombine.studies import SCALES, STUDIES

    referred = _referred(store, [], [])
    for study in STUDIES.values():
        for scale in SCALES:
            assert {run.address for run in study.runs(scale, None).values()} <= referred
