"""How the claims read the study's tables: members that fitted, two settings side by side, the end of training."""

from __future__ import annotations

import polars as pl

from recombine.measures.resistance import at_the_end, resistance
from recombine.studies.claims import Evidence, Tables

OURS = "not in the paper: added here"


def fitted(table: pl.DataFrame) -> pl.DataFrame:
    return table.filter(pl.col("fitted").fill_null(True))


def count(table: pl.DataFrame) -> int:
    return table["member"].n_unique()


def settings(tables: Tables, name: str, *titles: str) -> list[pl.DataFrame]:
    """The rows of each setting of a table; none where its run is not there at this scale."""
    return [tables[name].filter(pl.col("setting") == title) for title in titles]


def compared(
    tables: Tables,
    name: str,
    redundant: str,
    control: str,
    column: str,
    until: int | None = None,
    score: str = "accuracy",
) -> Evidence:
    """One figure a member of `resistance` between two settings."""
    a, b = settings(tables, name, redundant, control)
    found = resistance(fitted(a), fitted(b), until, score)
    return Evidence.of(found[column], members=count(a))


def gaps(tables: Tables, name: str, a: str, b: str) -> Evidence:
    """The gap between trained and unseen at the end, in B and in A."""
    sides = [
        at_the_end(fitted(mine)).select("member", gap=pl.col("trained") - pl.col("unseen"))
        for mine in settings(tables, name, b, a)
    ]
    both = sides[0].join(sides[1], on="member", suffix="_a").sort("member")
    (redundant,) = settings(tables, name, a)
    return Evidence.of(both["gap"], both["gap_a"], members=count(redundant), paired=True)


def end_pair(rows: pl.DataFrame, column: str, first: str, second: str) -> Evidence:
    """A column at the end of training in two settings, by member."""
    sides = [fitted(rows.filter(pl.col("setting") == title)) for title in (first, second)]
    ends = [side.filter(pl.col("step") == pl.col("step").max()).select("member", column) for side in sides]
    return paired(ends[0], ends[1], column, members=count(rows.filter(pl.col("setting") == second)))


def paired(first: pl.DataFrame, second: pl.DataFrame, column: str, members: int) -> Evidence:
    """A column of two tables of one row a member, for the members that both have."""
    both = first.join(second, on="member", suffix="_second").sort("member")
    return Evidence.of(both[column], both[f"{column}_second"], members=members, paired=True)
