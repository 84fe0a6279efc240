"""What a terminal shows while studies run, and that nothing is written where there is none."""

from __future__ import annotations

import io
import re
import sys

import pytest

from recombine.checks.rules.learners import TOLD
from recombine.cli.check import _watched
from recombine.cli.progress import bar, study_progress, waiting

STUDIES = [("first-study", {"alone": 0}), ("second-study", {"left": 0, "right": 0})]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    def lines(self) -> list[str]:
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.getvalue()).replace("\r", "\n").split("\n")


def look(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal in place of stderr. No fixture: pytest puts its own stderr back before a test begins."""
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    for name, value in {"COLUMNS": "80", "LINES": "40", "TERM": "xterm"}.items():
        monkeypatch.setenv(name, value)
    return shown


def test_the_display_says_what_runs_how_far_and_how_long_still(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = look(monkeypatch)
    with study_progress(STUDIES, quiet=False) as (progress, done):
        progress("first-study/alone", 1, 2, "problems")
        done("first-study/alone", None)
        progress("second-study/left", 3, 12, "member-steps")
    overall, current = [line for line in terminal.lines() if " of " in line][-2:]
    assert overall.startswith("2 studies")
    assert "1 of 3 runs" in overall
    assert overall.rstrip().endswith("left")
    assert current.strip().startswith("second-study/left")
    assert "3 of 12 member-steps" in current
    assert max(map(len, terminal.lines())) <= 80


def test_runs_that_are_computed_at_once_have_a_line_each_until_they_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = look(monkeypatch)
    with study_progress(STUDIES[1:], quiet=False) as (progress, done):
        progress("left", 1, 12, "member-steps")
        progress("right", 5, 12, "member-steps")
    overall, left, right = [line.strip() for line in terminal.lines() if " of " in line][-3:]
    assert overall.startswith("second-study")
    assert left.startswith("left")
    assert right.startswith("right")

    terminal = look(monkeypatch)
    with study_progress(STUDIES[1:], quiet=False) as (progress, done):
        progress("left", 1, 12, "member-steps")
        progress("right", 5, 12, "member-steps")
        done("left", None)
        progress("left", 2, 12, "member-steps")  # told too late by somebody who had not heard
    overall, right = [line.strip() for line in terminal.lines() if " of " in line][-2:]
    assert "1 of 2 runs" in overall
    assert right.startswith("right")


def test_waiting_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = look(monkeypatch)
    with waiting("writing the page", quiet=False):
        pass
    assert any("writing the page" in line for line in terminal.lines())


@pytest.mark.parametrize("quiet", [True, False])
def test_nothing_is_written_where_nobody_looks(quiet: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = look(monkeypatch)
    monkeypatch.setattr(terminal, "isatty", lambda: quiet)
    with study_progress(STUDIES, quiet=quiet) as (progress, done), waiting("writing", quiet=quiet):
        progress("alone", 1, 2, "steps")
        done("alone", None)
    assert terminal.getvalue() == ""


def test_one_piece_of_work_is_one_line_and_names_stay_text(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = look(monkeypatch)
    with bar("[bold]model", quiet=False) as tell:
        tell(3, 12, "masks")
    line = [line for line in terminal.lines() if " of " in line][-1]
    assert line.startswith("[bold]model")
    assert "3 of 12 masks" in line
    terminal = look(monkeypatch)
    with waiting("reading [bold]t.csv", quiet=False):
        pass
    assert "reading [bold]t.csv" in "".join(terminal.lines())
    terminal = look(monkeypatch)
    with bar("model", quiet=True) as tell:
        tell(1, 2, "masks")
    assert terminal.getvalue() == ""


def test_learners_of_a_check_say_how_far_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = look(monkeypatch)
    with _watched("checking it.csv", learning=True, quiet=False):
        told = TOLD.get()
        assert told is not None
        told(3, 12, "fits of the forest")
    assert any("checking it.csv" in line and "3 of 12 fits of the forest" in line for line in terminal.lines())
    assert TOLD.get() is None
