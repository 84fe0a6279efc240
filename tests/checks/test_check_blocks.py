"""Days that shift the answer: what is said without the shifts is said with them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from planted_tables import additive, seen_part

from recombine.checks import Purpose, check
from recombine.errors import InputError

NAMES = ["f0", "f1", "f2"]


def shifted(seed: int, spread: float = 3.0, days: int = 5):
    """An additive table with noise, the same with shifts of days, and these."""
    codes, rng = seen_part((5, 5, 2), seed)[0], np.random.default_rng(seed)
    y = additive(codes, (5, 5, 2), seed) + 0.5 * rng.standard_normal(len(codes))
    day, shift = rng.permutation(np.arange(len(codes)) % days), spread * rng.standard_normal(days)
    table = {name: codes[:, k].astype(str) for k, name in enumerate(NAMES)}
    return {**table, "y": y}, {**table, "day": [f"d{d}" for d in day], "y": y + shift[day]}, shift


def test_with_blocks_a_table_with_shifts_is_judged_as_the_one_without():
    ratios = []
    for seed in range(2):
        plain, days, shift = shifted(seed)
        still, moved = (check(plain, NAMES, target="y", draws=9), check(days, NAMES, target="y", draws=9, blocks="day"))
        assert moved.verdict == still.verdict
        ratios.append(moved.forecast.error / still.forecast.error)
        assert moved.shifts.spread == pytest.approx(np.std(shift, ddof=1), rel=0.2)
        said = {q.codes: q.prediction for q in still.queries}
        off = [q.prediction - said[q.codes] - shift.mean() for q in moved.queries]  # answers of an average day
        assert np.sqrt(np.mean(np.square(off))) < 0.4
    assert 0.9 < np.median(ratios) < 1.1
    wild = check(days, NAMES, target="y", draws=9)
    assert wild.forecast.error > 2 * still.forecast.error


def test_a_row_of_a_new_day_has_a_wider_range_and_all_places_name_the_day():
    _, days, _ = shifted(0)
    result = check(days, NAMES, target="y", draws=9, blocks="day", purpose=Purpose(budget=3))
    assert all(q.row_high - q.row_low > 2 * (q.high - q.low) for q in result.queries if q.low is not None)
    assert "day" not in result.space.names
    assert "This is of an average day." in result.sentence()
    record = json.loads(result.to_json())
    assert record["blocks"]["columns"] == ["day"] == record["settings"]["blocks"]
    assert record["blocks"]["blocks"] == 5
    assert any(note.startswith("shifts of day (standard deviation") for note in record["notes"])


def test_answers_of_known_days_are_compared_without_their_shift_and_of_new_ones_as_they_are():
    _, days, _ = shifted(1)
    held = np.arange(len(days["y"])) % 7 == 0
    part = {**days, "part": np.where(held, "test", "train")}
    known = check(part, NAMES, target="y", draws=9, blocks="day", split="part=test").forecast.realised
    assert known["error"] < 1.5
    new = {**part, "day": [f"n{d}" if h else d for d, h in zip(part["day"], held, strict=True)]}
    result = check(new, NAMES, target="y", draws=9, blocks=["day"], split="part=test")
    assert result.forecast.realised["error"] > 1.5
    assert result.shifts.new == held.sum()


def test_shifts_that_cannot_be_told_from_a_factor_are_refused_in_one_sentence():
    plain, days, _ = shifted(2)
    with pytest.raises(InputError, match="cannot be told from effects of the factors") as caught:
        check({**plain, "day": plain["f0"]}, NAMES, target="y", blocks="day")
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="too few for"):
        check({name: column[:14] for name, column in days.items()}, NAMES, target="y", blocks="day")
    with pytest.raises(InputError, match="answers that are numbers"):
        check({**days, "y": ["yes", "no"] * (len(days["y"]) // 2) + ["yes"] * (len(days["y"]) % 2)}, NAMES,
              target="y", blocks="day")  # fmt: skip


def test_a_row_alone_on_its_day_is_left_out_and_changes_nothing():
    _, days, _ = shifted(0)
    one = {"f0": ["0"], "f1": ["0"], "f2": ["0"], "day": ["new"], "y": [99.0]}
    before, after = (
        check(table, NAMES, target="y", draws=9, blocks="day")
        for table in (days, {name: [*column, *one[name]] for name, column in days.items()})
    )
    assert (after.shifts.lone, before.shifts.lone) == (1, 0)
    assert [q.prediction for q in after.queries] == pytest.approx([q.prediction for q in before.queries])
    assert "1 row is alone in a day and left out" in after.shifts.words
