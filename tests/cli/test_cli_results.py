"""Committed results and studies of one's own, from the command line: judged again, renewed, and found by name."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import polars as pl
import pytest
from called import TOY, Call, refused

from recombine.cli.options import STORE
from recombine.figures.cache import recall
from recombine.runs import Store
from recombine.studies import StudyResult, run_study
from recombine.studies.verification import study_record

pytestmark = pytest.mark.usefixtures("plainly")


def committed(result: StudyResult, folder: Path) -> Path:
    """What is kept of committed results, without the pictures, which cost seconds."""
    (folder / "tables").mkdir(parents=True, exist_ok=True)
    for name, table in result.tables.items():
        table.write_parquet(folder / "tables" / f"{name}.parquet")
    (folder / "claims.json").write_text(result.to_json(), encoding="utf-8")
    (folder / "study.json").write_text(json.dumps(study_record(result)), encoding="utf-8")
    return folder


@pytest.fixture
def results(store: Path, tmp_path: Path) -> Path:
    result = run_study(TOY, "smoke", store=store, members=2, device="cpu")
    return committed(result, tmp_path / "results" / "gradient-toy")


def test_verify_tells_by_its_exit_code(call: Call, results: Path) -> None:
    code, out, err = call("study", "verify", results)
    assert (code, err) == (0, "")
    assert out.rstrip().endswith("verified")
    data = json.loads((results / "claims.json").read_text("utf-8"))
    data["claims"][0]["measured"] = -1.0
    (results / "claims.json").write_text(json.dumps(data), encoding="utf-8")
    for stored in (False, True):
        code, out, err = call("study", "verify", results, "--store", "kept", "--json")
        assert (code, err) == (1, "")
        assert len(json.loads(out)["problems"]) == 1
        assert json.loads(out)["stored"] is stored
    assert "of one member that the store had (" in call("study", "verify", results, "--store", "kept")[1]
    assert "'the-moon'" in refused(call("study", "verify", results, "--device", "the-moon"))
    shutil.rmtree(results / "tables")
    assert "does not hold complete results" in refused(call("study", "verify", results))


def test_renew_puts_runs_of_a_store_in_place_of_the_committed_ones(
    call: Call, store: Path, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def contents() -> dict[str, pl.DataFrame]:
        return {path.stem: pl.read_parquet(path) for path in (results / "tables").iterdir()}

    monkeypatch.setattr("recombine.reporting.study.write_results", committed)
    monkeypatch.setattr("recombine.studies.running.get_or_compute", lambda *_, **__: pytest.fail("computed"))
    code, out, err = call("study", "renew", results, "--store", store)
    assert (code, err) == (0, "")
    assert out.startswith("0 runs renewed\ngradient-toy at smoke scale. Of 9 claims of the paper ")

    right, claims = contents(), json.loads((results / "claims.json").read_text("utf-8"))["claims"]
    record = json.loads((results / "study.json").read_text("utf-8"))
    record["runs"]["redundant"]["started"] = "2001-01-01T00:00:00+00:00"
    (results / "study.json").write_text(json.dumps(record), encoding="utf-8")
    wrong = pl.when(run="redundant").then(0.25).otherwise("quarter_11").alias("quarter_11")
    right["accuracy"].with_columns(wrong).write_parquet(results / "tables" / "accuracy.parquet")
    assert call("study", "verify", results)[0] == 1
    # A store that lacks the run changes nothing.
    Store(tmp_path / "empty")
    assert "0 runs renewed" in call("study", "renew", results, "--store", tmp_path / "empty")[1]
    assert not contents()["accuracy"].equals(right["accuracy"])

    code, out, err = call("study", "renew", results, "--store", store, "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert told["renewed"] == ["redundant"]
    assert told["claims"] == json.loads((results / "claims.json").read_text("utf-8"))["claims"] == claims
    for name, table in contents().items():
        assert table.equals(right[name]), name
    assert call("study", "verify", results)[0] == 0
    assert "does not hold committed results" in refused(call("study", "renew", tmp_path / "empty"))


def test_report_judges_committed_results_again_and_writes_their_pages(
    call: Call, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_overview(found: list[StudyResult], out: Path) -> Path:
        assert [one.study for one in found] == [TOY]
        (out / "index.html").write_bytes(recall(lambda: "page", lambda: b"page"))
        return out / "index.html"

    monkeypatch.setattr("recombine.reporting.write_overview", write_overview)
    monkeypatch.setattr("recombine.runs.training.TrainingRun.compute", lambda *_: pytest.fail("trained"))
    monkeypatch.chdir(tmp_path)
    claims = json.loads((results / "claims.json").read_text("utf-8"))["claims"]
    (results / "claims.json").unlink()  # what it said does not matter
    for folder in (results, results.parent):
        assert not Path(STORE).exists(), "no store is made for what is drawn; where there is one, it is kept there"
        code, out, err = call("report", folder, "--out", tmp_path / "page", "--json")
        assert (code, err) == (0, "")
        told = json.loads(out)
        assert Path(told["page"]) == tmp_path / "page" / "index.html"
        assert [study["claims"] for study in told["studies"]] == [claims]
    for name, named in (("shared", ("--store", "shared")), (STORE, ())):
        Path(name).mkdir()
        code, out, err = call("report", results, "--out", "page", *named)
        assert (code, err) == (0, "")
        assert len(list(Path(name, "cache").glob("*/*"))) == 1
    holds = [sum(c["status"] == "holds" for c in claims if c["whose"] == whose) for whose in ("paper", "ours")]
    row = next(line.split() for line in out.splitlines() if line.startswith("gradient-toy"))
    assert [row[1], row[6]] == [str(number) for number in holds]
    assert out.splitlines()[-1] == f"written to {Path('page') / 'index.html'}"


def test_report_refuses_what_holds_no_results(call: Call, results: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for folder in ("empty", "nowhere"):
        assert "holds no results of a study (study.json)" in refused(call("report", folder, "--out", "page"))
        assert not (tmp_path / "page").exists()
    shutil.rmtree(results / "tables")
    assert "does not hold complete results of a study" in refused(call("report", results, "--out", "page"))
    assert not (tmp_path / "page" / "index.html").exists()


FILE = """
from recombine.models import Perceptron
from recombine.runs.training import Measured, TrainingRun
from recombine.studies import LAST, Claim, Setting, Study, cells
from recombine.tasks import ToyTask
from recombine.training import SGD


