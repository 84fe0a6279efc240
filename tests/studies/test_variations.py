"""A study made of another with `dataclasses.replace`: it says what it changes, and takes over no verdict or reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import recombine as rc
from recombine.errors import InputError
from recombine.reporting.overview import overall, write_overview
from recombine.reporting.study import called, study_view
from recombine.studies import Claim, Setting, StudyResult, cells, find_study
from recombine.studies.committed import read_results, read_tables
from recombine.studies.gradient_toy import STUDY
from recombine.studies.running import OF_COMMITTED, judged, run_study
from recombine.studies.tables import derived

RESULTS = Path(__file__).parents[2] / "results"
Settings = Callable[[Any, int | None], Mapping[str, Setting]]


def with_adam(size: Any, members: int | None) -> Mapping[str, Setting]:
    settings = STUDY.settings(size, members)
    return {name: replace(s, run=s.run.replace(optimizer=rc.Adam(lr=0.01))) for name, s in settings.items()}


def part_of(study: Any, *names: str) -> Settings:
    return lambda size, members: {n: s for n, s in study.settings(size, members).items() if n in names}


@pytest.fixture(scope="module")
def committed() -> StudyResult:
    return read_results(RESULTS / "gradient-toy")


@pytest.fixture(scope="module")
def varied(committed: StudyResult) -> StudyResult:
    """The committed numbers, as if other runs had given them."""
    return judged(replace(committed, study=replace(STUDY, name="adam-toy", settings=with_adam, figures=())))


def test_what_a_variation_changes_is_found_in_the_descriptions_of_its_runs(
    committed: StudyResult, varied: StudyResult
) -> None:
    assert varied.changes == ("optimizer is adam (lr 0.01), not sgd (lr 0.1), in all 7 runs",)
    assert committed.changes == ()
    few = replace(STUDY, name="few", settings=part_of(STUDY, "redundant"), claims=STUDY.claims[1:])
    told = replace(committed, study=few).changes
    assert told[0].startswith("not run here: uninformative, redundant-playground")
    assert told[1] == "claims not asked here: toy-wrong-quarter"


def test_a_variation_is_named_and_counted_apart_and_explains_nothing(
    committed: StudyResult, varied: StudyResult
) -> None:
    assert called(varied.study) == "adam-toy, made of gradient-toy"
    assert called(committed.study) == ""
    assert varied.command.startswith("rc.run_study(STUDY, 'paper')")
    assert any(claim.explanation for claim in committed.claims)
    assert not any(claim.explanation for claim in varied.claims)
    assert overall([committed, varied]).count("Of 9 claims of the papers 8 hold and 1 fails.") == 1
    assert "Of 9 claims of the papers, asked of a variation, 8 hold" in overall([committed, varied])


def test_reasons_say_of_which_runs_they_speak_where_these_are_others(committed: StudyResult) -> None:
    few = judged(replace(committed, members=64))
    for small, large in zip(few.claims, committed.claims, strict=True):
        assert small.explanation == (OF_COMMITTED + large.explanation if large.explanation else "")


def test_other_figures_or_titles_make_no_variation() -> None:
    assert replace(STUDY, title="Mine", figures=(), precision="tf32", claims=STUDY.claims[:2]).varies is None
    assert replace(replace(STUDY, settings=with_adam), title="Mine").varies is STUDY


@pytest.mark.parametrize("name", ["gradient-descent", "forced-rendering"])
def test_a_part_of_a_study_judges_and_draws_what_was_run(name: str) -> None:
    """Tables of every second run: what they do not tell is not run, and no error."""
    study = find_study(name)
    runs = list(study.planned("paper"))[::2]
    some = replace(study, name="part", settings=part_of(study, *runs))
    tables = {n: t.filter(pl.col("run").is_in(runs)) for n, t in read_tables(study, RESULTS / name).items()
              if n in study.tables}  # fmt: skip
    # What no run gave is no column, as where only these had been run.
    tables = {n: t.select(c for c in t.columns if t[c].null_count() < t.height) for n, t in tables.items()}
    if name == "gradient-descent":
        with pytest.raises(pl.exceptions.ColumnNotFoundError):
            derived(study, tables)
    statuses = [claim.status for claim in some.judge(derived(some, tables), some.planned("paper"))]
    assert {"holds", "not run"} <= set(statuses)


def test_figures_that_cannot_be_drawn_of_a_part_are_named(committed: StudyResult) -> None:
    only = {name: t.filter(pl.col("run") == "redundant-many") for name, t in committed.tables.items() if name == "ends"}
    some = replace(STUDY, name="part", settings=part_of(STUDY, "redundant-many"))
    view = study_view(judged(replace(committed, study=some, tables=only)))
    assert [chart["figure"].id for chart in view["charts"]] == ["tails"]
    assert view["undrawn"] == [figure.id for figure in STUDY.figures if figure.id != "tails"]


def test_notes_of_claims_that_were_left_out_are_not_used_and_misspelt_ones_are_refused() -> None:
    assert "toy-stable" in STUDY.notes.reasons
    fewer = replace(STUDY, claims=STUDY.claims[:1])
    assert [claim.id for claim in fewer.claims] == ["toy-wrong-quarter"]
    with pytest.raises(InputError, match="did you mean 'toy-stable'"):
        replace(STUDY, notes=replace(STUDY.notes, reasons={"toy-stabel": ("", "")}))


def test_a_column_that_ones_own_claim_misspells_is_an_error_that_lists_the_columns(varied: StudyResult) -> None:
    mine = Claim("mine", "Mine.", cells("quarter11", "accuracy").above(0), whose="ours")
    with pytest.raises(InputError, match=r"'mine'.*quarter11.*accuracy has run, .*quarter_11.*stored"):
        replace(varied.study, claims=(mine,)).judge(varied.tables, {})


def test_too_few_networks_to_ask_is_not_run_and_never_not_fitted(committed: StudyResult) -> None:
    few = {name: t.filter(pl.col("member") < 256) if "member" in t.columns else t
           for name, t in committed.tables.items()}  # fmt: skip
    rare = [claim for claim in STUDY.judge(few, {}) if claim.claim.test.tables == {"ends"}]
    assert [(c.status, c.fitted, c.members, c.needs) for c in rare] == 3 * [("not run", 256, 256, 10_000)]


def test_two_studies_of_one_name_are_not_written_over_each_other(committed: StudyResult, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="two studies are called 'gradient-toy'"):
        write_overview([committed, committed], tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_file_that_imports_the_one_beside_it_is_told_how(tmp_path: Path) -> None:
    (tmp_path / "beside_it.py").touch()
    (tmp_path / "imports_it.py").write_text("import beside_it\n")
    with pytest.raises(InputError, match=f"set PYTHONPATH='{tmp_path}'"):
        find_study(str(tmp_path / "imports_it.py"))


def test_a_bar_over_all_runs_where_somebody_can_see_it(shared_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[float, int]] = []

    @contextmanager
    def told(_: None, title: str) -> Iterator[Callable[[float, int], None]]:
        assert title == "7 runs"
        yield lambda done, total: seen.append((done, total))

    monkeypatch.setattr("recombine.studies.running.told", told)
    how: Any = {"store": shared_store, "members": 2, "device": "cpu"}
    run_study("gradient-toy", "smoke", **how)
    assert seen == []
    monkeypatch.setattr("recombine.studies.running.watched", lambda: True)
    ended: list[str] = []
    run_study("gradient-toy", "smoke", on_done=lambda name, _: ended.append(name), **how)
    assert [total for _, total in seen] == [7] * len(seen)
    assert seen[-1][0] == len(ended) == 7
    seen.clear()
    run_study("gradient-toy", "smoke", progress=lambda *_: None, **how)
    assert seen == []
