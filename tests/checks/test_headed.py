"""What drifts stands in the first lines where it moves much, or cannot be told from a factor; else only in a note."""

from __future__ import annotations

import pickle

import numpy as np
import polars as pl

import recombine as rc
from recombine.checks import CheckResult
from recombine.checks.headed import Headed, gists


def runs(seed: int, drift: float, in_order: bool = False) -> CheckResult:
    """Eight by six that add up, one row each on a day of its own, in random order or level by level."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(0, 1, 8), rng.normal(0, 1, 6)
    cells = [(i, j) for i in range(8) for j in range(6) if rng.random() < 0.7]
    cells = cells if in_order else [cells[k] for k in rng.permutation(len(cells))]
    rows = [
        {"a": f"a{i}", "b": f"b{j}", "day": f"2024-{1 + t // 28:02d}-{1 + t % 28:02d}",
         "y": a[i] + b[j] + drift * t / len(cells) + 0.4 * rng.normal()}
        for t, (i, j) in enumerate(cells)
    ]  # fmt: skip
    return rc.check(pl.DataFrame(rows), ["a", "b"], target="y", draws=9)


def test_a_drift_that_is_most_of_the_scatter_is_in_the_first_lines() -> None:
    said = [runs(seed, 4.0).sentence() for seed in range(4)]
    assert all("Column day, which is not named, explains" in words for words in said)
    assert all("of the scatter that the factors leave: a note says what to do." in words for words in said)
    assert not any("day" in runs(seed, 0.0).sentence() for seed in range(8))


def test_what_a_drift_could_not_be_told_from_is_in_the_first_lines() -> None:
    result = runs(0, 0.0, in_order=True)
    assert "All this supposes that nothing drifts over day, which could hardly be told from a." in result.sentence()
    assert any("a drift can hardly be told from what a does" in note for note in result.notes)


def test_a_note_with_a_gist_is_a_text_as_others_are() -> None:
    note = Headed("a long note", "Look.")
    assert note == "a long note"
    assert gists(("another", note, Headed("a note"))) == " Look."
    assert pickle.loads(pickle.dumps(note)).gist == "Look."


def test_levels_beyond_those_that_rules_are_tried_on_are_in_the_first_lines() -> None:
    """A path over 2 502 levels determines the grid, of which one combination is asked about."""
    codes = np.array([(i, j) for i in range(1251) for j in (i, i + 1) if j < 1251])
    table = {"a": [f"a{i}" for i, _ in codes], "b": [f"b{j}" for _, j in codes], "y": codes.sum(axis=1).tolist()}
    result = rc.check(table, ["a", "b"], target="y", test={"a": ["a0"], "b": ["b2"]}, draws=9)
    said = "Nothing is forecast or estimated: 2,502 levels are more than the 2,500 that rules are tried on."
    assert said in result.sentence()
