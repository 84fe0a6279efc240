"""A promise does not rest on which of two scales it is where the seen answers do not tell."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from planted_tables import additive, grid, seen_part, table

from recombine.checks import Purpose, check
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.plans.rivals import _odds, least_squares, rivals
from recombine.checks.rules.scales import PLAIN, scales
from recombine.support.table import Target


def target_of(y):
    return Target("y", None, np.ones(len(y), dtype=np.int64), np.asarray(y, dtype=float), np.zeros(len(y)))


def answers(effect: float, noise: float, seed: int):
    codes = seen_part((6, 5), seed)[0]
    z = effect * additive(codes, (6, 5), seed) + noise * np.random.default_rng(seed).standard_normal(len(codes))
    return codes, z


def test_the_odds_of_a_scale_are_those_of_box_and_cox():
    codes = grid(4, 4)
    y = np.exp(1 + np.random.default_rng(0).standard_normal(16))
    known, target = Identifiability(codes, (4, 4)), target_of(y)
    x = np.hstack([np.eye(4)[codes[:, 0]], np.eye(4)[codes[:, 1]]])
    told = {}
    for scale in (PLAIN, scales(y)[0]):
        z = scale.forth(y) * (1.0 if scale is PLAIN else math.exp(np.log(y).mean()))  # over the mean slope, geometric
        left = z - x @ np.linalg.lstsq(x, z, rcond=None)[0]
        told[scale.name] = -(16 - 7) / 2 * math.log(left @ left)
        assert _odds(known, target, scale) == pytest.approx(told[scale.name], abs=0.02)
    in_other_units = target_of(1000 * y)
    moved = [_odds(known, in_other_units, s) - _odds(known, target, s) for s in (PLAIN, scales(y)[0])]
    assert moved[0] == pytest.approx(moved[1])


@pytest.mark.parametrize("seed", [400, 401, 402])
def test_a_scale_is_told_where_answers_differ_much(seed):
    codes, z = answers(1.0, 0.2, seed)
    known, target = Identifiability(codes, (6, 5)), target_of(np.exp(z))
    assert rivals(known, target, scales(np.exp(z))[0]) == ()
    assert [scale.name for scale in rivals(known, target, None)] == ["log"]  # sums won by chance
    even = target_of(np.ones(len(codes)))
    assert (rivals(known, even, None), least_squares(known, even)) == ((), (0.0, len(codes) - 10))


def of_either(seed=404):
    codes, z = answers(1.0, 0.5, seed)
    return table(codes, 10 + 2 * z)


def test_rows_do_on_both_scales_where_the_seen_answers_tell_neither():
    plan = check(of_either(), ["a", "b"], target="y", draws=9, purpose=Purpose(error=0.6)).plan
    assert {plan.scale or "", *plan.also} == {"", "log"}
    assert plan.enough
    assert plan.worst_high <= 0.6 * (1 + 1e-6)
    assert plan.fewest <= len(plan.cells) >= plan.as_estimated > 0
    assert re.search(r"do not tell whether effects (multiply or add up|add up or multiply): these rows do", plan.words)
    assert plan.to_dict(check(of_either(), ["a", "b"]).space)["also"] == list(plan.also)


def test_nothing_is_promised_where_one_of_both_cannot_be():
    seen = of_either(409)
    days = seen | {"day": np.arange(len(seen["y"])) % 3}
    plan = check(days, ["a", "b"], target="y", draws=9, blocks="day", purpose=Purpose(error=1.5)).plan
    assert "do not tell whether effects add up or multiply, and shifts of day are in the" in plan.untold
    assert not plan.enough
