"""Figures as files: SVG, PDF, the data as CSV, and the Vega-Lite specification."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl
import vl_convert

from recombine.errors import InputError
from recombine.figures import theme
from recombine.figures.svg import polish, scaled

_VERSION = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
POINTS = 72 / 96
"""A file for paper is measured in points, a figure in pixels; its width is then the column's."""
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
    bare = chart.copy(ignore=["datasets"])  # type: ignore[attr-defined]
    datasets, bare.datasets = bare.datasets, alt.Undefined
    spec: dict[str, Any] = bare.to_dict(validate=False)
    if datasets is not alt.Undefined:
        # Rows go around Altair, which would look at every one of them again.
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


def to_svg(chart: alt.TopLevelMixin, *, background: bool = True) -> str:
    """The chart as SVG text. Nothing is ever fetched to draw it."""
    return _converted(specification(chart) | ({} if background else {"background": None}))


def _converted(spec: dict[str, Any]) -> str:
    return polish(vl_convert.vegalite_to_svg(spec, vl_version=_VERSION, allowed_base_urls=[]))


def save_figure(chart: alt.TopLevelMixin, data: pl.DataFrame, stem: Path) -> list[Path]:
    """Write ``stem`` as .svg, .pdf, .csv (the data of the figure) and .vl.json; say which files were written."""
    file_name(stem.name)
    spec = specification(chart)
    svg = _converted(spec)
    contents = {
        ".svg": svg.encode(),
        ".pdf": vl_convert.svg_to_pdf(scaled(svg, POINTS)),
        ".csv": data.write_csv().encode(),
        ".vl.json": json.dumps(spec, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(),
    }
    return [write(stem.with_name(stem.name + ending), content) for ending, content in contents.items()]


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
