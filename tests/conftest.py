"""What all tests share."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

# Two workers with two threads each on two cores wait for each other most of the time, and what they compute is small.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# The same examples every time, and no limit on how long one takes: a busy machine is no finding.
settings.register_profile("recombine", deadline=None, derandomize=True)
settings.load_profile("recombine")

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
CHROMIUM = next((path for name in BROWSERS if (path := shutil.which(name))), None)
NO_BROWSER = (
    "Playwright is not installed" if importlib.util.find_spec("playwright") is None
    else f"no browser found under the names {', '.join(BROWSERS)}" if CHROMIUM is None else ""
)  # fmt: skip


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """The system's Chromium or Chrome; where there is none, the test is skipped."""
    if NO_BROWSER:
        pytest.skip(NO_BROWSER)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest file first: files go to one worker each, and the last should not be the one all wait for."""
    items.sort(key=lambda item: item.path.name != "test_conformance.py")


def pytest_unconfigure(config: pytest.Config) -> None:
    """The last line says that pages were not tried in a browser: among a thousand dots nobody would see it."""
    if NO_BROWSER and not hasattr(config, "workerinput"):
        print(f"The tests that need a browser were skipped: {NO_BROWSER}.")
