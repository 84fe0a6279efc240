"""Results: saved by ending, drawn by whoever registered, and never half a picture."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import polars as pl
import pytest

import recombine as rc
from recombine.errors import InputError
from recombine.result import Result, as_json, register, safe_csv


@dataclass(frozen=True)
class Number(Result):
    kind: ClassVar[str] = "number of a test"
    value: float

    def to_frame(self) -> pl.DataFrame:
        return pl.DataFrame({"value": [self.value]})

    def to_dict(self) -> dict[str, Any]:
        return {"value": self.value, "name": "é"}


class Chart:
    def __init__(self, value: float) -> None:
        self.value = value

    def save(self, path: str) -> None:
        Path(path).write_text(f"chart of {self.value}")


def test_data_is_saved_by_its_ending(tmp_path: Path) -> None:
    result = Number(1.5)
    assert json.loads(result.save(tmp_path / "deep" / "a.json").read_text("utf-8")) == {"value": 1.5, "name": "é"}
    assert pl.read_csv(result.save(tmp_path / "a.csv")).equals(result.to_frame())
    assert pl.read_parquet(result.save(tmp_path / "a.PARQUET")).equals(result.to_frame())
    assert "é" in result.to_json()


def test_what_to_cite_is_saved_for_bibtex(tmp_path: Path) -> None:
    result = rc.check(pl.DataFrame({"a": ["x", "x", "y"], "b": ["u", "v", "u"]}), ["a", "b"])
    entry = result.save(tmp_path / "cite.bib").read_text("utf-8")
    assert entry.startswith("@misc{recombine,")
    assert entry.count("@") == 1


def test_pictures_and_pages_come_from_whoever_registered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recombine.result._RENDERERS", {})
    result = Number(2.0)
    with pytest.raises(InputError, match="nothing is registered to draw a number of a test result as plot"):
        result.plot()
    with pytest.raises(InputError, match="as page"):
        result.save(tmp_path / "a.html")
    assert not (tmp_path / "a.html").exists()
    register("number of a test", "plot", lambda r: Chart(r.value))
    register("number of a test", "page", lambda r: f"<p>{r.value}</p>")
    assert result.plot().value == 2.0
    assert result._repr_html_() == "<p>2.0</p>"
    assert result.save(tmp_path / "a.svg").read_text() == "chart of 2.0"
    assert result.save(tmp_path / "a.html").read_text() == "<p>2.0</p>"


@pytest.mark.parametrize("name", ["a.docx", "a"])
def test_an_unknown_ending_is_refused_before_anything_is_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"cannot save a result as .*use one of \.html"):
        Number(1).save(tmp_path / "new" / name)
    assert not (tmp_path / "new").exists()


def test_a_place_that_cannot_be_written_is_said_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"file/a\.csv' cannot be written: "):
        Number(1).save(tmp_path / "file" / "a.csv")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(InputError, match=r"folder\.json' cannot be written: "):
        Number(1).save(tmp_path / "folder.json")


@dataclass(frozen=True)
class Judged(Number):
    verdict: str = "fails"

    def sentence(self) -> str:
        return "It is too small."


@dataclass(frozen=True)
class Named(Number):
    def __repr__(self) -> str:
        return "mine"


def test_a_result_shows_what_was_found_and_not_all_that_it_holds() -> None:
    assert repr(Number(1)) == "<Number>"
    assert repr(Judged(1)) == str(Judged(1)) == "<Judged: fails — It is too small.>"
    assert repr(Named(1)) == "mine"


def test_json_never_holds_nan() -> None:
    assert json.loads(Number(float("nan")).to_json())["value"] is None
    assert (
        as_json({"a": [1.0, float("nan")], "b": {"c": (float("inf"), "x")}})
        == '{"a": [1.0, null], "b": {"c": [null, "x"]}}'
    )


def test_a_bare_result_has_nothing() -> None:
    with pytest.raises(TypeError, match="Result has no table"):
        Result().to_frame()
    with pytest.raises(TypeError, match="Result has no dictionary"):
        Result().to_dict()


def test_a_spreadsheet_calculates_nothing_in_an_export():
    frame = pl.DataFrame({"=1+1": ["=cmd|' /C calc'!A0", "@SUM(A1)", "-2", "-", "+x", None], "n": [-1, 2, 3, 4, 5, 6]})
    lines = safe_csv(frame).splitlines()
    assert lines == ["'=1+1,n", "'=cmd|' /C calc'!A0,-1", "'@SUM(A1),2", "-2,3", "-,4", "'+x,5", ",6"]
