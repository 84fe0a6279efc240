"""What a person looks at: the page, and the exports.

Names are looked up when they are first used, so that the page of a table does not wait for the studies and torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_WHERE = {
    "claims_chart": "study",
    "claims_latex": "export",
    "claims_markdown": "export",
    "inline_svg": "html",
    "overview_page": "overview",
    "render": "html",
    "responsive_svg": "html",
    "study_page": "study",
    "write_measured": "measured",
    "write_overview": "overview",
    "write_study": "study",
}

__all__ = [
    "claims_chart",
    "claims_latex",
    "claims_markdown",
    "inline_svg",
    "overview_page",
    "render",
    "responsive_svg",
    "study_page",
    "write_measured",
    "write_overview",
    "write_study",
]

if TYPE_CHECKING:
    from recombine.reporting.export import claims_latex, claims_markdown
    from recombine.reporting.html import inline_svg, render, responsive_svg
    from recombine.reporting.measured import write_measured
    from recombine.reporting.overview import overview_page, write_overview
    from recombine.reporting.study import claims_chart, study_page, write_study


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
