"""What is asked of the lenses. No paper published these figures; all criteria were written before the runs with
members and splits drawn anew (the notes say what had been seen by then). Sentences of *-beyond-count and
*-beyond-making were put otherwise after the results, to say what is computed.

Where a sentence is about tasks, both tasks and splits are taken as drawn, so that it says something of others like
them; where it is about one task, splits are. `looks` has every claim's chance over all of them."""

from __future__ import annotations

from typing import Any

import polars as pl

from recombine.studies._cells import CORRELATION, Cells, cells, rising
from recombine.studies.chances import at_the_edge, holm, measured
from recombine.studies.claims import Claim, Test
from recombine.studies.together.lenses import (
    ACROSS,
    ELSEWHERE,
    GIVEN_COUNT,
    GIVEN_MADE,
    GIVEN_SUPPORT,
    ON_DRAWN,
    SAME_ROWS,
)

SETTING, TABLES = ("task", "split"), ("networks", "by_setting", "forecasts")
RHO = pl.col("rho")
ADDING, NOT_ADDING = ("digits", "signals", "sums"), ("stripes", "bumps", "signs")
"""Tasks by whether their answers are sums of one part per factor."""


def _of(kind: str, lens: str, **task: Any) -> Cells:
    """The values of one lens in one kind of comparison, per setting: networks on the same rows count once."""
    crossed = not task
    return cells("rho", "by_setting", kind=kind, lens=lens, unit=SETTING, limits=CORRELATION, crossed=crossed, **task)


def _by_task(kind: str, lens: str, tasks: tuple[str, ...]) -> Cells:
    return cells("rho", "by_setting", kind=kind, lens=lens, task=tasks, unit="task", within="split", limits=CORRELATION)


def _better(kind: str, first: str, second: str, *names: str) -> Test:
    return rising(_of(kind, first), _of(kind, second), names=names, pair=SETTING)


def _off(column: str) -> Cells:
    """How far a forecast is off, in every setting that has networks to foretell."""
    return cells(column, "forecasts", unit=SETTING, asked=cells("error", "networks", unit=SETTING), crossed=True)


def _asked(id: str, sentence: str, test: Test, source: str, unit: str = "Spearman's ρ") -> Claim:
    return Claim(id, sentence, test, "ours", source=source, unit=unit)


FIRST, THEORY, LATENT, GRADIENT, PARTS = (
    "the theorem of first-principles", "the theory of kernel-theory", "the scores of forced-rendering",
    "the derivatives of gradient-descent", "the masks of break-it-down")  # fmt: skip
CLAIMS = (
    _asked("support-across-splits", "The support verdict orders networks across splits: where training determines more "
           "of the unseen combinations, networks err less on them.", _of(ACROSS, "support").above(), FIRST),
    _asked("support-over-count",
           "The verdict orders networks better than the mere number of combinations that were seen.",
           _better(ACROSS, "share_seen", "support", "number seen", "support"), FIRST),
    _asked("support-beyond-count", "With as many combinations seen, networks err less where these determine more.",
           _of(GIVEN_COUNT, "support").above(), FIRST),
    _asked("untrained-kernel-across-splits", "Regression on the representation of the untrained network foretells, "
           "across splits, which networks will err.", _of(ACROSS, "kernel_start").above(), THEORY),
    _asked("kernel-across-splits", "Regression on the trained representation foretells, across splits, which networks "
          "will err.",
           _of(ACROSS, "kernel").above(), THEORY),
    _asked("factorization-across-splits", "The more of the representation is a sum of one part per factor, the smaller "
           "the error on unseen combinations.", _of(ACROSS, "factorization").above(), LATENT),
    _asked("influence-across-splits", "The more a part of the answer listens to the factor that it does not depend on, "
           "the larger the error.", _of(ACROSS, "influence").above(), GRADIENT),
    _asked("structure-across-splits", "The better the part for one factor can be taken out without the other, the "
           "smaller the error.", _of(ACROSS, "structure").above(), PARTS),
    _asked("kernel-same-rows", "Among networks trained on the same rows, regression on the trained representation "
           "tells who composes.", _of(SAME_ROWS, "kernel").above(), THEORY),
    _asked("factorization-same-rows", "Among networks trained on the same rows, factorization tells who composes.",
           _of(SAME_ROWS, "factorization").above(), LATENT),
    _asked("influence-same-rows", "Among networks trained on the same rows, redundant influence tells who fails.",
           _of(SAME_ROWS, "influence").above(), GRADIENT),
    _asked("structure-same-rows", "Among networks trained on the same rows, structure tells who composes.",
           _of(SAME_ROWS, "structure").above(), PARTS),
    _asked("training-matters", "On the same rows, what training made of the representation tells more than what it was "
           "before.", _better(SAME_ROWS, "kernel_start", "kernel", "untrained kernel", "kernel"), THEORY),
    _asked("kernel-over-influence", "On the same rows, the kernel prediction tells better than influence.",
           _better(SAME_ROWS, "influence", "kernel", "influence", "kernel"), "two lenses that both tell"),
    _asked("kernel-beyond-support", "The kernel prediction says more than the support verdict: its rank correlation "
           "stays when the verdict is held still.", _of(GIVEN_SUPPORT, "kernel").above(), THEORY),
    _asked("influence-beyond-count", "Influence orders networks that saw equally many combinations.",
           _of(GIVEN_COUNT, "influence").above(), GRADIENT),
    *(_asked(f"kernel-beyond-count-{task}", "The kernel prediction orders networks that saw equally many "
             f"combinations ({task}).", _of(GIVEN_COUNT, "kernel", task=task).above(), THEORY)
      for task in (*ADDING, *NOT_ADDING)),
    _asked("kernel-where-answers-add-up", "The kernel prediction orders networks that saw equally many combinations "
          "better on tasks whose answers are sums of one part per factor, as it assumes, than on the others.",
           rising(_by_task(GIVEN_COUNT, "kernel", NOT_ADDING), _by_task(GIVEN_COUNT, "kernel", ADDING),
                  names=("other answers", "answers that add up")), THEORY),
    *(_asked(f"{lens}-beyond-making", f"{what} tells networks apart that saw the same rows, with the size of "
             "their first weights, rate and decay held still (linearly in ranks).",
             _of(GIVEN_MADE, lens).above(), source)
      for lens, what, source in (("kernel", "The kernel prediction", THEORY), ("influence", "Influence", GRADIENT))),
    _asked("one-lens-elsewhere", "One lens is enough: the one that tells most on half of the tasks accounts for more "
           "than half of the variance of ranks among networks trained on the same rows of the others.",
           # A lens that has nothing to do with the error points either way.
           cells(RHO * RHO.abs(), "by_setting", kind=ELSEWHERE, unit=SETTING, within="half", limits=CORRELATION,
                 crossed=True).above(0.5, nothing=0.0),
           "each half of the tasks chooses once", "ρ |ρ|"),
    _asked("together-over-best", "The five together rank the networks of a setting that was left out better than the "
           "best single lens.", rising(_off("together"), _off("single"), names=("five together", "best single lens"),
           pair=SETTING), "is there more than one thing to see?", "of the range of ranks"),
)  # fmt: skip


