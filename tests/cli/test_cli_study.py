"""The command line, called in this process: what it prints, how it exits, and what it leaves alone."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recombine.cli.main import main
from recombine.studies import STUDIES
from recombine.studies.verification import study_record

RESULT = ["schema", "study", "scale", "seconds", "claims", "page"]
CLAIM = ["id", "sentence", "criterion", "published", "measured", "low", "high", "members", "status"]
Call = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cli") / "store"


@pytest.fixture(autouse=True)
def plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages, pictures and other studies are tested elsewhere and cost seconds; one line stands for a page."""

    def write_study(result: Any, out: Path) -> Path:
        from recombine.reporting.study import write  # the same writer, without the pictures

        write(out / "study.json", json.dumps(study_record(result)).encode())
        return write(out / "index.html", b"<p>page</p>")

    monkeypatch.setattr("recombine.reporting.write_study", write_study)
    monkeypatch.setattr("recombine.studies.STUDIES", {"gradient-toy": STUDIES["gradient-toy"]})
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Call:
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return int(stopped.value.code or 0), out, err

    return run


@pytest.fixture
def run(call: Call, store: Path) -> Call:
    """A study small enough for a test; its runs are computed once for all of them."""
    return lambda *more: call(
        "study", "run", "gradient-toy", "--scale", "smoke", "--members", 3, "--device", "cpu", "--store", store, *more
    )


def refused(answer: tuple[int, str, str]) -> str:
    code, out, err = answer
    assert (code, out) == (2, "")
    assert err.startswith("recombine: ")
    assert err.count("\n") == 1
    return err


@pytest.mark.parametrize(
    "arguments", [["--help"], ["study", "--help"], ["study", "run", "--help"], ["reproduce", "--help"]]
)
def test_help_shows_examples(call: Call, arguments: list[str]) -> None:
    code, out, err = call(*arguments)
    assert (code, err) == (0, "")
    assert "Example" in out
    assert "recombine " in out


def test_version(call: Call) -> None:
    assert call("--version")[0] == 0


def test_list(call: Call) -> None:
    code, out, err = call("study", "list")
    assert (code, err) == (0, "")
    assert "gradient-toy" in out
    code, out, _ = call("study", "list", "--json")
    data = json.loads(out)
    assert [row["study"] for row in data["studies"]] == ["gradient-toy"]
    assert out.count("\n") == 1


def test_show(call: Call) -> None:
    code, out, err = call("study", "show", "gradient-toy", "--scale", "smoke")
    assert (code, err) == (0, "")
    assert all(claim.id in out for claim in STUDIES["gradient-toy"].claims)
    assert out.index("Where this differs from the paper") < out.index(STUDIES["gradient-toy"].deviations[0][:30])
    code, out, _ = call("study", "show", "gradient-toy", "--json")
    data = json.loads(out)
    assert (data["study"], data["scale"]) == ("gradient-toy", "quick")
    assert data["runs"]["redundant"]["members"] >= 256
    assert [c["id"] for c in data["claims"]] == [c.id for c in STUDIES["gradient-toy"].claims]
    assert data["deviations"] == list(STUDIES["gradient-toy"].deviations)


