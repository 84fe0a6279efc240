"""Response surfaces: found where one was planted, not where nothing is, and forecast as they turn out."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from recombine.checks import check
from recombine.checks.exact.curves import Curve
from recombine.checks.rules.adding import Adding
from recombine.checks.rules.effects import Effects
from recombine.checks.rules.seen_cells import Cells
from recombine.checks.rules.surface import outside, surface_of, terms

RIM = 1.414
COMPOSITE = [*itertools.product((-1.0, 1.0), repeat=2), *[(0.0, 0.0)] * 3, (-RIM, 0), (RIM, 0), (0, -RIM), (0, RIM)]
BOX_BEHNKEN = [p for p in itertools.product((-1.0, 0.0, 1.0), repeat=3) if sum(map(abs, p)) == 2] + [(0.0,) * 3] * 3


def made(points, kind, seed):
    rng, x = np.random.default_rng([seed, len(points)]), np.array(points, dtype=float)
    names = list("abc")[: x.shape[1]]
    bowl = rng.normal(0, 2, len(names)), -rng.uniform(3, 5, len(names)), rng.normal(0, 2)

    def truth(x):
        return 50 + (x @ bowl[0] + x**2 @ bowl[1] + bowl[2] * x[:, 0] * x[:, 1] if kind == "surface" else 0 * x[:, 0])

    asked = np.unique(rng.uniform(-0.7, 0.7, (6, len(names))).round(1), axis=0)
    table = dict(zip(names, x.T, strict=True)) | {"y": truth(x) + rng.normal(size=len(x))}
    found = check(table, names, target="y", numeric=names, test=dict(zip(names, asked.T, strict=True)), draws=9)
    frame = found.to_frame()
    return found, frame["prediction"].to_numpy() - truth(frame.select(names).to_numpy()), rng.normal(size=len(asked))


@pytest.mark.parametrize("points", [COMPOSITE, BOX_BEHNKEN])
def test_a_surface_is_found_and_its_error_forecast(points):
    found = [made(points, "surface", seed) for seed in range(12)]
    assert sum(result.forecast.rule == "surface" for result, *_ in found) >= 8
    assert {result.forecast.rule for result, *_ in found} <= {"surface", "curved"}  # curves, where the product is small
    assert all(result.verdict.startswith("assumption") for result, *_ in found if result.rule == "surface")
    ratios = [r.forecast.error / np.sqrt(((off - new) ** 2).mean()) for r, off, new in found]
    assert 0.7 < np.median(ratios) < 1.4
    assert sum(result.forecast.by_draw == 0 for result, *_ in found) == 12


@pytest.mark.parametrize("points", [COMPOSITE, BOX_BEHNKEN])
def test_where_nothing_is_no_surface_beats_the_constant(points):
    found = [made(points, "nothing", seed)[0].forecast for seed in range(20)]
    assert sum(f.rule == "constant" for f in found) >= 16
    assert sum(f.beats for f in found) <= 2


def cells_of(points, y=None) -> Cells:
    x = np.unique(np.array(points, dtype=float), axis=0)
    levels = [np.unique(column) for column in x.T]
    codes = np.stack([np.searchsorted(seen, column) for seen, column in zip(levels, x.T, strict=True)], axis=1)
    curves = {k: Curve(tuple(seen.tolist()), np.arange(len(seen))) for k, seen in enumerate(levels)}
    shape = tuple(map(len, levels))
    return Cells(codes, shape, np.ones(len(x)), (x**2).sum(axis=1) if y is None else y, None, curves)


def test_terms_are_those_of_the_second_order_and_a_fit_is_least_squares():
    cells = cells_of(BOX_BEHNKEN)
    x = terms(cells, cells.codes)
    assert x.shape == (13, 10)
    y = np.random.default_rng(0).normal(size=13)
    fit = Adding("surface", surface_of(cells_of(BOX_BEHNKEN)), 2, free=True)
    assert len(fit.effects.beta) == 10
    again = Effects(fit.cells.codes, cells.shape, y, np.ones(13), 2, curves=fit.cells.curves, free=True)
    assert again.answers(cells.codes) == pytest.approx(x @ np.linalg.lstsq(x, y, rcond=None)[0], abs=1e-4)


def test_a_surface_that_cannot_be_estimated_is_not_tried():
    assert surface_of(cells_of([(a, b) for a in (0, 1, 2) for b in (0, 1)])) is None  # two values have no square
    assert surface_of(cells_of([(a, a) for a in range(12)])) is None


def test_a_corner_outside_a_circle_of_points_is_beyond_them():
    cells = cells_of(COMPOSITE)
    assert outside(cells, np.array([[0, 0], [2, 2], [4, 4]])).tolist() == [True, False, True]


def test_an_asked_corner_outside_the_circle_is_said_to_be_extrapolated():
    x, noise = np.array(COMPOSITE), np.random.default_rng(0).normal(size=11)
    rows = {"a": x[:, 0], "b": x[:, 1], "y": 50 - 4 * (x**2).sum(axis=1) + 0.1 * noise}
    for asked, said in (([1.414, 0.3], True), ([0.5, 0.3], False)):
        found = check(rows, ["a", "b"], target="y", numeric=["a", "b"], test={"a": asked, "b": asked}, draws=9)
        assert any("1 of 2 asked points lie beyond the seen ones" in note for note in found.notes) == said
