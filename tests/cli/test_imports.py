"""What is imported when: the command line answers without torch, and so do the floors that need none."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ["torch", "polars", "altair", "pandas", "scipy", "sklearn", "pyarrow", "vl_convert", "jinja2"]


def imported(code: str) -> set[str]:
    """The heavy packages that a fresh interpreter holds after ``code``."""
    tail = f"\nimport sys; print(*[m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code + tail], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


def test_the_command_line_and_its_help_import_nothing_heavy() -> None:
    code = "import contextlib\nfrom recombine.cli import main\nwith contextlib.suppress(SystemExit): main(['--help'])"
    assert imported(code) == set()


@pytest.mark.parametrize("name", ["space", "support", "kernels", "checks", "result", "description"])
def test_floors_that_import_no_torch(name: str) -> None:
    assert "torch" not in imported(f"import recombine.{name}")


def test_all_of_them_together_and_the_package_itself_import_no_torch() -> None:
    code = "import recombine, recombine.space, recombine.support, recombine.kernels, recombine.checks"
    assert "torch" not in imported(code)
