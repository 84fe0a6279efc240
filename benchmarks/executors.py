"""Wall-clock of a reproduction on one process, two processes and a local Ray, and whether the tables are the same.

    python benchmarks/executors.py [--scale smoke|quick] [--on here processes:2 ray] [--study NAME …] [--device cpu]
                                   [--out FILE.md]

Each is a process of its own with a fresh store, one after another; pages are not drawn. Every table of every store is
compared with the first one's byte by byte. The seconds of the runs are those that the store keeps: what was computed,
without waiting for a turn.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import torch

RUN = """
import json, sys, time
from recombine.runs import Store
from recombine.studies import STUDIES, run_studies

root, scale, device, on, names = sys.argv[1:5] + [sys.argv[5:]]
studies = [s for s in STUDIES.values() if (s.name in names if names else s.within not in STUDIES)]
store, began = Store(root), time.monotonic()
results = run_studies(studies, scale, store=store, device=device, on=on)
runs = [run for result in results for run in result.provenance.values()]
print(json.dumps({
    "wall": time.monotonic() - began, "runs": len(runs), "work": sum(run["seconds"] for run in runs),
    "longest": max(run["seconds"] for run in runs),
}))
"""


@dataclass(frozen=True)
class Took:
    """One way to run everything: seconds of wall clock and of all runs together, and its tables' hashes."""

    on: str
    wall: float
    work: float
    longest: float
    runs: int
    tables: dict[str, str]


def take(on: str, scale: str, device: str, studies: list[str]) -> Took:
    with tempfile.TemporaryDirectory() as folder:
        arguments = [sys.executable, "-c", RUN, folder, scale, device, on, *studies]
        done = subprocess.run(arguments, stdout=subprocess.PIPE, text=True, check=True)
        found = json.loads(done.stdout.splitlines()[-1])
        root = Path(folder) / "runs"
        tables = {
            str(path.relative_to(root).parent / path.name.rpartition("-")[0]): hashlib.sha256(
                path.read_bytes()
            ).hexdigest()
            for path in sorted(root.rglob("*.parquet"))
        }
    return Took(on, found["wall"], found["work"], found["longest"], found["runs"], tables)


def table(taken: list[Took], scale: str, device: str) -> str:
    first = taken[0]
    lines = [
        f"`recombine reproduce --scale {scale}` on {os.cpu_count()} cores ({platform.machine()}, {device}), torch "
        f"{torch.__version__}; {first.runs} runs in fresh stores, without pages.",
        "",
        "| `--on` | wall, s | × as fast | runs together, s | longest run, s | tables that are the same bytes |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for one in taken:
        same = sum(first.tables.get(name) == digest for name, digest in one.tables.items())
        lines.append(
            f"| {one.on} | {one.wall:,.0f} | {first.wall / one.wall:.2f} | {one.work:,.0f} | {one.longest:,.0f} | "
            f"{same} of {len(first.tables)} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--scale", default="quick")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--on", nargs="+", default=["here", "processes:2", "ray"])
    parser.add_argument("--study", nargs="*", default=[])
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    taken = []
    for on in given.on:
        taken.append(take(on, given.scale, given.device, given.study))
        print(f"{on}: {taken[-1].wall:,.0f} s", file=sys.stderr, flush=True)
    text = table(taken, given.scale, given.device)
    print(text)
    for one in taken[1:]:
        for name in sorted(set(one.tables) | set(taken[0].tables)):
            if one.tables.get(name) != taken[0].tables.get(name):
                print(f"{one.on}: {name} differs", file=sys.stderr)
    if given.out:
        given.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
