"""Scales on which effects add up: where they multiply that is said, and per cents are known."""

from __future__ import annotations

import numpy as np
import pytest
from planted_tables import additive, grid, seen_part

from recombine.checks import Purpose, check
from recombine.checks.as_read import shown
from recombine.checks.forecasts.chosen import likelihood_of, off_scale
from recombine.checks.forecasts.forecast import forecast
from recombine.checks.rules.adding import Adding
from recombine.checks.rules.scales import scales
from recombine.checks.rules.seen_cells import Cells
from recombine.support.table import Target, read_tables


@pytest.mark.parametrize("y", [np.linspace(1, 90, 40), np.linspace(0.02, 0.9, 40), np.geomspace(1e-3, 1e3, 40)])
def test_every_scale_leads_back(y):
    assert len(scales(y)) > 1
    for scale in scales(y):
        assert scale.back(scale.forth(y)) == pytest.approx(y, rel=1e-6, abs=1e-9)


def test_where_sums_are_not_shown_and_products_fit_it_is_products_that_are_tested():
    codes = seen_part((5, 4), 7)[0]
    table = {"a": codes[:, 0], "b": codes[:, 1], "y": np.exp(additive(codes, (5, 4), 7))}
    result = check(table, ["a", "b"], target="y", draws=9)
    assert (result.verdict, result.additivity.rejected) == ("determined on a log scale", False)
    assert "in the answer's own units that is not shown: on combinations left out it errs" in result.sentence()
    codes = np.repeat(seen_part((5, 4), 0)[0], 3, axis=0)
    noise = 0.5 * np.random.default_rng(15).standard_normal(len(codes))
    table = {"a": codes[:, 0], "b": codes[:, 1], "y": np.exp(additive(codes, (5, 4), 0) + noise)}
    result = check(table, ["a", "b"], target="y", draws=9)  # sums are rejected; products are not, and not shown either
    assert (result.verdict, result.additivity.rejected) == ("assumption unsupported", True)
    assert "determined if effects multiply, but that is not shown: on combinations left out" in result.sentence()


@pytest.mark.parametrize(("noise", "rows"), [(0.0, 1), (0.1, 1), (0.1, 3)])
def test_where_effects_multiply_that_is_said(noise, rows):
    shape, rng = (6, 6), np.random.default_rng(2)
    codes = np.repeat(seen_part(shape, 1)[0], rows, axis=0)
    y = np.exp(0.5 * codes.sum(axis=1) + noise * rng.standard_normal(len(codes)))
    table = {"a": codes[:, 0], "b": codes[:, 1], "y": y}
    result = check(table, ["a", "b"], target="y", purpose=Purpose(budget=4))
    assert (result.verdict, result.scale, result.additivity.rejected) == ("determined on a log scale", "log", True)
    assert "determined if effects multiply: adding up is not rejected on the log scale (" in result.sentence()
    assert result.fails(["assumption"]) == []
    told = result.to_dict()
    assert (told["scale"], told["rescaled"]["scale"], told["rescaled"]["rejected"]) == ("log", "log", False)
    assert {q["rule"] for q in told["queries"]} == {"additive on a log scale"}
    assert "Everything asked is determined if effects multiply" in result._repr_html_()
    assert "if effects multiply, the typical standard error" in result.plan.words
    assert set(result.to_frame()["words"]) == {"determined if effects multiply"}
    if noise:  # a share of the answer: the planted standard deviation of the logarithms
        assert told["plan"]["rule"] == "additive on a log scale"
        assert told["plan"]["noise"] == pytest.approx(noise, rel=0.3)
        assert f"{100 * result.plan.after:.3g} % (" in result.plan.words
        assert "in per cent of the answer" in result.plan.words
        unit = float(np.exp(np.log(y).mean())) if rows == 1 else result.plan.typical
        wanted = check(table, ["a", "b"], target="y", purpose=Purpose(error=0.3 * unit)).plan
        assert wanted.worst < wanted.worst_high <= 0.3 * unit * (1 + 1e-6)  # of the largest answer too
        assert wanted.noise == pytest.approx(noise, rel=0.3)
        assert f"the largest is {shown(wanted.worst)}." in wanted.words
        assert f", where the largest is {shown(wanted.worst_high)}: there no plan does it in fewer" in wanted.words
        assert "in the answer's units, each answer taken where noise may move it most, with a noise of" in wanted.words


