"""Numbers asked about beyond the values that their level was seen with."""

from __future__ import annotations

import numpy as np
import pytest

import recombine as rc


def seen_to(upto: int, slopes: dict[str, float]):
    """Drugs at doses 1 to 10, of which B was given up to one dose, asked about at the others."""
    rng = np.random.default_rng(2)
    cells = [(d, x) for d in slopes for x in range(1, 11) if d != "B" or x <= upto]
    y = [ord(d) - 65 + slopes[d] * x + rng.normal(0, 0.3) for d, x in cells]
    table = {"drug": [d for d, _ in cells], "dose": [x for _, x in cells], "y": y}
    test = {"drug": ["B"] * (10 - upto), "dose": list(range(upto + 1, 11))}
    return rc.check(table, ["drug", "dose"], target="y", numeric="dose", test=test)


def test_a_dose_beyond_those_of_its_drug_is_named_and_its_range_holds_a_slope_of_its_own():
    result = seen_to(2, {"A": 0.7, "B": 0.3})
    (own,) = result.to_dict()["forecast"]["own_ranges"]
    assert own["levels"] == [{"level": "B", "low": 1.0, "high": 2.0}]
    assert (own["factor"], own["number"], own["asked"], result.verdict) == ("drug", "dose", 8, "assumption unsupported")
    assert "dose is asked about beyond what was seen of it with drug B (1 to 2)" in result.sentence()
    assert "if dose does the same whatever drug is" in result.sentence()
    assert [n.split(" a slope of its own")[0] for n in result.notes if "slope" in n] == [
        "8 asked combinations have dose beyond what was seen of it with drug B (1 to 2):"
    ]
    far = next(q for q in result.queries if result.combination(q.codes)["dose"] == 10)
    assert far.low < 1 + 0.3 * 10 < far.high


@pytest.mark.parametrize(("upto", "drugs"), [(3, "ABCDEFGH"), (8, "AB")])
def test_slopes_that_many_drugs_share_or_many_doses_tell_are_taken_over_without_a_word(upto, drugs):
    result = seen_to(upto, dict.fromkeys(drugs, 0.7))
    assert result.forecast.own_ranges == ()
    assert result.verdict == "determined"
