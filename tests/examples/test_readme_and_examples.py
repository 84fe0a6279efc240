"""Everything a newcomer would copy is run: the README's Python and shell blocks, and the example files."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, flags=re.DOTALL)
PYTHON = [text for language, text in BLOCKS if language == "python"]
COMMANDS = [
    line.split("#")[0].strip()
    for language, text in BLOCKS
    if language == "sh"
    for line in text.splitlines()
    if line.startswith("recombine ")
]
CATALOGUE = "shape,colour,price\ndisc,red,3\ndisc,blue,4\nsquare,red,5\nsquare,blue,6\nstar,green,9\n"


def start(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def test_there_is_something_to_run() -> None:
    assert len(PYTHON) == 2
    assert len(COMMANDS) >= 5


@pytest.mark.parametrize("number", range(len(PYTHON)))
def test_python_of_the_readme(number: int, tmp_path: Path) -> None:
    done = start("-W", "error", "-c", PYTHON[number], folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_commands_of_the_readme_one_after_the_other(tmp_path: Path) -> None:
    (tmp_path / "catalogue.csv").write_text(CATALOGUE)
    for command in COMMANDS:
        done = start("-m", "recombine", *shlex.split(command)[1:], folder=tmp_path)
        assert done.returncode == 0, f"{command}: {done.stderr}"
        assert done.stdout.strip(), command


@pytest.mark.parametrize("example", ["own_model.py"])
def test_examples(example: str, tmp_path: Path) -> None:
    done = start("-W", "error", str(ROOT / "examples" / example), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "unseen" in done.stdout
