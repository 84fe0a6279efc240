"""The study at smoke scale: every claim judged, nothing trained twice, committed results that verify themselves."""

from __future__ import annotations

import dataclasses
import json
import math
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from recombine.errors import InputError
from recombine.reporting import write_study
from recombine.runs import Store, get_or_compute
from recombine.runs.training import TrainingRun
from recombine.studies import SCALES, STUDIES, StudyResult, conduct, find_study, verify
from recombine.studies.claims import Sign
from recombine.studies.gradient_toy import SETTINGS, STUDY
from recombine.studies.verification import study_record

MEMBERS = 6


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(tmp_path_factory.mktemp("studies") / "store")


@pytest.fixture(scope="module")
def result(store: Store) -> StudyResult:
    return conduct(STUDY, "smoke", store=store, members=MEMBERS, device="cpu")


@pytest.fixture(scope="module")
def committed(result: StudyResult, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that are verified, without the page and its pictures, which cost seconds."""
    folder = tmp_path_factory.mktemp("results") / "gradient-toy"
    (folder / "tables").mkdir(parents=True)
    for name, table in result.tables.items():
        table.write_parquet(folder / "tables" / f"{name}.parquet")
    (folder / "claims.json").write_text(result.to_json(), encoding="utf-8")
    (folder / "study.json").write_text(json.dumps(study_record(result)), encoding="utf-8")
    return folder


@pytest.fixture
def copy(committed: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(committed, tmp_path / "copy"))


def test_every_claim_is_judged(result: StudyResult) -> None:
    assert [claim.claim.id for claim in result.claims] == [claim.id for claim in STUDY.claims]
    assert {claim.status for claim in result.claims} <= {"holds", "fails", "not fitted"}
    assert sum(result.counts().values()) == len(STUDY.claims)
    assert all(claim.members == MEMBERS for claim in result.claims)
    frame = result.to_frame()
    assert len(frame) == len(STUDY.claims)
    assert json.loads(result.to_json())["study"] == "gradient-toy"


def test_the_resistance_shows_even_in_few_members(result: StudyResult) -> None:
    """Fixed seeds, and effects of many standard errors: what the paper is about is there at the smallest scale."""
    accuracy = result.tables["accuracy"].filter(pl.col("setting") == SETTINGS["redundant"])
    dip = accuracy.group_by("member").agg(pl.col("quarter_11").min())["quarter_11"]
    assert dip.max() < 0.4  # type: ignore[operator]
    end = accuracy.filter(pl.col("step") == pl.col("step").max())
    control = result.tables["accuracy"].filter(pl.col("setting") == SETTINGS["uninformative"])
    control_end = control.filter(pl.col("step") == pl.col("step").max())
    gained = control_end.sort("member")["quarter_11"] - end.sort("member")["quarter_11"]
    assert gained.mean() > 5 * gained.std() / math.sqrt(MEMBERS) or gained.mean() > 0.05  # type: ignore[operator]


def test_tables_have_their_columns_and_all_settings(result: StudyResult) -> None:
    columns = {
        "accuracy": ["setting", "member", "step", "other_quarters", "quarter_11", "fitted", "bend"],
        "influence": ["setting", "member", "input", "influence", "step"],
        "boundary": ["setting", "member", "x2", "x1", "step"],
        "map": ["setting", "step", "x1", "x2", "share"],
    }
    assert {name: table.columns for name, table in result.tables.items()} == columns
    for table in result.tables.values():
        assert set(table["setting"]) == set(SETTINGS.values())
    accuracy = result.tables["accuracy"].filter(pl.col("setting") == SETTINGS["redundant"])
    assert accuracy["step"].unique().sort().to_list() == [0, 1, 2, 4, 8, 16, 32, 64, 128, 256]
    assert len(accuracy) == 10 * MEMBERS
    share = result.tables["map"]["share"]
    assert 0 <= share.min() <= share.max() <= 1  # type: ignore[operator]


def test_provenance_says_how_each_run_was_made(result: StudyResult) -> None:
    assert set(result.provenance) == set(SETTINGS)
    for run in result.provenance.values():
        assert {"address", "members", "steps", "strategy", "stack", "device"} <= set(run)
        assert run["strategy"] == "stacked"
    assert result.command == f"recombine study run gradient-toy --scale smoke --members {MEMBERS}"


def test_changing_a_threshold_trains_nothing(
    result: StudyResult, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TrainingRun, "compute", lambda *_: pytest.fail("trained again"))
    claims = tuple(dataclasses.replace(claim, criterion=Sign("above", 1e9)) for claim in STUDY.claims)
    strict = conduct(dataclasses.replace(STUDY, claims=claims), "smoke", store=store, members=MEMBERS, device="cpu")
    assert {claim.status for claim in strict.claims} == {"fails"}
    assert all(table.equals(strict.tables[name]) for name, table in result.tables.items())
    again = conduct(STUDY, "smoke", store=store, members=MEMBERS, device="cpu")
    assert [c.to_dict() for c in again.claims] == [c.to_dict() for c in result.claims]


@pytest.mark.parametrize("name", SETTINGS)
def test_tables_of_a_single_run(result: StudyResult, store: Store, name: str) -> None:
    one = STUDY.tables(get_or_compute(store, {name: STUDY.runs("smoke", MEMBERS)[name]}, device="cpu"))
    for title, table in one.items():
        assert table.equals(result.tables[title].filter(pl.col("setting") == SETTINGS[name]))


def test_a_member_that_diverged_is_no_evidence(result: StudyResult, store: Store) -> None:
    """The playground's runs have no threshold: a member with no finite loss must still be left out."""

    class Changed:
        def __init__(self, run: Any, name: str) -> None:
            self.run, self.name = run, name

        def table(self, title: str) -> pl.DataFrame:
            table: pl.DataFrame = self.run.table(title)
            if title == "members" and "playground" in self.name:
                table = table.with_columns(
                    pl.when(pl.col("member") == 1).then(7).otherwise(None).cast(pl.Int64).alias("diverged_at")
                )
            return table

    stored = get_or_compute(store, dict(STUDY.runs("smoke", MEMBERS)), device="cpu")
    tables = STUDY.tables({name: Changed(run, name) for name, run in stored.items()})  # type: ignore[misc]
    claim = next(c for c in STUDY.claims if c.id == "toy-playground").evaluate(tables)
    before = next(c for c in result.claims if c.claim.id == "toy-playground")
    assert (before.fitted, claim.fitted, claim.members) == (MEMBERS, MEMBERS - 1, MEMBERS)


def _along(rows: dict[int, dict[int, float]]) -> dict[str, pl.DataFrame]:
    """Accuracy on the unseen quarter by member and step, in the redundant setting."""
    table = [
        {"setting": SETTINGS["redundant"], "member": m, "step": step, "quarter_11": value, "fitted": True}
        for m, curve in rows.items()
        for step, value in curve.items()
    ]
    return {"accuracy": pl.DataFrame(table)}


def _judged(name: str, tables: dict[str, pl.DataFrame]) -> Any:
    return next(claim for claim in STUDY.claims if claim.id == name).evaluate(tables)


def test_steps_are_compared_member_by_member() -> None:
    """Each member loses .1 in the first step; one was not measured after it, and another not before."""
    tables = _along({0: {0: 0.9, 1: 0.8, 2: 0.5}, 1: {0: 0.2}, 2: {0: 0.5, 1: 0.4, 2: 0.5}, 3: {1: 0.9, 2: 0.5}})
    first = _judged("toy-first-step", tables)
    assert first.figure.values == pytest.approx((-0.1, -0.1))
    assert (first.fitted, first.members, first.status) == (2, 4, "not fitted")
    assert _judged("toy-stable", tables).figure.values == pytest.approx((0.3, 0.1, 0.4))


def test_a_dip_can_be_missing() -> None:
    """Networks that rise all the way do not dip, wherever they start; and a shallow dip is not a deep one."""
    rising = {m: {0: 0.0, 1: 0.9, 2: 0.95, 3: 1.0} for m in range(4)}
    assert _judged("toy-dip", _along(rising)).status == "fails"
    shallow = {m: {0: 0.9, 1: 0.6, 2: 0.7, 3: 0.9 + 0.01 * m} for m in range(4)}
    assert _judged("toy-dip", _along(shallow)).status == "fails"
    deep = {m: {0: 0.9, 1: 0.1, 2: 0.7, 3: 0.9 + 0.01 * m} for m in range(4)}
    found = _judged("toy-dip", _along(deep))
    assert (found.status, found.figure.values) == ("holds", pytest.approx((0.8, 0.81, 0.82, 0.83)))


def test_runs_of_the_three_scales() -> None:
    members = {scale: STUDY.runs(scale, None)["redundant"].members for scale in SCALES}  # type: ignore[attr-defined]
    assert members["quick"] >= 256
    assert members["smoke"] < members["quick"] < members["paper"]
    addresses = {run.address for scale in SCALES for run in STUDY.runs(scale, None).values()}
    assert len(addresses) == 3 * len(SETTINGS)
    assert STUDY.runs("smoke", 6)["redundant"].address == STUDY.runs("smoke", 6)["redundant"].address


@pytest.mark.parametrize("members", [-1, 0, 1])
def test_too_few_members_are_refused(tmp_path: Path, members: int) -> None:
    with pytest.raises(InputError, match="at least 2 members"):
        conduct(STUDY, "smoke", store=Store(tmp_path), members=members)


def test_unknown_scales_and_studies(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="smoke, quick, paper, not 'large'"):
        conduct(STUDY, "large", store=Store(tmp_path))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="unknown study 'gradient-toi'; did you mean 'gradient-toy'"):
        find_study("gradient-toi")
    with pytest.raises(InputError, match="'gradient-toy' is not a study; find_study"):
        conduct("gradient-toy", "smoke", store=Store(tmp_path))  # type: ignore[arg-type]
    assert find_study("gradient-toy") is STUDIES["gradient-toy"] is STUDY


