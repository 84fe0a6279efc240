"""The last lines of `--dry-run`: what is known is said with what it leaves out."""

from __future__ import annotations

from typing import Any

import pytest

from recombine.cli.forecast import _sum
from recombine.runs.calibration import Estimate
from recombine.runs.planning import Forecast
from recombine.runs.run import RunPlan


def said(*runs: Forecast) -> str:
    pieces = [seconds for run in runs for seconds in run.pieces]
    totals: dict[str, Any] = {
        "runs": len(runs), "stored": sum(run.stored for run in runs),
        "unknown": sum(not run.stored and run.estimate.seconds is None for run in runs),
        "seconds_one_worker": sum(pieces), "on": "here", "workers": 1, "seconds": sum(pieces),
        "longest_piece": max(pieces, default=0.0), "memory_bytes": 2_000_000,
    }  # fmt: skip
    return _sum(runs, totals, "quick", "cpu")


def run(seconds: float | None, stored: bool = False, at_most: bool = False) -> Forecast:
    return Forecast("a/b", "00", "training", 4, 10, stored, RunPlan(), Estimate(seconds), at_most)


def test_nothing_left_and_nothing_known_are_not_zero_seconds() -> None:
    assert said(run(None, stored=True)) == (
        "1 run at quick scale on this cpu: 1 stored. Nothing is left to compute; nothing was written."
    )
    assert "is not known until one like them is stored" in said(run(None), run(None, stored=True))
    assert "About" not in said(run(None))


@pytest.mark.parametrize("at_most", [False, True])
def test_what_the_sum_leaves_out_is_said(at_most: bool) -> None:
    lines = said(run(30.0, at_most=at_most), run(None), run(None)).splitlines()
    assert lines[0] == "3 runs at quick scale on this cpu: 0 stored."
    assert lines[1].startswith("About 30.0 s on one worker; on here (1 worker) about 30.0 s and 2 MB")
    assert lines[2] == "2 runs of unknown length are not in these numbers."
    assert (lines[3] == "≤: its members stop once they fit, which may be much sooner.") == at_most
    assert lines[-1] == "Estimates from a short calibration; nothing was written."
