"""A column that nobody named and that explains what the factors leave."""

from __future__ import annotations

import numpy as np
import pytest
from planted_tables import grid

from recombine.checks import check
from recombine.checks.adds_up.between import by_dealing
from recombine.checks.columns.measured import numbers_runs
from recombine.checks.columns.unnamed import Beside, each, explaining, unnamed
from recombine.errors import InputError

CODES = np.repeat(grid(5, 4), 2, axis=0)
X = np.hstack([np.eye(5)[CODES[:, 0]], np.eye(4)[CODES[:, 1]]])
ONCE = np.ones(len(X), dtype=np.int64)


def beside(rng) -> list[Beside]:
    """A day of five, an operator of three, a date of fourteen, levels and in order, and a temperature."""
    day, operator, date = rng.permutation(40) % 5, rng.choice(3, 40, p=[0.6, 0.3, 0.1]), rng.permutation(40) // 3
    return [Beside(day), Beside(operator), Beside(date, date.astype(float)), Beside(order=rng.standard_normal(40))]


def test_a_day_that_shifts_the_answer_is_found_and_what_it_explains_is_what_least_squares_says():
    rng = np.random.default_rng(0)
    columns, y = beside(rng), rng.standard_normal(40)
    day = columns[0].levels
    assert day is not None
    y += 3 * rng.standard_normal(5)[day]
    found = explaining(X, y, ONCE, 0.0, columns)
    assert found is not None
    assert (found.place, found.tried, found.lined) == (0, 4, False)
    assert found.share == pytest.approx(less(y, np.eye(5)[day]))
    assert found.p_value < 1e-4


def less(y, more) -> float:
    """Share of the residual variance that further columns take away, by least squares."""
    left = []
    for x in (X, np.hstack([X, more])):
        off = y - x @ np.linalg.lstsq(x, y, rcond=None)[0]
        left.append(off @ off / (40 - np.linalg.matrix_rank(x)))
    return 1 - left[1] / left[0]


@pytest.mark.parametrize("bend", [False, True])
def test_a_temperature_that_moves_the_answer_is_found_by_a_line_or_a_bend_over_its_ranks(bend):
    rng = np.random.default_rng(4)
    columns = beside(rng)
    warm = columns[3].order
    assert warm is not None
    y = rng.standard_normal(40) + (1.5 * warm**2 if bend else 1.5 * warm)
    found = explaining(X, y, ONCE, 0.0, columns)
    assert found is not None
    assert (found.place, found.lined) == (3, True)
    rank = warm.argsort().argsort()
    assert found.share == pytest.approx(less(y, np.stack([rank, rank**2], axis=1)))


@pytest.mark.parametrize("noise", [lambda rng: rng.standard_normal(40), lambda rng: np.exp(rng.standard_normal(40))])
def test_columns_that_do_nothing_are_seldom_named(noise):
    rng = np.random.default_rng(1)
    assert sum(explaining(X, noise(rng), ONCE, 0.0, beside(rng)) is not None for _ in range(100)) <= 8


def test_what_goes_with_a_factor_or_fits_exactly_is_not_judged():
    rng = np.random.default_rng(2)
    y = rng.standard_normal(40) + 9 * CODES[:, 0]
    nearly = np.where(np.arange(40) == 3, 4, CODES[:, 0])  # one row in forty tells them apart
    assert explaining(X, y + 9 * (nearly != CODES[:, 0]), ONCE, 0.0, [Beside(nearly)]) is None
    assert explaining(X, y, ONCE, 0.0, [Beside(CODES[:, 0])]) is None
    oven = CODES[:, 0] + 0.01 * rng.standard_normal(40)  # it follows the factor
    assert explaining(X, y + 900 * (oven - CODES[:, 0]), ONCE, 0.0, [Beside(order=oven)]) is None
    assert explaining(X, X.sum(axis=1), ONCE, 0.0, beside(rng)) is None


def test_check_names_the_column_until_it_is_named_and_never_one_with_a_value_for_each_row():
    rng = np.random.default_rng(3)
    day = rng.permutation(40) % 5
    y = rng.standard_normal(40) + 5 * rng.standard_normal(5)[day]
    table = {"a": CODES[:, 0].astype(str), "b": CODES[:, 1].astype(str), "id": np.arange(40), "test day": day, "y": y}

    def said(**how):
        return [n for n in check(table, ["a", "b"], target="y", draws=9, **how).notes if "which is not named" in n]

    (note,) = said()
    assert note.startswith("column “test day”, which is not named, explains ")
    assert "--block 'test day' (blocks='test day')" in note
    assert not said(blocks="test day")
    table["test day"] = [None, *day[1:]]  # with gaps it is not tried
    assert unnamed(table, ["a", "b"], (), 1, None, False, target="y") == []


