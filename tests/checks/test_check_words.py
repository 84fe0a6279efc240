"""What a check says is what was found: planted tables whose truth is known, and the words about them."""

from __future__ import annotations

import collections
import itertools
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from planted_tables import additive_table, grid, table

from recombine.checks import Purpose, check
from recombine.checks.adds_up.tested import Found, as_near, verdict
from recombine.checks.as_read import per_cent, shown
from recombine.checks.forecasts.expected import Forecast, RuleError
from recombine.checks.forecasts.forecast import forecast
from recombine.checks.forecasts.forecast_words import choice
from recombine.checks.judging import Judged
from recombine.checks.notes import _rejected
from recombine.checks.rules.adding import Adding
from recombine.checks.rules.scales import Scale
from recombine.checks.rules.seen_cells import Cells
from recombine.cli.check import check as show
from recombine.cli.check_facts import facts
from recombine.reporting.check import check_page


@pytest.mark.parametrize(("sizes", "rows", "hardly"), [((6, 5), 1, True), ((6, 5), 3, False), ((4, 3, 3), 1, False)])
def test_not_contradicted_by_single_rows_of_two_factors_is_said_to_be_hardly_tested(sizes, rows, hardly):
    """Of three factors pairs of levels recur, and are tested."""
    found = check(additive_table(sizes, 1, rows=rows), ["a", "b", "c"][: len(sizes)], target="y", draws=9)
    assert found.verdict == "determined"
    assert ("do not contradict that, which single rows hardly test" in found.sentence()) is hardly
    assert found.additivity.alone is hardly
    assert found.beside == (", though adding up is hardly tested" if hardly else "")


def test_errors_far_above_the_noise_of_repeats_stand_in_the_headline():
    sums = check(additive_table((7, 6), 1, rows=3), ["a", "b"], target="y", draws=9)
    assert (sums.verdict, sums.beside) == ("determined", "")
    noise = sums.answers.scatter / 3**0.5
    for times, said in ((2.9, ""), (4.0, ", with errors 4 times the noise of repeats")):
        assert replace(sums, forecast=replace(sums.forecast, error=times * noise)).beside == said


def test_where_combinations_have_several_rows_it_is_said_how_far_single_ones_scatter():
    said = check(additive_table((6, 6), 0, rows=20, noise=3.0), ["a", "b"], target="y")
    assert said.to_dict()["forecast"]["scatter"] == pytest.approx(3.0, rel=0.1)
    words = f"means of combinations, around which single rows scatter by {said.answers.scatter:.3g}"
    many = f"; against means of very many rows expect about {said.forecast.error_many_rows:.3g}."
    assert f"This is of {words}{many}" in said.sentence()
    assert words in check_page(said)
    alone = check(additive_table((6, 6), 0), ["a", "b"], target="y")
    assert alone.to_dict()["forecast"]["scatter"] is None
    assert "means" not in alone.sentence()


def test_nothing_to_collect_only_where_effects_may_add_up():
    fine = check(additive_table((6, 6), 0), ["a", "b"], target="y")
    assert fine.doubt is None
    assert "Nothing: training determines everything that was asked if effects add up." in check_page(fine)
    cells = grid(6, 6)[6 * [True] + 5 * [True, False, True, True, True, True]]
    y = np.random.default_rng(1).normal(0, 10, len(cells)).repeat(3) + np.tile([-0.1, 0.0, 0.1], len(cells))
    wrong = check(table(cells.repeat(3, axis=0), y), ["a", "b"], target="y", purpose=Purpose(budget=3))
    assert wrong.doubt == "rejected"
    once = "as if effects add up, which the seen combinations contradict, and each asked combination once"
    assert once in wrong.plan.words
    assert "Nothing" not in check_page(check(table(cells.repeat(3, axis=0), y), ["a", "b"], target="y"))


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("constant", ", and no rule that was tried beats the same answer for all."),
        ("pairs", ": the answers are those of the rule “pairs” instead; --order 2 (order=2) tells"),
    ],
)
def test_where_adding_up_is_rejected_it_is_said_what_answers_instead(rule, words):
    rng, cells = np.random.default_rng(3), grid(6, 6, 4)
    cells = cells[rng.random(len(cells)) < 0.7]
    joint = 10 * rng.standard_normal((6, 6))
    parity = 10 * (-1.0) ** cells.sum(axis=1)
    y = {"constant": parity, "pairs": joint[cells[:, 0], cells[:, 1]]}[rule]
    y = (np.repeat(y, 3) + np.tile([-0.1, 0.0, 0.1], len(cells))).tolist()
    said = check(table(cells.repeat(3, axis=0), y), ["a", "b", "c"], target="y")
    assert said.forecast.rule == rule
    assert said.additivity.rejected
    assert any("which is rejected here" + words in note for note in said.notes)


