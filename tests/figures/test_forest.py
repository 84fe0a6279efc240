from __future__ import annotations

import polars as pl
import pytest

from recombine.errors import InputError
from recombine.figures import drawn_for, forest, to_svg

MARKS = pl.DataFrame(
    {
        "lens": ["a lens", "a lens", "another", "another"],
        "task": ["one", "all", "one", "all"],
        "rho": [0.5, 0.4, None, -0.2],
        "low": [0.2, 0.1, None, -1.7],
        "high": [0.8, 0.7, None, 0.4],
        "kind": ["here", "here", "there", "there"],
    }
)


@pytest.mark.parametrize("width", ["double", "phone"])
def test_a_forest_draws_every_mark_that_has_a_value(width: str) -> None:
    with drawn_for(width):  # type: ignore[arg-type]
        chart = forest(MARKS, "lens", "rho", "task", facet="kind", title="rank", domain=(-1, 1), reference=0.0)
    rows = next(iter(chart.datasets.values()))
    assert [row["value"] for row in rows] == [0.5, 0.4, -0.2]
    assert rows[2]["low"] == -1
    svg = to_svg(chart)
    for word in ("a lens", "another", "one", "all", "here", "there", "rank"):
        assert f">{word}<" in svg


def test_panels_below_one_another_show_only_the_rows_they_have() -> None:
    with drawn_for("phone"):
        svg = to_svg(forest(MARKS, "lens", "rho", "task", facet="kind"))
    assert (svg.count(">a lens<"), svg.count(">another<")) == (1, 1)


def test_a_forest_without_panels_or_bounds() -> None:
    chart = forest(MARKS, "lens", "rho", "task")
    assert next(iter(chart.datasets.values()))[2]["low"] == -1.7
    assert "<svg" in to_svg(chart)
    with pytest.raises(InputError, match="no rows"):
        forest(MARKS.head(0), "lens", "rho", "task")
