"""Processes that write the same runs at once, each with results of its own: one of them is kept, whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sums import Sums, start

from recombine.runs import Store

ROUNDS, WRITERS = 150, 3

WRITER = """
import sys
import polars as pl
from recombine.runs import Outcome, Store
from sums import Sums

store, who = Store(sys.argv[1]), sys.argv[2]
kept = {}
for n in range(int(sys.argv[3])):
    run = Sums(n=n + 1, weights=False)
    outcome = Outcome({"who": pl.DataFrame({"who": [who] * 50}), "n": pl.DataFrame({"n": [n]})}, {}, {"who": who})
    print("ready", flush=True)
    sys.stdin.readline()
    stored = store.put(run, outcome, {"who": who})
    assert stored.notes["who"] == stored.provenance["who"]
    assert stored.table("who")["who"].to_list() == [stored.notes["who"]] * 50
    assert stored.table("n")["n"].to_list() == [n]
"""


@pytest.mark.fault
def test_many_rounds_of_writers_that_start_together(tmp_path: Path, record_property: Any) -> None:
    """fault: processes that write the same run at once | injected: three processes with different tables, notes and
    provenance, let go together for each run | outcome: one run, all of it from one writer, and none set aside"""
    writers = [start(WRITER, tmp_path, who, ROUNDS) for who in ("first", "second", "third")[:WRITERS]]
    for _ in range(ROUNDS):
        for writer in writers:
            assert writer.stdout
            assert writer.stdout.readline() == "ready\n", writer.stderr and writer.stderr.read()
        for writer in writers:
            assert writer.stdin
            writer.stdin.write("go\n")
            writer.stdin.flush()
    for writer in writers:
        _, errors = writer.communicate(timeout=120)
        assert writer.returncode == 0, errors
    store, won = Store(tmp_path), []
    for n in range(ROUNDS):
        stored = store.get(Sums(n=n + 1, weights=False))
        assert stored is not None
        who = stored.provenance["who"]
        assert stored.notes == {"who": who}
        assert stored.table("who")["who"].to_list() == [who] * 50
        assert json.loads((Path(stored.directory) / "run.json").read_bytes())["provenance"] == {"who": who}
        won.append(who)
    assert len(store.list()) == ROUNDS
    assert not (tmp_path / "aside").exists()
    assert len(set(won)) > 1  # They did race: no writer was always first.
    record_property("tried", ROUNDS)
