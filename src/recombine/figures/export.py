"""Figures as files: SVG, PDF, the data as CSV, and the Vega-Lite specification."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl
import vl_convert

from recombine.errors import InputError
from recombine.figures import svg, theme
from recombine.figures.cache import recall
from recombine.result import safe_csv

_VERSION = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
POINTS = 72 / 96
"""A file for paper is measured in points, a figure in pixels; its width is then the column's."""
FILES = {".svg": "SVG", ".pdf": "PDF", ".csv": "CSV", ".vl.json": "JSON"}
"""The endings of a figure's files and what they are called: .csv is its data, .vl.json its specification."""
COLUMN = {"-column.svg": "one-column SVG", "-column.pdf": "one-column PDF"}
"""The same for one column of a paper."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")


def file_name(identifier: str) -> str:
    """The identifier, if it can safely be the name of a file; an error otherwise."""
    if not _NAME.fullmatch(identifier):
        raise InputError(
            f"{identifier[:80]!r} cannot name a file; use letters, digits, '-' and '_', the first a letter or digit."
        )
    return identifier


def specification(chart: alt.TopLevelMixin) -> dict[str, Any]:
    """The chart as Vega-Lite JSON, data inside; a chart made without this theme gets it, its own settings winning."""
    # Rows go around Altair, which would look at every one of them again.
    spec: dict[str, Any] = chart.to_dict(validate=False, ignore=["datasets"])
    datasets = chart.datasets  # type: ignore[attr-defined]
    if datasets is not alt.Undefined:
        spec["datasets"] = {**spec.get("datasets", {}), **datasets}
    spec["config"] = _merged(theme.settings(), spec.get("config", {}))
    return spec


def _merged(under: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    both = {
        key: _merged(under[key], over[key])
        for key in under.keys() & over.keys()
        if isinstance(under[key], dict) and isinstance(over[key], dict)
    }
    return {**under, **over, **both}


class Drawn:
    """A chart as its specification and, drawn when that is first asked for, as SVG text."""

    def __init__(self, chart: alt.TopLevelMixin) -> None:
        self.spec = specification(chart)

    @cached_property
    def svg(self) -> str:
        return recall(lambda: ["svg", *_drawn_with(), self.spec], self._convert).decode()

    def _convert(self) -> bytes:
        return svg.polish(vl_convert.vegalite_to_svg(self.spec, vl_version=_VERSION, allowed_base_urls=[])).encode()


def to_svg(chart: alt.TopLevelMixin) -> str:
    """The chart as SVG text. Nothing is ever fetched to draw it."""
    return Drawn(chart).svg


def _printed(drawing: str) -> bytes:
    """The drawing as PDF, as large as it is."""
    return recall(
        lambda: ["pdf", *_drawn_with(), POINTS, drawing], lambda: vl_convert.svg_to_pdf(svg.scaled(drawing, POINTS))
    )


@cache
def _drawn_with() -> tuple[str, ...]:
    """What a drawing depends on besides its specification, which holds the theme."""
    return version("vl-convert-python"), _VERSION, Path(svg.__file__).read_text(encoding="utf-8")


def figure_files(drawn: Drawn, data: pl.DataFrame) -> dict[str, bytes]:
    """The contents of a figure's `FILES`, by ending."""
    told = json.dumps(drawn.spec, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    contents = (drawn.svg.encode(), _printed(drawn.svg), safe_csv(data).encode(), told.encode())
    return dict(zip(FILES, contents, strict=True))


def column_files(drawn: Drawn) -> dict[str, bytes]:
    """The contents of a figure's `COLUMN` files, by ending: a narrow drawing, brought to the width of a column."""
    drawing = svg.scaled(drawn.svg, theme.WIDTHS["single"] / svg.width(drawn.svg))
    return dict(zip(COLUMN, (drawing.encode(), _printed(drawing)), strict=True))


def save_figure(chart: alt.TopLevelMixin, data: pl.DataFrame, stem: Path) -> list[Path]:
    """Write ``stem`` with the ending of each of the `figure_files`; say which files were written."""
    return write_files(figure_files(Drawn(chart), data), stem)


def write_files(contents: Mapping[str, bytes], stem: Path) -> list[Path]:
    """Write each content to ``stem`` with its ending.

    The PDF of a drawing that is there already is left as it is: drawn again it is the same picture in other bytes."""
    file_name(stem.name)
    paths = {ending: stem.with_name(stem.name + ending) for ending in contents}
    there = [ending for ending in contents if ending.endswith(".svg") and _holds(paths[ending], contents[ending])]
    printed = {ending.removesuffix("svg") + "pdf" for ending in there}
    return [
        path if ending in printed and path.is_file() else write(path, contents[ending])
        for ending, path in paths.items()
    ]


def _holds(path: Path, content: bytes) -> bool:
    return path.is_file() and path.read_bytes() == content


def write(path: Path, content: bytes) -> Path:
    """Write a file so that a reader sees the old one or the new one, never half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        partial.write_bytes(content)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
    return path
