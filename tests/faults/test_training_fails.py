"""Training that diverges, or that does not fit into memory: marked or split, and the study is completed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from children import call
from injected import run_out_of_memory_at
from small_study import assert_completes, hashes, run_study, runs

from recombine.runs import Store, failure

pytestmark = pytest.mark.fault


def no_constant(name: str) -> Any:
    raise AssertionError(f"{name} is not JSON")


def test_a_run_that_diverges(tmp_path: Path, undisturbed: dict[str, str]) -> None:
    """fault: a run whose training diverges | injected: a learning rate of 1e30 | outcome: the study ends well with
    valid JSON; every diverged member is marked with its step; the other run has its bytes; asked for again, it costs
    nothing"""
    text = call(run_study, tmp_path, "diverging")
    answer = json.loads(text.splitlines()[-1], parse_constant=no_constant)
    assert answer["study"] == "diverging"
    store, planned = Store(tmp_path / "store"), runs("diverging")
    wild, slow = store.get(planned["wild"]), store.get(planned["slow"])
    assert wild is not None
    assert slow is not None
    assert wild.notes["diverged"] == 4
    assert all(0 <= step < 24 for step in wild.table("members")["diverged_at"])
    assert slow.table("members")["diverged_at"].null_count() == 4
    for path in slow.directory.glob("*.parquet"):
        assert str(path.relative_to(tmp_path)) in undisturbed
    for path in tmp_path.rglob("*.json"):
        json.loads(path.read_text(), parse_constant=no_constant)
    before = hashes(tmp_path)
    call(run_study, tmp_path, "diverging")
    assert hashes(tmp_path) == before


@pytest.mark.parametrize(
    ("larger_than", "steps"), [(1, (10,)), (2, (1, 20))], ids=["until one member is left", "until halves fit"]
)
def test_out_of_memory_in_a_stack(
    tmp_path: Path,
    undisturbed: dict[str, str],
    larger_than: int,
    steps: tuple[int, ...],
    record_property: Callable[[str, object], None],
) -> None:
    """fault: out of memory in a stack of members | injected: torch.OutOfMemoryError from the 1st, 10th or 20th step of
    a stack that is too large | outcome: its halves are trained; tables are byte for byte those of an undisturbed run"""
    for step in steps:
        folder = tmp_path / str(step)
        call(run_study, folder, "small", (run_out_of_memory_at, (step, larger_than)))
        assert hashes(folder) == undisturbed
        (first, *_) = (run for run in runs("small").values())
        stored = Store(folder / "store").get(first)
        assert stored is not None
        assert max(stored.notes["stacks"]) == larger_than
    record_property("tried", len(steps))


def test_out_of_memory_for_a_single_member(tmp_path: Path, undisturbed: dict[str, str]) -> None:
    """fault: not even one member fits into memory | injected: torch.OutOfMemoryError at every step | outcome: one
    sentence, exit code 2, the reason kept; with memory the same command completes to the same bytes"""
    text = call(run_study, tmp_path, "small", (run_out_of_memory_at, (1, 0)), code=2)
    assert "3 of 3 runs failed" in text
    assert "out of memory" in text
    assert "Traceback" not in text
    store = Store(tmp_path / "store")
    kept = failure(store, runs("small")["slow"])
    assert kept is not None
    assert kept["type"] == "OutOfMemoryError"
    assert_completes(tmp_path, undisturbed)
    assert failure(store, runs("small")["slow"]) is None
