"""A store of very many runs: list, filter and count them with the index, beside reading every run.json.

    python benchmarks/store.py [--runs 100000] [--at DIRECTORY] [--out FILE.md]

The runs are made for the purpose, each a directory with a run.json of the usual kind and no tables, in a temporary
directory that is deleted afterwards. Both ways are timed in this process, one after the other, with files in the cache
of the operating system; medians of three where a step leaves the store as it was.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from recombine.runs import Store, catalogue, collect
from recombine.runs.index import INDEX
from recombine.runs.manifest import FILE, Manifest, _hash
from recombine.runs.query import summarise, where

TASKS = ("bumps", "toy", "symbolic", "digit pairs", "sprites")
Taken = tuple[float, float]
MODELS = ("perceptron", "convnet", "resnet", "vit")


def make(store: Store, count: int) -> int:
    """Write runs that look like trained ones, and say how many bytes their run.json take."""
    written = 0
    for number in range(count):
        settings = dict.fromkeys(("batch_size", "init_scale", "penalty_weight", "stop_below", "fit_below"), number % 7)
        description: dict[str, Any] = {
            "kind": "training" if number % 10 else "kernels",
            "version": 1,
            "task": {
                "kind": TASKS[number % len(TASKS)],
                "version": 1,
                "side": 28,
                "held_out": [[0, 1], [2, 3], [4, 5]],
            },
            "model": {"kind": MODELS[number % len(MODELS)], "version": 1, "widths": [20, 256, 256, 784]},
            "optimizer": {"kind": "adam", "version": 1, "lr": 0.001},
            "members": 2 ** (number % 10),
            "steps": 1000,
            "seed": number,
        }
        notes = {
            "strategy": "stacked", "stack": 16, "reason": "one launch per step", "members": 2 ** (number % 10),
            "steps": 1000, "diverged": number % 2, "settings": description | settings,
        }  # fmt: skip
        provenance = {
            "versions": {"python": "3.12", "torch": "2.11", "numpy": "2.1", "polars": "1.30"}, "commit": "0" * 40,
            "platform": "Linux", "cpus": 16, "device": "cuda" if number % 3 else "cpu", "device_name": "a device",
            "started": f"2026-01-01T00:00:{number % 60:02d}+00:00", "seconds": float(number % 100),
            "peak_memory_bytes": 10**9, "command": "recombine study run",
        }  # fmt: skip
        manifest = Manifest(
            address=_hash(description), description=description, tables={}, tensors=None,
            notes=notes, provenance=provenance,
        )  # fmt: skip
        data = manifest.to_bytes()
        directory = Path(store.root, "runs", manifest.address[:2], manifest.address)
        directory.mkdir(parents=True)
        (directory / FILE).write_bytes(data)
        written += len(data)
    return written


def seconds(work: Callable[[], object], times: int = 3) -> Taken:
    """Seconds on the clock, and of this process alone: a machine may be shared."""
    taken = []
    for _ in range(times):
        started, busy = time.perf_counter(), time.process_time()
        work()
        taken.append((time.perf_counter() - started, time.process_time() - busy))
    return statistics.median(wall for wall, _ in taken), statistics.median(cpu for _, cpu in taken)


def plain(store: Store) -> list[dict[str, Any]]:
    """What one would write by hand: every run.json parsed, nothing checked."""
    return [json.loads(path.read_bytes()) for path in Path(store.root).glob(f"runs/*/*/{FILE}")]


def measure(store: Store, count: int) -> list[tuple[str, Taken]]:
    read = seconds(lambda: plain(store), 1)
    listed = seconds(store.list, 1)
    built = seconds(lambda: catalogue(store), 1)
    table = catalogue(store)
    assert table.height == count
    again = seconds(lambda: catalogue(store))
    conditions = ["kind=training", "task=bumps", "members>=64"]
    filtered = seconds(lambda: where(table, conditions))
    counted = seconds(lambda: summarise(table, ["task", "model", "device"]))
    prefix = table["address"][count // 2][:8]
    found = seconds(lambda: store.find(prefix))
    for address in table["address"][:100]:
        store.remove(address)
    after = seconds(lambda: catalogue(store), 1)
    assert catalogue(store).height == count - 100
    swept = seconds(lambda: collect(store), 1)
    return [
        ("parse every run.json, unchecked", read),
        ("`Store.list`: read and check every run.json", listed),
        ("build the index", built),
        ("list with an index that is up to date", again),
        ("list after 100 runs were removed", after),
        ("filter by kind, task and members", filtered),
        ("count by task, model and device", counted),
        ("find one run by the first letters of its address", found),
        ("look for rubbish (`runs gc`) in runs without tables", swept),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--at", type=Path, help="where the store is made; a temporary directory if not given")
    parser.add_argument("--out", type=Path, help="also write the table here")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.at) as folder:
        store = Store(folder)
        size = make(store, arguments.runs) / arguments.runs
        rows = measure(store, arguments.runs)
        index = Path(folder, INDEX).stat().st_size / 1e6
    lines = [
        f"A store of {arguments.runs:,} runs on {platform.machine()} CPU; a run.json has {size:,.0f} bytes, the index "
        f"{index:.1f} MB. The last column is against parsing every run.json, in CPU seconds of one core.",
        "",
        "| what | seconds | CPU seconds | times as quick |",
        "|---|---:|---:|---:|",
        *(f"| {what} | {wall:.4f} | {cpu:.4f} | {rows[0][1][1] / cpu:,.1f}× |" for what, (wall, cpu) in rows),
    ]
    print("\n".join(lines))
    if arguments.out:
        arguments.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
