"""What people read: nothing is cut in a pipe, colours stay where they belong, counts are grammatical."""

from __future__ import annotations

import pytest

from recombine.cli.printing import LONGEST_NAME, counted, level, print_facts, print_table, print_verdict, size
from recombine.figures.data import label

Output = pytest.CaptureFixture[str]


def test_a_line_in_a_pipe_is_as_long_as_it_is(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    wide = ["a" * 50, "b" * 50, "c" * 50]
    print_table("three", ("one", "two", "three"), [wide], one_line=True)
    assert capsys.readouterr().out.splitlines()[2].split() == wide
    monkeypatch.setenv("COLUMNS", "60")
    print_table("three", ("one", "two", "three"), [wide], one_line=True)
    line = capsys.readouterr().out.splitlines()[2]
    assert len(line) <= 60
    assert "…" in line


def test_no_rows_are_a_sentence(capsys: Output) -> None:
    print_table("0 runs in a store with a long name", ("address",), [], one_line=True)
    assert capsys.readouterr().out == "0 runs in a store with a long name\n"


def test_what_does_not_fit_continues_below_itself(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    print_facts([("training", "word " * 12), ("gap", "1")])
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines[0].startswith("training  word")
    assert all(line.startswith("          word") for line in lines[1:-1])
    assert lines[-1] == "gap       1"


def test_only_the_verdict_is_coloured(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    print_verdict("fails", "red", "It [bold]fails.")
    assert capsys.readouterr().out == "\x1b[1;31mfails\x1b[0m — It [bold]fails.\n"


def test_a_long_verdict_is_said_to_its_end_and_an_endless_one_is_not(capsys: Output) -> None:
    print_verdict("fails", "red", "word " * 300 + "end.")
    assert capsys.readouterr().out.split()[-1] == "end."
    print_verdict("fails", "red", "word " * 3000 + "end.")
    assert len(capsys.readouterr().out) < 5000


def test_counts_and_sizes() -> None:
    assert [counted(n, "row") for n in (0, 1, 2, 12345)] == ["0 rows", "1 row", "2 rows", "12,345 rows"]
    sizes = [size(n) for n in (0, 999, 999.7, 151_412, 2.5e6, 999_600, 3e9, 4.2e12)]
    assert sizes == ["0 B", "999 B", "1 kB", "151 kB", "2.5 MB", "1 MB", "3 GB", "4,200 GB"]


def test_levels_that_end_in_a_space_are_told_apart():
    assert [str(level(v)) for v in ("Oslo", "Oslo ", 3)] == ["Oslo", "“Oslo ”", "3"]
    assert [label(v) for v in ("Oslo", "Oslo ", 3)] == ["Oslo", "“Oslo ”", "3"]


def test_long_levels_lose_their_middle_in_tables_and_stay_apart():
    long = [f"{'a remark that should be a column of its own ' * 4}{i}" for i in range(3)]
    cut = [str(level(name)) for name in long]
    assert len(set(cut)) == 3
    assert all(len(text) == LONGEST_NAME and "…" in text for text in cut)
    assert str(level("x" * LONGEST_NAME)) == "x" * LONGEST_NAME
