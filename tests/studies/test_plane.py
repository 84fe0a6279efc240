"""The map from rich to lazy: its networks are those of `train`, and its claims can fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch

from recombine.models import Dense
from recombine.runs.run import Context
from recombine.studies.kernel_theory import plane, sets
from recombine.studies.kernel_theory.plane import MapRun
from recombine.training import SGD, train

TASK = sets.equivalence((2, 2), (1, 1))


def run(**more: Any) -> MapRun:
    usual = {"widths": (8,), "sigmas": (1.0, 0.1), "rates": (0.1, 0.3), "starts": 3, "steps": 40}
    return MapRun(task=TASK, **usual | more)


def test_a_place_of_the_map_holds_the_networks_of_train(tmp_path: Path) -> None:
    found = {rate: answers for rate, answers, _ in run()._trained(8, Context("cpu", tmp_path))}
    asked, _ = TASK.examples(torch.tensor(TASK.asked), None)  # type: ignore[arg-type]
    for place, sigma in enumerate((1.0, 0.1)):
        alone = train(Dense(inputs=8, width=8), TASK, members=3, steps=40, batch_size=None, init_scale=sigma,
                      optimizer=SGD(lr=0.3), stop_below=plane.STOP)  # fmt: skip
        assert found[0.3][place] == pytest.approx(alone(asked)[..., 0].numpy(), abs=1e-6)


def test_starts_are_told_from_which_networks_solve() -> None:
    """Four σ from lazy to rich, three starts: one solves the two richest, one none but the laziest, one does not fit at
    the second σ."""
    described = run(sigmas=(1.0, 0.1, 0.05, 0.01))
    solved = np.array([[0, 0, 1, 1], [1, 0, 0, 0], [1, 0, 1, 1]], dtype=bool).T
    fits = np.array([[1, 1, 1, 1], [1, 1, 1, 1], [1, 0, 1, 1]], dtype=bool).T
    slowly = np.array([[0, 1, 1, 1], [0, 0, 0, 0], [0, 1, 1, 0]], dtype=bool).T
    table = described._starts(8, 0.3, fits, solved, np.ones_like(fits), slowly)
    assert table["border"].to_list() == pytest.approx([np.log10(0.05), None, 0.0])
    assert table["gained"].to_list() == [0, 1, 2]
    assert table["lost"].to_list() == [1, 0, 0]
    assert table["both"].to_list() == [4, 4, 3]
    assert (table["rich"].to_list(), table["rich_failed"].to_list()) == ([2, 2, 2], [0, 2, 0])


def starts(**columns: Any) -> dict[str, pl.DataFrame]:
    """Thirty starts of each width at each rate; unlike what is told, nothing is going on."""
    drawn = np.random.default_rng(0)
    rows = []
    for width in plane.WIDTHS:
        for rate in plane.KEPT:
            usual = {"border": drawn.normal(-0.5, 0.1, 30), "gained": 1, "lost": 1, "both": 20, "rich": 7,
                     "rich_failed": drawn.integers(0, 2, 30)}  # fmt: skip
            told = {name: value(width, rate, drawn) for name, value in columns.items()}
            rows.append(pl.DataFrame({"member": np.arange(30), "width": width, "rate": rate, **usual, **told}))
    return {"starts": pl.concat(rows, how="vertical_relaxed").with_columns(run=pl.lit("map-equivalence"))}


@pytest.mark.parametrize(
    ("claim", "planted"),
    [
        ("map-sharp", {"border": lambda width, rate, drawn: drawn.normal(-0.5, 3.0 / width, 30)}),
        ("map-rate", {"gained": lambda width, rate, drawn: drawn.integers(1, 5, 30)}),
        ("map-edge", {"lost": lambda width, rate, drawn: drawn.integers(1, 5, 30)}),
        ("map-rare", {"rich_failed": lambda width, rate, drawn: drawn.binomial(7, 4.0 / width, 30)}),
    ],
)
def test_claims_hold_where_it_is_planted_and_not_where_nothing_is(claim: str, planted: dict[str, Any]) -> None:
    test = next(c for c in plane.CLAIMS if c.id == claim)
    assert test.evaluate(starts(), {}).status == "fails"
    assert test.evaluate(starts(**planted), {}).status == "holds"