@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_a_batch_of_three_hundred_that_shifts_the_answer_is_named(shift):
    rng = np.random.default_rng(0)
    batch, a, b = np.arange(900) // 3, rng.integers(0, 4, 900), rng.integers(0, 3, 900)
    y = a + b + rng.standard_normal(900) + shift * rng.standard_normal(300)[batch]
    table = {"a": a.astype(str), "b": b.astype(str), "batch": [f"lot {v * 7919 % 1009}" for v in batch], "y": y}
    assert len(unnamed(table, ["a", "b"], (), 1, None, False, target="y")) == (shift > 0)


@pytest.mark.parametrize(("rows", "plain"), [(4, True), (2, False)])
def test_a_drift_over_days_of_several_rows_each_is_taken_off_day_by_day(rows, plain):
    rng = np.random.default_rng(6)
    day = rng.permutation(40) // rows + 1
    y = 0.3 * rng.standard_normal(40) + 10 * rows / 40 * day
    table = {"a": CODES[:, 0].astype(str), "b": CODES[:, 1].astype(str), "day": day, "y": y}
    (note,) = [n for n in check(table, ["a", "b"], target="y", draws=9).notes if "which is not named" in n]
    assert "by a line or a bend along it" in note
    assert "name it as a factor with --numeric day (numeric='day'), as it follows a line" in note
    assert ("or with --block day (blocks='day'), and" in note) is plain
    assert ("--bins day=4 --block day" in note) is not plain


TIMES = np.array([f"2024-03-01 {8 + i // 10:02}:{i % 10 * 6:02}" for i in range(40)])


@pytest.mark.parametrize(
    ("name", "column", "advice"),
    [
        ("oven temp", lambda warm: 20 + warm, "factor with --numeric 'oven temp' (numeric='oven temp'), and answers"),
        ("temp", lambda warm: [f"{20 + w:.3f}".replace(".", ",") for w in warm], "--numeric temp (numeric='temp')"),
        ("weight", lambda warm: (100 * warm).round().astype(int) + 3000, "--numeric weight (numeric='weight')"),
        ("run", lambda warm: warm.argsort().argsort() + 1, "--bins run=4 --block run (bins={'run': 4}, blocks='run')"),
        ("unix", lambda warm: 1_709_280_000 + 600 * warm.argsort().argsort(), "write its day or week into a column of"),
        ("begun", lambda warm: TIMES[warm.argsort().argsort()], "write its day or week into a column of its own"),
    ],
)  # fmt: skip
def test_check_points_out_a_number_or_time_with_a_value_for_each_row_and_what_it_advises_works(name, column, advice):
    rng = np.random.default_rng(5)
    warm = rng.standard_normal(40)
    factors = {"a": CODES[:, 0].astype(str), "b": CODES[:, 1].astype(str), "gap": [None, *range(39)]}
    table = factors | {name: column(warm), "y": 0.5 * rng.standard_normal(40) + 2 * warm}
    notes = check(table, ["a", "b"], target="y", draws=9).notes
    (note,) = [n for n in notes if "which is not named" in n]
    assert "of the scatter that the factors leave, by a line or a bend along it (p below 0.0001" in note
    assert advice in note
    if "--numeric" in advice:
        assert "--block" not in note
        after = check(
            table, ["a", "b", name], target="y", draws=9, numeric=name, test={"a": [0], "b": [0], name: table[name][:1]}
        )
        assert not any("which is not named" in n for n in after.notes)
    if "--bins" in advice:
        after = check(table, ["a", "b"], target="y", draws=9, bins={name: 4}, blocks=name)
        assert any("shifts of" in n for n in after.notes)
        assert not any("which is not named" in n for n in after.notes)


