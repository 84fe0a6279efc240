"""A page that is written again is not drawn again, and is the same page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from recombine.figures.cache import cached_in
from recombine.reporting import drawing, write_overview
from recombine.studies.study import StudyResult


@pytest.fixture
def known(result: StudyResult) -> StudyResult:
    """A result of a study of this package, whose code the cache knows."""
    study = replace(result.study, figures=result.study.figures[:2])
    assert study.ships
    return replace(result, study=study, claims=result.claims[:2])


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_the_second_page_is_the_first_and_nothing_is_drawn(
    known: StudyResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with cached_in(tmp_path / "cache"):
        write_overview([known], tmp_path / "first")

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("this was drawn before")

    for name in ("responsive", "inline_svg", "figure_files", "column_files"):
        monkeypatch.setattr(drawing, name, refuse)
    with cached_in(tmp_path / "cache"):
        write_overview([known], tmp_path / "second")
    assert contents(tmp_path / "first") == contents(tmp_path / "second")
    with pytest.raises(AssertionError, match="drawn before"):
        write_overview([known], tmp_path / "third")


def test_other_numbers_or_other_code_are_drawn_again(
    known: StudyResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[str] = []
    told = drawing.responsive
    monkeypatch.setattr(drawing, "responsive", lambda *a: drawn.append(a[3]) or told(*a))

    def write(result: StudyResult) -> int:
        drawn.clear()
        with cached_in(tmp_path / "cache"):
            write_overview([result], tmp_path / "out")
        return len(drawn)

    assert write(known) == 3
    assert write(known) == 0
    name = known.study.figures[0].table
    changed = known.tables[name].with_columns(pl.selectors.float().first() * 1.001)
    assert write(replace(known, tables={**known.tables, name: changed})) == 1
    monkeypatch.setattr(drawing, "_code", lambda: "another version")
    assert write(known) == 3


def test_a_study_from_elsewhere_is_always_drawn(result: StudyResult, tmp_path: Path) -> None:
    study = replace(result.study, figures=result.study.figures[:1])
    with cached_in(tmp_path / "cache"):
        write_overview([replace(result, study=study)], tmp_path / "out")
        red = replace(
            study, figures=(replace(study.figures[0], draw=lambda rows: study.figures[0].draw(rows.head(40))),)
        )
        write_overview([replace(result, study=red)], tmp_path / "again")
    assert contents(tmp_path / "out")["index.html"] != contents(tmp_path / "again")["index.html"]
