"""Can networks of a new setting be ranked from those of the others? The best single lens against all five together.

Ranks within a task, from 0 to 1, of lenses and errors; a linear fit to the other settings of the task foretells the
ranks of the errors in the one left out. The single lens is the one that orders those others best, so neither forecast
has seen the setting that it is judged on.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recombine.measures.ranks import spearman
from recombine.studies.together.correlations import known
from recombine.studies.together.lens_names import LENSES

FloatArray = NDArray[np.float64]
FEWEST_SETTINGS = 3
SCHEMA = {"task": pl.String, "split": pl.String, "chosen": pl.String, "single": pl.Float64, "together": pl.Float64,
          "middle": pl.Float64, "networks": pl.Int64}  # fmt: skip


def forecasts(networks: pl.DataFrame) -> pl.DataFrame:
    """One row a setting: the mean distance in rank between forecast and error, from 0 to 1, for the single lens, for
    all together, and for the middle rank, which knows nothing."""
    rows: list[dict[str, object]] = []
    for (task,), mine in known(networks.filter("fitted"), *LENSES).group_by("task", maintain_order=True):
        splits = mine["split"].unique(maintain_order=True).to_list()
        if len(splits) < FEWEST_SETTINGS:
            continue
        lenses = {lens: _ranks(mine[lens]) for lens in LENSES}
        error = _ranks(mine["error"])
        for split in splits:
            left = (mine["split"] == split).to_numpy()
            rest = ~left
            strength = {lens: abs(spearman(ranks[rest], error[rest]) or 0.0) for lens, ranks in lenses.items()}
            best = max(strength, key=lambda lens: strength[lens])
            said = {"single": [best], "together": list(LENSES)}
            found = {name: _fitted([lenses[lens] for lens in some], error, rest) for name, some in said.items()}
            found["middle"] = np.full(len(error), 0.5)
            off = {name: float(np.abs(value - error)[left].mean()) for name, value in found.items()}
            rows.append({"task": task, "split": split, "chosen": best, **off, "networks": int(left.sum())})
    return pl.DataFrame(rows, schema=SCHEMA)


def _ranks(values: pl.Series) -> FloatArray:
    """From 0 for the smallest to 1 for the largest."""
    ranks = values.rank("average").to_numpy().astype(np.float64)
    return np.asarray((ranks - 1) / max(len(ranks) - 1, 1))


def _fitted(columns: list[FloatArray], error: FloatArray, rows: NDArray[np.bool_]) -> FloatArray:
    design = np.column_stack([np.ones(len(error)), *columns])
    return np.asarray(np.clip(design @ np.linalg.lstsq(design[rows], error[rows], rcond=None)[0], 0.0, 1.0))
