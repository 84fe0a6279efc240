"""What is imported when: the command line answers and draws without torch, and so do the floors that need none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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


def test_a_page_of_a_table_is_drawn_without_torch_and_without_a_study(tmp_path: Path) -> None:
    """That of a check without the drawing library too."""
    (tmp_path / "t.csv").write_text(TABLE)
    code = f"import contextlib, os, sys\nfrom recombine.cli import main\nos.chdir({str(tmp_path)!r})\n"
    code += "with contextlib.suppress(SystemExit): main('check t.csv --factors a,b --out c.html'.split())\n"
    code += "assert 'jinja2' in sys.modules and not {'altair', 'vl_convert'} & set(sys.modules)\n"
    measure = "measure t.csv --factors a,b --target y --prediction p --split part=test --out m"
    held = imported(code + f"with contextlib.suppress(SystemExit): main({measure.split()})")
    assert (tmp_path / "c.html").is_file()
    assert (tmp_path / "m" / "index.html").is_file()
    assert held >= {"altair", "vl_convert"}
    assert not held & {"torch", "recombine.studies", "sklearn", "scipy.stats"}
