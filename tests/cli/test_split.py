"""The command `split`: what it prints and writes can be checked and trained on."""

from __future__ import annotations

import json

import polars as pl
import pytest

from recombine.cli import main


@pytest.fixture
def grid(tmp_path):
    path = tmp_path / "grid.csv"
    rows = [(f"s{a}", f"=d{b}", a + b) for a in range(4) for b in range(5) for _ in range(2)]
    pl.DataFrame(rows, ["site", "device", "y"], orient="row").write_csv(path)
    return path


def run(capsys, *words):
    with pytest.raises(SystemExit) as ended:
        main([str(w) for w in words])
    return ended.value.code, capsys.readouterr()


def test_a_share_is_written_and_checked(capsys, grid, tmp_path):
    out = tmp_path / "split.csv"
    code, said = run(capsys, "split", grid, "--factors", "site,device", "--hold-out", "20%", "--out", out)
    assert code == 0
    assert "every level stays seen" in said.out
    assert "every row counts as answered" in said.out
    frame = pl.read_csv(out)
    assert frame["split"].value_counts().sort("split").rows() == [("test", 8), ("train", 32)]
    assert frame.filter(split="train")["leverage"].null_count() == 32
    code, said = run(capsys, "check", out, "--factors", "site,device", "--split", "split=test", "--json")
    assert json.loads(said.out)["counts"] == {"seen": 0, "determined": 4, "undetermined": 0, "unseen level": 0}


def test_rows_of_seen_combinations_are_held_out_for_measure(capsys, grid, tmp_path):
    out = tmp_path / "split.csv"
    _, said = run(capsys, "split", grid, "--factors", "site,device", "--hold-out", "4")
    assert "hold out some of them, too (--seen-rows 0.2)" in said.out
    words = ("split", grid, "--factors", "site,device", "--hold-out", "4", "--seen-rows", "0.2", "--out", out)
    _, said = run(capsys, *words)
    spare = pl.read_csv(out)["split"].to_list().count("test") - 8
    assert f"8 + {spare}" in said.out
    assert 4 <= spare <= 8  # A fifth of 40 rows, less what lies in held-out combinations.
    frame = pl.read_csv(out).with_columns(p="y")
    frame.write_csv(out)
    _, said = run(capsys, "measure", out, "--factors", "site,device", "--target", "y", "--prediction", "p", "--split",
                  "split=test", "--target-kind", "number", "--json")  # fmt: skip
    told = json.loads(said.out)
    assert (told["compared_on"], told["combinations"]) == ("new rows", {"seen": 16, "unseen": 4, "unanswered": 0})


def test_rows_that_a_group_keeps_out_of_both_are_said_to_be_left_out(capsys, grid, tmp_path):
    out, table = tmp_path / "split.csv", pl.read_csv(grid)
    table.with_columns(who=pl.Series([i % 7 for i in range(len(table))])).write_csv(grid)
    words = ("split", grid, "--factors", "site,device", "--hold-out", "4", "--out", out)
    _, said = run(capsys, *words, "--group", "who")
    left_out = len(table) - len(pl.read_csv(out))
    assert left_out > 0
    assert f", without the {left_out} rows in neither" in said.out
    _, said = run(capsys, *words)
    assert "in neither\n" not in said.out.split("written to")[1]


def test_blank_answers_are_no_training(capsys, tmp_path):
    path, out = tmp_path / "half.csv", tmp_path / "split.csv"
    path.write_text("a,b,y\nx,u,1\nx,v,2\nx,w,3\ny,u,4\ny,v,5\ny,w,\nz,u,7\nz,v,\nz,w,9\n Z,u,7\n")
    code, said = run(
        capsys, "split", path, "--factors", "a,b", "--target", "y", "--hold-out", "4", "--merge-alike", "--out", out
    )
    assert code == 0
    assert "2 rows without an answer" in said.out
    assert "fewer are held out than asked for (2 of 4 combinations)" in said.out
    assert pl.read_csv(out)["split"].value_counts().sort("split").rows()[0] == ("blank", 2)
    _, said = run(capsys, "check", out, "--factors", "a,b", "--target", "y", "--split", "split=test", "--merge-alike",
                  "--json")  # fmt: skip
    assert json.loads(said.out)["counts"]["determined"] == 4  # Two held out, two blank.
    assert json.loads(said.out)["counts"]["unseen level"] == 0


def test_folds_have_a_column_each(capsys, grid, tmp_path):
    out = tmp_path / "folds.parquet"
    code, said = run(
        capsys, "split", grid, "--factors", "site,device", "--folds", "4", "--graded", "--out", out, "--json"
    )
    assert code == 0
    folds = json.loads(said.out)["folds"]
    assert [fold["test_rows"] for fold in folds] == [10] * 4
    frame = pl.read_parquet(out)
    assert sum((frame[f"split_{i}"] == "test").cast(int) for i in range(1, 5)).to_list() == [1] * 40


@pytest.mark.parametrize("often", [1, 20])
def test_of_an_even_table_it_is_said_that_it_cannot_be_graded(capsys, tmp_path, often):
    file = tmp_path / "t.csv"
    cells = [f"s{i},d{j}" for i in range(8) for j in range(7) for _ in range(often if i < 4 else 1)]
    file.write_text("\n".join(["site,device", *cells]))
    _, said = run(capsys, "split", file, "--factors", "site,device", "--folds", "4", "--graded")
    assert ("too even to be graded" in said.out) == (often == 1)


def test_named_combinations(capsys, grid):
    _, said = run(capsys, "split", grid, "--factors", "site,device", "--hold-out", "site=s1,device==d2", "--json")
    (fold,) = json.loads(said.out)["folds"]
    assert [h["combination"] for h in fold["held_out"]] == [{"site": "s1", "device": "=d2"}]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--hold-out", "x"], "is no share, number or combination"),
        (["--hold-out", "0.2", "--hold-out", "site=s1"], "not several"),
        (["--hold-out", "0.2", "--out", "x.doc"], "must end in .csv or .parquet"),
        (["--group", "who"], "unknown column 'who'"),
    ],
)
def test_bad_input_is_one_sentence(capsys, grid, words, message):
    code, said = run(capsys, "split", grid, "--factors", "site,device", *words)
    assert code == 2
    assert message in said.err
    assert said.err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--hold-out", "5"], "only 5 held-out combinations: of fewer than 6 recombine measure names no rule; "
                              "--hold-out 6 holds out more."),
        (["--hold-out", "site=s1,device==d2"], "only 1 held-out combination: of fewer than 6 recombine measure names "
                                               "no rule, and of fewer than 4 its verdict is mostly unclear"),
        (["--folds", "5"], "a fold has only 4 held-out combinations: of fewer than 6 recombine measure names no rule; "
                           "--folds 3 holds out more."),
        (["--hold-out", "6"], ""),
        (["--folds", "3"], ""),
    ],
)  # fmt: skip
def test_that_measure_can_tell_little_of_few_held_out_combinations_is_said(capsys, grid, words, said):
    _, printed = run(capsys, "split", grid, "--factors", "site,device", *words)
    _, as_json = run(capsys, "split", grid, "--factors", "site,device", *words, "--json")
    notes = " ".join(json.loads(as_json.out)["notes"])
    assert said in notes
    assert said in " ".join(printed.out.split())
    assert said or "held-out combination" not in notes
