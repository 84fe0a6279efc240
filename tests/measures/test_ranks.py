"""Rank correlations against scipy and by hand, and intervals that know which networks belong together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import spearmanr

from recombine.measures import interval, jackknife, partial_spearman, spearman

NUMBERS = st.lists(st.integers(-5, 5), min_size=4, max_size=20)


@given(NUMBERS, st.randoms(use_true_random=False))
@settings(deadline=None)
def test_spearman_is_scipys_where_both_sides_vary(first: list[int], random: object) -> None:
    second = list(first)
    random.shuffle(second)  # type: ignore[attr-defined]
    found = spearman(first, second)
    if len(set(first)) == 1:
        assert found is None
    else:
        assert found == pytest.approx(float(spearmanr(first, second).statistic))


def test_two_pairs_have_no_order() -> None:
    assert spearman([1, 2], [1, 2]) is None
    assert spearman([1, 2, 3], [10, 20, 15]) == pytest.approx(0.5)


def test_a_partial_correlation_is_what_the_formula_says() -> None:
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 40))
    ab, ac, bc = (float(spearman(*pair) or 0) for pair in ((a, b), (a, c), (b, c)))
    wanted = (ab - ac * bc) / np.sqrt((1 - ac**2) * (1 - bc**2))
    assert partial_spearman(a, b, c) == pytest.approx(wanted)
    assert partial_spearman(a, b, np.column_stack([c, c])) == pytest.approx(wanted)


def test_what_is_given_leaves_nothing_of_itself() -> None:
    assert partial_spearman([1, 2, 3, 4], [4, 1, 3, 2], [10, 20, 30, 40]) is None


def test_pseudo_values_of_a_mean_are_its_values() -> None:
    values = np.array([1.0, 4.0, 7.0, 12.0])
    found = jackknife(lambda rows: float(values[rows].mean()), list("abcd"))
    assert found == pytest.approx(dict(zip("abcd", values, strict=True)))


def test_pseudo_values_keep_settings_together_and_have_the_figure_as_their_mean() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=(2, 30))
    names = [i // 5 for i in range(30)]
    found = jackknife(lambda rows: spearman(first[rows], second[rows]), names)
    assert found is not None
    assert list(found) == list(range(6))
    assert np.mean(list(found.values())) == pytest.approx(float(spearmanr(first, second).statistic))
    assert jackknife(lambda rows: spearman(first[rows], second[rows]), [i // 15 for i in range(30)]) is None
    assert jackknife(lambda rows: None, names) is None


def test_the_interval_covers_a_planted_correlation_where_networks_as_such_do_not() -> None:
    """Nothing but the setting decides both numbers, so eight networks of a setting are one."""
    rng = np.random.default_rng(2)
    settings_, networks, draws = 7, 8, 60
    names = np.repeat(np.arange(settings_), networks)
    covered = {"settings": 0, "networks": 0}
    for _ in range(draws):
        a, b = (rng.normal(size=settings_)[names] + 0.1 * rng.normal(size=len(names)) for _ in range(2))

        def rho(rows: object, a: object = a, b: object = b) -> float | None:
            return spearman(a[rows], b[rows])  # type: ignore[index]

        for what, of in (("settings", names.tolist()), ("networks", list(range(len(names))))):
            values = jackknife(rho, of)
            assert values is not None
            figure = interval(list(values.values()))
            covered[what] += figure.low <= 0 <= figure.high
    assert covered["settings"] >= 0.8 * draws
    assert covered["networks"] <= 0.6 * draws
