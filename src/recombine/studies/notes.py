"""The prose of a study, kept beside its code as Markdown: how it differs from the paper, what its figures show, and why
claims do not hold.

# Where this differs
- One point, over as many
  lines as it needs.

# Terms
- a term: what it means.

# Figures
## id-of-a-figure
Its caption.

# Why
## id-of-a-claim, id-of-another
What the tables support.

Settles: the experiment that would decide it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

DIFFERS, TERMS, FIGURES, WHY, SETTLES = "Where this differs", "Terms", "Figures", "Why", "Settles: "


@dataclass(frozen=True)
class Notes:
    """``deviations``, captions of figures, and for each claim that does not hold an explanation and what would settle
    it."""

    deviations: tuple[str, ...] = ()
    reasons: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    captions: Mapping[str, str] = field(default_factory=dict)
    terms: Mapping[str, str] = field(default_factory=dict)
    """Words of the claims that a stranger does not know, and what they mean."""

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
    of = _headed(text, "# ")
    points, terms = (list(map(_joined, f"\n{of.get(part, '').strip()}".split("\n- ")[1:])) for part in (DIFFERS, TERMS))
    reasons = {claim: body.partition(SETTLES) for claim, body in _headed(of.get(WHY, ""), "## ").items()}
    return Notes(
        tuple(points),
        {claim: (_joined(explanation), _joined(settles)) for claim, (explanation, _, settles) in reasons.items()},
        {figure: _joined(caption) for figure, caption in _headed(of.get(FIGURES, ""), "## ").items()},
        {term: meaning for term, _, meaning in (point.partition(": ") for point in terms)},
    )


def _headed(text: str, mark: str) -> dict[str, str]:
    """What stands under each heading, which may name several."""
    parts = (part.partition("\n") for part in f"\n{text}".split(f"\n{mark}")[1:])
    return {name: body for head, _, body in parts for name in head.strip().split(", ")}


def _joined(text: str) -> str:
    """One line; lines of the file are broken for those who edit it."""
    return " ".join(text.split())
