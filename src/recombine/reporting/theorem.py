"""The page of a theorem check: the verdict, the assumptions, the picture, and the ranks behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.figures.data import number
from recombine.figures.sufficiency import theorem_figure
from recombine.reporting.html import responsive_svg
from recombine.reporting.page import render

if TYPE_CHECKING:
    from recombine.checks.theorem.promised import TheoremResult

SIGNS = {True: "holds", False: "fails", None: "assumed"}


def theorem_page(result: TheoremResult) -> str:
    """One self-contained page; names are text wherever they stand."""
    return render(
        "theorem.html.j2",
        result=result,
        headline="The theorem promises generalization" if result.promises else "The theorem promises nothing here",
        # The headline has said the rest.
        answer=result.verdict if result.promises else result.verdict.partition(": ")[2],
        picture=responsive_svg(lambda: theorem_figure(result), result.verdict, "theorem"),
        assumptions=[
            {"id": a.id, "name": a.name, "sign": SIGNS[a.holds], "words": a.words} for a in result.assumptions
        ],
        components=[
            {
                "name": c.name,
                "points": _span(c.points.tolist()),
                "summed": _span(c.summed.tolist()),
                "stacked": _span(c.stacked.tolist()),
                "full": f"{c.full:,}",
                "weakest": number(float(c.weakest.min())),
            }
            for c in result.components
        ],
        values=len(result.components[0].summed),
    )


def _span(values: list[int]) -> str:
    low, high = min(values), max(values)
    return f"{low:,}" if low == high else f"{low:,} – {high:,}"
