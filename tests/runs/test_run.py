"""Descriptions, names and notes: what may go into a run."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from sums import SOURCE, Sums

from recombine.errors import InputError
from recombine.runs import Outcome, Run, Store
from recombine.runs.manifest import Entry
from recombine.runs.run import check_name, plain

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def test_the_address_of_a_description_never_changes() -> None:
    # sha256 of {"kind":"sums","n":5,"version":1}: what is at its default is not part of it
    assert Sums(n=5).address == "8801ae26f4ed0282d03e0e5def593d4f6c92966e0a6de3bdd136f7a69ed9940f"
    assert Sums(n=5, weights=True).address == Sums(n=5).address
    assert len({Sums().address, Sums(n=5).address, Sums(n=5, weights=False).address}) == 3


def test_a_run_without_compute_cannot_be_made() -> None:
    class Nothing(Run):
        kind = "nothing"

    with pytest.raises(TypeError, match="compute"):
        Nothing()  # type: ignore[abstract]


@pytest.mark.parametrize("name", ["sums", "a", "0", "per_member-2", "-", "x" * 100])
def test_good_table_names(name: str) -> None:
    assert check_name(name) == name


@pytest.mark.parametrize("name", ["", "..", "a/b", "a\\b", "/etc/passwd", "A", "a.b", "a\n", "ü", "x" * 101, None, 3])
def test_bad_table_names_are_refused_by_the_outcome(name: str) -> None:
    with pytest.raises(InputError, match="a table cannot be called"):
        Outcome({name: pl.DataFrame()})


@given(st.text(st.characters(exclude_categories=()), max_size=120))
def test_no_name_makes_a_path(name: str) -> None:
    try:
        check_name(name)
    except InputError:
        assert not re.fullmatch("[a-z0-9_-]{1,100}", name) or name.endswith("\n")
    else:
        file = Path(Entry.of(name, "parquet", b"").file)
        assert len(file.parts) == 1
        assert str(file) not in (".", "..")
        assert len(str(file)) < 200


@given(JSON)
def test_notes_are_always_json(value: object) -> None:
    notes = Outcome(notes={"value": value}).notes
    assert json.loads(json.dumps(notes, allow_nan=False, ensure_ascii=False).encode()) == notes


def test_notes_by_hand() -> None:
    assert plain({"a": (1, 2.0), "b": np.float64(0.5), 3: np.int64(7), "c": np.array(2)}) == {
        "a": [1, 2.0], "b": 0.5, "3": 7, "c": 2,
    }  # fmt: skip
    assert plain([math.nan, math.inf, np.float32("nan")]) == [None, None, None]
    with pytest.raises(InputError, match="a set cannot be kept in the notes"):
        Outcome(notes={"members": {1, 2}})


def test_importing_runs_and_listing_them_needs_no_torch(store: Store) -> None:
    code = "import sys, recombine.runs as r; r.Store(sys.argv[1]).list(); print({'torch', 'polars'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code, str(store.root)],
        env={"PYTHONPATH": str(SOURCE)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "set()\n"
