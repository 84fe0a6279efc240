"""Each chart from a small table: it draws, says what it must, and stays within its width."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from typing import Any

import altair as alt
import numpy as np
import polars as pl
import pytest

from recombine.errors import InputError
from recombine.figures import (
    Region,
    claims,
    column,
    curves,
    drawn_for,
    lines_of_members,
    maps,
    members,
    specification,
    strips,
    to_svg,
)
from recombine.figures.theme import WIDTHS, Width

HOSTILE = "<script>alert('1')</script> {{7*7}} a.b[0] \\\"é\u2028\0."


def texts(svg: str) -> list[str]:
    root = ET.fromstring(svg)
    return ["".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text")]


def size(svg: str) -> tuple[float, float]:
    root = ET.fromstring(svg)
    return float(root.attrib["width"]), float(root.attrib["height"])


@pytest.fixture
def curve_table() -> pl.DataFrame:
    steps = [0, *(2**k for k in range(11))]
    rows = [
        {"step": s, "of": g, "acc": s / 1024, "lo": s / 1024 - 0.1, "hi": s / 1024 + 0.1}
        for g in ("seen", "unseen")
        for s in steps
    ]
    return pl.DataFrame(rows)


@pytest.fixture
def map_table() -> pl.DataFrame:
    grid = (np.arange(8) + 0.5) / 4 - 1
    x, y = (values.ravel() for values in np.meshgrid(grid, grid))
    panels = [pl.DataFrame({"step": s, "x": x, "y": y, "share": (x > 0.1 * s).astype(float)}) for s in (8, 0, 4)]
    return pl.concat(panels)


@pytest.fixture
def line_table() -> pl.DataFrame:
    return pl.DataFrame(
        [{"m": m, "step": s, "x": x / 10, "y": x / 10 * m} for m in range(100) for s in (0, 64) for x in range(10)]
    )


@pytest.fixture
def claim_table() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "sentence": [
                "It composes.",
                "Accuracy on the unseen quarter no longer changes between the first and the last of all steps.",
                "It never trained.",
            ],
            "published": [0.9, None, None],
            "measured": [0.91, -0.5, None],
            "low": [0.90, -0.6, None],
            "high": [0.92, -0.4, None],
            "status": ["holds", "fails", "not fitted"],
        }
    )


@pytest.mark.parametrize("width", ["single", "double", "phone"])
def test_every_chart_keeps_its_width(
    width: Width,
    curve_table: pl.DataFrame,
    map_table: pl.DataFrame,
    line_table: pl.DataFrame,
    claim_table: pl.DataFrame,
) -> None:
    with drawn_for(width):
        charts: list[Any] = [
            curves(curve_table, "step", "acc", "of", "lo", "hi", log_x=True),
            curves(curve_table, "step", "acc", facet="of", log_x=True),
            members(curve_table, "of", "acc"),
            maps(map_table, "x", "y", "share", "step"),
            lines_of_members(line_table, "x", "y", "m", "step"),
            claims(claim_table),
        ]
    for chart in charts:
        drawn, height = size(to_svg(chart))
        assert 0.85 * WIDTHS[width] <= drawn <= 1.02 * WIDTHS[width]
        assert height > 60


def test_a_doubling_axis_has_a_place_for_zero(curve_table: pl.DataFrame) -> None:
    svg = to_svg(curves(curve_table, "step", "acc", "of", "lo", "hi", log_x=True))
    assert {"0", "1", "64", "1024", "seen", "unseen"} <= set(texts(svg))


@pytest.mark.parametrize(
    ("domain", "labels"),
    [((0, 12), {"0", "6", "12"}), ((-1, 1), {"−1", "0", "1"}), ((0, 1024), {"0", "512", "1024"}),
     ((0.1, 0.2), {"0.1", "0.15", "0.2"}), ((0, 0.001), {"0", "0.0005", "0.001"})],
)  # fmt: skip
def test_a_small_panel_names_both_ends_and_the_middle_in_full(domain: tuple[float, float], labels: set[str]) -> None:
    table = pl.DataFrame({"x": [float(end) for end in domain], "y": [0.0, 1.0], "member": [0, 0]})
    chart = lines_of_members(table, "x", "y", "member", x_domain=domain, y_domain=(0, 1), square=True)
    found = set(texts(to_svg(chart)))
    assert labels <= found, found
    assert not any("e" in text and any(c.isdigit() for c in text) for text in found)


def test_a_doubling_axis_without_zero_is_a_logarithm(curve_table: pl.DataFrame) -> None:
    spec = specification(curves(curve_table.filter(pl.col("step") > 0), "step", "acc", log_x=True))
    assert '"type": "log"' in json.dumps(spec)


def test_groups_differ_by_more_than_colour(curve_table: pl.DataFrame) -> None:
    svg = to_svg(curves(curve_table, "step", "acc", "of", log_x=True))
    lines = re.findall(r'stroke="(#[0-9a-f]{6})"[^>]*stroke-dasharray="([^"]+)"', svg)
    assert len(set(lines)) == 2
    assert len({dash for _, dash in lines}) == 2


@pytest.mark.parametrize("count", [1, 2, 8, 512])
def test_every_member_is_a_dot(count: int) -> None:
    values = np.random.default_rng(0).normal(0.9, 0.02, count)
    spec = specification(members(pl.DataFrame({"v": values}), None, "v"))
    dots = max(spec["datasets"].values(), key=lambda rows: ("area" in rows[0], len(rows)))
    assert len(dots) == count
    assert max(dot["rise"] for dot in dots) <= 48


def _row_height(groups: int, count: int) -> int:
    group = np.repeat(np.arange(groups), count)
    chart = members(pl.DataFrame({"g": group.astype(str), "v": group + 0.5}), "g", "v")
    return int(specification(chart)["height"]["step"])


def test_rows_of_members_are_as_high_as_their_piles_and_lower_where_there_are_many() -> None:
    assert _row_height(2, 300) == 74
    assert _row_height(20, 300) == 50
    assert _row_height(2, 1) == _row_height(20, 1) == 34


def test_members_set_aside_are_counted_not_drawn() -> None:
    table = pl.DataFrame({"g": ["a"] * 4 + ["b"] * 4, "v": [0.1, 0.2, None, float("nan"), 1.0, 1.0, 1.0, 1.0]})
    found = texts(to_svg(members(table, "g", "v")))
    assert "a2 members, 2 set aside" in found
    assert "b4 members" in found


def test_no_member_is_left_outside_the_domain_asked_for() -> None:
    spec = specification(members(pl.DataFrame({"v": [0.2, 0.6, 0.9]}), None, "v", domain=(0.5, 1.0)))
    assert spec["layer"][0]["encoding"]["x"]["scale"]["domain"] == [0.2, 1.0]


def test_an_interval_that_leaves_the_domain_ends_in_an_arrow_at_its_edge() -> None:
    table = pl.DataFrame({"g": ["wide", "wide", "alone", "narrow", "narrow"], "v": [0.05, 0.6, 0.3, 0.5, 0.51]})
    asked = specification(members(table, "g", "v", domain=(0, 1)))["datasets"].values()
    bars, arrows = (next(rows for rows in asked if rows and mark(rows[0])) for mark in (_is_bar, _is_arrow))
    assert [(row["low"], row["high"]) for row in bars][:2] == [(0.0, 1.0), (None, None)]
    assert sorted((row["value"], row["angle"]) for row in arrows) == [(0.0, 180.0), (1.0, 0.0)]
    free = specification(members(table, "g", "v"))["datasets"].values()
    assert not any(_is_arrow(rows[0]) for rows in free)


def _is_bar(row: dict[str, Any]) -> bool:
    return "low" in row and "angle" not in row


def _is_arrow(row: dict[str, Any]) -> bool:
    return "angle" in row


def test_labels_of_members_are_not_cut_off_on_a_telephone() -> None:
    names = ["X₂ redundant, 25 600 updates", "group-balanced, 90 % bound", "evolution (no gradient), A"]
    table = pl.DataFrame({"g": names * 32, "v": [*([0.5] * 90), *([None] * 6)]})
    with drawn_for("phone"):
        svg = to_svg(members(table, "g", "v"))
    assert "set aside" in svg
    assert "…" not in svg


def test_the_key_of_a_map_names_its_ends_and_its_middle(map_table: pl.DataFrame) -> None:
    for width in ("double", "phone"):
        with drawn_for(width):  # type: ignore[arg-type]
            found = texts(to_svg(maps(map_table, "x", "y", "share", "step", domain=(-0.6, 0.6), boundary=False)))
        assert {"−0.6", "0", "0.6"} <= set(found)


def test_members_without_any_value_are_an_error() -> None:
    with pytest.raises(InputError, match="no member"):
        members(pl.DataFrame({"v": [None, float("nan")]}, schema={"v": pl.Float64}), None, "v")


def test_maps_order_panels_by_size_and_mark_the_boundary(map_table: pl.DataFrame) -> None:
    chart = maps(map_table, "x", "y", "share", "step", facet_title="step", regions=[Region((0, 1), (0, 1), "unseen")])
    found = texts(to_svg(chart))
    assert [text for text in found if text.startswith("step")] == ["step 0", "step 4", "step 8"]
    assert found.count("unseen") == 2, "the label and its halo, in the first panel only"
    (rows,) = specification(chart)["datasets"].values()
    edges = [row for row in rows if row["part"] == "edge" and row["facet"] == "step 0"]
    assert {edge["x"] for edge in edges} == {0.0}
    assert len(edges) == 8


def test_panels_of_a_smaller_chart_are_no_larger_than_those_beside_it(map_table: pl.DataFrame) -> None:
    def side(table: pl.DataFrame, **more: int) -> int:
        return int(specification(maps(table, "x", "y", "share", "step", **more))["spec"]["width"])  # type: ignore[arg-type]

    one = map_table.filter(pl.col("step") == 0)
    assert side(one) > side(map_table)
    assert side(one, sized_for=3) == side(map_table)
    assert side(map_table, sized_for=1) == side(map_table)


def test_maps_refuse_two_values_for_one_cell(map_table: pl.DataFrame) -> None:
    with pytest.raises(InputError, match="one row per cell"):
        maps(pl.concat([map_table, map_table]), "x", "y", "share", "step")


def test_a_sample_of_members_is_drawn_as_lines(line_table: pl.DataFrame) -> None:
    chart = lines_of_members(line_table, "x", "y", "m", "step", most=16)
    (rows,) = specification(chart)["datasets"].values()
    assert len({row["member"] for row in rows}) == 16


def test_claims_show_published_measured_and_status(claim_table: pl.DataFrame) -> None:
    for width in ("double", "phone"):
        svg = to_svg(claims(claim_table, width=width))
        found = texts(svg)
        assert {"It composes.", "published 0.9", "0.910 [0.900, 0.920]", "Fails: 1", "Not fitted: 1"} <= set(found)
        for colour in ("#00704f", "#b24700", "#59636e"):
            assert f'stroke="{colour}"' in svg


def test_names_from_outside_stay_text(curve_table: pl.DataFrame) -> None:
    table = curve_table.rename({"step": HOSTILE, "acc": "a.b[0]"}).with_columns(pl.lit(HOSTILE).alias("of"))
    chart = curves(table, HOSTILE, "a.b[0]", "of", "lo", "hi", x_title=HOSTILE, y_title="a.b[0]")
    found = texts(to_svg(chart))
    shown = HOSTILE.replace("\u2028", " ").replace("\0", " ")
    assert found.count(shown) == 2, "in the legend and on the axis"
    assert "a.b[0]" in found
    # A long name may be set in lines, which hold its words.
    assert "".join(shown.split()) in "".join("".join(texts(to_svg(members(table, "of", "a.b[0]")))).split())
    panels = pl.DataFrame(
        {"x": [0, 1] * 2, "y": [0, 1] * 2, "v": [0.1, 0.9] * 2, "of": [HOSTILE] * 2 + ["__proto__"] * 2}
    )
    found = "".join("".join(texts(to_svg(maps(panels, "x", "y", "v", "of")))).split())
    assert "".join(shown.split()) in found
    assert "__proto__" in found


def test_an_unknown_column_names_the_nearest(curve_table: pl.DataFrame) -> None:
    with pytest.raises(InputError, match="did you mean 'acc'"):
        curves(curve_table, "step", "accu")


def test_an_empty_table_is_an_error(curve_table: pl.DataFrame) -> None:
    with pytest.raises(InputError, match="no rows"):
        curves(curve_table.clear(), "step", "acc")


def test_charts_can_be_joined(curve_table: pl.DataFrame, map_table: pl.DataFrame) -> None:
    joined = column(curves(curve_table, "step", "acc", "of"), maps(map_table, "x", "y", "share", "step"))
    assert len(specification(joined)["datasets"]) == 2
    assert isinstance(joined, alt.VConcatChart)
    assert "seen" in texts(to_svg(joined))


def test_a_chart_of_ones_own_gets_the_theme() -> None:
    chart = alt.Chart(alt.InlineData(values=[{"a": 1, "b": 2}])).mark_point(color="#123456").encode(x="a:Q", y="b:Q")
    svg = to_svg(chart)
    assert "#123456" in svg
    assert "Liberation Sans" in svg
    assert "#000" not in svg


def test_what_a_notebook_shows_is_valid_vega_lite(curve_table: pl.DataFrame) -> None:
    spec = curves(curve_table, "step", "acc", "of").to_dict()
    assert spec["datasets"]
    assert spec["config"]["font"]


def test_strips_have_one_tick_per_member_and_say_what_is_cut_off() -> None:
    table = pl.DataFrame({"row": ["a", "a", "a", "b"], "v": [0.0, 0.1, 5.0, 0.2], "of": ["x", "x", "x", "y"]})
    rows = specification(strips(table, "row", "v", "of", groups=("y", "x", "none"), domain=(0, 1)))
    assert sorted(map(len, rows["datasets"].values())) == [2, 4], "two means and four ticks"
    assert "cut off" in to_svg(strips(table, "row", "v", "of", domain=(0, 5)))
