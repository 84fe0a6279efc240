"""What is imported when: the command line answers and draws without torch, and so do the floors that need none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl

HEAVY = ["torch", "polars", "altair", "pandas", "scipy", "scipy.stats", "sklearn", "pyarrow", "vl_convert", "jinja2",
         "recombine.studies"]  # fmt: skip
TABLE = """a,b,y,p,part
u,x,1.0,1.0,train
u,z,2.0,2.0,train
v,x,3.0,3.0,train
v,z,4.0,1.0,test
"""


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


def test_floors_and_what_draws_import_neither_torch_nor_a_study() -> None:
    floors = ["space", "statistics", "support", "kernels", "checks", "result", "description", "figures"]
    drawing = [f"reporting.{name}" for name in ("check", "measured", "theorem", "drawing")]
    code = "import recombine" + "".join(f", recombine.{name}" for name in floors + drawing)
    assert not imported(code) & {"torch", "recombine.studies"}


MEASURE = "measure t.csv --factors a,b --target y --prediction p --split part=test"
HOLDS_NOT = {
    "check many.csv --factors a,b,c,d --target y --json": ["torch", "altair", "sklearn", "pandas", "scipy.stats"],
    "check t.csv --factors a,b --out c.html": ["torch", "altair", "vl_convert"],
    f"{MEASURE} --json": ["torch", "altair"],
    f"{MEASURE} --out m": ["torch", "sklearn", "scipy.stats", "recombine.studies"],
}
"""What is not waited for at the end of each command, one after the other in one process."""


def test_tables_are_judged_and_their_pages_drawn_without_torch_and_without_a_study(tmp_path: Path) -> None:
    """That of a check without the drawing library too."""
    (tmp_path / "t.csv").write_text(TABLE)
    rng = np.random.default_rng(0)
    many = {name: rng.integers(6, size=1_000) for name in "abcd"} | {"y": rng.normal(size=1_000)}
    pl.DataFrame(many).write_csv(tmp_path / "many.csv")
    code = f"import contextlib, os, sys\nfrom recombine.cli import main\nos.chdir({str(tmp_path)!r})\n"
    for words, heavy in HOLDS_NOT.items():
        code += f"with contextlib.suppress(SystemExit): main({words.split()})\n"
        code += f"assert not set({heavy}) & set(sys.modules), {words!r}\n"
    assert imported(code) >= {"altair", "vl_convert", "jinja2"}
    assert (tmp_path / "c.html").is_file()
    assert (tmp_path / "m" / "index.html").is_file()
