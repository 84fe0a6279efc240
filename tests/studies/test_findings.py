"""The sentence above a figure is computed from its rows: other rows, another sentence; rows that show nothing, none."""

from __future__ import annotations

import polars as pl

from recombine.studies.break_it_down.figures import _searches_show
from recombine.studies.first_principles.figures import PROMISED, _foretold_shows, _pictures_show, _widths_show
from recombine.studies.forced_rendering.figures import SETS, _need_shows
from recombine.studies.kernel_theory.plane import _map_shows
from recombine.studies.study import Figure
from recombine.studies.together.figures import _networks_show


def test_a_figure_without_a_finding_keeps_its_title() -> None:
    figure = Figure("id", "What it is of", "Caption.", "table", lambda rows: rows)
    assert figure.heading(pl.DataFrame()) == "What it is of"
    shown = Figure("id", "title", "Caption.", "table", lambda rows: rows, finding=lambda rows: f"{rows.height} rows")
    assert shown.heading(pl.DataFrame({"a": [1, 2]})) == "2 rows"


def test_what_was_foretold() -> None:
    rows = pl.DataFrame(
        {"family": "f", "label": ["a", "a", "b", "c", "d"], "promised": [PROMISED[0]] * 3 + [PROMISED[1]] * 2,
         "loss": [0.0, 0.02, 0.03, 0.02, 0.5]}
    )  # fmt: skip
    assert _foretold_shows(rows).startswith("The 2 settings that the theorem promises lose at most 0.03 of R²")
    assert _foretold_shows(rows).endswith("of the 2 others 1 lose no more")
    assert _foretold_shows(rows.filter(pl.col("promised") == PROMISED[0])) == ""


def test_widths_rise_or_fall() -> None:
    rows = pl.DataFrame({"curve": ["gap"] * 4, "width": [0.0, 0.0, 0.6, 0.6], "r2_ood": [1.0, 0.9, 0.5, 0.7]})
    assert _widths_show(rows) == "R² outside, gap: falls from 0.95 (width 0) to 0.60 (0.6)"


def test_what_of_the_pictures_is_wrong() -> None:
    drawn = {"target": [0.0, 1.0], "compositional": [0.0, 1.0], "monolithic": [1.0, 0.0]}
    rows = pl.DataFrame([{"x": i, "y": 0.0, "shown": value, "panel": f"{name}, 1"}
                         for name, values in drawn.items() for i, value in enumerate(values)])  # fmt: skip
    assert "compositional model gets 0% wrong, the monolithic model gets 400% wrong" in _pictures_show(rows)
    assert _pictures_show(rows.filter(~pl.col("panel").str.starts_with("mono"))) == ""


def test_examples_are_counted_from_where_the_mean_stays_above_the_line() -> None:
    def line(name: str, means: list[float]) -> list[dict[str, object]]:
        return [{"facet": "CNN, side 8", "set": name, "examples": 2**i, "mean": m} for i, m in enumerate(means)]

    rows = pl.DataFrame([*line(SETS[2.0], [0.95, 0.95, 0.96]), *line(SETS[0.0], [0.95, 0.1, 0.97])])
    assert _need_shows(rows).endswith("the CNN needs 1 examples with all stripes and 4 examples with bumps alone")
    assert _need_shows(rows.filter(pl.col("set") == SETS[0.0])) == ""


def test_starts_of_a_map_are_not_taken_for_its_networks() -> None:
    rows = pl.DataFrame({"network": ["a", "a", "b", "b"], "rate": 1.0, "sigma": [0.0, 1.0] * 2, "networks": 4,
                         "fit": [4, 4, 4, 0]})  # fmt: skip
    assert _map_shows(rows).endswith("4 starts per width at 2 places, 16 networks of which 75% fit")


def test_masks_and_lenses_are_counted() -> None:
    masks = pl.DataFrame({"kind of mask": ["trained", "trained", "untrained"], "d_abl": [-0.5, 0.0, 0.0]})
    told = "Of trained networks' masks 1 of 2 remove their subroutine alone (D_abl below −0.1), beside 0 of 1 untrained"
    assert _searches_show(masks) == told
    assert _searches_show(masks.tail(1)) == ""
    # Support should fall where the error rises, influence rise; structure does so perfectly, on one task of two.
    lens = {"influence": ([1, 2, 3], [1, 3, 2]), "support": ([3, 1, 2], [3, 1, 2]), "structure": ([1, 2, 3], [3, 2, 1]),
            "kernel": ([3, 2, 1], [3, 2, 1])}  # fmt: skip
    rows = pl.DataFrame([{"lens": name, "task": task, "value": float(v), "error": float(i)}
                         for name, both in lens.items() for task, values in zip("ab", both, strict=True)
                         for i, v in enumerate(values)])  # fmt: skip
    right = "Across splits, these point the right way on every task (mean ρ): influence 0.75, support 0.50"
    assert _networks_show(rows) == right
    assert _networks_show(rows.filter(pl.col("lens") == "kernel")) == ""
    wrong = rows.filter(pl.col("lens").is_in(["kernel", "structure"]))
    assert _networks_show(wrong) == "Across splits, nothing points the right way on every task"
