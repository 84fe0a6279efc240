"""The study at smoke scale: every claim judged, nothing trained twice, committed results that verify themselves."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from recombine.errors import InputError
from recombine.runs import Store, get_or_compute
from recombine.runs.training import TrainingRun
from recombine.studies import STUDIES, StudyResult, find_study, gradient_toy, run_study, verify
from recombine.studies.committed import read_results, renew
from recombine.studies.gradient_toy import STUDY
from recombine.studies.tables import tables_of
from recombine.studies.verification import study_record

MEMBERS = 2
RUNS = tuple(STUDY.runs("smoke"))


@pytest.fixture(scope="module")
def store(toy_store: Path) -> Store:
    return Store(toy_store)


@pytest.fixture(scope="module")
def result(store: Store) -> StudyResult:
    return run_study(STUDY, "smoke", store=store, members=MEMBERS, device="cpu")


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


def test_the_resistance_shows_even_in_few_members(result: StudyResult) -> None:
    """Fixed seeds, and effects of many standard errors: what the paper is about is there at the smallest scale."""
    accuracy = result.tables["accuracy"].filter(pl.col("run") == "redundant")
    dip = accuracy.group_by("member").agg(pl.col("quarter_11").min())["quarter_11"]
    assert dip.max() < 0.4  # type: ignore[operator]
    end = accuracy.filter(pl.col("step") == pl.col("step").max())
    control = result.tables["accuracy"].filter(pl.col("run") == "uninformative")
    control_end = control.filter(pl.col("step") == pl.col("step").max())
    gained = control_end.sort("member")["quarter_11"] - end.sort("member")["quarter_11"]
    assert gained.mean() > 5 * gained.std() / math.sqrt(MEMBERS) or gained.mean() > 0.05  # type: ignore[operator]


def test_tables_have_their_columns_and_all_settings(result: StudyResult) -> None:
    columns = {
        "accuracy": ["run", "setting", "member", "step", "other_quarters", "quarter_11", "bend", "fitted"],
        "influence": ["run", "setting", "member", "input", "influence", "step", "fitted"],
        "boundary": ["run", "setting", "member", "x2", "x1", "step", "fitted"],
        "map": ["run", "setting", "step", "x1", "x2", "share"],
        "ends": ["run", "setting", "member", "quarter_11", "fitted"],
    }
    assert {name: table.columns for name, table in result.tables.items()} == columns
    many = {"redundant-many", "uninformative-many"}
    for name, table in result.tables.items():
        assert set(table["run"]) == (many if name == "ends" else set(RUNS) - many)
    accuracy = result.tables["accuracy"].filter(pl.col("run") == "redundant")
    assert accuracy["step"].unique().sort().to_list() == [0, 1, 2, 4, 8, 16, 32, 64, 128, 256]
    assert len(accuracy) == 10 * MEMBERS
    share = result.tables["map"]["share"]
    assert 0 <= share.min() <= share.max() <= 1  # type: ignore[operator]


def test_provenance_says_how_each_run_was_made(result: StudyResult) -> None:
    assert set(result.provenance) == set(RUNS)
    for run in result.provenance.values():
        assert {"address", "members", "steps", "strategy", "stack", "device"} <= set(run)
        assert run["strategy"] == "stacked"
    assert result.command == f"recombine study run gradient-toy --scale smoke --members {MEMBERS}"


def test_changing_a_threshold_trains_nothing(
    result: StudyResult, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TrainingRun, "compute", lambda *_: pytest.fail("trained again"))
    claims = tuple(
        dataclasses.replace(claim, test=claim.test.quantities[0].above(1e9, nothing=0.0)) for claim in STUDY.claims
    )
    strict = run_study(dataclasses.replace(STUDY, claims=claims), "smoke", store=store, members=MEMBERS, device="cpu")
    judged = [new for new, old in zip(strict.claims, result.claims, strict=True) if old.status != "not run"]
    assert len(judged) == len(STUDY.claims) - 4  # rare outcomes need more networks, epochs more steps
    assert {claim.status for claim in judged} == {"fails"}
    assert all(table.equals(strict.tables[name]) for name, table in result.tables.items())
    again = run_study(STUDY, "smoke", store=store, members=MEMBERS, device="cpu")
    assert [c.to_dict() for c in again.claims] == [c.to_dict() for c in result.claims]


@pytest.mark.parametrize("name", RUNS)
def test_tables_of_a_single_run(result: StudyResult, store: Store, name: str) -> None:
    settings = STUDY.planned("smoke", MEMBERS)
    one = tables_of(STUDY, settings, get_or_compute(store, {name: settings[name].run}, device="cpu"))
    for title, table in one.items():
        assert table.equals(result.tables[title].filter(pl.col("run") == name))


def test_a_member_that_diverged_is_no_evidence(result: StudyResult) -> None:
    """The playground's runs have no threshold: a member with no finite loss must still be left out."""
    lost = (pl.col("run") == "redundant-playground") & (pl.col("member") == 1)
    accuracy = result.tables["accuracy"].with_columns(pl.when(lost).then(False).otherwise("fitted").alias("fitted"))
    claim = _judged("toy-playground", {"accuracy": accuracy})
    before = next(c for c in result.claims if c.claim.id == "toy-playground")
    assert (before.fitted, claim.fitted, claim.members) == (MEMBERS, MEMBERS - 1, MEMBERS)
    assert claim.everyone == before.figure


