"""The examples of `measure` run as a person would run them, and end in a decision."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(example: str, folder: Path, *options: str) -> str:
    done = subprocess.run(
        [sys.executable, *options, str(ROOT / "examples" / example)],
        cwd=folder,
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("example", "finding", "decision"),
    [
        ("measure_predictions.py", "named  shortcut by place", "the cause is a shortcut by place"),
        ("measure_in_a_loop.py", "step   1  not fitted", "do not trust unseen pairs: fails, memorization leak"),
    ],
)
def test_example_ends_in_a_decision(example: str, finding: str, decision: str, tmp_path: Path) -> None:
    text = run(example, tmp_path, "-W", "error")
    assert finding in text
    assert decision in text.splitlines()[-1]


def test_the_lightning_example_trains_or_says_what_is_missing(tmp_path: Path) -> None:
    # Lightning warns of itself, so its warnings are no errors here.
    last = run("lightning_callback.py", tmp_path).splitlines()[-1]
    assert last.startswith(("skipped: Lightning is not installed", "Decision: "))
