"""SIGKILL of the process that runs a study, at any moment: what was finished stays, and the same command completes."""

from __future__ import annotations

import random
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from children import call, start
from injected import kill_at, tear_at
from small_study import assert_completes, assert_intact, finished, hashes, run_study, save_after_every_block
from sums import Sums, data_files

from recombine.runs import Store, get_or_compute
from recombine.studies import STUDIES

pytestmark = pytest.mark.fault
RUN = Sums(n=5)


def obtain_killed(root: Path, inject: Callable[[Path, int], None], moment: int) -> None:
    store = Store(root)
    inject(root, moment)
    get_or_compute(store, {"run": RUN}, device="cpu")


@pytest.mark.parametrize("inject", [kill_at, tear_at], ids=["between writes", "in a write"])
def test_killed_at_every_change_of_a_file(
    tmp_path: Path, inject: Callable[[Path, int], None], record_property: Callable[[str, object], None]
) -> None:
    """fault: SIGKILL while a run is stored | injected: before every change of a file in turn (audit hook), and with
    half of every file written | outcome: no run or a whole one; asked for again, it is there with the same bytes"""
    whole = get_or_compute(Store(tmp_path / "whole"), {"run": RUN}, device="cpu")["run"]
    moment = 0
    while True:
        moment += 1
        root = tmp_path / str(moment)
        if not was_killed(obtain_killed, root, inject, moment):
            break
        assert not (root / "aside").exists()
        found = get_or_compute(Store(root), {"run": RUN}, device="cpu")["run"]
        assert data_files(found.directory) == data_files(whole.directory)
        assert not (root / "work" / RUN.address).exists()
    record_property("tried", moment - 1)
    assert moment > 3


def was_killed(function: Callable[..., None], *arguments: object) -> bool:
    """Whether the child was killed; otherwise it has ended well."""
    child = start(function, *arguments)
    child.process.join(60)
    killed = child.process.exitcode == -signal.SIGKILL
    child.finish(-signal.SIGKILL if killed else 0)
    return killed


def test_killed_in_the_middle_of_a_study(
    tmp_path: Path, undisturbed: dict[str, str], record_property: Callable[[str, object], None]
) -> None:
    """fault: SIGKILL of `recombine study run` in the middle of training | injected: before one of the changes of a file
    in its store, at moments spread over the study | outcome: what is visible is whole; the same command completes;
    tables byte for byte those of an undisturbed run"""
    moments = range(4, 120, 17)
    kills = 0
    for moment in moments:
        folder = tmp_path / str(moment)
        if not was_killed(run_study, folder, "small", (kill_at, (folder / "store", moment))):
            break
        kills += 1
        assert_intact(folder, undisturbed)
        assert_completes(folder, undisturbed)
    record_property("tried", kills)
    assert kills >= 5


def test_killed_again_and_again(
    tmp_path: Path, undisturbed: dict[str, str], record_property: Callable[[str, object], None]
) -> None:
    """fault: SIGKILL of `recombine study run`, again each time it is started | injected: before the 20th to 40th change
    of a file after each start | outcome: every start comes further, and the study is completed between kills"""
    chance, kills = random.Random(1), 0
    done: set[str] = set()
    while was_killed(run_study, tmp_path, "small", (kill_at, (tmp_path / "store", chance.randint(20, 40)))):
        kills += 1
        assert kills < 30
        assert done <= set(finished(tmp_path))
        done = set(finished(tmp_path))
        assert_intact(tmp_path, undisturbed)
    record_property("tried", kills)
    assert kills >= 2
    assert_completes(tmp_path, undisturbed)


def gradient_toy(folder: Path, kill_after: int = 0) -> None:
    """The study gradient-toy at smoke scale, its page left out: it is drawn from the stored tables anyway."""
    from recombine import reporting

    reporting.write_study = lambda result, out: out  # type: ignore[assignment]
    if kill_after:
        kill_at(folder / "store", kill_after)
    from recombine.cli import main

    save_after_every_block()
    folders = ("--store", str(folder / "store"), "--out", str(folder / "page"))
    main(["study", "run", "gradient-toy", "--scale", "smoke", "--members", "2", "--device", "cpu", "--json", *folders])


def test_a_study_of_the_package_is_killed(
    tmp_path: Path, toy_store: Path, record_property: Callable[[str, object], None]
) -> None:
    """fault: SIGKILL of `recombine study run gradient-toy --scale smoke`, three times one after the other | injected:
    at three random changes of a file in its store | outcome: the same command completes; tables byte for byte those of
    an undisturbed run"""
    expected = hashes(toy_store.parent)
    assert len({Path(file).parent for file in expected}) == len(STUDIES["gradient-toy"].runs("smoke"))
    chance = random.Random(3)
    for _ in range(3):
        assert was_killed(gradient_toy, tmp_path / "killed", chance.randint(20, 90))
        assert_intact(tmp_path / "killed", expected)
    call(gradient_toy, tmp_path / "killed")
    assert hashes(tmp_path / "killed") == expected
    record_property("tried", 3)
