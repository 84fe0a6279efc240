"""Rows until an error in the chance of a class: enough by the chances that were planted, and asked for in words."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.checks import Purpose, check
from recombine.errors import InputError

SIZES = (6, 5)
GRID = np.indices(SIZES).reshape(2, -1).T


def columns(cells):
    return np.hstack([np.ones((len(cells), 1)), *(np.eye(n)[cells[:, k]][:, 1:] for k, n in enumerate(SIZES))])


def planted(seed):
    """Twenty-one combinations, 600 rows of yes and no; and the planted chances."""
    rng = np.random.default_rng(seed)
    cells = np.array([(a, b) for a, b in GRID if (a + 2 * b) % 10 not in (1, 4, 7)])
    rows = cells[rng.integers(len(cells), size=600)]
    effects = [rng.normal(0, 0.9, n) for n in SIZES]
    of = lambda codes: 1 / (1 + np.exp(0.3 - effects[0][codes[:, 0]] - effects[1][codes[:, 1]]))  # noqa: E731
    said = np.where(rng.random(600) < of(rows), "yes", "no")
    return {"a": rows[:, 0].astype(str), "b": rows[:, 1].astype(str), "y": said}, rows, of


def largest_error(rows, of):
    x, slope = columns(rows), of(rows) * (1 - of(rows))
    known, asked = np.linalg.inv((x * slope[:, None]).T @ x), columns(GRID)
    return float((of(GRID) * (1 - of(GRID)) * np.sqrt(((asked @ known) * asked).sum(axis=1))).max())


def test_with_the_planned_rows_chances_are_as_precise_as_asked():
    ratios = []
    for seed in range(6):
        table, rows, of = planted(seed)
        plan = check(table, ["a", "b"], target="y", purpose=Purpose(error=0.05), draws=9).plan
        assert (plan.units, plan.enough, len(plan.cells) > 0) == ("chance", True, True)
        ratios.append(largest_error(np.vstack([rows, plan.cells]), of) / 0.05)
        assert plan.new_row == {"before": None, "after": None}
    assert (0.8 < np.mean(ratios) < 1, max(ratios) < 1.06) == (True, True)


def test_of_three_classes_rows_do_for_each():
    table, rows, _ = planted(0)
    drawn = np.random.default_rng(0).random(600)
    maybe = (table["y"] == "no") & (drawn < 0.2 + 0.1 * rows[:, 0])
    three = table | {"y": np.where(maybe, "maybe", table["y"])}
    plan = check(three, ["a", "b"], target="y", purpose=Purpose(error=0.08), draws=9).plan
    assert (plan.units, plan.enough, plan.also) == ("chance", True, ())
    assert plan.worst <= 0.08 * (1 + 1e-6)
    assert plan.worst == pytest.approx(0.08, rel=0.02)
    of_one = three | {"y": np.where(maybe, "yes", "no")}
    alone = check(of_one, ["a", "b"], target="y", purpose=Purpose(error=0.08), draws=9).plan
    assert (len(alone.cells) <= len(plan.cells), alone.fewest <= plan.fewest) == (True, True)


def test_the_unit_is_said():
    words = []
    for seed in range(2):
        table, *_ = planted(seed)
        words.append(check(table, ["a", "b"], target="y", purpose=Purpose(error=0.05), draws=9).plan.words)
    assert all("in the chance of a class" in w for w in words)
    assert not any("which is not known" in w for w in words)


def test_what_no_error_of_chances_can_be_planned_for_is_refused():
    table, *_ = planted(0)
    for purpose, why in (
        (Purpose(error=0.05, noise=1.0), "follows from its chance"),
        (Purpose(error=0.5), "less than 0.5"),
    ):
        with pytest.raises(InputError, match=why):
            check(table, ["a", "b"], target="y", purpose=purpose, draws=9)


def test_a_level_never_seen_has_no_chance_yet():
    table, *_ = planted(0)
    blank = {**table, "y": [None if a == "5" else y for a, y in zip(table["a"], table["y"], strict=True)]}
    plan = check(blank, ["a", "b"], target="y", purpose=Purpose(error=0.05), draws=9).plan
    assert "in the chance of a class: " in plan.words
    assert plan.untold
