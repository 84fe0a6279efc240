"""Associations by hand, p-values from tables with fixed margins, and the test of additivity."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.special import fdtrc
from scipy.stats import chi2_contingency, random_table

from recombine.checks import check
from recombine.checks.adds_up.additivity import additivity
from recombine.checks.adds_up.tested import Found, verdict
from recombine.checks.columns.confounding import chi_square, information, random_tables
from recombine.checks.exact.identifiability import Identifiability
from recombine.support.numerals import step
from recombine.support.table import Target


def test_cramers_v_and_information_of_a_perfect_confound():
    result = check({"site": ["a"] * 20 + ["b"] * 20, "device": ["x"] * 20 + ["y"] * 20}, ["site", "device"])
    (pair,) = result.confounding.pairs
    assert pair.cramers_v == pytest.approx(1.0)
    assert pair.information == pytest.approx(1.0)
    assert pair.p_value == 1 / 1000
    assert "random tables" in pair.method


def test_independent_factors_are_not_accused():
    rows = [(a, b) for a in "abc" for b in "xyz" for _ in range(10)]
    result = check({"a": [a for a, _ in rows], "b": [b for _, b in rows]}, ["a", "b"])
    (pair,) = result.confounding.pairs
    assert pair.cramers_v == pytest.approx(0.0, abs=1e-12)
    assert pair.p_value == 1.0


def test_chi_square_equals_scipy():
    table = np.array([[10.0, 20, 30], [6, 9, 17]])
    assert chi_square(table) == pytest.approx(chi2_contingency(table, correction=False).statistic)


def test_information_of_a_fair_copy_is_one_bit():
    assert information(np.array([[5.0, 0], [0, 5]])) == pytest.approx(1.0)
    assert information(np.array([[4.0, 4], [4, 4]])) == 0.0


@pytest.mark.parametrize(
    ("many", "small", "rows", "columns"),
    [
        (400, 1_000, [30, 50, 20], [60, 25, 15]),  # cell by cell
        (400, 0, [30, 50, 20], [60, 25, 15]),  # Patefield's
        (0, 1_000, [3, 2, 4], [4, 3, 2]),  # shuffled
    ],
)
def test_random_tables_keep_margins_and_moments(many, small, rows, columns, monkeypatch):
    monkeypatch.setattr("recombine.checks.columns.confounding.MANY_CELLS", many)
    monkeypatch.setattr("recombine.checks.columns.confounding.SMALL_TABLE", small)
    rows, columns = np.array(rows), np.array(columns)
    drawn = random_tables(rows, columns, 4_000, np.random.default_rng(0))
    assert (drawn.sum(axis=2) == rows).all()
    assert (drawn.sum(axis=1) == columns).all()
    law = random_table(rows, columns)
    np.testing.assert_allclose(drawn.mean(axis=0), law.mean(), atol=0.25)
    n = rows.sum()
    variance = np.outer(rows * (n - rows), columns * (n - columns)) / (n**2 * (n - 1))
    np.testing.assert_allclose(drawn.var(axis=0), variance, rtol=0.12)


def test_a_site_that_only_speaks_through_the_device():
    """y is the device; the site goes with the device. Given the device the site says nothing about y."""
    rng = np.random.default_rng(0)
    device = rng.integers(2, size=400)
    site = np.where(rng.random(400) < 0.8, device, 1 - device)
    result = check(
        {"site": site, "device": device, "y": np.array(["no", "yes"])[device]}, ["site", "device"], target="y"
    )
    pair = next(p for p in result.confounding.pairs if (p.one, p.two) == ("site", "y"))
    assert pair.information > 0.1
    assert pair.given == "device"
    assert pair.conditional == pytest.approx(0.0, abs=1e-12)


def test_thin_cells_are_counted():
    result = check({"a": ["x"] * 6 + ["y"], "b": [1] * 6 + [2]}, ["a", "b"])
    assert (result.confounding.thin, result.confounding.combinations) == (1, 2)


def _grid_table(answer, repeats, noise, seed=0):
    rng = np.random.default_rng(seed)
    rows = [(a, b) for a in range(5) for b in range(4) for _ in range(repeats)]
    y = [answer(a, b) + noise * rng.normal() for a, b in rows]
    return {"a": [a for a, _ in rows], "b": [b for _, b in rows], "y": y}


@pytest.mark.parametrize(("repeats", "test"), [(4, "lack of fit"), (1, "Tukey one degree of freedom")])
def test_additivity_is_kept_and_rejected(repeats, test):
    kept = check(_grid_table(lambda a, b: 2.0 * a - b, repeats, 0.3), ["a", "b"], target="y").additivity
    assert kept.rejected is False
    result = check(_grid_table(lambda a, b: float(a * b), repeats, 0.3), ["a", "b"], target="y")
    assert (result.additivity.test, result.additivity.rejected) == (test, True)
    assert result.additivity.p_value < (1e-6 if repeats > 1 else 0.0031)  # the smallest of three tests
    assert not any("which is rejected here" in note for note in result.notes)  # nothing is asked


def test_outliers_alone_do_not_reject_additivity():
    """Skewed noise: Tukey's F rejected a third of such tables at one in a hundred."""
    rejected = []
    for seed in range(40):
        y = np.exp(np.random.default_rng(seed).standard_normal(30))
        a, b = (k.ravel() for k in np.meshgrid(range(6), range(5), indexing="ij"))
        known = Identifiability(np.column_stack([a, b]), (6, 5), 1)
        target = Target("y", None, np.ones(30, dtype=np.int64), y, np.zeros(30))
        rejected.append(additivity(known, target, ("a", "b")).rejected)
    assert sum(rejected) <= 2


