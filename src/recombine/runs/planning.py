"""What runs would cost, before any is computed: what is stored, how each would be run, and an estimate of its time.

Nothing is written. Trainings are estimated from a few timed steps on this device (`calibration`); other kinds of run
from what the store remembers of runs like them, or not at all.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recombine.runs.calibration import Bench, Estimate
from recombine.runs.index import catalogue
from recombine.runs.run import Run, RunPlan
from recombine.runs.store import Store

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Forecast:
    """One run: whether it is stored, how it would be run, and what that might take."""

    name: str
    address: str
    kind: str
    members: int | None
    steps: int | None
    stored: bool
    plan: RunPlan
    estimate: Estimate
    at_most: bool = False
    """Whether it may end sooner than estimated: its members stop once they fit."""

    @property
    def pieces(self) -> list[float]:
        """The seconds of each piece that would be handed out; nothing where it is stored or not known."""
        if self.stored or self.estimate.seconds is None:
            return []
        return [self.estimate.seconds / self.plan.units] * self.plan.units


def forecast(
    store: Store | None,
    runs: Mapping[str, Run],
    device: str,
    *,
    seconds: float = 30.0,
    progress: Callable[[str], None] = lambda name: None,
) -> list[Forecast]:
    """What ``runs`` would cost on ``device``; calibration takes no more than about ``seconds`` in all."""
    stored = {name: store is not None and store.get(run) is not None for name, run in runs.items()}
    plans: dict[str, RunPlan] = {}
    for name, run in runs.items():
        progress(name)
        plans[name] = _plan(run, device)
    bench = Bench(device, seconds)
    wanted = [name for name in runs if not stored[name] and plans[name].touched is not None]
    for name in _one_of_each_first(wanted, runs, plans):
        progress(name)
        bench.time(runs[name], plans[name])
    remembered = catalogue(store) if store is not None and len(wanted) < sum(not s for s in stored.values()) else None
    return [
        Forecast(
            name, run.address, run.kind, _count(run, "members", "bases"), _count(run, "steps", "generations"),
            stored[name], plans[name],
            Estimate() if stored[name] else bench.estimate(run, plans[name]) or _recorded(run, remembered, device),
            getattr(run, "stop_below", None) is not None,
        )
        for name, run in runs.items()
    ]  # fmt: skip


def makespan(pieces: Iterable[float], workers: int) -> float:
    """When the last of ``workers`` is done if each takes the longest piece left; never less than the longest."""
    busy = [0.0] * max(1, workers)
    for seconds in sorted(pieces, reverse=True):
        heapq.heappush(busy, heapq.heappop(busy) + seconds)
    return max(busy)


def work(run: Run, plan: RunPlan) -> float:
    """Bytes that all members of a training touch in all of its steps."""
    return float((plan.touched or 0) * (_count(run, "members") or 1) * (_count(run, "steps") or 0))


def _one_of_each_first(names: Sequence[str], runs: Mapping[str, Run], plans: Mapping[str, RunPlan]) -> list[str]:
    """The largest training of each model and strategy, then the second largest …: time may be up before the end."""
    seen: Counter[tuple[object, ...]] = Counter()
    ranked: list[tuple[int, int, str]] = []
    for name in sorted(names, key=lambda n: -work(runs[n], plans[n])):
        alike = (plans[name].strategy, type(getattr(runs[name], "model", None)))
        ranked.append((seen[alike], len(ranked), name))
        seen[alike] += 1
    return [name for _, _, name in sorted(ranked)]


def _plan(run: Run, device: str) -> RunPlan:
    try:
        return run.plan(device)
    except Exception:
        return RunPlan()  # What is wrong with it is said when it is computed.


def _count(run: Run, *names: str) -> int | None:
    for name in names:
        value = getattr(run, name, None)
        if isinstance(value, int):
            return value
        if isinstance(value, Sequence):
            return len(value)
    return None


def _recorded(run: Run, remembered: pl.DataFrame | None, device: str) -> Estimate:
    """The median of stored runs of the same kind, task and model, per member and step where both are known."""
    if remembered is None:
        return Estimate()
    described = run.describe()
    like = remembered.filter(
        (remembered["kind"] == run.kind) & remembered["seconds"].is_not_null() & (remembered["device"] == device)
    )
    for column in ("task", "model"):
        value = described.get(column)
        if isinstance(value, dict):
            like = like.filter(like[column] == value.get("kind"))
    if like.is_empty():
        return Estimate()
    mine = (_count(run, "members", "bases") or 0) * (_count(run, "steps", "generations") or 0)
    theirs = like["members"] * like["steps"]
    if mine and (theirs > 0).all():
        found = (like["seconds"] / theirs).median()
        return Estimate(float(found) * mine, basis="recorded") if isinstance(found, float) else Estimate()
    median = like["seconds"].median()
    return Estimate(median, basis="recorded") if isinstance(median, float) else Estimate()
