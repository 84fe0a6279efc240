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
    search = result.masks.filter(result.masks["role"] == "search")
    return render(
        "dissection.html.j2",
        result=result,
        picture=responsive_svg(lambda: dissection_figure(result), result.verdict, "dissection"),
        rows=result.to_frame().to_dicts(),
        masks=search.head(SHOWN).to_dicts(),
        count=search.height,
        overlap=result.overlap.drop_nulls("iou").to_dicts(),
    )
