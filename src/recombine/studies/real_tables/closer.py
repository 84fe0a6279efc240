"""Closer looks: parts of claims and other ways to read them, taken when results were known: of the development half, or
of both where they were added after the locked half was opened (column ``known``). None has a criterion."""

from __future__ import annotations

import numpy as np
import polars as pl

from recombine.statistics import interval, share_interval
from recombine.studies.real_tables.collecting import ADVISED, FEW, RANDOM
from recombine.studies.real_tables.contest import FOREST, ONE, RECOMMENDED
from recombine.studies.real_tables.networks import BETWEEN, FIRST, RICH
from recombine.studies.real_tables.summaries import wide

ERROR, CENTRED, TEXTBOOK = "log error", "/log of forecast over realised error", "/textbook cell intervals hold"
R2, FOREST_R2, STRUCTURED_R2 = "random/additive/R²", f"random/{FOREST}/R²", "structured/additive/R²"
TWO, MORE = pl.col("factors") == 2, pl.col("factors") > 2
IN_TIME = pl.col("kind").is_in(["panels", "calendar", "growth"])
ADDS_UP = pl.col(STRUCTURED_R2) >= 0.5
SCHEMA = {"look": pl.String, "half": pl.String, "known": pl.String, "tables": pl.Int64, "value": pl.Float64,
          "low": pl.Float64, "high": pl.Float64}  # fmt: skip


def _less(first: str, second: str) -> pl.Expr:
    """How much larger the first log error is."""
    return pl.col(f"{first}/{ERROR}") - pl.col(f"{second}/{ERROR}")


EVERY = pl.lit(True)
OVER_ALL, CATCHES_UP = "log error over all", pl.col(FOREST_R2) - pl.col(R2)
HARDER = pl.col(f"structured/additive/{OVER_ALL}") - pl.col(f"as many at random/additive/{OVER_ALL}")
ONE_R2, OFF = f"random/{ONE}/R²", pl.col(f"random/{CENTRED}").abs()
HOLDS, TO_KERNEL = "/forecast interval holds", "correlation with the kernel"
BEYOND_NOISE = pl.col("random/additive/R² beyond noise")
MEDIANS: dict[str, tuple[pl.Expr, pl.Expr]] = {
    "median-adding-up": (pl.col(R2), EVERY),
    "median-forest": (pl.col(FOREST_R2), EVERY),
    "median-one-factor": (pl.col(ONE_R2), EVERY),
    "median-beyond-one-factor": (pl.col(R2) - pl.col(ONE_R2), EVERY),
    "median-beyond-noise": (BEYOND_NOISE, BEYOND_NOISE.is_not_null()),
    "median-off-forecast": (OFF, EVERY),
    "median-factor-off-forecast": (OFF.exp(), EVERY),
    "median-ahead-of-forest": (-CATCHES_UP, EVERY),
    "median-gain-pairs": (_less("random/additive", "random/pairs"), MORE),
    "median-gain-recommended": (_less("random/additive", f"random/{RECOMMENDED}"), EVERY),
    "forest-gain-where-adding-up": (CATCHES_UP, ADDS_UP),
    "forest-gain-where-not": (CATCHES_UP, ~ADDS_UP),
}
MEANS: dict[str, tuple[pl.Expr, pl.Expr]] = {
    "above-half-in-time": (pl.col(R2) > 0.5, IN_TIME),
    "above-half-elsewhere": (pl.col(R2) > 0.5, ~IN_TIME),
    "above-half-by-one-factor": (pl.col(ONE_R2) > 0.5, EVERY),
    "ahead-of-forest-unless-exact": (_less(f"random/{FOREST}", "random/additive"), pl.col(R2) < 0.95),
    "ahead-of-forest": (_less(f"random/{FOREST}", "random/additive") > 0, EVERY),
    "networks-in-between": (_less(f"{FIRST}/{BETWEEN}", f"{FIRST}/additive"), EVERY),
    "advice-over-random-few": (_less(f"{FEW}/{RANDOM}", f"{FEW}/{ADVISED}"), EVERY),
    "kernel-rich": (pl.col(f"{FIRST}/{RICH}/{TO_KERNEL}"), EVERY),
    "kernel-in-between": (pl.col(f"{FIRST}/{BETWEEN}/{TO_KERNEL}"), EVERY),
    "kernel-adding-up": (pl.col(f"{FIRST}/additive/{TO_KERNEL}"), EVERY),
    "forecast-interval-random": (pl.col(f"random/{HOLDS}"), EVERY),
    "forecast-interval-structured": (pl.col(f"structured/{HOLDS}"), EVERY),
    "forecast-interval-sparse": (pl.col(f"sparse/{HOLDS}"), EVERY),
    "cell-intervals-structured": (pl.col("structured//cell intervals hold"), EVERY),
    "structured-harder": (HARDER, EVERY),
    "structured-harder-as-first-asked": (_less("structured/additive", "random/additive"), EVERY),
    "structured-harder-two": (HARDER, TWO),
    "structured-harder-more": (HARDER, MORE),
    "forecast-structured-two": (pl.col(f"structured/{CENTRED}"), TWO),
    "forecast-structured-more": (pl.col(f"structured/{CENTRED}"), MORE),
    "forecast-sparse": (pl.col(f"sparse/{CENTRED}"), EVERY),
    "textbook-random": (pl.col(f"random/{TEXTBOOK}"), EVERY),
    "textbook-structured": (pl.col(f"structured/{TEXTBOOK}"), EVERY),
}

AFTER_OPENING = frozenset({
    "median-off-forecast", "median-factor-off-forecast", "median-ahead-of-forest", "median-gain-pairs", "kernel-rich",
    "kernel-in-between", "kernel-adding-up", "ahead-of-forest-unless-exact", "forecast-interval-random",
    "forecast-interval-structured", "structured-harder", "structured-harder-as-first-asked",
})  # fmt: skip


def closer(measured: pl.DataFrame) -> pl.DataFrame:
    """One row per look and half, and where there are two, of both together (looked at after opening): a
    mean (a share where it counts) or a median over tables, with its 95 % interval."""
    found = wide(measured)
    rows = list[tuple[str, str, str, int, float, float, float]]()
    for look, (value, of) in (MEDIANS | MEANS).items():
        if not {*value.meta.root_names(), *of.meta.root_names()} <= set(found.columns):
            continue  # nothing of the kind was computed at this scale
        values_of = found.filter(of).select("half", value.alias("value")).drop_nulls()
        halves = values_of["half"].unique(maintain_order=True).to_list()
        for half in (*halves, "both") if len(halves) > 1 else halves:
            values = values_of.filter(pl.lit(half == "both") | (pl.col("half") == half))["value"].to_numpy()
            known = "both" if half == "both" or look in AFTER_OPENING else "development"
            rows.append((look, half, known, len(values), *(_median if look in MEDIANS else _mean)(values)))
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
