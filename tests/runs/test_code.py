"""Every run can be tied to code: in a checkout, in a folder that was carried, and in a package that was installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sums import Sums

from recombine.runs import Store, work as at_work
from recombine.runs.code import VARIABLE, commit, git, source
from recombine.runs.work import Piece

CODE = Path(sys.modules["recombine.runs.code"].__file__ or "")
ASK = "import json, runpy, sys; m = runpy.run_path(sys.argv[1]); print(json.dumps([m['commit'](), m['source']()]))"


def asked(package: Path, **environment: str) -> tuple[str | None, str]:
    """Commit and source as a package elsewhere says them."""
    clean = {name: value for name, value in os.environ.items() if name != VARIABLE}
    run = [sys.executable, "-c", ASK, str(package / "runs" / "code.py")]
    told = subprocess.run(run, capture_output=True, text=True, check=True, env=clean | environment).stdout
    found, of = json.loads(told)
    return found, of


def committed(top: Path) -> str:
    for step in (["init", "-q"], ["add", "-A"], ["-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "all"]):
        subprocess.run(["git", *step], cwd=top, check=True)
    head = git(top, "rev-parse", "HEAD")
    assert head
    return head


def package(at: Path) -> Path:
    (at / "runs").mkdir(parents=True)
    shutil.copy(CODE, at / "runs" / "code.py")
    (at / "__init__.py").write_text("", encoding="utf-8")
    return at


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    made = package(tmp_path / "checkout" / "src" / "recombine")
    (tmp_path / "checkout" / ".gitignore").write_text("COMMIT\n__pycache__/\n", encoding="utf-8")
    committed(tmp_path / "checkout")
    return made


def test_the_commit_is_that_of_this_checkout() -> None:
    head = git(Path(__file__).parent, "rev-parse", "--verify", "-q", "HEAD")
    assert commit() is None or head is None or (commit() or "").removesuffix("-dirty") == head


def test_a_checkout_says_its_commit_and_whether_its_source_differs(checkout: Path) -> None:
    head = git(checkout, "rev-parse", "HEAD")
    clean = asked(checkout)
    assert clean == (head, asked(checkout, **{VARIABLE: "another"})[1])
    assert asked(checkout, **{VARIABLE: "another"})[0] == head
    (checkout.parents[1] / "results.csv").write_text("a result beside the source is no change of the source")
    assert asked(checkout) == clean
    (checkout / "more.py").write_text("")
    dirty, other = asked(checkout)
    assert dirty == f"{head}-dirty"
    assert other != clean[1]


def test_a_folder_that_is_carried_takes_its_commit_along(checkout: Path, tmp_path: Path) -> None:
    head, of = asked(checkout)
    subprocess.run([sys.executable, str(checkout / "runs" / "code.py")], check=True)
    assert asked(checkout) == (head, of)
    carried = tmp_path / "elsewhere" / "src" / "recombine"
    shutil.copytree(checkout, carried)
    assert asked(carried) == (head, of)
    (carried / "__init__.py").write_text("changed = True\n", encoding="utf-8")
    assert asked(carried)[0] == f"{head}-dirty"


def test_files_that_lie_on_an_older_history_say_the_commit_they_are_of(checkout: Path) -> None:
    older = git(checkout, "rev-parse", "HEAD")
    (checkout / "__init__.py").write_text("later = True\n", encoding="utf-8")
    committed(checkout.parents[1])
    subprocess.run([sys.executable, str(checkout / "runs" / "code.py")], check=True)
    later = git(checkout, "rev-parse", "HEAD")
    subprocess.run(["git", "reset", "--soft", str(older)], cwd=checkout, check=True)
    assert asked(checkout)[0] == later
    (checkout / "__init__.py").write_text("changed = True\n", encoding="utf-8")
    assert asked(checkout)[0] == f"{older}-dirty"


def test_without_a_checkout_the_variable_is_taken_and_the_source_is_always_there(tmp_path: Path) -> None:
    alone = package(tmp_path / "recombine")
    found, of = asked(alone)
    assert found is None
    assert len(of) == 64
    assert asked(alone, **{VARIABLE: " abc123\n"}) == ("abc123", of)
    (alone / "COMMIT").write_text("not two words of ours", encoding="utf-8")
    assert asked(alone)[0] is None


def test_another_repository_around_the_package_is_not_taken_for_ours(tmp_path: Path) -> None:
    alone = package(tmp_path / "site" / "recombine")
    committed(tmp_path)
    assert asked(alone)[0] is None


def test_the_source_is_the_same_whatever_ends_its_lines(tmp_path: Path) -> None:
    unix = package(tmp_path / "unix" / "recombine")
    other = package(tmp_path / "other" / "recombine")
    (other / "runs" / "code.py").write_bytes(CODE.read_bytes().replace(b"\n", b"\r\n"))
    assert asked(unix)[1] == asked(other)[1]


@pytest.mark.parametrize(("of", "known"), [(source(), "abc123"), ("another source", None)])
def test_a_worker_with_the_same_source_is_told_the_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of: str, known: str | None
) -> None:
    there = at_work.provenance
    monkeypatch.setattr(at_work, "provenance", lambda *given: there(*given) | {"commit": None})
    answer = at_work.compute(Store(tmp_path), Piece(Sums(weights=False), "cpu", code=("abc123", of)))
    assert answer.stored is not None
    assert answer.stored.provenance["commit"] == known


def test_no_git_is_no_commit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git(tmp_path, "rev-parse", "HEAD") is None
