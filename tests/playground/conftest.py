"""A real browser for the tests of the playground: its modules imported as they lie in the package, and its page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import recombine.playground

SOURCES = Path(recombine.playground.__file__).parent
HOST = "http://playground.test/"


@pytest.fixture(scope="session")
def run(browser: Any) -> Iterator[Callable[..., Any]]:
    """``run(module, source, value)``: calls a function of (module, value), given as source, and returns its answer."""
    page = browser.new_page()

    def serve(route: Any) -> None:
        name = route.request.url.removeprefix(HOST)
        if name.endswith(".js"):
            route.fulfill(body=(SOURCES / name).read_text(encoding="utf-8"), content_type="text/javascript")
        else:
            route.fulfill(body="<!doctype html><title>modules</title>", content_type="text/html")

    page.route("**/*", serve)
    page.goto(HOST)

    def call(module: str, source: str, value: Any = None) -> Any:
        return page.evaluate(
            f"async value => {{ const m = await import('{HOST}{module}.js'); return ({source})(m, value); }}", value
        )

    yield call
    page.close()