def readings(seed: int, between: float, within: float, odd: bool = False) -> dict[str, list]:
    """a + b on 6 × 6 with some cells missing, runs that differ by so much, and three readings of each."""
    rng, cells = np.random.default_rng(seed), grid(6, 6)
    effects = rng.normal(0, 8, (2, 6))
    cells = cells[rng.permutation(36)[:24]]
    turned = np.where(odd & (cells[:, 0] == cells[0, 0]), -1, 1)
    y = effects[0][cells[:, 0]] + effects[1][cells[:, 1]] * turned + rng.normal(0, between, 24)
    return table(cells.repeat(3, axis=0), (y.repeat(3) + rng.normal(0, within, 72)).tolist())


def test_readings_of_one_run_are_no_proof_of_an_interaction():
    for seed in range(60, 65):
        said = check(readings(seed, 2.0, 0.3), ["a", "b"], target="y", draws=9)
        assert said.verdict == "assumption unsupported"
        assert (said.additivity.rejected, said.additivity.open) == (None, True)
        assert "the scatter of repeated rows contradicts it (p" in said.sentence()
        assert "or rows of a combination are not independent" in said.sentence()
    assert check(readings(60, 0.0, 2.0), ["a", "b"], target="y", draws=9).verdict == "determined"
    assert check(readings(60, 0.0, 0.3, odd=True), ["a", "b"], target="y", draws=9).verdict == "assumption rejected"


def test_sums_that_are_rejected_and_still_err_least_are_said_to():
    rng, cells = np.random.default_rng(3), grid(6, 6, 4)
    cells = cells[rng.random(len(cells)) < 0.7]
    y = 10 * (-1.0) ** cells.sum(axis=1) + 9 * cells[:, 0]
    y = (np.repeat(y, 3) + np.tile([-0.1, 0.0, 0.1], len(cells))).tolist()
    said = check(table(cells.repeat(3, axis=0), y), ["a", "b", "c"], target="y")
    assert (said.forecast.rule, said.verdict) == ("additive", "assumption unsupported")  # no pair shows it
    (note,) = _rejected(Judged(said.forecast, replace(said.additivity, rejected=True), None, ()))
    assert "which is rejected here; no rule that was tried does better, so the answers are sums, as wrong as" in note


def test_a_p_value_is_told_with_digits_that_tell_its_side_of_the_level():
    assert [as_near(p) for p in (0.0427, 0.00997, 0.01004, 0.01)] == ["0.043", "0.00997", "0.01004", "0.01"]


def test_a_rule_is_said_to_err_less_only_where_its_numbers_are():
    said = check(additive_table((6, 6), 0, rows=3), ["a", "b"], target="y")
    sums = replace(said.forecast.assumed, error=1.0, uncharged=0.9)
    for error, tried, words in (
        (0.5, 0.5, "it erred less on combinations left out (0.5 against 1 of sums)"),
        (
            1.1,
            0.8,
            "which errs about as much as sums (0.8 against 0.9 of sums, before something is added for what each "
            "learnt; 1.1 against 1 with it)",
        ),
        (1.1, 0.95, "the answers given are of the rule “pairs”, which errs about as much as sums"),
    ):
        pairs = RuleError("pairs", error, 0.9, True, tried)
        found = replace(said.forecast, rule="pairs", error=error, rules=(sums, pairs), assumed=sums, high=error)
        assert words in replace(said, forecast=found).sentence()
        order = "; --order 2 (order=2) tells what is determined if pairs act together."
        assert order in replace(said, forecast=found).sentence()
        assert ("it erred less" in replace(said, forecast=found).sentence()) == (error < sums.error)


