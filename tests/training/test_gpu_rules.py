"""What runs on a GPU obeys its rules: checked without one, in a process of its own.

PyTorch counts devices at its first backward pass, so the pretended one (`pretend_gpu`) must be there before it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FILES = ("gpu_known_answers.py", "gpu_rules.py")


def test_in_a_process_of_its_own() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:xdist", "-p", "no:cacheprovider"]
    files = [str(Path(__file__).with_name(file)) for file in FILES]
    ran = subprocess.run([*command, *files], capture_output=True, text=True, timeout=600, check=False)
    assert ran.returncode == 0, ran.stdout[-6000:] + ran.stderr[-2000:]
    assert " passed" in ran.stdout
