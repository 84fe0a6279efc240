"""Claims as tables for other documents: Markdown and LaTeX. Whatever a study's texts hold stays text there."""

from __future__ import annotations

import math
from collections.abc import Sequence

from recombine import __version__
from recombine.figures.data import decimals_for, number
from recombine.reporting.citing import PACKAGE, citation, entries, paper_key
from recombine.reporting.escaped import markdown_text
from recombine.reporting.latex import latex_below, latex_column, latex_frame, latex_row, latex_text
from recombine.statistics import Interval
from recombine.studies.claims import READ_FROM, WHOSE, Claim, ClaimResult, Whose
from recombine.studies.study import StudyResult

MOST_DECIMALS = 9
WIDTHS = (0.335, 0.215, 0.11, 0.12)
"""Of the columns of LaTeX that break lines, as shares of a line: with gaps and published figures a page holds them."""
CLAIMS_A_PAGE = 3
"""Claims of such a table that surely fit on a page: one takes up to ten lines."""
ADDRESS = "the SHA-256 of their addresses in study.json, sorted, one a line"
SIGN = {"holds": "✓", "fails": "✗", "open": "~", "not fitted": "–", "not run": "·"}


def measured_text(claim: ClaimResult) -> str:
    """The measured figure and its interval."""
    return " ".join(filter(None, measured_parts(claim)))


def measured_parts(claim: ClaimResult) -> tuple[str, str]:
    """The measured figure, and its interval or nothing, with as many decimals as the interval carries."""
    figure, unit = claim.figure, f" {claim.claim.unit}" if claim.claim.unit else ""
    digits = decimals_of(claim.claim, figure)
    mean = number(figure.mean, digits) + (unit if math.isfinite(figure.mean) else "")
    if not math.isfinite(figure.high - figure.low):
        return mean, ""
    return mean, f"[{number(figure.low, digits)}, {number(figure.high, digits)}]"


def decimals_of(claim: Claim, figure: Interval) -> int | None:
    """As many decimals as the interval carries, or as it takes for the criterion to judge what is shown as it judges
    the figure: an interval that lies above 0 is not shown as [0.0, 0.3]. None: three digits of each number."""
    digits = decimals_for(figure.low, figure.high)
    if digits is None or max(abs(figure.low), abs(figure.high)) < 0.5 * 10**-digits:
        return None  # all of it would be shown as zeros
    criterion, published = claim.test.criterion, claim.published.value if claim.published else None
    found = criterion.holds(figure, published)
    tried = range(digits, MOST_DECIMALS)
    return next((more for more in tried if criterion.holds(_rounded(figure, more), published) == found), digits)


def _rounded(figure: Interval, digits: int) -> Interval:
    mean, low, high = (float(f"{value:.{digits}f}") for value in (figure.mean, figure.low, figure.high))
    return Interval(mean, low, high)


def published_text(claim: ClaimResult) -> str:
    published = claim.claim.published
    if published is None:
        return number(None)
    return number(published.value) + (f" {claim.claim.unit}" if claim.claim.unit else "")


def published_from(claim: ClaimResult) -> str:
    """Where the published figure stands and how it was read; empty where there is none."""
    published = claim.claim.published
    return f"{published.where} ({READ_FROM[published.read_from]})" if published else ""


def everyone_text(claim: ClaimResult) -> str:
    """The figure over all members, where some did not fit."""
    figure = claim.everyone
    if claim.fitted == claim.members or not math.isfinite(figure.mean):
        return ""
    digits = decimals_for(figure.low, figure.high)
    bounds = f" [{number(figure.low, digits)}, {number(figure.high, digits)}]" if math.isfinite(figure.low) else ""
    return f"all {claim.members}: {number(figure.mean, digits)}{bounds}"


def status_text(claim: ClaimResult) -> str:
    """The status and, where it holds, in which sense."""
    return f"{claim.status}, {claim.how}" if claim.how else claim.status


def members_text(claim: ClaimResult) -> str:
    """How many members fitted, or of what there was too little to ask."""
    if claim.short:
        return "{} of {} steps needed".format(*claim.short)
    if claim.needs:
        return f"{claim.members} of {claim.needs} needed"
    if claim.status == "not run":
        return number(None)
    return str(claim.members) if claim.fitted == claim.members else f"{claim.fitted} of {claim.members} fitted"


def changed_text(claim: ClaimResult) -> str:
    """What a variation changes of what the claim reads, as the sentence that is to stand beside it; empty where there
    is nothing."""
    return f"Here {'; '.join(claim.changed)}." if claim.changed else ""


