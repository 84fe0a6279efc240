"""The worked examples run as a person would run them, and end in a decision."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("example", "finding", "decision"),
    [
        ("check_site_confound.py", "D / old / healthy        level never seen", "do not deploy at site D"),
        (
            "check_theorem.py",
            "A3 fails for rear at 27 of 1,728 entries under hard occlusion: 9 pixels never show it",
            "compose by soft occlusion; it is enough that the front varies before one rear",
        ),
    ],
)
def test_example_ends_in_a_decision(example: str, finding: str, decision: str, tmp_path: Path) -> None:
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "examples" / example)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert finding in done.stdout
    assert decision in done.stdout.splitlines()[-1]
