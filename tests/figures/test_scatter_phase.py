from __future__ import annotations

import polars as pl
import pytest

from recombine.errors import InputError
from recombine.figures import drawn_for, phase, scatter, to_svg

DOTS = pl.DataFrame(
    {"p": [0.2, 0.5, None, 0.9], "o": [0.3, 0.5, 0.4, 0.7], "net": ["a", "b", "a", "b"], "when": ["x", "x", "y", "y"]}
)
CELLS = pl.DataFrame(
    {
        "u": [0.1, 0.2, 0.1, 0.15],
        "v": [0.1, 0.1, 0.2, 0.12],
        "what": ["no", "yes", "yes", None],
        "at": [None, None, None, "3"],
    }
)


@pytest.mark.parametrize("width", ["double", "phone"])
def test_a_scatter_draws_its_groups_panels_and_diagonal(width: str) -> None:
    with drawn_for(width):  # type: ignore[arg-type]
        chart = scatter(DOTS, "p", "o", "net", "when", x_title="predicted", y_title="observed")
    rows = next(iter(chart.datasets.values()))
    assert sum(row["part"] == "dot" for row in rows) == 3
    assert sum(row["part"] == "line" for row in rows) == 4
    svg = to_svg(chart)
    assert "predicted" in svg
    assert "observed" in svg


def test_a_scatter_without_groups_or_diagonal() -> None:
    chart = scatter(DOTS, "p", "o", diagonal=False)
    rows = next(iter(chart.datasets.values()))
    assert [row["part"] for row in rows] == ["dot"] * 3
    assert "<svg" in to_svg(chart)
    with pytest.raises(InputError, match="no rows"):
        scatter(DOTS.head(0), "p", "o")


@pytest.mark.parametrize("width", ["double", "phone"])
def test_a_phase_diagram_draws_cells_and_named_places(width: str) -> None:
    with drawn_for(width):  # type: ignore[arg-type]
        chart = phase(CELLS, "u", "v", "what", outcomes=("no", "yes"), place="at")
    svg = to_svg(chart)
    assert ">3<" in svg
    assert ">yes<" in svg
