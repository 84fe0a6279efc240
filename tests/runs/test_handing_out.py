"""Runs are split as their plan says, joined by whoever finishes last, and the tables are those of one process."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import pytest
from pieces import looped, table_bytes
from sums import Sums

from recombine.errors import InputError
from recombine.runs import Context, Run, Store, get_or_compute
from recombine.runs.execute import _answers
from recombine.runs.executors import executor
from recombine.runs.executors.here import Here
from recombine.runs.handing_out import cost, split
from recombine.runs.notes import Note, noted, spent
from recombine.runs.run import RunPlan
from recombine.runs.training import TrainingRun
from recombine.runs.watching import watching
from recombine.runs.work import Answer, Piece, compute, plan


class Beside:
    """An executor that takes runs apart, and computes the pieces here in the order in which they come."""

    device, workers, apart = "cpu", 1, True

    def __init__(self) -> None:
        self.begun: list[tuple[str, int | None]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None: ...

    def each(self, work: Any, pieces: Sequence[Piece]) -> Iterator[Answer]:
        for piece in pieces:
            if work.func is compute:
                self.begun.append((piece.run.address[:6], piece.unit))
            yield work(piece)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The looped run, computed here in one piece."""
    store = Store(tmp_path_factory.mktemp("whole"))
    get_or_compute(store, {"looped": looped()}, device="cpu")
    return store


def test_a_training_is_split_into_its_stacks_and_other_runs_are_not() -> None:
    wanted = looped().plan("cpu")
    assert (wanted.strategy, wanted.stack, wanted.units) == ("loop", 4, 2)
    assert looped(members=3).plan("cpu").units == 1
    assert looped(steps=0).plan("cpu").units == 1  # nothing to train: there would be no checkpoint to join
    assert Sums().plan("cpu") == RunPlan()
    with pytest.raises(InputError, match="one piece"):
        Sums().compute_unit(0, Context("cpu", Path()))
    piece = Piece(looped(), "cpu")
    assert [unit.unit for unit in split(piece, wanted)] == [0, 1]
    assert split(piece, replace(wanted, units=1)) == [piece]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_whoever_finishes_last_joins(order: tuple[int, int], store: Store, whole: Store) -> None:
    piece = Piece(looped(), "cpu", command="what was typed")
    first, last = (compute(store, replace(piece, unit=unit)) for unit in order)
    assert (first.state, last.state) == ("kept", "stored")
    assert table_bytes(store) == table_bytes(whole)
    stored, other = store.get(looped()), whole.get(looped())
    assert stored is not None
    assert other is not None
    assert stored.notes == other.notes
    assert stored.provenance["command"] == "what was typed"
    assert not any((Path(str(store.root)) / "work").iterdir())
    assert compute(store, replace(piece, unit=0)).state == "stored"  # too late, and nothing happens


