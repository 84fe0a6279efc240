"""What a person looks at: the page, and the exports."""

from recombine.reporting.export import claims_latex, claims_markdown
from recombine.reporting.html import inline_svg, render, responsive_svg
from recombine.reporting.measured import write_measured
from recombine.reporting.overview import overview_page, write_overview
from recombine.reporting.study import claims_chart, study_page, write_study

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
