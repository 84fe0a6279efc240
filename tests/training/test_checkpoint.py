"""Training interrupted anywhere continues to the same bits; a checkpoint not ours, or not whole, is not used."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import torch
from hypothesis import given, settings as hypothesis_settings, strategies as st
from trainees import NET, TOY, Dropped, Normed, Tied, assert_bitwise, fixed_task, short

from recombine.errors import InputError
from recombine.models import Perceptron
from recombine.tasks import ToyTask
from recombine.training import SGD, Adam, Ensemble, Record
from recombine.training.checkpoint import POINTER, Checkpoint, load_checkpoint, save_checkpoint


class Interrupted(BaseException):
    """As Ctrl-C is: not an Exception."""


def stop_at(call: int) -> Any:
    calls = 0

    def progress(done: int, total: int) -> None:
        nonlocal calls
        calls += 1
        if calls == call:
            raise Interrupted

    return progress


def norms(ensemble: Ensemble, task: Any) -> pl.DataFrame:
    return pl.DataFrame({"member": ensemble.members, "norm": ensemble.flat.norm(dim=1).tolist()})


KEY = {"task": "one", "steps": "two"}
RECORD = Record("norms", norms, (0, 5, 17, 40, -1))
CASES: list[Any] = [
    {"strategy": "stacked", "optimizer": Adam(lr=0.01)},
    {"strategy": "loop", "optimizer": SGD(lr=0.1, momentum=0.9)},
    {"strategy": "stacked", "model": Normed, "optimizer": Adam(lr=0.05), "stop_below": 0.25, "batch_size": 32},
    {
        "strategy": "stacked",
        "model": Normed,
        "optimizer": Adam(lr=0.05),
        "stop_below": 0.25,
        "stop_on": 64,
        "stop_every": 5,
        "chunk_size": 2,
    },
    {"strategy": "loop", "model": Dropped, "optimizer": Adam(lr=0.01)},
    {"strategy": "stacked", "task": fixed_task(), "batch_size": 5, "chunk_size": 2},
    {"strategy": "stacked", "task": fixed_task(), "batch_size": None, "optimizer": SGD(lr=(0.1, 1e7, 0.1, 0.1))},
]
NAMES = ["adam", "looped momentum", "batchnorm stopping", "stopping by fresh examples", "dropout", "epochs in chunks",
         "full batch diverging"]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_interrupted_anywhere_and_continued_is_uninterrupted(
    case: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recombine.training.engine.BLOCK_STEPS", 8)
    settings = {"steps": 100 if "stop_below" in case else 48, "records": [RECORD], "fit_below": 0.3, **case}
    whole = short(**settings)
    settings |= {"checkpoint": tmp_path, "checkpoint_seconds": 0.0}
    interrupted = 0
    for call in (1, 2, 4):
        try:
            short(**settings, progress=stop_at(call))
        except Interrupted:
            interrupted += 1
    assert interrupted >= 2
    continued = short(**settings)
    assert_bitwise(whole, continued)
    assert continued.notes["final_loss"] == whole.notes["final_loss"]


def test_finished_training_is_read_and_not_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = short(checkpoint=tmp_path, records=[RECORD], steps=95)
    monkeypatch.setattr("recombine.training.strategies.Stacked.advance", lambda *_: pytest.fail("trained again"))
    again = short(checkpoint=tmp_path, records=[RECORD], steps=95)
    assert_bitwise(first, again)


def test_nothing_is_written_before_it_is_due(tmp_path: Path) -> None:
    with pytest.raises(Interrupted):
        short(checkpoint=tmp_path, steps=200, progress=stop_at(2))
    assert not list(tmp_path.rglob(POINTER))
    short(checkpoint=tmp_path, steps=20)
    (folder,) = tmp_path.iterdir()
    assert sorted(path.name for path in folder.iterdir()) == [POINTER, "state-20.safetensors"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Ensemble, Path]:
    """A training of 20 steps, and its checkpoint; to be copied before it is touched."""
    folder = tmp_path_factory.mktemp("finished")
    return short(checkpoint=folder, steps=20), folder


OTHERS: list[Any] = [
    {"steps": 21},
    {"optimizer": SGD(lr=0.2)},
    {"seed": 1},
    {"batch_size": 9},
    {"stop_below": 0.01},
    {"stop_on": 8},
    {"init_scale": 2.0},
    {"model": Perceptron(widths=(2, 8, 8, 2), activation="relu", start="playground")},
    {"model": Perceptron(widths=(2, 9, 8, 2))},
    {"model": Tied},
    {"task": ToyTask(second="uninformative")},
    {"task": fixed_task()},
    {"records": [Record("norms", norms, (0, 5, 17, -1))]},
    {"dtype": torch.float32},
]


@pytest.mark.parametrize("change", OTHERS, ids=[str(i) for i in range(len(OTHERS))])
def test_the_checkpoint_of_another_training_is_refused_and_stays(
    finished: tuple[Ensemble, Path], tmp_path: Path, change: Any
) -> None:
    shutil.copytree(finished[1], tmp_path, dirs_exist_ok=True)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(InputError, match="holds the checkpoint of another training"):
        short(**{"checkpoint": tmp_path, "steps": 20, **change})
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def garble(path: Path) -> None:
    path.write_bytes(b"\xff" * path.stat().st_size)


def remove(path: Path) -> None:
    path.unlink()


def flip(path: Path) -> None:
    """One bit of the last quarter: in the numbers of the weights, not in their names."""
    data = bytearray(path.read_bytes())
    data[-len(data) // 4] ^= 1
    path.write_bytes(data)


@pytest.fixture(scope="module")
def undisturbed() -> Ensemble:
    return short(steps=90, records=[RECORD])


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is left of the same training, interrupted; to be copied before it is touched."""
    folder = tmp_path_factory.mktemp("interrupted")
    with pytest.raises(Interrupted):
        short(steps=90, records=[RECORD], checkpoint=folder, checkpoint_seconds=0.0, progress=stop_at(3))
    return folder