def test_all_that_is_asked_is_counted_even_where_a_part_is_listed():
    said = check(additive_table((6, 6), 0), ["a", "b"], target="y", max_queries=5)
    total = said.total
    assert total > len(said.to_frame()) == 5
    assert said.to_dict()["asked"] | {"what": ""} == {"what": "", "total": total, "listed": 5}
    assert said.forecast.cells == said.counts["determined"] == total
    assert f"5 of the {total} combinations asked about are listed, here and in files" in " ".join(said.notes)
    assert "are listed" not in " ".join(check(additive_table((6, 6), 0), ["a", "b"], target="y").notes)


def test_a_p_value_stands_beside_its_threshold():
    tests = [Found("interaction", 0.008, "F test of a × b"), Found("interaction", 0.5, "F test of a × c")]
    words = "not rejected on the seen combinations (p = 0.016, F test of a × b, the smallest of 2 tests; "
    assert f"{words}rejected below 0.01)" in verdict(tests).words
    assert verdict([Found("interaction", 0.001, "F")]).words.endswith("(p = 0.001, F; rejected below 0.01).")


def test_the_scale_on_which_adding_up_does_best_is_named():
    rng, cells = np.random.default_rng(0), grid(8, 7)
    z = sum(size * rng.standard_normal(n)[c] for size, n, c in zip((2, 1.5), (8, 7), cells.T, strict=True))
    y = [None if rng.random() < 0.3 else f"{v:.1f} %" for v in 100 / (1 + np.exp(-z - 1))]
    said = check(table(cells, y), ["a", "b"], target="y")
    assert said.forecast.rule == "additive on a log-odds scale"
    assert "log-odds scale" in said.sentence().split(";")[-1]
    tried = "Log-odds are among the scales that were tried because"
    assert f"{tried} the name or sign of y says that it is in per cent" in " ".join(said.notes)
    numbers = [v and float(v[:-2]) for v in y]  # near both ends they are known without the sign
    plain = check(table(cells, numbers), ["a", "b"], target="y")
    assert plain.forecast.rule == said.forecast.rule
    assert f"{tried} all answers lie between 0 and 100 and come near both" in " ".join(plain.notes)
    high = check(table(cells, [v and 70 + 0.3 * v for v in numbers]), ["a", "b"], target="y")
    assert "if these are per cents, write a % sign, or a name that says so" in " ".join(high.notes)
    assert "log-odds" not in high.forecast.rule


