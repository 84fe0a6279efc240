"""What `make package` asks of an installed package, run from a folder without sources: it has the version that was
built, every package of it imports, and a table that it carries can be checked and gives a page."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import recombine
from recombine.tables import real_table

assert "site-packages" in recombine.__file__, f"not the installed package: {recombine.__file__}"
assert recombine.__version__ == version("recombine") == sys.argv[1], (recombine.__version__, sys.argv[1])

packages = [found.name for found in pkgutil.walk_packages(recombine.__path__, "recombine.") if found.ispkg]
for name in packages:
    importlib.import_module(name)

command = str(Path(sys.executable).with_name("recombine"))
assert "check" in subprocess.run([command, "--help"], capture_output=True, text=True, check=True).stdout
table = real_table("barley")
with tempfile.TemporaryDirectory() as folder:
    page = Path(folder) / "page.html"
    words = [command, "check", str(table.path), "--factors", ",".join(table.factors), "--target", table.target,
             "--out", str(page)]  # fmt: skip
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert page.stat().st_size > 10_000
    print(f"{len(packages)} packages imported; recombine {version('recombine')} checks barley: {said.splitlines()[0]}")
