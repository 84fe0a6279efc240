"""What a person looks at: the page, and the exports.

Names are looked up when they are first used, so that the page of a table does not wait for the studies and torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.on_demand import on_demand

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

if not TYPE_CHECKING:  # type checkers read the imports above instead
    __getattr__, __dir__, __all__ = on_demand(__name__, {
        "export": ["claims_latex", "claims_markdown"], "html": ["inline_svg", "responsive_svg"],
        "measured": ["write_measured"], "overview": ["overview_page", "report", "write_overview"], "page": ["render"],
        "study": ["claims_chart", "study_page", "write_study"],
    })  # fmt: skip
