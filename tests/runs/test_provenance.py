"""Where a result came from, and what must not be in it."""

from __future__ import annotations

import getpass
import json
import platform
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

import pytest

from recombine.runs import provenance, start
from recombine.runs.provenance import _git, command, commit, version


def test_what_is_recorded() -> None:
    record = provenance("cpu", start("cpu"))
    assert record["versions"]["python"] == platform.python_version()
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


def test_the_commit_is_that_of_this_checkout_or_none() -> None:
    head = _git(Path(__file__).parent, "rev-parse", "--verify", "-q", "HEAD")
    found = commit()
    assert found is None or found.removesuffix("-dirty") == head


def test_another_repository_around_the_package_is_not_taken_for_ours(tmp_path: Path) -> None:
    package = tmp_path / "site" / "recombine" / "runs"
    package.mkdir(parents=True)
    source = sys.modules["recombine.runs.provenance"].__file__
    assert source
    code = Path(source).read_text(encoding="utf-8")
    (package / "provenance.py").write_text(code, encoding="utf-8")
    identity = ["-c", "user.name=n", "-c", "user.email=e"]
    for step in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-q", "-m", "theirs"]):
        subprocess.run(["git", *step], cwd=tmp_path, check=True)
    asked = "import runpy, sys; print(runpy.run_path(sys.argv[1])['commit']())"
    run = [sys.executable, "-c", asked, str(package / "provenance.py")]
    assert subprocess.run(run, capture_output=True, text=True, check=True).stdout == "None\n"

    ours = tmp_path / "ours" / "src" / "recombine" / "runs"
    ours.mkdir(parents=True)
    (ours / "provenance.py").write_text(code, encoding="utf-8")
    top = tmp_path / "ours"
    for step in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-q", "-m", "ours"]):
        subprocess.run(["git", *step], cwd=top, check=True)
    run[-1] = str(ours / "provenance.py")
    head = _git(top, "rev-parse", "HEAD")
    assert subprocess.run(run, capture_output=True, text=True, check=True).stdout == f"{head}\n"
    (top / "results.csv").write_text("a result beside the source is no change of the source")
    assert subprocess.run(run, capture_output=True, text=True, check=True).stdout == f"{head}\n"
    (ours / "more.py").write_text("")
    assert subprocess.run(run, capture_output=True, text=True, check=True).stdout == f"{head}-dirty\n"


def test_no_git_is_no_commit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert _git(tmp_path, "rev-parse", "HEAD") is None
