"""What a person looks at: the page, and the exports."""

from recombine.reporting.export import claims_latex as claims_latex, claims_markdown as claims_markdown
from recombine.reporting.html import inline_svg as inline_svg, render as render, responsive_svg as responsive_svg
from recombine.reporting.measured import write_measured as write_measured
from recombine.reporting.overview import (
    overview_page as overview_page,
    read_committed as read_committed,
    write_overview as write_overview,
)
from recombine.reporting.study import claims_chart as claims_chart, study_page as study_page, write_study as write_study
