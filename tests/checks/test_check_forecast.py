"""The forecast of a check: closed forms first, then planted truths, among them tables where nothing is going on."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from planted_tables import additive, grid, planted, seen_part

from recombine.checks import check
from recombine.checks.forecasts.error_range import evenness, independent, likened_to, of_normal, range_of
from recombine.checks.forecasts.expected import Forecast
from recombine.checks.forecasts.forecast import _margin, _outdone, forecast
from recombine.checks.forecasts.forecast_words import level, substituted
from recombine.checks.forecasts.losses import as_learnt
from recombine.checks.rules.adding import Adding
from recombine.checks.rules.effects import Effects
from recombine.checks.rules.odds import Odds
from recombine.checks.rules.seen_cells import Cells
from recombine.checks.rules.stand_ins import stand_ins
from recombine.checks.rules.substitution import Substitution
from recombine.errors import InputError
from recombine.support.table import read_tables
from recombine.tables import TABLES, real_table


def test_a_border_case_has_one_verdict_whatever_the_seed_and_a_tie_goes_to_the_simpler_rule():
    yields = {
        "acetone": {20: 49.5, 40: 45.1, 60: 45.9, 80: 47.0, 100: 44.1},
        "DMF": {20: 48.5, 40: 52.6, 60: 57.6, 80: 51.7, 100: 41.4},
        "EtOH": {20: 54.5, 60: 61.6, 80: 58.6, 100: 51.2}, "toluene": {40: 66.0, 80: 67.3},
        "water": {60: 54.8, 80: 55.9, 100: 58.2}, "THF": {40: 54.0, 60: 39.8},
    }  # fmt: skip
    rows = [(solvent, f"{t}C", y) for solvent, some in yields.items() for t, y in some.items()]
    table = dict(zip(("solvent", "temp", "yield %"), map(list, zip(*rows, strict=True)), strict=True))
    found = [check(table, ["solvent", "temp"], target="yield %", seed=seed) for seed in (0, 2, 4)]
    assert {(result.verdict, result.rule) for result in found} == {("assumption unsupported", "additive")}
    assert "additive on a log-odds scale" in {rule.rule for rule in found[0].forecast.rules}


def test_one_answer_for_all_errs_by_what_the_rule_that_won_errs_by_and_what_it_tells_apart():
    shape, middle = (7, 6), np.array([-9.0, -8.0, -0.3, 0.0, 0.3, 8.0, 9.0])
    codes = grid(*shape)
    y = middle[codes[:, 0]] + 0.1 * np.arange(6)[codes[:, 1]] + 0.2 * np.random.default_rng(0).standard_normal(42)
    asked = np.isin(codes[:, 0], [2, 3, 4]) & np.isin(codes[:, 1], [1, 2])
    cells = Cells(codes, shape, np.ones(42), y, None).take(~asked)
    told = forecast(cells, codes[asked])
    off = told.estimate(codes[asked]).answers - cells.answers.mean()
    assert told.constant == pytest.approx(np.sqrt(told.error**2 + np.mean(off**2)))
    real = np.sqrt(np.mean((y[asked] - cells.answers.mean()) ** 2))  # small, where those left out err by 7
    assert 0.5 < told.constant / real < 2


@pytest.mark.parametrize("order", [1, 2])
def test_what_is_left_out_is_predicted_as_by_the_rest_alone(order):
    shape = (4, 3, 3)
    codes = grid(*shape)[::2]
    y = additive(codes, shape, 0) + 0.3 * np.random.default_rng(1).standard_normal(len(codes))
    noise = 1 + np.arange(len(codes)) % 3.0
    fit = Effects(codes, shape, y, noise, order)
    blocks = [block.columns(codes).toarray() for block in fit.blocks]
    covariance = 1e10 * fit.spread * np.ones((len(y), len(y)))
    covariance += sum(t * b @ b.T for t, b in zip(fit.theta, blocks, strict=True))
    group = np.array([5, 0, 9])
    rest = np.setdiff1d(np.arange(len(y)), group)
    own = fit.sigma2 * np.diag(fit.noise)
    solved = np.linalg.solve((covariance + own)[np.ix_(rest, rest)], covariance[rest, 5])
    ((place,), (sd,)) = fit.left_out([group])
    assert place == pytest.approx(float(solved @ y[rest]), abs=1e-4)
    assert sd**2 == pytest.approx(float(covariance[5, 5] + own[5, 5] - solved @ covariance[rest, 5]), abs=1e-3)


def test_a_factor_that_does_nothing_is_shrunk_away_and_exact_sums_are_met():
    codes = grid(6, 6, 3)
    exact = Effects(codes, (6, 6, 3), np.arange(6.0)[codes[:, 0]], np.ones(len(codes)), 1)
    assert exact.theta[0] > 1 > 1e-3 > exact.theta[1:].max()
    assert np.abs(exact.predict(codes)[0] - codes[:, 0]).max() < 1e-3


@settings(max_examples=25, deadline=None)
@given(st.tuples(st.integers(2, 5), st.integers(2, 5), st.integers(2, 4)), st.integers(0, 99))
def test_stand_ins_are_no_better_off_than_the_asked(shape, seed):
    seen, asked = seen_part(shape, seed, 0.8)
    pair = (asked[0, 0], asked[0, 1])
    seen = seen[~((seen[:, 0] == pair[0]) & (seen[:, 1] == pair[1]))]
    drawn = stand_ins(seen, shape, asked[:1], 20, np.random.default_rng(seed))
    for group in drawn.groups:
        rest, own = np.delete(seen, group, axis=0), seen[group[0]]
        assert len(set(group.tolist())) == len(group)
        assert all((rest[:, k] == own[k]).any() for k in range(3))
        assert not ((rest[:, 0] == own[0]) & (rest[:, 1] == own[1])).any()


def test_log_odds_without_a_group_are_those_of_a_fit_to_the_rest():
    codes = grid(4, 4, 2)
    chance = 1 / (1 + np.exp(-additive(codes, (4, 4, 2), 3)))
    cells = Cells(codes, (4, 4, 2), np.full(len(codes), 50.0), np.stack([1 - chance, chance], axis=1), None)
    whole = Odds("additive", cells, 1)
    said = whole.left_out([np.array([7, 1])])[0]
    alone = Odds("additive", cells.take(np.setdiff1d(np.arange(len(codes)), [7, 1])), 1).answer(codes[[7]])[0]
    assert said == pytest.approx(alone, abs=0.02)
    assert said[1] == pytest.approx(chance[7], abs=0.05)


def test_levels_that_did_the_same_replace_each_other():
    codes = grid(6, 6)
    classes = (codes[:, 0] % 2) ^ (codes[:, 1] % 2)
    keep = np.random.default_rng(0).random(36) < 0.75
    cells = Cells(codes[keep], (6, 6), np.ones(keep.sum()), np.eye(2)[classes[keep]], None)
    rule = Substitution(cells)
    assert rule.covered(codes[~keep]).all()
    assert (rule.answer(codes[~keep]).argmax(axis=1) == classes[~keep]).all()
    found = forecast(cells, codes[~keep])
    assert isinstance(found, Forecast)
    assert (found.rule, found.error, found.metric) == ("substitution", 0.0, "error rate")
    assert found.substitution is not None
    assert found.substitution["right"] == 1.0
    assert 0.3 < found.substitution["guessed"] < 0.7  # about half of either class
    asked = (~keep).sum()
    right = f"covers {asked} of {asked}; of {found.stand_ins} stand-ins that it covers it had 100 %"
    assert right in substituted(found)
    mostly = np.where(codes[:, 0] == 0, classes, 0)  # nearly all of one class: to be right is no feat
    cells = Cells(codes[keep], (6, 6), np.ones(keep.sum()), np.eye(2)[mostly[keep]], None)
    rule = Substitution(cells)
    rule.left_out([np.array([i]) for i in range(len(cells.codes))])
    assert rule.guessed.mean() == pytest.approx((mostly[keep] == 0).mean())


def test_exact_sums_are_forecast_without_error():
    seen, asked = seen_part((5, 5, 3), 0)
    y = additive(seen, (5, 5, 3), 1)
    found = forecast(Cells(seen, (5, 5, 3), np.ones(len(seen)), y, None), asked)
    assert isinstance(found, Forecast)
    assert (found.rule, found.explains) == ("additive", True)
    assert found.error < 1e-3 * found.constant
    said = found.estimate(asked)
    truth = additive(asked, (5, 5, 3), 1)
    assert np.abs(said.answers - truth).max() < 1e-2


def xor(codes: np.ndarray) -> np.ndarray:
    return ((codes[:, 0] % 2) ^ (codes[:, 1] % 2)).astype(float)


NOT_SUMS = {
    "xor of three": ((2, 2, 6), xor, False),
    "xor of classes": ((2, 2, 6), xor, True),
    "xor of two": ((6, 6), xor, False),
    "xor of two classes": ((6, 6), xor, True),
    "xor above zero": ((6, 6), lambda c: 1 + 9 * xor(c), False),
    "product": ((6, 6), lambda c: (1.0 + c[:, 0]) * (1 + c[:, 1]), False),
    "signed product": ((6, 6), lambda c: (c[:, 0] - 2.5) * (c[:, 1] - 2.5), False),
    "modular": ((7, 7), lambda c: ((c[:, 0] + c[:, 1]) % 7).astype(float), False),
    "modular above zero": ((7, 7), lambda c: 1 + ((c[:, 0] + c[:, 1]) % 7).astype(float), False),
    "sum and signed product": ((6, 6), lambda c: 20 + c[:, 0] + 4.0 * (c[:, 0] - 2.5) * (c[:, 1] - 2.5), False),
    "modular of three": ((5, 5, 4), lambda c: (c.sum(axis=1) % 5).astype(float), False),
    "parity": ((2, 2, 2, 2, 2), lambda c: (c.sum(axis=1) % 2).astype(float), False),
}


@pytest.mark.parametrize("name", NOT_SUMS)
def test_what_does_not_add_up_is_never_determined(name):
    shape, rule, classes = NOT_SUMS[name]
    for seed in range(2):
        verdict = planted(shape, rule, seed, classes=classes).verdict
        assert verdict.startswith("assumption") or (name, verdict) == ("product", "determined on a log scale")


def test_an_interval_that_tells_nothing_is_not_told():
    said = Forecast("additive", 0.4, 0.0, 1.0, "error rate", 0.5, 0.2, (), 8, 8, 3, None)
    assert "a share wrong of 40 % (how near cannot be told from so few) on" in said.words
    assert "(90 %: 10 % to 80 %)" in replace(said, low=0.1, high=0.8).words


def test_errors_as_large_as_was_expected_of_each_are_forecast_as_large_as_is_expected_of_those_asked():
    tried, asked = np.array([1.0, 4.0, 100.0]), np.array([400.0, 100.0])
    assert likened_to(tried, tried, asked).mean() == pytest.approx(asked.mean())
    assert likened_to(2 * tried, tried, asked).mean() == pytest.approx(2 * asked.mean())
    assert evenness(np.full(5, 3.0)) == pytest.approx(1.0)
    assert evenness(np.array([1e6, 0.0, 0.0, 0.0])) == pytest.approx(0.25)


def test_a_design_is_forecast_by_what_all_of_it_tells_and_its_interval_is_that_of_few_degrees_of_freedom():
    """A Latin square leaves six degrees of freedom: an asked mean errs by √(1 + 10 / 16), one left out by √(16 / 6)."""
    codes, noise, errors = grid(4, 4, 4), np.random.default_rng(0).standard_normal((8, 16)), []
    seen, asked = (codes[codes.sum(axis=1) % 4 == k] for k in (0, 1))
    for seed, off in enumerate(noise):
        cells = Cells(seen, (4, 4, 4), np.ones(16), 6 * additive(seen, (4, 4, 4), seed) + off, None)
        found = forecast(cells, asked)
        low, high = of_normal(1.0, found.recommended.effects.freedom, len(asked))
        assert found.high / found.low >= np.sqrt(high / low) - 1e-9
        errors.append(found.error)
    assert np.sqrt(np.mean(np.square(errors)) / (1 + 10 / 16)) == pytest.approx(1, abs=0.2)


def test_to_learn_how_far_effects_are_shrunk_costs_nothing_where_they_are_not():
    codes, noise = grid(4, 4)[:-2], np.random.default_rng(0).standard_normal(14)
    clear, nothing = (Cells(codes, (4, 4), np.ones(14), size * codes.sum(axis=1) + noise, None) for size in (20, 0))
    assert Adding("additive", clear, 1).variances < 0.1
    assert 0.5 < Adding("additive", nothing, 1).variances <= 2
    assert Adding("constant", clear, 0).variances == 0


def test_of_few_combinations_no_level_is_claimed():
    seen, asked = seen_part((4, 4), 0)
    y = additive(seen, (4, 4), 1) + 0.5 * np.random.default_rng(2).standard_normal(len(seen))
    found = forecast(Cells(seen, (4, 4), np.ones(len(seen)), y, None), asked)
    assert len(seen) < 15
    assert "held about 5 times in 6 on planted tables this small)" in found.words
    assert "(90 %:" not in found.words
    assert "(90 %:" in replace(found, rule="additive", small=False, _best=None).words
    classes = Cells(seen, (4, 4), np.ones(len(seen)), np.eye(2)[(y > 0).astype(int)], None)
    assert "held about 5 times in 6 on planted tables this small" in level(forecast(classes, asked))
    shared = replace(classes, rows=np.full(len(seen), 8.0), answers=np.where(classes.answers == 1, 0.9, 0.1))
    assert level(forecast(shared, asked)) == "90 %"  # a log loss


def test_no_error_seen_is_not_an_error_of_none():
    """None wrong of as many as two thirds of n: the upper end is the share at which these and one are right one time in
    twenty, or what that many draws reach."""
    cells = [(a, b) for a in range(6) for b in range(5) if (a + 2 * b) % 4]
    table = {"a": [a for a, _ in cells], "b": [b for _, b in cells]}
    table["y"] = ["big" if a > 2 else "small" for a, _ in cells]
    found = check(table, ["a", "b"], target="y").forecast
    assert (found.error, found.low, found.metric) == (0, 0, "error rate")
    assert found.distinct <= len(cells)
    assert (1 - found.high) ** (round(found.distinct / 1.5) + 1) <= 0.05 + 1e-9
    assert found.high < 0.3
    assert found.to_dict()["high"] == found.high
    assert f"(90 %: 0 % to {100 * found.high:.3g} %)" in found.words


def test_too_few_cells_to_try_adding_up_are_not_determined():
    result = check({"a": [0, 0, 1], "b": [0, 1, 0], "y": [1.0, 2.0, 5.0]}, ["a", "b"], target="y")
    assert (result.worst, result.verdict, result.forecast) == ("determined", "assumption unsupported", None)
    assert "it could not be tried on combinations left out" in result.sentence()
    assert any("too few seen combinations could be left out" in note for note in result.notes)


@pytest.mark.parametrize("shape", [(6, 6), (4, 4, 4)])
def test_sums_with_noise_are_determined(shape):
    for seed in range(3):
        result = planted(shape, lambda c, s=seed: additive(c, shape, s), seed, noise=0.3)
        assert result.verdict == "determined"
        assert result.forecast is not None
        assert 0.2 < result.forecast.error < 0.8


@pytest.mark.parametrize(("shape", "classes"), [((6, 6), False), ((4, 4, 4), False), ((4, 4, 4), True)])
def test_of_noise_alone_nothing_is_said(shape, classes):
    results = [planted(shape, lambda c: 0.5 + 0.0 * c[:, 0], s, noise=1.0, classes=classes) for s in range(6)]
    assert not any(r.scale for r in results)
    assert sum(r.verdict == "assumption rejected" for r in results) <= 1
    assert sum(r.verdict == "determined" for r in results) <= 1


def test_cells_of_a_real_table_fall_into_their_intervals():
    table = real_table("barley")
    read = read_tables([table.path], table.factors, target=table.target)[0]
    cells = Cells.of(read.codes, read.space.shape, read.target)
    held, ratios = [], []
    for seed in range(6):
        out = np.random.default_rng(seed).random(len(cells.codes)) < 0.3
        found = forecast(cells.take(~out), cells.codes[out], seed=seed)
        assert isinstance(found, Forecast)
        said = found.estimate(cells.codes[out])
        held.append((said.low <= cells.answers[out]) & (cells.answers[out] <= said.high))
        ratios.append(found.error / np.sqrt(((said.answers - cells.answers[out]) ** 2).mean()))
    assert 0.8 < np.concatenate(held).mean() <= 1
    assert 0.75 < np.median(ratios) < 1.33


def test_ranges_hold_in_tables_of_eight_cells(monkeypatch):
    """Four by three, two rows beyond the effects: three of four, as is said, though nine of ten are meant."""
    monkeypatch.setattr("recombine.checks.forecasts.contest.STAND_INS", 30)
    codes, held, inside = grid(4, 3), [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        seen = np.isin(np.arange(12), rng.choice(12, 8, replace=False))
        if np.linalg.matrix_rank(np.hstack([np.eye(4)[codes[seen, 0]], np.eye(3)[codes[seen, 1]]])) < 6:
            continue
        y = additive(codes, (4, 3), seed) + 0.3 * rng.standard_normal(12)
        found = forecast(Cells(codes[seen], (4, 3), np.ones(8), y[seen], None), codes[~seen], seed=seed)
        if isinstance(found, Forecast):
            said = found.estimate(codes[~seen])
            held.append(found.low <= np.sqrt(((said.answers - y[~seen]) ** 2).mean()) <= found.high)
            inside.append(((said.low <= y[~seen]) & (y[~seen] <= said.high)).mean())
    assert len(held) >= 30
    assert np.mean(held) > 0.75
    assert np.mean(inside) > 0.82


def test_conditions_that_fail_a_check():
    result = planted((6, 6), lambda c: additive(c, (6, 6), 0), 0, noise=0.3)
    assert result.fails(["undetermined", "assumption", "error=10"]) == []
    assert result.fails(["error=0.01"]) == ["error=0.01"]
    assert planted((6, 6), xor, 0).fails(["assumption", "undetermined"]) == ["assumption"]
    for wrong in ("anything", "error=", "error=-1", "error=nan"):
        with pytest.raises(InputError, match="fail on"):
            result.fails([wrong])


def test_real_tables_are_named():
    for table in TABLES.values():
        header = table.path.read_text(encoding="utf-8").splitlines()[0].split(",")
        assert {*table.factors, table.target} <= set(header)
    with pytest.raises(InputError, match="barly"):
        real_table("barly")


def test_the_range_of_one_new_row_holds_single_rows_where_that_of_the_mean_does_not():
    shape, inside = (6, 5), []
    for seed in range(4):
        seen, asked = seen_part(shape, seed)
        rng = np.random.default_rng(seed)
        y = np.repeat(3 * additive(seen, shape, seed), 4) + 2 * rng.standard_normal(4 * len(seen))
        table = {"a": seen[:, 0].repeat(4).astype(str), "b": seen[:, 1].repeat(4).astype(str), "y": y}
        rows = check(table, ["a", "b"], target="y", test={"a": asked[:, 0].astype(str), "b": asked[:, 1].astype(str)})
        truth = {tuple(cell): v for cell, v in zip(asked.tolist(), 3 * additive(asked, shape, seed), strict=True)}
        for query in rows.queries:
            new = truth[query.codes] + 2 * rng.standard_normal(200)
            assert query.row_low < query.low < query.high < query.row_high
            inside.append([(new > query.low) & (new < query.high), (new > query.row_low) & (new < query.row_high)])
    mean, single = np.mean(inside, axis=(0, 2))
    assert mean < 0.85 < single < 0.98
    assert "row_low" in rows.to_frame().columns
    alone = check({"a": seen[:, 0], "b": seen[:, 1], "y": y[::4]}, ["a", "b"], target="y")
    assert "row_low" not in alone.to_frame().columns  # its range is that of single rows


def visitors(seed: int, rows: int, effect: float) -> tuple[Cells, np.ndarray]:
    """Who of so many bought, about one in eight: effects add up on log-odds, of 25 of 36 combinations."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(grid(6, 6))
    chance = 1 / (1 + np.exp(2 - rng.normal(0, effect, 6)[codes[:, 0]] - rng.normal(0, effect, 6)[codes[:, 1]]))
    share = rng.binomial(rows, chance) / rows
    cells = Cells(codes, (6, 6), np.full(36, float(rows)), np.stack([1 - share, share], axis=1), None)
    return cells.take(np.arange(25)), codes[25:]


