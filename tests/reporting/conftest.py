"""A study that was never run: 256 made-up members, so that the page can be tested without training anything."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import polars as pl
import pytest

from recombine.figures import Region, curves, lines_of_members, maps, members
from recombine.figures.cache import cached_in
from recombine.statistics import interval
from recombine.studies import Claim, Figure, Notes, Paper, Published, Study, StudyResult, cells, rising

MEMBERS = 256
SIDE = 8
STEPS = (0, *(2**k for k in range(11)))
UNSEEN = Region((0.0, 1.0), (0.0, 1.0), "unseen")
PLANE = (
    Region((-1.0, 0.0), (0.0, 1.0), "seen"),
    Region((-1.0, 0.0), (-1.0, 0.0), "seen"),
    Region((0.0, 1.0), (-1.0, 0.0), "seen"),
    UNSEEN,
)


def made_up_tables() -> dict[str, pl.DataFrame]:
    rng = np.random.default_rng(0)
    grid = (np.arange(SIDE) + 0.5) * 2 / SIDE - 1
    across, up = np.meshgrid(grid, grid)
    map_rows, line_rows, accuracy_rows = [], [], []
    start = rng.normal(0, 0.8, MEMBERS)
    tilt = rng.normal(0.18, 0.07, MEMBERS)
    for step in STEPS:
        settled = 1 - math.exp(-step / 60)
        dip = 1.4 * math.exp(-((math.log2(step + 1) - 3.5) ** 2) / 3)
        slope = start * math.exp(-step / 2) + tilt * settled + dip
        offset = 0.5 * start * math.exp(-step / 2)
        share = (across[None] - slope[:, None, None] * up.clip(0)[None] - offset[:, None, None] > 0).mean(axis=0)
        map_rows.append(pl.DataFrame({"step": step, "x1": across.ravel(), "x2": up.ravel(), "share": share.ravel()}))
        for setting, effect in (("X₂ informative", 1.0), ("X₂ uninformative", 0.1)):
            wrong = np.clip(slope * effect / 2, 0, 1)
            seen = 0.99 - 0.5 * math.exp(-step / 8) + rng.normal(0, 0.004, MEMBERS)
            for kind, value in (("unseen", 1 - wrong), ("seen", seen)):
                accuracy_rows.append(
                    pl.DataFrame(
                        {
                            "run": setting.removeprefix("X₂ "),
                            "setting": setting,
                            "kind": kind,
                            "step": step,
                            "member": range(MEMBERS),
                            "accuracy": np.clip(value, 0, 1),
                        }
                    )
                )
        if step in (0, 8, 64, 1024):
            places = (slope[:, None] * grid.clip(0)[None] + offset[:, None]).ravel()
            member, x2 = np.repeat(np.arange(MEMBERS), SIDE), np.tile(grid, MEMBERS)
            line_rows.append(pl.DataFrame({"step": step, "member": member, "x2": x2, "x1": places}))
    accuracy = pl.concat(accuracy_rows)
    summary = []
    for (setting, kind, step), part in accuracy.group_by("setting", "kind", "step", maintain_order=True):
        figure = interval(part["accuracy"].to_numpy())
        summary.append(
            {
                "curve": f"{kind}, {setting}",
                "step": step,
                "accuracy": figure.mean,
                "low": figure.low,
                "high": figure.high,
            }
        )
    return {
        "boundary": pl.concat(map_rows),
        "lines": pl.concat(line_rows),
        "accuracy": accuracy,
        "curves": pl.DataFrame(summary),
        "final": accuracy.filter(pl.col("step") == 1024, pl.col("kind") == "unseen"),
        "boundaries": pl.DataFrame(
            {
                "run": "informative",
                "member": range(MEMBERS),
                "moved": np.linspace(0.2, 0.5, MEMBERS),
                "tilt": 0.004 + 0.001 * np.arange(MEMBERS),
                "fitted": np.arange(MEMBERS) < 12,
            }
        ),
    }


INFORMATIVE, UNINFORMATIVE = (
    cells("accuracy", "final", setting=setting) for setting in ("X₂ informative", "X₂ uninformative")
)

CLAIMS = (
    Claim(
        "wrong-quarter",
        "After 1024 steps the boundary of the trained networks is wrong on part of the unseen quarter.",
        cells(1 - pl.col("accuracy"), "final", setting="X₂ informative").above(),
        source="section 6, figure 6",
    ),
    Claim(
        "order",
        "Unseen accuracy is lower where X₂ is informative in training than where it is not.",
        rising(INFORMATIVE, UNINFORMATIVE, names=("informative", "uninformative"), pair="member"),
        source="section 6",
    ),
    Claim(
        "unseen-accuracy",
        "Mean accuracy on the unseen quarter after training.",
        INFORMATIVE.near(0.02),
        published=Published(0.914, "section 6, table 2"),
        source="re-run with the playground's loss",
    ),
    Claim(
        "stable",
        "After the first update the boundary remains stable: accuracy on the unseen quarter no longer changes "
        "between step 1 and step 1024.",
        cells("moved", "boundaries", fitted=False).near(0.01),
        published=Published(0.0, "section 6, figure 5", "figure"),
        source="section 6, figure 5",
    ),
    Claim(
        "vertical",
        "No seed reaches a vertical boundary.",
        cells("tilt", "boundaries").below(0.01, nothing=0.5),
        whose="ours",
        source="section 6, figure 6",
    ),
)
NOTES = Notes(
    deviations=(
        "One step is one update on a batch of 10; in the paper's code a step may be a whole pass over the data.",
        "The paper shows a handful of seeds; we show 256.",
    ),
    reasons={
        "stable": (
            "The boundary keeps moving for hundreds of steps: the dip is transient. The paper's figure shows one seed, "
            "and one of its steps may be a whole pass over the data.",
            "the same runs with a step for each pass.",
        )
    },
)


def draw_maps(table: pl.DataFrame) -> alt.FacetChart:
    return maps(
        table,
        "x1",
        "x2",
        "share",
        "step",
        x_title="X₁",
        y_title="X₂",
        value_title="share of members predicting Y₁ = 1",
        facet_title="step",
        regions=PLANE,
    )


def draw_lines(table: pl.DataFrame) -> alt.FacetChart:
    return lines_of_members(
        table,
        "x1",
        "x2",
        "member",
        "step",
        order="x2",
        x_title="X₁",
        y_title="X₂",
        facet_title="step",
        x_domain=(-1, 1),
        y_domain=(-1, 1),
        regions=PLANE,
        square=True,
    )


def draw_curves(table: pl.DataFrame) -> Any:
    return curves(table, "step", "accuracy", "curve", "low", "high", log_x=True, x_title="training step")


def draw_members(table: pl.DataFrame) -> alt.LayerChart:
    return members(table, "setting", "accuracy", title="accuracy on the unseen quarter")


FIGURES = (
    Figure(
        "accuracy",
        "Unseen accuracy dips and recovers",
        "Mean accuracy over 256 members with its 95 % interval, by training step.",
        "curves",
        draw_curves,
    ),
    Figure(
        "final",
        "Every member after training",
        "Accuracy on the unseen quarter after 1024 steps; each dot is a member, the diamond their mean.",
        "final",
        draw_members,
    ),
    Figure(
        "boundary",
        "Where the networks say Y₁ = 1",
        "Share of members predicting class 1 over the square of inputs. The line is where the majority changes.",
        "boundary",
        draw_maps,
    ),
    Figure("lines", "Boundaries of single members", "The first 64 members, at four steps.", "lines", draw_lines),
)

PROVENANCE = {
    name: {
        "address": address * 8,
        "members": MEMBERS,
        "device": "cpu (2 cores)",
        "strategy": "stacked",
        "stack": 256,
        "seconds": seconds,
        "peak_memory_bytes": 412_000_000,
        "versions": {"python": "3.11.9", "torch": "2.13.0", "recombine": "0.1.0"},
        "commit": "0f3c2a9d41b7c6e5",
    }
    for name, address, seconds in (("informative", "3fa94c10", 41.2), ("uninformative", "b81e07d2", 39.8))
}


def example_study(**changes: Any) -> Study[Any]:
    settings: dict[str, Any] = {
        "name": "gradient-toy",
        "title": "Gradient descent uses what it need not",
        "question": "Does a small network, trained on three of four combinations, answer the fourth as its first input "
        "alone would tell it?",
        "paper": Paper(
            "Gradient Descent Resists Compositionality",
            "Yuanpeng Li",
            2022,
            "OpenReview",
            "https://openreview.net/forum?id=example",
        ),
        "scales": {"quick": None},
        "settings": lambda size, members: {},
        "tables": dict.fromkeys(("boundary", "lines", "accuracy", "curves", "final", "boundaries"), "members"),
        "claims": CLAIMS,
        "figures": FIGURES,
        "notes": NOTES,
    }
    return Study(**(settings | changes))


def example_result(study: Study[Any], tables: dict[str, pl.DataFrame], **changes: Any) -> StudyResult:
    settings: dict[str, Any] = {
        "study": study,
        "scale": "quick",
        "claims": study.judge(tables, {}),
        "tables": tables,
        "provenance": PROVENANCE,
    }
    return StudyResult(**(settings | changes))


@pytest.fixture(scope="module", autouse=True)
def drawn_once(drawings: Path) -> Iterator[None]:
    """The pages of all these files show the same figures; a specification is drawn for the first of them."""
    with cached_in(drawings):
        yield


@pytest.fixture(scope="session")
def tables() -> dict[str, pl.DataFrame]:
    return made_up_tables()


@pytest.fixture(scope="session")
def result(tables: dict[str, pl.DataFrame]) -> StudyResult:
    return example_result(example_study(), tables)


@pytest.fixture(scope="session")
def make_study() -> Callable[..., Study[Any]]:
    return example_study


@pytest.fixture(scope="session")
def make_result() -> Callable[..., StudyResult]:
    return example_result


@pytest.fixture(scope="session")
def draw_boundary() -> Callable[[pl.DataFrame], alt.FacetChart]:
    return draw_maps
