"""Answers by substitution: what it covers, what it had right, and what it does not suppose."""

from __future__ import annotations

import numpy as np
import pytest
from planted_tables import grid, table

from recombine.checks import check
from recombine.checks.forecasts.forecast_words import substituted
from recombine.reporting.check import check_page


def test_answers_by_substitution_are_not_said_to_rest_on_adding_up():
    cells = grid(6, 6)
    asked = np.isin(np.arange(36), [0, 8, 15, 22, 29])
    y = [None if q else "even" if (a + b) % 2 == 0 else "odd" for (a, b), q in zip(cells, asked, strict=True)]
    said = check(table(cells, y), ["a", "b"], target="y")
    assert said.rule == "substitution"
    words = "replace each other, whether or not effects add up"
    assert words in said.sentence()
    assert "answered by substitution, which does not suppose that" in check_page(said)
    assert f"Substitution {substituted(said.forecast)}." in check_page(said)


def test_what_substitution_does_not_cover_is_told_apart():
    cells = grid(7, 6)
    asked = np.isin(np.arange(42), [1, 9, 16, 26, 33, 41])
    classes = ["C" if a == 6 or b == 5 else "AB"[(a // 3 + b) % 2] for a, b in cells]  # 6 and 5 behave like no other
    y = [None if q else answer for answer, q in zip(classes, asked, strict=True)]
    said = check(table(cells, y), ["a", "b"], target="y")
    assert said.rule == "substitution"
    told, covered = said.forecast.substitution, [q.covered for q in said.queries]
    assert (sum(covered), len(covered)) == (told["covered"], told["asked"])
    assert 0 < sum(covered) < len(covered)
    assert f"where it covers ({sum(covered)}) and the commonest class elsewhere" in said.sentence()
    rules = {q.covered: said.rule_of(q) for q in said.queries}
    assert rules == {True: "substitution", False: "constant"}
    assert said.to_frame()["rule"].to_list().count("constant") == len(covered) - sum(covered)


def test_what_substitution_had_right_adds_up_to_its_error():
    for seed in (4, 5):  # a border at which stand-ins are drawn again, ties of votes
        rng, cells = np.random.default_rng(seed), grid(8, 6)
        cells = cells[rng.permutation(48) < 30]
        y = np.array(["hex", "cubic", "mono"])[np.where(cells[:, 1] < 4, (cells[:, 0] // 2) % 3, 0)]
        found = check(table(cells, np.where(rng.random(30) < 0.08, "hex", y)), ["a", "b"], target="y").forecast
        told, error = found.substitution, next(r.uncharged for r in found.rules if r.rule == "substitution")
        right = told["tried"] * told["right"] + (found.stand_ins - told["tried"]) * told["elsewhere"]
        assert error == pytest.approx(1 - right / found.stand_ins)
