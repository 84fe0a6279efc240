"""An error to reach is in the answer's units, whatever scale effects add up on."""

from __future__ import annotations

import json
import math

import numpy as np
import polars as pl
import pytest
from planted_tables import additive, grid, seen_part, table
from scipy.special import expit, logit, ndtri

from recombine.checks import Purpose, check
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.plans.translated import Translated
from recombine.checks.rules.scales import scales
from recombine.checks.verdicts.verdict import CheckResult
from recombine.cli.main import main
from recombine.support.table import Target

BACK = {"log": np.exp, "log-odds": expit, "rank": lambda z: np.sinh(1.5 * z)}
EFFECTS = {"log": 1.0, "log-odds": 1.5, "rank": 1.0}


def planned(name: str, seed: int, purpose: Purpose, rows: int = 2, noise: float = 0.2) -> CheckResult:
    codes = np.repeat(seen_part((6, 5), seed)[0], rows, axis=0)
    z = EFFECTS[name] * additive(codes, (6, 5), seed) + noise * np.random.default_rng([seed, 1]).standard_normal(
        len(codes)
    )
    return check(table(codes, BACK[name](z)), ["a", "b"], target="y", draws=9, purpose=purpose)


def on_scale(name: str, codes: np.ndarray, y: np.ndarray, noise: float, error: float) -> Translated:
    (scale,) = (scale for scale in scales(y) if scale.name == name)
    target = Target("y", None, np.ones(len(y)), scale.forth(y), np.zeros(len(y)))
    return Translated(Identifiability(codes, (3, 3)), target, scale, noise, None, error)


def test_a_large_answer_allows_a_small_error_of_its_logarithm():
    codes = grid(3, 3)
    y = np.exp(codes @ [1.0, 2.0])
    found = on_scale("log", codes, y, 0.1, 2.0)
    off = ndtri(0.95) * 0.1 * math.sqrt(5 / 9)  # 5 effects of 9 combinations
    largest = found.scale.mean(np.log(y) + off, 0.1)
    assert found.sizes(codes) == pytest.approx(2.0 / np.log(1 + 2.0 / largest))


def test_log_odds_have_to_be_known_best_in_the_middle():
    codes = grid(3, 3)
    z = codes @ [2.0, 0.1] - 2.1
    found = on_scale("log-odds", codes, expit(z), 1e-6, 0.05)
    steps, place = 0.05 / found.sizes(codes), np.abs(z)
    moved = expit(place) - expit(place - steps)  # down, towards the middle
    assert moved == pytest.approx(0.05, rel=1e-3)
    assert place[steps.argmin()] < 0.11
    assert steps.max() > 2 * steps.min()


def test_what_is_not_determined_may_be_as_large_as_it_likes_but_no_share_exceeds_one():
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [2, 2]])
    y = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
    asked = np.array([[0, 0], [0, 2]])
    assert np.isinf(on_scale("log", codes, y, 0.1, 0.05).sizes(asked)).tolist() == [False, True]
    none = on_scale("log-odds", codes, y, 1e-6, 0.05).sizes(asked)[1]
    assert none == pytest.approx(0.05 / (2 * logit(0.525)))


@pytest.mark.parametrize(("name", "error", "seeds"), [("log", 1.0, (0, 2, 5)), ("log-odds", 0.02, (2, 3, 5))])
def test_rows_until_an_error_reach_it_in_the_units_of_every_answer(name, error, seeds):
    for seed in seeds:
        result = planned(name, seed, Purpose(error=error))
        plan = result.plan
        assert (plan.scale, plan.units, plan.untold) == (name, "answer", "")
        assert plan.enough
        assert plan.worst_high <= error * (1 + 1e-6)
        assert plan.noise == pytest.approx(0.2, rel=0.4)
        cells = grid(6, 5)
        seen = np.repeat(seen_part((6, 5), seed)[0], 2, axis=0)
        names = [[int(str(v)[1:]) for v in levels.values()] for levels in result.space.decode(plan.cells)]
        rows = np.concatenate([seen, np.reshape(names, (-1, 2)).astype(int)])
        x, ask = (np.hstack([np.eye(n)[c[:, k]] for k, n in enumerate((6, 5))]) for c in (rows, cells))
        off = 0.2 * np.sqrt(((ask @ np.linalg.pinv(x.T @ x)) * ask).sum(axis=1))
        z = EFFECTS[name] * additive(cells, (6, 5), seed)
        moved = np.maximum(BACK[name](z + off) - BACK[name](z), BACK[name](z) - BACK[name](z - off))
        assert moved.max() <= error


