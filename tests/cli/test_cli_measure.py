"""`recombine measure`: one JSON object, exit codes, a readable answer, a folder of files, no waiting for torch."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import cyclopts
import polars as pl
import pytest

from recombine.cli.measure import measure
from recombine.errors import InputError

EXAMPLE = Path(__file__).parents[2] / "examples" / "measure_predictions.csv"
WORDS = ("--factors", "animal,place", "--target", "label", "--prediction", "prediction")


@pytest.fixture
def run(capsys):
    app = cyclopts.App(name="recombine", result_action="return_value")
    app.command(measure)

    def call(*words):
        code = app(["measure", *map(str, words)], exit_on_error=False, print_error=False)
        return code, capsys.readouterr().out

    return call


def test_json_is_one_object_and_nothing_else(run):
    code, out = run(EXAMPLE, *WORDS, "--split", "part=test", "--json")
    data = json.loads(out)
    assert code == 0
    assert out.count("\n") == 1
    assert (data["schema"], data["verdict"], data["mechanisms"]) == (2, "fails", ["shortcut by place"])


def test_people_get_the_verdict_the_mechanism_and_the_worst(run):
    code, out = run(EXAMPLE, *WORDS, "--split", "part=test")
    assert code == 0
    assert out.startswith("fails — It fails on unseen combinations")
    assert "shortcut by place" in out
    assert "left out   shortcut by animal" in out
    assert "not named  memorization: a copied answer: " in out
    assert "Intervals are 95 %" in out
    assert "camel   beach" in out


def test_several_models_after_one_comma_and_levels_on_the_rows_that_are_compared(run, tmp_path):
    table, out = pl.read_csv(EXAMPLE), tmp_path / "t.csv"
    table.with_columns(one="label", two="prediction").write_csv(out)
    words = (out, *WORDS, "--split", "part=test")
    data = json.loads(run(*words, "--against", "one,two", "--json")[1])
    assert [o["name"] for o in data["others"] if not o["rule"]] == ["one", "two"]
    seen = {(r["animal"], r["place"]) for r in table.filter(part="train").iter_rows(named=True)}
    new = {(r["animal"], r["place"]) for r in table.filter(part="test").iter_rows(named=True)} & seen
    level = data["worst_level"]
    place = ("animal", "place").index(level["factor"])
    rows = new or seen
    assert level["seen_count"] == sum(pair[place] == level["level"] for pair in rows)
    assert f"on {data['compared_on']} of" in " ".join(run(*words)[1].split())


def test_findings_count_only_when_asked_to(run):
    assert run(EXAMPLE, *WORDS, "--split", "part=test", "--fail-on", "fails", "--json")[0] == 1
    assert run(EXAMPLE, *WORDS, "--split", "part=test", "--fail-on", "not fitted", "--json")[0] == 0
    for limit, code in (("0.01", 1), ("2", 0)):
        assert run(EXAMPLE, *WORDS, "--split", "part=test", "--fail-on", f"gap={limit}", "--json")[0] == code


def test_a_finding_counts_though_nobody_reads_the_output(monkeypatch):
    read, write = os.pipe()
    os.close(read)
    with open(write, "w", encoding="utf-8") as gone:
        monkeypatch.setattr(sys, "stdout", gone)
        code = measure(
            EXAMPLE, factors="animal,place", target="label", prediction=["prediction"], split="part=test",
            fail_on=["fails"], json=True,
        )  # fmt: skip
    assert code == 1


def test_out_holds_page_figures_and_tables(run, tmp_path):
    table = pl.read_csv(EXAMPLE)
    table.write_parquet(tmp_path / "p.parquet")
    table.filter(pl.col("part") == "train").select("animal", "place").write_csv(tmp_path / "seen.csv")
    out = tmp_path / "deep" / "report"
    _, text = run(tmp_path / "p.parquet", *WORDS, "--train", tmp_path / "seen.csv", "--out", out, "--json")
    assert json.loads(text)["page"] == str(out / "index.html")
    found = {str(p.relative_to(out)) for p in out.rglob("*") if p.is_file()}
    figures = {f"figures/{name}.{e}" for name in ("error", "error-wide") for e in ("svg", "pdf", "csv", "vl.json")}
    tables = {f"tables/{name}.{e}" for name in ("errors", "evidence") for e in ("md", "tex", "csv")}
    tables |= {"tables/beside.md", "tables/beside.tex"}
    assert found == figures | tables | {"tables/combinations.csv", "measure.json", "index.html"}
    assert r"\toprule" in (out / "tables/evidence.tex").read_text()
    assert "| shortcut by place |" in (out / "tables/evidence.md").read_text()
    assert pl.read_csv(out / "tables/combinations.csv").height == 36
    assert "shortcut by place" in (out / "index.html").read_text(encoding="utf-8")


def test_new_rows_of_seen_combinations_are_not_called_training(run, tmp_path):
    table = pl.read_csv(EXAMPLE)
    table.filter(part="train").select("animal", "place").unique().write_csv(tmp_path / "seen.csv")
    words = (EXAMPLE, *WORDS, "--train", tmp_path / "seen.csv")
    assert "\ntraining  error" not in run(*words)[1]
    assert json.loads(run(*words, "--json")[1])["error"]["training"]["mean"] is None
    page = run(*words, "--out", tmp_path / "page.html") and (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "what was trained on" not in page
    assert "\ntraining  error 0" in run(EXAMPLE, *WORDS, "--split", "part=test")[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere.csv", *WORDS, "--split", "part=test"], "there is no file"),
        ([EXAMPLE, *WORDS], "say what training saw"),
        ([EXAMPLE, *WORDS, "--split", "part=tests"], "did you mean 'test'"),
        ([EXAMPLE, *WORDS[:4], "--prediction", "predicted", "--split", "part=test"], "did you mean 'prediction'"),
        ([EXAMPLE, *WORDS, "--split", "part=test", "--fail-on", "fail"], "did you mean 'fails'"),
        ([EXAMPLE, *WORDS, "--split", "part=test", "--fail-on", "gap=much"], "unknown condition 'gap=much'"),
        ([EXAMPLE, *WORDS, "--split", "part=test", "--max-bytes", "10"], "more than the 10 allowed"),
        ([EXAMPLE, *WORDS, "--split", "part=test", "--out", "report.docx"], "--out 'report.docx' "),
        ([EXAMPLE, *WORDS, "--split", "part=test", "--out", "/nowhere/report.html"], "no folder '/nowhere'"),
    ],
)
def test_bad_input_is_one_sentence(run, words, message):
    with pytest.raises((InputError, cyclopts.CycloptsError), match=message):
        run(*words)


def test_an_ending_asks_for_one_file_as_it_does_of_check(run, tmp_path):
    code, text = run(EXAMPLE, *WORDS, "--split", "part=test", "--out", tmp_path / "report.html")
    assert code == 0
    assert text.endswith(f"written to {tmp_path / 'report.html'}\n")
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_what_is_read_is_never_written_over(run, tmp_path):
    mine = tmp_path / "mine.csv"
    mine.write_bytes(EXAMPLE.read_bytes())
    with pytest.raises(InputError, match="is a file that is read here"):
        run(mine, *WORDS, "--split", "part=test", "--out", mine)
    with pytest.raises(InputError, match="is a file that is read here"):
        run(EXAMPLE, *WORDS, "--train", mine, "--out", mine)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="without an ending names a folder"):
        run(mine, *WORDS, "--split", "part=test", "--out", tmp_path / "file")
    assert mine.read_bytes() == EXAMPLE.read_bytes()


def test_help_shows_examples(run):
    _, text = run("--help")
    assert "recombine measure predictions.csv --factors shape,colour" in text


def test_nothing_unseen_is_no_pass_and_who_composes_gets_a_short_list(run, tmp_path):
    words = (EXAMPLE, "--factors", "animal", "--target", "label", "--prediction", "prediction", "--split", "part=test")
    assert [run(*words, "--fail-on", on)[0] for on in ("unclear", "fails")] == [1, 0]
    table = pl.read_csv(EXAMPLE).with_columns(prediction="label")
    table.write_csv(tmp_path / "t.csv")
    out = run(tmp_path / "t.csv", *WORDS, "--split", "part=test")[1]
    assert out.startswith("composes")
    assert len(out.split("worst unseen combinations")[1].strip().splitlines()) == 4
