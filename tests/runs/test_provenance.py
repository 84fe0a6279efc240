"""Where a result came from, and what must not be in it."""

from __future__ import annotations

import getpass
import json
import platform
import sys
import time
from datetime import datetime
from pathlib import Path

import pytest

import recombine
from recombine.runs import provenance, start
from recombine.runs._provenance import command, version
from recombine.runs.code import source


def test_what_is_recorded() -> None:
    record = provenance("cpu", start("cpu"))
    assert record["versions"]["python"] == platform.python_version()
    assert record["versions"]["recombine"] == recombine.__version__
    assert record["source"] == source()
    assert record["versions"]["torch"] == version("torch") is not None
    assert record["versions"]["polars"] == version("polars") is not None
    assert datetime.fromisoformat(record["started"]).tzinfo is not None
    assert record["device"] == "cpu"
    assert record["device_name"]
    assert record["cpus"] >= 1
    assert record["peak_memory_bytes"] > 10 * 2**20
    assert json.loads(json.dumps(record, allow_nan=False)) == record


def test_no_host_no_user_no_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "argv", ["/opt/alice/bin/recombine", "study", "run", "--out", str(tmp_path / "page")])
    text = json.dumps(provenance("cpu", start()))
    assert str(tmp_path) not in text
    assert str(Path(__file__).parents[2]) not in text
    assert "alice" not in text
    for private in {platform.node(), getpass.getuser()} - {"", "root", "localhost"}:
        assert private not in text


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (["/usr/bin/recombine", "study", "run", "toy"], "recombine study run toy"),
        (["r", "--out", "/home/alice/my page"], "r --out '…/my page'"),
        (["r", "--out=/home/alice/page"], "r '--out=…/page'"),
        (["r", "--store", "~alice/store"], "r --store '…/store'"),
        (["r", "--store", r"C:\Users\alice\store"], "r --store '…/store'"),
        (["r", "--store=s3://key:secret@host/bucket/store"], "r '--store=s3://…/store'"),
        (["r", "--on", "ray://head.example:10001"], "r --on 'ray://…'"),
        (["r", "runs/local", "--lr=0.1"], "r runs/local --lr=0.1"),
        ([], "''"),
    ],
)
def test_the_command_line_loses_its_paths(given: list[str], kept: str) -> None:
    assert command(given) == kept


def test_a_clock_that_jumps_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    started = start()
    monkeypatch.setattr(time, "time", lambda: -1e9)
    assert 0 <= provenance("cpu", started)["seconds"] < 30
