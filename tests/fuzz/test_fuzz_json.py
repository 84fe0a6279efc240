"""Whatever JSON is offered as a manifest of a support, as run.json, as a description: read, or refused for a reason."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damage import JSON, altered, mutated, or_refused
from hypothesis import strategies as st

from recombine import models
from recombine.description import Description
from recombine.errors import InputError
from recombine.runs.manifest import Damaged, Entry, Manifest, _hash
from recombine.space import FactorSpace, continuous
from recombine.structure.saved import described
from recombine.support import Explicit, Region, Support, donut, load_manifest, save_manifest

PLANE = FactorSpace((continuous("x"), continuous("y")))
GRID = FactorSpace.of([["a"], ["b"]], a=["x", "y", "z"], b=4)
SUPPORTS: list[Support] = [
    Explicit(GRID, [[0, 1], [2, 3]]), donut(PLANE, 0.5), ~donut(PLANE, 0.5), Region(PLANE, {"box": {"x": [0, 1]}}),
    donut(PLANE, 0.5) & Region(PLANE, {"box": {"y": [0.2, 0.7]}}),
]  # fmt: skip


@pytest.fixture(scope="module")
def manifests(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    folder = tmp_path_factory.mktemp("manifests")
    return [save_manifest(some, folder / f"{i}.json").read_bytes() for i, some in enumerate(SUPPORTS)]


def load(folder: Path, data: bytes) -> None:
    path = folder / "m.json"
    path.write_bytes(data)
    with or_refused(InputError):
        support = load_manifest(path)
        assert repr(support)
        assert support.contains(np.zeros((2, len(support.space)))).shape == (2,)


def test_any_manifest_of_a_support(fuzz: Any, tmp_path: Path, manifests: list[bytes]) -> None:
    whole = [json.loads(text) for text in manifests]
    almost = st.sampled_from(whole).flatmap(altered).map(written)
    ended = fuzz(
        200,
        partial(load, tmp_path),
        st.one_of(almost, st.sampled_from(manifests).flatmap(mutated), st.binary(max_size=60)),
    )
    assert min(ended["read"], ended["refused"]) > 0, "either nothing was read or nothing was refused"


BODY = Manifest(
    address="0" * 64, description={"kind": "sums", "version": 1, "n": 3}, tables={"t": Entry.of("t", "parquet", b"x")},
    tensors=Entry.of("tensors", "safetensors", b"y"), notes={"a": [1, 2.5, None]}, provenance={"device": "cpu"},
)  # fmt: skip
RUN = BODY.model_copy(update={"address": _hash(BODY.description)})


def parse(data: bytes, own: bool) -> None:
    """Read run.json at the address of the run it was, or at the one it has now."""
    address = RUN.address
    if own:
        with suppress(ValueError, TypeError, KeyError, Damaged):
            body = json.loads(data)
            address = _hash(body["description"])
            body["address"] = address
            data = sealed(body)
    with or_refused(Damaged):
        manifest = Manifest.parse(data, address)
        assert manifest.address == address
        assert all("/" not in entry.file and ".." not in entry.file for entry in manifest.entries)
        assert Manifest.parse(manifest.to_bytes(), address) == manifest


def written(body: Any) -> bytes:
    return json.dumps(body).encode()


def sealed(body: Any) -> bytes:
    """The body with the seal it would have had, so that what lies behind the seal is tried too."""
    if isinstance(body, dict):
        body = {name: value for name, value in body.items() if name != "seal"}
        with suppress(Damaged, TypeError):
            body["seal"] = _hash(body)
    return written(body)


def test_any_run_json(fuzz: Any) -> None:
    almost = altered(json.loads(RUN.to_bytes()))
    anything = st.one_of(
        almost.map(sealed), almost.map(written), mutated(RUN.to_bytes()), JSON.map(sealed), st.binary(max_size=80)
    )
    ended = fuzz(300, parse, anything, st.booleans())
    assert min(ended["read"], ended["refused"]) > 0, "either nothing was read or nothing was refused"


MODELS = [made for made in vars(models).values() if isinstance(made, type) and issubclass(made, Description)]
KINDS = sorted(made.kind for made in MODELS if hasattr(made, "kind"))
FIELDS = sorted({name for made in MODELS for name in made.model_fields})
OBJECTS = st.recursive(
    JSON,
    lambda inner: st.fixed_dictionaries(
        {"kind": st.sampled_from(KINDS)},
        optional=dict.fromkeys(FIELDS[:12], inner) | {"version": st.sampled_from([1, 2, "1", None])},
    ),
    max_leaves=3,
)
DESCRIPTIONS = st.one_of(
    st.tuples(st.sampled_from(KINDS), st.dictionaries(st.sampled_from(FIELDS), OBJECTS, max_size=4)).map(
        lambda made: {"kind": made[0], **made[1]}
    ),
    altered(models.Perceptron(widths=(2, 3, 2)).describe()),
    altered(models.OddOneOutNet(encoder=models.Perceptron(widths=(2, 3))).describe()),
    JSON,
)


def describe(given: Any) -> None:
    with or_refused(InputError):
        made = described(json.loads(json.dumps(given)))
        assert described(json.loads(json.dumps(made.describe()))).address == made.address


def test_any_description(fuzz: Any) -> None:
    ended = fuzz(200, describe, DESCRIPTIONS)
    assert min(ended["read"], ended["refused"]) > 0, "either nothing was read or nothing was refused"


FOUND = [
    # Found by fuzzing; each once ended in more than one sentence.
    {"kind": "odd one out network", "encoder": {}},
]


@pytest.mark.parametrize("made", FOUND)
def test_what_was_found(made: Any) -> None:
    with pytest.raises(InputError):
        described(made)
