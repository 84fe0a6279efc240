"""Days that shift the answer: what is said without the shifts is said with them."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest
from planted_tables import additive, grid, seen_part

from recombine.checks import CheckResult, Purpose, check
from recombine.checks.columns.blocks import without_shifts
from recombine.cli.check_table import print_queries
from recombine.errors import InputError
from recombine.support.table import read_tables

NAMES = ["f0", "f1", "f2"]


def shifted(seed: int, spread: float = 3.0, days: int = 5):
    """An additive table with noise, the same with shifts of days, and these."""
    codes, rng = seen_part((5, 5, 2), seed)[0], np.random.default_rng(seed)
    y = additive(codes, (5, 5, 2), seed) + 0.5 * rng.standard_normal(len(codes))
    day, shift = rng.permutation(np.arange(len(codes)) % days), spread * rng.standard_normal(days)
    table = {name: codes[:, k].astype(str) for k, name in enumerate(NAMES)}
    return {**table, "y": y}, {**table, "day": [f"d{d}" for d in day], "y": y + shift[day]}, shift


@cache
def moved(seed: int) -> CheckResult:
    """Of the table with shifts, and a plan of five rows."""
    return check(shifted(seed)[1], NAMES, target="y", draws=9, blocks="day", purpose=Purpose(budget=5))


def test_with_blocks_a_table_with_shifts_is_judged_as_the_one_without():
    ratios = []
    for seed in range(2):
        plain, days, shift = shifted(seed)
        still, blocked = check(plain, NAMES, target="y", draws=9), moved(seed)
        assert blocked.verdict == still.verdict
        ratios.append(blocked.forecast.error / still.forecast.error)
        assert blocked.shifts.spread == pytest.approx(np.std(shift, ddof=1), rel=0.2)
        said = {q.codes: q.prediction for q in still.queries}
        off = [q.prediction - said[q.codes] - shift.mean() for q in blocked.queries]  # answers of an average day
        assert np.sqrt(np.mean(np.square(off))) < 0.4
    assert 0.9 < np.median(ratios) < 1.1
    wild = check(days, NAMES, target="y", draws=9)
    assert wild.forecast.error > 2 * still.forecast.error


def test_a_row_of_a_new_day_has_a_wider_range_and_all_places_name_the_day():
    _, days, _ = shifted(0)
    result = moved(0)
    alone = check(days, NAMES, target="y", draws=9, blocks="day", purpose=Purpose(budget=1))
    assert (alone.plan, alone.forecast is None) == (None, False)
    assert "one row alone on a new day" in alone.unplanned
    assert all(q.row_high - q.row_low > 2 * (q.high - q.low) for q in result.queries if q.low is not None)
    assert "day" not in result.space.names
    assert "This is of an average day." in result.sentence()
    record = json.loads(result.to_json())
    assert record["blocks"]["columns"] == ["day"] == record["settings"]["blocks"]
    assert record["blocks"]["blocks"] == 5
    assert any(note.startswith("shifts of day (standard deviation") for note in record["notes"])


def test_a_plan_is_for_one_new_day_whose_shift_is_estimated_with_it():
    _, days, _ = shifted(0)
    plan = moved(0).plan
    cells, whole = np.stack([np.array(days[name], int) for name in NAMES], axis=1), grid(5, 5, 2)
    day = np.array([int(d[1:]) for d in days["day"]])

    def features(codes, of_days):
        return np.hstack([*(np.eye(n)[codes[:, k]] for k, n in enumerate((5, 5, 2))), of_days])

    rows = features(np.vstack([cells, plan.cells]), np.eye(6)[np.concatenate([day, np.full(5, 5)])])
    asked = features(whole, np.full((50, 6), 1 / 6))
    variances = ((asked @ np.linalg.pinv(rows.T @ rows)) * asked).sum(axis=1)
    assert plan.after == pytest.approx(plan.noise * np.sqrt(variances.mean()))
    assert plan.after > plan.bound > 0
    assert plan.new_row["after"] == pytest.approx(np.hypot(np.hypot(plan.after, plan.noise), plan.shift[1]))
    assert "after 5 rows on one new day" in plan.words
    assert "on a further day" in plan.words
    known, asked = rows[:-5, :-1], features(whole, np.full((50, 5), 1 / 5))
    before = ((asked @ np.linalg.pinv(known.T @ known)) * asked).sum(axis=1)
    assert plan.before == pytest.approx(plan.noise * np.sqrt(before.mean()))
    # However many are collected, the other days are known by their own rows: the mean of each to 1 / its rows.
    few = check(days, NAMES, target="y", draws=9, blocks="day", purpose=Purpose(error=0.01, noise=plan.noise)).plan
    assert few.floor == pytest.approx(few.noise * np.sqrt((1 / np.bincount(day)).sum()) / 6)
    assert (few.enough, len(few.cells)) == (False, 0)
    assert "out of reach" in few.words


def test_on_a_new_day_what_is_open_takes_one_row_more():
    rng = np.random.default_rng(0)
    cells = np.array([c for c in np.repeat(grid(4, 4), 3, axis=0) if (c[0] < 2) == (c[1] < 2)])  # two pieces
    day = rng.permutation(np.arange(len(cells)) % 3)
    table = {"f0": cells[:, 0].astype(str), "f1": cells[:, 1].astype(str), "day": day}
    table["y"] = cells.sum(axis=1) + day + 0.1 * rng.standard_normal(len(cells))
    result = check(table, ["f0", "f1"], target="y", draws=9, blocks="day")
    assert result.advice.needed == 1
    assert "on a new day repeat a seen one besides" in result.advice.method
    for purpose in (Purpose(budget=2), Purpose(error=0.2)):
        plan = check(table, ["f0", "f1"], target="y", draws=9, blocks="day", purpose=purpose).plan
        step = (plan.cells[:, 0] < 2).astype(int) - (plan.cells[:, 1] < 2)  # from piece to piece, or none
        assert plan.enough
        assert len(set(step)) > 1


def test_the_spread_of_days_that_shift_nothing_is_not_their_noise():
    squares = []
    for seed in range(8):
        rng, cells = np.random.default_rng(seed), grid(6, 5)
        table = {"a": cells[:, 0].astype(str), "b": cells[:, 1].astype(str), "day": rng.permutation(30) % 6}
        tables = read_tables([{**table, "y": rng.standard_normal(30)}], ["a", "b", "day"], target="y")
        squares.append(without_shifts(tables, ["day"], 1, {})[1].spread ** 2)
    assert np.mean(squares) < 0.15  # of estimates: 1/5 and more


def test_answers_of_known_days_are_compared_without_their_shift_and_of_new_ones_as_they_are():
    _, days, _ = shifted(1)
    held = np.arange(len(days["y"])) % 7 == 0
    part = {**days, "part": np.where(held, "test", "train")}
    known = check(part, NAMES, target="y", draws=9, blocks="day", split="part=test").forecast.realised
    assert known["error"] < 1.5
    new = {**part, "day": [f"n{d}" if h else d for d, h in zip(part["day"], held, strict=True)]}
    result = check(new, NAMES, target="y", draws=9, blocks=["day"], split="part=test")
    assert result.forecast.realised["error"] > 1.5
    assert result.shifts.new == held.sum()


@pytest.mark.parametrize("whole", [False, True])
def test_a_test_table_need_not_name_the_day(whole):
    """Its answers are those of an average day; a day written as a number is no different."""
    _, days, _ = shifted(1)
    days = {**days, "day": [int(d[1:]) for d in days["day"]] if whole else days["day"]}
    asked = {name: ["0", "1", "2"] for name in NAMES[:2]} | {NAMES[2]: ["0", "1", "1"]}
    told = check(days, NAMES, target="y", draws=9, blocks="day", test=asked)
    with_day = check(days, NAMES, target="y", draws=9, blocks="day", test={**asked, "day": [days["day"][0]] * 3})
    assert [q.prediction for q in told.queries] == pytest.approx([q.prediction for q in with_day.queries])
    assert told.shifts.blocks == with_day.shifts.blocks == 5
    assert told.shifts.new_one.endswith("a new day, by the shifts of 5")
    answered = check(days, NAMES, target="y", draws=9, blocks="day", test={**asked, "y": [0.0, 1.0, 2.0]})
    assert answered.shifts.new == 3
    with pytest.raises(InputError, match="in the test table: unknown column 'f2'"):
        check(days, NAMES, target="y", blocks="day", test={name: ["0"] for name in NAMES[:2]})


def test_shifts_that_cannot_be_told_from_a_factor_are_refused_in_one_sentence():
    plain, days, _ = shifted(2)
    with pytest.raises(InputError, match="cannot be told from effects of the factors") as caught:
        check({**plain, "day": plain["f0"]}, NAMES, target="y", blocks="day")
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="every answered row has a day of its own, so no shift can be told"):
        check({**plain, "day": np.arange(len(plain["y"]))}, NAMES, target="y", blocks="day")
    with pytest.raises(InputError, match="too few for"):
        check({name: column[:14] for name, column in days.items()}, NAMES, target="y", blocks="day")
    with pytest.raises(InputError, match="answers that are numbers"):
        check({**days, "y": ["yes", "no"] * (len(days["y"]) // 2) + ["yes"] * (len(days["y"]) % 2)}, NAMES,
              target="y", blocks="day")  # fmt: skip


def test_a_row_alone_on_its_day_is_left_out_and_changes_nothing():
    _, days, _ = shifted(0)
    one = {"f0": ["0"], "f1": ["0"], "f2": ["0"], "day": ["new"], "y": [99.0]}
    longer = {name: [*column, *one[name]] for name, column in days.items()}
    before, after = moved(0), check(longer, NAMES, target="y", draws=9, blocks="day")
    assert (after.shifts.lone, before.shifts.lone) == (1, 0)
    assert [q.prediction for q in after.queries] == pytest.approx([q.prediction for q in before.queries])
    assert "1 row is alone in a day and left out" in after.shifts.words


def trial(seed: int, spread: float = 1.0):
    """Ten varieties in six sites of three blocks; two rows of most combinations, and the truth of an average block."""
    rng, cells = np.random.default_rng(seed), grid(10, 6)
    mean = additive(cells, (10, 6), seed)
    shift = spread * rng.standard_normal((6, 3))
    shift -= shift.mean(axis=1, keepdims=True)
    seen = np.repeat(np.flatnonzero((cells.sum(axis=1) % 3 > 0) | (cells[:, 0] == 0)), 2)
    block = np.concatenate([rng.permutation(3)[:2] for _ in range(len(seen) // 2)])
    site = cells[seen, 1]
    table = {"variety": cells[seen, 0].astype(str), "site": site.astype(str), "rep": block.astype(str)}
    table["block"] = [f"{s}-{b}" for s, b in zip(site, block, strict=True)]
    table["y"] = mean[seen] + shift[site, block] + 0.2 * rng.standard_normal(len(seen))
    return table, {tuple(c): float(m) for c, m in zip(cells.tolist(), mean, strict=True)}


def off(result: CheckResult, truth) -> float:
    return float(np.sqrt(np.mean([(q.prediction - truth[tuple(q.codes)]) ** 2 for q in result.queries])))


def test_blocks_inside_sites_are_told_within_them():
    names, errors = ["variety", "site"], []
    for seed in range(3):
        table, truth = trial(seed, 2.0)
        whole = check(table, names, target="y", draws=9, blocks="block")
        errors.append((off(whole, truth), off(check(table, names, target="y", draws=9), truth)))
        assert (whole.shifts.inside, whole.shifts.blocks, whole.shifts.parts) == (("site",), 18, 6)
    with_blocks, without = np.mean(errors, axis=0)
    assert with_blocks < 0.2 < without
    anew = check(table, names, target="y", draws=9, blocks="site:rep")
    assert [q.prediction for q in anew.queries] == pytest.approx([q.prediction for q in whole.queries])
    said = whole.shifts.words
    assert "an average block of its site" in said
    assert "Each block lies in one site" in said
    assert "Plans are for" not in said
    unplanned = check(table, names, target="y", draws=9, blocks="block", purpose=Purpose(budget=4))
    assert (unplanned.plan, unplanned.forecast.error) == (None, whole.forecast.error)
    assert "each lies in one site: plan for the rows of one site" in unplanned.to_dict()["unplanned"]


def test_the_first_lines_say_what_to_expect_of_other_blocks_than_those_of_each_site():
    table, _ = trial(0, 2.0)
    names = ["variety", "site"]
    result = check(table, names, target="y", draws=9, blocks="block")
    told = result.forecast
    assert told.other_blocks == pytest.approx(np.hypot(told.error, result.shifts.spread * (2 * 6 / 18) ** 0.5))
    first = "Each block lies in one site, and this is for the same ones: for as many others expect about "
    assert f"{first}{told.other_blocks:.3g} (up to about" in result.sentence()
    assert told.error_many_rows > told.error
    assert "very many rows" not in result.sentence()
    limit = (told.error + told.other_blocks) / 2
    assert result.fails([f"error={limit}"])
    assert told.worst_high > told.other_blocks
    crossed = check(table, names, target="y", draws=9, blocks="rep")
    assert crossed.forecast.other_blocks is None
    assert "as many others" not in crossed.sentence()


def test_the_spread_of_blocks_inside_sites_is_that_within_them():
    def told(spread: float) -> list[float]:
        columns = ["variety", "site", "block"]
        tables = [read_tables([trial(s, spread)[0]], columns, target="y") for s in range(6)]
        return [without_shifts(one, ["block"], 1, {})[1].spread for one in tables]

    assert 0.7 < np.mean(told(1.0)) < 1.3
    assert np.mean(told(0.0)) < 0.1


def test_complete_blocks_leave_means_as_they_are_and_stretch_rows_by_their_freedom():
    rng = np.random.default_rng(4)
    cells = np.stack(np.meshgrid(np.arange(4), np.arange(5), indexing="ij"), -1).reshape(-1, 2)
    block = np.tile(np.arange(3), len(cells))
    rows = np.repeat(np.arange(len(cells)), 3)
    y = cells[rows] @ [1.0, 2.0] + np.array([-2.0, 0.0, 2.0])[block] + rng.standard_normal(len(rows))
    table = {"a": cells[rows, 0].astype(str), "b": cells[rows, 1].astype(str), "day": block.astype(str), "y": y}
    (told, *_), _ = without_shifts(read_tables([table], ["a", "b", "day"], target="y"), ["day"], 1, {})
    means = np.array([y[rows == i].mean() for i in range(len(cells))])
    assert told.target is not None
    assert told.target.mean == pytest.approx(means, abs=1e-9)
    days = np.array([y[block == d].mean() for d in range(3)]) - y.mean()
    within = ((y - means[rows] - days[block]) ** 2).sum()
    assert told.target.spread.sum() == pytest.approx(within * 40 / 38)  # two of forty are spent on three days


def test_rows_that_ask_need_no_block():
    table, _ = trial(0, 2.0)
    seen = {(v, s) for v, s in zip(table["variety"], table["site"], strict=True)}
    asked = [(v, s) for v in sorted(set(table["variety"])) for s in sorted(set(table["site"])) if (v, s) not in seen]
    more = {"variety": [v for v, _ in asked], "site": [s for _, s in asked]}
    more |= {name: [None] * len(asked) for name in ("block", "rep", "y")}
    rows = {name: [*table[name], *more[name]] for name in table}
    for blocks in ("block", "site:rep"):
        with_blanks, without = (check(one, ["variety", "site"], target="y", draws=9, blocks=blocks)
                                for one in (rows, table))  # fmt: skip
        assert len(with_blanks.queries) == len(asked)
        known = {tuple(q.codes): q.prediction for q in without.queries}
        assert [known[tuple(q.codes)] for q in with_blanks.queries] == [q.prediction for q in with_blanks.queries]
    rows["block"][0] = None
    with pytest.raises(InputError, match="column 'block' has 1 missing value"):
        check(rows, ["variety", "site"], target="y", draws=9, blocks="block")


def test_rows_asked_on_a_day_that_training_lacks_are_said_one_by_one(capsys):
    _, days, _ = shifted(0)
    seen = set(zip(*(days[name] for name in NAMES), strict=True))
    asked = [cell for cell in grid(5, 5, 2).astype(str).tolist() if tuple(cell) not in seen][:3]
    columns = dict(zip(NAMES, zip(*asked, strict=True), strict=True))
    test = {**columns, "day": ["d1", "d9", None], "y": [None] * 3}
    result = check(days, NAMES, target="y", draws=9, blocks="day", test=test)
    where = [tuple(map(str, result.combination(q.codes).values())) for q in result.queries]
    words = dict(zip(where, result.to_frame()["words"], strict=True))
    new = "asked of a day whose shift training does not tell: the answer is that of an average day"
    assert [new in words[tuple(cell)] for cell in asked] == [False, True, False]
    assert sum("1 asked row is of a day whose shift training does not tell" in note for note in result.notes) == 1
    print_queries(result)
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[3] for line in printed if line.startswith(tuple("01234"))].count("new") == 1
    assert any(line.startswith("day new: training does not tell its shift") for line in printed)


def test_a_test_table_needs_no_block_that_is_cut_into_bins():
    _, days, _ = shifted(0)
    cut = {**days, "day": [float(day[1:]) for day in days["day"]]}
    asked = {name: ["4", "3"] for name in NAMES[:2]} | {"f2": ["1", "0"]}
    how = {"target": "y", "draws": 9, "blocks": "day", "bins": {"day": 3}}
    without = check(cut, NAMES, test=asked, **how)
    some = check(cut, NAMES, test={**asked, "day": [0.0, 0.0]}, **how)
    assert [q.prediction for q in without.queries] == [q.prediction for q in some.queries]
    assert not without.shifts.unshown.rows
    cut["day"][0] = None
    with pytest.raises(InputError, match="column 'day' has 1 missing value"):
        check(cut, NAMES, test=asked, **how)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"blocks": "a"}, "'a' cannot be both a factor and a block"),
        ({"blocks": ["a:b"]}, "'b' cannot be both a factor and a block"),
        ({"blocks": "y"}, "'y' cannot be both the target and a block"),
        ({"split": "y=1"}, "'y' cannot be both the target and the column that says which rows are asked about"),
    ],
)
def test_a_column_with_two_parts_is_named(options, said):
    table = {"a": ["r", "r", "s", "s"], "b": ["u", "v", "u", "v"], "y": [1.0, 2.0, 3.0, 4.0]}
    with pytest.raises(InputError, match=said):
        check(table, ["a", "b"], target="y", **options)