def test_a_plan_is_on_the_scale_of_the_rule_that_answers_also_where_sums_are_not_rejected():
    scaled = 0
    for seed in range(4):
        result = planned("log", seed, Purpose(error=0.5), rows=1, noise=0.3)
        if result.doubt is None and result.forecast.scale is not None and result.scale is None:
            assert result.plan.scale == result.forecast.scale.name
            scaled += "if effects multiply" in result.plan.words
    assert scaled


def test_on_a_rank_scale_no_error_is_promised():
    result = planned("rank", 2, Purpose(error=0.3))
    plan = result.plan
    assert (result.forecast.scale.name, len(plan.cells), plan.worst, plan.enough) == ("rank", 0, None, False)
    assert "no rows are promised to reach the error asked for, in the answer's units: on a rank scale" in plan.words
    assert json.loads(result.to_json())["plan"]["untold"] == plan.untold
    spent = planned("rank", 2, Purpose(budget=3)).plan
    assert (len(spent.cells), spent.untold, spent.units) == (3, "", "noise")


def test_an_answer_that_may_be_of_any_size_gets_the_rows_that_determine_it_and_no_promise():
    cells = seen_part((6, 6), 1)[0]
    codes = np.repeat(np.vstack([cells[(cells > 0).all(axis=1)], [[0, 0]]]), 2, axis=0)
    z = additive(codes, (6, 6), 1) + 0.1 * np.random.default_rng(1).standard_normal(len(codes))
    result = check(table(codes, np.exp(z)), ["a", "b"], target="y", draws=9, purpose=Purpose(error=0.3))
    plan = result.plan
    assert (plan.scale, len(plan.cells), plan.worst, plan.enough) == ("log", 1, None, False)
    assert "10 asked combinations are not determined yet, and how large an answer is decides" in plan.words
    assert "; 1 row determines what is asked: collect it and ask again." in plan.words


def test_no_rows_are_promised_where_blocks_shift_and_effects_multiply_and_all_else_is_told(tmp_path, capsys):
    codes = np.repeat(seen_part((6, 5), 1)[0], 3, axis=0)
    rng = np.random.default_rng(1)
    y = np.exp(2 + additive(codes, (6, 5), 1) + 0.1 * rng.standard_normal(len(codes)))
    days = table(codes, y) | {"day": rng.integers(3, size=len(codes))}
    result = check(days, ["a", "b"], target="y", draws=9, blocks="day", purpose=Purpose(error=0.5))
    assert (result.verdict, len(result.plan.cells), result.plan.enough) == ("determined on a log scale", 0, False)
    assert "add up on a log scale, and shifts of day are in the answer's own units" in result.plan.words
    path = tmp_path / "days.csv"
    pl.DataFrame(days).write_csv(path)
    asked = ["--factors", "a,b", "--target", "y", "--block", "day", "--until-error", "0.5"]
    with pytest.raises(SystemExit) as done:
        main(["check", str(path), *asked])
    assert done.value.code == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "plan: no rows are promised to reach the error asked for" in out
    assert "answer: by the forecast's rule" in out


def test_no_row_on_a_new_day_is_needed_where_the_most_that_the_noise_may_be_needs_none():
    codes = np.repeat(seen_part((6, 5), 1)[0], 3, axis=0)
    rng, day = np.random.default_rng(0), np.tile(np.arange(3), len(codes) // 3)
    y = additive(codes, (6, 5), 0) + day + 0.3 * rng.standard_normal(len(codes))
    days = table(codes, y) | {"day": day}
    plan = check(days, ["a", "b"], target="y", draws=9, blocks="day", purpose=Purpose(error=9.0)).plan
    assert (len(plan.cells), plan.enough, plan.unsure, plan.worst_high < 9) == (0, True, False, True)


def test_the_units_are_said():
    told = planned("log", 0, Purpose(error=0.5, noise=1.0), noise=0.2).plan.words
    assert "in the answer's units" in told
    plain = table(seen_part((4, 4), 0)[0], additive(seen_part((4, 4), 0)[0], (4, 4), 0))
    known = check(plain, ["a", "b"], target="y", draws=9, purpose=Purpose(error=0.5, noise=1.0)).plan
    assert known.units == "answer"
    assert "; in the answer's units, with a noise of 1 per row)" in known.words
    unknown = check({k: plain[k] for k in "ab"}, ["a", "b"], purpose=Purpose(error=0.5)).plan
    assert unknown.units == "noise"
    assert "in units of one row's noise, which is not known" in unknown.words
