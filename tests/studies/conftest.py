"""What several studies are tested with."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from recombine.studies import StudyResult
from recombine.studies.verification import study_record

Committed = Callable[[StudyResult], Path]


def write_results(result: StudyResult, folder: Path) -> Path:
    """What is verified of committed results, without the page and its pictures, which cost seconds."""
    (folder / "tables").mkdir(parents=True)
    for name, table in result.tables.items():
        table.write_parquet(folder / "tables" / f"{name}.parquet")
    (folder / "claims.json").write_text(result.to_json(), encoding="utf-8")
    (folder / "study.json").write_text(json.dumps(study_record(result)), encoding="utf-8")
    return folder


@pytest.fixture
def committed(tmp_path: Path) -> Committed:
    return lambda result: write_results(result, tmp_path / "committed")
