"""Planted learners are judged for what they are: one of each kind of `benchmarks/verdicts.py`."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest
from everything_said import everything

from recombine.mechanisms.verdicts.told_short import LONGEST

ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("verdicts", ROOT / "benchmarks" / "verdicts.py")
assert spec is not None
assert spec.loader is not None
sys.path.insert(0, str(ROOT / "benchmarks"))
verdicts = importlib.util.module_from_spec(spec)
sys.modules["verdicts"] = verdicts
spec.loader.exec_module(verdicts)


SURE = ("one factor of several ignored", "two factors of four ignored", "a misread covariate", "shortcut",
        "a shortcut beside a misread covariate", "an offset everywhere", "the other sign", "other units",
        "classes renamed", "one of few combinations wholly wrong")  # fmt: skip
"""Kinds of which what was planted is nearly always named."""


@pytest.mark.parametrize("name", verdicts.LEARNERS)
def test_a_planted_learner_is_judged_for_what_it_is(name: str) -> None:
    planted = verdicts.run(name, 0)
    assert planted.result.verdict in planted.verdicts, planted.result.sentence()
    assert not planted.wrong, planted.result.sentence()
    assert len(planted.result.sentence()) <= LONGEST, planted.result.sentence()  # It can be read aloud.
    assert name not in SURE or planted.named, planted.result.sentence()


def test_the_committed_table_has_every_learner_and_meets_its_bounds() -> None:
    text = (ROOT / "benchmarks" / "results" / "verdicts.md").read_text(encoding="utf-8")
    rows = {cells[1].strip(): cells for cells in (line.split("|") for line in text.splitlines()) if len(cells) > 6}
    assert set(verdicts.LEARNERS) <= set(rows)
    counts = {name: [int(n) for n in re.findall(r"\d+", rows[name][2])] for name in verdicts.LEARNERS}
    assert all(total >= 20 for _, total in counts.values())
    right, total = (sum(pair[i] for pair in counts.values()) for i in range(2))
    false = sum(int(rows[name][4]) for name in verdicts.LEARNERS)
    assert right / total >= 0.95
    assert false / total <= 0.02


def test_a_failure_that_the_gap_alone_does_not_show_says_what_does() -> None:
    result = verdicts.run("additive rule", 0).result
    assert (result.verdict, result.gap.low < 0.05) == ("fails", True)
    assert "The gap reaches across the margin of 0.05, but errors of unseen combinations rank" in everything(result)
