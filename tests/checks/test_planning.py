"""Plans against every other plan where they can be listed, and against theory where it is known."""

from __future__ import annotations

import itertools
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from recombine.checks import Purpose, check, plan
from recombine.checks.plans.from_nothing import published
from recombine.checks.plans.optimal import choose, until
from recombine.checks.plans.planned import BOUGHT, BOUGHT_BY_TWO
from recombine.checks.plans.visiting import visiting_order
from recombine.errors import InputError
from recombine.space import FactorSpace


def features(shape):
    grid = np.array(list(itertools.product(*[range(n) for n in shape])))
    return np.hstack([np.ones((len(grid), 1)), *[(grid[:, [k]] == np.arange(1, n)) * 1.0 for k, n in enumerate(shape)]])


def mean_variance(information, asked):
    if np.linalg.matrix_rank(information) < len(information):
        return np.inf
    return float(((asked @ np.linalg.inv(information)) * asked).sum(axis=1).mean())


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from([(2, 2), (2, 3), (2, 2, 2), (3, 3)]), st.integers(1, 4), st.integers(0, 6), st.integers(0, 99),
    st.sampled_from("AD"),
)  # fmt: skip
def test_no_listed_plan_beats_the_bound(shape, budget, trained, seed, criterion):
    rng = np.random.default_rng(seed)
    x = features(shape)
    before = x[:0].T @ x[:0] + sum(
        (np.outer(r, r) for r in x[rng.integers(len(x), size=trained)]), np.zeros((x.shape[1],) * 2)
    )
    found = choose(before, x, x, np.ones(len(x)), budget, criterion)
    assert len(found.rows) == budget
    best = np.inf if criterion == "A" else -np.inf
    for rows in itertools.combinations_with_replacement(range(len(x)), budget):
        information = before + x[list(rows)].T @ x[list(rows)]
        if criterion == "A":
            best = min(best, mean_variance(information, x))
        elif np.linalg.matrix_rank(information) == len(information):
            best = max(best, float(np.linalg.slogdet(information)[1]))
    if not np.isfinite(best):
        assert not np.isfinite(found.mean)
        return
    if criterion == "A":
        assert found.bound <= best * (1 + 1e-9)
        assert best <= found.value * (1 + 1e-9)
        assert found.value <= 1.5 * best  # 1 in most of them
    else:
        assert found.bound >= best - 1e-6
        assert found.value <= best + 1e-9


@pytest.mark.parametrize("factors", [3, 7])
def test_two_levels_get_an_orthogonal_array(factors):
    """Plackett and Burman: 4 and 8 rows for 3 and 7 factors, every variance equal to effects / rows."""
    result = plan({f"f{k}": 2 for k in range(factors)}, factors + 1)
    assert result.plan.after == pytest.approx(1.0)
    assert result.plan.worst == pytest.approx(1.0)
    assert result.plan.bound == pytest.approx(1.0, abs=1e-3)


def test_published_plans_by_hand():
    plans = published(FactorSpace.of(a=3, b=2))
    assert plans["L"].tolist() == [[0, 0], [1, 0], [0, 1], [2, 0]]
    assert plans["stair"].tolist() == [[0, 0], [1, 0], [1, 1], [2, 1]]
    assert plans["diagonal"].tolist() == [[0, 0], [1, 1], [2, 1]]


def test_ours_is_no_worse_than_the_published_ones():
    result = plan({"a": 4, "b": 5, "c": 3}, 20)
    assert result.rank == 10
    for other in result.beside:
        assert other["error"] is None or result.plan.after <= other["error"] + 1e-9
    assert {p["plan"]: p["determined"] for p in result.beside} == pytest.approx(
        {"L": 1, "stair": 1, "diagonal": 5 / 60}
    )
    assert result.plan.bound <= result.plan.after <= 1.1 * result.plan.bound
    few = plan({"a": 4, "b": 5, "c": 3}, 9)
    assert few.sentence() == (
        "9 rows cannot determine every combination; 10 are needed at least. These determine 80 %, if effects add up."
    )
    json.loads(few.to_json())
    assert few.to_frame().shape == (9, 3)


