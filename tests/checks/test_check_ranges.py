"""Ranges of answers: where they end, what they hold, and what is said of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from planted_tables import additive_table, grid, table

from recombine.checks import Query, check
from recombine.checks.forecasts.expected import Forecast, RuleError
from recombine.checks.notes import _uneven


def test_ranges_below_zero_are_pointed_out_where_no_answer_is_and_not_cut():
    rng, cells = np.random.default_rng(0), grid(6, 6)
    y = rng.poisson(np.exp(0.8 * (rng.standard_normal(6)[cells[:, 0]] + rng.standard_normal(6)[cells[:, 1]])))
    hidden = rng.permutation(36) < 10
    told = [[None if h else int(v) + shift for v, h in zip(y, hidden, strict=True)] for shift in (0, -1, 100)]
    counts, *others = (check(table(cells, answers), ["a", "b"], target="y") for answers in told)
    below = [q.low for q in counts.queries if q.low < 0]
    assert f"{len(below)} of 10 ranges" in next(n for n in counts.notes if "reach below 0, which no seen" in n)
    for other in others:  # where a seen answer is negative, and where no range is
        assert not any("below 0" in note for note in other.notes)


def test_ranges_of_one_row_beyond_the_ends_of_a_rating_are_pointed_out():
    rng = np.random.default_rng(0)
    codes = np.repeat(np.array([(a, b) for a in range(8) for b in range(6)])[rng.permutation(48)[:34]], 8, axis=0)
    y = 3.3 + rng.normal(0, 0.3, 8)[codes[:, 0]] + rng.normal(0, 0.3, 6)[codes[:, 1]] + rng.normal(size=len(codes))
    table = {"a": codes[:, 0], "b": codes[:, 1], "y": np.clip(np.round(y), 1, 5)}
    result = check(table, ["a", "b"], target="y", draws=9)
    beyond = [n for n in result.notes if "of one row leave 1 to 5, the whole numbers" in n]
    rows = sum(q.row_low < 1 or q.row_high > 5 for q in result.queries)
    assert rows
    assert beyond[0].startswith(f"{rows} of {len(result.queries)} ranges of one row")


@pytest.mark.parametrize(("name", "top"), [("accuracy", 1.0), ("passed %", 100.0), ("growth %", None), ("y", None)])
def test_answers_and_ranges_of_a_share_end_where_it_does_and_those_of_others_where_they_end(name, top):
    rng, codes = np.random.default_rng(3), grid(6, 5)
    codes = codes[rng.permutation(len(codes))[:22]]
    y = np.clip(0.12 * codes.sum(axis=1) - 0.05 + 0.1 * rng.normal(size=22), 0, 1) * (100 if "%" in name else 1)
    told = check({"a": codes[:, 0], "b": codes[:, 1], name: y}, ["a", "b"], target=name, grid=True, draws=9)
    ends = [end for q in told.queries for end in (q.low, q.high, q.prediction) if end is not None]
    said = [n for n in told.notes if "ranges are cut at" in n]
    if top is None:
        assert told.forecast.rule == "additive"
        assert min(ends) < 0 or max(ends) > y.max()
        assert not said
    else:
        assert min(ends) >= 0
        assert max(ends) == top
        assert f"cut at 0 and {top:g}, which {name} is taken not to leave (its name or sign says" in said[0]


@pytest.mark.parametrize("whole", [True, False])
def test_on_a_log_odds_scale_no_range_leaves_it(whole: bool):
    rng, codes = np.random.default_rng(0), grid(6, 5)
    codes = codes[rng.permutation(len(codes))[:22]]
    logit = 1 + 1.3 * (rng.standard_normal(6)[codes[:, 0]] + rng.standard_normal(5)[codes[:, 1]])
    y = 1 / (1 + np.exp(-(logit + 0.3 * rng.normal(size=len(codes)))))
    y = np.where(y > 0.93, 1.0, y) if whole else y
    told = check({"a": codes[:, 0], "b": codes[:, 1], "y": y}, ["a", "b"], target="y", grid=True, draws=9)
    assert told.forecast.rule == "additive on a log-odds scale"
    ends = [end for q in told.queries for end in (q.low, q.high) if end is not None]
    assert 0 <= min(ends) <= max(ends) <= 1
    # Only a scale that has room for the ends can leave them.
    assert whole == any("(a log-odds scale has no others, and no seen answer does)" in n for n in told.notes)


def test_effects_that_add_up_on_log_odds_do_so_in_check():
    rng, codes = np.random.default_rng(0), grid(8, 7)
    a, b = rng.normal(size=8), rng.normal(size=7)
    y = 1 / (1 + np.exp(-(2 + a[codes[:, 0]] + b[codes[:, 1]])))
    seen = rng.random(len(y)) < 0.7
    told = check({"a": codes[seen, 0], "b": codes[seen, 1], "y": y[seen]}, ["a", "b"], target="y", draws=9)
    assert told.verdict.startswith("determined on a log-odds")
    truth = dict(zip(map(tuple, codes.tolist()), y, strict=True))
    off = [abs(q.prediction - truth[tuple(int(v) for v in told.combination(q.codes).values())]) for q in told.queries]
    assert max(off) < 1e-3


def test_a_note_tells_easy_from_hard_combinations_by_their_ranges():
    def ranged(*halves: float) -> list[Query]:
        return [
            Query((i, 0), "determined", prediction=5.0, low=5 - half, high=5 + half) for i, half in enumerate(halves)
        ]

    (note,) = _uneven(ranged(1.0, 1.0, 1.1, 12.0))
    assert note.startswith(
        "1 of 4 ranges are more than 3 times as wide as the median (± 1.05 in the median and ± 12 at"
    )
    assert _uneven(ranged(1.0, 1.0, 2.9)) == _uneven([]) == []


def test_a_further_row_of_a_seen_combination_falls_into_its_range_nine_times_in_ten():
    rng, inside = np.random.default_rng(0), []
    for seed in range(40):
        given = pl.DataFrame(additive_table((4, 4), seed, kept=1.0, rows=3, noise=2.0))
        cut = rng.random(len(given)) < 0.2
        given = given.with_columns(pl.when(pl.Series(~cut)).then("y").alias("told"))
        frame = check(given, ["a", "b"], target="told", draws=9).to_frame().filter(pl.col("status") == "seen")
        held = given.filter(pl.Series(cut)).join(frame, on=["a", "b"])
        inside += held.select(pl.col("y").is_between("row_low", "row_high"))["y"].to_list()
    assert len(inside) > 250
    assert 0.86 < np.mean(inside) < 0.94


def test_an_upper_end_beyond_all_that_was_seen_is_said_to_tell_nothing():
    rules = (RuleError("additive", 2.0, 0.5, True, 2.0),)
    told = Forecast("additive", 2.0, 0.5, 50.0, "rmse", 3.0, 0.5, rules, 200, 8, 2, rules[0], span=9.0)
    assert "50; that end tells nothing, as all seen answers lie within 9)" in told.words
    assert "tells nothing" not in replace(told, high=8.0).words