def settings(steps, members):
    run = TrainingRun(task=ToyTask(), model=Perceptron(widths=(2, 4, 2)), members=members or 3, steps=steps,
                      batch_size=4, optimizer=SGD(lr=0.1), measured=(Measured(measure="influence"),))
    return {"one": Setting(run, {"of": "mine"})}


STUDY = Study("of-my-own", "A study of my own", "Is it run?", None, {"smoke": 8}, settings, {"influence": "influence"},
              (Claim("moves", "X1 moves the answer.", cells("influence", "influence", LAST, input="x1").above()),))
"""


def test_a_study_in_a_file_is_run_like_any_other(call: Call, tmp_path: Path) -> None:
    (tmp_path / "of_my_own.py").write_text(FILE)
    arguments = ("./of_my_own.py", "--scale", "smoke")
    shown = json.loads(call("study", "show", *arguments, "--json")[1])
    assert (list(shown["runs"]), shown["study"]) == (["one"], "of-my-own")
    code, out, err = call("study", "run", *arguments, "--device", "cpu", "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert (told["study"], [claim["members"] for claim in told["claims"]]) == ("of-my-own", [3])
    assert Path(told["page"]).parts[-2:] == ("of-my-own", "index.html")
    code, out, err = call("study", "run", *arguments, "--device", "cpu")
    assert (code, err) == (0, "")
    assert "of-my-own at smoke scale. Of 1 claim of the paper " in out
    for verb in (["show"], ["run"], ["run", "--dry-run"]):
        answer = call("study", *verb, "of_my_own.py", "--scale", "paper")
        assert "of-my-own has the scales smoke, not 'paper'." in refused(answer)


def test_results_of_a_study_in_a_file_are_found_by_naming_it(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recombine.reporting.study.write_results", committed)
    (tmp_path / "elsewhere").mkdir()
    file = tmp_path / "elsewhere" / "of_mine.py"
    file.write_text(FILE)
    folder = committed(run_study(str(file), "smoke", store="store", device="cpu"), tmp_path / "results" / "mine")
    command = "recombine study run ./of_mine.py --scale smoke"
    assert json.loads((folder / "study.json").read_text())["command"] == command
    verbs = (("study", "verify", folder), ("study", "renew", folder, "--store", "store"), ("report", folder.parent))
    for verb in verbs:
        said = refused(call(*verb))
        assert "unknown study 'of-my-own'" in said
        assert f"It was made by {command!r}; name that file with --study." in said
        code, out, err = call(*verb, "--study", file)
        assert (code, err) == (0, "")
        assert "of-my-own" in out
    wrong = call("study", "verify", folder, "--study", "gradient-toy")
    assert "holds results of the study 'of-my-own', not of 'gradient-toy'" in refused(wrong)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("absent.py", None, "there is no file 'absent.py' to read a study from"),
        ("no_study.py", "STUDIES = 1", "declares no study; it needs STUDY = Study(…)."),
        ("not_one.py", "STUDY = 'toy'", "declares no study"),
        ("broken_study.py", "1 / 0", "cannot be read as a study: ZeroDivisionError: division by zero."),
        ("no_python.py", "a study", "cannot be read as a study: SyntaxError"),
        ("my-study.py", FILE, "needs a name of its own that Python can import, not 'my-study.py'"),
        ("json.py", FILE, "needs a name of its own that Python can import, not 'json.py'"),
    ],
)
def test_a_file_that_holds_no_study_is_refused(
    call: Call, tmp_path: Path, name: str, text: str | None, message: str
) -> None:
    before = set(sys.modules)
    if text is not None:
        (tmp_path / name).write_text(text)
    assert message in refused(call("study", "run", f"./{name}", "--scale", "smoke"))
    assert {path.name for path in tmp_path.iterdir()} <= {name, "__pycache__"}
    assert Path(name).stem not in set(sys.modules) - before