def test_exactly_additive_answers_are_said_to_be():
    outcome = check(_grid_table(lambda a, b: 2.0 * a - b, 1, 0.0), ["a", "b"], target="y").additivity
    assert (outcome.test, outcome.rejected) == ("exact fit", False)


def test_rounding_is_noise_and_no_p_value_is_zero():
    """A line met exactly by rounded answers leaves nothing beside one degree of freedom: F was infinite."""
    table = {"a": list("uuuvv"), "dose": [10, 20, 30, 10, 30], "y": [11.0, 12.0, 13.0, 16.0, 18.1]}
    assert check(table, ["a", "dose"], target="y", numeric="dose").additivity.rejected is False
    rows = {"a": list("uuvv") * 3, "b": list("xyxy") * 3, "y": [1.1, 2.2, 3.3, 4.5] * 2 + [1.2, 2.3, 3.3, 4.5]}
    twice = check(rows, ["a", "b"], target="y").additivity  # the cells miss a sum by 0.1, the rounding of each
    assert (twice.test, twice.rejected) == ("lack of fit", False)
    rows["y"] = [1.1, 2.2, 3.3, 8.5] * 2 + [1.2, 2.3, 3.3, 8.5]
    assert check(rows, ["a", "b"], target="y").additivity.rejected
    assert [step(np.array(v)) for v in ([12.0, 7.0], [0.25, 1.5], [1 / 3], [])] == [1.0, 0.01, 0.0, 0.0]
    assert "p < 1e-300, F" in verdict([Found("interaction", 0.0, "F")]).words


def test_copies_of_rows_tell_nothing_of_the_noise():
    rng = np.random.default_rng(0)
    a, b = np.divmod(rng.permutation(36)[:27], 6)
    y = np.round(4 * rng.normal(size=6)[a] + 4 * rng.normal(size=6)[b] + 0.5 * rng.normal(size=27), 2)
    once = check({"a": a, "b": b, "y": y}, ["a", "b"], target="y")
    some = np.r_[np.arange(27), 3, 8, 20]
    for rows in (some, np.tile(np.arange(27), 3)):
        found = check({"a": a[rows], "b": b[rows], "y": y[rows]}, ["a", "b"], target="y")
        assert found.verdict == once.verdict == "determined"
        assert found.additivity.p_value == pytest.approx(once.additivity.p_value)
        assert "count once" in " ".join([found.additivity.words, *found.notes])
    four = {"a": list("uuvv") * 3, "b": list("xyxy") * 3, "y": [1.1, 2.2, 3.3, 8.5] * 3}
    found = check(four, ["a", "b"], target="y")
    assert found.additivity.rejected is None
    assert found.verdict != "determined"


def test_exclusive_or_is_no_additive_logit_and_or_is_one():
    cells = {"a": [0, 0, 1, 1, 2, 2], "b": [0, 1, 0, 1, 0, 0]}
    xor = check({**cells, "y": ["n", "j", "j", "n", "n", "n"]}, ["a", "b"], target="y").additivity
    assert (xor.test, xor.rejected) == ("separability", True)
    either = check({**cells, "y": ["n", "j", "j", "j", "n", "n"]}, ["a", "b"], target="y").additivity
    assert (either.test, either.rejected) == ("separability", False)


def test_single_rows_do_not_tell_noise_from_exclusive_or():
    cells = {"a": [0, 0, 1, 1, 2], "b": [0, 1, 0, 1, 0], "y": ["n", "j", "j", "n", "n"]}
    assert check(cells, ["a", "b"], target="y").additivity.rejected is None


def test_a_pair_of_factors_that_interact_is_named():
    rng = np.random.default_rng(0)
    a, b, c = (k.ravel() for k in np.meshgrid(range(4), range(4), range(5), indexing="ij"))
    y = a - c + 2.0 * ((a + b) % 2) + 0.3 * rng.normal(size=len(a))
    numbers = check({"a": a, "b": b, "c": c, "y": y}, ["a", "b", "c"], target="y").additivity
    assert (numbers.test, numbers.rejected) == ("interaction", True)
    assert "F test of a × b" in numbers.words
    classes = check({"a": a, "b": b, "c": c, "y": (a + b) % 2 == 1}, ["a", "b", "c"], target="y").additivity
    assert (classes.test, classes.rejected) == ("interaction", True)
    assert "score test of a × b" in classes.words


