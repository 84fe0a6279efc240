"""A measure of a run is named, or is a function of any module; lists are lists; nothing is run from what is stored."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from recombine import measures
from recombine.errors import InputError
from recombine.measures.listed import listed
from recombine.models import Perceptron
from recombine.runs import Store, get_or_compute
from recombine.runs.measured import Measured
from recombine.runs.training import TrainingRun
from recombine.structure.saved import described
from recombine.tasks import ToyTask
from recombine.training import SGD

MODULE = """
import polars as pl

def sums(ensemble, task, of=(), scale=1):
    return pl.DataFrame({"member": list(ensemble.members), "sum": [scale * float(sum(of))] * len(ensemble)})

def Loud(ensemble, task):
    return sums(ensemble, task)

number = 3
"""


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module of somebody else's."""
    (tmp_path / "somebodys_measures.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "somebodys_measures", raising=False)
    return "somebodys_measures"


def training(*measured: Measured) -> TrainingRun:
    return TrainingRun(task=ToyTask(), model=Perceptron(widths=(2, 4, 2)), members=2, steps=2, batch_size=4,
                       optimizer=SGD(lr=0.1), measured=measured)  # fmt: skip


def test_a_run_measures_with_a_function_from_outside(outside: str, tmp_path: Path) -> None:
    twice = Measured(measure=f"{outside}:sums", arguments={"of": [1, 2.5], "scale": 2}, name="twice")
    run = training(Measured(measure=f"{outside}:sums", at=(0, -1), arguments={"of": (1, 2)}), twice)
    assert outside not in sys.modules  # described without being imported
    found = get_or_compute(Store(tmp_path / "store"), {"run": run}, device="cpu")["run"]
    assert found.table("sums").sort("step", "member")["sum"].to_list() == [3.0] * 4
    assert found.table("twice")["sum"].to_list() == [7.0] * 2


def test_a_function_says_its_name(outside: str) -> None:
    module = __import__(outside)
    assert Measured.of(module.sums, of=[1, 2], scale=2) == Measured(
        measure=f"{outside}:sums", arguments={"of": (1, 2), "scale": 2}
    )
    # One of this package is described as it has always been.
    assert Measured.of(measures.leak, at=(0, -1), count=1).address == Measured(
        measure="leak", at=(0, -1), arguments={"count": 1}
    ).address  # fmt: skip


def test_a_description_without_a_name_has_the_address_it_always_had() -> None:
    known = Measured(measure="salience", at=(0, -1), arguments={"layers": "1,3", "count": 1})
    assert known.describe() == {"kind": "measured", "version": 1, "measure": "salience", "at": [0, -1],
                                "arguments": {"layers": "1,3", "count": 1}}  # fmt: skip


@pytest.mark.parametrize("text", ["no_such_module:f", "{}:nothing", "{}:number", ":sums", "{}:", "{}:Loud", "salienc"])
def test_what_cannot_measure_is_said_before_training(outside: str, text: str) -> None:
    with pytest.raises(InputError):
        training(Measured(measure=text.format(outside))).measured[0].record()


def test_a_function_that_nobody_else_could_find_is_refused() -> None:
    def local(ensemble: Any, task: Any) -> pl.DataFrame:
        return pl.DataFrame()

    def of_the_program(ensemble: Any, task: Any) -> pl.DataFrame:
        return pl.DataFrame()

    of_the_program.__module__, of_the_program.__qualname__ = "__main__", "of_the_program"
    for function in (local, of_the_program, lambda ensemble, task: None):
        with pytest.raises(InputError, match="cannot be found again"):
            Measured.of(function)


def test_what_a_store_says_is_never_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, outside: str) -> None:
    store = Store(tmp_path / "store")
    run = training(Measured(measure=f"{outside}:sums"))
    get_or_compute(store, {"run": run}, device="cpu")
    told = run.describe()
    monkeypatch.delitem(sys.modules, outside)
    (tmp_path / "somebodys_measures.py").write_text("raise SystemExit('executed')", encoding="utf-8")
    there = store.get(run)
    assert there is not None
    assert there.table("sums").height == 2
    there.check()
    # A description that is read back is text: no part of it is a description again, and none is a function.
    assert there.description == json.loads(json.dumps(there.description)) == told
    assert outside not in sys.modules
    # The one place that makes descriptions of what a file says knows models alone.
    for stored in (there.description, there.description["measured"][0]):
        with pytest.raises(InputError, match="kind of model"):
            described(stored)
    assert outside not in sys.modules


def test_lists_are_lists_and_the_older_text_too() -> None:
    assert listed("5, 20") == listed((5, 20)) == listed(["5", "20"]) == ["5", "20"]
    assert listed("input") == ["input"]
