"""`--on` and `--dry-run` of the verbs that compute."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recombine.cli.main import main
from recombine.studies import STUDIES

Call = Callable[..., tuple[int, str, str]]
TOY = ("--scale", "smoke", "--members", 2, "--device", "cpu")
RUN = ["run", "address", "kind", "members", "steps", "stored", "strategy", "stack", "units", "seconds", "at_most",
       "memory_bytes", "basis"]  # fmt: skip


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Call:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setattr("recombine.studies.STUDIES", {"gradient-toy": STUDIES["gradient-toy"]})
    monkeypatch.setattr("recombine.runs.calibration.ENOUGH", 0.0)

    def run(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return int(stopped.value.code or 0), out, err

    return run


@pytest.mark.parametrize("verb", [("study", "run", "gradient-toy"), ("reproduce",)])
def test_a_dry_run_prints_the_plan_and_writes_nothing(call: Call, tmp_path: Path, verb: tuple[str, ...]) -> None:
    code, out, err = call(*verb, *TOY, "--dry-run", "--on", "processes:3", "--json")
    assert (code, err) == (0, "")
    data = json.loads(out)
    assert [list(run) for run in data["runs"]] == [RUN] * 7
    assert {run["run"] for run in data["runs"]} == {
        f"gradient-toy/{name}" for name in STUDIES["gradient-toy"].runs("smoke", 2)
    }
    assert all(run["seconds"] > 0 for run in data["runs"])
    total = data["total"]
    assert (total["runs"], total["stored"], total["unknown"], total["workers"]) == (7, 0, 0, 3)
    assert total["longest_piece"] <= total["seconds"] <= total["seconds_one_worker"]
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_for_people(call: Call, tmp_path: Path) -> None:
    code, out, err = call("study", "run", "gradient-toy", *TOY, "--dry-run")
    assert (code, err) == (0, "")
    assert "7 runs at smoke scale on this cpu: 0 stored." in out
    assert "nothing was written" in out
    assert "stacked × 2" in out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
@pytest.mark.parametrize("verb", [("study", "run", "gradient-toy"), ("reproduce",)])
def test_where_nothing_can_run_is_refused(call: Call, verb: tuple[str, ...], more: tuple[str, ...]) -> None:
    code, out, err = call(*verb, *TOY, *more, "--on", "the-moon")
    assert (code, out) == (2, "")
    assert err == "recombine: cannot run on 'the-moon'; use here, processes, processes:4, ray or ray://HOST:PORT.\n"


@pytest.mark.parametrize("more", [("--members", 1), ("--scale", "smoke", "--members", -2)])
def test_a_dry_run_refuses_what_a_run_refuses(call: Call, more: tuple[object, ...]) -> None:
    code, _, err = call("study", "run", "gradient-toy", "--dry-run", *more)
    assert code == 2
    assert "needs at least 2 members" in err


@pytest.mark.parametrize(
    ("verb", "name"), [(("study", "run", "gradient-toy"), "run_study"), (("reproduce",), "run_studies")]
)
def test_on_reaches_whoever_computes(
    call: Call, monkeypatch: pytest.MonkeyPatch, verb: tuple[str, ...], name: str
) -> None:
    asked: list[Any] = []

    def run(*_: object, on: str, **__: object) -> None:
        asked.append(on)
        raise KeyboardInterrupt

    monkeypatch.setattr(f"recombine.studies.{name}", run)
    assert call(*verb, *TOY, "--on", "processes:2")[0] == 130
    assert call(*verb, *TOY)[0] == 130
    assert asked == ["processes:2", "here"]