def test_noisy_classes_use_the_deviance():
    rng = np.random.default_rng(1)
    a, b = rng.integers(3, size=3000), rng.integers(3, size=3000)
    additive = 1 / (1 + np.exp(-(a - 1.0 + 0.7 * b)))
    kept = check({"a": a, "b": b, "y": rng.random(3000) < additive}, ["a", "b"], target="y").additivity
    assert (kept.test, kept.rejected) == ("deviance", False)
    crossed = np.where((a == 1) ^ (b == 1), 0.8, 0.2)
    lost = check({"a": a, "b": b, "y": rng.random(3000) < crossed}, ["a", "b"], target="y").additivity
    assert (lost.test, lost.rejected) == ("deviance", True)


def test_as_many_effects_as_cells_cannot_be_tested():
    outcome = check({"a": [0, 0, 1], "b": [0, 1, 0], "y": [1.0, 2.0, 5.0]}, ["a", "b"], target="y").additivity
    assert outcome.rejected is None
    assert "cannot test" in outcome.words


def test_the_p_of_a_factor_and_numbers_is_that_of_its_effect_given_the_others():
    rng = np.random.default_rng(0)
    a, b = (part.ravel() for part in np.meshgrid(np.arange(6), np.arange(5)))
    y = 50.0 * a + 3.0 * b + rng.normal(size=30)
    table = {"a": a, "b": b, "c": rng.integers(0, 2, 30), "y": y}
    found = {f.one: f for f in check(table, ["a", "b", "c"], target="y").confounding.pairs if f.two == "y"}
    assert found["b"].p_value < 1e-6
    assert found["c"].p_value > 0.01
    one_hot = np.hstack([np.eye(6)[a], np.eye(5)[b], np.eye(2)[table["c"]]])
    left = [y - x @ np.linalg.lstsq(x, y, rcond=None)[0] for x in (np.delete(one_hot, np.s_[6:11], 1), one_hot)]
    without, rest = (float(v @ v) for v in left)
    assert found["b"].p_value == pytest.approx(float(fdtrc(4, 19, (without - rest) / 4 / (rest / 19))), rel=1e-6)
    assert found["b"].explained == pytest.approx(1 - (rest / 19) / (without / 23), rel=1e-6)
    assert found["c"].explained < 0.2
    assert {(f.cramers_v, f.information, f.conditional, f.given) for f in found.values()} == {(None,) * 4}
    twice = {name: np.tile(column, 2) for name, column in table.items()} | {"y": np.concatenate([y, y + 1])}
    pairs = check(twice, ["a", "b", "c"], target="y").confounding.pairs
    b_twice = next(f for f in pairs if (f.one, f.two) == ("b", "y"))
    x, z = np.tile(one_hot, (2, 1)), twice["y"]  # rows of a combination differ: fitted row by row
    left = [z - x @ np.linalg.lstsq(x, z, rcond=None)[0] for x in (np.delete(x, np.s_[6:11], 1), x)]
    without, rest = (float(v @ v) for v in left)
    assert b_twice.p_value == pytest.approx(float(fdtrc(4, 49, (without - rest) / 4 / (rest / 49))), rel=1e-6)
    same = check(table | {"y": np.full(30, 7.0)}, ["a", "b", "c"], target="y").confounding.pairs
    assert [(f.p_value, f.explained) for f in same if f.two == "y"] == [(1.0, 0.0)] * 3


def test_the_page_shows_effects_on_the_answer_apart_from_confounding():
    a, b = (part.ravel().repeat(40) for part in np.meshgrid(np.arange(4), np.arange(3)))
    y = np.random.default_rng(0).normal(size=480) + 2.0 * a
    page = check({"a": a, "b": b, "y": y}, ["a", "b"], target="y")._repr_html_()
    confounding, effects = page.split('<h2 id="confounding">')[1].split('<h2 id="effects">Effects on the answer</h2>')
    assert "a – b" in confounding
    assert "y" not in re.findall(r'<th scope="row">(.*?)</th>', confounding)[0]
    assert "Cramér’s V" in confounding
    assert "Cramér’s V" not in effects  # bins of means of combinations tell nothing of rows
    told = re.findall(r'<th scope="row">(.)</th><td class="number" data-label="Explained">(\d+) %</td>', effects)
    planted = 100 * 5 / 6  # effects 0, 2, 4, 6 have variance 5, rows around them 1
    assert told[0] == ("a", told[0][1])
    assert float(told[0][1]) == pytest.approx(planted, abs=3)
    assert told[1] == ("b", "0")
    classes = check({"a": a, "b": b, "y": np.where(y > 3, "high", "low")}, ["a", "b"], target="y")._repr_html_()
    assert "Cramér’s V" in classes.split('<h2 id="effects">')[1]  # counted from rows
