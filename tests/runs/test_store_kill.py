"""SIGKILL at any moment, and two writers at once: there is no run or a valid run, and the same tables in the end."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

import polars as pl
import pytest
from sums import PROVENANCE, Sums, data_files, put, start

from recombine.runs import Outcome, Store, files, obtain

RUN = Sums(n=40, weights=False)
HEAVY = Sums(n=40)

KILLED = """
import os, signal, sys
from recombine.runs import Store, files, obtain
from sums import Sums

root, moment, left = sys.argv[1], sys.argv[2], int(sys.argv[3])
replace, sync = os.replace, files._sync

def count_down(*_):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)

def replace_counted(source, target):
    mine = ("steps" in str(source)) == (moment == "step")
    if mine and moment in ("before", "tensors"):
        count_down()
    replace(source, target)
    if mine and moment in ("after", "step"):
        count_down()

def sync_half(descriptor):
    if left == 1:
        os.ftruncate(descriptor, 5)
    count_down()
    sync(descriptor)

if moment == "write":
    files._sync = sync_half
elif moment == "tidy":
    files.delete = count_down
else:
    os.replace = replace_counted
obtain(Store(root), {"run": Sums(n=40, weights=moment == "tensors")}, device="cpu")
"""

MOMENTS = [("step", 1), ("step", 25), ("tidy", 1), ("tensors", 4)]
MOMENTS += [(moment, file) for moment in ("write", "before", "after") for file in (1, 2, 3)]
VISIBLE = {("after", 3), ("tidy", 1)}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = Store(tmp_path_factory.mktemp("undisturbed"))
    put(store, RUN)
    put(store, HEAVY)
    return store


def test_a_kill_at_any_moment_leaves_no_run_or_a_valid_one(tmp_path: Path, undisturbed: Store) -> None:
    roots = {moment: tmp_path / "-".join(map(str, moment)) for moment in MOMENTS}
    waiting = list(roots.items())
    while waiting:
        batch, waiting = waiting[:2], waiting[2:]
        for process in [start(KILLED, root, *moment) for moment, root in batch]:
            _, errors = process.communicate(timeout=120)
            assert process.returncode == -signal.SIGKILL, errors

    for moment, root in roots.items():
        run = HEAVY if moment[0] == "tensors" else RUN
        store = Store(root)
        assert (store.get(run) is not None) == (moment in VISIBLE), moment
        found = obtain(store, {"run": run}, device="cpu")["run"]
        wanted = undisturbed.get(run)
        assert wanted is not None
        assert data_files(found.directory) == data_files(wanted.directory), moment
        assert not (root / "work" / run.address).exists(), moment
        assert not (root / "aside").exists(), moment
        if moment not in VISIBLE:
            assert found.notes["resumed"] == (moment[1] if moment[0] == "step" else 40), moment


WRITER = """
import sys
import polars as pl
from recombine.runs import Outcome, Store
from sums import Sums

store, name = Store(sys.argv[1]), sys.argv[2]
print("ready", flush=True)
sys.stdin.readline()
for n in range(60):
    outcome = Outcome({"who": pl.DataFrame({"name": [name] * (n + 1)}), "n": pl.DataFrame({"n": [n]})})
    stored = store.put(Sums(n=n + 1), outcome, {"who": name})
    assert stored.table("who").height == n + 1
    assert stored.table("who")["name"].unique().to_list() == [stored.provenance["who"]]
"""


def test_two_processes_writing_the_same_runs_end_with_one_valid_run_each(tmp_path: Path) -> None:
    writers = [start(WRITER, tmp_path, name) for name in ("first", "second")]
    for writer in writers:
        assert writer.stdout
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        _, errors = writer.communicate(timeout=60)
        assert writer.returncode == 0, errors
    store = Store(tmp_path)
    assert len(store.list()) == 60
    for n in range(60):
        stored = store.get(Sums(n=n + 1))
        assert stored is not None
        assert stored.table("who").rows() == [(stored.provenance["who"],)] * (n + 1)
    assert not (tmp_path / "aside").exists()


def test_a_directory_set_aside_under_a_writer_is_made_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    write, calls = files.write, []

    def interfere(path: Path, data: bytes) -> None:
        calls.append(path.name)
        if len(calls) == 2:
            shutil.rmtree(path.parent)
        write(path, data)

    monkeypatch.setattr(files, "write", interfere)
    stored = store.put(RUN, Outcome({"a": pl.DataFrame({"x": [1]}), "b": pl.DataFrame({"x": [2]})}), PROVENANCE)
    assert stored.table("a")["x"].to_list() == [1]
    assert len(calls) == 5