def test_of_a_log_loss_only_what_a_rule_could_take_away_is_charged_so_that_many_rows_show_a_small_effect():
    cells, asked = visitors(1, 1000, 0.25)
    told = forecast(cells, asked)
    assert isinstance(told, Forecast)
    constant, additive_ = told.rules[:2]
    assert told.rule == "additive"
    assert told.explains
    assert additive_.uncharged < additive_.error < constant.error
    assert additive_.error - additive_.uncharged < 0.1 * (constant.error - additive_.error)
    rule = Odds("additive", cells, 1)  # two variances are learnt from 25 cells
    many, few = (as_learnt(np.full(25, 0.4), np.full(25, least), rule, cells) for least in (0.38, 0.0))
    assert many == pytest.approx(0.38 + 0.02 * 25 / 22)
    assert few == pytest.approx(0.4 * (25 / 22) ** 0.25)


def test_no_rule_of_classes_is_recommended_whose_error_is_said_to_be_larger_than_that_of_the_same_answer_for_all():
    for seed in range(6):
        told = forecast(*visitors(seed, (40, 120)[seed % 2], 0.25))
        assert isinstance(told, Forecast)
        assert told.error <= told.constant


def test_beside_a_log_loss_stands_how_often_the_likeliest_class_was_wrong():
    shape = (6, 5)
    codes = np.repeat(seen_part(shape, 0)[0], 6, axis=0)
    chance = 1 / (1 + np.exp(-2 * additive(codes, shape, 0)))
    table = {
        "a": codes[:, 0],
        "b": codes[:, 1],
        "y": np.where(np.random.default_rng(0).random(len(codes)) < chance, "p", "q"),
    }
    found = check(table, ["a", "b"], target="y")
    assert found.forecast.metric == "log loss"
    assert 0.05 < found.forecast.wrong < found.forecast.wrong_constant < 0.7
    cell, row = np.divmod(np.arange(len(codes)), 6)
    even = check(table | {"y": np.where(row < 1 + 4 * (cell % 2), "p", "q")}, ["a", "b"], target="y").forecast
    assert even.wrong_constant == pytest.approx(0.5)  # a guess: in one half the other is commoner
    wrong = f"was wrong in {100 * found.forecast.wrong:.3g} %, the commonest in"
    assert wrong in found.sentence()
    assert found.to_dict()["forecast"]["wrong"] == found.forecast.wrong


