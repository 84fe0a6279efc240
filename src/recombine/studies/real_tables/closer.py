"""Closer looks: parts of claims and other ways to read them, taken when results were known (of the development half;
`median-off-forecast` of both). None has a criterion."""

from __future__ import annotations

import numpy as np
import polars as pl

from recombine.statistics import interval, share_interval
from recombine.studies.real_tables.collecting import ADVISED, FEW, RANDOM
from recombine.studies.real_tables.contest import FOREST, ONE, RECOMMENDED
from recombine.studies.real_tables.networks import BETWEEN, FIRST
from recombine.studies.real_tables.summaries import wide

ERROR, CENTRED, TEXTBOOK = "log error", "/log of forecast over realised error", "/textbook cell intervals hold"
R2, FOREST_R2, STRUCTURED_R2 = "random/additive/R²", f"random/{FOREST}/R²", "structured/additive/R²"
TWO, MORE = pl.col("factors") == 2, pl.col("factors") > 2
IN_TIME = pl.col("kind").is_in(["panels", "calendar", "growth"])
ADDS_UP = pl.col(STRUCTURED_R2) >= 0.5
SCHEMA = {"look": pl.String, "half": pl.String, "tables": pl.Int64, "value": pl.Float64, "low": pl.Float64,
          "high": pl.Float64}  # fmt: skip


def _less(first: str, second: str) -> pl.Expr:
    """How much larger the first log error is."""
    return pl.col(f"{first}/{ERROR}") - pl.col(f"{second}/{ERROR}")


EVERY = pl.lit(True)
OVER_ALL, CATCHES_UP = "log error over all", pl.col(FOREST_R2) - pl.col(R2)
HARDER = pl.col(f"structured/additive/{OVER_ALL}") - pl.col(f"as many at random/additive/{OVER_ALL}")
ONE_R2 = f"random/{ONE}/R²"
BEYOND_NOISE = pl.col("random/additive/R² beyond noise")
MEDIANS: dict[str, tuple[pl.Expr, pl.Expr]] = {
    "median-adding-up": (pl.col(R2), EVERY),
    "median-forest": (pl.col(FOREST_R2), EVERY),
    "median-one-factor": (pl.col(ONE_R2), EVERY),
    "median-beyond-one-factor": (pl.col(R2) - pl.col(ONE_R2), EVERY),
    "median-beyond-noise": (BEYOND_NOISE, BEYOND_NOISE.is_not_null()),
    "median-off-forecast": (pl.col(f"random/{CENTRED}").abs(), EVERY),
    "median-gain-recommended": (_less("random/additive", f"random/{RECOMMENDED}"), EVERY),
    "forest-gain-where-adding-up": (CATCHES_UP, ADDS_UP),
    "forest-gain-where-not": (CATCHES_UP, ~ADDS_UP),
}
MEANS: dict[str, tuple[pl.Expr, pl.Expr]] = {
    "above-half-in-time": (pl.col(R2) > 0.5, IN_TIME),
    "above-half-elsewhere": (pl.col(R2) > 0.5, ~IN_TIME),
    "above-half-by-one-factor": (pl.col(ONE_R2) > 0.5, EVERY),
    "ahead-of-forest": (_less(f"random/{FOREST}", "random/additive") > 0, EVERY),
    "networks-in-between": (_less(f"{FIRST}/{BETWEEN}", f"{FIRST}/additive"), EVERY),
    "advice-over-random-few": (_less(f"{FEW}/{RANDOM}", f"{FEW}/{ADVISED}"), EVERY),
    "forecast-interval-sparse": (pl.col("sparse//forecast interval holds"), EVERY),
    "cell-intervals-structured": (pl.col("structured//cell intervals hold"), EVERY),
    "structured-harder-two": (HARDER, TWO),
    "structured-harder-more": (HARDER, MORE),
    "forecast-structured-two": (pl.col(f"structured/{CENTRED}"), TWO),
    "forecast-structured-more": (pl.col(f"structured/{CENTRED}"), MORE),
    "forecast-sparse": (pl.col(f"sparse/{CENTRED}"), EVERY),
    "textbook-random": (pl.col(f"random/{TEXTBOOK}"), EVERY),
    "textbook-structured": (pl.col(f"structured/{TEXTBOOK}"), EVERY),
}


def closer(measured: pl.DataFrame) -> pl.DataFrame:
    """One row per look and half: a mean (a share where it counts) or a median over tables, with its 95 % interval."""
    found = wide(measured)
    rows = list[tuple[str, str, int, float, float, float]]()
    for look, (value, of) in (MEDIANS | MEANS).items():
        if not {*value.meta.root_names(), *of.meta.root_names()} <= set(found.columns):
            continue  # nothing of the kind was computed at this scale
        values_of = found.filter(of).select("half", value.alias("value")).drop_nulls()
        for (half,), some in values_of.group_by("half", maintain_order=True):
            values = some["value"].to_numpy()
            rows.append((look, str(half), len(values), *(_median if look in MEDIANS else _mean)(values)))
    return pl.DataFrame(rows, SCHEMA, orient="row")


def _mean(values: np.ndarray) -> tuple[float, float, float]:
    found = share_interval(values) if values.dtype == bool else interval(values)
    return found.mean, found.low, found.high


def _median(values: np.ndarray) -> tuple[float, float, float]:
    """With the order statistics between which the median lies in 95 of 100 samples, whatever the distribution."""
    from scipy.special import bdtr

    count, middle = len(values), float(np.median(values))
    out = int((bdtr(np.arange(count), count, 0.5) <= 0.025).sum()) - 1
    ranked = np.sort(values)
    return (middle, float(ranked[out]), float(ranked[count - 1 - out])) if out >= 0 else (middle, np.nan, np.nan)