def claims_markdown(claims: Sequence[ClaimResult]) -> str:
    """One row per claim, the status as sign and words."""
    rows: list[tuple[str, ...]] = [
        ("claim", "whose", "published", "measured (95 % interval)", "members", "criterion", "of the paper's", "status"),
        ("---",) * 8,
    ]
    for claim in claims:
        status = f"{SIGN[claim.status]} {status_text(claim)}"
        cells = (
            f"{claim.claim.id}: {claim.claim.sentence} {changed_text(claim)}",
            claim.claim.whose,
            published_text(claim),
            measured_text(claim),
            members_text(claim),
            str(claim.claim.test.criterion),
            str(claim.shares),
        )
        rows.append((*map(markdown_text, cells), status))
    table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    why = [
        f"- {markdown_text(c.claim.id)}: {markdown_text(c.explanation)}"
        + (f" Would settle it: {markdown_text(c.settles)}" if c.settles else "")
        for c in claims
        if c.status != "holds" and c.explanation
    ]
    return table + ("\nWhy what does not hold does not:\n\n" + "\n".join(why) + "\n" if why else "")


def claims_latex(claims: Sequence[ClaimResult], caption: str, label: str) -> str:
    """A booktabs table, the paper's claims first, then ours; a measured figure is bold where its claim holds, and
    nowhere else."""
    return _claims_frame(claims, latex_text(caption), label)


def study_markdown(result: StudyResult) -> str:
    """The claims of a study as such a table, with what it takes to cite and to make them again."""
    paper = result.study.paper
    of = f"{paper.authors}, {paper.title}, {paper.venue} ({paper.year}) {paper.url}".strip() if paper else ""
    said = [f"{_headed(result)} Published and measured figures.", f"Published: {of}." if paper else ""]
    said += [f"Made with {PACKAGE} {__version__}: {_origin(result)}."]
    said += [_changed(result), f"Made by: {result.command}."]
    said += [f"Runs: {result.address}, {ADDRESS}."] if result.provenance else []
    caption = markdown_text(" ".join(filter(None, said)))
    return f"{caption}\n\n{claims_markdown(result.claims)}\n```bibtex\n{citation(result)}```\n"


def study_latex(result: StudyResult) -> str:
    """The claims of a study as such a table, whose caption says of which paper, runs and version they are; BibTeX
    entries stand above it as comments."""
    study = result.study
    cited = rf"~\cite{{{paper_key(study.paper)}}}" if study.paper else ""
    origin = latex_text(_origin(result))
    comments = [f"made by: {result.command}".replace("\\", "?")]  # no command, should somebody take the % away
    if result.provenance:
        origin += rf" \texttt{{{result.address[:12]}}}"
        comments.append(f"runs: {result.address}, {ADDRESS}")
    caption = (
        rf"{latex_text(_headed(result))} Published{cited} and measured figures. "
        rf"Made with {PACKAGE} {latex_text(__version__)}~\cite{{{PACKAGE}}}: {origin}."
    )
    if changed := _changed(result):
        caption += f" {latex_text(changed)}"
    comments += ["what the caption cites:", *entries(study.paper)]
    return _claims_frame(result.claims, caption, f"tab:{study.name}", comments)


def _headed(result: StudyResult) -> str:
    """Its title as a sentence; some are questions."""
    study = result.study
    title = f"{study.title} ({study.name}, made of {study.varies.name})" if study.varies else study.title
    return title + "." * (not title.endswith((".", "?", "!")))


def _origin(result: StudyResult) -> str:
    runs, count = "", len(result.provenance)
    if count:
        runs = f", {count} run{'s' * (count > 1)}"
    return f"study {result.study.name} at {result.scale} scale{runs}"


def _changed(result: StudyResult) -> str:
    told = "; ".join((*result.changes, *result.asked))
    return f"Changed: {told}." if told else ""


def _claims_frame(claims: Sequence[ClaimResult], caption: str, label: str, comments: Sequence[str] = ()) -> str:
    whose = [(owner, [claim for claim in claims if claim.claim.whose == owner]) for owner in WHOSE]
    rows = [row for owner, some in whose if some for row in (_heading(owner), *(_row(claim) for claim in some))]
    head = ("Claim", "Published", r"Measured\newline(95\,\% interval)", "Members", "Status")
    first, *others = map(latex_column, WIDTHS)
    columns = rf"@{{}}{first}r{''.join(others)}@{{}}"
    return latex_frame(columns, head, rows, caption, label, comments, len(claims) > CLAIMS_A_PAGE)


def _heading(owner: Whose) -> str:
    return latex_row([rf"\multicolumn{{5}}{{@{{}}l}}{{\emph{{{WHOSE[owner].capitalize()}}}}}"], keep=True)


def _row(claim: ClaimResult) -> str:
    """A claim in its columns, and below these what a reader needs beside it."""
    published, (mean, bounds) = claim.claim.published, measured_parts(claim)
    said = (number(published.value if published else None), mean, members_text(claim), status_text(claim))
    cells = [latex_text(text) for text in (claim.claim.sentence, *said)]
    if bounds:
        cells[2] += rf"\newline {latex_text(bounds)}"
    if claim.status == "holds":
        cells[2] = rf"\textbf{{{cells[2]}}}"
    return latex_row(cells, keep=True) + "\n" + latex_below(latex_text("; ".join(_beside(claim))), len(cells))


def _beside(claim: ClaimResult) -> list[str]:
    """What would make it hold, how far our runs are from the paper's, and what is changed of them."""
    return [text for text in (str(claim.claim.test.criterion), str(claim.shares), changed_text(claim)) if text]
