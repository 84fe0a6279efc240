"""Manifests: a support on disk that proves itself, and whatever else a file may hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from recombine.errors import InputError
from recombine.space import FactorSpace, continuous
from recombine.support import Explicit, Region, Support, donut, leave_out, load_manifest, save_manifest

SPACE = FactorSpace.of([["shape"], ["colour"]], shape=["disc", "square"], colour=["rouge", "grün"])
PLANE = FactorSpace((continuous("x"), continuous("y")))
ROWS = st.sets(st.tuples(st.integers(0, 1), st.integers(0, 1)), max_size=4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("manifest")


@given(ROWS)
@settings(max_examples=20)
def test_a_list_comes_back(folder: Path, rows: set[tuple[int, int]]) -> None:
    some = Explicit(SPACE, sorted(rows))
    again = load_manifest(save_manifest(some, folder / "list.json", reason="a test"))
    assert again == some
    assert hash(again) == hash(some)


@pytest.mark.parametrize("some", [donut(PLANE, 0.5), ~donut(PLANE, 0.5), Region(PLANE, {"box": {"x": [0, 1]}})])
def test_a_rule_comes_back(folder: Path, some: Support) -> None:
    again = load_manifest(save_manifest(some, folder / "rule.json"))
    assert again == some
    assert hash(again) == hash(some)


def test_the_file_says_what_it_is(folder: Path) -> None:
    some = leave_out(SPACE, {"shape": "disc"}).explicit()
    data = json.loads(save_manifest(some, folder / "a.json", "discs are asked for").read_text("utf-8"))
    assert data == {
        "schema": 1,
        "reason": "discs are asked for",
        "count": 2,
        "sha256": some.sha256(),
        "space": SPACE.to_dict(),
        "combinations": [[1, 0], [1, 1]],
    }


def change_row(data: Any) -> None:
    data["combinations"][0][0] = 1 - data["combinations"][0][0]


def drop_row(data: Any) -> None:
    del data["combinations"][-1]


def rename_level(data: Any) -> None:
    data["space"]["factors"][0]["levels"][1] = "triangle"


def drop_hash(data: Any) -> None:
    del data["sha256"]


@pytest.mark.parametrize("tamper", [change_row, drop_row, rename_level, drop_hash])
def test_a_changed_list_is_refused(folder: Path, tamper: Any) -> None:
    path = save_manifest(leave_out(SPACE, {"shape": "disc"}), folder / "b.json")
    data = json.loads(path.read_text("utf-8"))
    tamper(data)
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(InputError, match="does not match its SHA-256"):
        load_manifest(path)


def test_a_code_that_only_looks_whole_is_refused(folder: Path) -> None:
    path = save_manifest(leave_out(SPACE, {"shape": "disc"}), folder / "c.json")
    for bad in ("1.0", "true", '"1"', "null", "1e400", "9" * 5000):
        text = path.read_text("utf-8").replace("[[1, 0]", f"[[{bad}, 0]")
        (folder / "d.json").write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=r"d\.json"):
            load_manifest(folder / "d.json")


def test_files_that_are_no_manifest(folder: Path) -> None:
    with pytest.raises(InputError, match="there is no manifest at"):
        load_manifest(folder / "nowhere.json")
    with pytest.raises(InputError, match="cannot be read"):
        load_manifest(folder)
    for text in (b"", b"{", b"\xff\xfe", b"[" * 200_000, b"1" * 6000):
        (folder / "e.json").write_bytes(text)
        with pytest.raises(InputError, match="cannot be read"):
            load_manifest(folder / "e.json")
    rule = '{"not": ' * 900 + '{"box": {}}' + "}" * 900
    deep = f'{{"schema": 1, "space": {PLANE.to_json()}, "rule": {rule}}}'
    (folder / "f.json").write_text(deep, encoding="utf-8")
    with pytest.raises(InputError, match=r"f\.json"):
        load_manifest(folder / "f.json")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
RULES = st.sampled_from(["box", "points", "any", "all", "not", "x", "shape"])
PARTS = st.sampled_from(
    ["schema", "space", "rule", "combinations", "sha256", "factors", "components", "name", "levels"]
)
WORDS = RULES | PARTS | st.sampled_from(["low", "high"])
NEAR = st.recursive(
    st.none() | st.integers(-1, 3) | st.floats() | WORDS | st.just(10**400) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=10,
)
SPACES = st.sampled_from([SPACE.to_dict(), PLANE.to_dict()])
HOSTILE = st.one_of(
    JSON,
    st.fixed_dictionaries(
        {"schema": st.just(1), "space": NEAR | SPACES}, optional={"rule": NEAR, "combinations": NEAR}
    ),
    st.fixed_dictionaries({"schema": st.just(1), "space": SPACES, "rule": st.dictionaries(WORDS, NEAR, max_size=1)}),
    st.fixed_dictionaries({"schema": st.just(1), "space": SPACES, "combinations": NEAR, "sha256": NEAR}),
    st.fixed_dictionaries(
        {
            "schema": st.just(1),
            "space": st.fixed_dictionaries({"factors": st.lists(NEAR, max_size=2), "components": NEAR}),
        }
    ),
)


@given(HOSTILE)
@settings(max_examples=60)  # tests/fuzz tries more on the same door
def test_no_json_value_does_anything_but_load_or_be_refused(folder: Path, data: Any) -> None:
    path = folder / "hostile.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    try:
        some = load_manifest(path)
    except InputError:
        return
    assert isinstance(some, (Region, Explicit))
    points = some.space.sample(3, seed=0)
    assert some.contains(points).shape == (3,)
