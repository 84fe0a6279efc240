"""What runs would cost is said before any is computed, and saying it writes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from pieces import looped, trainings
from sums import Sums, put

from recombine.runs import Context, Outcome, Run, Store, get_or_compute
from recombine.runs.calibration import Bench, Timed
from recombine.runs.planning import forecast, makespan
from recombine.runs.run import RunPlan

SECONDS = st.lists(st.floats(0.0, 1e6), max_size=30)


def listing(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("pieces", "workers", "expected"),
    [([], 3, 0.0), ([4.0], 8, 4.0), ([1.0] * 8, 4, 2.0), ([3.0, 3.0, 2.0, 2.0, 2.0], 2, 7.0), ([5.0, 1.0], 2, 5.0)],
)
def test_when_the_last_worker_is_done(pieces: list[float], workers: int, expected: float) -> None:
    assert makespan(pieces, workers) == expected


@given(SECONDS, st.integers(1, 12))
def test_no_sweep_is_faster_than_its_longest_piece_or_its_share(pieces: list[float], workers: int) -> None:
    found, total, longest = makespan(pieces, workers), sum(pieces), max(pieces, default=0.0)
    slack = 1e-9 * (1 + total)
    assert max(longest, total / workers) - slack <= found <= total / workers + longest + slack
    assert makespan(pieces, 1) == pytest.approx(total)


def test_what_is_stored_is_said_and_nothing_is_written(store: Store) -> None:
    runs = trainings()
    get_or_compute(store, {"redundant": runs["redundant"]}, device="cpu")
    before = listing(Path(str(store.root)))
    told: list[str] = []
    found = {f.name: f for f in forecast(Store(store.root, writable=False), runs, "cpu", progress=told.append)}
    assert listing(Path(str(store.root))) == before
    assert set(told) == set(runs)
    there, toy, loop = (found[name] for name in ("redundant", "uninformative", "looped"))
    assert there.stored
    assert there.pieces == []
    assert (toy.members, toy.steps, toy.plan.strategy, toy.plan.units) == (4, 20, "stacked", 1)
    assert (loop.members, loop.steps, loop.plan.strategy, loop.plan.stack, loop.plan.units) == (6, 3, "loop", 4, 2)
    for run in (toy, loop):
        assert run.estimate.basis == "timed"
        assert run.estimate.seconds is not None
        assert run.estimate.seconds > 0
        assert run.estimate.memory is not None
        assert 2**20 < run.estimate.memory < 2**34
        assert sum(run.pieces) == pytest.approx(run.estimate.seconds)
    assert len(loop.pieces) == 2


def test_an_estimate_is_start_steps_and_measures() -> None:
    run, plan = trainings()["redundant"], RunPlan(2, "stacked", 4, touched=100)
    bench = Bench("cpu", 0.0)
    like = looped().replace(model=run.model)  # type: ignore[attr-defined]
    assert bench.estimate(Sums(), RunPlan()) is None
    unknown = bench.estimate(run, plan)
    assert unknown is not None
    assert (unknown.seconds, unknown.basis) == (None, "unknown")
    assert unknown.memory == bench.base + 400
    names = {m.table: 0.5 for m in run.measured}  # type: ignore[attr-defined]
    records = sum(len(m.at) for m in run.measured)  # type: ignore[attr-defined]
    bench.timed["another training"] = Timed(1.0, 0.25, names, None, "stacked", run.model.kind, touched=200)  # type: ignore[attr-defined]
    scaled = bench.estimate(run, plan)
    assert scaled is not None
    # Twice the bytes of what was timed: 0.5 s per step, in two units.
    assert scaled.seconds == pytest.approx(2 * (1.0 + 20 * 0.5 + records * 0.5))
    assert scaled.basis == "scaled"
    other = bench.estimate(like, RunPlan(1, "loop", 4, touched=100))
    assert other is not None
    assert other.seconds is None  # a stacked step says nothing of a looped one
    assert other.memory == bench.base + 100


def test_calibration_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recombine.runs.calibration._time", lambda *_: pytest.fail("time is up"))
    found = forecast(None, trainings(), "cpu", seconds=-1.0)
    assert {f.estimate.basis for f in found} == {"unknown"}
    assert not any(f.stored for f in found)


class Counted(Sums):
    """Sums that say how much work they were."""

    kind = "counted"

    members: int = 1
    steps: int = 1

    def compute(self, context: Context) -> Outcome:
        outcome = super().compute(context)
        return Outcome(outcome.tables, {}, {"members": self.members, "steps": self.steps})


def test_other_runs_are_estimated_from_stored_ones_like_them(store: Store) -> None:
    put(store, Sums(n=3))
    put(store, Counted(n=3, members=2, steps=5))  # both stored with 1.5 s
    runs: dict[str, Run] = {"sums": Sums(n=5), "counted": Counted(n=5, members=4, steps=10), "bad": Bad(n=1)}
    found = {f.name: f.estimate for f in forecast(store, runs, "cpu")}
    assert (found["sums"].seconds, found["sums"].basis) == (1.5, "recorded")
    assert found["counted"].seconds == pytest.approx(1.5 * 4)
    assert (found["bad"].seconds, found["bad"].basis) == (None, "unknown")


class Bad(Sums):
    """A run that cannot be planned."""

    kind = "bad plan"

    def plan(self, device: str) -> RunPlan:
        raise ValueError("no")


def test_a_training_that_may_stop_early_is_estimated_from_above() -> None:
    run = trainings()["redundant"]
    both = {"all": run, "until it fits": run.replace(stop_below=0.1)}  # type: ignore[attr-defined]
    found = forecast(None, both, "cpu", seconds=0.0)
    assert {f.name: f.at_most for f in found} == {"all": False, "until it fits": True}