def test_run_prints_exactly_one_json_object(run: Call, tmp_path: Path) -> None:
    code, out, err = run("--out", tmp_path / "page", "--json")
    assert (code, err) == (0, "")
    assert out.count("\n") == 1
    data = json.loads(out, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    assert sorted(data) == sorted(RESULT)
    assert (data["schema"], data["study"], data["scale"]) == (1, "gradient-toy", "smoke")
    assert all(list(claim) == CLAIM for claim in data["claims"])
    assert {claim["status"] for claim in data["claims"]} <= {"holds", "fails", "not fitted"}
    assert {claim["members"] for claim in data["claims"]} == {3}
    assert Path(data["page"]) == tmp_path / "page" / "gradient-toy" / "index.html"
    assert Path(data["page"]).is_file()


def test_run_prints_claims_and_page_for_people(run: Call, tmp_path: Path) -> None:
    code, out, err = run("--out", tmp_path / "page")
    assert (code, err) == (0, "")
    assert "toy-gap" in out
    assert "gradient-toy at smoke scale: of 10 claims " in out
    assert "published" not in out.splitlines()[0]  # no claim of this study has a published figure
    assert out.rstrip().endswith(str(Path("page") / "gradient-toy" / "index.html"))


def statuses(run: Call) -> set[str]:
    return {claim["status"] for claim in json.loads(run("--json")[1])["claims"]}


def test_findings_count_only_where_asked(run: Call) -> None:
    found = statuses(run)
    assert "fails" in found  # at this scale some claim fails, and the exit code stays 0
    assert run()[0] == 0
    assert run("--fail-on", "fails")[0] == 1
    assert run("--fail-on", "fails", "--json")[0] == 1
    assert run("--fail-on", "not fitted")[0] == int("not fitted" in found)
    assert run("--fail-on", "not fitted", "--fail-on", "fails")[0] == 1
    assert "fail-on" in refused(run("--fail-on", "everything"))


@pytest.mark.parametrize("verb", [["run"], ["show"]])
def test_an_unknown_study_suggests_the_nearest(call: Call, tmp_path: Path, verb: list[str]) -> None:
    message = refused(call("study", *verb, "gradient-toi"))
    assert "unknown study 'gradient-toi'; did you mean 'gradient-toy'?" in message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("members", ["-3", "0", "1", "many", "2.5"])
@pytest.mark.parametrize("verb", [["study", "run", "gradient-toy"], ["reproduce"]])
def test_bad_member_counts(call: Call, verb: list[str], members: str) -> None:
    assert "member" in refused(call(*verb, "--scale", "smoke", "--members", members)).lower()


def test_other_bad_input(call: Call, tmp_path: Path) -> None:
    assert "large" in refused(call("study", "run", "gradient-toy", "--scale", "large"))
    assert "quantum" in refused(call("study", "run", "gradient-toy", "--scale", "smoke", "--device", "quantum"))
    assert "--colour" in refused(call("study", "run", "gradient-toy", "--colour", "red"))
    assert "walk" in refused(call("study", "walk"))
    assert "does not hold committed results" in refused(call("study", "verify", tmp_path))
    (tmp_path / "study.json").write_text("[]")
    assert "does not hold committed results" in refused(call("study", "verify", tmp_path))
    (tmp_path / "study.json").write_text('{"study": "gradient-toi"}')
    assert "did you mean 'gradient-toy'" in refused(call("study", "verify", tmp_path))


def test_a_place_that_cannot_be_written_is_said_before_anything_runs(
    run: Call, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recombine.studies.running.get_or_compute", lambda *_, **__: pytest.fail("ran"))
    monkeypatch.setattr("recombine.runs.training.TrainingRun.compute", lambda *_: pytest.fail("ran"))
    blocked = tmp_path / "file"
    blocked.write_text("earlier results")
    assert f"cannot write to '{blocked / 'page'}'" in refused(run("--out", blocked / "page"))
    assert "cannot write to" in refused(run("--out", blocked))
    store = [
        "study",
        "run",
        "gradient-toy",
        "--scale",
        "smoke",
        "--store",
        blocked / "store",
        "--out",
        tmp_path / "page",
    ]
    assert "is or lies below a file" in refused(call(*store))
    assert blocked.read_text() == "earlier results"


def test_bad_input_leaves_earlier_results_alone(run: Call, call: Call, store: Path, tmp_path: Path) -> None:
    run("--out", tmp_path / "page")
    before = {path: path.read_bytes() for folder in (store, tmp_path) for path in folder.rglob("*") if path.is_file()}
    refused(call("study", "run", "gradient-toy", "--members", "-1", "--store", store, "--out", tmp_path / "page"))
    refused(call("study", "run", "gradient-toi", "--store", store, "--out", tmp_path / "page"))
    assert before == {
        path: path.read_bytes() for folder in (store, tmp_path) for path in folder.rglob("*") if path.is_file()
    }


def test_the_store_may_come_from_the_environment(
    call: Call, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Call
) -> None:
    run()
    monkeypatch.setenv("RECOMBINE_STORE", str(store))
    monkeypatch.setattr("recombine.runs.training.TrainingRun.compute", lambda *_: pytest.fail("trained again"))
    arguments = [
        "study",
        "run",
        "gradient-toy",
        "--scale",
        "smoke",
        "--members",
        3,
        "--device",
        "cpu",
        "--out",
        tmp_path / "p",
    ]
    assert call(*arguments)[0] == 0
    assert not (tmp_path / ".recombine").exists()


def test_reproduce_runs_every_study(call: Call, store: Path, tmp_path: Path) -> None:
    arguments = [
        "reproduce",
        "--scale",
        "smoke",
        "--members",
        3,
        "--device",
        "cpu",
        "--store",
        store,
        "--out",
        tmp_path / "page",
    ]
    code, out, err = call(*arguments, "--json")
    assert (code, err) == (0, "")
    data = json.loads(out)
    assert sorted(data) == ["page", "scale", "schema", "seconds", "studies"]
    assert [study["study"] for study in data["studies"]] == ["gradient-toy"]
    assert all([*sorted(study), "page"] == sorted(RESULT, key=lambda n: (n == "page", n)) for study in data["studies"])
    assert Path(data["page"]) == tmp_path / "page" / "index.html"
    assert (tmp_path / "page" / "gradient-toy" / "index.html").is_file()
    assert "gradient-toy/index.html" in Path(data["page"]).read_text(encoding="utf-8")
    code, out, err = call(*arguments)
    assert (code, err) == (0, "")
    assert out.split()[:4] == ["study", "holds", "fails", "not"]
    counts = [claim["status"] for claim in data["studies"][0]["claims"]]
    row = next(line for line in out.splitlines() if line.startswith("gradient-toy")).split()
    assert row[1:] == [str(counts.count(status)) for status in ("holds", "fails", "not fitted")]
    assert out.splitlines()[-1] == str(tmp_path / "page" / "index.html")
    assert all(len(line) <= 80 for line in out.splitlines()[:-1])
    assert call(*arguments, "--fail-on", "fails")[0] == 1


def test_interrupting_says_that_finished_runs_are_kept(run: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("recombine.studies.run_study", interrupted)
    code, out, err = run()
    assert (code, out) == (130, "")
    assert "finished runs are kept" in err


def test_verify_tells_by_its_exit_code(call: Call, store: Path, tmp_path: Path) -> None:
    from recombine.runs import Store
    from recombine.studies import run_study

    result = run_study(STUDIES["gradient-toy"], "smoke", store=Store(store), members=3, device="cpu")
    folder = tmp_path / "results"
    (folder / "tables").mkdir(parents=True)
    for name, table in result.tables.items():
        table.write_parquet(folder / "tables" / f"{name}.parquet")
    (folder / "claims.json").write_text(result.to_json(), encoding="utf-8")
    (folder / "study.json").write_text(json.dumps(study_record(result)), encoding="utf-8")
    code, out, err = call("study", "verify", folder)
    assert (code, err) == (0, "")
    assert out.rstrip().endswith("verified")
    data = json.loads((folder / "claims.json").read_text("utf-8"))
    data["claims"][0]["measured"] = -1.0
    (folder / "claims.json").write_text(json.dumps(data), encoding="utf-8")
    code, out, err = call("study", "verify", folder, "--json")
    assert (code, err) == (1, "")
    assert len(json.loads(out)["problems"]) == 1
    assert call("study", "verify", folder)[0] == 1
    shutil.rmtree(folder / "tables")
    assert "does not hold complete results" in refused(call("study", "verify", folder))
