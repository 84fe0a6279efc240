"""Getting runs: nothing is computed twice, and a bad run never costs finished work."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from sums import Sums, put

from recombine.errors import InputError
from recombine.runs import Context, Outcome, RunFailed, Store, StoredRun, failure, get_or_compute

COMPUTED: list[str] = []


class Noted(Sums):
    """Sums that say when they are computed."""

    kind = "noted"

    def compute(self, context: Context) -> Outcome:
        COMPUTED.append(self.address)
        return super().compute(context)


@pytest.fixture(autouse=True)
def nothing_computed() -> None:
    COMPUTED.clear()


def test_what_is_stored_is_not_computed(store: Store) -> None:
    runs = {"a": Noted(n=2), "b": Noted(n=3), "again": Noted(n=2)}
    done: list[tuple[str, str]] = []
    found = get_or_compute(store, runs, device="cpu", on_done=lambda name, stored: done.append((name, stored.address)))
    assert list(found) == ["a", "b", "again"]
    assert list(COMPUTED) == [runs["a"].address, runs["b"].address]
    assert done == [(name, run.address) for name, run in runs.items()]
    assert found["a"] == found["again"]
    assert found["b"].provenance["device"] == "cpu"
    get_or_compute(store, runs)
    assert len(COMPUTED) == 2


def test_progress_names_the_run(store: Store) -> None:
    told: list[tuple[str, int, int, str]] = []
    get_or_compute(store, {"a": Sums(n=2)}, device="cpu", progress=lambda *what: told.append(what))
    assert told == [("a", 1, 2, "adding"), ("a", 2, 2, "adding")]


def test_a_device_that_is_not_there_is_said_before_anything_is_computed(store: Store) -> None:
    with pytest.raises(RunFailed, match="there is no device 'abacus'; use auto, cpu or cuda"):
        get_or_compute(store, {"a": Noted(n=2)}, device="abacus")
    assert not COMPUTED
    get_or_compute(store, {"a": Noted(n=2)}, device="cpu")
    # What is stored needs no device.
    assert get_or_compute(store, {"a": Noted(n=2)}, device="abacus")["a"].provenance["device"] == "cpu"


def test_equal_reasons_are_said_once_with_the_names_of_their_runs(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    runs = {f"run{n}": Noted(n=n, fail="too wide" if n != 3 else "too small") for n in range(2, 11)}
    with pytest.raises(RunFailed) as caught:
        get_or_compute(store, runs, device="cpu")
    assert str(caught.value).startswith(
        "9 of 9 runs failed: 'run2', 'run4', 'run5', 'run6', 'run7', 'run8' and 2 more (ValueError: too wide); "
        "'run3' (ValueError: too small); the reasons are kept in "
    )
    assert list(caught.value.failures) == list(runs)
    told = [record.getMessage() for record in caplog.records]
    assert told[:3] == [
        "the run 'run2' failed: ValueError: too wide", "the run 'run3' failed: ValueError: too small",
        "the run 'run4' failed as 'run2' did",
    ]  # fmt: skip
    assert sum("too wide" in one for one in told) == 1


def test_a_run_that_fails_keeps_its_reason_and_the_others_finish(store: Store) -> None:
    bad = Noted(n=3, fail="the moon is\nfull")
    runs = {"one": Noted(n=2), "bad": bad, "two": Noted(n=4)}
    done: list[str] = []
    with pytest.raises(RunFailed) as caught:
        get_or_compute(store, runs, device="cpu", on_done=lambda name, _: done.append(name))
    assert str(caught.value).startswith("1 of 3 runs failed: 'bad' (ValueError: the moon is full); the others are")
    assert list(caught.value.failures) == ["bad"]
    assert isinstance(caught.value, InputError)
    assert done == ["one", "two"]
    assert {stored.address for stored in store.list()} == {runs["one"].address, runs["two"].address}

    kept = json.loads((store.root / "failed" / f"{bad.address}.json").read_text())
    assert kept == failure(store, bad)
    assert kept["type"] == "ValueError"
    assert kept["message"] == "the moon is\nfull"
    assert kept["traceback"].startswith("Traceback")
    assert kept["description"]["fail"] == "the moon is\nfull"
    assert (store.workspace(bad) / "steps.txt").exists()


def test_success_forgets_the_failure(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Sums(n=3)
    with monkeypatch.context() as patch:
        patch.setattr(Sums, "compute", lambda *_: 1 / 0)
        with pytest.raises(RunFailed, match="ZeroDivisionError"):
            get_or_compute(store, {"run": run}, device="cpu")
    assert failure(store, run) is not None
    get_or_compute(store, {"run": run}, device="cpu")
    assert failure(store, run) is None


def test_an_outcome_that_cannot_be_kept_is_a_failure_of_the_run(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sums, "compute", lambda *_: Outcome(notes={"model": object()}))
    with pytest.raises(RunFailed, match="a object cannot be kept in the notes"):
        get_or_compute(store, {"run": Sums()}, device="cpu")


def test_ctrl_c_passes_at_once_and_leaves_work_usable(store: Store) -> None:
    runs = {"one": Noted(n=2), "two": Noted(n=10), "three": Noted(n=5)}

    def interrupt(name: str, done: int, total: int, text: str) -> None:
        if name == "two" and done == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        get_or_compute(store, runs, device="cpu", progress=interrupt)
    assert list(COMPUTED) == [runs["one"].address, runs["two"].address]
    assert not (store.root / "failed").exists()
    found = get_or_compute(store, runs, device="cpu")
    assert found["two"].notes["resumed"] == 6
    assert found["two"].table("sums")["sum"][-1] == 45
    assert COMPUTED.count(runs["one"].address) == 1


def test_a_run_that_another_process_finished_first_is_taken_from_it(store: Store) -> None:
    run = Sums(n=5)

    def overtake(name: str, done: int, total: int, text: str) -> None:
        if done == 2:
            put(store, run)
            shutil.rmtree(store.root / "work", ignore_errors=True)

    found = get_or_compute(store, {"run": run}, device="cpu", progress=overtake)
    assert isinstance(found["run"], StoredRun)
    assert found["run"].provenance["seconds"] == 1.5
    assert failure(store, run) is None


def test_a_failure_record_that_is_damaged_is_none(store: Store) -> None:
    path = Path(store.root / "failed" / f"{Sums().address}.json")
    path.parent.mkdir()
    path.write_text("{")
    assert failure(store, Sums()) is None