def test_pairs_that_take_up_a_half_fraction_do_not_know_what_is_left_out():
    """16 effects from 16 rows of additive answers with noise 1: the forecast was a twentieth of the noise."""
    codes = grid(2, 2, 2, 2, 2)
    x = 2 * codes - 1
    half = x.prod(axis=1) > 0
    for seed in range(1000, 1003):
        rng = np.random.default_rng(seed)
        y = 20 + x @ rng.normal(0, 2, 5) + rng.normal(size=32)
        table = {name: codes[half, k].astype(str) for k, name in enumerate("abcde")}
        told = check({**table, "y": y[half]}, list("abcde"), target="y").forecast
        assert told.error > 0.5


@pytest.mark.parametrize(("asked", "middle"), [(1, 1.0), (400, 10.0)])
def test_most_sets_of_a_few_cells_err_less_than_the_mean_of_all(asked, middle):
    """One loss of ten is 91, the others are 1: their mean is 10, which no single cell has."""
    losses = np.where(np.arange(10) == 0, 91.0, 1.0)
    low, found, high = range_of(losses, 400, asked, np.random.default_rng(0))
    assert low < found < high or asked == 1
    assert found == pytest.approx(middle, rel=0.1)


@pytest.mark.parametrize(
    ("factor", "asked", "unseen", "found"), [(0, 8, 1, 2), (0, 8, 0, 8), (0, 4, 0, 4), (1, 8, 1, 4)]
)
def test_levels_that_the_stand_ins_have_as_often_are_not_drawn_anew(factor, asked, unseen, found):
    """Losses are wholly those of levels, two of one factor or four of the other; asked are both of two, or one."""
    cells, together = grid(2, 4), np.arange(2) == factor
    assert independent(cells, cells[:asked], np.arange(8), (together * 1.0, 0.0), unseen) == found


