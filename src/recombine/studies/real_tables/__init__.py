"""Does the world add up? Cells of real tables are held out, answered by adding up and by whatever might do better, and
compared with what “check” said beforehand.

`registry` says which tables and by which rule, `holes` what is held out, `contest` who answers it how well, `networks`
what ensembles of small networks do and what kernel theory foretells, `collecting` what to collect, `summaries` what it
comes to, `halves` how claims read on either half and by what chance, `closer` what was looked at when results were
known, `again` what `check` as it is now forecasts of the same cells.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from recombine.studies.notes import read_notes
from recombine.studies.real_tables.again import ForecastRun, again
from recombine.studies.real_tables.claims import CLAIMS
from recombine.studies.real_tables.closer import closer
from recombine.studies.real_tables.collecting import CollectingRun
from recombine.studies.real_tables.contest import ContestRun
from recombine.studies.real_tables.figures import FIGURES
from recombine.studies.real_tables.halves import chances, readings
from recombine.studies.real_tables.networks import NetworkRun
from recombine.studies.real_tables.registry import OPENED, registered
from recombine.studies.real_tables.summaries import each, quantiles
from recombine.studies.study import Setting, Study
from recombine.tables import TABLES

LARGEST_TRAINED, LARGEST_COLLECTED = 120, 400
"""Cells up to which networks are trained on a table, and plans are made for it."""


@dataclass(frozen=True)
class Size:
    """Which tables: those with at most so many cells; without ``bought``, of those that come with the package."""

    bought: bool = False
    cells: int = 6_000
    draws: int = 3
    learners: bool = True
    steps: int = 1500
    width: int = 200


def settings(size: Size, members: int | None) -> Mapping[str, Setting]:
    """A contest for each table, small ones first, then what is asked of small tables only."""
    contests, networks, collecting, forecasts = {}, {}, {}, {}
    for name, entry in sorted(registered().items(), key=lambda pair: (pair[1].cells, pair[0])):
        source = entry.source.replace(opened=True) if entry.source.half == "locked" and OPENED else entry.source
        if (not size.bought and name not in TABLES) or entry.cells > size.cells:
            continue
        if source.half == "locked" and not source.opened:
            continue
        labels = {"table": name, "kind": entry.kind, "half": source.half, "factors": len(source.factors)}
        contests[name] = Setting(ContestRun(source=source, draws=size.draws, learners=size.learners), labels)
        forecasts[f"{name}, forecast again"] = Setting(ForecastRun(source=source, draws=size.draws), labels)
        if entry.cells <= LARGEST_TRAINED:
            run = NetworkRun(source=source, members=members or 3, width=size.width, steps=size.steps)
            networks[f"{name}, networks"] = Setting(run, labels)
        if entry.cells <= LARGEST_COLLECTED:
            collecting[f"{name}, collecting"] = Setting(CollectingRun(source=source, draws=size.draws), labels)
    return {**contests, **networks, **collecting, **forecasts}


STUDY = Study(
    name="real-tables",
    title="Does the world add up?",
    question="Real tables of crops, pay, panels, prices, patients: hide some combinations and let the others answer. "
    "How much of what was hidden is the sum of its parts, who does better than adding up, and did “check” say so "
    "beforehand?",
    says="In the median real table the sum of its parts explains some six tenths of what varies among unseen "
    "combinations, on half of the tables less than .05 more than the best single factor, chosen in hindsight; what "
    "“check” forecast of its errors held on tables that it had never seen.",
    paper=None,
    scales={
        "smoke": Size(cells=30, draws=1, learners=False, steps=60, width=32),
        "quick": Size(),
        "paper": Size(bought=True),
    },
    settings=settings,
    tables={"measured": "measured", "cells": "cells", "networks": "networks", "forecasts": "forecasts"},
    derived={
        **{table.__name__: (table, "measured") for table in (each, quantiles, closer)},
        "again": (again, "forecasts"),
        **{table.__name__: (table, "measured", "each") for table in (readings, chances)},
    },
    claims=CLAIMS,
    figures=FIGURES,
    notes=read_notes(__file__),
    lead="how-much",
    in_short=lambda rows: rows.filter(pl.col("kind").str.ends_with(" half")),
)
