"""A verdict has room for what is needed most; nothing of the rest is lost but what a table has."""

from __future__ import annotations

from hypothesis import given, strategies as st

from recombine.mechanisms.verdicts.told_short import LEANS, LONGEST, Part, clauses, leaning, told


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


LEAD = "2 of 9 unseen combinations are clearly wrong: a = 1 (error 2.00)"


@given(
    st.lists(st.tuples(st.integers(1, 30), st.booleans(), st.integers(0, 4)), min_size=1, max_size=6),
    st.integers(0, 400),
)
def test_what_needs_the_clause_before_it_never_stands_without_it(made: list[tuple[int, bool, int]], more: int) -> None:
    parts = [Part("f" * (more + 1))]
    for i, (size, leans, need) in enumerate(made):
        parts += clauses(f"Clause {i} {'x' * size}" + f". The other {i} err" * leans, need)
    said, left = told(leaning(parts, "The other 99 err"))
    for text in (said, *left):
        for i, (size, leans, _) in enumerate(made):
            if leans and f"The other {i} err" in text:
                assert f"Clause {i} {'x' * size}. The other {i} err" in text
        assert not LEANS.match(text)
    whole = " ".join([said, *left])
    assert all(f"Clause {i} " in whole and (not leans or f"The other {i} err" in whole) for i, (_, leans, _) in
               enumerate(made))  # fmt: skip
    assert "The other 99 err" in whole


def test_a_clause_about_the_others_follows_those_that_are_named() -> None:
    parts = leaning(
        [*clauses("One answer is better", 1), *clauses(f"{LEAD}; b = 2 (error 1.00)", 2)], "The other 7 err"
    )
    assert told(parts)[0] == f"One answer is better. {LEAD}; b = 2 (error 1.00). The other 7 err."
    said, left = told([Part("f" * 340), *parts])
    assert said.endswith(f"One answer is better. {LEAD}; and 1 more.")
    assert left == (f"{LEAD}; and 1 more. The other 7 err.",)
