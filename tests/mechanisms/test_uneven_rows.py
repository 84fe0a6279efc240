"""Tables most of whose rows lie at two of eight levels: a mean over rows says little of combinations elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.mechanisms import MeasureResult, measure_predictions

SIDE, ROWS, OFTEN = 8, 3000, 2


class Uneven:
    """Findings at sites; a fifth of the rows of seen combinations are not trained on."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        often = rng.random(ROWS) < 0.9
        self.a = rng.integers(SIDE, size=ROWS)
        self.site = np.where(often, rng.integers(OFTEN, size=ROWS), rng.integers(OFTEN, SIDE, size=ROWS))
        hidden = np.zeros((SIDE, SIDE), dtype=bool)
        hidden.flat[rng.permutation(SIDE**2)[:22]] = True
        hidden[np.arange(SIDE), np.arange(SIDE)] = False
        self.unseen = hidden[self.a, self.site]
        self.new = self.unseen | (rng.random(ROWS) < 0.2)
        self.rng = rng

    def measured(self, wrong: np.ndarray) -> MeasureResult:
        names = np.array([f"finding {c}" for c in range(SIDE)])
        said = names[np.where(wrong, (self.a + 1) % SIDE, self.a)]
        table = {"a": self.a, "site": self.site, "y": names[self.a], "p": said}
        table["part"] = np.where(self.new, "test", "train")
        return measure_predictions(table, ["a", "site"], target="y", prediction="p", split="part=test")


@pytest.mark.parametrize("seed", range(4))
def test_what_is_wrong_at_sites_with_few_rows_whether_seen_or_not_is_no_overfitting(seed):
    grid = Uneven(seed)
    found = grid.measured(grid.site >= 4)
    assert found.verdict in ("unclear", "composes", "not fitted")
    assert "overfits" not in found.sentence()


@pytest.mark.parametrize("seed", range(4))
def test_every_second_row_wrong_there_makes_no_combination_stand_out(seed):
    grid = Uneven(seed)
    found = grid.measured((grid.site >= OFTEN) & (grid.rng.random(ROWS) < 0.5))
    assert found.verdict in ("unclear", "composes", "not fitted")
    assert found.outliers == ()


@pytest.mark.parametrize("seed", range(4))
def test_new_rows_wrong_everywhere_and_training_rows_right_is_overfitting(seed):
    grid = Uneven(seed)
    assert grid.measured(grid.new & (grid.rng.random(ROWS) < 0.4)).verdict == "overfits"


@pytest.mark.parametrize("seed", range(4))
def test_combinations_wholly_wrong_there_are_named_where_others_are_right(seed):
    grid = Uneven(seed)
    codes = grid.a * SIDE + grid.site
    bad = grid.rng.choice(np.unique(codes[grid.unseen & (grid.site >= OFTEN)]), 3, replace=False)
    found = grid.measured(np.isin(codes, bad))
    assert found.verdict == "partly"
    assert 1 <= len(found.outliers) <= 3
    assert f"{len(found.outliers)} of " in found.sentence()


@pytest.mark.parametrize("seed", range(1, 4))
def test_where_nearly_all_new_rows_are_wrong_a_few_right_ones_of_seen_combinations_make_no_failure(seed):
    """The mean of seen ones lies below the margin then, and their median does not."""
    rng = np.random.default_rng(seed)
    a, b = np.indices((6, 6)).reshape(2, -1).repeat(20, axis=1)
    unseen, new = (rng.random((6, 6)) < 0.4)[a, b], np.tile(np.arange(20) < 10, 36)
    lucky = ~unseen & (rng.random((6, 6)) < 0.35)[a, b] & (np.tile(np.arange(20), 36) < 2)
    word = np.array([f"word {i}" for i in range(12)])
    right = (a + b) % 12
    said = np.where((unseen | new) & ~lucky, (right + rng.integers(1, 12, a.size)) % 12, right)
    part = np.where(unseen | new, "test", "train")
    table = {"a": a, "b": b, "y": word[right], "p": word[said], "part": part}
    found = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    assert found.seen.mean + 0.05 < found.unseen.mean == 1
    assert found.verdict == "overfits"