def test_every_figure_can_be_drawn(result: StudyResult) -> None:
    for figure in STUDY.figures:
        assert figure.draw(figure.rows(result.tables[figure.table])).to_dict()["$schema"]


def test_fresh_results_verify(result: StudyResult, tmp_path: Path) -> None:
    assert write_study(result, tmp_path).is_file()
    found = verify(STUDY, tmp_path)
    assert found.problems == ()
    assert found.claims == len(STUDY.claims)
    assert found.compared == 6 * (3 + 2)  # six early steps: three figures of accuracy, two influences
    assert found.again in SETTINGS


def change_claims(folder: Path, change: Any) -> None:
    data = json.loads((folder / "claims.json").read_text("utf-8"))
    change(data["claims"])
    (folder / "claims.json").write_text(json.dumps(data), encoding="utf-8")


@pytest.fixture
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the member trained again is not what is looked at."""
    monkeypatch.setattr("recombine.studies.verification._again", lambda *_: ("none", 1, []))


@pytest.mark.usefixtures("quickly")
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda claims: claims[1].update(measured=claims[1]["measured"] + 1e-6), "claim toy-gap: measured is"),
        (lambda claims: claims[1].update(status="not fitted"), "claim toy-gap: status is"),
        (lambda claims: claims[1].update(members=4096), "claim toy-gap: members is"),
        (lambda claims: claims[0].update(sentence="Nothing is wrong."), "claim toy-wrong-quarter: sentence"),
        (lambda claims: claims[2].update(low=None), "claim toy-resistance: low is"),
        (lambda claims: claims.pop(3), "claim toy-bend: declared, but not among the committed ones"),
        (lambda claims: claims.append({"id": "toy-new"}), "claim toy-new: committed, but no longer declared"),
    ],
)
def test_a_changed_claim_is_found(copy: Path, change: Any, words: str) -> None:
    change_claims(copy, change)
    (problem,) = verify(STUDY, copy).problems
    assert words in problem


@pytest.mark.usefixtures("quickly")
def test_a_changed_table_is_found_by_the_claims(copy: Path) -> None:
    path = copy / "tables" / "accuracy.parquet"
    table = pl.read_parquet(path)
    last = (pl.col("step") == 256) & (pl.col("member") == 5)
    table.with_columns(
        pl.when(last).then(pl.col("quarter_11") - 0.01).otherwise(pl.col("quarter_11")).alias("quarter_11")
    ).write_parquet(path)
    problems = verify(STUDY, copy).problems
    assert any("claim toy-gap: measured is" in problem for problem in problems)


def test_a_changed_table_is_found_by_training_a_member_again(copy: Path) -> None:
    path = copy / "tables" / "influence.parquet"
    table = pl.read_parquet(path)
    early = (pl.col("step") == 4) & (pl.col("member") == 0)
    table.with_columns(
        pl.when(early).then(pl.col("influence") + 0.1).otherwise(pl.col("influence")).alias("influence")
    ).write_parquet(path)
    path = copy / "tables" / "accuracy.parquet"
    table = pl.read_parquet(path)
    kept = ~((pl.col("step") == 8) & (pl.col("member") == 0))
    table.filter(kept).write_parquet(path)
    problems = verify(STUDY, copy).problems
    assert any("member 0 differs from the committed table 'influence' by 0.1" in p for p in problems)
    assert any("has 1 figures in 'quarter_11' that the committed table 'accuracy' lacks" in p for p in problems)


@pytest.mark.usefixtures("quickly")
def test_a_changed_description_is_found(copy: Path) -> None:
    record = json.loads((copy / "study.json").read_text("utf-8"))
    record["runs"]["redundant"]["address"] = "0" * 64
    (copy / "study.json").write_text(json.dumps(record), encoding="utf-8")
    (problem,) = verify(STUDY, copy).problems
    assert problem == "run redundant: its description has changed since the results were committed"


def remove_table(folder: Path) -> None:
    (folder / "tables" / "accuracy.parquet").unlink()


def break_table(folder: Path) -> None:
    (folder / "tables" / "accuracy.parquet").write_bytes(b"PAR1")


def break_claims(folder: Path) -> None:
    (folder / "claims.json").write_text("[]", encoding="utf-8")


def no_claims(folder: Path) -> None:
    (folder / "claims.json").write_text("{}", encoding="utf-8")


def no_record(folder: Path) -> None:
    (folder / "study.json").unlink()


def other_study(folder: Path) -> None:
    (folder / "study.json").write_text('{"study": "another"}', encoding="utf-8")


def poor_record(folder: Path) -> None:
    (folder / "study.json").write_text('{"study": "gradient-toy"}', encoding="utf-8")


@pytest.mark.parametrize(
    "damage", [remove_table, break_table, break_claims, no_claims, no_record, other_study, poor_record]
)
def test_folders_that_hold_no_results_are_refused(copy: Path, damage: Any) -> None:
    damage(copy)
    with pytest.raises(InputError) as caught:
        verify(STUDY, copy)
    assert "\n" not in str(caught.value)
