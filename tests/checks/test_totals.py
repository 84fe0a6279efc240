"""Levels that are totals of others."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.checks import check
from recombine.checks.slips.totals import Total, called_total, named, totals, words_of
from recombine.support.table import Table, read_tables

INNER = np.array([[5, 8, 2, 11], [9, 17, 3, 1], [3, 4, 1, 26]])


def pivot(inner=INNER, name="Total", hidden=()):
    """Regions × products with the sums of both, some inner cells left out."""
    whole = np.vstack([np.hstack([inner, inner.sum(1, keepdims=True)]), np.append(inner.sum(0), inner.sum())])
    rows = [f"r{i}" for i in range(len(inner))] + [name]
    columns = [f"p{j}" for j in range(inner.shape[1])] + [name]
    cells = [(i, j) for i in range(len(rows)) for j in range(len(columns)) if (i, j) not in hidden]
    return {
        "region": [rows[i] for i, _ in cells],
        "product": [columns[j] for _, j in cells],
        "y": [float(whole[i, j]) for i, j in cells],
    }


def read(table) -> Table:
    return read_tables([table], [n for n in table if n != "y"], target="y", target_kind="number")[0]


def found(table) -> dict[str, list[object]]:
    train = read(table)
    return named(totals(train, ()), train.space)


def test_the_margins_of_a_pivot_are_named_with_what_leaves_them_out():
    result = check(pivot(hidden=[(0, 1), (2, 3)]), ["region", "product"], target="y", draws=9)
    assert result.totals == {"region": ["Total"], "product": ["Total"]} == result.to_dict()["totals"]
    (note,) = [n for n in result.notes if "is the sum of" in n]
    assert note == (
        "region Total is the sum of the other levels (in all 3 places where these were all seen); product Total is the "
        "sum of the other levels (in all 2 places where these were all seen): totals count as good combinations, stand "
        "in for others and widen what answers differ by; leave them out with --exclude region=Total --exclude "
        "product=Total (exclude=[{'region': 'Total'}, {'product': 'Total'}]) and check again."
    )
    said = "Some levels are totals of others (region Total, product Total): leave them out with --exclude region=Total"
    assert said in result.sentence()


def test_nothing_is_determined_while_totals_are_in():
    rng = np.random.default_rng(0)
    inner = rng.poisson(np.outer(np.exp(rng.normal(4, 0.5, 6)), np.exp(rng.normal(0, 0.4, 5))))
    table = pivot(inner, hidden=[(i, i) for i in range(5)])
    result = check(table, ["region", "product"], target="y", draws=9)
    assert result.verdict == "assumption unsupported"
    assert "that is not shown: some levels are totals of others, a note names them" in result.sentence()
    exclude = [{"region": "Total"}, {"product": "total"}]
    without = check(table, ["region", "product"], target="y", draws=9, exclude=exclude)
    kept = [i for i, row in enumerate(zip(table["region"], table["product"], strict=True)) if "Total" not in row]
    alone = check({n: [v[i] for i in kept] for n, v in table.items()}, ["region", "product"], target="y", draws=9)
    assert without.totals == {}
    assert without.verdict == alone.verdict
    assert without.verdict.startswith("determined")
    assert without.forecast.error == alone.forecast.error
    assert without.space == alone.space
    assert "12 rows with what is excluded" in " ".join(without.notes)


@pytest.mark.parametrize("name", ["Total", "grand total", "All", "Summe", "Total sales", "合计", "Overall:"])
def test_totals_are_known_by_many_names(name):
    assert called_total(name)
    assert found(pivot(name=name)) == {"region": [name], "product": [name]}


@pytest.mark.parametrize("name", ["Average", "north", "Totally", "almond", "summer", "overalls", 7])
def test_other_names_are_no_totals(name):
    assert not called_total(name)


def test_averages_and_totals_that_are_none_are_not_named():
    table = pivot(INNER)
    means = {n: [*v] for n, v in table.items()}
    means["y"] = [
        y / (3 if r == "Total" else 1) / (4 if p == "Total" else 1) for r, p, y in zip(*table.values(), strict=True)
    ]
    assert found(means) == {}
    with_mean = {n: [*v, *more] for (n, v), more in zip(
        table.items(), (["r0", "r1", "r2"], ["Average"] * 3, (INNER.mean(1)).tolist()), strict=True
    )}  # fmt: skip
    assert found(with_mean) == {"region": ["Total"], "product": ["Total"]}
    assert found(pivot(INNER) | {"y": [7.0] * 20}) == {}


def test_totals_of_some_levels_need_no_name():
    rng = np.random.default_rng(1)
    sectors = {n: rng.integers(1_000, 9_000, 12).astype(float) for n in ("mining", "building", "trade", "health")}
    sectors["goods"] = sectors["mining"] + sectors["building"]
    sectors["jobs"] = sectors["goods"] + sectors["trade"] + sectors["health"]
    table = {"sector": np.repeat([*sectors], 12), "month": [*range(12)] * 6, "y": np.concatenate([*sectors.values()])}
    train = read(table)
    sums = totals(train, ())
    assert named(sums, train.space) == {"sector": ["goods", "jobs"]}
    (note,) = words_of(sums, train.space)
    assert "sector goods is the sum of building and mining (in all 12 places" in note
    assert [t.holds for t in sums] == [t.places for t in sums] == [12, 12]


def test_a_level_with_a_comma_can_be_left_out():
    train = read(pivot(name="All, in total"))
    (note,) = words_of([Total(0, train.space["region"].code("All, in total"), (), 2, 2)], train.space)
    assert """--exclude '"region=All, in total"'""" in note


def noisy(rng, kind):
    """Levels × places of which no level is a total."""
    levels, places = int(rng.integers(2, 8)), int(rng.integers(3, 12))
    a, b, e = rng.normal(size=(levels, 1)), rng.normal(size=(1, places)), rng.normal(size=(levels, places))
    return {
        "added": 10 + 2 * a + 2 * b + e,
        "few": rng.poisson(rng.choice([0.1, 0.5, 2, 20]) * np.exp(0.5 * a + 0.5 * b)),
        "exact": rng.integers(0, 4, (levels, 1)) + rng.integers(0, 4, (1, places)),
        "doses": np.arange(1, levels + 1)[:, None] * rng.integers(1, 20, (1, places)),
        "lines": rng.integers(0, 4, (levels, 1)) + rng.integers(0, 4, (levels, 1)) * rng.integers(0, 9, (1, places)),
        "ratings": rng.integers(1, 4, (levels, places)),
        "constant": np.full((levels, places), float(rng.integers(0, 2))),
        "some": np.where(np.arange(levels)[:, None] < 2, rng.poisson(3, (levels, places)), 0),
    }[kind]  # fmt: skip


@pytest.mark.parametrize("kind", ["added", "few", "exact", "doses", "lines", "ratings", "constant", "some"])
def test_tables_without_totals_have_none_named(kind):
    rng = np.random.default_rng(3)
    for _ in range(20):
        y = noisy(rng, kind)
        there = np.argwhere(rng.random(y.shape) < rng.choice([0.7, 1.0]))
        names = np.array(["All" if kind == "added" else "north", *"abcdefg"])
        if len(there) > 2:
            table = {"a": names[there[:, 0]], "b": [f"p{j}" for _, j in there], "y": y[tuple(there.T)].astype(float)}
            assert found(table) == {}
