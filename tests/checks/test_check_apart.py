"""Levels far harder than the others stand beside the forecast and count in the gates; where all are alike none does."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl

import recombine as rc
from recombine.checks import CheckResult
from recombine.checks.forecasts.forecast_words import against_many
from recombine.cli.check import check as show
from recombine.reporting.check import check_page


def table(seed: int, times: float, rows: int = 2) -> pl.DataFrame:
    """Nine soils and six labs that add up, a quarter of the combinations missing; rows of lab l2 scatter more."""
    rng = np.random.default_rng(seed)
    soil, lab = rng.normal(0, 1, 9), rng.normal(0, 1, 6)
    seen = np.ones((9, 6), dtype=bool)
    seen[rng.permutation(9)[:8], np.array([0, 1, 2, 2, 3, 4, 5, 5])] = False
    return pl.DataFrame(
        [
            {"soil": f"s{i}", "lab": f"l{j}", "P": 5 + soil[i] + lab[j] + 0.1 * (times if j == 2 else 1) * rng.normal()}
            for i in range(9)
            for j in range(6)
            for _ in range(rows)
            if seen[i, j]
        ]
    )


@cache
def checked(seed: int, times: float) -> CheckResult:
    return rc.check(table(seed, times), factors=["soil", "lab"], target="P", draws=9)


def test_a_level_far_noisier_is_in_the_headline_and_fails_the_gates() -> None:
    named, alike = 0, 0
    for seed in range(6):
        result = checked(seed, 1_000.0)
        told = result.forecast
        assert told is not None
        if [(a.factor, a.level, a.asked) for a in told.apart] == [("lab", "l2", 2)]:
            named += 1
            assert "On the 2 of them with lab l2 expect about" in result.sentence()
            assert 10 < told.apart[0].error < 1_000
            assert told.apart[0].elsewhere < 1
            assert told.apart[0].low < told.apart[0].error < told.apart[0].high
            assert result.fails(["error=5", "high=5"]) == ["error=5", "high=5"]
            assert result.to_dict()["forecast"]["worst_error"] == max(told.error, told.apart[0].error)
        plain = checked(seed, 1.0)
        assert plain.forecast is not None
        alike += bool(plain.forecast.apart)
        assert plain.forecast.apart or plain.forecast.worst_high == plain.forecast.high
    assert named >= 5
    assert alike <= 1


def test_what_a_level_apart_errs_by_lies_in_its_interval() -> None:
    """Meant for nine of ten, of errors that are normal: the mean of two new rows of both asked combinations."""
    held, tried = 0, 0
    for seed in range(30, 42):
        result = checked(seed, 50.0)
        apart = [] if result.forecast is None else [a for a in result.forecast.apart if a.level == "l2"]
        rng = np.random.default_rng(seed)
        soil, lab = rng.normal(0, 1, 9), rng.normal(0, 1, 6)
        new = np.random.default_rng(seed + 1_000)
        asked = [(c, q) for q in result.queries if (c := result.combination(q.codes))["lab"] == "l2"]
        truth = [5 + soil[int(str(c["soil"])[1])] + lab[2] + 5 * new.normal() / np.sqrt(2) for c, _ in asked]
        error = np.sqrt(np.mean([(t - float(q.prediction or 0)) ** 2 for t, (_, q) in zip(truth, asked, strict=True)]))
        held, tried = held + sum(a.low <= error <= a.high for a in apart), tried + len(apart)
    assert tried >= 8
    assert held >= 0.7 * tried


def test_the_command_says_what_failed(tmp_path, capsys) -> None:
    table(0, 1_000.0).write_csv(tmp_path / "t.csv")
    assert show(tmp_path / "t.csv", factors="soil,lab", target="P", fail_on=["error=5"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("failed on error=5: ")
    assert "is near" not in said


def test_a_forecast_that_may_err_by_more_than_all_answers_differ_supports_nothing() -> None:
    found = [checked(seed, 1_000.0) for seed in range(10)]
    wide = [r for r in found if r.forecast is not None and r.forecast.span and r.forecast.high > r.forecast.span]
    assert wide
    assert all(r.doubt for r in wide)
    assert any("err by more than all seen answers differ" in r.sentence() for r in wide)
    plain = [checked(seed, 1.0) for seed in range(10)]
    assert sum(r.verdict == "determined" for r in plain) >= 9


def test_adding_up_is_not_shown_for_a_level_that_its_own_mean_answers_as_well() -> None:
    """Noise of 40 times the others' drowns the soils in lab l2, of 6 times it does not: verdict, gate, JSON, page and
    the doubt of each combination say the same."""
    drowned, told = 0, 0
    for seed in range(7):
        for times in (40.0, 6.0):
            result = rc.check(table(seed, times), factors=["soil", "lab"], target="P", draws=9)
            assert result.forecast is not None
            if [a.level for a in result.forecast.apart] != ["l2"]:
                continue
            (level,), page = result.forecast.apart, check_page(result)
            assert result.to_dict()["forecast"]["apart"][0]["shown"] == level.shown
            if not level.shown:
                drowned += times == 40.0
                assert result.verdict != "determined"
                assert result.fails(["assumption"])
            elif result.verdict == "determined":
                told += times == 6.0
                assert result.beside == ", with far larger errors for lab l2"
                assert result.beside in page
                assert not result.fails(["assumption"])
            if result.doubts_some:
                assert result.verdict + result.beside == "assumption unsupported for lab l2"
                assert "which is not shown for lab l2" in page
                doubted = {result.combination(q.codes)["lab"] for q in result.queries if result.doubt_of(q)}
                assert doubted == {"l2"}
    assert drowned >= 4
    assert told >= 3


def test_the_list_marks_the_combinations_in_doubt_and_no_others(tmp_path, capsys) -> None:
    file = tmp_path / "t.csv"
    table(0, 50.0).write_csv(file)
    assert show(file, factors="soil,lab", target="P") == 0
    said = capsys.readouterr().out
    rows = [line for line in said.splitlines() if line.startswith("s") and " determined" in line]
    assert len(rows) == 8
    assert [" l2 " in line for line in rows] == [True] * 2 + [False] * 6
    assert ["determined (?)" in line for line in rows] == [" l2 " in line for line in rows]
    assert "combinations asked, those in doubt first" in said
    assert "8 determined, 2 of them in doubt" in said
    asked = rc.check(file, ["soil", "lab"], target="P").to_dict()["queries"]
    assert {q["combination"]["lab"]: q["doubt"] for q in asked if q["doubt"]} == {"l2": "unsupported"}


def test_on_ranks_whose_levels_seem_noisy_nothing_is_said_of_very_many_rows() -> None:
    """Doses from none to all: ranks are steep where answers lie close, and their noise is no noise of rows."""
    said = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        drug, line, dose = rng.normal(0, 0.8, 8), rng.normal(0, 0.5, 5), np.arange(-2, 3)
        cells = [(i, j, k) for i in range(8) for j in range(5) for k in range(5) if rng.random() < 0.7]
        frame = pl.DataFrame(
            [
                {"drug": f"d{i}", "dose": f"{j}", "line": f"l{k}",
                 "y": 100 / (1 + 10.0 ** (dose[j] - drug[i] - line[k])) + rng.normal(0, 4)}
                for i, j, k in cells for _ in range(2)
            ]
        )  # fmt: skip
        told = rc.check(frame, factors=["drug", "dose", "line"], target="y", draws=9).forecast
        assert told is not None
        if told.scale is not None and told.scale.learnt and getattr(told.recommended, "noisy", {}):
            said += 1
            assert told.error_many_rows is None
            assert against_many(told) == ""
    assert said
