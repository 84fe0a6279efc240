"""A verdict has room for what is needed most; nothing of the rest is lost but what a table has."""

from __future__ import annotations

from recombine.mechanisms.verdicts.told_short import LONGEST, Part, clauses, told


def test_what_is_needed_least_goes_to_the_notes_and_what_a_table_has_to_none():
    first, last = Part("It fails: " + "x" * 300), Part("Mechanism: " + "y" * 90)
    why = clauses("Some are wrong. Others are (p < 0.01) not " + "z" * 40, 1)
    said, left = told([first, Part("A table has " + "t" * 60, 5, in_table=True), *why, last])
    assert said == f"{first.text}. Some are wrong. {last.text}."
    assert left == ("Others are (p < 0.01) not " + "z" * 40 + ".",)
    assert len(said) <= LONGEST


def test_all_is_said_where_there_is_room_and_what_is_always_said_is_never_left_out():
    assert told([Part("One"), Part("two", joint="; "), Part("Three", 9)]) == ("One; two. Three.", ())
    assert told([Part("a" * 400, short="a"), Part("b" * 400)]) == ("a. " + "b" * 400 + ".", ())


def test_of_combinations_that_are_listed_the_first_is_named_where_room_is_scarce():
    listed = "3 of 9 unseen combinations are clearly wrong: a = 1 (error 2.00); a = 2 (error 1.00); a = 3 (error 0.50)"
    said, left = told([Part("f" * 355), *clauses(f"{listed}.", 1)])
    assert said.endswith("are clearly wrong: a = 1 (error 2.00); and 2 more.")
    assert not left