@pytest.mark.parametrize(
    ("shape", "budget", "order"), [((3, 3, 4), 6, 1), ((5, 4, 3), 7, 1), ((2,) * 5, 4, 1), ((5, 5), 5, 2)]
)
@pytest.mark.parametrize("exclude", [[], [{"a": 1, "b": 1}, {"a": 2, "b": 2}]])
def test_too_few_rows_determine_no_less_than_published_plans_do(shape, budget, order, exclude):
    levels = dict(zip("abcde", shape, strict=False))
    found = plan(levels, budget, order=order, exclude=exclude, seed=0)
    assert len(found.plan.cells) == budget
    assert found.plan.after is None
    assert not found.plan.enough
    assert found.determined >= max((other["determined"] for other in found.beside), default=0.0)
    assert found.to_dict()["determined"] == found.determined < 1


def test_every_error_is_brought_below_what_is_asked():
    x = features((3, 4))
    before = x[:6].T @ x[:6]
    rows, fewest = until(before, x, x, 0.3, 1_000, np.array([8], dtype=np.int64))
    information = before + x[rows].T @ x[rows]
    assert ((x @ np.linalg.inv(information)) * x).sum(axis=1).max() <= 0.3 * (1 + 1e-6)
    # Twelve answers of six effects: their variances over the plan's own rows add up to six.
    assert 1 <= fewest <= len(rows)


def test_a_purpose_in_the_units_of_the_answer():
    rng = np.random.default_rng(0)
    table = {"a": rng.integers(3, size=60), "b": rng.integers(3, size=60)}
    table["y"] = table["a"] + table["b"] + 2.0 * rng.normal(size=60)
    result = check(table, ["a", "b"], target="y", purpose=Purpose(error=0.4))
    assert result.plan.enough
    assert result.plan.worst <= 0.4 * (1 + 1e-6)
    assert result.plan.noise == pytest.approx(2.0, rel=0.3)
    assert 1 <= result.plan.fewest <= len(result.plan.cells)
    told = check(table, ["a", "b"], target="y", purpose=Purpose(error=0.4, noise=4.0))
    assert len(told.plan.cells) > 1.5 * len(result.plan.cells)
    said = json.loads(result.to_json())["plan"]
    assert said["error"]["after"] == result.plan.after
    assert said["new_row"]["after"] == pytest.approx(math.hypot(result.plan.after, result.plan.noise))
    assert "a new row, with its own noise, would be" in said["words"]
    assert "forecast" not in said["words"]  # nothing unseen is asked


def test_the_error_of_a_plan_is_told_apart_from_the_forecast_and_can_be_compared_with_it():
    ratios = []
    for seed in range(8):
        rng, cells = np.random.default_rng(seed), np.array(list(itertools.product(range(7), range(6))))
        y = 2 * rng.standard_normal(7)[cells[:, 0]] + 2 * rng.standard_normal(6)[cells[:, 1]] + rng.standard_normal(42)
        answers = np.where(rng.permutation(42) < 12, None, y).tolist()
        table = {"a": cells[:, 0], "b": cells[:, 1], "y": answers}
        result = check(table, ["a", "b"], target="y", draws=9, purpose=Purpose(budget=3))
        assert f"another error, that of the rule “{result.rule}”, which holds the noise" in result.plan.words
        assert result.plan.before < result.plan.noise  # of other answers than the forecast's, which have noise
        ratios.append(result.plan.new_row["before"] / result.forecast.error)
    assert 0.85 < np.median(ratios) < 1.15  # 0.97 of 24 such tables


