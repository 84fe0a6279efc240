"""Numbers as people write them, and levels that only look different."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from recombine.errors import InputError
from recombine.support.numerals import alike, lattice, nearly, one_of_alike, read_numbers, same


@pytest.mark.parametrize(
    ("texts", "semicolons", "values", "note"),
    [
        (["2,5", "3"], False, {"2,5": 2.5, "3": 3.0}, "read as decimal points: 2,5 is 2.5."),
        (["1,234"], True, {"1,234": 1.234}, "read as decimal points: 1,234 is 1.234."),
        (["1,234", "5.5"], False, {"1,234": 1234.0, "5.5": 5.5}, "read as thousands: 1,234 is 1234."),
        (["0,847", "1,234"], False, {"0,847": 0.847, "1,234": 1.234}, "read as decimal points: 0,847 is 0.847."),
        (["1,234,567.5", "2"], True, {"1,234,567.5": 1234567.5, "2": 2.0}, "read as thousands"),
        (["1.000,5", "1.000"], False, {"1.000,5": 1000.5, "1.000": 1000.0}, "1.000,5 is 1000.5."),
        (["10 %", "7%"], False, {"10 %": 10.0, "7%": 7.0}, "The % signs in 'y' are left out: 10 % is 10."),
        (["1 000", "12"], False, {"1 000": 1000.0, "12": 12.0}, None),
        (["-", "3", " 4 "], False, {"3": 3.0, " 4 ": 4.0}, "'-' in 'y' is read as missing."),
        (["-3", "+2e-3", ""], False, {"-3": -3.0, "+2e-3": 0.002}, None),
    ],
)
def test_ways_of_writing_numbers(texts, semicolons, values, note):
    found = read_numbers("y", texts, semicolons)
    assert found.values == values
    assert (note is None and not found.notes) or any(note in said for said in found.notes)


@pytest.mark.parametrize(
    "texts", [["a", "1"], ["007", "1"], ["1,5", "1.5"], ["1,00,0", "1.5"], ["10 %", "0.1"], ["-"], ["1_000"], []]
)
def test_what_is_not_numbers_stays_text(texts):
    assert read_numbers("y", texts) is None


@pytest.mark.parametrize("text", ["inf", "-Infinity", "1e308", "1e999"])
def test_what_cannot_be_calculated_with_is_refused(text):
    with pytest.raises(InputError, match=r"column 'y' holds .*; correct such cells or leave them blank"):
        read_numbers("y", ["1", text])


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, unique=True))
def test_commas_for_points_change_no_number(values):
    texts = {f"{v:.4f}": float(f"{v:.4f}") for v in values}
    assert read_numbers("y", texts).values == texts
    assert read_numbers("y", [t.replace(".", ",") for t in texts], True).values == {
        t.replace(".", ","): v for t, v in texts.items()
    }
    assert read_numbers("y", [f"{v:,.4f}" for v in texts.values()]).values == {f"{v:,.4f}": v for v in texts.values()}


def test_levels_that_differ_in_nothing_one_sees_are_named():
    assert one_of_alike(["US", "us", "US ", "eu"], {"us": 3, "US": 1, "US ": 9}) == {
        "us": "us", "US": "us", "US ": "us", "eu": "eu",
    }  # fmt: skip
    (note,) = alike("site", ["US", "US ", "EU", "eu", "Asia"])
    assert note.startswith("Column 'site' has levels that differ only in spaces or capitals: 'EU' and 'eu', 'US' and")
    assert alike("site", ["cafe\u0301", "caf\u00e9"])
    assert alike("site", ["US", "EU", "-1", "1", "2.5", "2.05", "10", "100"]) == []
    (note,) = alike("machine", ["1", "01", "2", "m-1", "m 1", "m_2"])
    assert "differ only in dashes or leading zeros: '01' and '1', 'm 1' and 'm-1'; they count as different" in note
    assert alike("sign", ["+", "-", "0"]) == []
    assert "leave such cells blank" in alike("site", ["US", "-", "EU"])[0]


@pytest.mark.parametrize(
    ("one", "two", "alike_but_for_spaces", "nearly_alike"),
    [
        ("HEK 293", "HEK293", True, True), ("HEK\u00a0293", "HEK293", True, True), ("HEK-293", "HEK293", False, True),
        ("a-1", "a1", False, True), ("1 0", "10", False, False), ("1-0", "10", False, False),
        ("1.5", "15", False, False), ("a-1 1", "a-11", False, False), ("a-05", "a5", False, True),
    ],
)  # fmt: skip
def test_a_space_between_digits_counts_and_any_other_does_not(one, two, alike_but_for_spaces, nearly_alike):
    assert (same(one) == same(two)) is alike_but_for_spaces
    assert (nearly(one) == nearly(two)) is nearly_alike


@pytest.mark.parametrize("unit", [1, 5, 1000, 0.25])
def test_the_lattice_goes_with_the_unit_and_not_with_what_numbers_end_in(unit):
    whole = np.array([3.0, 10, 44, 51, 62])
    assert lattice(unit * whole) == pytest.approx(unit)
    assert lattice(np.round(unit * whole - 0.01, 2)) == pytest.approx(unit)


def test_the_lattice_of_what_is_not_rounded_and_of_one_number():
    assert lattice(np.random.default_rng(0).standard_normal(9)) == 0
    assert lattice(np.array([4.5, 4.5])) == pytest.approx(0.1)
    assert lattice(np.array([])) == 0
