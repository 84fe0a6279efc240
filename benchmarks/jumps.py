"""Why do training errors of sprite networks jump? One row of the published table again from the same starts, on a GPU:
with our programs for the doublings in TF32 (as the longer rows are trained), with products instead, and in full
precision.

    python benchmarks/jumps.py [programs] [products] [full] [--members 8] [--steps 10000] [--row diagonal-10]

Prints for each member the largest jump after a thousand steps: when, to how many times itself, and after how many steps
it was back; and how many members' errors at least doubled. --out keeps the curves.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
from pathlib import Path

import polars as pl

from recombine.models import upsample
from recombine.runs import Store, get_or_compute
from recombine.studies import find_study
from recombine.studies.first_principles.tables import jumps

ARMS = {"programs": "tf32", "products": "tf32", "full": "float32"}


def arm(name: str, row: str, members: int, steps: int, out: Path | None) -> None:
    if name == "products":
        upsample._has_programs = lambda _: False
    setting = find_study("first-principles").planned("paper")[f"{row}-long"]
    # The schedule stays that of the whole training.
    run = setting.run.replace(members=members, steps=steps, precision=ARMS[name], measured=())
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as store:
        found = get_or_compute(Store(store), {name: run}, device="auto")[name]
        history, told = found.table("history"), jumps(found, setting)
    how = f"{members} members, {steps} steps, {ARMS[name]}, {found.notes.get('strategy')}"
    print(f"{name}: {how}, {time.perf_counter() - began:.0f} s")
    if out:
        history.write_parquet(out / f"jumps-{name}.parquet")
    ends = history.filter(pl.col("step") > 0.96 * steps).group_by("member").agg(pl.col("loss").median().alias("end"))
    for member, at, times, back, end in told.join(ends, on="member").sort("member").rows():
        print(f"  member {member}: × {times:.2f} at step {at}, back after {back} steps, at the end {end:.2e}")
    print(f"  at least doubled: {(told['times'] >= 2).sum()} of {members}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("arms", nargs="*", default=list(ARMS))
    parser.add_argument("--members", type=int, default=8)
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--row", default="diagonal-10")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    for name in asked.arms:  # a process each, so that nothing compiled for one arm serves another
        process = multiprocessing.get_context("spawn").Process(
            target=arm, args=(name, asked.row, asked.members, asked.steps, asked.out)
        )
        process.start()
        process.join()


if __name__ == "__main__":
    main()
