"""The page of one study, and everything that lies beside it."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl

from recombine import figures
from recombine.figures import theme
from recombine.figures.data import NothingToDraw, number, plain
from recombine.figures.export import COLUMN, FILES, Drawn, file_name, write, write_files
from recombine.reporting.citing import citation
from recombine.reporting.drawing import Drawing
from recombine.reporting.export import (
    SIGN,
    changed_text,
    decimals_of,
    everyone_text,
    measured_parts,
    members_text,
    published_from,
    published_text,
    study_latex,
    study_markdown,
)
from recombine.reporting.page import render
from recombine.reporting.provenance import arranged, computing
from recombine.runs.formats import table_to_bytes
from recombine.statistics import Interval
from recombine.studies.claims import Claim, ClaimResult, Order, Sign, Value
from recombine.studies.committed import Verdicts, carried
from recombine.studies.finding import STUDIES, ships
from recombine.studies.study import Figure, Study, StudyResult
from recombine.studies.tables import UNREADABLE
from recombine.studies.verification import study_record

LETTER = 6.5
"""Pixels of a letter of a title on average."""


def claims_chart(result: StudyResult) -> alt.LayerChart:
    """The one obvious picture of a study: its claims, with what each criterion compares with. Above those of a
    variation stands what it changes."""
    chart = figures.claims(_claims_table(result))
    if not result.changes:
        return chart
    told = f"{result.study.name} changes of {result.study.original.name}: {'; '.join(result.changes)}."
    lines = textwrap.wrap(plain(told), int(theme.total_width() / LETTER))
    return chart.properties(title=alt.TitleParams(lines, fontWeight="normal", anchor="start"))


def _claims_table(result: StudyResult) -> pl.DataFrame:
    said = [f"{changed_text(c)} {c.claim.sentence}".strip() for c in result.claims]
    more = [{**_compared(c.claim), "decimals": decimals_of(c.claim, c.figure)} for c in result.claims]
    schema = {"reference": pl.Float64, "tolerance": pl.Float64, "decimals": pl.Int64}
    rows = result.to_frame().with_columns(pl.Series("sentence", said, pl.String))
    return rows.hstack(pl.DataFrame(more, schema=schema))


def study_page(result: StudyResult, *, links: bool = True) -> str:
    """The study as one self-contained page. ``links``: whether its figures lie beside it as files."""
    return _page(study_view(result), "" if links else None)


def study_view(result: StudyResult) -> dict[str, Any]:
    """What a template shows of a study; a figure is drawn where it is shown. See `located`."""
    verdict = result.verdict()
    tables = {name: table_to_bytes(table) for name, table in result.tables.items()}
    charts = _charts(result, tables)
    shown = {chart["figure"].id for chart in charts}
    return {
        "result": result,
        "study": result.study,
        "original": result.study.varies,
        "called": called(result.study),
        "changes": result.changes,
        "undrawn": [figure.id for figure in result.study.figures if figure.id not in shown],
        "answer": verdict,
        "overview": _claims_drawing(result) if result.claims else None,
        "claims": rows_of_claims(result, carried()),
        "charts": charts,
        "tables": tables,
        "provenance": arranged(result.provenance),
        "computing": computing(result.provenance),
        "address": _web_address(result.study.paper.url) if result.study.paper else "",
    }


def located(view: Mapping[str, Any], folder: str | None) -> dict[str, Any]:
    """The view for one page: ``folder`` is where the figures lie as files, seen from there, None for nowhere."""
    return {**view, "charts": [{**chart, "files": _files(chart["figure"], folder)} for chart in view["charts"]]}


def write_study(result: StudyResult, out: Path, view: Mapping[str, Any] | None = None) -> Path:
    """Write page, figures, tables and claims under ``out``; the page last, so that it never points at nothing.

    ``view`` is the study's view where there is one already."""
    out, view = Path(out), view or study_view(result)
    page = _page(view, "").encode()  # what cannot be drawn leaves everything as it was
    for chart in view["charts"]:
        write_files(chart["drawing"].files(), out / "figures" / file_name(chart["figure"].id))
    if view["overview"]:
        write_files(view["overview"].files(), out / "figures" / "claims")
    _write_texts(result, out, view["tables"])
    write(out / "claims.bib", citation(result).encode())
    return write(out / "index.html", page)


def write_results(result: StudyResult, folder: Path) -> None:
    """What is committed of a study: its tables, claims and provenance, and each figure once. `recombine report` makes
    the page and all other files from them."""
    tables = {name: table_to_bytes(table) for name, table in result.tables.items()}
    drawn = {chart["figure"].id: chart["drawing"].wide for chart in _charts(result, tables)}
    if result.claims:
        drawn["claims"] = Drawn(claims_chart(result))
    for name, figure in drawn.items():
        write(folder / "figures" / f"{file_name(name)}.svg", figure.svg.encode())
    _write_texts(result, folder, tables)


def _write_texts(result: StudyResult, out: Path, tables: Mapping[str, bytes]) -> None:
    for name, table in tables.items():
        write(out / "tables" / f"{file_name(name)}.parquet", table)
    texts = {
        "claims.json": json.dumps(result.to_dict(), ensure_ascii=False, indent=1, allow_nan=False) + "\n",
        "study.json": json.dumps(study_record(result), ensure_ascii=False, indent=1, allow_nan=False) + "\n",
        "claims.md": study_markdown(result),
        "claims.tex": study_latex(result),
    }
    for name, text in texts.items():
        write(out / name, text.encode())


def _page(view: Mapping[str, Any], folder: str | None) -> str:
    return render("study.html.j2", view=located(view, folder))