def test_a_budget_opens_what_is_undetermined_first():
    pieces = {"shape": ["disc", "disc", "square", "star"], "colour": ["red", "blue", "red", "green"]}
    one = check(pieces, ["shape", "colour"], purpose=Purpose(budget=1)).plan
    assert one.enough
    assert one.before is None
    four = check(pieces, ["shape", "colour"], purpose=Purpose(budget=4)).plan
    assert four.after < one.after
    priced = check(
        pieces, ["shape", "colour"], cost={"shape": {"disc": 1, "square": 1, "star": 9}}, purpose=Purpose(budget=5)
    ).plan
    assert priced.costs.sum() <= 5


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 6), st.integers(0, 99))
def test_visiting_against_every_order(cells, seed):
    rng = np.random.default_rng(seed)
    codes, prices = rng.integers(3, size=(cells, 3)), rng.integers(1, 9, size=3).tolist()
    order, path, bound = visiting_order(codes, prices)
    assert sorted(order) == list(range(cells))

    def length(way):
        return sum(float((codes[i] != codes[j]) @ np.array(prices)) for i, j in itertools.pairwise(way))

    best = min(length(way) for way in itertools.permutations(range(cells)))
    assert path == pytest.approx(length(order))
    assert bound <= best + 1e-9 <= path + 2e-9
    assert path <= 1.5 * best + 1e-9


def test_cells_that_cannot_exist_are_neither_asked_nor_collected():
    rows = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1, 2) if not (a and b)]
    table = {name: [row[k] for row in rows] for k, name in enumerate(("InMemory", "Handle", "size"))}
    result = check(table, list(table))
    assert (
        "All 3 missing combinations share InMemory=1 × Handle=1; if they cannot exist, leave them out with "
        "--exclude InMemory=1,Handle=1 (exclude=[{'InMemory': 1, 'Handle': 1}])." in result.notes
    )
    without = check(table, list(table), exclude=[{"InMemory": 1, "Handle": 1}])
    assert (without.verdict, without.total, without.coverage.total(2)[2]) == ("seen", 0, 0)
    assert not any("share" in note for note in without.notes)
    planned = check(table, list(table), exclude=[{"InMemory": 1, "Handle": 1}], purpose=Purpose(budget=6)).plan
    assert not ((planned.cells[:, 0] == 1) & (planned.cells[:, 1] == 1)).any()
    open_grid = {"a": [0, 1], "b": [0, 1]}
    left = check(open_grid, ["a", "b"], exclude=[{"a": 0, "b": 1}])
    assert left.suggestions == [{"a": 1, "b": 0}]


def test_a_level_that_exists_is_not_advised_to_be_left_out():
    rows = [(a, b) for a in range(3) for b in range(3) if a or not b]
    notes = check({"a": [a for a, _ in rows], "b": [b for _, b in rows]}, ["a", "b"]).notes
    assert "All 2 missing combinations share a=0." in notes


def test_two_reasons_for_missing_cells_are_named_and_chance_is_not():
    cells = itertools.product(range(3), range(3), range(3))
    rows = [c for c in cells if c[:2] != (0, 0) and c[1:] != (2, 2)]
    table = {name: [row[k] for row in rows] for k, name in enumerate("abc")}
    (note,) = [n for n in check(table, list("abc")).notes if "missing combinations" in n]
    assert "have one of a=0 × b=0, b=2 × c=2; " in note
    rng = np.random.default_rng(0)
    chance = rng.permutation(np.array(list(itertools.product(range(3), repeat=3))))[:15]
    assert not [n for n in check(chance, ["0", "1", "2"]).notes if "missing combinations" in n]


@pytest.mark.parametrize(
    ("purpose", "word"),
    [
        (Purpose(budget=5, error=1.0), "not both"),
        (Purpose(budget=0), "give 1 …"),
        (Purpose(error=-1.0), "above 0"),
        (Purpose(budget=3, criterion="E"), "give A"),
        (Purpose(budget=3, noise=math.inf), "the noise of one row"),
        (Purpose(budget=3, change={"c": 1.0}), "unknown factor 'c'"),
    ],
)
def test_bad_purposes_are_one_sentence(purpose, word):
    with pytest.raises(InputError, match=word) as caught:
        check({"a": [0, 1, 0], "b": [0, 1, 1]}, ["a", "b"], purpose=purpose)
    assert "\n" not in str(caught.value)