def _along(rows: dict[int, dict[int, float]]) -> dict[str, pl.DataFrame]:
    """Accuracy on the unseen quarter by member and step, in the redundant setting."""
    table = [
        {"run": "redundant", "member": m, "step": step, "quarter_11": value, "fitted": True}
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


def test_very_many_networks_are_the_same_networks(result: StudyResult, store: Store) -> None:
    """Member by member they end as the others do; of their losses nothing is kept."""
    of_run, last = pl.col("run") == "redundant", pl.col("step") == pl.col("step").max()
    usual = result.tables["accuracy"].filter(of_run).filter(last).sort("member")["quarter_11"]
    ends = result.tables["ends"].filter(pl.col("run") == "redundant-many").sort("member")["quarter_11"]
    assert ends.to_list() == usual.to_list()
    run = STUDY.runs("smoke", MEMBERS)["redundant-many"]
    assert set(get_or_compute(store, {"many": run}, device="cpu")["many"].tables) == {"members", "per_combination"}


def test_a_tail_is_told_from_a_bell_curve() -> None:
    drawn = 0.9 + 0.02 * np.random.default_rng(0).normal(size=40_000).clip(-4.5, 4.5)

    def status(values: Any, fitted: Any = True) -> str:
        columns = {"run": "redundant-many", "member": np.arange(len(values)), "quarter_11": values, "fitted": fitted}
        return str(_judged("toy-tail", {"ends": pl.DataFrame(columns)}).status)

    assert status(drawn) == "fails"
    rare = np.append(drawn, [0.4] * 6)
    assert status(rare) == "holds"
    assert status(rare, rare > 0.5) == "fails", "what did not learn is no evidence"
    lost = np.append(rare, [0.0] * 2000)
    assert status(lost, lost > 0) == "holds", "nor does it widen what is expected"


@pytest.mark.parametrize("members", [-1, 0, 1])
def test_too_few_members_are_refused(tmp_path: Path, members: int) -> None:
    with pytest.raises(InputError, match="at least 2 members"):
        run_study(STUDY, "smoke", store=Store(tmp_path), members=members)


def test_unknown_scales_and_studies(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="smoke, quick, paper, not 'large'"):
        run_study(STUDY, "large", store=Store(tmp_path))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="unknown study 'gradient-toi'; did you mean 'gradient-toy'"):
        find_study("gradient-toi")
    with pytest.raises(InputError, match="7 is not a study; give its name, its file, or a Study"):
        run_study(7, "smoke", store=tmp_path)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="devise"):
        run_study(STUDY, "smoke", store=tmp_path, devise="cpu")  # type: ignore[call-arg]
    assert find_study("gradient-toy") is STUDIES["gradient-toy"] is STUDY


def test_results_are_read_back_and_renewed_run_by_run(result: StudyResult, store: Store, copy: Path) -> None:
    """A committed run is replaced by one that the store holds; others keep their rows, whatever the store says."""
    assert [c.to_dict() for c in read_results(copy).claims] == [c.to_dict() for c in result.claims]
    same, fresh = renew(copy, store)
    assert fresh == ()
    assert all(table.equals(same.tables[name]) for name, table in result.tables.items())
    record = json.loads((copy / "study.json").read_text("utf-8"))
    record["runs"]["redundant"]["started"] = "earlier"
    (copy / "study.json").write_text(json.dumps(record), encoding="utf-8")
    path = copy / "tables" / "accuracy.parquet"
    spoilt = pl.read_parquet(path).with_columns(pl.lit(0.5).alias("quarter_11"))
    spoilt.write_parquet(path)
    again, fresh = renew(copy, store)
    assert fresh == ("redundant",)
    kept = again.tables["accuracy"].filter(pl.col("run") != "redundant")
    assert kept["quarter_11"].unique().to_list() == [0.5]
    mine = pl.col("run") == "redundant"
    assert again.tables["accuracy"].filter(mine).equals(result.tables["accuracy"].filter(mine))
    assert again.provenance["redundant"]["started"] == result.provenance["redundant"]["started"]