def test_a_rule_that_gains_next_to_nothing_outdoes_nothing_however_sure_that_is():
    rng = np.random.default_rng(0)
    sums = 0.8 + 0.01 * rng.standard_normal(400)
    names = ("constant", "additive", "pairs")
    for gain, told in ((0.0002, False), (0.01, True)):
        losses = [sums + 0.2, sums, sums - gain * (1 + 0.1 * rng.standard_normal(400))]
        rules = [SimpleNamespace(name=name) for name in names]
        contest = SimpleNamespace(
            best=2, winner=rules[2], rules=rules, proof=losses, few=400, alone=True, kind=np.zeros(400, dtype=bool)
        )
        assert _outdone(contest, losses, 1) is told


@pytest.mark.parametrize(("gains", "told"), [(0.0, False), (0.6, True)])
def test_a_rule_that_says_a_rare_class_less_often_everywhere_does_not_beat_the_same_answer_for_all(gains, told):
    """It gains in all combinations without that class; one that knows where the class is gains in others too."""
    rare = np.arange(60) < 15
    shares = np.where(rare, 0.2, 0.0)
    cells = Cells(grid(10, 6), (10, 6), np.full(60, 5.0), np.stack([1 - shares, shares], axis=1), None)
    gain = np.where(rare, np.where(np.arange(60) < 15 * gains, 0.03, -0.02), 0.01)
    assert (_margin(cells.commonest_alone, 0.1 - gain, np.full(60, 0.1), 60) > 1) is told
    assert not cells.take(np.arange(30)).commonest_alone.any()  # in half of these the class is, so it is not rare
