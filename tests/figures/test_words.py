"""Widths of texts, lines that fit, and figures made of several charts."""

from __future__ import annotations

import re

import polars as pl
import pytest
from hypothesis import given, strategies as st

from recombine.figures import column, drawn_for, maps, members, to_svg
from recombine.figures.theme import WIDTHS, Width
from recombine.figures.words import text_width, wrapped


def width_of(svg: str) -> float:
    found = re.search(r'viewBox="0 0 ([\d.]+)', svg)
    assert found
    return float(found[1])


def test_letters_are_as_wide_as_in_helvetica() -> None:
    # Sums of the widths in thousandths of the size that Helvetica's metrics give.
    assert text_width("members", 1000) == pytest.approx(833 + 556 + 833 + 556 + 556 + 333 + 500, rel=0.05)
    assert text_width("illicit", 1000) == pytest.approx(222 * 5 + 500 + 278, rel=0.05)


@given(st.text("abc mW", max_size=60), st.floats(10, 200))
def test_lines_hold_the_same_words_and_fit_where_words_allow_it(text: str, width: float) -> None:
    lines = wrapped(text, width)
    assert " ".join(lines) == text
    assert all(text_width(line) <= width or " " not in line for line in lines)


@pytest.mark.parametrize("width", ["double", "phone"])
def test_charts_joined_into_one_figure_are_no_wider_than_one(width: Width) -> None:
    table = pl.DataFrame(
        {"kind": ["a setting with a long name: no A0 A1 A2"] * 3 + ["b"] * 3, "v": [0.1, 0.2, 0.3] * 2}
    )
    with drawn_for(width):
        both = column(members(table, "kind", "v", reference=0.0), members(table, "kind", "v"))
    assert WIDTHS[width] - 60 < width_of(to_svg(both)) <= WIDTHS[width] + 4


@pytest.mark.parametrize("width", ["double", "phone"])
def test_a_map_with_long_names_keeps_its_width(width: Width) -> None:
    cells = [{"x": x, "y": y, "v": 0.5, "of": of} for x in range(3) for y in range(3)
             for of in ("compositional, with a gap in x1", "monolithic and large", "target")]  # fmt: skip
    long = "squared error over the spread of all the pictures in the set; the line is at 1"
    chart = maps(
        pl.DataFrame(cells), "x", "y", "v", "of", width=width, x_title="x of the front sprite",
        y_title="x of the rear sprite", value_title=long,
    )  # fmt: skip
    assert width_of(to_svg(chart)) <= WIDTHS[width] + 4


def test_a_picture_does_not_tell_what_was_drawn_before_it() -> None:
    table = pl.DataFrame({"x": [0, 1], "y": [0, 1], "v": [0.1, 0.9]})
    one, other = maps(table, "x", "y", "v"), maps(table.with_columns(v=1 - pl.col("v")), "x", "y", "v")
    first, between, again = to_svg(one), to_svg(other), to_svg(one)
    assert first == again

    def identifiers(svg: str) -> set[str]:
        return set(re.findall(r'\bid="([^"]+)"', svg))

    assert identifiers(first)
    assert not identifiers(first) & identifiers(between)
    assert set(re.findall(r"url\(#([^)]+)\)", first)) <= identifiers(first)
