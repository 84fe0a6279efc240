"""Classes that look ordered, and those that do not."""

from __future__ import annotations

import pytest

from recombine.support.ordered import ordered


@pytest.mark.parametrize(
    "steps",
    [
        ["strongly disagree", "disagree", "neutral", "agree", "strongly agree"],
        ["Low", "Medium", "High"],
        ["never", "Sometimes", "often", "always"],
        ["1 star", "2 stars", "5 stars"],
        ["1 – no", "2 – perhaps", "3 – yes"],
        ["Grade 1", "Grade 2", "Grade 10"],
    ],
)
def test_scales(steps):
    assert ordered(sorted(steps)) == steps


@pytest.mark.parametrize(
    "classes",
    [["low", "high"], ["red", "green", "blue"], ["win", "draw", "loss"], ["c1", "c2", "c3"], ["1", "2", "3"],
     ["2D print", "3D print", "4K video"], ["2020 a", "2021 b", "2022 c"], ["low", "medium", "red"], []],
)  # fmt: skip
def test_no_scales(classes):
    assert ordered(classes) is None
