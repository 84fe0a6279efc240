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
    "render": "page",
    "report": "overview",
    "responsive_svg": "html",
    "study_page": "study",
    "write_measured": "measured",
    "write_overview": "overview",
    "write_study": "study",
}

if TYPE_CHECKING:
    from recombine.reporting.export import claims_latex as claims_latex, claims_markdown as claims_markdown
    from recombine.reporting.html import inline_svg as inline_svg, responsive_svg as responsive_svg
    from recombine.reporting.measured import write_measured as write_measured
    from recombine.reporting.overview import (
        overview_page as overview_page,
        report as report,
        write_overview as write_overview,
    )
    from recombine.reporting.page import render as render
    from recombine.reporting.study import (
        claims_chart as claims_chart,
        study_page as study_page,
        write_study as write_study,
    )


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(_WHERE)


if not TYPE_CHECKING:  # type checkers read the imports above instead
    __all__ = __dir__()
