"""Notes on what people bring: codes, limits, identifiers, shares, few rows; and none where there is nothing to note."""

from __future__ import annotations

import numpy as np
import pytest
from planted_tables import grid, table

from recombine.checks import check
from recombine.errors import InputError


def test_few_whole_numbers_may_be_codes():
    rng = np.random.default_rng(0)
    cells = grid(4, 4).repeat(3, axis=0)[:42]
    for values, told in (
        ([10, 20, 30, 40], True), ([1, 2, 3], True), ([1, 2, 3, 4], False), ([10.5, 20, 30], False),
    ):  # fmt: skip
        notes = check(table(cells, rng.choice(values, 42).tolist()), ["a", "b"], target="y").notes
        assert any("if they are codes" in note for note in notes) == told


@pytest.mark.parametrize("effective", [2, 1])
def test_effects_of_opposite_signs_and_of_none_are_no_shortcut(effective):
    named = []
    for seed in range(10):
        rng, cells = np.random.default_rng(seed), grid(4, 6)
        effects = [size * rng.standard_normal(n) for size, n in ((4, 4), (8, 6))][:effective]
        y = 20 + sum(e[c] for e, c in zip(effects, cells.T, strict=False)) + rng.standard_normal(24)
        y[rng.choice(24, 1)] = np.nan
        said = check(table(cells, [None if np.isnan(v) else v for v in y]), ["a", "b"], target="y", draws=9, depth=2)
        named += [note for note in said.notes if note.startswith("Shortcut")]
    assert not named


def test_notes_of_tables_that_people_bring():
    rng, cells = np.random.default_rng(0), grid(8, 7)
    marks = np.clip(np.round(3 + rng.normal(0, 1.2, 8)[cells[:, 0]] + rng.normal(0, 1.2, 7)[cells[:, 1]]), 1, 5)
    hidden = rng.permutation(len(cells)) < 20
    rated = check(table(cells[~hidden], marks[~hidden]), ["a", "b"], target="y")
    out = sum(q.low < 1 or q.high > 5 for q in rated.queries)
    assert out
    assert any(f"{out} of 20 ranges" in note and "leave 1 to 5" in note for note in rated.notes)
    codes = grid(5, 5)[:-1]
    ids = {"a": codes[:, 0], "b": codes[:, 1], "id": [f"u{i}" for i in range(24)], "y": rng.integers(2, size=24)}
    said = " ".join(check(ids, ["a", "b", "id"], target="y").notes)
    assert "24 of the 24 levels of id occur in a single row" in said
    assert "--target-kind number (target_kind='number') forecasts the share of 1" in said
    for same in (0.1, 5.0):
        told = check(table(codes, [same] * 24), ["a", "b"], target="y")
        assert told.sentence().startswith("Expect a root-mean-square error of 0 in y (all seen answers are the same")
        assert {rule.error for rule in told.forecast.rules} == {0.0}
    one = check({"a": [1, 2, 1, 2], "y": [1.0, 2.0, 1.5, 2.5]}, ["a"], target="y")
    assert "With one factor there is nothing to recombine" in " ".join(one.notes)


@pytest.mark.parametrize(
    ("levels", "said"),
    [
        ([f"2024-01-0{i}" for i in range(1, 5)], "a holds dates, each taken as a level of its own (--block a "),
        ([20240101, 20240131, 20240229, 20241231], "a holds dates, each taken as a level of its own (--block a "),
        ([20240101, 20240131, 20240230, 20241231], None),  # of which one is no day
        (["5 mg", "0.005 g", "10 mg", "20 mg"], "a has levels in several units (g, mg), which count as different"),
        (["5 mg", "6 mg", "10 mg", "20 mg"], None),
        (["1a", "1b", "2a", "2b"], None),
        (["1.2.3", "1.2.4", "1.2.5", "1.2.6"], None),
    ],
)
def test_levels_that_are_dates_or_amounts_are_taken_as_written(levels, said):
    cells = grid(4, 3)[:-1]
    notes = check({"a": [levels[i] for i in cells[:, 0]], "b": cells[:, 1], "y": cells.sum(1)}, ["a", "b"]).notes
    assert any(note.startswith(said or "a h") for note in notes) == (said is not None)


def test_days_of_two_factors_are_said_once_and_never_offered_as_measurements():
    cells = grid(4, 4)
    days = [[20240301 + v for v in column] for column in cells.T]
    table = {"sown": days[0], "cut": [f"2024-05-0{v + 1}" for v in cells[:, 1]], "y": [*cells.sum(1)[:-1], None]}
    asked = {"sown": [20240303, 20240309], "cut": ["2024-05-01"] * 2}
    notes = check(table, ["sown", "cut"], target="y", test=asked, draws=9).notes
    assert [n for n in notes if "dates" in n] == [
        "sown and cut hold dates, each taken as a level of its own (--block sown,cut (blocks=['sown', 'cut']) takes "
        "off what a date shifts)."
    ]
    assert not any("--numeric" in note for note in notes)


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([f"2024-01-0{i}" for i in (3, 4, 5)], "The answers in 'y' are dates, taken as classes"),
        (["5 mg", "0.005 g", "2 g"], "are taken as classes, though they have units (g, mg)"),
    ],
)
def test_answers_that_are_dates_or_few_amounts_are_classes_and_that_is_said(answers, said):
    cells = grid(4, 3)[:-1]
    assert said in " ".join(check(table(cells, [answers[i % 3] for i in range(11)]), ["a", "b"], target="y").notes)


