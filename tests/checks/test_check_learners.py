"""Learners in the contest of rules."""

from __future__ import annotations

from contextvars import copy_context

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from planted_tables import additive, grid, seen_part
from sklearn.dummy import DummyClassifier, DummyRegressor

from recombine.checks.forecasts.expected import Forecast
from recombine.checks.forecasts.forecast import forecast
from recombine.checks.rules.learners import TOLD, learners
from recombine.checks.rules.seen_cells import Cells
from recombine.checks.rules.stand_ins import packed, stand_ins
from recombine.errors import InputError


def test_learners_join_the_contest():
    seen, asked = seen_part((5, 4), 1)
    cells = Cells(seen, (5, 4), np.ones(len(seen)), additive(seen, (5, 4), 0), None)
    found = forecast(cells, asked, more=["forest"])
    assert isinstance(found, Forecast)
    assert {r.rule for r in found.rules} >= {"constant", "additive", "forest"}
    with pytest.raises(InputError, match="forests"):
        forecast(cells, asked, more=["forests"])


@pytest.mark.parametrize("name", ["forest", "networks"])
def test_a_learner_of_numbers_answers_the_same_before_and_after_it_was_tried(name):
    seen, asked = seen_part((4, 3), 1)
    (rule,) = learners([name], Cells(seen, (4, 3), np.ones(len(seen)), 100 + additive(seen, (4, 3), 0), None))
    before = rule.answer(asked)
    fits = list[tuple[int, int, str]]()
    copy_context().run(lambda: (TOLD.set(lambda *told: fits.append(told)), rule.left_out([np.arange(1), np.arange(2)])))
    assert (rule.answer(asked) == before).all()
    assert fits == [(i + 1, len(fits), f"fits of the {name}") for i in range(len(fits))]
    assert fits


@settings(max_examples=30, deadline=None)
@given(
    shape=st.sampled_from([(3, 3, 2, 2, 2), (3, 3, 3), (6, 5, 3), (8, 8), (2,) * 6]),
    seed=st.integers(0, 99),
    share=st.sampled_from([0.4, 0.7, 0.9]),
)
def test_one_fit_serves_several_stand_ins_only_where_each_keeps_the_cells_around_it(shape, seed, share):
    seen, asked = seen_part(shape, seed, share)
    drawn = stand_ins(seen, shape, asked, 60, np.random.default_rng(seed)).groups
    groups = {int(group[0]): group for group in drawn}
    packs = packed(list(groups.values()), seen, shape)
    assert sorted(row for rows, _ in packs for row in rows) == sorted(groups)
    for rows, gone in packs:
        for row in rows:
            assert np.isin(groups[row], gone).all()
            same = seen == seen[row]
            around = [np.ones(len(seen), dtype=bool), *same.T]
            around += [a & b for i, a in enumerate(same.T) for b in same.T[:i]] if len(shape) > 2 else []
            for cells in around:
                alone, together = (np.delete(cells, out).sum() for out in (groups[row], gone))
                assert together >= 0.9 * alone  # so that no level of a stand-in vanishes either


@pytest.mark.parametrize("numeric", [True, False])
def test_a_learner_is_tried_on_what_its_stand_ins_groups_leave(numeric, monkeypatch):
    shape = (3, 3, 2, 2, 2)
    seen, asked = seen_part(shape, 3)
    answers = additive(seen, shape, 0)
    answers = answers if numeric else np.eye(2)[(answers > 0).astype(int)]
    (rule,) = learners(["forest"], Cells(seen, shape, np.ones(len(seen)), answers, None))
    kept, fit = [], rule._fit
    monkeypatch.setattr(rule, "_models", lambda one_class: DummyRegressor() if numeric else DummyClassifier())
    monkeypatch.setattr(rule, "_fit", lambda rows: kept.append(len(rows)) or fit(rows))
    drawn = stand_ins(seen, shape, asked, 200, np.random.default_rng(0)).groups
    said = rule.left_out(drawn)
    assert len(said) == len(drawn)
    assert min(kept) >= 0.9 * (len(seen) - max(map(len, drawn)))  # once it was none at all
    if numeric:  # The mean of what is left, near that without the group alone.
        alone = np.array([np.delete(answers, group).mean() for group in drawn])
        assert np.abs(said[:, 0] - alone).max() < 0.5 * answers.std()


@pytest.mark.parametrize("name", ["forest", "networks"])
def test_a_learner_that_saw_one_class_says_it(name):
    codes = grid(3, 3)
    (rule,) = learners([name], Cells(codes, (3, 3), np.ones(9), np.eye(2)[[0] * 8 + [1]], None))
    assert rule.left_out([np.array([8])]).tolist() == [[1.0, 0.0]]