def test_verify_says_where_a_run_came_from_is_not_known(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recombine.studies.verification._again", lambda *_: ("none", 1, [], False))
    record = json.loads((copy / "study.json").read_text("utf-8"))
    for run in record["runs"].values():
        run.update(commit="abc", versions={"recombine": "1"})
    record["runs"]["redundant"]["commit"] = None
    (copy / "study.json").write_text(json.dumps(record), encoding="utf-8")
    assert verify(STUDY, copy).unknown == ("redundant",)


def test_a_declared_run_may_be_awaited_but_not_lose_its_record(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recombine.studies.verification._again", lambda *_: ("none", 1, [], False))
    record = json.loads((copy / "study.json").read_text("utf-8"))
    del record["runs"]["redundant"]
    (copy / "study.json").write_text(json.dumps(record), encoding="utf-8")
    lost = verify(STUDY, copy)
    assert lost.awaited == ()
    assert "run redundant: its description has changed since the results were committed" in lost.problems
    for path in (copy / "tables").glob("*.parquet"):
        pl.read_parquet(path).filter(pl.col("run") != "redundant").write_parquet(path)
    awaited = verify(STUDY, copy)
    assert awaited.awaited == ("redundant",)
    assert not any(problem.startswith("run redundant") for problem in awaited.problems)


def change_claims(folder: Path, change: Any) -> None:
    data = json.loads((folder / "claims.json").read_text("utf-8"))
    change(data["claims"])
    (folder / "claims.json").write_text(json.dumps(data), encoding="utf-8")


@pytest.fixture
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the member trained again is not what is looked at."""
    monkeypatch.setattr("recombine.studies.verification._again", lambda *_: ("none", 1, [], False))


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
    last = (pl.col("step") == 256) & (pl.col("member") == 1)
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


def break_table(folder: Path) -> None:
    (folder / "tables" / "accuracy.parquet").write_bytes(b"PAR1")


def break_claims(folder: Path) -> None:
    (folder / "claims.json").write_text("[]", encoding="utf-8")


def no_record(folder: Path) -> None:
    (folder / "study.json").unlink()


def other_study(folder: Path) -> None:
    (folder / "study.json").write_text('{"study": "another"}', encoding="utf-8")


def poor_record(folder: Path) -> None:
    (folder / "study.json").write_text('{"study": "gradient-toy"}', encoding="utf-8")


@pytest.mark.parametrize("damage", [break_table, break_claims, no_record, other_study, poor_record])
def test_folders_that_hold_no_results_are_refused(copy: Path, damage: Any) -> None:
    damage(copy)
    with pytest.raises(InputError) as caught:
        verify(STUDY, copy)
    assert "\n" not in str(caught.value)


def test_one_more_family_of_networks_is_a_change_to_one_file(tmp_path: Path) -> None:
    """The diff of the documentation, applied to a copy of the study."""
    page = (Path(__file__).parents[2] / "docs" / "extending" / "a-study.md").read_text("utf-8")
    (diff,) = re.findall(r"```diff\n(.*?)```", page, re.DOTALL)
    assert len(re.findall(r"^--- ", diff, re.MULTILINE)) == 1
    code = Path(gradient_toy.__file__)
    text = code.read_text("utf-8").replace('name="gradient-toy"', 'name="wider-toy"')
    for hunk in diff.split("@@\n")[1:]:
        before, after = ("".join(f"{line[1:]}\n" for line in hunk.splitlines() if line[0] != sign) for sign in "+-")
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    (tmp_path / "wider_toy.py").write_text(text, encoding="utf-8")
    shutil.copy(code.with_suffix(".md"), tmp_path / "wider_toy.md")
    wider = find_study(str(tmp_path / "wider_toy.py"))
    planned = wider.planned("smoke")
    assert set(planned) == {*RUNS, "redundant-wide"}
    assert {name: planned[name].run.address for name in RUNS} == {n: r.address for n, r in STUDY.runs("smoke").items()}
    assert {name: setting.labels["width"] for name, setting in planned.items()} == dict.fromkeys(RUNS, 8) | {
        "redundant-wide": 64
    }
    assert [claim.id for claim in wider.claims] == ["toy-wide-gap", *(claim.id for claim in STUDY.claims)]
