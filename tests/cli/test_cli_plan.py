"""Plans on the command line."""

from __future__ import annotations

import json

import pytest

from recombine.cli import main


def run(capsys, *words):
    with pytest.raises(SystemExit) as ended:
        main(["check", *map(str, words)])
    return ended.value.code, capsys.readouterr()


def test_a_plan_from_nothing(capsys, tmp_path):
    words = ["--levels", "a=3,b=red:green", "--budget", "6", "--change", "a=10,b=1"]
    code, said = run(capsys, *words, "--out", tmp_path / "plan.csv")
    assert code == 0
    assert "plan: after 6 rows" in said.out
    assert "stair" in said.out
    assert "changes from row to row cost 2" in said.out
    assert (tmp_path / "plan.csv").read_text().startswith("a,b\n")
    _, said = run(capsys, *words, "--exclude", "a=1,b=red", "--json")
    body = json.loads(said.out)
    assert {"a": 1, "b": "red"} not in body["plan"]["rows"]
    assert body["needed"] == 4


def test_a_plan_for_a_table(capsys, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n0,x,1\n1,x,2\n0,y,4\n1,y,5.5\n")
    code, said = run(
        capsys, path, "--factors", "a,b", "--target", "y", "--budget", "6", "--cost", "a=0:1,a=1:3", "--json"
    )
    assert code == 0
    assert sum(json.loads(said.out)["plan"]["costs"]) <= 6
    sheet = tmp_path / "runs.csv"
    code, said = run(
        capsys, path, "--factors", "a,b", "--target", "y", "--budget", "12", "--cost", "a=0:1", "--plan", sheet
    )
    assert code == 0
    lines = sheet.read_text().splitlines()
    assert lines[0].startswith("run,a,b,")
    assert all(line.startswith(f"{i},") and line.endswith(",") for i, line in enumerate(lines[1:], 1))
    assert f"{len(lines) - 1} rows to collect written to" in said.out
    code, said = run(capsys, path, "--factors", "a,b", "--until-error", "0.5")
    assert code == 0
    assert "no plan does it in fewer than" in said.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--levels", "a=3"], "--levels needs --budget"),
        (["t.csv", "--levels", "a=3", "--budget", "4"], "either a table or --levels"),
        (["--levels", "a", "--budget", "4"], "write column=value"),
        (["--levels", "a=3", "--budget", "4", "--change", "a=x"], "needs a number after each sign"),
        (["t.csv", "--factors", "a", "--cost", "a=3"], "write column=level:price"),
        (["t.csv", "--factors", "a", "--plan", "runs.txt"], "--plan names a .csv file"),
        (["t.csv", "--factors", "a", "--plan", "no/runs.csv"], "there is no folder 'no'"),
        ([], "TABLE is missing"),
        (["t.csv"], "--factors is missing"),
    ],
)
def test_bad_input_is_one_sentence(capsys, words, message):
    code, said = run(capsys, *words)
    assert code == 2
    assert message in said.err
    assert said.err.count("\n") == 1