FILES = [POINTER, "state-*.safetensors", "record-0-*.parquet"]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", [truncate, empty, garble, remove, flip])
def test_a_damaged_checkpoint_starts_again(
    undisturbed: Ensemble, interrupted: Path, tmp_path: Path, name: str, damage: Any, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.copytree(interrupted, tmp_path, dirs_exist_ok=True)
    (path,) = tmp_path.rglob(name)
    damage(path)
    assert_bitwise(undisturbed, short(steps=90, records=[RECORD], checkpoint=tmp_path))
    told = [r.getMessage() for r in caplog.records if "is damaged" in r.getMessage()]
    assert len(told) == (0 if name == POINTER and damage is remove else 1)
    assert all("training starts again" in message for message in told)


@hypothesis_settings(max_examples=40, deadline=None)
@given(st.data())
def test_no_flipped_bit_is_ever_served(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("flipped")
    table = pl.DataFrame({"a": [1.5, 2.5]})
    save_checkpoint(folder, KEY, Checkpoint(12, {"w": torch.arange(4.0)}, {"table": table}))
    assert load_checkpoint(folder, KEY, "cpu") is not None
    path = data.draw(st.sampled_from(sorted(folder.iterdir())))
    content = bytearray(path.read_bytes())
    at, bit = data.draw(st.integers(0, len(content) - 1)), data.draw(st.integers(0, 7))
    content[at] ^= 1 << bit
    path.write_bytes(content)
    assert load_checkpoint(folder, KEY, "cpu") is None


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="an open file is named by /proc")
def test_every_file_is_synced_before_the_pointer_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    sync, replace = os.fsync, os.replace

    def synced(descriptor: int) -> None:
        done.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")).name)
        sync(descriptor)

    monkeypatch.setattr("os.fsync", synced)
    monkeypatch.setattr("os.replace", lambda a, b: (done.append("replaced"), replace(a, b)))
    save_checkpoint(tmp_path, KEY, Checkpoint(3, {"w": torch.zeros(2)}, {"t": pl.DataFrame({"a": [1]})}))
    files = ["state-3.safetensors", "record-0-3.parquet", f"{POINTER}.new"]
    assert done == [*files, "replaced", tmp_path.name]


@pytest.mark.parametrize("text", ["[]", "3", "null", "{}", "[" * 9999, '{"key": "KEY"}', '{"key": "KEY", "state": 3}',
                                  '{"key": "KEY", "state": "../../x", "records": {}, "step": 1}'])  # fmt: skip
def test_a_pointer_that_makes_no_sense_counts_as_none(
    finished: tuple[Ensemble, Path], tmp_path: Path, text: str
) -> None:
    whole, folder = finished
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    (path,) = tmp_path.rglob(POINTER)
    key = json.loads(path.read_text())["key"]
    path.write_text(text.replace('"KEY"', json.dumps(key)))
    assert_bitwise(whole, short(checkpoint=tmp_path, steps=20))


def test_tensors_of_another_shape_are_not_restored(finished: tuple[Ensemble, Path], tmp_path: Path) -> None:
    whole, folder = finished
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    (path,) = tmp_path.rglob(POINTER)
    key = json.loads(path.read_text())["key"]
    save_checkpoint(path.parent, key, Checkpoint(5, {"flat": torch.zeros(1, 1)}, {}))
    assert_bitwise(whole, short(checkpoint=tmp_path, steps=20))


def test_a_write_that_is_interrupted_leaves_the_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = pl.DataFrame({"a": [1.5]})
    first = Checkpoint(5, {"w": torch.arange(3.0)}, {"table": table})
    save_checkpoint(tmp_path, KEY, first)

    def killed(*_: Any) -> None:
        raise Interrupted

    with monkeypatch.context() as patch:
        patch.setattr("os.replace", killed)
        with pytest.raises(Interrupted):
            save_checkpoint(tmp_path, KEY, Checkpoint(9, {"w": torch.zeros(3)}, {"table": table + 1}))
    there = load_checkpoint(tmp_path, KEY, "cpu")
    assert there is not None
    assert (there.step, there.tensors["w"].tolist()) == (5, [0, 1, 2])
    assert there.records["table"].equals(table)
    save_checkpoint(tmp_path, KEY, Checkpoint(9, {"w": torch.zeros(3)}, {}))
    assert sorted(path.name for path in tmp_path.iterdir()) == [POINTER, "state-9.safetensors"]
    assert load_checkpoint(tmp_path / "nowhere", KEY, "cpu") is None
    with pytest.raises(InputError, match="another training"):
        load_checkpoint(tmp_path, {"task": "another"}, "cpu")


def test_stacks_of_one_training_have_folders_of_their_own(tmp_path: Path) -> None:
    chunked = short(NET, TOY, members=5, chunk_size=2, checkpoint=tmp_path, steps=10)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["stack-0-1", "stack-2-3", "stack-4-4"]
    assert_bitwise(chunked, short(NET, TOY, members=5, chunk_size=2, checkpoint=tmp_path, steps=10))