def test_what_is_excluded_altogether_is_said():
    with pytest.raises(InputError, match="every combination is excluded"):
        plan({"a": 2}, 3, exclude=[{"a": 1}, {"a": 2}])


@pytest.mark.parametrize("variance", [0.9, 0.4, 0.25])
def test_no_plan_has_fewer_rows_than_the_bound_and_it_is_near(variance):
    x = np.array([[1.0, a, b] for a in (0, 1) for b in (0, 1)])
    rows, fewest = until(np.zeros((3, 3)), x, x, variance, 1_000, np.array([0, 1, 2], dtype=np.int64))

    def worst(plan: tuple[int, ...]) -> float:
        information = x[list(plan)].T @ x[list(plan)]
        if np.linalg.matrix_rank(information) < 3:
            return np.inf
        return float(((x @ np.linalg.inv(information)) * x).sum(axis=1).max())

    plans = (plan for n in range(3, 30) for plan in itertools.combinations_with_replacement(range(4), n))
    best = len(next(plan for plan in plans if worst(plan) <= variance * (1 + 1e-9)))
    assert fewest <= best <= len(rows)
    assert fewest >= best - 1


def test_where_effects_do_not_add_up_no_row_is_repeated_before_every_asked_cell_is_planned():
    rng = np.random.default_rng(0)
    cells = [(a, b) for a in range(6) for b in range(5)]
    values = {cell: rng.normal(0, 10) for cell in cells}
    seen = [c for c in cells if (c[0] + c[1]) % 3] * 2
    table = {"a": [f"a{a}" for a, _ in seen], "b": [f"b{b}" for _, b in seen]}
    table["y"] = [values[c] + rng.normal(0, 0.1) for c in seen]
    result = check(table, ["a", "b"], target="y", purpose=Purpose(budget=12))
    assert result.verdict == "assumption rejected"
    assert "erred as much as after as many unseen rows drawn at random" in result.plan.words
    sheet = result.run_sheet()
    assert len(sheet.select("a", "b").unique()) >= 10
    assert sorted(map(bool, sheet["repeat"])) == [False] * 10 + [True] * 2  # the ten that were never seen
    until = check(table, ["a", "b"], target="y", purpose=Purpose(error=0.5, noise=1.0))
    assert sum(not said for said in until.plan.repeats) == min(10, len(until.plan.cells))


def test_where_adding_up_is_not_shown_no_error_is_promised_and_what_measuring_all_costs_is_said():
    rng = np.random.default_rng(200_007)
    a, b, g = rng.normal(0, 4, 10), rng.normal(0, 8, 6), rng.normal(0, 4, (10, 6))
    seen = [divmod(int(c), 6) for c in np.sort(np.random.default_rng(0).permutation(60)[:40])]
    table = {"a": [i for i, _ in seen] * 3, "b": [j for _, j in seen] * 3}
    table["y"] = [a[i] + b[j] + g[i, j] + 2 * rng.normal() for i, j in seen * 3]
    result = check(table, ["a", "b"], target="y", purpose=Purpose(error=1.5), draws=9)
    assert result.doubt == "unsupported"
    words = result.plan.words
    assert "no standard error is told that rests on it, as more rows do not average away what it misses" in words
    assert "Measuring each of the 20 asked combinations once costs 20 rows; 3 times (60 rows) is as precise" in words
    assert result.to_dict()["plan"]["doubted"]
    assert sum(not said for said in result.plan.repeats) == min(20, len(result.plan.cells))
    single = {name: column[: len(seen)] for name, column in table.items()}
    alone = check(single, ["a", "b"], target="y", purpose=Purpose(error=1.5), draws=9)
    assert alone.verdict == "determined"
    assert "Too few combinations were measured again to tell noise from what the rule misses" in alone.plan.words
    assert alone.plan.words.endswith("Measuring each of the 20 asked combinations once costs 20 rows.")
    far = check(single, ["a", "b"], target="y", purpose=Purpose(error=4.0), draws=9).plan
    assert "out of reach" not in far.words
    spent = check(single, ["a", "b"], target="y", purpose=Purpose(budget=19), draws=9).plan
    assert "which is not averaged away: such an error may be out of reach (the forecast is " in spent.words