def called(study: Study[Any]) -> str:
    """What tells a study of one's own from those of the package: its name, and which it was made of."""
    if study.varies:
        return f"{study.name}, made of {study.varies.name}"
    return "" if study.name in STUDIES else study.name


def _charts(result: StudyResult, tables: Mapping[str, bytes]) -> list[dict[str, Any]]:
    """The figures of which something was run, and fitted. Those that a variation took over may show runs that it leaves
    out."""
    varied, found = result.study.varies, []
    for figure in result.study.figures:
        if figure.table not in result.tables:
            continue
        try:
            chart = _chart(figure, result, tables)
            if varied or _kept(result.study) is None:
                chart["drawing"].wide, chart["drawing"].narrow
            found.append(chart)
        except NothingToDraw:
            continue  # Where no member fitted, the claims say so and the page is written all the same.
        except UNREADABLE:
            if varied is None:
                raise
    return found


def _chart(figure: Figure, result: StudyResult, tables: Mapping[str, bytes]) -> dict[str, Any]:
    table, study = result.tables[figure.table], result.study
    name = f"{study.name}-{figure.id}"
    drawing = Drawing(_kept(study), name, tables[figure.table], lambda: figure.rows(table), figure.draw)
    heading = figure.heading(drawing.rows)
    told = f"{heading.rstrip('.')}. {figure.caption}"
    return {"figure": figure, "heading": heading, "drawing": drawing, "told": told}


def _kept(study: Study[Any]) -> str | None:
    """The name of a study of this package; the code of others is not known here."""
    return study.name if ships(study) else None


def _claims_drawing(result: StudyResult) -> Drawing:
    shown = table_to_bytes(_claims_table(result))
    return Drawing(_kept(result.study), "claims", shown, result.to_frame, lambda _: claims_chart(result))


def _files(figure: Figure, folder: str | None) -> list[tuple[str, str]]:
    if folder is None:
        return []
    stem = f"{folder}figures/{file_name(figure.id)}"
    return [(name, f"{stem}{ending}") for ending, name in (FILES | COLUMN).items()]


def lead_chart(result: StudyResult, view: Mapping[str, Any]) -> dict[str, Any] | None:
    """The one picture that stands for the study: its lead figure, in short."""
    study, charts = result.study, {chart["figure"].id: chart for chart in view["charts"]}
    if not charts:
        return None
    chart = charts[study.lead if study.lead in charts else next(iter(charts))]
    figure = chart["figure"]

    def rows() -> pl.DataFrame:
        everything = figure.rows(result.tables[figure.table])
        short = study.in_short(everything)
        return everything if short.is_empty() else short

    drawing = Drawing(_kept(study), f"{study.name}-lead", view["tables"][figure.table], rows, figure.draw)
    return {"heading": chart["heading"], "svg": drawing.on_card(chart["told"])}


def _compared(claim: Claim) -> dict[str, float | None]:
    match claim.test.criterion:
        case Sign(than=than):
            return {"reference": than, "tolerance": None}
        case Order():
            return {"reference": 0.0, "tolerance": None}
        case Value(tolerance=tolerance):
            return {"reference": None, "tolerance": tolerance}


def rows_of_claims(result: StudyResult, committed: Verdicts) -> list[dict[str, Any]]:
    """What a table shows of each claim; beside it the verdict at paper scale, where this run is smaller."""
    before = {} if result.scale == "paper" or result.study.varies else committed.get(result.study.name, {})
    return [{**_row(c), "committed": _committed(c.claim, before.get(c.claim.id))} for c in result.claims]


def _row(result: ClaimResult) -> dict[str, Any]:
    mean, interval = measured_parts(result)
    kind, _, detail = str(result.claim.test.criterion).partition(": ")
    return {
        "claim": result.claim,
        "published": published_text(result),
        "published_from": published_from(result),
        "mean": mean,
        "interval": interval,
        "members": members_text(result),
        "everyone": everyone_text(result),
        "changed": changed_text(result),
        "shares": str(result.shares),
        "kind": kind,
        "detail": detail,
        "nothing": _nothing(result.claim),
        "status": result.status,
        "how": result.how or "",
        "sign": SIGN[result.status],
        "css": result.status.replace(" ", "-"),
        "explanation": result.explanation,
        "settles": result.settles,
    }


def _nothing(claim: Claim) -> str:
    """The figure if nothing were going on, where it is not the threshold itself."""
    nothing, criterion = claim.test.nothing, claim.test.criterion
    return number(nothing) if isinstance(criterion, Sign) and nothing != criterion.than else ""


def _committed(claim: Claim, verdict: Mapping[str, Any] | None) -> dict[str, str] | None:
    """A verdict that the package carries, as it is shown."""
    if verdict is None:
        return None
    mean, low, high = (verdict.get(name) for name in ("measured", "low", "high"))
    figure = "–"
    if isinstance(mean, int | float):
        digits = None if low is None or high is None else decimals_of(claim, Interval(mean, low, high))
        bounds = f" [{number(low, digits)}, {number(high, digits)}]" if digits is not None else ""
        figure = f"{number(mean, digits)}{bounds}"
    status = str(verdict.get("status", ""))
    return {"figure": figure, "status": status, "how": verdict.get("how") or "", "sign": SIGN.get(status, ""),
            "css": status.replace(" ", "-")}  # fmt: skip


def _web_address(url: str) -> str:
    """The address if it can be followed safely; a link that runs code is no address of a paper."""
    return url if url.startswith(("https://", "http://")) else ""
