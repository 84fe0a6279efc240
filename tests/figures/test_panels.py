from __future__ import annotations

import polars as pl
import pytest

from recombine.figures import curves, drawn_for, scatter, specification, to_svg
from recombine.figures.panels import heads, side_by_side


@pytest.mark.parametrize(
    ("count", "width", "across"),
    [(1, "phone", 1), (2, "phone", 1), (3, "phone", 2), (13, "phone", 2), (1, "double", 1), (4, "double", 2)],
)
def test_many_panels_stand_side_by_side_on_a_telephone_too(count: int, width: str, across: int) -> None:
    assert side_by_side(count, 3, width) == across  # type: ignore[arg-type]


def test_titles_of_panels_stand_beside_the_name_of_the_axis_or_above_it() -> None:
    beside = heads(["short", "a little longer"], 200, "error").to_dict()
    above = heads(["short", "a title that does not fit beside the name"], 200, "error").to_dict()
    assert (beside["labelAnchor"], above["labelAnchor"]) == ("end", "start")
    assert above["labelPadding"] > beside["labelPadding"] + 12


TABLE = pl.DataFrame(
    [
        {"panel": panel, "x": x, "y": 0.1 * x, "low": 0.05 * x, "high": 0.2 * x, "members": n, "who": who}
        for panel, n in (("one", 3), ("two", 8), ("a third of a very long name", 8))
        for x in (1, 2, 4)
        for who in ("b", "c")
    ]
)


def test_an_axis_says_over_how_many_members_its_means_are() -> None:
    chart = curves(TABLE, "x", "y", "who", "low", "high", facet="panel", y_title="error")
    assert ">error (n = 3–8)<" in to_svg(chart)
    one = curves(TABLE.filter(pl.col("members") == 3), "x", "y", "who", "low", "high", y_title="error")
    assert ">error (n = 3)<" in to_svg(one)
    assert ">error<" in to_svg(curves(TABLE.drop("members"), "x", "y", "who", "low", "high", y_title="error"))
    assert ">error<" in to_svg(curves(TABLE, "x", "y", "who", y_title="error"))


def test_a_group_looks_alike_in_all_charts_of_a_figure() -> None:
    alone = specification(curves(TABLE.filter(pl.col("who") == "c"), "x", "y", "who", groups=["a", "b", "c"]))
    scale = next(layer["encoding"]["color"]["scale"] for layer in alone["layer"] if "color" in layer["encoding"])
    both = specification(curves(TABLE.with_columns(pl.lit("a").alias("who")), "x", "y", "who", groups=["a", "b", "c"]))
    other = next(layer["encoding"]["color"]["scale"] for layer in both["layer"] if "color" in layer["encoding"])
    assert scale["domain"] == ["c"]
    assert scale["range"] != other["range"]


def test_an_interval_that_stands_alone_is_a_bar() -> None:
    one = TABLE.filter(pl.col("panel") == "one")
    alone = curves(one.filter((pl.col("who") == "c") | (pl.col("x") == 1)), "x", "y", "who", "low", "high")
    (rows,) = specification(alone)["datasets"].values()
    assert [row["alone"] for row in rows] == [row["group"] == "b" for row in rows]
    bars = [
        [layer["mark"]["type"] for layer in specification(chart)["layer"]].count("rule")
        for chart in (alone, curves(one, "x", "y", "who", "low", "high"))
    ]
    assert bars == [1, 0]


def test_a_chart_with_a_reference_keeps_its_grid() -> None:
    plain, with_line = (
        to_svg(curves(TABLE.filter(pl.col("panel") == "one"), "x", "y", "who", reference=reference)).count(
            "role-axis-grid"
        )
        for reference in (None, 0.2)
    )
    assert plain == with_line > 0


def test_a_line_along_the_edge_is_not_cut_in_half() -> None:
    flat = TABLE.with_columns(pl.lit(1.0).alias("y"))
    assert "clip-path" not in to_svg(curves(flat, "x", "y", "who", y_domain=(0, 1)))
    assert "clip-path" in to_svg(curves(flat, "x", "y", "who", y_domain=(0, 0.5)))


def test_panels_of_a_last_row_that_is_not_full_have_axes_of_their_own() -> None:
    def axes(panels: int) -> int:
        names = TABLE["panel"].unique(maintain_order=True)[:panels]
        rows = TABLE.filter(pl.col("panel").is_in(names.implode()))
        with drawn_for("phone"):
            return to_svg(scatter(rows, "x", "y", facet="panel", diagonal=False, x_title="the x")).count(">the x<")

    assert (axes(2), axes(3)) == (1, 3)
