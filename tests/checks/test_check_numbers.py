"""Numbers as factors: planted lines and curves, and what is refused."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from planted_tables import grid

import recombine as rc
from recombine.checks.adds_up.additivity import additivity
from recombine.checks.exact.conjunctive import Conjunctive
from recombine.checks.exact.curves import Curve, curves_of
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.plans.in_brief import in_brief
from recombine.cli.main import main
from recombine.errors import InputError
from recombine.support.table import Target, read_tables

VARIETIES = "ABCDEFGH"


def trial(seed: int, curve=lambda x: 0.1 * x, noise: float = 0.3, repeats: int = 1, doses=(0, 10, 20, 40, 50, 60)):
    rng = np.random.default_rng(seed)
    effects = dict(zip(VARIETIES, rng.normal(0, 3, len(VARIETIES)), strict=True))
    rows = [(v, float(x)) for v in VARIETIES for x in doses] * repeats
    y = np.array([effects[v] + curve(x) for v, x in rows]) + rng.normal(0, noise, len(rows))
    table = pl.DataFrame({"variety": [v for v, _ in rows], "dose": [x for _, x in rows], "y": y})
    return table, lambda v, x: effects[v] + curve(x)


def ask(*doses: float) -> pl.DataFrame:
    return pl.DataFrame([(v, float(x)) for v in VARIETIES for x in doses], schema=["variety", "dose"], orient="row")


def numbers(table: pl.DataFrame, test: pl.DataFrame, numeric="dose", **more):
    return rc.check(table, ["variety", "dose"], target="y", numeric=numeric, test=test, **more)


def test_a_planted_line_answers_between_seen_values_and_its_ranges_hold():
    held, errors, forecasts = [], [], []
    for seed in range(6):
        table, truth = trial(seed)
        result = numbers(table, ask(30, 45.5))
        assert result.counts == {"seen": 0, "determined": 16, "extrapolation": 0, "undetermined": 0, "unseen level": 0}
        assert result.additivity.rejected is False
        assert result.verdict == "determined"
        said = [(q, truth(*result.combination(q.codes).values())) for q in result.queries]
        new = np.random.default_rng(seed + 100).normal(0, 0.3, len(said))
        held += [q.low <= y + e <= q.high for (q, y), e in zip(said, new, strict=True)]
        errors += [(q.prediction - y - e) ** 2 for (q, y), e in zip(said, new, strict=True)]
        forecasts.append(result.forecast.error)
    assert 0.8 <= np.mean(held) <= 1.0
    assert 0.7 < np.mean(forecasts) / np.sqrt(np.mean(errors)) < 1.4


@pytest.mark.parametrize("repeats", [1, 2])
def test_a_planted_wave_is_no_line_but_a_curve(repeats):
    table, _ = trial(1, lambda x: np.sin(x / 10), 0.15, repeats)
    straight, curved = numbers(table, ask(30)), numbers(table, ask(30), {"dose": "spline"})
    assert straight.verdict == "assumption rejected"
    assert "beyond a straight line" in straight.additivity.evidence or "lack-of-fit" in straight.additivity.evidence
    assert straight.forecast.rule == "curved"
    assert curved.additivity.rejected is False
    assert curved.verdict == "determined"
    assert curved.forecast.error < 0.5 * straight.forecast.rules[1].error


def test_a_walk_is_a_random_walk_given_its_seen_values():
    curve = Curve((0, 10, 20, 30, 40, 80, 120, 160), np.array([0, 1, 2, 4, 5, 7]), "spline")
    walk = curve.walk
    bridge = [(10 * 10 / 20), (40 * 40 / 80)]  # (x − a)(b − x) / (b − a) between neighbours
    assert np.allclose(walk.lacks[[3, 6]] / walk.lacks[3], np.array(bridge) / bridge[0])
    assert not walk.lacks[curve.seen].any()
    assert walk.columns.shape == (8, 4)
    line = np.stack([np.ones(6), curve.unit[curve.seen]], axis=1)
    assert np.allclose(line.T @ walk.columns[curve.seen], 0)
    straight = np.diff(walk.columns[[2, 3, 4]], axis=0)  # halfway between two seen values is their mean
    assert np.allclose(straight[0], straight[1])
    assert Curve(curve.levels, curve.seen).walk is None


def threshold(seed: int, at: float = 50.0):
    """Five varieties at six doses, a jump between two of them; a fifth of the combinations is not seen."""
    rng = np.random.default_rng(seed)
    effects = dict(zip(VARIETIES[:5], rng.normal(0, 4, 5), strict=True))

    def act(v, x):
        return 20 + effects[v] + 20.0 * (x >= at)

    rows = [(v, float(x)) for v in VARIETIES[:5] for x in (0, 10, 20, 40, 80, 160) if rng.random() > 0.2]
    y = [act(v, x) + rng.normal() for v, x in rows]
    table = pl.DataFrame({"variety": [v for v, _ in rows], "dose": [x for _, x in rows], "y": y})
    asked = pl.DataFrame(
        [(v, x) for v in VARIETIES[:5] for x in (30.0, 60.0, 120.0)], schema=["variety", "dose"], orient="row"
    )
    return table, asked, act


def test_a_jump_between_two_values_is_not_determined_and_ranges_agree_with_the_forecast():
    held = []
    for seed in range(6):
        table, asked, truth = threshold(seed)
        result = numbers(table, asked, {"dose": "spline"})
        assert result.verdict != "determined"
        said = [(q, truth(*result.combination(q.codes).values())) for q in result.queries]
        held += [q.low <= y <= q.high for q, y in said]
        halves = [(q.high - q.low) / 2 for q, _ in said]
        assert np.median(halves) > result.forecast.error / 2
    assert np.mean(held) > 0.85
    assert "values of dose left out show that what it does between seen values is not known" in result.sentence()
    assert "held about 2 times in 3 on planted curves" in result.forecast.words
    assert result.to_dict()["forecast"]["gaps"][0]["factor"] == "dose"


def test_a_gap_made_by_leaving_a_value_out_is_not_taken_for_the_asked_one():
    ratios, held = [], []
    for seed in range(8):
        table, truth = trial(seed, lambda x: 4 * x / (15 + x), 0.15)
        result = numbers(table, ask(30, 45.5))
        assert result.forecast.rule == "curved"
        said = [(q, truth(*result.combination(q.codes).values())) for q in result.queries]
        new = np.random.default_rng(seed + 100).normal(0, 0.15, len(said))
        off = [q.prediction - y - e for (q, y), e in zip(said, new, strict=True)]
        held += [q.low <= y + e <= q.high for (q, y), e in zip(said, new, strict=True)]
        ratios.append(result.forecast.error / np.sqrt(np.mean(np.square(off))))
    assert 0.8 < np.median(ratios) < 1.25
    assert np.mean(held) > 0.8


def test_noise_around_a_line_is_rarely_called_bent():
    wrong = []
    for seed in range(100):
        table = trial(seed, repeats=1 + seed % 2)[0]
        train = read_tables([table], ["variety", "dose"], target="y", numbers=["dose"])[0]
        curves = curves_of(train.space, train.codes, {"dose": "linear"})
        known = Identifiability(train.codes, train.space.shape, 1, curves)
        wrong.append(additivity(known, train.target, train.space.names).rejected)
    assert sum(wrong) <= 5


def test_outside_the_seen_range_is_called_an_extrapolation_and_has_no_range():
    table, _ = trial(0)
    result = numbers(table, ask(30, 100))
    assert result.verdict == "extrapolation"
    assert "outside what training shows (dose 0 to 60)" in result.sentence()
    far = [q for q in result.queries if q.status == "extrapolation"]
    assert len(far) == 8
    assert all(q.prediction is not None and q.low is None for q in far)
    assert result.fails(["undetermined"]) == ["undetermined"]
    assert json.loads(result.to_json())["counts"]["extrapolation"] == 8


def test_a_plan_tells_no_error_of_what_is_extrapolated():
    table = {"v": list("aaabbb"), "dose": [0, 1, 2] * 2}
    how = {"numeric": "dose", "purpose": rc.Purpose(budget=2)}
    inside = {"v": ["a", "b"], "dose": [1.5, 0.5]}
    near = rc.check(table, ["v", "dose"], test=inside, **how).plan
    result = rc.check(table, ["v", "dose"], test={"v": list("abb"), "dose": [1.5, 0.5, 90.0]}, **how)
    both, told = result.plan, result.to_dict()["plan"]
    assert both.before == pytest.approx(near.before)
    assert both.after < 2
    assert "1 asked outside the seen range is left out" in both.words
    assert in_brief(both).endswith("Nothing is promised of 1 asked outside the seen range.")
    assert both.left == 1 - told["enough"]  # unless a row that is collected widens the range
    far = rc.check(table, ["v", "dose"], test={"v": ["b"], "dose": [90.0]}, **how).plan
    assert (far.after, far.worst) == (None, None)
    assert "every asked answer lies outside the seen range: no standard error is told." in far.words


def test_no_advice_claims_to_determine_what_stays_outside():
    table, asked = {"v": list("aaabbb"), "dose": [0, 1, 2] * 2}, {"v": list("acb"), "dose": [1.5, 0.5, 90.0]}
    result = rc.check(table, ["v", "dose"], numeric="dose", test=asked)
    told = result.to_dict()["advice"]
    assert (told["needed"], told["enough"], told["outside"]) == (1, False, 1)
    left = "but the one with a number outside the seen range"
    assert f"would determine all of them {left}" in result.sentence()
    assert f"after which everything asked {left} is determined" in result._repr_html_()
    # A collected row may lie outside itself, and widens the range.
    wider = rc.check(table, ["v", "dose"], numeric="dose", test={"v": ["c", "b"], "dose": [90.0, 80.0]})
    assert wider.to_dict()["advice"]["enough"]


def test_an_extrapolation_does_not_hide_that_adding_up_is_rejected():
    cells = [(v, d) for v in range(4) for d in range(6)]
    table = {
        "v": [f"v{v}" for v, _ in cells],
        "dose": [d for _, d in cells],
        "y": [v * d + 0.1 * (d % 2) for v, d in cells],
    }
    result = rc.check(table, ["v", "dose"], target="y", numeric="dose", test={"v": ["v1"], "dose": [9]})
    assert (result.verdict, result.additivity.rejected) == ("extrapolation", True)
    assert "that far out, which the seen combinations contradict already (p" in result.sentence()


def test_own_slopes_reach_as_far_as_each_level_was_seen():
    table = {"variety": ["A", "A", "A", "B", "B"], "dose": [0, 30, 60, 0, 20], "y": [0.0, 3, 6, 1, 2]}
    test = {"variety": ["A", "B", "B"], "dose": [10, 10, 60]}
    result = rc.check(table, ["variety", "dose"], target="y", numeric="dose", test=test, order=2)
    assert {result.combination(q.codes)["dose"]: q.status for q in result.queries if q.codes[0]} == {
        10: "determined", 60: "extrapolation",
    }  # fmt: skip
    assert numbers(pl.DataFrame(table), pl.DataFrame(test)).counts["extrapolation"] == 0


def test_a_number_that_goes_with_a_factor_is_undetermined_until_a_row_is_collected():
    table = {"variety": ["A", "A", "B", "B"], "dose": [0, 0, 20, 20]}
    result = rc.check(table, ["variety", "dose"], numeric="dose", test={"variety": ["A"], "dose": [10]})
    assert result.verdict == "undetermined"
    assert result.advice.needed == 1
    after = {"variety": [*table["variety"], "A"], "dose": [*table["dose"], 10]}
    assert rc.check(after, ["variety", "dose"], numeric="dose", test={"variety": ["A"], "dose": [5]}).determined


def test_a_plan_puts_its_rows_at_the_ends():
    table, _ = trial(0)
    result = numbers(table, ask(0, 60), purpose=rc.checks.Purpose(budget=4, noise=1.0))
    assert {row["dose"] for row in result.space.decode(result.plan.cells)} <= {0.0, 60.0}
    assert result.plan.after < result.plan.before


def test_a_measurement_of_its_own_in_every_row_is_forecast_and_tested():
    rng = np.random.default_rng(0)
    x, v = rng.uniform(0, 10, 80), np.resize(list("ABC"), 80)
    y = np.where(v == "A", 2.0, 0.0) + np.sin(x) + rng.normal(0, 0.1, 80)
    test = {"variety": ["A", "B"], "dose": [8.05, 2.3331]}
    table = pl.DataFrame({"variety": v, "dose": x, "y": y})
    straight, curved = numbers(table, test), numbers(table, test, {"dose": "spline"})
    assert straight.verdict == "assumption rejected"
    assert straight.forecast.rule == "curved"
    assert curved.verdict == "determined"
    assert curved.forecast.error < 0.2
    classes = numbers(table.with_columns(y=pl.Series(np.where(x > 5, "high", "low"))), test)
    assert {result_of(classes, q): q.prediction for q in classes.queries} == {"B": "low", "A": "high"}


def result_of(result, query):
    return result.combination(query.codes)["variety"]


def test_numbers_alone_are_factors_too():
    rng = np.random.default_rng(0)
    x, z = rng.integers(0, 6, 40), rng.integers(0, 6, 40) / 2
    table = pl.DataFrame({"x": x, "z": z, "y": x + z + rng.normal(0, 0.1, 40)})
    result = rc.check(table, ["x", "z"], target="y", numeric=["x", "z"], test={"x": [2.5], "z": [0.75]})
    assert result.verdict == "determined"
    assert abs(result.queries[0].prediction - 3.25) < 0.2
    assert result.coverage.total(2) == (0, 0, 0)


@pytest.mark.parametrize(
    ("dose", "numeric", "more", "says"),
    [
        (["0", "high", "20"], "dose", {}, "holds 'high', which is not a number"),
        (["20 C", "5", "25 C"], "dose", {}, "(2 cells: rows 1, 3 below the header); remove the unit 'C'"),
        (["2O.5", "5", "1l"], "dose", {}, "write digits for letters ('2O.5' looks like 20.5), and correct such"),
        ([True, False, True], "dose", {}, "which are not numbers"),
        ([5, 5, 5], "dose", {}, "with the single value 5"),
        ([5, 6, 5], {"dose": "spline"}, {}, "two values, which cannot tell how it bends"),
        ([1.0, float("inf"), 2.0], "dose", {}, "the infinite number inf"),
        ([1.0, float("nan"), 2.0], "dose", {}, "1 missing value"),
        ([1.0, None, 2.0], "dose", {"missing": "level"}, "is no level"),
        ([1, 2, 3], "age", {}, "unknown numeric factor 'age'"),
        ([1, 2, 3], {"dose": "cubic"}, {}, "unknown shape of 'dose' 'cubic'"),
        ([1, 2, 3], "dose", {"bins": {"dose": 2}}, "cut into bins and to be a number"),
    ],
)
def test_what_cannot_be_a_number_is_one_sentence(dose, numeric, more, says):
    with pytest.raises(InputError) as error:
        rc.check({"v": ["a", "b", "a"], "dose": dose}, ["v", "dose"], numeric=numeric, **more)
    assert says in str(error.value)


def test_a_measurement_given_as_levels_gets_a_hint():
    table, _ = trial(0)
    said = rc.check(table, ["variety", "dose"], target="y", test=ask(30))
    assert len([n for n in said.notes if "--numeric dose" in n]) == 1
    numeric = "--numeric dose (numeric='dose')"
    assert f"If dose measures something, {numeric} answers between its seen numbers." in said.sentence()
    later = rc.check(table, ["variety", "dose"], target="y", test=ask(70))  # as a year to come
    assert "--numeric dose" not in later.sentence()
    assert not any("--numeric" in n for n in rc.check(table, ["variety", "dose"], target="y", test=ask(40)).notes)
    many = np.linspace(0, 1, 60) + 0.5
    with pytest.raises(InputError, match="--numeric dose"):
        rc.check({"v": [0, 1] * 30, "dose": many}, ["v", "dose"])


def test_bins_are_those_of_training_and_a_value_outside_is_not_seen():
    table = {"v": ["a", "b"] * 6, "dose": [float(x) for x in range(12)], "y": [float(x) for x in range(12)]}
    asked = {"v": ["a", "a"], "dose": [1000.0, 3.0]}
    result = rc.check(table, ["v", "dose"], target="y", bins={"dose": 3}, test=asked)
    assert result.counts["unseen level"] == 1
    assert result.unseen_levels == {"dose": ["above 11"]}
    blank = {"v": [*table["v"], "a"], "dose": [*table["dose"], 1000.0], "y": [*table["y"], None]}
    assert rc.check(blank, ["v", "dose"], target="y", bins={"dose": 3}).counts["unseen level"] == 1


def run(arguments: list[str]) -> int:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    return left.value.code


def test_the_command_line_reads_shapes_and_writes_the_page(tmp_path, capsys):
    table, _ = trial(0)
    table.write_csv(tmp_path / "t.csv")
    ask(30, 100).write_csv(tmp_path / "ask.csv")
    common = [
        str(tmp_path / "t.csv"),
        "--factors",
        "variety,dose",
        "--target",
        "y",
        "--test",
        str(tmp_path / "ask.csv"),
    ]
    page = tmp_path / "c.html"
    assert run(["check", *common, "--numeric", "dose=spline", "--out", str(page)]) == 0
    assert "extrapolation" in capsys.readouterr().out
    written = page.read_text(encoding="utf-8")
    assert "outside the seen range" in written
    assert "Nothing: training determines" not in written
    assert run(["check", *common, "--numeric", "dose", "--json", "--fail-on", "undetermined"]) == 1
    assert json.loads(capsys.readouterr().out)["settings"]["numeric"] == {"dose": "linear"}


@pytest.mark.parametrize("shape", [(6, 6), (6, 5, 3)])
def test_a_level_that_reverses_the_effects_of_another_factor_is_seen_in_single_rows_and_named(shape):
    codes, rng = grid(*shape), np.random.default_rng(0)
    a, b = rng.standard_normal((2, 6))
    noise = 0.2 * rng.standard_normal(len(codes))
    known, names = Identifiability(codes, shape, 1), ("a", "b", "c")[: len(shape)]
    levels = [[f"{name}{c}" for c in range(n)] for name, n in zip(names, shape, strict=True)]
    for slope, rejected in ((-1.0, True), (1.0, False)):
        y = a[codes[:, 0]] + np.where(codes[:, 0] == 2, slope, 1.0) * b[codes[:, 1]] + noise
        target = Target("y", None, np.ones(len(y), np.int64), y, np.zeros(len(y)))
        found = additivity(known, target, names, levels)
        assert found.rejected is rejected
        assert (found.odd is not None) is rejected
        assert ("a a2 responds to b unlike its other levels" in found.evidence) is rejected
    y[7] += 4.0  # one answer that is off is no slope, nor a pair that acts together
    assert not additivity(known, replace(target, mean=y), names).rejected


def test_a_number_spaced_by_factors_that_acts_along_no_line_is_given_its_logarithm_to_try():
    rng = np.random.default_rng(0)

    def said(doses, effect):
        rows = [(v, d, round(k + effect(d) + rng.normal() / 3, 2)) for k, v in enumerate("ABCD") for d in doses]
        table = pl.DataFrame(rows[:-2], schema=["a", "dose", "y"], orient="row")
        notes = rc.check(table, ["a", "dose"], target="y", numeric=["dose"]).notes
        return [n for n in notes if n.startswith("dose ")]

    doses = [0, 1, 3, 10, 30, 100]
    log = "dose is spaced by factors (1, 3, 10, 30, 100): its logarithm (0 has none: first add, say, 1) may add up "
    curve = "a curve may do: --numeric dose=spline (numeric={'dose': 'spline'})."
    spline = f"dose does not act along a straight line; {curve}"
    assert said(doses, lambda d: 5 * np.log(d + 1)) == [f"{log}better; give that as a column; or {curve}"]
    assert said(doses, lambda d: 0.2 * d) == []
    assert said([0, 20, 40, 60, 80, 100], lambda d: 5 * np.log(d + 1)) == [spline]


def test_where_the_rule_curved_does_best_though_a_line_is_not_rejected_a_spline_is_named():
    found = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        rows = [(v, d, k + 0.06 * (d - 3) ** 2 + rng.normal() / 3) for k, v in enumerate("ABCD") for d in range(7)]
        table = pl.DataFrame([r for r in rows if rng.random() < 0.8], schema=["a", "dose", "y"], orient="row")
        result = rc.check(table, ["a", "dose"], target="y", numeric=["dose"], draws=9)
        said = [n for n in result.notes if "--numeric dose=spline" in n]
        rejected = result.additivity is not None and "dose beyond" in result.additivity.evidence
        assert bool(said) == (result.rule == "curved" or (rejected and result.doubt == "rejected"))
        found.append(any("as the rule “curved” errs less" in n for n in said))
    assert any(found)
    assert not all(found)


def test_long_decimals_are_written_sparsely_as_they_are_in_full():
    codes = grid(3, 4)
    doses = Curve((0.0, 1.584962500721156, 2.321928094887362, 4.087462841250339), np.arange(4))
    rows = Conjunctive(codes, (3, 4), 1, {1: doses})
    assert rows.rows(codes).dtype == object
    assert (rows.sparse(codes).toarray() == rows.rows(codes)).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("answers", "said"),
    [
        (lambda y: 1e90 * y, "too large to calculate with"),
        (lambda y: 1e-160 * y, "too small to calculate with"),
        (lambda y: 1e47 * y, ""),
        (lambda y: 1e-47 * y, ""),
        (lambda y: np.where(np.arange(len(y)) == 3, 9e48, y), ""),
        (lambda y: np.full(len(y), 5e48), ""),
        (lambda y: 10.0 ** (-20 * (y - y.min())), ""),
    ],
)
def test_no_size_of_answers_overflows(answers, said):
    rng = np.random.default_rng(0)
    a, b = np.indices((5, 5)).reshape(2, -1)[:, 3:].repeat(2, axis=1)
    y = answers(10 + a + 2 * np.sin(b) + 0.3 * rng.normal(size=len(a)))
    table = {"a": a, "b": b, "y": y, "p": y, "part": np.where((a + b) % 3, "train", "test")}
    if said:
        with pytest.raises(InputError, match=said):
            rc.check(table, ["a", "b"], target="y", draws=9)
    else:
        assert rc.check(table, ["a", "b"], target="y", draws=9).forecast is not None
    with suppress(InputError):  # what is too large, too small or all the same
        rc.measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
