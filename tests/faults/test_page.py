"""docs/reliability.md says what the fault tests say: none is missing, none has changed, none failed when it was written."""

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
    told = [(r[0].removeprefix("| "), r[1], r[3].partition(" ")[2], r[4].removesuffix(" |")) for r in rows]
    found = [
        (f.fault, f.injected, f.outcome, f"`{f.file.removeprefix('tests/')}::{f.test}`") for f in faults.declared()
    ]
    assert told == found, "run `python docs/faults.py`"
    assert all(row[3].startswith("✓ ") and int(row[2]) > 0 for row in rows)


def test_cases_of_one_test_are_counted_together() -> None:
    case = '<testcase file="tests/t.py" name="{}">{}</testcase>'
    tried = '<properties><property name="tried" value="4"/></properties>'
    report = "".join([case.format("test_a[1]", tried), case.format("test_a[2]", ""), case.format("test_b", "<failure/>"),
                      case.format("test_c", "<skipped/>")])  # fmt: skip
    found = faults.counted(ElementTree.fromstring(f"<suite>{report}</suite>"))
    assert found["tests/t.py", "test_a"] == faults.Tried(5, "passed")
    assert found["tests/t.py", "test_b"] == faults.Tried(1, "failed")
    assert found["tests/t.py", "test_c"] == faults.Tried(0, "skipped")


def test_a_fault_test_that_does_not_say_what_it_does_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_x.py").write_text('@pytest.mark.fault\ndef test_a():\n    """A fault."""\n')
    with pytest.raises(SystemExit, match="test_a must say"):
        faults.declared(tmp_path)