def test_runs_are_in_random_order_unless_changing_a_factor_has_a_price():
    rows = plan({"a": 4, "b": 3}, 9, seed=1)
    again = plan({"a": 4, "b": 3}, 9, seed=2)
    assert sorted(rows.plan.cells.tolist()) == sorted(again.plan.cells.tolist()) != rows.plan.cells.tolist()
    assert rows.plan.cells.tolist() != again.plan.cells.tolist()
    assert rows.run_sheet().columns == ["run", "a", "b", "answer"]
    assert rows.run_sheet("a").columns == ["run", "a", "b", "check: a"]
    assert rows.run_sheet()["a"].to_list() == [str(a + 1) for a in rows.plan.cells[:, 0]]
    assert "random order (seed 1)" in rows.plan.order
    named = {"run": [0, 1, 0], "b": ["x", "x", "y"], "repeat": [1.0, 2.0, 3.0]}
    sheet = check(named, ["run", "b"], target="repeat", purpose=Purpose(budget=2)).run_sheet()
    assert sheet["check: run"].to_list() == [1, 2]
    assert sheet["repeat"].to_list() == [None, None]  # the answers to fill in
    visited = plan({"a": 4, "b": 3}, 9, change={"a": 5.0}, seed=1)
    assert (np.diff(visited.plan.cells[:, 0]) != 0).sum() == 3


def test_a_row_that_adds_nothing_to_what_is_asked_is_no_reason_to_warn():
    """Its worth, which is zero, is below zero by rounding; pytest takes a warning for an error."""
    table = {"a": list("AAbBCA"), "b": list("xyyxyz"), "y": [5.1, 6.0, 7.2, None, 5.0, 5.5]}
    found = check(table, ["a", "b"], target="y", merge_alike=True, purpose=Purpose(budget=6)).plan
    assert found.after == pytest.approx(found.bound)


def test_of_batches_that_each_row_has_its_own_of_it_is_said_that_rows_would_have_past_ones():
    a, b = [f"L{i // 4}" for i in range(8)], [f"S{i % 4}" for i in range(8)]
    own = {"a": a, "b": b, "batch": [f"B{i:03}" for i in range(8)], "y": [float(i) for i in range(8)]}
    result = check(own, ["a", "b", "batch"], target="y", purpose=Purpose(budget=3))
    said = " ".join(result.notes)
    assert "8 of the 8 levels of batch occur in a single row, as those of an identifier do" in said
    assert "rows to collect would have past ones" in said
    assert len(result.plan.cells) == 3  # a ligand may be tried again: no name is believed
    few = {name: column[:7] for name, column in own.items()}
    assert "identifier" not in " ".join(check(few, ["a", "b", "batch"], target="y").notes)
    numbers = own | {"id": list(range(8))}
    assert "identifier" not in " ".join(check(numbers, ["a", "b", "id"], target="y", numeric=["id"]).notes)


def test_what_a_plan_is_said_to_buy_is_what_was_measured():
    table = Path(__file__).parents[2] / "benchmarks" / "results" / "plans-cpu.md"
    ends = [re.findall(r"[0-9.]+", cell) for cell in re.findall(r"\[(.*)\]", table.read_text(encoding="utf-8"))]
    (one_low, _), (_, two_high), every, by_two = ends
    assert f"{one_low} to {two_high} times" in BOUGHT
    assert f"({every[0]} to {every[1]} times)" in BOUGHT
    assert f"({by_two[0]} to {by_two[1]} times)" in BOUGHT_BY_TWO
