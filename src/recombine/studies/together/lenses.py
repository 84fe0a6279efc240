"""How well each lens orders networks by their error on unseen combinations: among networks trained on the same rows,
across the splits of a task, pooled over tasks, and beyond what other lenses say.

ρ is Spearman's, turned so that +1 is the way the lens should point. Only fitted networks enter. *Same rows* has one ρ
per setting. For the others a setting stands for its networks by a jackknife pseudo-value (`statistics.ranks`): of the ρ
of its own task (*across splits*), or of all networks with tasks ignored (*pooled*) — where tasks differ in both numbers
this shows how tasks differ, not networks (Simpson's paradox). *Chosen elsewhere*: the lens that tells most on the same
rows of half of the tasks, on the same rows of the others, for every such half.

*Given the number seen* mixes two questions. With ranks about their mean at each number, the correlation of all networks
is the sum of a part between splits (means of settings) and a part on the same rows; *between splits of equal number* is
the correlation of these means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations, combinations_with_replacement

import numpy as np
import polars as pl
import polars.selectors as cs
from numpy.typing import ArrayLike, NDArray

from recombine.statistics import crossed_interval, interval, jackknife, partial_spearman, spearman
from recombine.statistics.ranks import ranks
from recombine.studies.together.splits import distances, unevenness


@dataclass(frozen=True)
class Lens:
    """``sign``: +1 where a larger value should go with a larger error on unseen combinations, −1 with a smaller one."""

    label: str
    sign: int
    sentence: str


LENSES = {
    "support": Lens("support", -1, "share of unseen combinations whose answer the seen ones determine, if factors add"),
    "kernel": Lens("kernel", 1, "error that regression on the network's representation foretells, if factors add"),
    "factorization": Lens("factorization", -1, "share of the representation that is a sum of one part per factor"),
    "influence": Lens("influence", 1, "share of each answer part's slopes that belong to the other factor"),
    "structure": Lens("structure", 1, "D_abl: own minus other accuracy once the part for a factor is taken out"),
}
"""The five."""
ALL = LENSES | {
    "share_seen": Lens("combinations seen", -1, "share of all combinations that training saw"),
    "kernel_start": Lens("kernel, untrained", 1, "the kernel lens on the same network before training"),
    "init_scale": Lens("first weights", 1, "size of the first weights, which we set"),
}
"""With what a lens should be better than: a count, and what could be said before training."""

ALL_TASKS = "all tasks"
FEWEST_NETWORKS, FEWEST_SETTINGS = 5, 3
"""A setting with fewer fitted networks has no order to speak of, nor can fewer settings foretell one."""

SAME_ROWS, ACROSS, POOLED = "same rows", "across splits", "pooled"
GIVEN_SUPPORT, GIVEN_OTHERS, ELSEWHERE = "given support", "given the others", "chosen elsewhere"
GIVEN_COUNT, GIVEN_MADE = "given the number seen", "given how networks were made"
ON_REGULAR, ON_DRAWN = "given the number seen on regular splits", "given the number seen on drawn splits"
BETWEEN_PART, ROWS_PART = "part between splits of equal number", "part on the same rows"
BETWEEN = "between splits of equal number"
GIVEN_CURVED = "given how networks were made with squares and products"
GIVEN_BOTH = "given the number seen and how networks were made"
GIVEN_SHOWN = "given the number seen and how unequally often levels are"
SHOWN_BETWEEN, SHOWN_ROWS = (f"part {of} of that {GIVEN_SHOWN}" for of in ("between splits", "on the same rows"))
GIVEN_DRAWN = "given the number seen and whether a split is drawn"
GIVEN_FAR = "given the number seen and how far unseen pairs lie from seen ones"
AFTERWARDS = (ON_REGULAR, ON_DRAWN, BETWEEN_PART, ROWS_PART, BETWEEN, GIVEN_CURVED, GIVEN_BOTH, GIVEN_DRAWN,
              GIVEN_FAR, SHOWN_BETWEEN, SHOWN_ROWS, GIVEN_SHOWN)  # fmt: skip
"""Looked at after the results: no claim asks for these, but for the last, which a claim asks for that came later."""
MADE, TELLING = ("init_scale", "lr", "weight_decay"), ("kernel", "influence", "structure")
SCHEMA = {"kind": pl.String, "lens": pl.String, "task": pl.String, "split": pl.String, "rho": pl.Float64,
          "networks": pl.Int64, "half": pl.String}  # fmt: skip
"""``half``: the tasks on which a lens was chosen."""
FloatArray = NDArray[np.float64]
Columns = Mapping[str, FloatArray]
Statistic = Callable[[Columns, str], float | None]


def by_setting(networks: pl.DataFrame) -> pl.DataFrame:
    """One row per kind of comparison, lens and setting; no value where it cannot be made."""
    fitted = networks.filter("fitted")
    settings = networks.select("run", "task", "split").unique(maintain_order=True)
    tasks = {task: rows for (task,), rows in settings.group_by("task", maintain_order=True)}
    rows = []
    for run, task, split in settings.iter_rows():
        part = fitted.filter(pl.col("run") == run)
        enough, columns = len(part) >= FEWEST_NETWORKS, _columns(part)
        rows += [{"kind": kind, "lens": lens, "task": task, "split": split, "networks": len(part),
                  "rho": rho(columns, lens) if enough else None}
                 for kind, rho, of in ((SAME_ROWS, _rho, ALL), (GIVEN_MADE, _given(*MADE), ALL),
                                       (GIVEN_CURVED, _given_curved, TELLING)) for lens in of]  # fmt: skip
    counted, drawn, every = [*LENSES, "kernel_start"], pl.col("split").str.starts_with("r"), pl.lit(True)
    kinds: dict[str, tuple[Statistic, list[str], pl.Expr]] = {
        ACROSS: (_rho, list(ALL), every),
        GIVEN_SUPPORT: (_given("support"), list(LENSES), every),
        GIVEN_COUNT: (_given("share_seen"), counted, every),
        GIVEN_BOTH: (_given("share_seen", *MADE), list(TELLING), every),
        GIVEN_SHOWN: (_given("share_seen", "unevenness"), counted, every),
        SHOWN_BETWEEN: (partial(part_given, ("share_seen", "unevenness"), False), list(TELLING), every),
        SHOWN_ROWS: (partial(part_given, ("share_seen", "unevenness"), True), list(TELLING), every),
        GIVEN_DRAWN: (_given("share_seen", "drawn"), list(TELLING), every),
        GIVEN_FAR: (_given("share_seen", "distance"), list(TELLING), every),
        ON_REGULAR: (_given("share_seen"), counted, ~drawn),
        ON_DRAWN: (_given("share_seen"), counted, drawn),
        **{kind: (_at_equal_number(kind), counted, every) for kind in (BETWEEN_PART, ROWS_PART, BETWEEN)},
        GIVEN_OTHERS: (_given_others, list(LENSES), every),
    }
    for kind, (statistic, lenses, which) in kinds.items():
        for task, mine in tasks.items():
            part = fitted.filter(pl.col("task") == task, which)
            rows += _pseudo(kind, lenses, part, mine.filter(which), statistic)
    rows += _pseudo(POOLED, list(ALL), fitted, settings, _rho)
    found = pl.DataFrame(rows, schema=SCHEMA)
    halves = combinations(tasks, len(tasks) // 2)
    return pl.concat([found, *(_elsewhere(found, [str(task) for task in half]) for half in halves)])


def _pseudo(
    kind: str, lenses: list[str], networks: pl.DataFrame, settings: pl.DataFrame, statistic: Statistic
) -> list[dict[str, object]]:
    runs, columns = networks["run"].to_list(), _columns(networks)
    rows: list[dict[str, object]] = []
    for lens in lenses:
        found = jackknife(partial(_of_rows, statistic, columns, lens), runs) or {}
        rows += [{"kind": kind, "lens": lens, "task": task, "split": split, "rho": found.get(run),
                  "networks": runs.count(run)} for run, task, split in settings.iter_rows()]  # fmt: skip
    return rows


@dataclass(frozen=True)
class _Rows(Mapping[str, FloatArray]):
    """Some rows of columns, each taken when it is asked for: a figure reads three of twenty."""

    columns: Columns
    rows: NDArray[np.int64]

    def __getitem__(self, name: str) -> FloatArray:
        return self.columns[name][self.rows]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)


def _of_rows(statistic: Statistic, columns: Columns, lens: str, rows: NDArray[np.int64]) -> float | None:
    return statistic(_Rows(columns, rows), lens)


def _elsewhere(values: pl.DataFrame, half: list[str]) -> pl.DataFrame:
    """The lens that tells most on the same rows of some tasks, in the settings of those that had no say in it."""
    same = values.filter((pl.col("kind") == SAME_ROWS) & pl.col("lens").is_in(list(LENSES)))
    mine = pl.col("task").is_in(half)
    by_task = same.filter(mine).group_by("task", "lens").agg(pl.col("rho").mean())
    best = by_task.group_by("lens").agg(pl.col("rho").mean()).drop_nulls().sort("rho", "lens", descending=True)
    judged = same.filter(~mine).join(best.head(1), on="lens", how="semi", maintain_order="left")
    return judged.with_columns(kind=pl.lit(ELSEWHERE), half=pl.lit(", ".join(half)))


def summary(values: pl.DataFrame) -> pl.DataFrame:
    """Mean and interval of each kind and lens. Over all tasks: as if tasks and splits were drawn, and (``one_``) as if
    settings were, one by one; of one task: as if splits were. ``afterwards``: no claim asks for this kind."""
    rows = []
    for (kind, lens), part in values.group_by("kind", "lens", maintain_order=True):
        own = [] if kind == POOLED else [(task, rows) for (task,), rows in part.group_by("task", maintain_order=True)]
        for task, some in [(ALL_TASKS, part), *own]:
            # A setting that several halves judge a lens by counts once.
            each = some.group_by("task", "split").agg(pl.col("rho").mean(), pl.col("networks").first())
            found = each.sort("task", "split").drop_nulls("rho")
            one = interval(found["rho"])
            figure = crossed_interval(found["rho"], found.select("task", "split").rows()) if task == ALL_TASKS else one
            ends = {"low": figure.low, "high": figure.high, "one_low": one.low, "one_high": one.high}
            rows.append({"kind": kind, "lens": lens, "task": task, "rho": figure.mean, **ends, "settings": len(found),
                         "networks": each["networks"].sum(), "afterwards": kind in AFTERWARDS})  # fmt: skip
    # A correlation lies between −1 and 1, and so does its interval.
    return pl.DataFrame(rows, infer_schema_length=None).with_columns(
        cs.matches("^rho$|low$|high$").cast(pl.Float64).fill_nan(None).clip(-1.0, 1.0)
    )


def _columns(networks: pl.DataFrame) -> Columns:
    """What correlations are made of, as arrays: they are made a thousand times."""
    of_split = {"unevenness": unevenness(), "distance": distances()}
    asked = {name: pl.col("split").replace_strict(of, default=None, return_dtype=pl.Float64)
             for name, of in of_split.items()}  # fmt: skip
    found = networks.with_columns(
        setting=pl.col("run").rank("dense"), number=pl.col("share_seen").rank("dense"),
        drawn=pl.col("split").str.starts_with("r"), **asked
    )  # fmt: skip
    names = (*ALL, *MADE, *of_split, "drawn", "error", "setting", "number")
    return {name: found[name].cast(pl.Float64).to_numpy() for name in names}


def _known(networks: Columns, *names: str) -> Columns:
    """The networks that have a value of every one of these columns, and an error."""
    asked = {name: networks[name] for name in (*names, "error")}
    known = np.isfinite(list(asked.values())).all(0)
    return asked if known.all() else {name: of[known] for name, of in asked.items()}


def _rho(networks: Columns, lens: str) -> float | None:
    kept = _known(networks, lens)
    return _turned(spearman(kept[lens], kept["error"]), lens)


def _given(*names: str) -> Statistic:
    """Partial correlations, these columns held still; none of networks too few for them."""

    def rho(networks: Columns, lens: str) -> float | None:
        kept = _known(networks, lens, *names)
        if len(kept["error"]) < FEWEST_NETWORKS + len(names) - 1:
            return None
        return _turned(partial_spearman(kept[lens], kept["error"], np.column_stack([kept[n] for n in names])), lens)

    return rho


def _given_curved(networks: Columns, lens: str) -> float | None:
    """As given `MADE`, with squares and products of their ranks held still besides."""
    kept = _known(networks, lens, *MADE)
    lens_, error, *made = (_ranks(kept[name]) - 0.5 for name in (lens, "error", *MADE))
    curved = [a * b for a, b in combinations_with_replacement(made, 2)]
    design = np.column_stack([np.ones(len(error)), *made, *curved])
    if len(error) < FEWEST_NETWORKS + design.shape[1]:
        return None
    one, other = (rank - design @ np.linalg.lstsq(design, rank, rcond=None)[0] for rank in (lens_, error))
    size = float(np.linalg.norm(one) * np.linalg.norm(other))
    return _turned(float(one @ other) / size, lens) if size > 1e-9 else None


def _given_others(networks: Columns, lens: str) -> float | None:
    kept = _known(networks, *LENSES)
    others = np.column_stack([kept[name] for name in LENSES if name != lens])
    enough = len(kept["error"]) > len(LENSES) + 2
    return _turned(partial_spearman(kept[lens], kept["error"], others), lens) if enough else None


def _at_equal_number(kind: str) -> Statistic:
    """Of ranks about their mean at each number seen: the correlation of the means of settings, or how much these, or
    networks about them, are of the correlation of all."""

    def rho(networks: Columns, lens: str) -> float | None:
        kept = _known(networks, lens, "share_seen", "setting", "number")
        both = [_ranks(kept[name]) for name in (lens, "error")]
        all_, rows = ([_about(values, kept[by]) for values in both] for by in ("number", "setting"))
        means = [one - other for one, other in zip(all_, rows, strict=True)]
        part, whole = (rows if kind == ROWS_PART else means), (means if kind == BETWEEN else all_)
        size = float(np.linalg.norm(whole[0]) * np.linalg.norm(whole[1]))
        return _turned(float(part[0] @ part[1]) / size, lens) if size > 1e-9 else None

    return rho


def part_given(names: tuple[str, ...], rows: bool, networks: Columns, lens: str) -> float | None:
    """How much of a partial correlation is that of networks on the same rows, or of the means of settings."""
    kept = _known(networks, lens, *names, "setting")
    design = np.column_stack([np.ones(len(kept["error"])), *(_ranks(kept[name]) for name in names)])
    both = [_ranks(kept[name]) for name in (lens, "error")]
    left = [values - design @ np.linalg.lstsq(design, values, rcond=None)[0] for values in both]
    within = [_about(values, kept["setting"]) for values in left]
    part = within if rows else [one - other for one, other in zip(left, within, strict=True)]
    size = float(np.linalg.norm(left[0]) * np.linalg.norm(left[1]))
    return _turned(float(part[0] @ part[1]) / size, lens) if size > 1e-9 else None


def _about(values: FloatArray, by: FloatArray) -> FloatArray:
    """Values less the mean of their group, of which ``by`` is the number."""
    of = by.astype(np.int64)
    return np.asarray(values - (np.bincount(of, values) / np.maximum(np.bincount(of), 1))[of])


def _turned(rho: float | None, lens: str) -> float | None:
    return None if rho is None else ALL[lens].sign * rho


def forecasts(networks: pl.DataFrame) -> pl.DataFrame:
    """Can networks of a new setting be ranked from those of the others? One row per setting: the mean distance in rank,
    from 0 to 1, between error and forecast, for a single lens, for all five, for the mere number of combinations seen
    (looked at afterwards), and for the middle rank, which is no news.

    A linear fit of ranks in the other settings of the task foretells those in the one left out. The single lens is the
    one that orders those others best, so neither forecast has seen the setting that it is judged on."""
    rows: list[dict[str, object]] = []
    known = pl.all_horizontal("fitted", pl.col(*LENSES, "share_seen", "error").is_finite().fill_null(False))
    for (task,), mine in networks.filter(known).group_by("task", maintain_order=True):
        splits = mine["split"].unique(maintain_order=True).to_list()
        lenses, error = {lens: _ranks(mine[lens]) for lens in LENSES}, _ranks(mine["error"])
        for split in splits if len(splits) >= FEWEST_SETTINGS else []:
            left = (mine["split"] == split).to_numpy()
            strength = {lens: abs(spearman(of[~left], error[~left]) or 0.0) for lens, of in lenses.items()}
            best = max(strength, key=lambda lens: strength[lens])
            found = {"single": _fitted([lenses[best]], error, ~left), "middle": np.full(len(error), 0.5),
                     "together": _fitted(list(lenses.values()), error, ~left),
                     "number": _fitted([_ranks(mine["share_seen"])], error, ~left)}  # fmt: skip
            off = {name: float(np.abs(value - error)[left].mean()) for name, value in found.items()}
            rows.append({"task": task, "split": split, "chosen": best, **off, "networks": int(left.sum())})
    texts, numbers = ("task", "split", "chosen"), ("single", "together", "middle", "number")
    schema = {**dict.fromkeys(texts, pl.String), **dict.fromkeys(numbers, pl.Float64), "networks": pl.Int64}
    return pl.DataFrame(rows, schema=schema)


def variances(networks: pl.DataFrame) -> pl.DataFrame:
    """One row per task: the shares of the variance of errors that lie between numbers of combinations seen, between
    splits of equal number, and on the same rows. Looked at afterwards."""
    error = pl.col("error")
    at, on = (error - error.mean().over("task", by) for by in ("share_seen", "split"))
    left = networks.filter("fitted").select("task", "error", at=at, on=on).group_by("task", maintain_order=True)
    at, on = (pl.col(name).var() / error.var() for name in ("at", "on"))
    return left.agg(number=1 - at, split=at - on, rows=on)


def _ranks(values: ArrayLike) -> FloatArray:
    """From 0 for the smallest to 1 for the largest."""
    found = ranks(values)
    return np.asarray((found - 1) / max(len(found) - 1, 1))


def _fitted(columns: list[FloatArray], error: FloatArray, rows: NDArray[np.bool_]) -> FloatArray:
    design = np.column_stack([np.ones(len(error)), *columns])
    return np.asarray(np.clip(design @ np.linalg.lstsq(design[rows], error[rows], rcond=None)[0], 0.0, 1.0))
