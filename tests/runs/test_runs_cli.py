"""`recombine runs`: what it prints, and what it says when asked for something that is not there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sums import Sums, put

from recombine.cli.runs import app
from recombine.errors import InputError
from recombine.runs import Outcome, Store

Output = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def home(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECOMBINE_STORE", str(store.root))
    monkeypatch.setenv("COLUMNS", "200")


def call(*arguments: object) -> None:
    app([str(argument) for argument in arguments], result_action="return_value")


def answer(output: Output, *arguments: object) -> dict[str, Any]:
    call(*arguments, "--json")
    captured = output.readouterr()
    assert captured.err == ""
    assert captured.out.count("\n") == 1
    body: dict[str, Any] = json.loads(captured.out)
    assert body["schema"] == 1
    return body


def test_list(store: Store, capsys: Output) -> None:
    assert answer(capsys, "list")["runs"] == []
    put(store, Sums(n=3))
    (run,) = answer(capsys, "list")["runs"]
    assert run["address"] == Sums(n=3).address
    assert run["kind"] == "sums"
    assert run["tables"] == ["sums", "last"]
    call("list")
    text = capsys.readouterr().out
    assert "1 run in" in text
    assert Sums(n=3).address[:12] in text


def test_show(store: Store, capsys: Output) -> None:
    put(store, Sums(n=3))
    body = answer(capsys, "show", Sums(n=3).address[:7])
    assert body["description"]["n"] == 3
    assert body["tables"]["sums"] == {"rows": 3, "columns": ["i", "sum"]}
    call("show", Sums(n=3).address)
    assert '"n": 3' in capsys.readouterr().out


def test_what_a_run_holds_is_shown_as_text(store: Store, capsys: Output) -> None:
    nasty = "[bold]\x1b[2J\x07\u202e[/nothing]"
    store.put(Sums(fail=nasty), Outcome({"t": pl.DataFrame({nasty: [1]})}, {}, {nasty: nasty}), {"device": nasty})
    call("list")
    call("show", Sums(fail=nasty).address)
    text = capsys.readouterr().out
    assert "\x07" not in text
    assert "\x1b[2J" not in text
    assert "\u202e" not in text
    assert "[/nothing]" in text


def test_pack_unpack_remove(store: Store, capsys: Output, tmp_path: Path) -> None:
    for n in (2, 3):
        put(store, Sums(n=n))
    assert answer(capsys, "pack", "all.zip")["runs"] == 2
    assert answer(capsys, "pack", "one.zip", Sums(n=2).address[:8])["runs"] == 1
    one = answer(capsys, "unpack", "one.zip", "--store", "other")
    assert (one["added"], one["kept"], one["refused"]) == ([Sums(n=2).address], [], {})
    call("unpack", "all.zip", "--store", "other")
    assert capsys.readouterr().out == "1 run added, 1 already there, 0 refused\n"
    assert answer(capsys, "remove", Sums(n=2).address[:8])["removed"] == Sums(n=2).address
    call("remove", Sums(n=3).address[:8], "--store", "other")
    assert [run.address for run in Store("other").list()] == [Sums(n=2).address]
    with pytest.raises(InputError, match="at most 10 are allowed"):
        call("unpack", "all.zip", "--max-bytes", "10")


def test_bad_input_is_one_sentence(store: Store, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for arguments, message in [
        (("list", "--store", "none"), "there is no store at 'none'"),
        (("list", "--store", "file"), "there is no store at 'file'"),
        (("unpack", "none.zip", "--store", "file"), "is or lies below a file"),
        (("show", "zz"), "'zz' is not the address of a run"),
        (("show", "abcdef"), "unknown run 'abcdef'; there are none."),
        (("remove", "abcdef"), "unknown run 'abcdef'"),
        (("unpack", "none.zip"), "there is no file 'none.zip'"),
    ]:
        with pytest.raises(InputError, match=message) as caught:
            call(*arguments)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("verb", [(), ("list",), ("show",), ("pack",), ("unpack",), ("remove",), ("gc",)])
def test_help_shows_examples(capsys: Output, verb: tuple[str, ...]) -> None:
    call(*verb, "--help")
    assert f"recombine runs {verb[0] if verb else 'list'}" in capsys.readouterr().out
