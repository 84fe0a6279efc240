"""Answers of their own for each combination: nobody can know the unseen ones, and that is said beside the failure."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.mechanisms import MeasureResult, measure_predictions

SIDE, ROWS = 10, 6
WORDS = np.array(list("uvwxyz"))


def failing(seed: int, classes: bool, add_up: bool) -> MeasureResult:
    """Of a learner that is right where training was, and elsewhere answers at random."""
    rng = np.random.default_rng(seed)
    a, b = np.indices((SIDE, SIDE)).reshape(2, -1).repeat(ROWS, axis=1)
    unseen = (rng.random((SIDE, SIDE)) < 0.25)[a, b]
    right, other = rng.normal(size=(2, SIDE, SIDE))
    if add_up:
        right = np.add.outer(*rng.normal(size=(2, SIDE)))
    y = right[a, b] + 0.1 * rng.normal(size=a.size)
    said = np.where(unseen, other[a, b], right[a, b])
    if classes:
        ends = np.quantile(right, np.linspace(0, 1, 7)[1:-1])
        y, said = (WORDS[np.searchsorted(ends, values)] for values in (right[a, b], said))
    part = np.where(unseen | (np.tile(np.arange(ROWS), SIDE**2) == 0), "test", "train")
    table = {"a": a, "b": b, "y": y, "p": said, "part": part}
    return measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")


def told(result: MeasureResult) -> bool:
    return any("Nothing shows that unseen combinations can be known" in note for note in result.notes)


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_where_nobody_could_have_known_it_is_said_so(seed, classes):
    lost, ruled = (failing(seed, classes, add_up) for add_up in (False, True))
    assert [lost.verdict, ruled.verdict] == ["fails", "fails"]
    assert told(lost)
    assert not told(ruled)
