"""The worked examples run from top to bottom and end in a decision."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SAID = {
    "check_site_confound.py": ("D / old / healthy        level never seen", "do not deploy at site D"),
    "check_theorem.py": (
        "A3 fails for rear at 27 of 1,728 entries under hard occlusion: 9 pixels never show it",
        "compose by soft occlusion; it is enough that the front varies before one rear",
    ),
    "measure_predictions.py": ("named  shortcut by place", "the cause is a shortcut by place"),
    "measure_in_a_loop.py": ("step   1  not fitted", "do not trust unseen pairs: fails, memorization leak"),
}  # fmt: skip
"""What each prints somewhere, and in its last line."""


def run(example: str) -> None:
    """Here rather than in a process of its own, which would first wait for torch."""
    try:
        runpy.run_path(str(EXAMPLES / example), run_name="__main__")
    except SystemExit as end:
        if end.code:
            raise


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["example"])


@pytest.mark.parametrize("example", SAID)
def test_it_ends_in_a_decision(example: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(example)
    finding, decision = SAID[example]
    said = capsys.readouterr().out
    assert finding in said
    assert decision in said.splitlines()[-1]


def test_one_as_a_person_would_run_it(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / "check_catalogue.py")], cwd=tmp_path, capture_output=True,
        env=os.environ | {"PYTHONPATH": str(EXAMPLES.parent / "src")}, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "24 cannot, whatever the model" in done.stdout
    assert "price 1 article by hand, then let the model price the other 29" in done.stdout.splitlines()[-1]


def test_the_lightning_example_trains_or_says_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("default")  # Lightning warns of itself
        run("lightning_callback.py")
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith(("skipped: Lightning is not installed", "Decision: "))


def test_every_example_is_run() -> None:
    there = {path.name for path in EXAMPLES.glob("*.py")}
    elsewhere = {"check_robot_skills.py", "own_model.py", "dissect_model.py"}  # test_notebooks, test_dissect
    assert there == {*SAID, "check_catalogue.py", "lightning_callback.py", *elsewhere}
