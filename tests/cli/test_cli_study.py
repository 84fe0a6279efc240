"""The command line, called in this process: what it prints, how it exits, and what it leaves alone."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from called import TOY, Call, refused

from recombine.runs import Store
from recombine.studies.study import STATUSES

RESULT = ["schema", "study", "scale", "seconds", "claims", "page"]
CLAIM = ["id", "sentence", "whose", "criterion", "nothing", "published", "published_in", "measured", "low", "high",
         "unit", "over", "fitted", "members", "everyone", "shares", "status", "how"]  # fmt: skip
pytestmark = pytest.mark.usefixtures("plainly")


@pytest.mark.parametrize(
    "arguments",
    [[], ["study"], ["study", "run"], ["study", "renew"], ["reproduce"], ["report"]],
    ids=lambda words: " ".join(words) or "recombine",
)
def test_help_shows_examples(call: Call, arguments: list[str]) -> None:
    code, out, err = call(*arguments, "--help")
    assert (code, err) == (0, "")
    assert "Example" in out
    assert "recombine " in out


def test_version(call: Call) -> None:
    assert call("--version")[0] == 0


def test_list_counts_the_claims_of_the_paper_and_ours_apart(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = {whose: [claim.id for claim in TOY.claims if claim.whose == whose] for whose in ("paper", "ours")}
    papers, ours = len(ids["paper"]), len(ids["ours"])
    verdicts = {ids["paper"][0]: {"status": "holds"}, ids["paper"][1]: {"status": "fails"}, "gone": {"status": "holds"}}
    monkeypatch.setattr("recombine.studies.committed.carried", lambda: {"gradient-toy": verdicts})
    code, out, err = call("study", "list")
    assert (code, err) == (0, "")
    heads, row = out.splitlines()[:2]
    assert heads.split("  ")[-1].strip() == "hold at paper scale"
    assert row.split()[0] == "gradient-toy"
    assert row.rstrip().endswith(f"1 of {papers} and 0 of {ours}")
    code, out, _ = call("study", "list", "--json")
    (listed,) = json.loads(out)["studies"]
    assert listed == {"study": "gradient-toy", "title": TOY.title, "paper": papers, "paper_hold": 1, "ours": ours,
                      "ours_hold": 0}  # fmt: skip
    assert out.count("\n") == 1
    monkeypatch.setattr("recombine.studies.committed.carried", dict)
    (listed,) = json.loads(call("study", "list", "--json")[1])["studies"]
    assert (listed["paper_hold"], listed["ours_hold"]) == (None, None), "nothing is known, which is not 0"
    assert f"– of {papers} and – of {ours}" in call("study", "list")[1]


def test_show(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, err = call("study", "show", "gradient-toy", "--scale", "smoke")
    assert (code, err) == (0, "")
    assert all(claim.id in out for claim in TOY.claims)
    assert out.count(" (ours)") == sum(claim.whose == "ours" for claim in TOY.claims)
    assert "at paper scale: holds, no published figure" in out
    assert out.index("Where this differs from the paper") < out.index(TOY.notes.deviations[0][:30])
    code, out, _ = call("study", "show", "gradient-toy", "--json")
    data = json.loads(out)
    assert (data["study"], data["scale"]) == ("gradient-toy", "quick")
    assert data["runs"]["redundant"]["members"] >= 256
    assert [(c["id"], c["whose"]) for c in data["claims"]] == [(c.id, c.whose) for c in TOY.claims]
    assert data["deviations"] == list(TOY.notes.deviations)
    assert {c["at_paper_scale"]["status"] for c in data["claims"]} <= set(STATUSES)
    asked = json.loads(call("study", "show", "gradient-toy", "--members", 7, "--precision", "tf32", "--json")[1])
    of_seven = replace(TOY, precision="tf32").runs("quick", 7)
    assert {name: run["address"] for name, run in asked["runs"].items()} == {n: r.address for n, r in of_seven.items()}
    assert "change no run" in refused(call("study", "show", "gradient-toy", "--members", 256))
    monkeypatch.setattr("recombine.studies.committed.carried", dict)
    assert "at paper scale" not in call("study", "show", "gradient-toy")[1]


def test_run_prints_exactly_one_json_object(run: Call, tmp_path: Path) -> None:
    code, out, err = run("--out", tmp_path / "page", "--json")
    assert (code, err) == (0, "")
    assert out.count("\n") == 1
    data = json.loads(out, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    assert sorted(data) == sorted(RESULT)
    assert (data["schema"], data["study"], data["scale"]) == (2, "gradient-toy", "smoke")
    assert all(list(claim) == CLAIM for claim in data["claims"])
    assert {claim["status"] for claim in data["claims"]} <= set(STATUSES)
    assert {claim["members"] for claim in data["claims"] if claim["id"] != "toy-epochs"} == {2}
    assert Path(data["page"]) == tmp_path / "page" / "gradient-toy" / "index.html"
    assert Path(data["page"]).is_file()


def test_run_prints_claims_and_page_for_people(run: Call, tmp_path: Path) -> None:
    code, out, err = run("--out", tmp_path / "page")
    assert (code, err) == (0, "")
    assert "toy-gap" in out
    assert "gradient-toy at smoke scale. Of 9 claims of the paper " in out
    assert " Of 4 questions of ours " in out
    assert out.index("toy-epochs") < out.index("toy-dip (ours)"), "ours come after the paper's"
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


def test_some_runs_alone_are_stored_and_nothing_is_judged(call: Call, tmp_path: Path) -> None:
    few = ("study", "run", "gradient-toy", "--scale", "smoke", "--members", 2, "--device", "cpu", "--store", "mine")
    code, out, _ = call(*few, "--only", "redundant,uninformative", "--json")
    told, runs = json.loads(out), TOY.runs("smoke", 2)
    assert code == 0
    assert told["runs"] == {name: runs[name].address for name in ("redundant", "uninformative")}
    store = Store(tmp_path / "mine")
    assert store.get(runs["redundant"])
    assert store.get(runs["uninformative"])
    assert not store.get(runs["redundant-many"])
    assert not Path("recombine-report").exists()
    assert "2 runs of gradient-toy stored in" in call(*few, "--only", "redundant,uninformative")[1]
    assert "'redundant'" in refused(call(*few, "--only", "redundnt"))
    assert "no run is named" in refused(call(*few, "--only", " , "))
    assert "--fail-on" in refused(call(*few, "--only", "redundant", "--fail-on", "fails"))


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
        2,
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
        2,
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
    sides = [(whose, status) for whose in ("paper", "ours") for status in STATUSES]
    heads = " ".join(out.splitlines()[:3]).split()
    assert sorted(heads) == sorted(["study", *" ".join(map(" ".join, sides)).split()])
    counts = [(claim["whose"], claim["status"]) for claim in data["studies"][0]["claims"]]
    row = next(line for line in out.splitlines() if line.startswith("gradient-toy")).split()
    assert row[1:] == [str(counts.count(side)) for side in sides]
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


VARIED = """
from dataclasses import replace

