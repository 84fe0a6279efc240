"""The door itself: what is said of words that are not understood, of pipes, of poor terminals, and how it begins."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from recombine.cli import main

TABLE = "shape,colour\ndisc,grün\ndisc,blue\nsquare,grün\nstar,blue\nring,red\n"


def call(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    capsys.readouterr()
    with pytest.raises(SystemExit) as stopped:
        main(words)
    out, err = capsys.readouterr()
    return int(stopped.value.code or 0), out, err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("check", "TABLE is missing; recombine check --help shows how."),
        ("check t.csv", "--factors is missing; recombine check --help shows how."),
        (
            "measure t.csv --factor a,b --target y --prediction p",
            "--factors is missing; did you mean --factors instead of --factor?",
        ),
        (
            "check t.csv --factors a b",
            "'b' is too much here; write --factors a,b. recombine check --help shows how.",
        ),
        (
            "check t.csv --factors a,b,c --numeric a b c=spline --seed 1",
            "'b c=spline' is too much here; write --numeric a,b,c=spline. recombine check --help shows how.",
        ),
        (
            "check t.csv more.csv --factors a,b",
            "'more.csv' is too much here; lists are written a,b,c. recombine check --help shows how.",
        ),
        ("check t.csv --factors a,b --json -", "--json takes no file, it prints: write --json."),
        ("check t.csv --factors a,b --json o.json", "--json takes no file, it prints: write --json > o.json."),
        ("check t.csv --factors a --seed -1", "a whole number from 0 on is needed, got '-1'."),
        ("measure t.csv --factors a --target y --prediction p --seed 1.5", "from 0 on is needed, got '1.5'."),
        ("study show", "NAME is missing; recombine study show --help shows how."),
        ("reproduce --members 0", "a study needs at least 2 members to give an interval, got 0."),
        ("study run gradient-toy --device gpu", "there is no device 'gpu'; use auto, cpu or cuda."),
        ("reproduce --device gpu", "there is no device 'gpu'; use auto, cpu or cuda."),
        ("study verify here", "'here' does not hold committed results (study.json); these do: here/toy."),
        ("study verify there", "'there' does not hold committed results (study.json)."),
    ],
)
def test_what_is_wrong_is_said_in_plain_words_and_nothing_is_made(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here" / "toy").mkdir(parents=True)
    (tmp_path / "here" / "toy" / "study.json").write_text("{}")
    code, out, err = call(capsys, *words.split())
    assert (code, out) == (2, "")
    assert err.startswith("recombine: ")
    assert err.endswith(f"{message}\n")
    assert [path.name for path in tmp_path.iterdir()] == ["here"]


def test_only_verbs_that_compute_runs_speak_of_runs_when_they_are_stopped(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("recombine.checks.check", interrupted)
    monkeypatch.setattr("recombine.studies.find_study", interrupted)
    assert call(capsys, "check", "t.csv", "--factors", "a") == (130, "", "recombine: interrupted.\n")
    kept = "recombine: interrupted; finished runs are kept, the same command continues.\n"
    assert call(capsys, "study", "show", "gradient-toy") == (130, "", kept)


def test_a_fault_of_ours_is_not_taken_for_a_finding(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("recombine.checks.check", lambda *_, **__: 1 // 0)
    code, out, err = call(capsys, "check", "t.csv", "--factors", "a")
    assert (code, out) == (70, "")
    assert "ZeroDivisionError" in err
    assert err.endswith("not foreseen; if it is not from code of your own, please report the lines above.\n")


VERBS = ["", "check", "measure", "dissect", "study", "study list", "study show", "study run", "study verify"]
VERBS += ["study renew", "report"]
VERBS += ["reproduce", "runs", "runs list", "runs show", "runs pack", "runs unpack", "runs remove", "runs gc"]


@pytest.mark.parametrize("verb", VERBS)
def test_help_says_its_own_things_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = call(capsys, *verb.split(), "--help")
    assert (code, err) == (0, "")
    assert "--empty-" not in out
    assert "[default: False]" not in out
    assert "``" not in out
    for name in ("table", "model", "other", "name", "folder", "address"):
        assert not re.search(rf"\b{name.upper()} --{name}\b", out), "one way to say it is enough"
    examples = re.findall(r"^ *(?:Examples?: +)?(recombine .*)$", out, re.MULTILINE)
    assert examples
    assert [example for example in examples if not example.startswith(f"recombine {verb}")] == []
    assert [line for line in out.splitlines() if re.match("--[a-z]", line)] == []  # no example is broken in two


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    full = {name: value for name, value in os.environ.items() if name != "COLUMNS"} | environment
    return subprocess.run([sys.executable, "-m", "recombine", *words], capture_output=True, check=False, env=full)


def test_a_terminal_without_our_letters_still_gets_an_answer(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TABLE, encoding="utf-8")
    words = ("check", str(tmp_path / "t.csv"), "--factors", "shape,colour")
    done = run(*words, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"gr?n" in done.stdout
    done = run(*words, "--json", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert rb'"gr\u00fcn"' in done.stdout  # for machines nothing is lost


@pytest.mark.parametrize("more", [(), ("--fail-on", "undetermined"), ("--json", "--fail-on", "undetermined")])
def test_a_reader_who_has_gone_is_no_failure_and_hides_none(tmp_path: Path, more: tuple[str, ...]) -> None:
    (tmp_path / "t.csv").write_text(TABLE, encoding="utf-8")
    words = [sys.executable, "-m", "recombine", "check", str(tmp_path / "t.csv"), "--factors", "shape,colour", *more]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()
        said = child.stderr.read()
    assert (child.returncode, said) == ((1, b"failed on undetermined\n") if more else (0, b""))


def test_nor_does_one_who_read_both_streams(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TABLE, encoding="utf-8")
    words = [sys.executable, "-m", "recombine", "check", str(tmp_path / "t.csv"), "--factors", "shape,colour"]
    with subprocess.Popen(
        [*words, "--fail-on", "undetermined"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as child:
        assert child.stdout is not None
        child.stdout.close()
    assert child.returncode == 1


def test_the_version_is_known_without_what_is_installed() -> None:
    code = "import sys, recombine; print('importlib.metadata' in sys.modules, recombine.__version__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert re.fullmatch(r"False \d+\.\d+.*\n", done.stdout)
