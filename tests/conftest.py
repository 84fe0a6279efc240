"""What all tests share."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

# Two workers with two threads each on two cores wait for each other most of the time, and what they compute is small.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# The same examples every time, and no limit on how long one takes: a busy machine is no finding.
settings.register_profile("recombine", deadline=None, derandomize=True)
settings.load_profile("recombine")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest file first: files go to one worker each, and the last should not be the one all wait for."""
    items.sort(key=lambda item: item.path.name != "test_conformance.py")
