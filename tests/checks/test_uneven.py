"""Combinations seen in more and in fewer rows, and a level that is noisier than the others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from planted_tables import grid

import recombine as rc
from recombine.checks.forecasts.forecast import forecast
from recombine.checks.forecasts.forecast_words import against_many
from recombine.checks.rules.adding import Adding
from recombine.checks.rules.effects import Effects
from recombine.checks.rules.noisy import RowNoise, row_noise
from recombine.checks.rules.scales import PLAIN, Scale
from recombine.checks.rules.seen_cells import Cells
from recombine.support.table import Target

SHAPE = (8, 8)
NOISE = 5.0
LOG = Scale("log", np.log, np.exp)


def planted(seed: int, misfit: float = 0.0, noisy: float = 1.0) -> tuple[Cells, np.ndarray, np.ndarray]:
    """Sums of effects, 1 to 60 rows a combination (3 where a level is ``noisy`` times as noisy as others); what is
    asked, and its noiseless answers."""
    rng, codes = np.random.default_rng(seed), grid(*SHAPE)
    truth = rng.normal(0, 2, 8)[codes[:, 0]] + rng.normal(0, 2, 8)[codes[:, 1]] + misfit * rng.normal(size=64)
    rows = np.round(np.exp(rng.uniform(0, np.log(60), 64))) if noisy == 1 else np.full(64, 3.0)
    own = np.where(codes[:, 0] == 2, noisy, 1.0) * NOISE
    seen = rng.permutation(64) < 45
    answers = truth + own / np.sqrt(rows) * rng.normal(size=64)
    spread = own**2 * rng.chisquare(np.maximum(rows - 1, 0.5)) * (rows > 1)
    return (
        Cells(codes[seen], SHAPE, rows[seen], answers[seen], NOISE**2, spread=spread[seen]),
        codes[~seen],
        truth[~seen],
    )


def error(said: np.ndarray, truth: np.ndarray) -> float:
    return float(np.sqrt(((said - truth) ** 2).mean()))


@pytest.mark.parametrize("scale", [PLAIN, LOG])
def test_a_mean_counts_by_its_rows(scale: Scale) -> None:
    """Effects and noise add up, or multiply: next to the fit by the true variances."""
    found = []
    for seed in range(5):
        cells, asked, truth = planted(seed)
        best, alike = (
            Effects(cells.codes, SHAPE, cells.answers, u, 1).answers(asked) for u in (1 / cells.rows, np.ones(45))
        )
        if scale is LOG:
            y = np.exp(cells.answers / 20)
            pure = float(np.average((y * NOISE / 20) ** 2, weights=cells.rows - 1))
            ours = 20 * np.log(Adding("additive", replace(cells, answers=y, pure=pure), 1, scale).answer(asked))
        else:
            ours = Adding("additive", cells, 1).answer(asked)
        found.append([error(said, truth) for said in (ours, best, alike)])
    ours, best, alike = np.mean(found, axis=0)
    assert ours < 1.05 * best < 1.05 * alike / 1.2


def test_where_a_rule_misfits_rows_count_less() -> None:
    """True variances are 9 + 25 / rows: a mean of 60 rows is worth 3.6 times as much as one row, not 60 times."""
    noise = [Adding("additive", planted(seed, misfit=3.0)[0], 1).effects.noise for seed in range(5)]
    assert 2 < np.median([u.max() / u.min() for u in noise]) < 6


@pytest.mark.parametrize("scale", [PLAIN, LOG])
def test_equal_rows_count_as_one_row_each(scale: Scale) -> None:
    cells, asked, _ = planted(0)
    cells = replace(cells, answers=np.exp(cells.answers / 10), rows=np.full(45, 3.0), pure=0.1)
    one = Adding("additive", replace(cells, rows=np.ones(45), pure=None), 1, scale)
    assert np.array_equal(Adding("additive", cells, 1, scale).answer(asked), one.answer(asked))


def test_the_error_is_against_means_as_seen_and_against_very_many_rows() -> None:
    ratios = []
    for seed in range(3):
        cells, asked, truth = planted(seed)
        found = forecast(cells, asked)
        assert not isinstance(found, str)
        off = error(found.estimate(asked).answers, truth)
        seen = np.hypot(off, NOISE * np.sqrt((1 / cells.rows).mean()))
        ratios.append([found.error / seen, (found.error_many_rows or 0.0) / off])
        assert "against means of very many rows expect about" in against_many(found)
    as_seen, many = np.median(ratios, axis=0)
    assert 0.75 < as_seen < 1.33
    assert 0.67 < many < 1.5
    single = forecast(replace(cells, rows=np.ones(45), pure=None), asked)
    assert not isinstance(single, str)
    assert (single.error_many_rows, against_many(single)) == (None, "")


def test_rows_of_a_noisy_level_neither_steer_nor_widen_the_others() -> None:
    named, errors, held = [], [], []
    for seed in range(6):
        cells, asked, truth = planted(seed, noisy=8.0)
        rule, elsewhere = Adding("additive", cells, 1), asked[:, 0] != 2
        plain = Effects(cells.codes, SHAPE, cells.answers, np.ones(45), 1)
        errors.append([error(said[elsewhere], truth[elsewhere]) for said in (rule.answer(asked), plain.answers(asked))])
        named.append(list(rule.noisy) == [(0, 2)])
        low, high = rule.interval(asked, 1.0)
        assert not named[-1] or ((high - low)[elsewhere] < 0.7 * 2 * plain.predict(asked)[1][elsewhere]).all()
        if seed > 1:
            continue
        found = forecast(cells, asked)
        assert not isinstance(found, str)
        said = found.estimate(asked, Target("y", None, cells.rows.astype(int), cells.answers, np.ones(45)))
        assert said.row_low is not None
        assert said.row_high is not None
        rows = truth + np.random.default_rng(seed).normal(size=(200, len(asked))) * np.where(elsewhere, 1, 8) * NOISE
        inside = ((said.row_low <= rows) & (rows <= said.row_high)).mean(axis=0)
        held.append([inside[elsewhere].mean(), inside[~elsewhere].mean()])
    assert sum(named) >= 5
    ours, plainly = np.mean(errors, axis=0)
    assert plainly > 1.2 * ours
    assert (np.mean(held, axis=0) > 0.8).all()


def scatter(seed: int, tails: bool, slip: bool, site: float = 1.0) -> RowNoise | None:
    """Of 48 combinations of three rows each, of normal noise or of one with long ``tails``."""
    rng, codes = np.random.default_rng(seed), grid(8, 6)
    rows = rng.standard_t(3, (48, 3)) if tails else rng.normal(size=(48, 3))
    rows[codes[:, 0] == 3] *= site
    rows[rng.integers(48), 0] += 200.0 * slip
    return row_noise(codes, np.full(48, 3), 3 * rows.var(axis=1))


@pytest.mark.parametrize("tails", [False, True])
@pytest.mark.parametrize("slip", [False, True])
def test_where_noise_is_equal_hardly_ever_a_level_is_noisy(tails: bool, slip: bool) -> None:
    # One in a hundred is meant: nine of two hundred are one in two thousand.
    assert sum(bool(found.own) for seed in range(200) if (found := scatter(seed, tails, slip))) < 9


def test_a_noisy_level_is_named_with_how_far_its_rows_scatter() -> None:
    found = [noise for seed in range(20) if (noise := scatter(seed, False, False, site=5.0)) and noise.own]
    assert len(found) >= 18
    assert all((0, 3) in noise.own for noise in found)
    assert 4 < np.median([noise.times((0, 3)) for noise in found]) < 6


def test_beside_a_slip_nothing_is_said_of_very_many_rows() -> None:
    rng, codes = np.random.default_rng(0), np.repeat(grid(6, 5)[np.arange(30) % 7 % 3 > 0], 2, axis=0)
    y = 20 + codes @ [1.0, 2.0] + 2 * rng.normal(size=len(codes))
    for slip in (False, True):
        y[5] *= 10 if slip else 1
        found = rc.check({"a": codes[:, 0].astype(str), "b": codes[:, 1].astype(str), "y": y}, ["a", "b"], target="y")
        assert found.forecast is not None
        assert bool(found.slips) is slip is (found.forecast.error_many_rows is None)
        assert not any("scatter about" in note for note in found.notes)
