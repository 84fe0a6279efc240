"""Splits of whole combinations: exact promises on random tables, then scikit-learn, groups and time."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import check_cv, cross_val_score

import recombine as rc
from recombine.checks.exact.identifiability import DETERMINED, Identifiability
from recombine.checks.splitting import CombinationSplit
from recombine.errors import InputError
from recombine.support.times import ranks


def table(shape, rows, seed):
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(n, size=rows) for n in shape], axis=1)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(2, 5), min_size=1, max_size=4), st.integers(8, 60), st.integers(0, 999), st.booleans(),
    st.sampled_from([None, 0.2, 3]),
)  # fmt: skip
def test_every_promise_on_random_tables(shape, rows, seed, graded, hold_out):
    data = table(shape, rows, seed)
    splitter = CombinationSplit(n_splits=3, hold_out=hold_out, graded=graded, seed=seed)
    said = ""
    try:
        splits = list(splitter.split(data))
    except InputError as error:
        said, splits = str(error), []
    assert bool(said) != bool(splits)
    if said:
        assert "nothing can be held out" in said
        return
    assert len(splits) == splitter.get_n_splits() == 3
    for train, test in splits:
        assert sorted([*train, *test]) == list(range(rows))
        seen, asked = np.unique(data[train], axis=0), np.unique(data[test], axis=0)
        assert not {tuple(r) for r in seen} & {tuple(r) for r in asked}
        known = Identifiability(seen, tuple(int(n) for n in data.max(axis=0) + 1))
        assert (known.status(asked) == DETERMINED).all()
        # Levels are seen because answers are determined; told apart here, so that either may fail.
        assert all(set(asked[:, k]) <= set(seen[:, k]) for k in range(len(shape)))
    if hold_out is None:
        tests = [i for _, test in splits for i in test]
        assert len(tests) == len(set(tests))


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 5), st.integers(2, 5), st.integers(4, 30), st.integers(0, 999), st.integers(1, 30))
def test_as_many_as_asked_for_or_as_can_go(a, b, rows, seed, asked):
    data = table((a, b), rows, seed)
    cells = np.unique(data, axis=0)
    design = np.concatenate([np.eye(a)[cells[:, 0]], np.eye(b)[cells[:, 1]]], axis=1)
    most = len(cells) - int(np.linalg.matrix_rank(design))
    splitter = CombinationSplit(n_splits=1, hold_out=asked, seed=seed)
    if not most:
        with pytest.raises(InputError, match="nothing can be held out"):
            list(splitter.split(data))
        return
    (fold,) = splitter.folds(splitter.rows(data))
    assert len(fold.held_out) == min(asked, most)
    assert fold.back == asked - len(fold.held_out)


@settings(max_examples=20, deadline=None)
@given(st.integers(12, 60), st.integers(0, 999), st.floats(0.05, 0.9))
def test_rows_of_seen_combinations_are_tested_on_too_and_none_is_lost(rows, seed, share):
    data = table((3, 3), rows, seed)
    (fold,) = (splitter := CombinationSplit(n_splits=1, hold_out=1, seen_rows=share)).folds(splitter.rows(data))
    assert sorted([*fold.train, *fold.test, *fold.spare]) == list(range(rows))
    for cell in np.unique(data, axis=0):
        sides = [int((data[part] == cell).all(axis=1).sum()) for part in (fold.train, fold.test, fold.spare)]
        n = sum(sides)
        assert sides == [0, n, 0] or (sides[1] == 0 and abs(sides[2] - min(n - 1, share * n)) < 1)
        assert sides[0] or sides[1]
    ((_, test),) = splitter.split(data)
    assert sorted([*fold.test, *fold.spare]) == list(test)
    with pytest.raises(InputError, match="which time forbids"):
        CombinationSplit(seen_rows=0.2, time="day")
    single = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]}
    with pytest.raises(InputError, match="seen_rows holds out rows of combinations that have several, and here each"):
        list(CombinationSplit(["a", "b"], hold_out=1, n_splits=1, seen_rows=0.2).split(single))


def test_rows_without_an_answer_are_on_neither_side():
    frame = pl.DataFrame({"a": list("xxxyyyzzz"), "b": list("uvw" * 3), "y": [1, 2, 3, 4, 5, None, 7, None, 9]})
    splitter = CombinationSplit(["a", "b"], n_splits=1, hold_out=9, target="y")
    (fold,) = splitter.folds(splitter.rows(frame))
    assert sorted([*fold.train, *fold.test]) == [0, 1, 2, 3, 4, 6, 8]
    assert len(fold.held_out) == 2  # Seven answered cells, of which five span three and three levels.
    with pytest.raises(InputError, match="factor and the target at once"):
        CombinationSplit(["a", "b"], target="a").rows(frame)


def test_each_single_cell_is_held_out_where_setting_its_groups_aside_leaves_it_determined():
    rng = np.random.default_rng(3)
    cells = table((4, 4), 26, 5)
    frame = pl.DataFrame({"a": cells[:, 0], "b": cells[:, 1], "who": rng.integers(14, size=26)})
    rows = frame.rows()
    possible = 0
    for cell in sorted({row[:2] for row in rows}):
        own = {row[2] for row in rows if row[:2] == cell}
        left = np.array([row[:2] for row in rows if row[:2] != cell and row[2] not in own])
        known = Identifiability(np.unique(left, axis=0), (4, 4)).status(np.array([cell]))[0] == DETERMINED
        splitter = CombinationSplit(["a", "b"], hold_out=[dict(zip("ab", cell, strict=True))], group="who")
        try:
            (fold,) = splitter.folds(splitter.rows(frame))
        except InputError:
            assert not known
            continue
        possible += known
        who = frame["who"].to_numpy()
        assert not set(who[fold.train]) & set(who[fold.test])
        assert not known or len(fold.test) == sum(row[:2] == cell for row in rows)
    assert possible > 5


def test_graded_folds_go_from_easy_to_hard():
    rng = np.random.default_rng(0)
    data = np.minimum(rng.geometric(0.35, size=(600, 2)) - 1, 7)  # Some levels are common, some rare.
    splitter = CombinationSplit(n_splits=4, hold_out=0.1, graded=True)
    medians = [float(np.median(fold.leverage)) for fold in splitter.folds(splitter.rows(data))]
    assert medians == sorted(medians)
    assert medians[-1] > 3 * medians[0]


def test_leverage_of_a_held_out_corner_by_hand():
    (fold,) = (s := CombinationSplit(hold_out=[{"a": 1, "b": 1}])).folds(s.rows({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]}))
    assert fold.test.tolist() == [3]
    assert fold.leverage.tolist() == pytest.approx([3.0])


def test_scikit_learn_takes_it():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(4, size=200), "b": rng.integers(5, size=200), "x": rng.normal(size=200)})
    cv = check_cv(rc.CombinationSplit(["a", "b"], n_splits=4))
    assert cv.get_n_splits(frame) == 4
    scores = cross_val_score(LinearRegression(), frame, frame["a"] + 2 * frame["b"], cv=cv)
    assert scores.min() > 0.999
    by_place = [t.tolist() for _, t in CombinationSplit([0, 1], n_splits=4).split(frame.to_numpy())]
    assert by_place == [t.tolist() for _, t in cv.split(frame)]
    assert "n_splits=4" in repr(cv)


def test_a_group_is_on_one_side_only():
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {"a": rng.integers(4, size=600), "b": rng.integers(4, size=600), "who": rng.integers(30, size=600)}
    )
    groups = frame["who"].to_numpy()
    for by in (
        CombinationSplit(["a", "b"], n_splits=3, group="who").split(frame),
        CombinationSplit(["a", "b"], n_splits=3).split(frame, groups=groups),
        CombinationSplit(["a", "b"], n_splits=3, hold_out=0.25, group="who").split(frame),
    ):
        for train, test in by:
            assert len(train)
            assert not set(groups[train]) & set(groups[test])
            pairs = frame.select(pl.struct("a", "b")).to_series().to_list()
            assert not {str(pairs[i]) for i in train} & {str(pairs[i]) for i in test}
    with pytest.raises(InputError, match="one group"):
        list(CombinationSplit(["a", "b"]).split(frame, groups=np.zeros(600)))


@pytest.mark.parametrize("inside", [True, False], ids=["groups inside combinations", "groups across"])
def test_rows_of_seen_combinations_that_are_tested_on_are_of_groups_that_are_not_trained_on(inside):
    data = table((3, 4), 300, 5)
    cell = data[:, 0] * 4 + data[:, 1]
    groups = cell * 100 + np.arange(300) % 5 if inside else np.arange(300) % 30
    splitter = CombinationSplit(n_splits=1, hold_out=0.25, seen_rows=0.2)
    (fold,) = splitter.folds(splitter.rows(data), groups)
    tested = np.concatenate([fold.test, fold.spare])
    assert not set(groups[fold.train]) & set(groups[tested])
    assert set(cell[fold.spare]) <= set(cell[fold.train])
    assert not set(cell[fold.test]) & set(cell[fold.train])
    assert len(fold.spare) > 30
    assert sorted([*fold.train, *tested, *fold.apart]) == list(range(300))
    assert bool(len(fold.apart)) != inside


def test_groups_inside_combinations_cost_no_rows():
    data = table((4, 4), 100, 3)
    groups = data[:, 0] * 4 + data[:, 1]
    for train, test in CombinationSplit(n_splits=3).split(data, groups=groups):
        assert len(train) + len(test) == 100


def test_training_comes_before_the_test():
    rng = np.random.default_rng(2)
    frame = pl.DataFrame(
        {"a": rng.integers(3, size=300), "b": rng.integers(3, size=300), "day": rng.permutation(300).tolist()}
    )
    day = frame["day"].to_numpy()
    for train, test in CombinationSplit(["a", "b"], n_splits=3, time="day").split(frame):
        assert day[train].max() < day[test].min()
    years = frame.with_columns(pl.when(pl.col("day") < 150).then(1931).otherwise(1932).alias("day"))
    (split,) = CombinationSplit(["a", "b"], n_splits=1, hold_out=0.3, time="day").split(years)
    assert set(years["day"].to_numpy()[split[1]]) == {1932}


def _us(day):
    return f"{day.month}/{day.day}/{day.year}"


@pytest.mark.parametrize(
    "written",
    [
        "%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y/%m/%dT%H:%M:%S", "%d.%m.%Y", "%m/%d/%y %H:%M", "%b %d %Y", "%d %B %Y",
        "%a, %d %b %Y %H:%M:%S +0100", "%m/%d/%Y %I:%M %p", "%Y%m%d", _us,
        lambda day: f"{day.year}-{day.month}-{day.day}",
    ],
)  # fmt: skip
def test_no_training_row_is_later_however_times_are_written(written):
    rng = np.random.default_rng(3)
    days = [datetime.datetime(2024, 11, 20) + datetime.timedelta(hours=14 * int(k)) for k in rng.permutation(150)]
    texts = [day.strftime(written) if isinstance(written, str) else written(day) for day in days]
    days = [day if ":" in text else day.date() for day, text in zip(days, texts, strict=True)]
    frame = pl.DataFrame({"a": rng.integers(3, size=150), "b": rng.integers(3, size=150), "when": texts})
    for train, test in CombinationSplit(["a", "b"], n_splits=3, time="when").split(frame):
        assert max(days[i] for i in train) < min(days[i] for i in test)


def test_times_that_could_be_two_days_or_none_are_refused():
    with pytest.raises(InputError, match=r"day, month, year; month, day, year.*write them as ISO"):
        ranks("when", pl.Series(["03/04/2024", "05/01/2024"]))
    assert ranks("when", pl.Series(["03/04/2024", "03/05/2024"])).tolist() == [1, 2]  # both ways
    for odd in (["noon", "dawn"], ["2024-02-30", "2024-03-01"], ["t1", "t2"], ["2024-12-09", "9.12.2024"]):
        with pytest.raises(InputError, match="cannot be put in order as times"):
            ranks("when", pl.Series(odd))
    assert ranks("when", pl.Series(["2024-1-2 10:00+02:00", "2024-1-2 09:30Z"])).tolist() == [1, 2]
    assert ranks("when", pl.Series(["2024-W10", "2024-W09"])).tolist() == [2, 1]


@pytest.mark.parametrize(
    ("options", "data", "word"),
    [
        ({"n_splits": 1}, None, "2 or more"),
        ({"hold_out": 1.5}, None, "a share between 0 and 1"),
        ({"hold_out": 0.0}, None, "a share between 0 and 1"),
        ({"hold_out": [{"a": 9}]}, {"a": [0, 1], "b": [0, 1]}, "unknown level"),
        ({"hold_out": []}, None, "hold_out names no combination"),
        ({"hold_out": [{}]}, None, "hold_out names an empty combination"),
        ({"hold_out": "0.2"}, None, "hold_out is '0.2'; give a share"),
        ({"hold_out": {"a": 1}}, None, "a list of combinations such as"),
        ({"hold_out": 0.5, "n_splits": 1}, {"a": [0, 1], "b": [0, 1]}, "nothing can be held out"),
        ({"factors": ["c"]}, {"a": [0, 1]}, "unknown column 'c'"),
        ({"time": "t", "factors": ["a"]}, {"a": [0, 1, 0, 1], "t": [1, None, 2, 3]}, "has missing values"),
    ],
)
def test_bad_requests_are_one_sentence(options, data, word):
    with pytest.raises(InputError, match=word) as caught:
        list(CombinationSplit(**options).split(data))
    assert "\n" not in str(caught.value)
