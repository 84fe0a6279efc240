"""One level, or one pair of levels, that is wrong wherever it is asked about: labels swapped at a site, in the test
rows or by the learner; and levels that are noisier than others, and right."""

from __future__ import annotations

from typing import Any

import numpy as np

import recombine as rc
from planted_grid import Grid, Planted, classes, learner, with_errors

LOOK = "Look first at"
NAMES = np.array(["ash", "birch", "cedar", "date"])


def _site(rng: np.random.Generator, grid: Grid) -> Any:
    """A level of the first factor that has seen and unseen combinations."""
    known = [i for i in range(grid.a.max() + 1) if len({*grid.b[grid.fresh & (grid.a == i)]}) > 1]
    return grid.a == rng.choice([i for i in known if (grid.unseen & (grid.a == i)).any()])


def _swapped(rng: np.random.Generator, y: Any, at: Any) -> Any:
    """The labels, where ``at`` two of them stand for each other: the most frequent ones there."""
    names, count = np.unique(y[at], return_counts=True)
    one, two = [*names[np.argsort(-count)], *np.setdiff1d(np.unique(y), names)][:2]
    return np.where(at & (y == one), two, np.where(at & (y == two), one, y))


@learner
def labels_swapped_at_one_site(rng: np.random.Generator) -> Planted:
    """Of two classes, in the test rows or by the learner, everywhere at one site; some labels are noise."""
    grid = Grid.of(rng, int(rng.choice([8, 16])))
    score = rng.normal(size=20)[grid.a] + rng.normal(size=20)[grid.b]
    y = np.where(score > np.median(score), "yes", "no")
    site, noisy = _site(rng, grid), with_errors(rng, y, rng.choice([0.0, 0.1]))
    turned = site & (grid.unseen | grid.fresh)
    result = (
        grid.measured(_swapped(rng, noisy, turned), y)
        if rng.integers(2)
        else grid.measured(noisy, _swapped(rng, y, turned))
    )
    level = grid.a[site][0]
    return Planted(result, ("unclear", "composes", "not fitted", "overfits"), remark=f"{LOOK} a = {level} ")


@learner
def two_of_several_labels_swapped_at_one_site(rng: np.random.Generator) -> Planted:
    """The two that are most frequent there; where the site has other classes, those stay right."""
    grid = Grid.of(rng, int(rng.choice([8, 16])))
    k = int(rng.integers(3, 5))
    y = NAMES[(grid.a + grid.b) % k]
    site = _site(rng, grid)
    noisy = with_errors(rng, y, rng.choice([0.0, 0.1]))
    p = _swapped(rng, y, site & (grid.unseen | grid.fresh))
    level = grid.a[site][0]
    return Planted(
        grid.measured(noisy, p), ("unclear", "composes", "not fitted", "overfits", "partly", "fails"),
        remark=f"{LOOK} a = {level} ",
    )  # fmt: skip


@learner
def a_noisier_site(rng: np.random.Generator) -> Planted:
    """Labels of one site are noise more often than those of others; the learner gives the best answer."""
    grid = Grid.of(rng, int(rng.choice([8, 16])))
    y = classes(rng, grid)
    noisy = with_errors(rng, y, np.where(_site(rng, grid), rng.uniform(0.2, 0.4), 0.05))
    return Planted(grid.measured(noisy, y), ("composes", "unclear"))


def _three(rng: np.random.Generator, swapped: bool) -> tuple[Any, tuple[int, int]]:
    """Rows of three factors where a level of one meets a level of another: swapped by the learner, or noisier."""
    shape, rows = (4, 4, 4), 8
    cells = np.indices(shape).reshape(3, -1).T
    hidden = rng.random(len(cells)) < 0.25
    codes, hidden = np.repeat(cells, rows, axis=0), np.repeat(hidden, rows)
    fresh = ~hidden & (np.tile(np.arange(rows), len(cells)) >= 6)
    effects = rng.normal(size=(3, 4))
    score = sum(effects[j][codes[:, j]] for j in range(3))
    y = np.where(score > np.median(score), "yes", "no")
    i, j = map(int, rng.integers(4, size=2))
    region = (codes[:, 0] == i) & (codes[:, 1] == j)
    p = np.where(region & (hidden | fresh), np.where(y == "yes", "no", "yes"), y) if swapped else y
    noisy = with_errors(rng, y, 0.02 if swapped else np.where(region, rng.uniform(0.2, 0.45), 0.02))
    table = {"a": codes[:, 0], "b": codes[:, 1], "c": codes[:, 2], "y": noisy, "p": p}
    table["part"] = np.where(hidden | fresh, "test", "train")
    return rc.measure_predictions(table, ["a", "b", "c"], target="y", prediction="p", split="part=test"), (i, j)


@learner
def labels_swapped_at_a_pair_of_levels(rng: np.random.Generator) -> Planted:
    """Of three factors, wherever a level of one meets a level of another: a region, and no level."""
    result, (i, j) = _three(rng, True)
    verdicts = ("unclear", "composes", "not fitted", "overfits", "partly", "fails")
    return Planted(result, verdicts, remark=f"{LOOK} a = {i} with b = {j} ")


@learner
def a_noisier_pair_of_levels(rng: np.random.Generator) -> Planted:
    return Planted(_three(rng, False)[0], ("composes", "unclear", "overfits"))
