"""Most unseen combinations wrong, and one so far off that the interval of the mean reaches anywhere."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.mechanisms import measure_predictions


@pytest.mark.parametrize(("wrong", "verdict"), [(10, "fails"), (5, "unclear")])
def test_a_failure_of_most_is_a_failure_however_far_the_worst_is_off(wrong, verdict):
    rng = np.random.default_rng(0)
    cell = np.repeat(np.arange(48), 10)
    unseen = cell < 10
    right = (cell % 8) + 2.0 * (cell // 8)
    off = np.where(cell < wrong, np.where(cell == 0, 60.0, 2.0), 0.0)
    part = np.where(unseen | (np.arange(len(cell)) % 2 == 0), "test", "train")
    table = {"a": cell % 8, "b": cell // 8, "y": right + 0.1 * rng.standard_normal(len(cell)), "p": right + off}
    result = measure_predictions({**table, "part": part}, ["a", "b"], target="y", prediction="p", split="part=test")
    assert result.gap.low <= 0.05
    assert result.verdict == verdict or (verdict == "unclear" and result.verdict == "partly")
    assert ("10 of 10 unseen combinations err by more than the margin" in result.why) == (verdict == "fails")