import recombine as rc

toy = rc.find_study("gradient-toy")


def settings(size, members):
    return {name: replace(s, run=s.run.replace(batch_size=BATCH)) for name, s in toy.settings(size, members).items()}


STUDY = replace(toy, name="batches", settings=settings)
"""


def test_a_variation_says_what_it_changes_before_it_runs_and_is_refused_where_that_is_nothing(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("idle_batches.py").write_text(VARIED.replace("BATCH", "10"), encoding="utf-8")
    run = ("study", "run", "./idle_batches.py", "--scale", "smoke", "--device", "cpu", "--store", "mine")
    for more in ((), ("--dry-run",), ("--only", "redundant"), ("--json",)):
        assert "'batches' changes nothing of 'gradient-toy' at smoke scale" in refused(call(*run, *more))
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".py" and path.name != "__pycache__"] == []
    assert "batches changes of gradient-toy: no run differs." in call("study", "show", "./idle_batches.py")[1]
    Path("other_batches.py").write_text(VARIED.replace("BATCH", "20"), encoding="utf-8")
    code, out, _ = call("study", "run", "./other_batches.py", *run[3:], "--only", "redundant")
    assert code == 0
    told = " ".join(out.split())
    assert told.startswith("batches changes of gradient-toy: batch_size is 20 instead of 10, in all 7 runs.")


def test_members_that_change_no_run_are_refused(call: Call) -> None:
    assert "change no run of gradient-toy" in refused(call("study", "run", "gradient-toy", "--members", 256))
