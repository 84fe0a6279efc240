"""SIGKILL at three random moments, then the same command again: the same tables, byte for byte.

The command line is started in processes of its own. So that kills fall between checkpoints of a stack and not only
between runs, each process writes a checkpoint after every block of steps instead of every 30 seconds, and takes blocks
of 16 steps: neither changes a number. Pages are not drawn, since they are made from the stored tables anyway.
"""

from __future__ import annotations

import contextlib
import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMAND = """
import sys, types
import recombine.training.engine as engine
from recombine.cli import main

engine.train.__kwdefaults__["checkpoint_seconds"] = 0.0
engine.BLOCK_STEPS = 16
sys.modules["recombine.reporting"] = types.SimpleNamespace(write_study=lambda result, out: out)
main(["study", "run", "gradient-toy", "--scale", "smoke", "--members", "4", "--device", "cpu", "--json", *sys.argv[1:]])
"""


def start(folder: Path) -> subprocess.Popen[bytes]:
    arguments = [sys.executable, "-c", COMMAND, "--store", str(folder / "store"), "--out", str(folder / "page")]
    return subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def finish(folder: Path) -> None:
    process = start(folder)
    _, error = process.communicate(timeout=300)
    assert process.returncode == 0, error.decode()


def stored(folder: Path) -> int:
    return len(list((folder / "store" / "runs").rglob("run.json")))


def steps(folder: Path) -> list[int]:
    """The steps of the checkpoints that are there now."""
    found = []
    for path in (folder / "store" / "work").rglob("checkpoint.json"):
        with contextlib.suppress(OSError):  # gone since: its run is stored
            found.append(int(json.loads(path.read_text())["step"]))
    return found


def kill_at(folder: Path, runs: int, step: int, delay: float) -> None:
    """SIGKILL once so many runs are stored and the next has come to ``step``, a moment later."""
    process = start(folder)
    while stored(folder) < runs or max(steps(folder), default=0) < step:
        assert process.poll() is None, process.stderr.read().decode() if process.stderr else ""
        time.sleep(0.01)
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    if process.stderr:
        process.stderr.close()


def tables(folder: Path) -> dict[str, bytes]:
    root = folder / "store" / "runs"
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*.parquet"))}


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_killed_three_times_and_run_again_is_never_killed(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    finish(whole)
    expected = tables(whole)
    assert len(expected) == 5 * 6  # five runs of six tables
    # Moments are random in the work done, not in seconds, so that a busy machine does not shift them past the end.
    chance = random.Random(2)
    continued = 0
    for runs in sorted(chance.sample(range(4), 3)):
        kill_at(killed, runs, step=chance.randrange(1, 200), delay=chance.uniform(0, 0.02))
        assert runs <= stored(killed) < 5  # what was finished stays finished
        continued += len(steps(killed))
    assert continued > 0  # at least one kill left a stack in the middle
    finish(killed)
    assert tables(killed) == expected
    assert not any((killed / "store" / "work").iterdir())
