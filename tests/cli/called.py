"""What commands on studies are called on, and how a refusal looks."""

from __future__ import annotations

from collections.abc import Callable

from recombine.studies import STUDIES

TOY = STUDIES["gradient-toy"]
Call = Callable[..., tuple[int, str, str]]


def refused(answer: tuple[int, str, str]) -> str:
    code, out, err = answer
    assert (code, out) == (2, "")
    assert err.startswith("recombine: ")
    assert err.count("\n") == 1
    return err
