"""Four real tables that come with the package: small enough to read, old enough to be known.

barley            variety 10 × site 6 × year 2 → yield (bushels per acre), complete. Immer, Hayes & Powers 1934;
                  Cleveland (1993) argues that the two years of one site were swapped
buchwald_hartwig  ligand 4 × additive 22 × base 3 × halide 15 → yield (%), 3 955 of 3 960 cells. Ahneman, Estrada, Lin,
                  Dreher & Doyle, Science 360 (2018); levels are numbered
glue              Model 8 × Task 8 → Score, complete. GLUE leaderboard, 2018–2019
titanic           class 3 × who 3 × embark_town 3 → alive, 889 rows. Passenger list
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from recombine.errors import unknown


@dataclass(frozen=True)
class RealTable:
    """A table, its factors and its answer."""

    name: str
    factors: tuple[str, ...]
    target: str

    @property
    def path(self) -> Path:
        return Path(str(files(__name__) / f"{self.name}.csv"))


TABLES = {
    table.name: table
    for table in (
        RealTable("barley", ("variety", "site", "year"), "yield"),
        RealTable("buchwald_hartwig", ("ligand", "additive", "base", "halide"), "yield"),
        RealTable("glue", ("Model", "Task"), "Score"),
        RealTable("titanic", ("class", "who", "embark_town"), "alive"),
    )
}


def real_table(name: str) -> RealTable:
    """One of the tables by its name."""
    if name not in TABLES:
        raise unknown("table", name, sorted(TABLES))
    return TABLES[name]


__all__ = ["TABLES", "RealTable", "real_table"]
