"""The prose of a study, kept beside its code as Markdown: how it differs from the paper, and why claims do not hold.

# Where this differs
- One point, over as many
  lines as it needs.

# Why
## id-of-a-claim
What the tables support.

Settles: the experiment that would decide it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

DIFFERS, WHY, SETTLES = "# Where this differs", "# Why", "Settles: "


@dataclass(frozen=True)
class Notes:
    """``deviations``, and for each claim that does not hold an explanation and what would settle it."""

    deviations: tuple[str, ...] = ()
    reasons: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def of(self, claim: str) -> tuple[str, str]:
        return self.reasons.get(claim, ("", ""))


def read_notes(code: str) -> Notes:
    """The notes that lie beside a file of code: ``read_notes(__file__)`` reads the same name with the ending md, or
    notes.md in the folder of a package."""
    path = Path(code)
    text = (path.parent / "notes.md" if path.name == "__init__.py" else path.with_suffix(".md")).read_text("utf-8")
    return parse_notes(text)


def parse_notes(text: str) -> Notes:
    """See the head of this file for the form."""
    before, _, why = text.partition(f"\n{WHY}\n")
    points = _paragraph(before.partition(DIFFERS)[2]).split("\n- ")[1:] if DIFFERS in before else []
    reasons = {}
    for part in f"\n{why}".split("\n## ")[1:]:
        claim, _, body = part.partition("\n")
        explanation, _, settles = body.partition(SETTLES)
        reasons[claim.strip()] = (_joined(explanation), _joined(settles))
    return Notes(tuple(_joined(point) for point in points), reasons)


def _paragraph(text: str) -> str:
    return "\n" + text.strip()


def _joined(text: str) -> str:
    """One line; lines of the file are broken for those who edit it."""
    return " ".join(text.split())
