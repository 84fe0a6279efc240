"""A plan that rests on an estimated noise: how far that may be off, and rows that do also then."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from planted_tables import additive_table
from scipy.stats import chi2

from recombine.checks import Purpose, check
from recombine.checks.plans.noise import times_off
from recombine.checks.verdicts.verdict import CheckResult


def planned(purpose: Purpose, seed: int = 2, rows: int = 1, sizes: tuple[int, ...] = (4, 4)) -> CheckResult:
    table = additive_table(sizes, seed, rows=rows)
    return check(table, list("abc"[: len(sizes)]), target="y", draws=9, purpose=purpose)


@pytest.mark.parametrize("freedom", [1, 5.5, 30])
def test_the_noise_lies_between_these_in_nine_of_ten(freedom):
    low, high = times_off(freedom)  # s² ν / σ² is χ²
    assert chi2.sf(freedom / high**2, freedom) == pytest.approx(0.95)
    assert chi2.sf(freedom / low**2, freedom) == pytest.approx(0.05)
    assert low < 1 < high


def test_a_noise_that_is_known_is_not_off():
    assert times_off(None) == (1.0, 1.0)
    plan = planned(Purpose(error=0.6, noise=1.0)).plan
    assert (plan.freedom, plan.as_estimated, plan.noise_range) == (None, None, (1.0, 1.0))
    assert plan.worst_high == plan.worst <= 0.6 * (1 + 1e-6)
    assert "freedom" not in plan.words


def test_rows_until_an_error_do_also_with_the_most_that_the_noise_may_be_and_the_first_of_them_as_estimated(
    monkeypatch,
):
    monkeypatch.setattr("recombine.checks.plans.reckoned.Uneven.of", lambda *_: None)  # as where it is given
    result = planned(Purpose(error=0.6))
    plan = result.plan
    few = planned(Purpose(error=0.6, noise=plan.noise)).plan
    sure = planned(Purpose(error=0.6, noise=plan.noise_range[1])).plan
    assert plan.worst < plan.worst_high <= 0.6 * (1 + 1e-6)
    assert (len(plan.cells), plan.as_estimated, plan.fewest) == (len(sure.cells), len(few.cells), sure.fewest)
    first = plan.cells[: plan.as_estimated]
    assert sorted(first.tolist()) == sorted(few.cells.tolist())
    ends = " to ".join(f"{end:.3g}" for end in plan.noise_range)
    assert f"estimated with {plan.freedom:.0f} degrees of freedom, may be {ends} (90 %)" in plan.words
    assert f"With the noise as estimated the first {plan.as_estimated} would do" in plan.words
    said = json.loads(result.to_json())["plan"]
    assert (said["worst_high"], said["as_estimated"]) == (plan.worst_high, plan.as_estimated)
    assert said["noise_range"] == list(plan.noise_range)


def test_nothing_is_as_precise_already_that_the_noise_may_leave_less_precise():
    start = planned(Purpose(budget=1)).plan
    known = planned(Purpose(error=100.0)).plan
    assert not len(known.cells)
    between = math.sqrt(known.worst * known.worst_high)
    plan = planned(Purpose(error=between)).plan
    assert len(plan.cells)
    assert plan.as_estimated == 0
    assert "already" not in plan.words
    assert "With the noise as estimated none would be needed" in plan.words
    enough = planned(Purpose(error=known.worst_high * 1.001)).plan
    assert not len(enough.cells)
    assert "every asked answer is as precise already, if effects add up: at worst" in enough.words
    assert f"or {known.worst_high:.3g} with a noise of {known.noise_range[1]:.3g}" in enough.words
    assert (start.freedom, start.as_estimated) == (known.freedom, None)


def test_repeated_rows_tell_the_noise_with_their_degrees_of_freedom():
    once, thrice = (planned(Purpose(error=0.4), rows=rows).plan for rows in (1, 3))
    cells = len(additive_table((4, 4), 2)["y"])
    assert thrice.freedom == pytest.approx(once.freedom + 2 * cells, abs=1)
    asked = planned(Purpose(error=0.05), rows=3).plan
    assert asked.outright.freedom == 2 * cells
    spread = asked.outright.noise / times_off(2 * cells)[1]
    y = np.reshape(additive_table((4, 4), 2, rows=3)["y"], (-1, 3))
    assert spread == pytest.approx(math.sqrt(y.var(axis=1, ddof=1).mean()))
    assert asked.outright.times == math.ceil((asked.outright.noise / 0.05) ** 2)


def test_an_error_that_only_the_estimate_reaches_is_out_of_reach_with_a_larger_noise():
    table, enough = additive_table((4, 4), 2), planned(Purpose(error=100.0)).plan
    elsewhere = [{"a": level} for level in ("a1", "a2", "a3")]  # what cannot be collected
    purpose = Purpose(error=enough.worst * 1.001)
    plan = check(table, ["a", "b"], target="y", draws=9, forbid=elsewhere, purpose=purpose).plan
    assert (plan.unsure, len(plan.cells)) == (True, 0)
    assert "no row is needed if effects add up and the noise is what it was estimated to be" in plan.words
    assert f"with a noise of {plan.noise_range[1]:.3g} what is asked for is out of reach" in plan.words


def test_what_is_promised_holds_as_often_as_said():
    held = estimated = 0
    for seed in range(20):
        result = planned(Purpose(error=1.2), seed=seed, sizes=(5, 4))
        plan = result.plan  # the noise is 1
        held += plan.noise_range[1] >= 1
        estimated += plan.noise >= 1
    assert held >= 17
    assert estimated <= 14
