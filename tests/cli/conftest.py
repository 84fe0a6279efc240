"""Commands on studies, called in this process, with a study that is small enough for a test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from called import TOY, Call

from recombine.cli.main import main
from recombine.studies.verification import study_record


@pytest.fixture(scope="module")
def store(toy_store: Path) -> Path:
    return toy_store


@pytest.fixture
def plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages, pictures and other studies are tested elsewhere and cost seconds; one line stands for a page."""

    def write_study(result: Any, out: Path, _: Any = None) -> Path:
        from recombine.reporting.study import write  # the same writer, without the pictures

        write(out / "study.json", json.dumps(study_record(result)).encode())
        return write(out / "index.html", b"<p>page</p>")

    for place in ("recombine.reporting", "recombine.reporting.overview"):
        monkeypatch.setattr(f"{place}.write_study", write_study)
    monkeypatch.setattr("recombine.studies.STUDIES", {"gradient-toy": TOY})
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Call:
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return int(stopped.value.code or 0), out, err

    return run


@pytest.fixture
def run(call: Call, store: Path) -> Call:
    """A study small enough for a test; its runs are computed once for all of them."""
    return lambda *more: call(
        "study", "run", "gradient-toy", "--scale", "smoke", "--members", 2, "--device", "cpu", "--store", store, *more
    )