def looks(networks: pl.DataFrame, by_setting: pl.DataFrame, forecasts: pl.DataFrame) -> pl.DataFrame:
    """One row per claim: its figure, the chance ``p`` of one that far inside the criterion if the truth were where that
    ends, and the same over all claims (``holm``), which look at the same networks."""
    tables = dict(zip(TABLES, (networks, by_setting, forecasts), strict=True))
    found = [measured(claim, tables) for claim in CLAIMS]
    chances = [at_the_edge(claim, *figure) for claim, figure in zip(CLAIMS, found, strict=True)]
    figures = [figure for figure, _ in found]
    columns = {"claim": [claim.id for claim in CLAIMS], "figure": figures, "p": chances, "holm": holm(chances)}
    return pl.DataFrame(columns).with_columns(pl.col("figure").fill_nan(None))


AFTERWARDS = {
    **{f"number-over-{lens}": _better(ACROSS, lens, "share_seen", lens, "number seen")
       for lens in ("kernel", "influence")},
    **{f"{name}-over-number": rising(_off(name), _off("number"), names=(name, "number seen"), pair=SETTING)
       for name in ("single", "together")},
    "kernel-where-answers-add-up-drawn": rising(
        *(_by_task(ON_DRAWN, "kernel", tasks) for tasks in (NOT_ADDING, ADDING)), names=("other", "adding up")),
}  # fmt: skip
"""Differences that were looked at after the results: no claim asks for them."""
ALONE = ("one-lens-elsewhere", *(claim.id for claim in CLAIMS if claim.id.startswith("kernel-beyond-count-")))
"""Claims about one task, or about lenses that the task left out had a say in."""


def afterwards(networks: pl.DataFrame, by_setting: pl.DataFrame, forecasts: pl.DataFrame) -> pl.DataFrame:
    """Looked at after the results: every claim about several tasks without each of them (``without``), whether it is
    the doing of one; and differences that no claim asks for."""
    tables = dict(zip(TABLES, (networks, by_setting, forecasts), strict=True))
    asked = [(name, test, None) for name, test in AFTERWARDS.items()]
    tasks = networks["task"].unique(maintain_order=True).to_list()
    asked += [(claim.id, claim.test, task) for claim in CLAIMS if claim.id not in ALONE for task in tasks]
    rows = []
    for name, test, left in asked:
        kept = {table: rows_.filter(pl.col("task") != (left or "")) for table, rows_ in tables.items()}
        evidence = test.read(kept)
        found = test.criterion.figure(evidence) if min(map(len, evidence.groups)) > 1 else None
        ends = (None, None, None) if found is None else (found.mean, found.low, found.high)
        holds = found is not None and test.criterion.holds(found, None)
        rows.append((name, left, *ends, holds))
    schema = {"look": pl.String, "without": pl.String, **dict.fromkeys(("figure", "low", "high"), pl.Float64),
              "holds": pl.Boolean}  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(pl.col("figure", "low", "high").fill_nan(None))
