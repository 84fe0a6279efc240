"""docs/reliability.md says what the fault tests say: none is missing, changed, or failed when it was written."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("faults", DOCS / "faults.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["faults"] = module
    spec.loader.exec_module(module)
    return module


faults = load()


def test_the_page_has_a_line_for_every_fault_test() -> None:
    page = (DOCS / "reliability.md").read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in page.split(faults.BEGIN)[1].split(faults.END)[0].splitlines()[4:] if line]
    ended = [next(sign for sign in faults.SIGNS.values() if row[3].startswith(sign)) for row in rows]
    told = [
        (row[0].removeprefix("| "), row[1], row[3].removeprefix(sign), row[4].removesuffix(" |"))
        for row, sign in zip(rows, ended, strict=True)
    ]
    found = [
        (f.fault, f.injected, f.outcome, f"`{f.file.removeprefix('tests/')}::{f.test}`") for f in faults.declared()
    ]
    assert told == found, "run `python docs/faults.py`"
    assert faults.SIGNS["failed"] not in ended
    assert all(int(row[2]) > 0 for row, sign in zip(rows, ended, strict=True) if sign == faults.SIGNS["passed"])


def test_cases_of_one_test_are_counted_together() -> None:
    case = '<testcase file="tests/t.py" name="{}">{}</testcase>'
    tried = '<properties><property name="tried" value="4"/></properties>'
    cases = (("test_a[1]", tried), ("test_a[2]", ""), ("test_b", "<failure/>"), ("test_c", "<skipped/>"))
    report = "".join(case.format(*what) for what in cases)
    found = faults.counted(ElementTree.fromstring(f"<suite>{report}</suite>"))
    assert found["tests/t.py", "test_a"] == faults.Tried(5, "passed")
    assert found["tests/t.py", "test_b"] == faults.Tried(1, "failed")
    assert found["tests/t.py", "test_c"] == faults.Tried(0, "skipped")


def test_a_fault_test_that_does_not_say_what_it_does_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_x.py").write_text('@pytest.mark.fault\ndef test_a():\n    """A fault."""\n')
    with pytest.raises(SystemExit, match="test_a must say"):
        faults.declared(tmp_path)