def test_what_single_rows_leave_is_no_share():
    rng, cells = np.random.default_rng(0), np.repeat(grid(8, 7), 2, axis=0)
    z = sum(size * rng.standard_normal(n)[c] for size, n, c in zip((2, 1.5), (8, 7), cells.T, strict=True))
    y = 0.02 + 0.96 / (1 + np.exp(-z - 1))
    off = 0.1 * np.tile([1, -1], len(y) // 2) * (np.arange(len(y)) // 2 == y[::2].argmax())  # its mean stays below 1
    within, beyond = (check(table(cells, np.where(cells.sum(axis=1) % 6 == 0, None, one)), ["a", "b"], target="y")
                      for one in (y, y + off))  # fmt: skip
    assert "log-odds" in within.forecast.rule
    assert "log-odds" not in beyond.forecast.rule
    assert "per cents" not in " ".join((*within.notes, *beyond.notes))


def test_a_scale_is_said_to_do_best_only_where_the_difference_is_no_chance():
    rng, cells = np.random.default_rng(1), grid(10, 5)
    y = 60 + rng.normal(0, 3, 10)[cells[:, 0]] + rng.normal(0, 5, 5)[cells[:, 1]] + rng.normal(0, 1, 50)
    said = check(table(cells, [None if rng.random() < 0.3 else v for v in y]), ["a", "b"], target="y")
    assert said.verdict == "determined"
    log = Adding("additive", said.forecast._best.cells, 1, Scale("log", np.log, np.exp))
    better = replace(said.forecast, _best=log, error=0.5)
    sums = next(rule.error for rule in better.rules if rule.rule == "additive")
    for told, words in (
        (True, "; adding up does best on a log scale."),
        (False, f"; on a log scale it erred less (0.5 against {sums:.3g}), though that may be chance."),
    ):
        assert words in replace(said, forecast=replace(better, scale_told=told)).sentence()


def test_sums_of_added_effects_seldom_do_best_on_another_scale_and_those_of_multiplied_ones_do():
    told = {"added": 0, "multiplied": 0}
    for seed, kind in itertools.product(range(12), told):
        rng, cells = np.random.default_rng(seed), grid(10, 5)
        sums = rng.normal(0, 0.3, 10)[cells[:, 0]] + rng.normal(0, 0.5, 5)[cells[:, 1]] + rng.normal(0, 0.05, 50)
        order = rng.permutation(50)
        codes, asked = cells[order[:35]], cells[order[35:]]
        y = {"added": 6 + sums, "multiplied": np.exp(2 + 2 * sums)}[kind][codes @ [5, 1]]
        fit = forecast(Cells(codes, (10, 5), np.ones(35), y, None), asked, seed=seed)
        told[kind] += fit.scale_told
    assert told["added"] == 0
    assert told["multiplied"] >= 6


def test_what_was_not_tested_is_not_said_to_hold():
    rng, cells = np.random.default_rng(0), grid(10, 10)
    z = sum(rng.standard_normal(10)[c] for c in cells.T)
    y = [None if rng.random() < 0.3 else "yes" if v > 0 else "no" for v in z]
    said = check(table(cells, y), ["a", "b"], target="y")
    assert (said.verdict, said.additivity.rejected) == ("assumption unsupported", None)
    assert f"not shown: nothing here tests it, {said.additivity.words}" in said.sentence()
    assert said.fails(["assumption"])


def test_determined_is_said_only_where_the_gain_is_no_chance_and_no_other_rule_is_clearly_better():
    said = check(additive_table((6, 6), 0, rows=3), ["a", "b"], target="y")
    assert said.verdict == "determined"
    assert not said.fails(["assumption"])
    lucky = RuleError("pairs", 1.0, 0.9, False, 1.0)
    rules = (said.forecast.rules[0], lucky)
    chance = replace(said, forecast=replace(said.forecast, rule="pairs", error=1.0, rules=rules))
    assert "the rule “pairs” errs less than the same answer for all (1 against" in chance.sentence()
    clear = replace(lucky, beats=True)
    outdone = replace(said, forecast=replace(chance.forecast, error=0.5, rules=(clear,), outdone=True))
    assert "the rule “pairs” errs less beyond chance (0.5 against" in outdone.sentence()
    assert said.fails([f"error={said.forecast.error + 0.01}", f"high={said.forecast.error + 0.01}"]) == [
        f"high={said.forecast.error + 0.01}"
    ]
    for doubted in (chance, outdone):
        assert doubted.verdict == "assumption unsupported"
        assert doubted.fails(["assumption"])


def test_the_only_pair_that_was_never_seen_is_named(tmp_path, capsys):
    cells = grid(4, 4, 3)
    y = [None if (a, b) == (3, 2) else float(a + b + c) for a, b, c in cells]
    file = tmp_path / "t.csv"
    pl.DataFrame(table(cells, y)).write_csv(file)
    show(file, factors="a,b,c", target="y")
    assert "1 asked for and missing (a=a3 × b=b2)" in " ".join(capsys.readouterr().out.split())


def test_rows_without_a_priced_level_cost_one():
    result = check(additive_table((4, 4), 0), ["a", "b"], cost={"a": {"a1": 5.0}}, purpose=Purpose(budget=4))
    rows = result.space.decode(result.plan.cells)
    assert rows
    assert result.plan.costs.tolist() == [5.0 if row["a"] == "a1" else 1.0 for row in rows]


@pytest.mark.parametrize(
    ("error", "constant", "head", "less"),
    [
        (6.89, 7.84, "6.89 (90 %: 1 to 20) … errs by 7.84, ", "less than the same answer for all (6.89 against 7.84)"),
        (10.18, 10.2, "10.18 (90 %: 1 to 20) … errs by 10.20, ", "the same answer for all (10.18 against 10.20)"),
        (10.2, 10.2001, "10.2 (90 %: 1 to 20) … errs by 10.2, hardly different, ", "errs hardly less than the same"),
    ],
)
def test_errors_that_look_the_same_are_told_apart_and_a_gain_that_may_be_chance_is_said_to(error, constant, head, less):
    tried = RuleError("additive", error, 0.1, beats=False, uncharged=error)
    same = RuleError("constant", constant, 0.0, beats=False, uncharged=constant)
    said = Forecast("additive", error, 1, 20, "rmse", constant, 0.1, (same, tried), 43, 43, 44, tried)
    before, after = head.split(" … ")
    assert f"error of {before} on the 44" in said.words
    assert said.words.endswith(f"the same answer for all {after}and the difference may be chance.")
    result = replace(check(additive_table((6, 6), 0), ["a", "b"], target="y"), forecast=said)
    assert less in result.sentence()
    assert "10 % (may be chance)" in check_page(result)
    beaten = replace(said, rules=(replace(tried, beats=True),))
    assert "chance" not in beaten.words
    share = Forecast("additive", 0.135, 0.07, 0.3, "error rate", 0.26, 0.5, (tried,), 43, 43, 44, tried).words
    assert share.startswith("Expect a share wrong of 13.5 % (90 %: 7 % to 30 %) on the 44")
    assert "the same answer for all errs in 26 %" in share
    assert "may be chance" not in check_page(replace(result, forecast=replace(beaten, assumed=beaten.rules[0])))


@pytest.mark.parametrize("doubt", ["which is not shown", "which the seen combinations contradict"])
def test_files_hold_the_doubt_that_the_page_shows(tmp_path, doubt):
    rng, cells = np.random.default_rng(1), grid(6, 6)[6 * [True] + 5 * [True, False, True, True, True, True]]
    y = rng.normal(0, 10, len(cells)).repeat(3) + np.tile([-0.1, 0.0, 0.1], len(cells))
    y = rng.permutation(y) if doubt == "which is not shown" else y
    result = check(table(cells.repeat(3, axis=0), y), ["a", "b"], target="y")
    words = f"determined only if effects add up, {doubt}"
    assert words in check_page(result)
    assert {query["words"] for query in result.to_dict()["queries"]} == {words}
    result.save(tmp_path / "check.csv")
    assert set(pl.read_csv(tmp_path / "check.csv")["words"]) == {words}


def classes_of_rows():
    """Two classes about which rows of a combination disagree."""
    rng, cells = np.random.default_rng(0), grid(5, 4, 2)
    codes = cells[rng.random(len(cells)) < 0.7].repeat(8, axis=0)
    chance = 1 / (1 + np.exp(-1.5 * (codes[:, 0] + codes[:, 1] - 3.5)))
    return table(codes, np.where(rng.random(len(codes)) < chance, "high", "low"))


def test_the_page_shows_the_chance_of_a_class():
    result = check(classes_of_rows(), ["a", "b", "c"], target="y")
    query = next(q for q in result.queries if q.probabilities)
    answer = f"{query.prediction} ({per_cent(max(query.probabilities.values()))})"
    page = check_page(result)
    assert f'<td class="number" data-label="Answer">{answer}</td>' in page
    assert f"; answer {answer}" in page  # of a cell that is pointed at


@pytest.mark.parametrize("classes", [True, False])
def test_only_what_applies_to_the_answers_is_explained(tmp_path, capsys, classes):
    rows = classes_of_rows() if classes else additive_table((6, 6), 0)
    pl.DataFrame(rows).write_csv(tmp_path / "t.csv")
    show(tmp_path / "t.csv", factors="a,b,c" if classes else "a,b", target="y")
    told = " ".join(capsys.readouterr().out.split())
    assert not re.search(r"\d%", told)  # one way to write per cents: 90 %
    assert ("the chance of the class (no range: " in told) is classes
    assert ("9 of 10 numbers" in told) is not classes
    chosen = choice(check(rows, ["a", "b", "c"] if classes else ["a", "b"], target="y").forecast)
    assert ("then the rule that errs least as tried (" in chosen) is classes
    assert ("This log loss is that of one row, averaged over combinations" in told) is classes


def test_page_terminal_and_json_say_alike_how_a_rule_was_chosen():
    result = check(classes_of_rows(), ["a", "b", "c"], target="y")
    said = result.to_dict()["forecast"]
    constant, additive_, *_ = said["rules"]
    assert constant["uncharged"] == constant["error"]
    cells = len(result.known.codes)  # three variances are learnt from them
    assert 1 < additive_["error"] / additive_["uncharged"] < (cells / (cells - 4)) ** 0.25
    assert f"(additive {additive_['uncharged']:.3g}, pairs" in said["choice"]
    assert said["choice"][1:] in check_page(result)


def test_what_is_supposed_of_pairs_of_effects_is_said_of_pairs(tmp_path, capsys):
    pl.DataFrame(additive_table((4, 4, 3), 0, kept=0.8)).write_csv(tmp_path / "t.csv")
    show(tmp_path / "t.csv", factors="a,b,c", target="y", order=2, out=tmp_path / "t.html")
    words = "etermined” supposes that effects of up to 2 factors at once add up; the answers"
    assert words in " ".join(capsys.readouterr().out.split())
    assert words in (tmp_path / "t.html").read_text()


def test_rows_asked_about_that_carry_answers_are_held_against_the_forecast_and_not_learnt_from():
    whole = pl.DataFrame(additive_table((6, 6), 3, kept=1.0, rows=2))
    asked = (pl.col("a") == "a1") & (pl.col("b") == "b2") | (pl.col("a") == "a4") & (pl.col("b") == "b5")
    train, test = whole.filter(~asked), whole.filter(asked)
    said, silent = (check(train, ["a", "b"], target="y", test=t) for t in (test, test.drop("y")))
    assert said.queries == silent.queries
    assert said.forecast.error == silent.forecast.error
    means = test.group_by("a", "b").agg(pl.col("y").mean())
    both = said.to_frame().join(means, on=["a", "b"])
    error = float(np.sqrt(((both["prediction"] - both["y"]) ** 2).mean()))
    assert said.to_dict()["forecast"]["realised"]["error"] == pytest.approx(error)
    assert f"carry answers the rmse was {error:.3g}" in " ".join(said.notes)
    assert silent.forecast.realised is None
    assert "carry" not in " ".join(silent.notes)
    assert "fewer asked ones" not in " ".join(said.notes)
    many = pl.DataFrame(additive_table((6, 6), 3, kept=1.0, rows=20, noise=3.0))
    fewer = check(many.filter(~asked), ["a", "b"], target="y", test=many.filter(asked).unique(["a", "b"], keep="first"))
    assert fewer.forecast.error < 1
    assert "as many rows as the seen ones; with the noise of the fewer asked ones about 3" in " ".join(fewer.notes)
    shown = check(train, ["a", "b"], target="y", test=train.head(2))
    assert "2 rows asked about carry an answer in 'y': nothing was learnt from them" in " ".join(shown.notes)


def test_texts_of_a_frame_come_back_as_texts():
    given = {"a": ["1", "2", "1", "3"], "b": [7, 7, 10, 10], "y": [1.0, 2.0, 3.0, 4.0]}
    for kind in (dict, pl.DataFrame):
        frame = check(kind(given), ["a", "b"], target="y").to_frame()
        assert frame.schema["a"] == pl.String
        assert frame.schema["b"] == pl.Int64
        assert set(frame["a"]) == {"2", "3"}
    assert check({0: ["1", "2", "1"], 1: [7, 7, 8]}, ["0", "1"]).to_frame().rows()[0][:2] == ("2", 8)


def test_an_error_to_fail_on_that_is_near_the_forecast_is_said_to_hang_on_the_draw(tmp_path, capsys):
    path = tmp_path / "t.csv"
    pl.DataFrame(additive_table((6, 6), 0)).write_csv(path)
    found = check(path, ["a", "b"], target="y").forecast
    errors = [check(path, ["a", "b"], target="y", seed=s, draws=9).forecast.error for s in range(6)]
    assert 0.3 < found.by_draw / np.std(errors, ddof=1) < 3
    near, far = found.error + found.by_draw, found.error + 20 * found.by_draw
    for limit, told in ((near, True), (far, False)):
        assert show(path, factors="a,b", target="y", fail_on=[f"error={limit}"]) == 0
        assert ("another draw of the combinations left out" in capsys.readouterr().err) is told


def test_a_share_is_all_only_where_it_is():
    assert [per_cent(x) for x in (0.994, 0.996, 1 - 1e-12, 1.0, -0.2)] == ["99 %", "99 %", "99 %", "100 %", "-20 %"]
    assert [per_cent(x, 1) for x in (0.9994, 0.9996, 1.0)] == ["99.9 %", "99.9 %", "100.0 %"]


def test_what_is_determined_is_answered_however_much_is_not():
    known = {"a": [0, 0, 1, *range(2, 302)], "b": [0, 1, 0, *range(2, 302)], "y": np.arange(303.0)}
    found = check(known, ["a", "b"], target="y", max_queries=500)
    assert found.counts["undetermined"] > 500
    assert [q.prediction for q in found.queries if q.status == "determined"] == [pytest.approx(3.0)]


def test_what_the_scale_of_the_rule_contradicts_is_not_called_determined():
    """A pair that multiplies by 4.5 among answers that span decades: in their own units few tables show it."""
    told = collections.Counter[tuple[float, bool]]()
    for seed in range(6):
        for pair in (0.0, 1.5):
            rng = np.random.default_rng([seed, 3])
            x = rng.integers(0, 2, (60, 8))
            z = x @ rng.normal(0, 0.6, 8) + rng.normal(0, 0.1, 60) + pair * x[:, 0] * x[:, 1]
            table = {f"f{k}": column for k, column in enumerate(x.T)}
            table |= {"y": [*np.exp(z + 2)[:52], *[None] * 8]}
            result = check(pl.DataFrame(table), [*table][:-1], target="y", draws=9)
            told[pair, result.verdict.startswith("determined")] += 1
            assert ("where sums do best, the seen combinations contradict" in result.sentence()) <= (pair > 0)
    assert told[0.0, True] == 6
    assert told[1.5, True] <= 2


def test_that_a_rule_is_recommended_whose_error_is_not_the_smallest_shown_is_explained():
    told = set()
    for seed in range(12):
        rng = np.random.default_rng(seed)
        rows = [(f"a{i}", f"b{j}", 3 + i + j + rng.normal()) for i in range(5) for j in range(5) if rng.random() < 0.7]
        frame = pl.DataFrame(rows, schema=["a", "b", "y"], orient="row")
        result = check(frame, ["a", "b"], target="y", draws=9)
        (line,) = [text for name, text in facts(result) if name == "rules"]
        assert result.forecast is not None
        errors = {r.rule: float(shown(r.error)) for r in result.forecast.rules}
        told.add(other := errors[result.forecast.rule] > min(errors.values()))
        assert ("; recommended is the rule of the smallest error, or a simpler one" in line) is other
    assert told == {True, False}


def test_that_pairs_of_a_smaller_error_are_not_recommended_is_explained_by_what_they_have_to_gain():
    told = set()
    for seed in (2, 3, 5):
        rng = np.random.default_rng(seed)
        codes = grid(4, 4, 3)[rng.random(48) < 0.8]
        y = sum(rng.standard_normal(n)[codes[:, k]] for k, n in enumerate((4, 4, 3)))
        y = y + 0.6 * rng.standard_normal((4, 4))[codes[:, 0], codes[:, 1]] + 0.5 * rng.standard_normal(len(codes))
        found = check(table(codes, y), ["a", "b", "c"], target="y", draws=9).forecast
        errors = {rule.rule: rule.error for rule in found.rules}
        less = errors["pairs"] < errors["additive"]
        told.add((found.rule, less))
        assert ("effects of pairs only if they are better by a whole one" in found.to_dict()["choice"]) is less
    assert told == {("additive", True), ("additive", False), ("pairs", True)}


def test_a_rule_that_is_told_a_larger_error_but_erred_less_where_it_was_tried_is_said_to_have():
    """Of a dose beyond those of its drug pairs know that they do not know the slope, and sums do not."""
    sums, scaled, pairs = (
        RuleError(name, error, 0.9, True, tried)
        for name, error, tried in [("additive", 0.655, 0.625), ("additive on a log scale", 0.477, 0.443),
                                   ("pairs", 1.17, 0.565)]
    )  # fmt: skip
    said = Forecast("pairs", 1.17, 0.6, 2.2, "rmse", 1.39, 0.2, (sums, scaled, pairs), 12, 12, 7, sums)
    words = choice(said)
    assert "on the combinations left out pairs errs by 0.565 (additive 0.625); how much more" in words
    assert "of sums on several scales that on which the seen answers are likelier" in words  # the other one is lost
    alike = replace(said, rules=(replace(sums, uncharged=0.565), scaled, pairs))
    assert "on the combinations left out" not in choice(alike)
