"""How well each lens orders networks by their error on unseen combinations: among networks trained on the same rows,
across the splits of a task, pooled over tasks, and beyond what other lenses say.

ρ is Spearman's, turned so that +1 is the way the lens should point. Only fitted networks enter. *Same rows* has one ρ
a setting. For the others a setting stands for its networks by a jackknife pseudo-value (`measures.ranks`): of the ρ of
its own task (*across splits*), or of all networks with tasks ignored (*pooled*) — where tasks differ in both numbers
this shows how tasks differ, not networks (Simpson's paradox).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recombine.measures.interval import interval
from recombine.measures.ranks import jackknife, partial_spearman, spearman
from recombine.studies.together.lens_names import ALL, LENSES

ALL_TASKS = "all tasks"
FEWEST_NETWORKS = 5
"""A setting with fewer fitted networks has no order to speak of."""

SAME_ROWS, ACROSS, POOLED, GIVEN_SUPPORT, GIVEN_OTHERS, BEST = (
    "same rows", "across splits", "pooled", "given support", "given the others", "best lens squared")  # fmt: skip
SCHEMA = {"kind": pl.String, "lens": pl.String, "task": pl.String, "split": pl.String, "rho": pl.Float64,
          "networks": pl.Int64}  # fmt: skip
Statistic = Callable[[pl.DataFrame, str], float | None]


def by_setting(networks: pl.DataFrame) -> pl.DataFrame:
    """One row a kind of comparison, lens and setting; no value where it cannot be made."""
    fitted = networks.filter("fitted")
    settings = networks.select("task", "split").unique(maintain_order=True)
    rows = [
        {"kind": SAME_ROWS, "lens": lens, "task": task, "split": split, "rho": _same_rows(part, lens),
         "networks": len(part)}
        for task, split in settings.iter_rows()
        for part in [fitted.filter((pl.col("task") == task) & (pl.col("split") == split))]
        for lens in ALL
    ]  # fmt: skip
    kinds: dict[str, tuple[Statistic, tuple[str, ...]]] = {
        ACROSS: (_rho, tuple(ALL)),
        GIVEN_SUPPORT: (_given_support, tuple(ALL)),
        GIVEN_OTHERS: (_given_others, tuple(LENSES)),
        BEST: (_best, ("best",)),
    }
    for kind, (statistic, lenses) in kinds.items():
        for task in settings["task"].unique(maintain_order=True):
            mine = fitted.filter(pl.col("task") == task)
            for lens in lenses:
                rows += _pseudo(kind, lens, mine, settings.filter(pl.col("task") == task), statistic)
    for lens in ALL:
        rows += _pseudo(POOLED, lens, fitted, settings, _rho)
    return pl.DataFrame(rows, schema=SCHEMA)


def summary(values: pl.DataFrame) -> pl.DataFrame:
    """Mean and interval over settings, for each task and over all of them."""
    rows = []
    for (kind, lens), part in values.group_by("kind", "lens", maintain_order=True):
        groups = [(ALL_TASKS, part)]
        if kind != POOLED:
            groups += [(str(task), own) for (task,), own in part.group_by("task", maintain_order=True)]
        for task, own in groups:
            found = own["rho"].drop_nulls().to_numpy()
            figure = interval(found)
            of = {"settings": len(found), "networks": int(own["networks"].sum())}
            bounds = {"rho": figure.mean, "low": figure.low, "high": figure.high}
            rows.append({"kind": kind, "lens": lens, "task": task, **bounds, **of})
    # A correlation lies between −1 and 1, and so does its interval.
    return pl.DataFrame(rows, infer_schema_length=None).with_columns(
        pl.col("rho", "low", "high").cast(pl.Float64).fill_nan(None).clip(-1.0, 1.0)
    )


def _same_rows(part: pl.DataFrame, lens: str) -> float | None:
    return _rho(part, lens) if len(part) >= FEWEST_NETWORKS else None


def _pseudo(
    kind: str, lens: str, networks: pl.DataFrame, settings: pl.DataFrame, statistic: Statistic
) -> list[dict[str, object]]:
    names = networks["run"].to_list()

    def of(rows: NDArray[np.int64]) -> float | None:
        return statistic(networks[rows.tolist()], lens)

    values = jackknife(of, names) or {}
    return [
        {"kind": kind, "lens": lens, "task": task, "split": split, "rho": values.get(f"{task}-{split}"),
         "networks": names.count(f"{task}-{split}")}
        for task, split in settings.iter_rows()
    ]  # fmt: skip


def known(networks: pl.DataFrame, *lenses: str) -> pl.DataFrame:
    """The networks that have a value of every one of these lenses."""
    finite = [pl.col(name).is_not_null() & pl.col(name).is_finite() for name in (*lenses, "error")]
    return networks.filter(pl.all_horizontal(finite))


def _rho(networks: pl.DataFrame, lens: str) -> float | None:
    kept = known(networks, lens)
    return _turned(spearman(kept[lens], kept["error"]), lens)


def _given_support(networks: pl.DataFrame, lens: str) -> float | None:
    kept = known(networks, lens, "support")
    if kept.is_empty():
        return None
    return _turned(partial_spearman(kept[lens], kept["error"], kept["support"]), lens)


def _given_others(networks: pl.DataFrame, lens: str) -> float | None:
    others = [name for name in LENSES if name != lens]
    kept = known(networks, *LENSES)
    if len(kept) <= len(LENSES) + 2:
        return None
    return _turned(partial_spearman(kept[lens], kept["error"], kept.select(others).to_numpy()), lens)


def _best(networks: pl.DataFrame, _lens: str) -> float | None:
    """ρ² of the lens that orders these networks best."""
    found = [value for lens in LENSES if (value := _rho(networks, lens)) is not None]
    return max(value**2 for value in found) if found else None


def _turned(rho: float | None, lens: str) -> float | None:
    return None if rho is None else ALL[lens].sign * rho
