"""The page of a dissection: the verdict, the picture, the table, and every mask behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.figures.dissection import dissection_figure
from recombine.reporting.html import responsive_svg
from recombine.reporting.page import render

if TYPE_CHECKING:
    from recombine.structure import Dissection

SHOWN = 60


def dissection_page(result: Dissection) -> str:
    """One self-contained page; names are text wherever they stand."""
    verdicts = [_parted(result.verdict_of(name)) for name in result.subroutines]
    found: dict[str, list[str]] = {}
    for name, words, _ in verdicts:
        found.setdefault(words, []).append(name)
    search = result.masks.filter(result.masks["role"] == "search")
    return render(
        "dissection.html.j2",
        result=result,
        headline="; ".join(f"{' and '.join(names)}: {words}" for words, names in found.items()),
        evidences=[f"{name}: {evidence}." for name, _, evidence in verdicts if evidence],
        picture=responsive_svg(lambda: dissection_figure(result), result.verdict, "dissection"),
        rows=result.to_frame().to_dicts(),
        masks=search.head(SHOWN).to_dicts(),
        count=search.height,
        overlap=result.overlap.drop_nulls("iou").to_dicts(),
    )


def _parted(verdict: str) -> tuple[str, str, str]:
    """Of which subroutine, what was found, and the figures behind it."""
    name, _, said = verdict.rstrip(".").partition(": ")
    words, _, evidence = said.partition(" (")
    return name, words, evidence.removesuffix(")")
