"""The command: one JSON object, exit codes, a readable table, files, help with examples."""

from __future__ import annotations

import json
import subprocess
import sys

import cyclopts
import numpy as np
import polars as pl
import pytest

from recombine.cli.check import check
from recombine.errors import InputError


@pytest.fixture
def run(capsys):
    app = cyclopts.App(name="recombine", result_action="return_value")
    app.command(check)

    def call(*words):
        code = app(["check", *map(str, words)], exit_on_error=False, print_error=False)
        return code, capsys.readouterr().out

    return call


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "train.csv"
    path.write_text("shape,colour,dose,y\ndisc,red,0.1,1\ndisc,blue,0.2,2\nsquare,red,0.3,3\nstar,[bold]green,0.4,5\n")
    return path


def test_json_is_one_object_and_nothing_else(run, table):
    code, out = run(table, "--factors", "shape,colour", "--json")
    data = json.loads(out)
    assert code == 0
    assert out.count("\n") == 1
    assert data["schema"] == 1
    assert data["verdict"] == "undetermined"
    assert data["rank"] == {"train": 4, "needed": 5}


def test_findings_fail_only_when_asked_to(run, table, tmp_path):
    assert run(table, "--factors", "shape,colour")[0] == 0
    assert run(table, "--factors", "shape,colour", "--fail-on", "undetermined")[0] == 1
    fine = tmp_path / "fine.csv"
    fine.write_text("a,b\n0,0\n0,1\n1,0\n")
    assert run(fine, "--factors", "a,b", "--fail-on", "undetermined")[0] == 0
    new = tmp_path / "new.csv"
    new.write_text("a,b\n2,0\n")
    code, out = run(fine, "--factors", "a,b", "--test", new, "--fail-on", "undetermined", "--json")
    assert code == 1
    assert json.loads(out)["verdict"] == "unseen level"


def test_people_get_the_verdict_first(run, table):
    _, out = run(table, "--factors", "shape,colour")
    assert out.startswith("undetermined — ")
    assert "rank      4 of 5 needed" in out
    assert "worst queries" in out
    assert "collect 1 combination" in out
    assert "[bold]green" in out


@pytest.mark.parametrize("ending", ["html", "json", "csv", "svg"])
def test_out_writes_the_result(run, table, tmp_path, ending):
    out = tmp_path / f"check.{ending}"
    code, _ = run(table, "--factors", "shape,colour", "--out", out)
    assert code == 0
    assert out.stat().st_size > 100


def test_bins_split_missing_and_bans_reach_the_check(run, table):
    _, out = run(table, "--factors", "shape,dose", "--bins", "dose=2", "--json")
    assert json.loads(out)["factors"] == {"shape": 3, "dose": 2}
    _, out = run(table, "--factors", "shape,colour", "--split", "y=5", "--json")
    assert json.loads(out)["unseen_levels"] == {"shape": ["star"], "colour": ["[bold]green"]}
    _, out = run(table, "--factors", "shape,colour", "--forbid", "shape=star", "--json")
    assert json.loads(out)["suggestions"][0]["colour"] == "[bold]green"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--factors", "shap"], "did you mean 'shape'"),
        (["--factors", "shape", "--bins", "dose"], "write column=value"),
        (["--factors", "shape", "--bins", "dose=x"], "whole number"),
        (["--factors", "shape", "--out", "x.doc"], "unknown ending"),
        (["--factors", "shape", "--out", "/nowhere/x.html"], "no folder"),
        (["--factors", "shape", "--fail-on", "undetermind"], "did you mean 'undetermined'"),
        (["--factors", " , "], "at least one factor"),
    ],
)
def test_bad_input_is_one_sentence(run, table, words, message):
    with pytest.raises(InputError, match=message):
        run(table, *words)


def test_help_shows_examples(run):
    _, text = run("--help")
    assert "recombine check train.csv --factors shape,colour,size --target label" in text
    assert "--fail-on" in text


def test_a_thousand_rows_wait_for_nothing_heavy(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "k.csv"
    pl.DataFrame({name: rng.integers(6, size=1_000) for name in "abcd"} | {"y": rng.normal(size=1_000)}).write_csv(path)
    words = f"{str(path)!r}, factors='a,b,c,d', target='y', json=True"
    heavy = ("torch", "altair", "sklearn", "pandas", "scipy.stats")
    code = (
        f"import sys; from recombine.cli.check import check; check({words}); "
        f"print([name for name in {heavy} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["verdict"] == "determined"
    assert done.stderr.strip() == "[]"
