"""A level that training never shows and that may be a misspelt one is said to be; a level of its own is not."""

from __future__ import annotations

import pytest

import recombine as rc
from recombine.checks.misspelt import one_letter

TRAIN = {
    "dose": ["0", "0", "1", "1", "2"],
    "cell": ["HEK293", "Jurkat", "HEK293", "Jurkat", "HEK293"],
    "y": [1.0, 2.0, 2.0, 3.5, 3.0],
}


@pytest.mark.parametrize("asked", ["HEK 293", "HEK\u00a0293", "HEK-293", "hek293"])
def test_spaces_dashes_and_capitals(asked):
    result = rc.check(TRAIN, ["dose", "cell"], target="y", test={"dose": ["0"], "cell": [asked]}, draws=9)
    assert result.verdict == "unseen level"
    assert "(did you mean HEK293?)" in " ".join(result.notes)
    assert "misspelt" in result.sentence()


def test_a_level_of_its_own_is_none():
    result = rc.check(TRAIN, ["dose", "cell"], target="y", test={"dose": ["0", "3"], "cell": ["HeLa"] * 2}, draws=9)
    assert "misspelt" not in result.sentence() + " ".join(result.notes)


@pytest.mark.parametrize("two", ["Jurkatt", "Jukrat", "Jurka", "Jürkat", "jurkatt"])
def test_one_letter(two):
    assert one_letter("Jurkat", two)


@pytest.mark.parametrize(
    ("one", "two"),
    [("siteA", "siteB"), ("MCF7", "MCF8"), ("groupA1", "groupB1"), ("north", "south"), ("type a", "type ab"),
     ("model 1", "model 11"), ("Jurkat", "Jurkat")],
)  # fmt: skip
def test_what_is_meant_to_differ(one, two):
    assert not one_letter(one, two)


def test_where_seen_levels_differ_by_a_letter_nothing_is_said():
    train = TRAIN | {"cell": ["colour", "colours", "colour", "colours", "colour"]}
    result = rc.check(train, ["dose", "cell"], target="y", test={"dose": ["0"], "cell": ["coulour"]}, draws=9)
    assert "misspelt" not in result.sentence()
