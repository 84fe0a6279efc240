"""The same tables wherever runs are computed, and nothing is lost where a worker, a node or the driver is ended."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pieces import Bad, Deadly, Slow, Unwritable, looped, table_bytes, trainings
from sums import HERE, SOURCE, Sums, data_files, put, start

from recombine.errors import InputError
from recombine.runs import Run, RunFailed, Store, StoreError, failure, get_or_compute
from recombine.runs.executors import executor
from recombine.runs.work import Answer, Piece, compute

CPUS = 1
"""Cores of each of the two Ray nodes of these tests."""


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The trainings, computed in this process and never disturbed."""
    store = Store(tmp_path_factory.mktemp("here"))
    get_or_compute(store, trainings(), device="cpu")
    return store


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two Ray nodes on this machine, started once for all tests of this file."""
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    from recombine.runs.executors.cluster import quiet

    quiet()
    tests = pytest.MonkeyPatch()
    tests.setenv("PYTHONPATH", f"{SOURCE}{os.pathsep}{HERE}")  # workers must know the runs of these tests
    needs = {"num_cpus": CPUS, "object_store_memory": 80 * 2**20}
    soon = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 1000, "health_check_failure_threshold": 3}
    head = needs | {"num_gpus": 1, "include_dashboard": False, "_system_config": soon}  # Ray does not look for it
    try:
        nodes = Cluster(initialize_head=True, head_node_args=head)
        nodes.add_node(**needs)
        ray.init(address=nodes.address, log_to_driver=False, configure_logging=False)
    except Exception as error:  # A machine without loopback ports or shared memory; what is tested comes after this.
        tests.undo()
        pytest.skip(f"Ray does not start on this machine: {error}")
    yield nodes
    ray.shutdown()
    nodes.shutdown()
    tests.undo()


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    folder = tmp_path / "marks"
    folder.mkdir()
    return folder


def wait_for(condition: Any, seconds: float = 60.0) -> None:
    for _ in range(int(seconds / 0.05)):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen in time")


def same_as_undisturbed(store: Store, run: Sums) -> bool:
    """Whether a run has the files of the plain sums it stands for."""
    stored = store.get(run)
    assert stored is not None
    plain = put(Store(Path(str(store.root)).with_name("undisturbed")), Sums(n=run.n))
    return data_files(Path(str(stored.directory))) == data_files(plain)


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return "zombie" not in Path(f"/proc/{process}/status").read_text()


def test_processes_give_the_same_bytes_and_tell_of_every_run(store: Store, here: Store) -> None:
    runs = trainings()
    done: list[str] = []
    told: list[str] = []
    found = get_or_compute(
        store, runs | {"twice": runs["looped"]}, device="cpu", on="processes:2",
        progress=lambda name, *_: told.append(name), on_done=lambda name, _: done.append(name),
    )  # fmt: skip
    assert table_bytes(store) == table_bytes(here)
    assert list(found) == [*runs, "twice"]
    assert sorted(done) == sorted(found)
    assert found["looped"].notes["stacks"] == [4, 2]
    assert set(told) <= set(runs)
    assert not any((Path(str(store.root)) / "work").iterdir())
    assert "loky" not in found["looped"].provenance["command"]  # what was typed, not how a worker was started


@pytest.mark.long
def test_ray_gives_the_same_bytes(store: Store, here: Store, cluster: Any) -> None:
    found = get_or_compute(store, trainings(), device="cpu", on="ray")
    assert table_bytes(store) == table_bytes(here)
    assert not any((Path(str(store.root)) / "work").iterdir())
    assert "worker" not in found["looped"].provenance["command"]


@pytest.mark.long
def test_two_workers_on_one_run_end_with_one(store: Store, here: Store, cluster: Any) -> None:
    piece = Piece(looped(), "cpu")
    with executor("ray", "cpu") as crew:
        answers = list(crew.each(partial(compute, store), [piece, piece]))
    assert [answer.state for answer in answers] == ["stored", "stored"]
    assert len(store.list()) == 1
    wanted = {name: data for name, data in table_bytes(here).items() if looped().address in name}
    assert table_bytes(store) == wanted


def _who(piece: Piece) -> Answer:
    return Answer(piece.run.address, "kept", ValueError(str(os.getpid())))


@pytest.mark.long
def test_a_worker_that_has_a_gpu_is_kept_for_the_next_piece(cluster: Any) -> None:
    with executor("ray", "cuda") as crew:
        answers = list(crew.each(_who, [Piece(Sums(n=n), "cpu") for n in (1, 2, 3)]))
    assert len({str(answer.error) for answer in answers}) == 1


@pytest.mark.long
def test_a_run_that_fails_on_a_worker_keeps_its_reason_and_the_others_finish(store: Store, cluster: Any) -> None:
    bad = Sums(n=3, fail="the moon is full")
    runs = {"one": Sums(n=2), "bad": bad, "odd": Bad(n=5), "two": Sums(n=4)}
    with pytest.raises(RunFailed) as caught:
        get_or_compute(store, runs, device="cpu", on="ray")
    assert sorted(caught.value.failures) == ["bad", "odd"]
    assert "2 of 4 runs failed" in str(caught.value)
    assert "'bad' (ValueError: the moon is full)" in str(caught.value)
    assert "Odd: the moon is full and the sun is not" in str(caught.value)  # though Odd itself cannot travel
    assert {stored.address for stored in store.list()} == {runs["one"].address, runs["two"].address}
    kept = failure(store, bad)
    assert kept is not None
    assert "in compute" in kept["traceback"]  # of the worker, where it happened
    with pytest.raises(StoreError, match="no space is left"):
        get_or_compute(store, {"store": Unwritable()}, device="cpu", on="ray")


@pytest.mark.fault
def test_a_killed_process_loses_nothing(store: Store, marks: Path) -> None:
    """fault: SIGKILL of a worker process | injected: the worker kills itself in the middle of a run, once | outcome: \
