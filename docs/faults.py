"""The table of reliability.md: what goes wrong on purpose, how, how often it was tried, and what came of it.

`python docs/faults.py` runs every test marked `fault` and writes the table anew. A test says in its docstring ``fault:
… | injected: … | outcome: …``, and records how often it tried as the property ``tried``; otherwise a case counts once.
"""

from __future__ import annotations

import ast
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
PAGE = Path(__file__).with_name("reliability.md")
BEGIN, END = "<!-- written by docs/faults.py -->", "<!-- end -->"
PARTS = ("fault", "injected", "outcome")
HEAD = ("what goes wrong", "how it is brought about", "times tried", "what came of it", "test")

SIGNS = {"passed": "✓ ", "failed": "✗ not so: ", "skipped": "– not tried here: "}


@dataclass(frozen=True)
class Fault:
    """A fault test: where it is and what it says of itself."""

    file: str
    test: str
    fault: str
    injected: str
    outcome: str


@dataclass(frozen=True)
class Tried:
    """How often a test tried its fault, and how that ended: passed, failed or skipped."""

    times: int
    ended: str


def marked(root: Path = ROOT) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Every test with the mark `fault`, its own or its file's, and the file it is in."""
    for path in sorted((root / "tests").rglob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        whole = any(isinstance(n, ast.Assign) and ast.unparse(n) == "pytestmark = pytest.mark.fault" for n in tree.body)
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                own = any(ast.unparse(decorator) == "pytest.mark.fault" for decorator in node.decorator_list)
                if whole or own:
                    yield path.relative_to(root).as_posix(), node


def declared(root: Path = ROOT) -> list[Fault]:
    """The fault tests of the repository, by file and in its order."""
    found = []
    for file, node in marked(root):
        text = " ".join((ast.get_docstring(node) or "").split())
        said = [part.strip().partition(": ") for part in text.split(" | ")]
        if tuple(name for name, _, _ in said) != PARTS or not all(rest for _, _, rest in said):
            raise SystemExit(f"{file}: {node.name} must say 'fault: … | injected: … | outcome: …', not {text[:80]!r}")
        found.append(Fault(file, node.name, *(rest for _, _, rest in said)))
    return found


def try_all(faults: Sequence[Fault], root: Path = ROOT) -> dict[tuple[str, str], Tried]:
    """Run the fault tests and count."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        files = sorted({fault.file for fault in faults})
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-m",
            "fault",
            "-q",
            "-o",
            "junit_family=xunit1",
            f"--junitxml={report}",
        ]
        subprocess.run([*command, *files], cwd=root, check=False)
        return counted(ElementTree.parse(report).getroot())


def counted(report: ElementTree.Element) -> dict[tuple[str, str], Tried]:
    """From a report of pytest: cases of one test together."""
    found: dict[tuple[str, str], Tried] = {}
    for case in report.iter("testcase"):
        where = (case.get("file", ""), case.get("name", "").partition("[")[0])
        properties = {p.get("name"): p.get("value", "1") for p in case.iter("property")}
        ended = next((tag for tag in ("failure", "error", "skipped") if case.find(tag) is not None), "passed")
        ended = "failed" if ended in ("failure", "error") else ended
        times = int(properties.get("tried", "1")) if ended != "skipped" else 0
        before = found.get(where, Tried(0, ended))
        worst = next(e for e in ("failed", "passed", "skipped") if e in (before.ended, ended))
        found[where] = Tried(before.times + times, worst)
    return found


def table(faults: Sequence[Fault], tried: Mapping[tuple[str, str], Tried]) -> str:
    """The rows of the page."""
    lines = [HEAD, ("---",) * len(HEAD)]
    for fault in faults:
        result = tried.get((fault.file, fault.test), Tried(0, "skipped"))
        test = f"`{Path(fault.file).relative_to('tests').as_posix()}::{fault.test}`"
        lines.append((fault.fault, fault.injected, str(result.times), SIGNS[result.ended] + fault.outcome, test))
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def main() -> None:
    faults = declared()
    tried = try_all(faults)
    page = PAGE.read_text(encoding="utf-8")
    before, after = page.split(BEGIN)[0], page.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n\n{table(faults, tried)}\n{END}{after}", encoding="utf-8")
    ends = [result.ended for result in tried.values()]
    times = sum(result.times for result in tried.values())
    print(
        f"{len(faults)} fault tests, {times} times tried: {ends.count('passed')} passed, {ends.count('failed')} failed"
    )
    sys.exit(int("failed" in ends))


if __name__ == "__main__":
    main()
