"""Whatever words follow `recombine`: exit code 0, 1 or 2, an error in one line, no traceback, no file half-written."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from damage import OUTCOMES
from hypothesis import strategies as st

import recombine.cli.forecast
import recombine.reporting.measured
import recombine.structure
import recombine.studies.running
from recombine.cli import main
from recombine.errors import InputError
from recombine.models import Perceptron
from recombine.structure import save_model

VERBS = [
    *(["check"], ["measure"], ["dissect"], ["reproduce"], ["study"], ["runs"], []),
    *(["study", verb] for verb in ("list", "show", "run", "verify")),
    *(["runs", verb] for verb in ("list", "show", "pack", "unpack", "remove", "gc")),
]
FILES = ["t.csv", "t.parquet", "broken.parquet", "missing.csv", "folder", "model", "p.npz", "t.json"]
WORDS = [
    *("a", "a,b", "a,b,y", "y", "p", "part=test", "part", "=", "a=b", "b=2", "a=x,b=1", "number", "class", "drop"),
    *("level", "0", "1", "2", "-1", "1e3", "nan", "inf", "99999999999999999999", "", " ", "--", "-", "smoke", "cpu"),
    *("gradient-toy", "gradient-ty", "fails", "undetermined", "o.json", "o.csv", "o.doc", "nowhere/o.json", "0.5"),
    *("true", "[bold]", "\u202e", "\x1b[31m", "deadbeef", "abcd"),
]
TEXTS = st.text(st.characters(exclude_characters="/\\:~.\0", exclude_categories=["Cs"]), max_size=12)


def run(arguments: list[str]) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(arguments)
        except SystemExit as ended:
            return int(ended.code or 0), out.getvalue(), err.getvalue()
    raise AssertionError("the command line did not end")


@pytest.fixture(scope="module")
def flags() -> dict[str, list[str]]:
    """The options of each verb, from its own help."""
    found = {}
    for verb in VERBS:
        text = run([*verb, "--help"])[1]
        found[" ".join(verb)] = sorted(set(re.findall(r"--[a-z][a-z-]+", text)))
    assert "--factors" in found["check"]
    return found


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with some files, in which nothing takes long: what would train or draw says so instead."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RECOMBINE_STORE", raising=False)
    table = pl.DataFrame(
        {"a": ["x", "y", "x", "y"], "b": [1, 2, 2, 1], "y": [0.0, 1.0, 1.0, 2.0], "p": [0.0, 1.0, 1.0, 1.0],
         "part": ["train", "train", "train", "test"]}
    )  # fmt: skip
    table.write_csv("t.csv")
    table.write_parquet("t.parquet")
    Path("broken.parquet").write_bytes(Path("t.parquet").read_bytes()[:-20])
    Path("t.json").write_text("{}")
    Path("folder").mkdir()
    net = Perceptron(widths=(2, 2))
    save_model("model", net(), net)
    np.savez("p.npz", inputs=np.zeros((4, 2)), targets=np.zeros(4, int))

    def refuse(*_: object, **__: object) -> None:
        raise InputError("this would take long.")

    monkeypatch.setattr(recombine.studies.running, "get_or_compute", refuse)
    monkeypatch.setattr(recombine.cli.forecast, "forecast", refuse)
    monkeypatch.setattr(recombine.structure, "dissect", refuse)
    monkeypatch.setattr(recombine.reporting.measured, "write_measured", lambda result, out: out)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def try_words(arguments: list[str], folder: Path, before: dict[str, bytes]) -> None:
    code, _, err = run(arguments)
    OUTCOMES[str(code)] += 1
    after = contents(folder)
    try:
        assert code in (0, 1, 2), (code, err)
        assert "Traceback" not in err
        if code == 2:
            assert err.startswith("recombine: "), err
            assert err.count("\n") == 1, err
            assert len(err) > len("recombine: \n")
            assert after == before, "a command that failed wrote a file"
    finally:
        for name in after.keys() - before.keys():
            Path(name).unlink()
        for name, content in before.items():
            if after.get(name) != content:
                Path(name).write_bytes(content)


WORD = st.one_of(st.sampled_from(FILES), st.sampled_from(WORDS), TEXTS)


@st.composite
def commands(draw: st.DrawFn, flags: dict[str, list[str]]) -> list[str]:
    """A verb, sometimes what it needs, and up to four options or other words."""
    verb = draw(st.sampled_from(VERBS))
    words = list(verb)
    if verb in (["check"], ["measure"]) and draw(st.booleans()):
        words += [draw(st.sampled_from(FILES)), "--factors", draw(st.sampled_from(("a,b", "a", "a,b,part")))]
    if verb == ["measure"] and draw(st.booleans()):
        words += ["--target", "y", "--prediction", "p", "--split", "part=test"]
    for _ in range(draw(st.integers(0, 4))):
        if draw(st.integers(0, 3)):
            flag = draw(st.sampled_from(flags[" ".join(verb)]))
            words += draw(st.sampled_from(([flag], [flag, draw(WORD)], [f"{flag}={draw(WORD)}"])))
        else:
            words.append(draw(WORD))
    return words


def test_any_words(fuzz: Any, here: Path, flags: dict[str, list[str]]) -> None:
    before = contents(here)
    ended = fuzz(150, lambda words: try_words(words, here, before), commands(flags))
    assert min(ended["0"], ended["2"]) > 0, "either no command was carried out or none was refused"


FOUND = [["runs", "pack", ""], ["runs", "pack", "", "--store", "folder"], ["check", "t.csv", "--factors", "a\x1bb"]]


@pytest.mark.parametrize("words", FOUND)
def test_what_was_found(words: list[str], here: Path) -> None:
    OUTCOMES.clear()
    try_words(words, here, contents(here))
    assert set(OUTCOMES) == {"2"}
