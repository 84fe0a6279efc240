"""The command: one JSON object, exit codes, a readable table, files, help with examples."""

from __future__ import annotations

import json

import cyclopts
import polars as pl
import pytest

from recombine.cli.check import check
from recombine.cli.main import main
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
    assert run(table, "--factors", "shape,colour", "--fail-on", "high=5,undetermined")[0] == 1
    with pytest.raises(InputError, match="'unheard'"):
        run(table, "--factors", "shape,colour", "--fail-on", "undetermined,unheard")
    fine = tmp_path / "fine.csv"
    fine.write_text("a,b\n0,0\n0,1\n1,0\n")
    assert run(fine, "--factors", "a,b", "--fail-on", "undetermined")[0] == 0
    new = tmp_path / "new.csv"
    new.write_text("a,b\n2,0\n")
    code, out = run(fine, "--factors", "a,b", "--test", new, "--fail-on", "undetermined", "--json")
    assert code == 1
    assert json.loads(out)["verdict"] == "unseen level"


def test_what_failed_is_named_apart_from_the_json(table, capsys):
    words = [str(table), "--factors", "shape,colour", "--target", "y", "--json", "--grid"]
    with pytest.raises(SystemExit, match="1"):
        main(["check", *words, "--fail-on", "error=5", "--fail-on", "assumption", "--fail-on", "undetermined"])
    out, told = capsys.readouterr()
    assert json.loads(out)["settings"]["grid"]
    assert told.splitlines() == [
        "failed on error=5: there is no forecast",
        "failed on assumption",
        "failed on undetermined",
    ]


def test_people_get_the_verdict_first(run, table):
    _, out = run(table, "--factors", "shape,colour")
    assert out.startswith("undetermined — ")
    assert "rank      4 of 5 needed" in out
    assert "combinations asked, the worst status first" in out
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
        (["--factors", "shape", "--out", "x.doc"], "ending must be one of"),
        (["--factors", "shape", "--out", "/nowhere/x.html"], "no folder"),
        (["--factors", "shape", "--fail-on", "undetermind"], "did you mean 'undetermined'"),
        (["--factors", " , "], "at least one factor"),
    ],
)
def test_bad_input_is_one_sentence(run, table, words, message):
    with pytest.raises((InputError, cyclopts.CycloptsError), match=message):
        run(table, *words)


def test_a_combination_is_a_line_and_its_numbers_are_explained(run, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    path = tmp_path / "four.csv"
    rows = [(c, s, z, k) for c in range(3) for s in range(3) for z in range(3) for k in range(3) if c + s + z + k < 5]
    pl.DataFrame(rows, ["colour of it", "shape", "size", "camera"], orient="row").write_csv(path)
    _, out = run(path, "--factors", "colour of it,shape,size,camera")
    table = out.split("asked, all determined, by leverage, 10 of")[1].splitlines()
    assert table[1].split() == ["colour", "of", "it", "shape", "size", "camera", "leverage"]
    levers = [float(line.split()[4]) for line in table[2:12]]
    assert levers == sorted(levers, reverse=True)
    assert table[12].startswith("leverage: variance of the answer of a plain additive fit, in units of the noise")
    _, out = run(path, "--factors", "colour of it,shape,size,camera", "--depth", "2")
    assert "network: not an estimate" in out  # for who asks about a learner
    assert "  " not in out.split("training  ")[1].splitlines()[0]  # a single space between words, so nothing is cut
    monkeypatch.setenv("COLUMNS", "40")
    _, out = run(path, "--factors", "colour of it,shape,size,camera")
    assert "no room for leverage" in " ".join(out.split())
    assert "colour of it  shape  size  camera" in out


def test_commas_in_names_and_levels_stand_in_quotes(run, tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text('"a,b",c\n"x, y",0\nz,1\n', encoding="utf-8")
    _, out = run(path, "--factors", '"a,b",c', "--forbid", '"a,b=x, y"', "--json")
    assert json.loads(out)["suggestions"] == [{"a,b": "z", "c": 0}]
    with pytest.raises(InputError, match="in double quotes where it holds a comma"):
        run(path, "--factors", '"a,b",c', "--forbid", "c=x, y")


def test_the_table_is_never_written_over(run, table):
    before = table.read_bytes()
    with pytest.raises(InputError, match="is a file that is read here"):
        run(table, "--factors", "shape,colour", "--out", table)
    with pytest.raises(InputError, match="is a folder; --out names a file"):
        run(table, "--factors", "shape,colour", "--out", table.parent)
    assert table.read_bytes() == before


def test_what_no_allowed_row_settles_is_not_said_to_be_collected(run, table):
    _, out = run(table, "--factors", "shape,colour", "--forbid", "shape=star", "--forbid", "colour=[bold]green")
    assert "no allowed set suffices" in out
    assert "collect" not in out


def test_help_shows_examples(run):
    _, text = run("--help")
    assert "recombine check train.csv --factors shape,colour,size --target label" in text
    assert "--fail-on" in text


def test_long_levels_leave_room_for_numbers_and_are_whole_in_json(run, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    long = [f"{'typed into the sheet by somebody ' * 6}{i}" for i in range(5)]
    rows = [(a, b, i + j / 2) for i, a in enumerate(long) for j, b in enumerate("uvwx") if (i, j) != (2, 3)]
    pl.DataFrame(rows, ["name", "b", "y"], orient="row").write_csv(tmp_path / "t.csv")
    words = (tmp_path / "t.csv", "--factors", "name,b", "--target", "y")
    listed = next(line for line in run(*words)[1].splitlines() if line.startswith("typed into"))
    assert "…" in listed
    assert listed.split()[-1].replace(".", "").isdigit()  # a number stands on the same line
    assert json.loads(run(*words, "--json")[1])["queries"][0]["combination"]["name"] == long[2]


def test_pieces_are_of_levels_that_were_seen(run, tmp_path):
    train, asked = tmp_path / "train.csv", tmp_path / "asked.csv"
    train.write_text("dose,cell,y\nd1,A,1\nd1,B,2\nd2,A,3\nd2,B,4\nd3,A,5\n")
    asked.write_text("dose,cell\nd9,A\nd1,Z\n")
    assert "nothing relates them" not in run(train, "--factors", "dose,cell", "--target", "y", "--test", asked)[1]
    train.write_text("dose,cell,y\nd1,A,1\nd1,B,2\nd2,A,3\nd2,B,4\nd3,C,5\n")
    out = " ".join(run(train, "--factors", "dose,cell", "--target", "y", "--test", asked)[1].split())
    assert "dose d3 and cell C were seen with each other alone: nothing relates them to the others" in out


def test_answers_that_look_wrong_can_fail(run, tmp_path):
    rows = [(a, b, 10 + 2 * a + b + 0.1 * ((a * 7 + b * 3) % 5)) for a in range(6) for b in range(5) if (a + b) % 4]
    for slipped in (False, True):
        path = tmp_path / "train.csv"
        lines = [f"a{a},b{b},{y * (1000 if slipped and k == 7 else 1)}" for k, (a, b, y) in enumerate(rows)]
        path.write_text("\n".join(["a,b,y", *lines]) + "\n")
        assert run(path, "--factors", "a,b", "--target", "y", "--fail-on", "slip")[0] == slipped


def test_whole_numbers_are_written_as_such(run, tmp_path):
    path = tmp_path / "train.csv"
    path.write_text("dose,cell\n0.5,A\n0.5,B\n10,A\n")
    out = run(path, "--factors", "dose,cell")[1]
    assert "10    B" in out
    assert "10.0" not in out
