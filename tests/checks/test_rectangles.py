"""Interactions that single rows hide: levels that act together other than by their own effects."""

import itertools

import numpy as np
import pytest

from recombine import check
from recombine.checks.adds_up import rectangles


def _table(seed, together, noise):
    """20 users × 12 items, 60 % of them seen once: likings that add up, and tastes that two groups of each share."""
    rng = np.random.default_rng(seed)
    u, v = np.divmod(rng.permutation(240)[:144], 12)
    user, item = rng.normal(size=20), rng.normal(size=12)
    one, two = rng.choice([-1, 1], 20), rng.choice([-1, 1], 12)
    scatter = np.where(u == 0, noise, 0.4)
    y = user[u] + item[v] + together * one[u] * two[v] + scatter * rng.normal(size=144)
    return {"user": u.astype(str), "item": v.astype(str), "y": y}


def test_tastes_that_groups_share_are_seen_in_single_rows():
    found = check(_table(0, 0.6, 0.4), ["user", "item"], target="y")
    assert found.verdict == "assumption rejected"
    assert found.additivity.test == "interaction"
    assert "test of user × item by rectangles of four combinations, the smallest of " in found.additivity.evidence


def test_a_user_who_scatters_is_no_taste():
    for seed in (1, 2, 3):
        assert check(_table(seed, 0.0, 2.0), ["user", "item"], target="y").additivity.rejected is False


@pytest.mark.parametrize("full", [0, 4], ids=["sparse", "filled"])
def test_the_sum_over_rectangles_is_that_of_all_of_them(full, monkeypatch):
    monkeypatch.setattr(rectangles, "FULL", full)
    monkeypatch.setattr(rectangles, "AT_ONCE", 50)  # several pieces
    rng = np.random.default_rng(0)
    codes = np.stack(np.divmod(rng.permutation(30)[:18], 6), axis=1)
    e, m = rng.normal(size=(18, 5)), np.zeros((5, 5, 6))
    m[:, codes[:, 0], codes[:, 1]] = e.T
    corners = itertools.product(itertools.combinations(range(5), 2), itertools.combinations(range(6), 2))
    summed = sum(m[:, a, b] * m[:, a, d] * m[:, c, b] * m[:, c, d] for (a, c), (b, d) in corners)
    assert rectangles._Grid(codes).totals(e) == pytest.approx(4 * summed)
