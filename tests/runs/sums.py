"""A run small enough to check by hand, used by the tests here and by the processes they start and kill."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from recombine.runs import Context, Outcome, Run, Store

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src"
PROVENANCE = {"device": "cpu", "seconds": 1.5}


class Sums(Run):
    """Running sums of 0 … n-1, one step at a time, each step kept in the workspace."""

    kind = "sums"
    version = 1

    n: int = 4
    fail: str = ""
    weights: bool = True
    """Whether to keep a tensor; without one a process never waits for torch."""

    def compute(self, context: Context) -> Outcome:
        import polars as pl

        kept = context.workspace / "steps.txt"
        sums = [int(word) for word in kept.read_text().split()] if kept.exists() else []
        resumed = len(sums)
        for i in range(len(sums), self.n):
            sums.append((sums[-1] if sums else 0) + i)
            temporary = kept.with_suffix(".tmp")
            temporary.write_text(" ".join(map(str, sums)))
            os.replace(temporary, kept)
            context.progress(i + 1, self.n, "adding")
        if self.fail:
            raise ValueError(self.fail)
        table = pl.DataFrame({"i": range(self.n), "sum": sums}, schema={"i": pl.Int64, "sum": pl.Int64})
        tensors = {}
        if self.weights:
            import torch

            tensors["w"] = torch.arange(self.n, dtype=torch.float32)
        return Outcome({"sums": table, "last": table.tail(1)}, tensors, {"resumed": resumed, "device": context.device})


def outcome_of(run: Sums, workspace: Path) -> Outcome:
    workspace.mkdir(exist_ok=True, parents=True)
    return run.compute(Context("cpu", workspace))


def put(store: Store, run: Sums) -> Path:
    """Store a run and say where it lies."""
    return store.put(run, outcome_of(run, store.workspace(run)), PROVENANCE).directory


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    """Another Python process that knows this file."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", code, *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": f"{SOURCE}{os.pathsep}{HERE}"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def data_files(directory: Path) -> dict[str, bytes]:
    """The bytes of a run's tables and tensors by name."""
    return {path.name: path.read_bytes() for path in directory.iterdir() if path.suffix in (".parquet", ".safetensors")}
