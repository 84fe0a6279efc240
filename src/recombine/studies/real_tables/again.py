"""The same cells held out once more, forecast by `check` as it is now.

Contests stand as they were when the locked half was opened; `check` has changed since. So these figures have no
criterion, both halves were known when they were read, and they are made anew whenever forecasts change.
"""

from __future__ import annotations

from collections import defaultdict
from typing import ClassVar

import numpy as np
import polars as pl

from recombine.checks.forecasts.forecast import forecast
from recombine.runs import Context, Outcome, Run
from recombine.statistics import interval
from recombine.studies.real_tables.contest import held
from recombine.studies.real_tables.holes import HOLES, hold_out
from recombine.studies.real_tables.registry import Source

WIDTH = "upper end over lower"
BOTH = ["random", "structured"]
SCHEMA = {"holes": pl.String, "what": pl.String, "value": pl.Float64}
AGAIN = {"half": pl.String, **SCHEMA, "tables": pl.Int64, "low": pl.Float64, "high": pl.Float64, "median": pl.Float64}


class ForecastRun(Run):
    """Hold out what the contest of a table did, ``draws`` times in each way, and see what became of the forecasts."""

    kind: ClassVar[str] = "real table forecast"
    version: ClassVar[int] = 2
    source: Source
    draws: int = 3

    def compute(self, context: Context) -> Outcome:
        cells, rows = self.source.cells(), list[tuple[str, str, float]]()
        for at, holes in enumerate(HOLES[:3]):
            context.progress(at, 3, "ways to hold out")
            of = defaultdict[str, list[float]](list)
            for draw in range(self.draws):
                found = hold_out(cells, holes, np.random.default_rng([draw, at]))
                if found is None or not (asked := cells.take(found[0] & found[1])).codes.size:
                    continue
                told = forecast(cells.take(~found[0]), asked.codes, seed=draw)
                if isinstance(told, str):
                    continue
                for what, value in held(told, told.estimate(asked.codes), asked):
                    of[what].append(value)
                if told.low > 0:
                    of[WIDTH].append(told.high / told.low)
            rows += [(holes, what, float(np.mean(values))) for what, values in of.items()]
        return Outcome({"forecasts": pl.DataFrame(rows, SCHEMA, orient="row")}, {}, {"members": self.draws})


def again(forecasts: pl.DataFrame) -> pl.DataFrame:
    """One row per half, way to hold out (and for both of them, hardly seen ones apart) and figure: its mean over tables
    with its 95 % interval, and its median."""
    rows, keys = list[tuple[object, ...]](), ["half", "holes", "what"]
    both = forecasts.filter(pl.col("holes").is_in(BOTH)).with_columns(holes=pl.lit("random and structured"))
    both = both.group_by(*keys, "table", maintain_order=True).agg(pl.col("value").mean())
    every = pl.concat([forecasts.select(both.columns), both])
    for (half, holes, what), part in every.group_by(keys, maintain_order=True):
        values = part["value"].to_numpy()
        found = interval(values)
        rows.append((half, holes, what, found.mean, len(values), found.low, found.high, float(np.median(values))))
    return pl.DataFrame(rows, AGAIN, orient="row")
