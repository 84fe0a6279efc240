"""Nothing in a store or in a person's file is ever run: no pickle is opened, and the source has no way to open one."""

from __future__ import annotations

import ast
import os
import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch

import recombine
from recombine.cli import main
from recombine.errors import InputError
from recombine.models import Perceptron
from recombine.runs.formats import tensors_from_bytes
from recombine.runs.manifest import Damaged
from recombine.structure import load_model, read_problems, save_model
from recombine.training import Ensemble
from recombine.training.checkpoint import POINTER, Checkpoint, load_checkpoint, save_checkpoint

SOURCE = Path(recombine.__file__).parent
FORBIDDEN = {
    *("eval", "exec", "compile", "__import__", "os.system", "os.popen", "torch.hub.load", "torch.jit.load"),
    *("pickle.load", "pickle.loads", "pickle.Unpickler", "dill.load", "dill.loads", "cloudpickle.load"),
    *("cloudpickle.loads", "marshal.load", "marshal.loads", "shelve.open", "joblib.load", "yaml.load"),
    *("yaml.unsafe_load", "pl.read_pickle", "pd.read_pickle", "pandas.read_pickle"),
}
PICKLERS = ("pickle", "marshal", "shelve", "dill", "cloudpickle")
ALLOWED = {
    ("runs/executors/worker.py", "pickle.loads"),
    ("training/strategies/fused.py", "compile"),
    ("training/strategies/fused.py", "exec"),
}
"""A worker makes sure that its own error can be sent home, by undoing what it has just done; no file is read. A
training in one launch is a program of numbers and of words that are known there; nothing that a person wrote gets into
it."""


def is_constant(call: ast.Call, keyword: str, value: object) -> bool:
    return any(k.arg == keyword and isinstance(k.value, ast.Constant) and k.value.value is value for k in call.keywords)


def problems_of(tree: ast.AST) -> list[str]:
    """What a source has that could run a program from a file."""
    found = []
    for call in ast.walk(tree):
        if isinstance(call, ast.ImportFrom) and call.module in PICKLERS:
            found.append(f"from {call.module}")
        if not (isinstance(call, ast.Call) and isinstance(call.func, (ast.Name, ast.Attribute))):
            continue
        name = ast.unparse(call.func)
        if name in FORBIDDEN:
            found.append(name)
        if name == "torch.load" and not is_constant(call, "weights_only", True):
            found.append(name)
        if name in ("np.load", "numpy.load") and not is_constant(call, "allow_pickle", False):
            found.append(name)
        if any(k.arg == "shell" for k in call.keywords) or is_constant(call, "trust_remote_code", True):
            found.append(name)
    return found


def test_the_source_has_no_way_to_run_what_it_reads() -> None:
    seen = set()
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        seen |= {(name, problem) for problem in problems_of(ast.parse(path.read_text(encoding="utf-8")))}
    assert seen - ALLOWED == set()


def test_the_search_finds_what_it_looks_for() -> None:
    for line in ("torch.load(f)", "torch.load(f, weights_only=False)", "np.load(f)", "eval(x)", "pickle.loads(b)",
                 "subprocess.run(c, shell=True)", "from pickle import loads"):  # fmt: skip
        assert problems_of(ast.parse(line)), line
    assert not problems_of(ast.parse("torch.load(f, weights_only=True); np.load(f, allow_pickle=False); model.eval()"))


class Payload:
    """Unpickled, it makes a folder."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.marker),)


@pytest.fixture(params=["pickle", "old pickle", "torch", "old torch"])
def armed(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Path]:
    """A file that makes a folder when it is unpickled, and that folder."""
    file, marker = tmp_path / "file.pt", tmp_path / "executed"
    if "pickle" in request.param:
        file.write_bytes(pickle.dumps(Payload(marker), protocol=0 if "old" in request.param else 4))
    else:
        torch.save(Payload(marker), file, _use_new_zipfile_serialization="old" not in request.param)
    return file, marker


def test_the_pickle_would_run(tmp_path: Path) -> None:
    pickle.loads(pickle.dumps(Payload(tmp_path / "executed")))
    assert (tmp_path / "executed").exists()


def test_a_pickle_is_refused_as_a_model(armed: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    file, marker = armed
    folder = file.parent / "model"
    net = Perceptron(widths=(2, 2))
    save_model(folder, net(), net)
    shutil.copy(file, folder / "model.safetensors")
    shutil.copy(file, folder / "model.weights")
    np.savez(file.parent / "a.npz", inputs=np.zeros((4, 2)), targets=np.zeros(4, int))
    for model in (file, folder, folder / "model.weights"):
        with pytest.raises(InputError, match=r"is a pickle, which can run any program|does not hold safetensors"):
            load_model(model)
        with pytest.raises(SystemExit) as ended:
            main(["dissect", str(model), str(file.parent / "a.npz"), str(file.parent / "a.npz")])
        assert ended.value.code == 2
        err = capsys.readouterr().err
        assert err.count("\n") == 1
        assert "pickle" in err or "safetensors" in err
    assert not marker.exists()


def test_a_pickle_is_refused_as_an_ensemble_and_as_a_checkpoint(armed: tuple[Path, Path]) -> None:
    file, marker = armed
    with pytest.raises(InputError, match=r"is a pickle|does not hold the weights"):
        Ensemble.load(file, Perceptron(widths=(2, 2)))
    with pytest.raises(Damaged):
        tensors_from_bytes(file.read_bytes())
    folder = file.parent / "stack"
    save_checkpoint(folder, {"all": "key"}, Checkpoint(3, {"w": torch.zeros(2)}, {"t": pl.DataFrame({"a": [1]})}))
    for pattern in ("state-*", "record-*", POINTER):
        (path,) = folder.glob(pattern)
        whole = path.read_bytes()
        shutil.copy(file, path)
        assert load_checkpoint(folder, {"all": "key"}, "cpu") is None
        path.write_bytes(whole)
    assert load_checkpoint(folder, {"all": "key"}, "cpu") is not None
    assert not marker.exists()


@pytest.mark.parametrize("ending", ["csv", "parquet", "pt", "npz", ""])
def test_a_pickle_is_refused_as_a_table(
    armed: tuple[Path, Path], ending: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file, marker = armed
    table = file.with_name(f"table.{ending}" if ending else "table")
    shutil.copy(file, table)
    for verb in (["check"], ["measure", "--target", "y", "--prediction", "p", "--split", "a=b"]):
        with pytest.raises(SystemExit) as ended:
            main([*verb, str(table), "--factors", "a,b"])
        assert ended.value.code == 2
        assert capsys.readouterr().err.count("\n") == 1
    with pytest.raises(InputError):
        read_problems(table)
    assert not marker.exists()


def test_an_array_of_objects_is_refused(tmp_path: Path) -> None:
    marker = tmp_path / "executed"
    np.savez(tmp_path / "a.npz", inputs=np.array([Payload(marker)], dtype=object), targets=np.array([0]))
    with pytest.raises(InputError, match="holds no numbers"):
        read_problems(tmp_path / "a.npz")
    assert not marker.exists()
