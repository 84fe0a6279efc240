"""A page that is written again is not drawn again, and is the same page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from recombine.figures.cache import cached_in
from recombine.reporting import drawing, overview_page, study_page, write_overview
from recombine.studies import STUDIES, Study, StudyResult, find_study
from recombine.studies.charts import dots
from recombine.studies.finding import ships


@pytest.fixture
def known(result: StudyResult, monkeypatch: pytest.MonkeyPatch) -> StudyResult:
    """A result of a study of this package, whose code the cache knows; of few members, for what is drawn so often."""
    study = replace(result.study, figures=result.study.figures[:2])
    monkeypatch.setattr("recombine.studies.finding.STUDIES", {study.name: study})
    assert ships(study)
    few = {name: table.filter(pl.col("member") < 12) if "member" in table.columns else table
           for name, table in result.tables.items()}  # fmt: skip
    return replace(result, study=study, claims=result.claims[:2], tables=few)


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


def test_a_study_from_elsewhere_is_always_drawn(known: StudyResult, tmp_path: Path) -> None:
    """Also where it was made of one of this package: by its name it could not be told apart."""

    def page(study: Study[Any]) -> str:
        shown = replace(known, study=study)
        return overview_page([shown]) + study_page(shown)

    shipped, (first, second) = known.study, known.study.figures
    fewer = replace(first, draw=lambda rows: first.draw(rows.head(40)))
    ours = dots(second.id, second.title, table=second.table, value="accuracy", axis="accuracy", caption=second.caption)
    with cached_in(tmp_path / "cache"):
        before = page(shipped)
        for name, changed in {
            "draw": replace(shipped, figures=(fewer, second)),
            "rows": replace(shipped, figures=(replace(first, rows=lambda table: table.head(40)), second)),
            "in our charts": replace(shipped, figures=(first, ours)),
            "in short": replace(shipped, in_short=lambda rows: rows.head(40)),
        }.items():
            assert not ships(changed)
            assert page(changed) != before, name
        assert page(shipped) == before


def test_every_study_of_this_package_is_found_again_in_the_cache() -> None:
    assert all(ships(study) and ships(find_study(name)) for name, study in STUDIES.items())
