"""What the fault tests share: the small study undisturbed, and the runs of sums of the tests of the store."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "runs"))

from children import call
from small_study import hashes, run_study

from recombine.runs import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The hashes of the small study's tables where nothing goes wrong."""
    folder = tmp_path_factory.mktemp("undisturbed")
    call(run_study, folder)
    found = hashes(folder)
    assert len(found) == 3 * 4 + 1
    return found