def test_a_number_with_its_error_has_no_unit():
    cells = grid(4, 3)[:-1]
    for error in ("0.5", "0.{}"):
        answers = [f"{a + b}.1 ± {error.format(a)}" for a, b in cells]
        with pytest.raises(InputError, match="write the number alone, without ± and the error behind it"):
            check(table(cells, answers), ["a", "b"], target="y")


def test_numbers_in_brackets_are_no_classes():
    cells = grid(4, 3)[:-1]
    for first in (-3, -20):  # some below zero, or all
        answers = [f"({-v}.40)" if (v := first + a + b) < 0 else f"{v}.40" for a, b in cells]
        with pytest.raises(InputError, match="write negative numbers with a minus instead of brackets"):
            check(table(cells, answers), ["a", "b"], target="y")


def test_one_note_says_that_answers_lie_below_a_limit():
    rng, cells = np.random.default_rng(0), grid(6, 5)
    y = rng.normal(0, 1, 6)[cells[:, 0]] + rng.normal(0, 1, 5)[cells[:, 1]]
    y += 1 - np.quantile(y, 0.4)
    limited, capped = [f"{v:.3f}" if v > 1 else "<1.0" for v in y], np.maximum(y, 1).round(3)
    for answers, told in ((limited, "read as the limit itself, 1"), (capped, "exactly 1, the smallest")):
        notes = check(table(cells, answers), ["a", "b"], target="y").notes
        assert [told in n for n in notes if "limit" in n or "saturates" in n] == [True]


@pytest.mark.parametrize(("kind", "least"), [("multiply", 0.0), ("multiply", -0.1), ("multiply", None), ("add", 0.0)])
def test_a_zero_that_takes_the_log_scale_away_is_said_where_it_is_missed(kind, least):
    rng, cells = np.random.default_rng(0), grid(6, 6)[:-3]
    y = rng.normal(0, 1.2, 6)[cells[:, 0]] + rng.normal(0, 1.2, 6)[cells[:, 1]] + rng.normal(0, 0.2, len(cells))
    y = np.exp(y) if kind == "multiply" else y - y.min() + 0.02
    y[y.argmin()] = y.min() if least is None else least
    said = [n for n in check(table(cells, y), ["a", "b"], target="y").notes if "no log scale is tried" in n]
    assert [n.split(",")[0] for n in said] == (
        [f"1 combination has an answer of 0{' or less' if least else ''}"]
        if kind == "multiply" and least is not None
        else []
    )


@pytest.mark.parametrize("kind", ["saturated", "floor", "normal", "rounded", "counts", "ratings", "flags"])
def test_answers_piled_up_at_one_end_are_pointed_out(kind):
    rng, cells = np.random.default_rng(0), np.repeat(grid(5, 5)[:-3], 6, axis=0)
    x = cells.sum(axis=1) + rng.normal(size=len(cells))
    y = {"saturated": np.minimum(x, 4.5), "floor": np.maximum(x.round(1), 3), "normal": x, "rounded": x.round(),
         "counts": rng.poisson(0.7, len(x)), "ratings": np.clip(x.round(), 1, 5), "flags": x > 3}[kind]  # fmt: skip
    piled = [n for n in check(table(cells, y.astype(float)), ["a", "b"], target="y").notes if "saturates" in n]
    end = {"saturated": "4.5, the largest", "floor": "3, the smallest"}.get(kind)
    assert bool(piled) == (end is not None)
    if end:
        assert f"{(y == float(end.split(',')[0])).sum()} of {len(y)} answers in 'y' are exactly {end}" in piled[0]


def test_combinations_of_few_rows_are_said_to_blur_what_the_others_show_where_these_determine_as_much():
    rng = np.random.default_rng(0)
    cells = np.array([(a, b) for a in range(5) for b in range(5) if (a, b) != (4, 4)])

    def notes(few, noise=5.0):
        codes = np.repeat(cells, np.where(few, 1, 40), axis=0)
        y = codes @ [1, -1] + noise * rng.normal(size=len(codes))
        result = check({"a": codes[:, 0], "b": codes[:, 1], "y": y}, ["a", "b"], target="y")
        return result.doubt, [n for n in result.notes if "--min-support" in n]

    some = cells.sum(axis=1) % 5 > 2
    (doubt, said), apart = notes(some), cells[:, 0] < 2
    assert (doubt, said) == ("unsupported", [
        f"{some.sum()} of 24 combinations have only 1 row, the others 40: their means are noisier, and in the error "
        "all count alike; --min-support 5 (min_support=5) leaves them out of training."
    ])  # fmt: skip
    assert notes(some, 0.1) == (None, [])
    assert notes(apart) == ("unsupported", [])  # without them two levels were never seen


@pytest.mark.parametrize(("classes", "said"), [(["low", "medium", "high"], True), (["red", "green", "blue"], False)])
def test_classes_that_look_ordered_are_said_to_be_taken_as_unordered(classes, said):
    rows = [(a, b, classes[(a + b) % 3]) for a in range(4) for b in range(4) if a + b != 6]
    columns = dict(zip("aby", map(list, zip(*rows, strict=True)), strict=True))
    notes = check(columns, ["a", "b"], target="y", draws=9).notes
    assert any("if these are ordered, code them 1 … 3 (low 1, medium 2, high 3)" in note for note in notes) is said