what is left is handed out again, the run continues from its workspace, tables equal an undisturbed run"""
    deadly = Deadly(n=20, marks=str(marks))
    runs: dict[str, Run] = {"deadly": deadly, "other": Sums(n=30), "third": Sums(n=40)}
    found = get_or_compute(store, runs, device="cpu", on="processes:2")
    assert len(list(marks.iterdir())) == 1
    assert found["deadly"].notes["resumed"] == 10
    assert same_as_undisturbed(store, deadly)
    assert found["third"].table("sums").height == 40


@pytest.mark.fault
def test_a_process_that_always_dies_is_said(store: Store, marks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """fault: SIGKILL of worker processes more often than is tried again | injected: the worker kills itself where one \
try is allowed | outcome: given up with the reason, the same command completes, tables equal an undisturbed run"""
    monkeypatch.setattr("recombine.runs.executors.processes.TRIES", 1)
    deadly = Deadly(n=20, marks=str(marks))
    with pytest.raises(InputError, match=r"killed 1 times .* use fewer, such as --on processes:1"):
        get_or_compute(store, {"deadly": deadly, "other": Sums(n=30)}, device="cpu", on="processes:2")
    found = get_or_compute(store, {"deadly": deadly, "other": Sums(n=30)}, device="cpu")
    assert found["deadly"].notes["resumed"] == 10
    assert same_as_undisturbed(store, deadly)


@pytest.mark.fault
@pytest.mark.long
def test_a_killed_ray_worker_loses_nothing(store: Store, marks: Path, cluster: Any) -> None:
    """fault: SIGKILL of a Ray worker | injected: the worker kills itself in the middle of a run, once | outcome: Ray \
begins the piece again, the run continues from its workspace, tables equal an undisturbed run"""
    deadly = Deadly(n=20, marks=str(marks))
    found = get_or_compute(store, {"deadly": deadly, "other": Sums(n=30)}, device="cpu", on="ray")
    assert len(list(marks.iterdir())) == 1
    assert found["deadly"].notes["resumed"] == 10
    assert same_as_undisturbed(store, deadly)


INTERRUPTED = """
import sys
from pieces import Slow
from recombine.runs import Store, get_or_compute

runs = {str(n): Slow(n=n, seconds=60.0, marks=sys.argv[2], weights=False) for n in (50, 60)}
get_or_compute(Store(sys.argv[1]), runs, device="cpu", on="processes:2")
"""


@pytest.mark.fault
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "SIGKILL"])
def test_ending_the_driver_ends_its_processes(store: Store, marks: Path, sent: signal.Signals) -> None:
    """fault: Ctrl-C or SIGKILL of the driver of worker processes | injected: the signal, while two runs are in the \
middle | outcome: it ends at once, no process is left behind, finished steps are kept in the workspaces"""
    driver = start(INTERRUPTED, store.root, marks)
    wait_for(lambda: len(list(Path(str(store.root)).rglob("steps.txt"))) == 2 or driver.poll() is not None)
    workers = [int(path.name.partition("-")[2]) for path in marks.iterdir()]
    assert len(workers) == 2, driver.communicate()
    began = time.monotonic()
    driver.send_signal(sent)
    _, errors = driver.communicate(timeout=60)
    assert time.monotonic() - began < 20
    assert driver.returncode != 0
    assert ("KeyboardInterrupt" in errors) == (sent == signal.SIGINT)
    wait_for(lambda: not any(map(alive, workers)), 20)
    assert store.list() == ()
    assert len(list(Path(str(store.root)).rglob("steps.txt"))) == 2
    assert not (Path(str(store.root)) / "failed").exists()


@pytest.mark.fault
@pytest.mark.long
def test_a_killed_ray_node_loses_nothing(store: Store, here: Store, marks: Path, cluster: Any) -> None:
    """fault: a Ray node is lost | injected: one of two nodes on this machine is killed while both compute | outcome: \
Ray begins its pieces again on the other, tables equal an undisturbed run"""
    slow = [Slow(n=n, marks=str(marks), seconds=0.5) for n in (50, 60)]
    runs: dict[str, Run] = {"first": slow[0], "second": slow[1], **trainings()}
    ended: list[Any] = []
    hold = marks / "hold"
    hold.touch()
    # A daemon: where this test fails, the driver waits for ever for a cluster that is gone.
    driver = threading.Thread(
        target=lambda: ended.append(get_or_compute(store, runs, device="cpu", on="ray")), daemon=True
    )
    driver.start()
    wait_for(lambda: len(list(marks.glob("*-*"))) == 2)
    second = next(node for node in cluster.worker_nodes)
    theirs = [path for path in marks.glob("*-*") if path.read_text() == second.node_id]
    assert theirs
    cluster.remove_node(second, allow_graceful=False)
    # Its worker outlives the node for a moment, in which it could finish.
    wait_for(lambda: not any(alive(int(path.name.partition("-")[2])) for path in theirs))
    hold.unlink()
    driver.join(timeout=300)
    assert len(list(marks.glob("*-*"))) > 2  # what the lost node did was begun again
    assert list(ended[0]) == list(runs)
    assert all(same_as_undisturbed(store, run) for run in slow)
    lost = table_bytes(store)
    assert {name: lost.get(name) for name in table_bytes(here)} == table_bytes(here)
