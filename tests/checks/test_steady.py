"""Shifts of blocks that follow a line are told from shifts that jump; a hint never says what is done already."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from recombine.checks import CheckResult, check
from recombine.checks.columns.steady import steady
from recombine.support.table import Target

LINE = "shifts of week follow a line along it"


def weekly(seed: int, kind: str, rows: int = 150, weeks: int = 8) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Combinations of 6 × 5, of which most are seen, the week of each row and its answer."""
    rng = np.random.default_rng([seed, 3])
    codes = np.stack(np.divmod(rng.choice(rng.permutation(30)[:22], rows), 5), axis=1)
    week = rng.permutation(rows) * weeks // rows
    line = np.linspace(-2, 2, weeks)
    shift = {"line": line, "jumps": rng.permutation(line), "step": 2 * np.sign(line), "none": 0 * line}[kind]
    effects = rng.standard_normal(6)[codes[:, 0]] + rng.standard_normal(5)[codes[:, 1]]
    return codes, week, effects + shift[week] + rng.standard_normal(rows)


def followed(kind: str) -> int:
    """In how many of twelve tables a line is followed."""
    found = 0
    for seed in range(12):
        codes, week, y = weekly(seed, kind)
        x = np.hstack([np.eye(6)[codes[:, 0]], np.eye(5)[codes[:, 1]]])
        told = Target("y", None, np.ones(len(y)), y, np.zeros(len(y)))
        found += steady(codes, x, week.astype(float), told) is not None
    return found


def checked(kind: str, **how) -> CheckResult:
    codes, week, y = weekly(100, kind)
    order = np.argsort(week, kind="stable")
    table = {"a": codes[order, 0], "b": codes[order, 1], "week": week[order] + 1, "y": y[order]}
    return check(table, ["a", "b"], target="y", draws=9, **how)


def test_a_line_is_told_from_jumps_a_step_and_nothing():
    assert followed("line") >= 10
    assert [followed(kind) for kind in ("jumps", "step", "none")] == [0, 0, 0]


def test_who_names_blocks_that_follow_a_line_is_told_of_a_number_and_who_names_others_is_not():
    line, jumps = (checked(kind, blocks="week") for kind in ("line", "jumps"))
    assert LINE in line.shifts.words
    assert "name week as a factor instead, with --numeric week (numeric='week')" in line.shifts.words
    assert (line.to_dict()["blocks"]["steady"], jumps.to_dict()["blocks"]["steady"]) == (["week"], [])
    assert LINE not in jumps.shifts.words


@pytest.mark.parametrize(
    ("kind", "hint"),
    [("line", "with --numeric week (numeric='week'), as it follows a line"), ("jumps", "--block week")],
)
def test_a_column_that_nobody_named_is_a_number_where_it_follows_a_line(kind, hint):
    assert any(hint in note for note in checked(kind).notes)


def test_what_goes_on_within_blocks_along_the_rows_is_not_to_be_taken_off_as_it_was(tmp_path):
    rng, rows = np.random.default_rng(1), 200
    codes = np.stack(np.divmod(rng.choice(rng.permutation(48)[:36], rows), 6), axis=1)
    codes = codes[np.argsort(codes[:, 0] + rng.standard_normal(rows))]
    y = codes @ [0.3, 0.2] + 8 * np.arange(rows) / rows + rng.standard_normal(rows)
    part = [f"p{k}" for k in np.arange(rows) * 2 // rows]
    table = pl.DataFrame({"a": codes[:, 0], "b": codes[:, 1], "part": part, "y": y})
    said = " ".join(check(table, ["a", "b"], target="y", draws=9, blocks="part").notes)
    assert "as that follows a line, number the rows in a column, run, and name it as a factor" in said
    assert "instead of --block part" in said
    numbered = table.drop("part").with_columns(run=pl.int_range(1, rows + 1))
    numbered.write_csv(tmp_path / "runs.csv")
    of_file, of_frame = (
        check(source, ["a", "b"], target="y", draws=9, bins={"run": 4}, blocks="run")
        for source in (tmp_path / "runs.csv", numbered)
    )
    assert of_file.notes == of_frame.notes
    assert not any("--bins run=4" in note for note in of_file.notes)
