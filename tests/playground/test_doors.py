"""Each door shows what its two sentences say: its networks are trained as the page trains them, only not as long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

TRAINED = """async (m, {door, changes, epochs, off}) => {
    const {fresh, truthOf} = await import('./state.js'), {LEARNERS} = await import('./learners.js');
    const theory = await import('./theory.js');
    const state = fresh({...m.DOORS[door].state, ...changes}), {seen, rows, columns} = state, truth = truthOf(state);
    const status = theory.statuses(seen, rows, columns);
    const asked = [...status.keys()].filter(c => status[c] === theory.DETERMINED || status[c] === theory.UNDETERMINED);
    const learner = LEARNERS[state.world]({...state, truth, asked}), curve = [];
    for (let e = 0; e < epochs; e++) {
        learner.step();
        if (state.world === 'toy' && e < 64 && e % 8 === 0) curve.push(learner.report().curves.unseen);
    }
    const report = learner.report(off || []), S = theory.salienceOfDepth(1);
    const kernel = theory.kernelFit(seen, truth, rows, columns, S);
    return {...report, curve, kernel: theory.judged(kernel, truth, asked).slope, counts: [0, 1, 2, 3].map(
        s => status.filter(t => t === s).length)};
}"""


@pytest.fixture
def behind(run: Callable[..., Any]) -> Callable[..., dict[str, Any]]:
    def trained(door: str, epochs: int, off: list[int] | None = None, **changes: Any) -> dict[str, Any]:
        said: dict[str, Any] = run("doors", TRAINED, {"door": door, "changes": changes, "epochs": epochs, "off": off})
        return said

    return trained


def test_lazy_networks_leak_as_the_kernel_says_and_rich_ones_only_from_one_anchor(behind: Any) -> None:
    lazy, rich = behind("leak", 600), behind("leak", 600, scale=0.1)
    alone = behind("leak", 600, scale=0.1, support="plane")
    assert abs(lazy["together"][1]["slope"] - lazy["kernel"]) < 0.08
    assert lazy["together"][1]["slope"] < 0.93
    assert rich["together"][1]["slope"] > 0.97
    assert alone["together"][1]["slope"] < 0.85


def test_the_unseen_corner_is_lost_first_and_mostly_found_later(behind: Any) -> None:
    said = behind("redundant", 500)
    assert said["counts"] == [3, 1, 0, 0], "settled by the three corners seen"
    assert np.mean(said["curve"], axis=1).max() > 0.9
    assert 0.01 < np.mean(said["curves"]["unseen"]) < 0.3
    assert np.mean(behind("redundant", 500, support="full")["quarters"]) < 0.05


def test_a_cross_suffices_for_a_part_per_factor_alone_and_blocks_for_none(behind: Any) -> None:
    assert np.max(behind("support", 1500)["curves"]["unseen"]) < 0.05
    assert np.min(behind("support", 1500, model="one")["curves"]["unseen"]) > 0.5
    blocks = behind("support", 1500, support="blocks")
    assert blocks["counts"] == [32, 0, 32, 0]
    assert np.mean(blocks["curves"]["unseen"]) > 0.3


def test_only_rendering_first_draws_the_unseen_bump(behind: Any) -> None:
    curves = behind("rendering", 90)["curves"]
    assert np.max(curves["seen"]) < 0.2
    assert np.min(curves["unseen"]) > 0.6
    assert np.max(curves["rendered"]) < 0.1


def test_a_part_taught_apart_can_be_removed_and_one_taught_together_cannot(behind: Any) -> None:
    first, second = behind("parts", 800, off=[0])["left"]
    assert abs(first) < 0.05
    assert second > 0.9
    assert all(0.2 < left < 0.8 for off in ([0], [1]) for left in behind("parts", 800, off=off, model="joint")["left"])
    assert min(behind("parts", 800, model="joint")["left"]) > 0.9
