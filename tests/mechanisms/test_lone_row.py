"""A row that makes most of an error is named, and none among many."""

import numpy as np
import pandas as pd
import pytest

import recombine as rc

PARTS = {"train": "training rows", "again": "test rows of seen combinations", "unseen": "rows of unseen combinations"}


def table(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    a, b, row = (v.ravel() for v in np.meshgrid(range(6), range(5), range(4), indexing="ij"))
    mean = rng.normal(size=6)[a] + rng.normal(size=5)[b]
    unseen = (a + b) % 5 == 0
    part = np.where(unseen, "unseen", np.where(row == 0, "again", "train"))
    named = {"a": [f"a{i}" for i in a], "b": [f"b{i}" for i in b], "y": mean + 0.5 * rng.normal(size=len(a)), "p": mean}
    return pd.DataFrame(named | {"where": part, "part": np.where(part == "train", "train", "test")})


def notes(frame: pd.DataFrame) -> list[str]:
    found = rc.measure_predictions(frame.drop(columns="where"), ["a", "b"], target="y", prediction="p",
                                   split="part=test", target_kind="number")  # fmt: skip
    return [found.look] if "squared error: row" in found.look else []


@pytest.mark.parametrize("where", PARTS)
def test_a_prediction_that_ran_away_is_named(where):
    frame = table(1)
    place = int(np.flatnonzero(frame["where"] == where)[3])
    frame.loc[place, "p"] += 60
    (said,) = notes(frame)
    assert f"row {place + 1} (a = {frame.a[place]}, b = {frame.b[place]})" in said
    assert PARTS[where] in said


def test_errors_of_many_rows_name_none():
    assert not [note for seed in range(6) for note in notes(table(seed))]


@pytest.mark.parametrize("count", [2, 3])
def test_a_few_that_ran_away_are_named_together(count):
    frame = table(2)
    unseen = frame[frame["where"] == "unseen"]
    places = [int(unseen.index[4 * i]) for i in range(count)]
    frame = pd.concat([frame, *[frame.assign(b=frame.b + f" {i}") for i in range(2)]], ignore_index=True)
    frame.loc[places, "p"] += 60
    (said,) = notes(frame)
    assert said.startswith(f"{['Two', 'Three'][count - 2]} of the 72 rows of unseen combinations make ")
    assert all(f"row {place + 1}" in said for place in places)
    assert "Look at them first, and measure again without them." in said


def test_all_rows_of_one_combination_are_no_slips():
    frame = table(2)
    frame = pd.concat([frame, *[frame.assign(b=frame.b + f" {i}") for i in range(3)]], ignore_index=True)
    first = frame[frame["where"] == "unseen"].iloc[0]
    frame.loc[(frame.a == first.a) & (frame.b == first.b), "p"] += 60
    assert not notes(frame)


def test_a_rare_event_is_no_slip_and_a_prediction_that_ran_away_among_events_is():
    frame = table(3).assign(p=0.03, y=0.0)
    frame.loc[[frame.index[frame["where"] == where][5] for where in PARTS], "y"] = 1.0
    assert not notes(frame)
    frame.loc[7, "p"] = 40.0
    (said,) = notes(frame)
    assert said.startswith("One of the ")
    assert "row 8 (" in said
    assert said.count("squared error") == 1
