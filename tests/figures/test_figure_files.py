"""Figures as files, and what is done to the converter's SVG."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import polars as pl
import pytest
import vl_convert

from recombine.errors import InputError
from recombine.figures import curves, save_figure
from recombine.figures.axes import powers_of_two
from recombine.figures.data import decimals_for, number
from recombine.figures.export import file_name
from recombine.figures.svg import SVG, polish


@pytest.fixture
def table() -> pl.DataFrame:
    return pl.DataFrame({"x": [0.0, 1.0, 2.0], "y": [1 / 3, 2 / 3, 1.0]})


def test_four_files_are_written_and_can_be_read(table: pl.DataFrame, tmp_path: Path) -> None:
    paths = save_figure(curves(table, "x", "y", x_title="X₁"), table, tmp_path / "new" / "line")
    assert [path.name for path in paths] == ["line.svg", "line.pdf", "line.csv", "line.vl.json"]
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == sorted(path.name for path in paths)
    svg, pdf, csv, spec = paths
    assert ET.parse(svg).getroot().tag == f"{{{SVG}}}svg"
    assert pdf.read_bytes().startswith(b"%PDF-")
    assert pl.read_csv(csv).equals(table)
    assert vl_convert.vegalite_to_svg(json.loads(spec.read_text())).startswith("<svg")


def test_the_pdf_is_as_wide_as_two_columns_and_holds_its_font(table: pl.DataFrame, tmp_path: Path) -> None:
    pdf = save_figure(curves(table, "x", "y"), table, tmp_path / "line")[1].read_bytes()
    box = re.search(rb"/MediaBox \[\s*0 0 ([\d.]+)", pdf)
    assert box is not None
    assert float(box[1]) == pytest.approx(6.75 * 72, abs=2)
    assert b"/FontFile" in pdf


def test_a_file_refers_to_nothing_outside(table: pl.DataFrame, tmp_path: Path) -> None:
    svg = save_figure(curves(table, "x", "y"), table, tmp_path / "line")[0].read_text()
    assert set(re.findall(r"https?://[^\"' ]+", svg)) <= {SVG, "http://www.w3.org/1999/xlink"}


@pytest.mark.parametrize("name", ["..", "a/b", "", ".hidden", "a b", "nul\0", "x" * 200, "é", "a\n"])
def test_names_that_are_no_file_names_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="cannot name a file"):
        file_name(name)


def test_nothing_is_written_under_a_name_that_is_refused(table: pl.DataFrame, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot name a file"):
        save_figure(curves(table, "x", "y"), table, tmp_path / "a b")
    assert list(tmp_path.iterdir()) == []


def test_indices_become_true_indices() -> None:
    text = f'<svg xmlns="{SVG}"><text font-size="10px">|∂Ŷ₁₂/∂X₂|²</text></svg>'
    (element,) = ET.fromstring(polish(text))
    assert "".join(element.itertext()) == "|∂Ŷ12/∂X2|2"
    spans = [(span.text, span.get("dy")) for span in element]
    assert spans == [("12", "2.20"), ("/∂X", "-2.20"), ("2", "2.20"), ("|", "-2.20"), ("2", "-3.60")]


def test_numbers_are_shortened_and_colours_written_alike() -> None:
    text = f'<svg xmlns="{SVG}"><path d="M1.23456,-0.0001L2,3e2" fill="rgb(1, 2, 255)"/></svg>'
    (path,) = ET.fromstring(polish(text))
    assert path.attrib == {"d": "M1.23,-0L2,3e2", "fill": "#0102ff"}


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (0.91372, 3, "0.914"),
        (-0.5, None, "−0.5"),
        (-0.0001, 2, "0.00"),
        (1024.0, None, "1,024"),
        (1.5e7, None, "1.50e+07"),
        (None, None, "–"),
        (float("nan"), 2, "–"),
    ],
)
def test_numbers_for_reading(value: float | None, decimals: int | None, text: str) -> None:
    assert number(value, decimals) == text


@pytest.mark.parametrize(
    ("low", "high", "digits"), [(0.9071, 0.9154, 3), (0.34, 0.36, 3), (0.3, 0.9, 1), (10, 60, 0), (1, 1, None)]
)
def test_an_interval_says_how_many_decimals(low: float, high: float, digits: int | None) -> None:
    assert decimals_for(low, high) == digits


def test_ticks_that_double() -> None:
    assert powers_of_two([0, 1, 2, 4, 8]) == [0, 1, 2, 4, 8]
    assert powers_of_two([1, 1000], most=4) == [1, 8, 64, 512]
    assert powers_of_two([0.0]) == [0]


def test_the_pdf_of_a_drawing_that_is_there_is_left_as_it_is(tmp_path: Path) -> None:
    table = pl.DataFrame({"x": [0.0, 1.0], "y": [0.0, 1.0]})
    pdf = save_figure(curves(table, "x", "y"), table, tmp_path / "line")[1]
    pdf.write_bytes(b"kept")
    save_figure(curves(table, "x", "y"), table, tmp_path / "line")
    assert pdf.read_bytes() == b"kept"
    other = table.with_columns(pl.col("y") * 2)
    save_figure(curves(other, "x", "y"), other, tmp_path / "line")
    assert pdf.read_bytes().startswith(b"%PDF")
    pdf.unlink()
    save_figure(curves(other, "x", "y"), other, tmp_path / "line")
    assert pdf.is_file()
