"""The page of one study, and everything that lies beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl
from markupsafe import Markup

from recombine import figures
from recombine.errors import unknown
from recombine.figures import theme
from recombine.figures.export import file_name, save_figure, write
from recombine.reporting.export import SIGN, claims_latex, claims_markdown, measured_parts, members_text, published_text
from recombine.reporting.html import render, responsive_svg
from recombine.reporting.provenance import arranged, duration
from recombine.runs.formats import table_to_bytes
from recombine.studies.claims import Claim, ClaimResult, Order, Sign, Value
from recombine.studies.study import Figure, StudyResult
from recombine.studies.verification import study_record

ENDINGS = ("svg", "pdf", "csv", "vl.json")
CARD = (352, 240)
"""Pixels for the picture in a card on the page of all studies."""


def claims_chart(result: StudyResult) -> alt.LayerChart:
    """The one obvious picture of a study: its claims, with what each criterion compares with."""
    more = [{**_compared(claim.claim), "unit": claim.claim.unit} for claim in result.claims]
    schema = {"reference": pl.Float64, "tolerance": pl.Float64, "unit": pl.String}
    return figures.claims(result.to_frame().hstack(pl.DataFrame(more, schema=schema)))


def study_page(result: StudyResult, *, links: bool = True) -> str:
    """The study as one self-contained page. ``links``: whether its figures lie beside it as files."""
    return _page(study_view(result), "" if links else None)


def study_view(result: StudyResult) -> dict[str, Any]:
    """What a template shows of a study, its figures drawn; see `located`."""
    verdict = answer(result)
    name = f"The claims of the study, published and measured. {verdict}"
    return {
        "result": result,
        "study": result.study,
        "answer": verdict,
        "overview": responsive_svg(lambda: claims_chart(result), name, "claims") if result.claims else "",
        "claims": [_row(claim) for claim in result.claims],
        "charts": [_chart(figure, result) for figure in result.study.figures],
        "provenance": arranged(result.provenance),
        "seconds": duration(result.seconds),
        "address": _web_address(result.study.paper.url),
    }


def located(view: Mapping[str, Any], folder: str | None) -> dict[str, Any]:
    """The view for one page: ``folder`` is where the figures lie as files, seen from there, None for nowhere."""
    return {**view, "charts": [{**chart, "files": _files(chart["figure"], folder)} for chart in view["charts"]]}


def write_study(result: StudyResult, out: Path, view: Mapping[str, Any] | None = None) -> Path:
    """Write page, figures, tables and claims under ``out``; the page last, so that it never points at nothing.

    ``view`` is the study's view where it was drawn before."""
    out = Path(out)
    for figure in result.study.figures:
        with theme.drawn_for("double"):
            save_figure(_drawn(figure, result), _rows(figure, result), out / "figures" / file_name(figure.id))
    if result.claims:
        save_figure(claims_chart(result), result.to_frame(), out / "figures" / "claims")
    for name, table in result.tables.items():
        write(out / "tables" / f"{file_name(name)}.parquet", table_to_bytes(table))
    study = result.study
    caption = f"{study.title}: published and measured figures ({result.scale} scale)."
    texts = {
        "claims.json": json.dumps(result.to_dict(), ensure_ascii=False, indent=1, allow_nan=False) + "\n",
        "study.json": json.dumps(study_record(result), ensure_ascii=False, indent=1, allow_nan=False) + "\n",
        "claims.md": claims_markdown(result.claims),
        "claims.tex": claims_latex(result.claims, caption, f"tab:{study.name}"),
    }
    for name, text in texts.items():
        write(out / name, text.encode())
    return write(out / "index.html", _page(view or study_view(result), "").encode())


def answer(result: StudyResult) -> str:
    """The verdict in one sentence, made of nothing but the counts."""
    counts, total = result.counts(), len(result.claims)
    if total == 0:
        return "This study declares no claims."
    if counts["holds"] == total:
        return f"All {total} claims hold." if total > 1 else "Its one claim holds."
    parts = [f"{counts['holds'] or 'None'} of {total} claims {'holds' if counts['holds'] == 1 else 'hold'}"]
    if fails := counts["fails"]:
        parts.append(f"{fails} {'fails' if fails == 1 else 'fail'}")
    if unfitted := counts["not fitted"]:
        parts.append(f"{unfitted} could not be judged, because too few members fitted the training data")
    return (
        parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + (", and " if len(parts) > 2 else "; ") + parts[-1]
    ) + "."


def _page(view: Mapping[str, Any], folder: str | None) -> str:
    return render("study.html.j2", view=located(view, folder))


def _chart(figure: Figure, result: StudyResult) -> dict[str, Any]:
    name = f"{result.study.name}-{figure.id}"
    svg = responsive_svg(lambda: _drawn(figure, result), f"{figure.title}. {figure.caption}", name)
    return {"figure": figure, "svg": svg}


def _files(figure: Figure, folder: str | None) -> list[tuple[str, str]]:
    if folder is None:
        return []
    stem = f"{folder}figures/{file_name(figure.id)}"
    return [(ending.removeprefix("vl."), f"{stem}.{ending}") for ending in ENDINGS]


def lead_chart(view: Mapping[str, Any]) -> dict[str, Any] | None:
    """The one picture that stands for the study: of its drawings the one that is largest in a card."""
    charts = {chart["figure"].id: chart for chart in view["charts"]}
    if not charts:
        return None
    chosen = charts[view["study"].lead or next(iter(charts))]
    drawing = max(re.findall(r"<svg.*?</svg>", chosen["svg"], re.DOTALL), key=_size_in_card)
    # It stands on the page a second time: its identifiers need names of their own.
    svg = re.sub(r'(\bid="|url\(#|href="#)(?=f[0-9a-f]{8}-)', r"\1lead-", drawing)
    return {"figure": chosen["figure"], "svg": Markup(svg)}


def _size_in_card(svg: str) -> float:
    width, height = (float(side) for side in re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)[0])
    return min(CARD[0] / width, CARD[1] / height)


def _drawn(figure: Figure, result: StudyResult) -> alt.TopLevelMixin:
    chart: alt.TopLevelMixin = figure.draw(_rows(figure, result))
    return chart


def _rows(figure: Figure, result: StudyResult) -> pl.DataFrame:
    if figure.table not in result.tables:
        raise unknown(f"table of figure {figure.id}", figure.table, result.tables)
    return figure.rows(result.tables[figure.table])


def _compared(claim: Claim) -> dict[str, float | None]:
    match claim.criterion:
        case Sign(than=than):
            return {"reference": than, "tolerance": None}
        case Order():
            return {"reference": 0.0, "tolerance": None}
        case Value(tolerance=tolerance):
            return {"reference": None, "tolerance": tolerance}


def _row(claim: ClaimResult) -> dict[str, Any]:
    mean, interval = measured_parts(claim)
    kind, _, detail = str(claim.claim.criterion).partition(": ")
    return {
        "claim": claim.claim,
        "published": published_text(claim),
        "mean": mean,
        "interval": interval,
        "members": members_text(claim),
        "kind": kind,
        "detail": detail,
        "status": claim.status,
        "sign": SIGN[claim.status],
        "css": claim.status.replace(" ", "-"),
    }


def _web_address(url: str) -> str:
    """The address if it can be followed safely; a link that runs code is no address of a paper."""
    return url if url.startswith(("https://", "http://")) else ""
