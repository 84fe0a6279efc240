"""Everything a newcomer would copy is run: the README's Python and shell blocks, and the example files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))
from pages import Shown, play  # noqa: E402


def start(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def test_the_readme_prints_what_it_shows(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shown = [step for step in play(ROOT / "README.md", tmp_path) if isinstance(step, Shown)]
    assert len(shown) == 2
    for step in shown:
        assert step.matches, f"line {step.line} shows\n{step.expected}\nand prints\n{step.printed}"


@pytest.mark.parametrize("example", ["own_model.py"])
def test_examples(example: str, tmp_path: Path) -> None:
    done = start("-W", "error", str(ROOT / "examples" / example), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "unseen" in done.stdout