def test_per_cents_are_known_by_name_or_sign():
    named = {"Score": True, "yield": True, "error_rate": True, "fat (%)": True, "cureRate": True, "strength_MPa": False}
    named |= {"temperature": False, "yield strength": False, "concentrated": False, "y": False}
    told = {name: Target(name, None, np.ones(1), np.ones(1), np.zeros(1)).share for name in named}
    assert told == named
    y = np.linspace(20.0, 90.0, 7)
    assert [[s.name for s in scales(v, share)] for v, share in ((y, True), (y, False), (y / 100, False))] == [
        ["log", "log-odds"], ["log"], ["log", "log-odds"],
    ]  # fmt: skip
    assert [s.name for s in scales(y / 100, per_cent=True)] == ["log"]  # 0.9 % are no odds of 9 to 1
    signs = {"a": list("xxyy"), "b": list("uvuv"), "y": ["10 %", "90 %", "30 %", "50 %"]}
    target = read_tables([signs], ["a", "b"], target="y")[0].target
    assert target.share
    assert Cells.of(grid(2, 2), (2, 2), target).per_cent


def test_where_effects_multiply_the_interval_holds_less_often_than_meant_and_is_not_said_to():
    held = []
    for seed in range(16):
        seen, asked = seen_part((6, 6), seed)
        noise = 0.2 * np.random.default_rng(seed).standard_normal(36)
        y, truth = (np.exp(additive(c, (6, 6), seed) + noise[: len(c)]) for c in (seen, asked))
        found = forecast(Cells(seen, (6, 6), np.ones(len(seen)), y, None), asked)
        if found.rule == "additive on a log scale":
            off = float(np.sqrt(((found.estimate(asked).answers - truth) ** 2).mean()))
            held.append(found.low <= off <= found.high)
            assert f"{found.low:.3g} to {found.high:.3g}, meant for 90 %, held about 5 times in 6" in found.words
            assert found.to_dict()["level"] in found.words
    assert len(held) >= 10
    assert 0.6 < np.mean(held) < 0.97


def test_what_multiplies_and_what_adds_up_are_told_apart_by_how_likely_single_noisy_rows_are():
    chosen = {True: list[str](), False: list[str]()}
    for seed in range(7):
        seen, asked = seen_part((8, 6), seed)
        noise = np.random.default_rng([seed, 1]).standard_normal(len(seen))
        for multiply in chosen:
            z = additive(seen, (8, 6), seed) + 0.6 * noise
            y = np.exp(0.6 * z) if multiply else np.maximum(10 + 2 * z, 0.5)
            chosen[multiply].append(forecast(Cells(seen, (8, 6), np.ones(len(seen)), y, None), asked).rule)
    assert chosen[True].count("additive") + chosen[True].count("pairs") <= 1
    assert chosen[True].count("additive on a log scale") >= 4
    assert chosen[False].count("additive on a log scale") <= 1


def test_sums_on_another_scale_take_the_place_of_those_in_the_answer_s_units_only_if_answers_are_likelier_by_a_nat():
    seen, _ = seen_part((6, 5), 0)
    cells = Cells(seen, (6, 5), np.ones(len(seen)), 30 * np.exp(0.4 * additive(seen, (6, 5), 0)), None)
    plain, others = Adding("additive", cells, 1), [Adding("additive", cells, 1, s) for s in scales(cells.answers)]
    rules = [Adding("constant", cells, 0), plain, *others, Adding("pairs", cells, 2)]
    assert [rule.scale.name for rule in others] == ["log", "log-odds", "rank"]
    assert off_scale(rules, [None, -9.0, -8.1, -8.2, None, None]) == {2, 3}
    assert off_scale(rules, [None, -9.0, -8.1, -7.9, None, None]) == {1, 2}
    assert [likelihood_of(rule, cells) is None for rule in rules] == [True, False, False, False, True, True]
    assert off_scale(rules, [likelihood_of(rule, cells) for rule in rules]) == {1, 3}  # they multiply, exactly


def test_the_density_of_an_answer_is_in_its_own_units_on_every_scale():
    seen, _ = seen_part((6, 5), 0)
    y = np.exp(additive(seen, (6, 5), 0) + 0.3 * np.random.default_rng(1).standard_normal(len(seen)))
    cells = Cells(seen, (6, 5), np.ones(len(seen)), y, None)
    groups = [np.array([i]) for i in range(len(seen))]
    for rule in (Adding("additive", cells, 1), Adding("additive", cells, 1, scales(y)[0])):
        rule.left_out(groups)
        place, sd = rule.effects.left_out(groups)
        on_log = rule.scale.name == "log"
        z = np.log(y) if on_log else y
        expected = -(((z - place) / sd) ** 2) / 2 - np.log(sd) - (np.log(y) if on_log else 0)
        assert rule.density == pytest.approx(expected, abs=0.01)
        spread = y**0 * sd**2 if not on_log else (np.exp(sd**2) - 1) * np.exp(2 * place + sd**2)
        assert rule.variance == pytest.approx(spread, rel=0.35)  # of 21 quantiles: less than of the whole tail
    ranked = Adding("additive", cells, 1, scales(y)[-1])
    ranked.left_out(groups)
    assert ranked.scale.name == "rank"
    assert ranked.density is None