def test_of_numbers_that_measure_no_shifts_are_taken_off_and_of_those_that_may_name_batches_if_they_do():
    rng = np.random.default_rng(7)
    lot = np.array([3504, 2130, 4425, 1985, 2372, 3433, 2587, 3021])[rng.permutation(40) % 8]
    effects = dict(zip(np.unique(lot), 3 * rng.standard_normal(8), strict=True))
    y = rng.standard_normal(40) + np.array([effects[v] for v in lot])
    table = {"a": CODES[:, 0].astype(str), "b": CODES[:, 1].astype(str), "y": y}
    (note,) = unnamed({**table, "lot": lot}, ["a", "b"], (), 1, None, False, target="y")
    assert "and says which day or batch, name it with --block lot (blocks='lot')" in note
    assert note.endswith("if it measures something, name it as a factor with --numeric lot (numeric='lot'); if it is "
                         "another result, leave it.")  # fmt: skip
    (note,) = unnamed({**table, "lot": lot / 1000}, ["a", "b"], (), 1, None, False, target="y")
    assert "--block" not in note


def test_runs_are_numbered_from_one_or_without_a_gap_and_measures_are_not():
    assert all(numbers_runs(np.array(v, float)) for v in ([1, 2, 5, 9], [0, 7], [101, 102, 103], [2019, 2020]))
    assert not any(numbers_runs(np.array(v, float)) for v in ([9, 11, 12, 35], [0, 0.5], [3504, 2130], [-1, 1]))


def test_a_large_table_is_tried_without_the_columns_that_keep_its_rows_apart(monkeypatch):
    rng = np.random.default_rng(6)
    codes = np.repeat(grid(5, 4), 20, axis=0)
    day = np.tile([0, 1], 200)
    y = rng.standard_normal(400) + 4 * day
    factors = {"a": codes[:, 0].astype(str), "b": codes[:, 1].astype(str)}
    table = factors | {"t": rng.standard_normal(400), "day": day, "y": y}
    monkeypatch.setattr("recombine.checks.columns.unnamed.LARGEST", 400)  # 40 means × 10 effects, not 400 rows × 10
    (note,) = unnamed(table, ["a", "b"], (), 1, None, False, target="y")
    assert note.startswith("column day,")


def plates(seed: int, act: float, shift: float, plate=lambda n, rng: rng.permutation(n) % 5) -> dict[str, object]:
    """Every combination on one plate, three times: pairs act so much, plates shift so much, repeats differ by 0.2."""
    rng = np.random.default_rng(seed)
    codes = grid(7, 6)[rng.random(42) < 0.8]
    on, each = plate(len(codes), rng), np.repeat(np.arange(len(codes)), 3)
    y = (
        rng.normal(0, 5, 7)[codes[:, 0]]
        + rng.normal(0, 5, 6)[codes[:, 1]]
        + shift * rng.standard_normal(len(codes))[on]
    )
    y = (y + act * rng.standard_normal(len(codes)))[each] + rng.normal(0, 0.2, len(each))
    return {
        "a": codes[each, 0].astype(str),
        "b": codes[each, 1].astype(str),
        "plate": [f"p{k}" for k in on[each]],
        "y": y,
    }


def test_a_plate_with_all_repeats_of_a_combination_is_found_between_combinations_and_naming_it_mends_the_verdict():
    table = plates(0, act=0.0, shift=3.0)
    before = check(table, ["a", "b"], target="y", draws=9)
    assert before.verdict == "assumption unsupported"
    told = "with shifts of plate taken off they do not: either effects do not simply add up, or that accounts for it"
    assert told in before.sentence()
    (note,) = [n for n in before.notes if "which is not named" in n]
    assert note.startswith("column plate, which is not named, explains ")
    assert "of what adding up leaves between combinations (p below 0.0001); what contradicts" in note
    assert check(table, ["a", "b"], target="y", draws=9, blocks="plate").verdict == "determined"


def test_interactions_are_not_blamed_on_plates_that_do_nothing():
    said = [unnamed(plates(seed, 1.0, 0.0), ["a", "b"], (), 1, None, True, target="y") for seed in range(40)]
    assert sum(map(bool, said)) <= 4


def test_rare_values_beside_one_large_interaction_have_to_stand_when_they_are_dealt_anew():
    into = np.linalg.qr(np.stack([np.ones(20), np.arange(20) < 1], axis=1).astype(float))[0].T
    q, scores = np.full((20, 1), 20**-0.5), np.where(np.arange(20) < 2, 1.9, -0.2)
    scores -= scores.mean()
    found = float(((into @ scores) ** 2).sum())
    assert by_dealing(into, q, scores, found, 0.1) == pytest.approx(0.1, abs=0.03)  # one of two in twenty
    assert by_dealing(into, q, scores, 2 * found, 0.1) == 0


