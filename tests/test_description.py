"""Descriptions: frozen, hashed by what they say, and refused where they say something unknown."""

from __future__ import annotations

import inspect
import subprocess
import sys
from typing import Any, ClassVar

import pytest
from hypothesis import given, strategies as st
from pydantic import Field

from recombine.description import Description
from recombine.errors import InputError
from recombine.space import FactorSpace


class Part(Description):
    kind: ClassVar[str] = "part"
    version: ClassVar[int] = 1

    size: float = 1.0


class Whole(Description):
    kind: ClassVar[str] = "whole"
    version: ClassVar[int] = 1

    part: Part = Part()
    count: int = Field(default=2, ge=1)
    names: tuple[str, ...] = ()
    space: FactorSpace | None = None
    settings: dict[str, float | int | str] = Field(default_factory=dict)


class Other(Part):
    kind: ClassVar[str] = "other"


class Newer(Part):
    version: ClassVar[int] = 2


def test_the_address_is_a_function_of_what_is_said() -> None:
    assert len(Part().address) == 64
    assert Part(size=1).address == Part(size=1.0).address == Part().address
    assert Part().address == Whole().part.address
    addresses = {Part().address, Part(size=2).address, Other().address, Newer().address, Whole().address}
    assert len(addresses) == 5
    assert Whole(part=Part(size=3)).address != Whole().address
    assert Whole(settings={"a": 1, "b": 2}).address == Whole(settings={"b": 2.0, "a": 1}).address
    assert Whole(names=("a", "b")).address != Whole(names=("b", "a")).address


def test_the_address_never_changes_silently() -> None:
    assert Part(size=0.5).address == "388afe723888531840d3c09fadb33b0d0095c9f09b18d6120ddffed9d9d11a1b"
    space = FactorSpace.of(a=2)
    assert (
        Whole(part=Part(size=3), names=("é",), space=space).address
        == "54d312f0702c14f108e009529c87e129fccf9b565a78a459dca19237ffdaf0cf"
    )


def test_a_description_is_frozen_equal_and_hashable() -> None:
    one, two = Part(size=3), Part(size=3)
    assert one.address == two.address  # computing it must not make them differ
    assert one == Part(size=3)
    assert len({one, two, Part(size=3)}) == 1
    with pytest.raises(Exception, match="frozen"):
        one.size = 4


def test_replace_checks_like_a_new_one() -> None:
    assert Whole().replace(count=3) == Whole(count=3)
    assert Whole(names=("a",)).replace(count=3).names == ("a",)
    with pytest.raises(InputError, match=r"Whole: count: .* greater than or equal to 1"):
        Whole().replace(count=0)
    with pytest.raises(InputError, match="unknown setting of Whole 'cuont'; did you mean 'count'"):
        Whole().replace(cuont=3)


def test_bad_fields_are_one_sentence() -> None:
    with pytest.raises(InputError, match="unknown setting of Part 'sise'; did you mean 'size'"):
        Part(sise=1)
    with pytest.raises(InputError, match=r"Part: size: .*\(got 'big'\)") as caught:
        Part(size="big")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_number_without_canonical_json_has_no_address(value: float) -> None:
    with pytest.raises(InputError, match="cannot be part of a description"):
        _ = Part(size=value).address


def test_defaults_are_left_out_of_the_address_and_kept_in_the_record() -> None:
    """So that a setting added later does not move what was computed before it existed."""
    assert Whole(count=2, part=Part(), settings={}).describe() == {"kind": "whole", "version": 1}
    assert Whole(count=3).describe() == {"kind": "whole", "version": 1, "count": 3}
    part = {"kind": "part", "version": 1, "size": 1}
    everything = {"part": part, "count": 2, "names": [], "space": None, "settings": {}}
    assert Whole().resolved() == {"kind": "whole", "version": 1, **everything}
    assert Whole(part=Other()).describe()["part"] == {"kind": "other", "version": 1}

    class Later(Part):
        more: int = 4

    assert Later(size=2).address == Part(size=2).address
    assert Later(size=2, more=5).address != Part(size=2).address


def test_nested_descriptions_carry_kind_and_version() -> None:
    assert Whole(part=Newer(size=2)).describe()["part"] == {"kind": "part", "version": 2, "size": 2}
    assert Whole(space=FactorSpace.of(a=2)).describe()["space"] == FactorSpace.of(a=2).to_dict()


class Holder(Description):
    kind: ClassVar[str] = "holder"

    thing: Any


def test_what_is_not_plain_cannot_be_described() -> None:
    with pytest.raises(InputError, match="a object cannot be part of a description"):
        Holder(thing=object()).describe()


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_survive_in_the_address(size: float) -> None:
    assert Part(size=size).address == Part(size=float(repr(size))).address
    assert (Part(size=size).address == Part(size=size + 1).address) == (size == size + 1)


def test_an_address_is_the_same_in_another_process() -> None:
    told = 'Whole(part=Part(size=3), names=("é",), settings={"b": 2, "a": 0.1}).address'
    imports = "from typing import ClassVar\nfrom pydantic import Field\nfrom recombine.description import Description\n"
    imports += "from recombine.space import FactorSpace\n"
    code = imports + inspect.getsource(Part) + inspect.getsource(Whole) + f"print({told})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == eval(told)
