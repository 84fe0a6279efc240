"""Options in our sentences can be pasted into a shell, whatever columns and levels are called."""

from __future__ import annotations

import re
import shlex

import pytest
from hypothesis import given, strategies as st

from recombine.checks import check
from recombine.checks.columns.unnamed import in_parts
from recombine.cli.options import pairs, shapes, words
from recombine.errors import InputError
from recombine.support.pasted import chosen, excluded, hint, mapped, option, single
from recombine.support.table import factor_names

SIGNS = st.text(st.sampled_from("ab ,\"'$-=;é"), min_size=1).map(str.strip).filter(bool)


@given(st.lists(SIGNS, min_size=1, max_size=4))
def test_lists_are_read_as_they_were(names):
    assert words(_value(option("factors", *names))) == names


@given(SIGNS)
def test_one_name_is_read_as_it_is(name):
    assert _value(single("weights", name)) == name


@given(SIGNS.filter(lambda name: "=" not in name), SIGNS)
def test_levels_are_read_as_they_were(name, level):
    assert pairs(_value(option("exclude", f"{name}={level}")), "--exclude") == {name: level}


@given(st.lists(SIGNS, min_size=1, max_size=3, unique=True))
def test_in_python_names_are_read_as_they_were(names):
    told = hint("block", *names)
    python = told[told.index("blocks=") :].removesuffix(")")
    assert told.startswith(option("block", *names))
    assert factor_names(eval(f"dict({python})")["blocks"]) == names


def test_hints_say_both():
    assert hint("numeric", "dose, mg") == """--numeric '"dose, mg"' (numeric=['dose, mg'])"""
    assert (
        in_parts("run, no") == """--bins '"run, no=4"' --block '"run, no"' (bins={'run, no': 4}, blocks=['run, no'])"""
    )
    assert [chosen("order", 2), chosen("grid", True)] == ["--order 2 (order=2)", "--grid (grid=True)"]
    assert mapped("numeric", {"dose": "spline"}) == "--numeric dose=spline (numeric={'dose': 'spline'})"
    assert excluded([{"a": 1, "b": "x"}]) == "--exclude a=1,b=x (exclude=[{'a': 1, 'b': 'x'}])"


def _value(pasted: str) -> str:
    """What the command is given as the value of the option."""
    first, *rest = shlex.split(pasted)
    return rest[0] if rest else first.partition("=")[2]


@pytest.mark.parametrize("name", ["dose", "dose, mg", 'the "dose"', "dose of it"])
def test_a_suggested_option_names_its_column(name):
    table = {name: [x / 7 for x in range(80)], "b": [x % 2 for x in range(80)], "y": [float(x) for x in range(80)]}
    with pytest.raises(InputError, match="different decimal values") as told:
        check(table, [name, "b"], target="y")
    numeric = re.search(r"--numeric (.*) \(numeric=", str(told.value))
    bins = re.search(r"--bins (.*) \(bins=", str(told.value))
    assert numeric is not None
    assert bins is not None
    assert shapes(shlex.split(numeric[1])) == {name: "linear"}
    assert pairs(shlex.split(bins[1])[0], "--bins") == {name: "5"}
