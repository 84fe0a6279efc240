"""Runs for the tests of executors: some that die or wait where they are computed, and small trainings."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from sums import Sums

from recombine.runs import Context, Outcome, Run, Store, StoreError


class Deadly(Sums):
    """Sums whose process is killed in the middle, as often as ``times`` says; ``marks`` is where that is counted."""

    kind = "deadly"

    marks: str
    times: int = 1

    def compute(self, context: Context) -> Outcome:
        def die(done: int, total: int, text: str) -> None:
            died = len(list(Path(self.marks).iterdir()))
            if done == total // 2 and died < self.times:
                (Path(self.marks) / str(died)).touch()
                os.kill(os.getpid(), signal.SIGKILL)

        return super().compute(replace(context, progress=die))


class Slow(Sums):
    """Sums that take a while, and as long as there is a file ``hold`` beside the marks, which say who computes them:
    process and Ray node."""

    kind = "slow"

    marks: str
    seconds: float = 3.0

    def compute(self, context: Context) -> Outcome:
        (Path(self.marks) / f"{self.n}-{os.getpid()}").write_text(_node())

        def wait(done: int, total: int, text: str) -> None:
            time.sleep(self.seconds / total)
            while (Path(self.marks) / "hold").exists():
                time.sleep(0.05)
            context.progress(done, total, text)

        return super().compute(replace(context, progress=wait))


class Unwritable(Sums):
    """Sums that find the store gone."""

    kind = "unwritable"

    def compute(self, context: Context) -> Outcome:
        raise StoreError("no space is left for the store.")


class Odd(Exception):
    """An error that cannot be sent to another process as it is."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(f"{one} and {two}")


class Bad(Sums):
    """Sums that end in an odd error."""

    kind = "bad"

    def compute(self, context: Context) -> Outcome:
        raise Odd("the moon is full", "the sun is not")


def looped(members: int = 6, steps: int = 3) -> Run:
    """A convolutional network, whose members are looped on a CPU."""
    from recombine.runs.training import Measured
    from recombine.studies import STUDIES

    run = STUDIES["kernel-theory"].runs("smoke", None)["convnet-interpolation-d0"]
    measured = (Measured(measure="leak", at=(0, -1)),)
    return run.replace(members=members, steps=steps, measured=measured)  # type: ignore[no-any-return]


def trainings() -> Mapping[str, Run]:
    """The toy study with few members and steps, and a looped run that is handed out in two units."""
    from recombine.runs.training import Measured
    from recombine.studies import STUDIES

    toys = list(STUDIES["gradient-toy"].runs("smoke", 4).items())[:2]
    short = {"steps": 20, "measured": (Measured(measure="influence", at=(0, 10, -1)),)}
    return {name: run.replace(**short) for name, run in toys} | {"looped": looped()}  # type: ignore[attr-defined]


def table_bytes(store: Store) -> dict[str, bytes]:
    """Every table of a store by address and name."""
    root = Path(str(store.root)) / "runs"
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*.parquet"))}


def _node() -> str:
    import sys

    ray = sys.modules.get("ray")
    return ray.get_runtime_context().get_node_id() if ray is not None and ray.is_initialized() else ""
