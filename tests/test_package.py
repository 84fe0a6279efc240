"""What is built is what is here: every module and data file is in the wheel, and the versions agree.

`make package` installs wheel and source archive into empty environments and tries them (`installed.py`)."""

from __future__ import annotations

import re
import shutil
import zipfile
from pathlib import Path

import pytest
from hatchling.build import build_wheel

import recombine

ROOT = Path(__file__).parents[1]


def test_the_wheel_holds_every_file_of_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ignored = shutil.ignore_patterns("__pycache__", "COMMIT")
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE", "hatch_build.py"):
        shutil.copy(ROOT / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    with zipfile.ZipFile(tmp_path / build_wheel(str(tmp_path))) as wheel:
        built = {name for name in wheel.namelist() if name.startswith("recombine/")}
        (told,) = (wheel.read(name).decode() for name in wheel.namelist() if name.endswith("METADATA"))
    here = {path.relative_to(tmp_path / "src").as_posix() for path in (tmp_path / "src").rglob("*") if path.is_file()}
    assert built == here
    assert {"recombine/py.typed", "recombine/studies/committed.json", "recombine/tables/barley.csv"} <= built
    assert f"\nVersion: {recombine.__version__}\n" in told


def test_a_release_is_named_alike_everywhere() -> None:
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    changed = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert cited
    assert changed
    assert cited[1] == changed[1] == recombine.__version__