def test_one_plate_for_each_combination_is_said_to_leave_only_means_and_what_they_tell():
    def own(n, rng):
        return np.arange(n)

    (note,) = [n for n in check(plates(1, 0.0, 2.0, own), ["a", "b"], target="y", draws=9).notes if "all rows" in n]
    assert note.startswith("all rows of each combination have one and the same plate: ")
    assert "each taken for one row, do not contradict it (p = " in note
    bent = plates(1, 0.0, 0.2, own)
    bent["y"] = np.exp(np.asarray(bent["y"]) / 4)  # here means alone contradict it
    assert unnamed(bent, ["a", "b"], (), 1, None, True, target="y") == []
    by_factor = plates(1, 1.0, 0.0, own)
    by_factor["plate"] = by_factor["a"]
    assert unnamed(by_factor, ["a", "b"], (), 1, None, True, target="y") == []


def classes_on_days(seed: int, shift: float, pairs: float = 0.0, classes: int = 2) -> dict[str, list[str]]:
    """Log-odds of eight by six; each combination was run on two of twenty days, which shift them."""
    rng = np.random.default_rng([seed, 9])
    cell = rng.choice(rng.permutation(48)[:36], 1500)
    day = rng.integers(0, 20, (48, 2))[cell, rng.integers(0, 2, 1500)]
    i, j = np.divmod(cell, 6)
    odds = rng.normal(0, 0.7, 8)[i] + rng.normal(0, 0.7, 6)[j] + pairs * rng.standard_normal(48)[cell]
    chance = 1 / (1 + np.exp(-odds - shift * rng.standard_normal(20)[day]))
    y = (rng.random(1500) < chance).astype(int) * rng.integers(1, classes, 1500)
    columns = {"a": i, "b": j, "day": day, "y": y}
    return {name: [f"{name}{v}" for v in column] for name, column in columns.items()}


def test_a_day_that_shifts_classes_is_named_and_a_rejection_may_be_of_it():
    said = 0
    for classes in (2, 3):
        for seed in range(3):
            result = check(classes_on_days(seed, 1.0, classes=classes), ["a", "b"], target="y", draws=9)
            (note,) = [n for n in result.notes if n.startswith("column day, which is not named, explains")]
            as_number = "0 and 1 and name it with --target-kind number --block day (blocks='day')"
            assert (as_number in note) is (classes == 2)
            assert "name it, or its weeks or parts, as a factor" in note
            assert result.verdict == "assumption unsupported"
            said += "with column day as a factor they do not" in (
                result.additivity.words if result.additivity is not None else ""
            )
    assert said >= 5


def test_interactions_of_classes_are_no_days_and_days_that_do_nothing_are_not_named():
    named, verdicts = 0, list[str]()
    for seed in range(6):
        for shift, pairs in ((0.0, 0.0), (0.0, 1.0), (1.0, 1.0)):
            result = check(classes_on_days(seed, shift, pairs), ["a", "b"], target="y", draws=9)
            named += not shift and any("which is not named" in note for note in result.notes)
            verdicts += [result.verdict] if pairs else []
    assert named <= 1
    assert verdicts.count("assumption rejected") >= 11


def test_blocks_of_classes_are_refused_with_what_works():
    two, three = (classes_on_days(0, 1.0, classes=n) for n in (2, 3))
    with pytest.raises(InputError, match="give day as a factor, or write the two classes as 0 and 1 and name"):
        check(two, ["a", "b"], target="y", blocks="day")
    with pytest.raises(InputError, match=r"give day as a factor\.$"):
        check(three, ["a", "b"], target="y", blocks="day")


def test_of_a_column_what_cells_tell_is_left_aside_not_all_of_it():
    """One of five days goes with the first combination alone: the other four still show that they differ."""
    rng, cell = np.random.default_rng(0), np.repeat(np.arange(20), 6)
    day = np.where(cell == 0, 4, np.tile(np.arange(4), 30))
    y, ways = rng.standard_normal(120) + day, Beside(day).ways(np.ones(120))
    x, count = np.eye(20)[cell], np.ones(120, dtype=np.int64)
    assert each(x, y, count, 0.0, [ways]) == []
    (found,) = each(x, y, count, 0.0, [ways], part=True)
    assert found.p_value < 1e-6