def test_the_time_of_all_units_counts(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    quickly = TrainingRun.compute_unit

    def slowly(self: TrainingRun, unit: int, context: Context) -> bool:
        time.sleep(0.3)
        return quickly(self, unit, context)

    monkeypatch.setattr(TrainingRun, "compute_unit", slowly)
    for unit in (0, 1):
        compute(store, Piece(looped(), "cpu", unit))
    stored = store.get(looped())
    assert stored is not None
    assert stored.provenance["seconds"] > 0.6


def test_a_run_that_nobody_saw_complete_is_joined_in_the_end(
    store: Store, whole: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    quickly = TrainingRun.compute_unit
    monkeypatch.setattr(TrainingRun, "compute_unit", lambda *given: quickly(*given) and False)
    crew = Beside()
    answers = list(_answers(crew, store, {"looped": looped(), "again": looped()}, None))
    assert [(name, answer.state) for name, answer in answers] == [("looped", "stored"), ("again", "stored")]
    assert [unit for _, unit in crew.begun] == [0, 1, None]
    assert table_bytes(store) == table_bytes(whole)


def test_the_longest_pieces_go_first_and_what_is_stored_is_not_handed_out(store: Store) -> None:
    runs: dict[str, Run] = {"short": looped(members=2, steps=1), "long": looped(members=2, steps=2), "sums": Sums()}
    get_or_compute(store, {"there": Sums(n=9)})
    crew = Beside()
    found = {name: answer.state for name, answer in _answers(crew, store, runs | {"there": Sums(n=9)}, None)}
    assert found == dict.fromkeys([*runs, "there"], "stored")
    assert [address for address, _ in crew.begun] == [runs[name].address[:6] for name in ("sums", "long", "short")]
    wanted = RunPlan(3, "stacked", 4, touched=10)
    assert cost(Piece(looped(members=12, steps=5), unit=1), wanted) == 10 * 4 * 5
    assert cost(Piece(looped(members=12, steps=5)), wanted) == 10 * 12 * 5


def test_a_run_that_cannot_be_planned_fails_when_it_is_computed(store: Store) -> None:
    bad = looped().replace(optimizer=looped().optimizer.replace(lr=(0.1, 0.2)))  # type: ignore[attr-defined]
    assert plan(store, Piece(bad, "cpu")).plan == RunPlan()
    ((name, answer),) = _answers(Beside(), store, {"bad": bad}, None)
    assert (name, answer.state) == ("bad", "failed")
    assert "lr has 2 entries" in str(answer.error)


def test_units_stay_together_where_workspaces_are_not_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("upath")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(Path.cwd()))
        store = Store("memory://executors/store")
    crew = Beside()
    run = looped(steps=1)
    monkeypatch.setattr(TrainingRun, "compute", lambda *_: Sums(n=2).compute(Context("cpu", store.workspace(run))))
    ((_, answer),) = _answers(crew, store, {"run": run}, None)
    assert answer.state == "stored"
    assert crew.begun == [(run.address[:6], None)]


def test_notes_add_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recombine.runs.notes.EVERY", 0.0)
    assert noted(tmp_path, 3) is None
    first, second = Note(tmp_path, 0), Note(tmp_path, 1)
    first(5, 10, "member-steps")
    second(10, 10, "member-steps")
    second.finish()
    found = noted(tmp_path, 3)
    assert found is not None
    assert (found.done, found.total, found.text) == (15, 30, "member-steps")  # the third counts as the others
    first.before = 100.0
    first.finish()
    assert spent(tmp_path, but=1) >= 100.0
    assert spent(tmp_path, but=0) < 100.0
    assert Note(tmp_path, 0).before >= 100.0  # whoever continues the piece adds to it
    Note(tmp_path, None)(7, 20, "member-steps")
    assert noted(tmp_path, 3) == found  # of someone who worked on the whole
    (tmp_path / "piece-0.json").write_text("{")
    assert noted(tmp_path, 2) is not None


def test_a_run_that_is_continued_took_what_all_attempts_took(tmp_path: Path) -> None:
    store, run = Store(tmp_path / "store"), Sums(n=2)
    interrupted = Note(store.workspace(run), None)
    interrupted.before = 100.0
    interrupted(1, 2, "")
    answer = compute(store, Piece(run, "cpu"))
    assert answer.stored is not None
    assert 100.0 <= answer.stored.provenance["seconds"] < 200.0


def test_a_run_that_is_told_is_noted_too(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    run = looped(steps=2)
    notes: list[bool] = []
    path = store.workspace(run) / "piece-whole.json"
    compute(store, Piece(run, "cpu"), lambda done, total, text: notes.append(path.exists()))
    assert notes
    assert all(notes)


def test_whoever_waits_is_told_how_far_runs_have_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recombine.runs.watching.EVERY", 0.01)
    told: list[tuple[str, int, int, str]] = []
    (tmp_path / "aa").mkdir()
    with watching(tmp_path, {"aa": "run", "bb": "nobody works on it"}, {"aa": 2}, lambda *what: told.append(what)):
        Note(tmp_path / "aa", 0)(3, 10, "steps")
        for _ in range(500):
            if told:
                break
            time.sleep(0.01)
    assert told == [("run", 3, 20, "steps")]


@pytest.mark.parametrize("on", ["", "there", "processes:0", "processes:x", "ray:", "ray://nowhere", "ray://a b:1"])
def test_where_nothing_can_run_is_refused(on: str, store: Store) -> None:
    with pytest.raises(InputError, match="use here, processes, processes:4, ray or ray://HOST:PORT"):
        get_or_compute(store, {"a": Sums()}, on=on)
    assert not (Path(str(store.root)) / "work").exists()


def test_one_process_is_this_one() -> None:
    assert isinstance(executor("processes:1", "cpu"), Here)


def test_without_ray_it_is_said_how_to_get_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(InputError, match=r"pip install 'recombine\[cluster\]'"):
        get_or_compute(store, {"a": Sums()}, on="ray", device="cpu")
