"""Why influence tells less where kinds of split are mixed: splits of one number of pairs, which show levels equally
often or not.

On digits and signals drawn splits have less influence and more errors than regular ones of equal number, which turns
the order of networks over both kinds round. Drawn ones show some levels more than others, and may do so for that. Here
all splits have as many pairs and determine all others, if factors add up; *even* ones show every level three times, and
*uneven* ones some once and others up to nine times. All are drawn, so that being regular is not what differs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from itertools import count

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recombine.runs import StoredRun
from recombine.statistics import interval, jackknife, partial_spearman, spearman, t_quantile
from recombine.studies._cells import CORRELATION, Cells, cells, rising
from recombine.studies.charts import scatter
from recombine.studies.claims import Claim
from recombine.studies.study import Setting
from recombine.studies.tables import beside, last
from recombine.studies.together.lenses import GIVEN_SHOWN, Columns, part_given
from recombine.studies.together.networks import TASKS, Size, design, training, without_masks
from recombine.studies.together.splits import Pairs, distance, imprecision, joined, times
from recombine.tasks.draws import key
from recombine.tasks.two_factors import LEVELS

ASKED = ("digits", "signals")
"""Tasks on which mixing both kinds of split turned the order of networks round."""
PAIRS, TIMES = 30, 3
SPREAD = 1.7
"""The least standard deviation of how often an uneven split shows a level."""
EVEN, UNEVEN = "even", "uneven"
SPLITS_OF_A_KIND, MEMBERS = 10, 8
DECLARED = "Declared before these splits were trained"
WITHIN_BETWEEN, WITHIN_ROWS = "part between splits", "part on the same rows"
MIXED, WITHIN = "both kinds", "kind held still"


@cache
def even(seed: int) -> Pairs:
    """Every level of both factors in three pairs: three permutations that share none, all hanging together."""
    for attempt in count():
        rng = np.random.default_rng([seed, attempt])
        found = {(int(a), int(b)) for _ in range(TIMES) for a, b in enumerate(rng.permutation(LEVELS))}
        if len(found) == PAIRS and joined(found):
            return tuple(sorted(found))
    raise AssertionError


@cache
def uneven(seed: int) -> Pairs:
    """As many pairs that show every level, some far more often than others, and hang together."""
    for attempt in count():
        rng = np.random.default_rng([seed, attempt, 1])
        first, second = (rng.permutation(np.arange(1, LEVELS + 1)).astype(float) for _ in range(2))
        chances = np.outer(first, second).ravel()
        chosen = rng.choice(LEVELS**2, PAIRS, replace=False, p=chances / chances.sum())
        found = {(int(place) // LEVELS, int(place) % LEVELS) for place in chosen}
        if len(found) == PAIRS and joined(found) and times(found).min() > 0 and times(found).std() >= SPREAD:
            return tuple(sorted(found))
    raise AssertionError


MAKE = {EVEN: even, UNEVEN: uneven}


def settings(size: Size, members: int | None) -> dict[str, Setting]:
    """Both kinds of split on each task, made as the other networks are; they are looked at without masks."""
    found = {}
    for task in ASKED:
        for kind, make in MAKE.items():
            for i in range(size.shown):
                split = f"{kind}-{i}"
                made = design(members or min(size.members, MEMBERS), f"{task} {split}")
                run = without_masks(TASKS[task](pairs=make(i)), size, made, key("together", task, split) % 2**31)
                found[f"{task}-{split}"] = Setting(run, {"task": task, "split": split, "shown": kind, **made})
    return found


def networks(run: StoredRun, setting: Setting) -> pl.DataFrame | None:
    """One row per network of these splits: its errors, and its influence."""
    if "shown" not in setting.labels:
        return None
    lens = last(run.table("lenses")).select("member", "influence", "kernel")
    ends = last(training(run, setting)).select("member", "fitted", "seen_error", "error")
    return beside(ends, lens)


RIVALS = {"distance": distance, "imprecision": imprecision}
ORDERS: dict[str, Callable[[Columns], float | None]] = {
    MIXED: lambda of: spearman(of["influence"], of["error"]),
    WITHIN: lambda of: partial_spearman(of["influence"], of["error"], of["kind"]),
    WITHIN_BETWEEN: partial(part_given, ("kind",), False, lens="influence"),
    WITHIN_ROWS: partial(part_given, ("kind",), True, lens="influence"),
}


def orders(evenness: pl.DataFrame) -> pl.DataFrame:
    """For each task ρ of influence with the error, over both kinds of split and with the kind held still, and how much
    of the latter is between splits and on the same rows: one jackknife value per split."""
    rows = []
    for (task,), part in evenness.filter("fitted").group_by("task", maintain_order=True):
        splits = part["split"].to_list()
        columns = {"influence": part["influence"].to_numpy(), "error": part["error"].to_numpy(),
                   "kind": (part["shown"] == EVEN).cast(pl.Float64).to_numpy(),
                   "setting": part["split"].rank("dense").cast(pl.Float64).to_numpy()}  # fmt: skip
        for how, rho in ORDERS.items():
            found = jackknife(partial(_of_rows, rho, columns), splits) or {}
            rows += [(part["run"][splits.index(split)], task, how, split, value) for split, value in found.items()]
    schema = {"run": pl.String, "task": pl.String, "over": pl.String, "split": pl.String, "rho": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _of_rows(rho: Callable[[Columns], float | None], columns: Columns, rows: NDArray[np.int64]) -> float | None:
    return rho({name: of[rows] for name, of in columns.items()})


def order_figures(evenness_orders: pl.DataFrame) -> pl.DataFrame:
    """The mean of each over splits, with its interval: the same splits serve both tasks."""
    rows = []
    for (task, over), part in evenness_orders.group_by("task", "over", maintain_order=True):
        figure = interval(part["rho"].to_numpy())
        rows.append((task, over, figure.mean, max(figure.low, -1.0), min(figure.high, 1.0)))
    return pl.DataFrame(rows, schema=["task", "over", "rho", "low", "high"], orient="row")


def rivals(evenness: pl.DataFrame) -> pl.DataFrame:
    """By how much uneven splits err more, with something else that splits differ in held still (least squares over the
    means of splits): one row per task and rival."""
    rows = []
    means = evenness.group_by("task", "split", "shown", maintain_order=True).agg(pl.col("error").mean())
    for (task,), part in means.group_by("task", maintain_order=True):
        kinds = (part["shown"] == UNEVEN).cast(pl.Float64).to_numpy()
        shown = [MAKE[kind](int(split.split("-")[1]))
                 for split, kind in part.select("split", "shown").rows()]  # fmt: skip
        for rival, of in RIVALS.items():
            design = np.column_stack([np.ones(len(part)), kinds, [of(pairs) for pairs in shown]])
            weights, left, rank, _ = np.linalg.lstsq(design, part["error"].to_numpy(), rcond=None)
            free = len(part) - int(rank)
            if free < 1 or rank < design.shape[1]:
                continue
            error = float(np.sqrt(left[0] / free * np.linalg.inv(design.T @ design)[1, 1]))
            half = t_quantile(0.95, free) * error
            rows.append((task, rival, float(weights[1]), float(weights[1]) - half, float(weights[1]) + half))
    schema = dict.fromkeys(("task", "given"), pl.String) | dict.fromkeys(("difference", "low", "high"), pl.Float64)
    return pl.DataFrame(rows, schema=schema, orient="row")


def _splits(value: str, kind: str, task: str) -> Cells:
    return cells(value, "evenness", shown=kind, task=task, unit="split")


def _order(task: str, over: str) -> Cells:
    return cells("rho", "evenness_orders", task=task, over=over, unit="split", limits=CORRELATION)


def _asked(task: str) -> tuple[Claim, ...]:
    def claim(id: str, sentence: str, test: object, source: str, unit: str) -> Claim:
        return Claim(f"{id}-{task}", sentence, test, "ours", source=source, unit=unit)  # type: ignore[arg-type]

    both = (EVEN, UNEVEN)
    return (
        claim("uneven-errs", f"Of as many pairs seen, networks err more where these show levels unequally often "
              f"({task}).",
              rising(*(_splits("error", kind, task) for kind in both), names=both),
              "our explanation of influence-beyond-count, that drawn splits show some levels more than others. Rival: "
              f"being regular, which neither kind is here. {DECLARED}",
              "error of uneven splits less that of even ones"),
        claim("uneven-less-influence", f"Of as many pairs seen, networks have less influence where these show levels "
              f"unequally often ({task}).",
              rising(*(_splits("influence", kind, task) for kind in reversed(both)), names=tuple(reversed(both))),
              "the other half of that explanation: less influence with more errors goes against the order within each "
              f"kind. {DECLARED}",
              "influence of even splits less that of uneven ones"),
        claim("mixing-hides", f"Influence orders networks better with the kind of split held still ({task}).",
              rising(_order(task, MIXED), _order(task, WITHIN), names=(MIXED, WITHIN), pair="split"),
              f"what follows, if both halves are so and large enough. {DECLARED}",
              "ρ with the kind held still less ρ over both"),
    )  # fmt: skip


CLAIMS = (
    *(claim for task in ASKED for claim in _asked(task)),
    Claim("influence-beyond-count-shown", "Influence orders networks that saw equally many combinations, and levels as "
          "equally often, over six tasks.",
          cells("rho", "by_setting", kind=GIVEN_SHOWN, lens="influence", unit=("task", "split"), limits=CORRELATION,
                crossed=True).above(), "ours",
          source="influence-beyond-count, with how unequally a split shows levels held still as well (the standard "
          "deviation of how often, linearly in ranks). Asked of the 3072 networks when digits had shown that mixing "
          "hides it, and when its figure had been seen", unit="Spearman's ρ"),
)  # fmt: skip
FIGURES = (
    scatter("evenness", "Splits of one number of pairs that show levels equally often, or not", table="evenness",
            x="influence", y="error", by="shown", facet="task", fitted=False, diagonal=False,
            x_title="influence of the other factor", y_title="unseen error"),
)  # fmt: skip
