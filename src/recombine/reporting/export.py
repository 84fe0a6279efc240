"""Claims as tables for other documents: Markdown and LaTeX. Whatever a study's texts hold stays text there."""

from __future__ import annotations

import math
from collections.abc import Sequence

from recombine import __version__
from recombine.figures.data import decimals_for, number
from recombine.reporting.citing import PACKAGE, package_entry, paper_entry, paper_key
from recombine.reporting.escaped import markdown_text
from recombine.reporting.latex import latex_frame, latex_text
from recombine.studies.claims import READ_FROM, WHOSE, ClaimResult, Whose
from recombine.studies.study import StudyResult

SIGN = {"holds": "✓", "fails": "✗", "open": "~", "not fitted": "–", "not run": "·"}


def measured_text(claim: ClaimResult) -> str:
    """The measured figure and its interval."""
    return " ".join(filter(None, measured_parts(claim)))


def measured_parts(claim: ClaimResult) -> tuple[str, str]:
    """The measured figure, and its interval or nothing, with as many decimals as the interval carries."""
    figure, unit = claim.figure, f" {claim.claim.unit}" if claim.claim.unit else ""
    digits = decimals_for(figure.low, figure.high)
    if digits is not None and max(abs(figure.low), abs(figure.high)) < 0.5 * 10**-digits:
        digits = None  # all of it would be shown as zeros
    mean = number(figure.mean, digits) + (unit if math.isfinite(figure.mean) else "")
    if not math.isfinite(figure.high - figure.low):
        return mean, ""
    return mean, f"[{number(figure.low, digits)}, {number(figure.high, digits)}]"


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
    if claim.needs:
        return f"{claim.members} of {claim.needs} needed"
    if claim.status == "not run":
        return number(None)
    return str(claim.members) if claim.fitted == claim.members else f"{claim.fitted} of {claim.members} fitted"


def claims_markdown(claims: Sequence[ClaimResult]) -> str:
    """One row per claim, the status as sign and words."""
    rows: list[tuple[str, ...]] = [
        ("claim", "whose", "published", "measured (95 % interval)", "members", "criterion", "of the paper's", "status"),
        ("---",) * 8,
    ]
    for claim in claims:
        status = f"{SIGN[claim.status]} {status_text(claim)}"
        cells = (
            f"{claim.claim.id}: {claim.claim.sentence}",
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


def study_latex(result: StudyResult) -> str:
    """The claims of a study as such a table, whose caption says of which paper, runs and version they are; BibTeX
    entries stand above it as comments."""
    study, name = result.study, latex_text(result.study.name)
    title = f"{study.title} ({study.name}, made of {study.varies.name})" if study.varies else study.title
    cited = rf"~\cite{{{paper_key(study.paper)}}}" if study.paper else ""
    origin = [f"study {name} at {result.scale} scale"]
    comments = [f"made by: {result.command}".replace("\\", "?")]  # no command, should somebody take the % away
    if result.provenance:
        count = len(result.provenance)
        origin.append(f"{count} run{'s' * (count > 1)} \\texttt{{{result.address[:12]}}}")
        comments.append(f"runs: {result.address}, the SHA-256 of their addresses in study.json, sorted, one a line")
    caption = (
        rf"{latex_text(title)}: published{cited} and measured figures. "
        rf"Made with {PACKAGE} {latex_text(__version__)}~\cite{{{PACKAGE}}}: {', '.join(origin)}."
    )
    if changed := "; ".join((*result.changes, *result.asked)):
        caption += f" {latex_text(f'Changed: {changed}.')}"
    comments += ["what the caption cites:", *(paper_entry(study.paper) if study.paper else ()), *package_entry()]
    return _claims_frame(result.claims, caption, f"tab:{study.name}", comments)


def _claims_frame(claims: Sequence[ClaimResult], caption: str, label: str, comments: Sequence[str] = ()) -> str:
    whose = [(owner, [claim for claim in claims if claim.claim.whose == owner]) for owner in WHOSE]
    rows = [row for owner, some in whose if some for row in ([_heading(owner)], *_rows(some))]
    head = ("Claim", "Published", r"Measured (95\,\% interval)", "Members", "Status")
    return latex_frame(r">{\raggedright\arraybackslash}p{0.45\linewidth}rrrl", head, rows, caption, label, comments)


def _heading(owner: Whose) -> str:
    return rf"\multicolumn{{5}}{{l}}{{\emph{{{WHOSE[owner].capitalize()}}}}}"


def _rows(claims: Sequence[ClaimResult]) -> list[list[str]]:
    rows = []
    for claim in claims:
        said = (of(claim) for of in (published_text, measured_text, members_text, status_text))
        cells = [latex_text(text) for text in (claim.claim.sentence, *said)]
        if claim.status == "holds":
            cells[2] = rf"\textbf{{{cells[2]}}}"
        rows.append(cells)
    return rows
