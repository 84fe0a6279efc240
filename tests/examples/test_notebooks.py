"""The notebooks run from top to bottom and are in the docs; the README answers a stranger at once."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))
import notebooks  # noqa: E402


@pytest.mark.parametrize(
    ("example", "finding", "last"),
    [
        (
            "check_catalogue",
            "24 cannot, whatever the model",
            "price 1 article by hand, then let the model price the other 29",
        ),
        ("check_robot_skills", "3 further combinations would determine all", "book 3 lab hours for 3 demonstrations"),
        ("own_model", "unseen  ", "examples per member"),
    ],
)
def test_a_notebook_runs_from_top_to_bottom(example: str, finding: str, last: str) -> None:
    cells = notebooks.run(notebooks.EXAMPLES / f"{example}.py")
    printed = "".join(cell.printed for cell in cells)
    assert finding in printed
    assert last in printed.splitlines()[-1]
    kept = json.loads(notebooks.as_notebook(cells))["cells"]
    assert ["".join(cell["source"]) for cell in kept] == [cell.source for cell in cells]
    assert cells[-1].printed in notebooks.as_page(Path(f"{example}.py"), cells)


def test_every_notebook_is_in_the_docs() -> None:
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert [path.stem for path in notebooks.notebooks() if f"notebooks/{path.stem}.md" not in site] == []


def test_five_questions_of_a_stranger_are_answered_in_one_screen() -> None:
    """Above the picture: about 570 pixels, where a page has the width of a README on GitHub (CONTRIBUTING.md)."""
    first = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n![")[0]
    assert len(first.splitlines()) <= 30
    for answer in ("For every combination that was *not* tried it says", "recombine check", "collect 1 combination",
                   "fit your problem?", "[what did not hold is said](#can-you-trust-it)"):  # fmt: skip
        assert answer in first
    asked = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert all(question in asked for question in ("What is it?", "Does it fit my problem?", "What do I type?",
                                                  "What comes out?", "Can I trust it?"))  # fmt: skip
