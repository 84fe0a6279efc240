"""Answers that may be slips: named where they were planted, not in clean tables, with the forecast without them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from planted_tables import additive, grid, table

from recombine.checks import check
from recombine.checks.as_read import shown
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.slips.outliers import TAIL, outliers, rows_apart
from recombine.checks.slips.without import _worse
from recombine.checks.slips.words import far_in, slips_in
from recombine.cli.check_facts import facts
from recombine.reporting.check import check_page
from recombine.support.table import Target, read_tables


def named(table):
    read = read_tables([table], ["a", "b"], target="y")[0]
    return slips_in(read, Identifiability(read.codes, read.space.shape, 1))[0]


def test_a_slip_of_the_decimal_point_is_named_and_plain_tables_have_none():
    """Of normal and lognormal tables fewer than one in twenty has an answer said to be far off."""
    rng = np.random.default_rng(0)
    cells = np.array([(a, b) for a in range(5) for b in range(4)])
    named = 0
    for i in range(200):
        codes = rng.permutation(cells)[:12]
        z = rng.normal(size=5)[codes[:, 0]] + rng.normal(size=4)[codes[:, 1]] + 0.4 * rng.normal(size=12)
        y = np.exp(3 + z) if i % 2 else 100 + 5 * z
        named += bool(outliers(Target("y", None, np.ones(12, int), y, np.zeros(12))))
        slipped = np.where(np.arange(12) == 7, 10, 1) * (100 + 5 * z)
        assert outliers(Target("y", None, np.ones(12, int), slipped, np.zeros(12))) == [7]
    assert named <= 10
    table = {"a": codes[:, 0], "b": codes[:, 1], "y": slipped.round(1)}
    (note,) = [n for n in check(table, ["a", "b"], target="y").notes if "far from all others" in n]
    assert f"of ({codes[7, 0]}, {codes[7, 1]}) lies far from all others: look for a slip" in note


def test_a_long_tail_has_a_farthest_answer_too_which_is_said_to_lie_far_and_no_more():
    """Deviations of 1 and, farther out, 4: 8, 10 and 13 are 2, 2.5 and 3.25 times as far as any other."""
    rest = np.array([-1.0, 1] * 10 + [-4.0, 0])
    for off, apart, far in ((7.9, False, False), (10.0, False, True), (13.0, True, True)):
        target = Target("y", None, np.ones(23, int), np.append(1_000 + rest, 1_000 + off), np.zeros(23))
        assert (outliers(target) == [22], outliers(target, TAIL) == [22]) == (apart, far)
    a, b = np.divmod(np.arange(23), 5)
    table = {"a": a.astype(str), "b": b.astype(str), "y": np.append(1_000 + rest, 1_010.0)}
    result = check(table, ["a", "b"], target="y", draws=9)
    (note,) = [n for n in result.notes if "far from the others" in n]
    assert note.startswith("the answer 1,010 of (4, 2) lies far from the others, though no farther than a long tail")
    assert (result.slips, "slip" in result.sentence()) == (0, False)


def test_levels_seen_together_in_one_row_alone_that_lies_off_the_sum_may_be_a_slip_or_act_together():
    """At 2 to 3 times as far as any other both are said in a note, from 3 times on in the first lines too."""
    codes = np.array([cell for cell in grid(6, 5, 2) if (cell[0], cell[1]) != (2, 3) or not cell[2]])
    for off, slips in ((0.0, 0), (8.0, 0), (16.0, 1)):
        y = 200 + 6 * additive(codes, (6, 5, 2), 1) + np.random.default_rng(1).standard_normal(len(codes))
        y[np.flatnonzero((codes[:, 0] == 2) & (codes[:, 1] == 3))] += off
        train = read_tables([table(codes, y)], ["a", "b", "c"], target="y")[0]
        known = Identifiability(train.codes, train.space.shape, 1)
        said = [slips_in(train, known)[0], far_in(train, known)]
        assert [len(found) for found in said] == [slips, int(off > 0)]
        both = "a a2 with b b3, seen together in this row alone, may lie apart"
        assert all(both in note for found in said for note in found)


@pytest.mark.parametrize("noise", ["t", "exponential", "lognormal"])
def test_where_nothing_acts_a_long_tail_is_seldom_taken_for_a_slip(noise):
    """4 % are; by the farthest answer alone it was 22, 16 and 49 of 100."""
    named = 0
    for seed in range(100):
        rng = np.random.default_rng([seed, 5])
        y = {"t": rng.standard_t(3, 48), "exponential": rng.exponential(size=48), "lognormal": rng.lognormal(size=48)}
        named += bool(outliers(Target("y", None, np.ones(48, int), 10 + y[noise], np.zeros(48))))
    assert named <= 8


def test_a_slip_in_one_row_is_seen_beside_the_others_of_its_combination_and_plain_tables_have_none():
    """Also of noise with long tails fewer than one table in twenty has a row said to be far off."""
    rng, named = np.random.default_rng(0), 0

    def target(rows):
        ends = np.stack([rows.min(axis=1), rows.max(axis=1)], axis=1)
        count, mean = np.full(len(rows), rows.shape[1]), rows.mean(axis=1)
        return Target("y", None, count, mean, ((rows - mean[:, None]) ** 2).sum(axis=1), False, ends)

    for i in range(200):
        size = (20, 2 + i % 3)
        noise = rng.standard_t(3, size) if i % 2 else rng.normal(size=size)
        rows = rng.normal(100, 10, (20, 1)) + 2 * noise
        named += bool(rows_apart(target(rows)))
        slipped = rng.normal(100, 10, (20, 1)) + 2 * rng.normal(size=size)
        slipped[7, 1] *= 10 if i % 4 < 2 else 0.1
        ((cell, said),) = rows_apart(target(slipped))
        assert (cell, slipped[7, 1] in said) == (7, True)
    assert named <= 10
    table = {"a": np.repeat(np.arange(20) // 4, 3), "b": np.repeat(np.arange(20) % 4, 3), "y": slipped.ravel().round(1)}
    table = {name: np.append(v, extra) for (name, v), extra in zip(table.items(), ([5], [0], [100.0]), strict=True)}
    result = check(table, ["a", "b"], target="y")
    assert "lies far from the other rows of its combination: look for a slip" in result.notes[0]
    assert check_page(result).index("other rows of its combination") < check_page(result).index('id="picture"')


def test_a_price_far_too_small_is_seen_where_rows_scatter_by_shares_of_the_mean():
    """In units of what prices differ by it is a few off at most. Noise that is alike near zero is no slip."""

    def target(rows):
        ends = np.stack([rows.min(axis=1), rows.max(axis=1)], axis=1)
        count, mean = np.full(len(rows), rows.shape[1]), rows.mean(axis=1)
        return Target("y", None, count, mean, ((rows - mean[:, None]) ** 2).sum(axis=1), False, ends)

    rng, said, named = np.random.default_rng(0), 0, 0
    for i in range(60):
        size, factor = (24, 2 + i % 3), (0.001, 0.01)[i % 2]
        middle = rng.normal(0, 0.8, (24, 1))
        said += bool(rows_apart(target(np.exp(6 + middle + 0.2 * rng.normal(size=size)))))
        said += bool(rows_apart(target(np.abs(np.exp(1 + middle) + rng.normal(size=size)) + 0.01)))
        rows = np.exp(6 + middle + 0.2 * rng.normal(size=size))
        rows[7, 1] *= factor
        named += rows_apart(target(rows)) == [(7, (rows[7, 1],))]
    assert (said <= 3, named >= 57) == (True, True)


def test_of_two_rows_the_one_that_other_combinations_contradict_is_named_else_both():
    """Thirty planted tables: ten times too large, ten times too small or 450 too large, in the first or second row."""
    rng, cells = np.random.default_rng(0), np.array([(a, b) for a in range(5) for b in range(5)])
    for i in range(30):
        codes = rng.permutation(cells)[:14]
        y = 50 + rng.normal(0, 3, 5)[codes[:, 0]] + rng.normal(0, 3, 5)[codes[:, 1]] + rng.normal(size=(2, 14))
        row, cell = i % 2, int(rng.integers(14))
        right = y[row, cell]
        y[row, cell] = (10 * right, right / 10, right + 450)[i % 3]
        table = {"a": np.tile(codes[:, 0], 2), "b": np.tile(codes[:, 1], 2), "y": y.ravel()}
        (note,) = named(table)
        wrong = shown(y[row, cell])
        assert note.split(" of (")[0] in (wrong, f"the answer {wrong} in one of 2 rows")
    y = 40 + 3 * codes.sum(axis=1) + 0.1 * rng.normal(size=(2, 14))
    y[:, 4] = 56.9, 41.4  # either may be right
    (note,) = named(table | {"y": y.ravel()})
    assert note.startswith(f"41.4 or 56.9 of ({codes[4, 0]}, {codes[4, 1]}) lies far from the other rows")


def test_a_slip_in_one_of_several_rows_is_named_as_it_stands():
    a, b = (part.ravel() for part in np.meshgrid(np.arange(5), np.arange(4), indexing="ij"))
    y = 60.0 + 2 * a + b + 0.3 * np.random.default_rng(0).standard_normal((3, len(a)))
    y[1, 7] = 1107.0
    table = {"a": np.tile(a, 3).astype(str), "b": np.tile(b, 3).astype(str), "y": y.ravel()}
    assert "the answer 1,107 in one of 3 rows of (1, 3) lies far" in " ".join(
        check(table, ["a", "b"], target="y").notes
    )
    y[:, 7] = 1100.0, 1107.0, 1114.0
    table["y"] = y.ravel()
    whole = " ".join(check(table, ["a", "b"], target="y").notes)
    assert "the answer 1,107, the mean of 3 rows, of (1, 3) lies far" in whole


def alone(seed, slip=0.0, noise=None):
    """22 of 6 × 5 combinations, one row each, one of them off."""
    rng, shape = np.random.default_rng(seed), (6, 5)
    codes = rng.permutation(grid(*shape))[:22]
    noise = rng.normal(size=22) if noise is None else noise(rng, 22)
    y = 50 + 3 * additive(codes, shape, seed) + noise
    cell = int(rng.integers(22))
    y[cell] += slip
    return {"a": codes[:, 0].astype(str), "b": codes[:, 1].astype(str), "y": y}, f"({codes[cell, 0]}, {codes[cell, 1]})"


def test_a_slip_in_a_combination_of_a_single_row_is_named():
    found = [(named(table), where) for table, where in (alone(seed, 15.0) for seed in range(40))]
    assert sum(len(notes) == 1 and where in notes[0] for notes, where in found) >= 34
    heavy = [None, lambda rng, n: rng.standard_t(3, n), lambda rng, n: rng.exponential(size=n)]
    for noise in heavy:  # 4 of 100 at most; 6 of 40 would be one in two hundred then
        assert sum(bool(named(alone(100 + seed, 0.0, noise)[0])) for seed in range(40)) < 6


def test_a_slip_beside_effects_that_multiply_is_named():
    found, clean = [], 0
    for seed in range(15):
        table, where = alone(seed)
        y, cells = np.exp(table["y"] / 6), zip(table["a"], table["b"], strict=True)
        slipped = [v / 10 if f"({a}, {b})" == where else v for v, (a, b) in zip(y, cells, strict=True)]
        found += [where in note for note in named({**table, "y": slipped}) if "far from the product of effects" in note]
        clean += bool(named({**table, "y": y}))
    assert len(found) > 7  # none by sums
    assert all(found)
    assert clean < 2


def test_the_forecast_without_it_is_that_of_the_table_without_it():
    table, where = alone(3, 15.0)
    at = next(i for i, cell in enumerate(zip(table["a"], table["b"], strict=True)) if f"({', '.join(cell)})" == where)
    found = check(table, ["a", "b"], target="y")
    assert "Without that combination the forecast is" in found.notes[0]
    clean = check({k: np.delete(v, at) for k, v in table.items()}, ["a", "b"], target="y",
                  test={k: found.to_frame()[k] for k in "ab"})  # fmt: skip
    told = clean.forecast
    assert f"{shown(told.error)} ({shown(told.low)} to {shown(told.high)}) by the rule “{told.rule}”" in found.notes[0]
    assert "If it is a real effect, expect the forecast above, not this one, and more where" in found.notes[0]


def test_a_forecast_without_it_that_is_larger_or_wider_is_not_given():
    above = check(alone(3)[0], ["a", "b"], target="y", draws=9).forecast
    said = [_worse(replace(above, **{k: getattr(above, k) * v for k, v in how.items()}), above) for how in (
        {"error": 0.9, "high": 0.9}, {"error": 1.1}, {"high": 1.1}, {"error": 1.1, "high": 1.1})]  # fmt: skip
    assert said == ["", "the error would be larger", "its interval would be wider",
                    "the error would be larger and its interval wider"]  # fmt: skip
    cells = ["23", "10", "02", "32", "13", "03", "30", "00", "12", "33", "01", "22"]
    y = [53.1, 49.8, 50.4, 43.7, 49.3, 49.8, 48.3, 51.3, 49.0, 46.7, 464.1, 53.6]
    found = check({"a": [c[0] for c in cells], "b": [c[1] for c in cells], "y": y}, ["a", "b"], target="y", draws=9)
    assert "no forecast is given: by the 11 others its interval would be wider" in found.notes[0]


def test_suspects_that_share_a_level_are_asked_about_as_a_level():
    a, b = grid(7, 7).T
    y = 50 + 3.0 * a + 2 * b + 0.3 * np.random.default_rng(0).standard_normal(49)
    seen = np.arange(49) % 5 != 4
    y[[1, 2]] += 40  # both of level 0
    result = check({"a": a[seen].astype(str), "b": b[seen].astype(str), "y": y[seen]}, ["a", "b"], target="y")
    assert result.notes[0].endswith("All are in a 0: a level that behaves differently?")


def test_a_level_that_is_odd_is_left_out_for_the_others():
    rng = np.random.default_rng(3)
    a, b = np.divmod(np.tile(rng.permutation(60)[:45], 2), 10)
    sign = np.where(a == 4, -1.0, 1.0)
    y = 5 * rng.normal(size=6)[a] + sign * 5 * rng.normal(size=10)[b] + rng.normal(size=90)
    table = {"a": [f"m{i}" for i in a], "b": b, "y": y}
    found = check(table, ["a", "b"], target="y")
    (note,) = [n for n in found.notes if "may be alone in not adding up" in n]
    assert note.startswith("a m4 may be alone")
    kept = a != 4
    alone = check({"a": [f"m{i}" for i in a[kept]], "b": b[kept], "y": y[kept]}, ["a", "b"], target="y")
    assert f"asked combinations of the others is {shown(alone.forecast.error)} (" in note
    assert alone.verdict == "determined"
    plain = 3 * (a == 4) + 0.3 * rng.normal(size=6)[a] + rng.normal(size=10)[b] + 0.1 * rng.normal(size=90)
    multiplied = check({**table, "y": np.exp(plain)}, ["a", "b"], target="y")
    assert multiplied.additivity.odd is not None
    assert multiplied.verdict == "determined on a log scale"
    assert "alone in not adding up" not in " ".join(multiplied.notes)


def test_the_level_that_is_odd_is_that_on_the_scale_that_answers():
    rng = np.random.default_rng(3)
    a, b = np.divmod(np.tile(rng.permutation(60)[:45], 2), 10)
    sign = np.where(a == 4, -0.5, 0.5)
    y = np.exp(2 * rng.normal(size=6)[a] + sign * rng.normal(size=10)[b] + 0.1 * rng.normal(size=90))
    found = check({"a": [f"m{i}" for i in a], "b": b, "y": y}, ["a", "b"], target="y")
    assert found.rule == "additive on a log scale"
    assert found.additivity.odd.level == "m0"  # the largest answers, in their own units
    (note,) = [n for n in found.notes if "alone in not adding up" in n]
    assert note.startswith("a m4 may be alone in not adding up on the log scale: ")
    assert "contradict (on the log scale too: p = " in found.sentence()
    assert "a m4 responds to b unlike its other levels" in found.sentence()
    assert [name for name, _ in facts(found) if name in ("additive", "rescaled")] == ["additive"]


def test_a_code_for_missing_is_named_and_a_rating_or_a_level_that_answers_one_number_as_others_do_is_none():
    rng = np.random.default_rng(0)
    codes = rng.permutation([(a, b) for a in range(6) for b in range(6)])[:27]
    table = {"a": codes[:, 0], "b": codes[:, 1], "y": (20 + codes @ [2, 3] + rng.normal(size=27)).round(1)}
    assert not named(table)
    seen, coded = table["y"][3:], np.where(np.arange(27) < 3, -999, table["y"])
    result = check({**table, "y": coded}, ["a", "b"], target="y")
    (note,) = result.notes[:1]
    assert result.doubt
    assert result.fails(["assumption"])
    others = f"{shown(seen.min())} to {shown(seen.max())}"
    assert note.startswith(f"in 3 combinations an answer is -999, far from all others ({others}): a code for missing?")
    assert "Without these combinations the forecast is" in note
    assert "behaves differently" not in note
    level, rated = codes[:, 0] == 2, np.where(np.arange(27) < 3, 1, rng.integers(4, 6, 27))
    alike, lower = np.where(level, -300, codes[:, 0] / 8), np.where(level, table["y"] - 300, table["y"])
    assert not any("code for missing" in n for y in (rated, alike, lower) for n in named({**table, "y": y}))
    whole = [np.where(level, code, table["y"] + 100) for code in (-999, 0)]
    once = np.where(np.arange(27) < 1, -99, table["y"])
    assert all("code for missing?" in named({**table, "y": y})[0] for y in (*whole, once))
    assert check({**table, "y": whole[0]}, ["a", "b"], target="y", draws=9).coded


def test_what_holds_codes_for_missing_is_not_determined():
    """Ratings with -99 here and there: nothing contradicts sums beside such noise, and nothing is shown."""
    shown_as, clean = [], []
    for seed in range(6):
        rng, codes = np.random.default_rng(seed), np.array([(a, b) for a in range(8) for b in range(6)])
        codes = np.repeat(codes[rng.permutation(48)[:34]], 8, axis=0)
        y = np.clip(np.round(3 + 0.3 * (codes @ [1, -1]) + rng.normal(0, 0.8, len(codes))), 1, 5)
        table = {"a": codes[:, 0], "b": codes[:, 1]}
        told = check({**table, "y": np.where(rng.random(len(y)) < 0.04, -99, y)}, ["a", "b"], target="y", draws=9)
        assert told.coded
        assert not told.verdict.startswith("determined")
        shown_as.append("may be codes for missing" in told.sentence())
        clean.append(check({**table, "y": y}, ["a", "b"], target="y", draws=9).verdict.startswith("determined"))
    assert any(shown_as)
    assert sum(clean) >= 5
