"""Every public name of the package has an example, and the examples that are sessions print what they show."""

from __future__ import annotations

import doctest
import inspect

import pytest

import recombine as rc

NAMES = [name for name in dir(rc) if not name.startswith("_") and not inspect.ismodule(getattr(rc, name))]


@pytest.mark.parametrize("name", NAMES)
def test_an_example_prints_what_it_shows(name: str) -> None:
    value = getattr(rc, name)
    words = inspect.getdoc(value) or ""
    assert ">>>" in words or "\n    " in words, "no example"
    example = doctest.DocTestParser().get_doctest(words, {name: value}, name, None, None)
    told: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=told.append)
    assert not told, "".join(told)
