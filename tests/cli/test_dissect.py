"""`recombine dissect` and the files it reads: what is printed, what is refused and why, and the example."""

from __future__ import annotations

import inspect
import json
import runpy
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
from torch import Tensor, nn

from recombine.cli.dissect import _numbers, dissect as command
from recombine.cli.main import main
from recombine.errors import InputError
from recombine.models import OddOneOutNet, Perceptron
from recombine.structure import load_model, read_problems, save_model
from recombine.structure._dissect import PENALTIES, STARTS
from recombine.structure.saved import described
from recombine.tasks import Problems

ROOT = Path(__file__).parents[2]
NET = Perceptron(widths=(2, 2))
QUICK = ["--epochs", "3", "--starts", "0.05", "--rates", "0.05", "--penalties", "0.2", "--seeds", "1"]


def call(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["dissect", *words])
    shown = capsys.readouterr()
    return int(ended.value.code or 0), shown.out, shown.err


def signs(column: int, count: int = 120) -> tuple[Tensor, Tensor]:
    x = torch.randn(count, 2, generator=torch.Generator().manual_seed(column))
    targets = (x[:, column] > 0).long()
    x[:, 1 - column] = 0
    return x, targets


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A saved model that answers with the sign of the sum of its inputs, and two tables that need one input each."""
    model = NET()
    with torch.no_grad():
        model[0].weight.copy_(torch.tensor([[-1.0, -1.0], [1.0, 1.0]]))  # type: ignore[index,operator,union-attr]
        model[0].bias.zero_()  # type: ignore[index,operator,union-attr]
    save_model(tmp_path / "model", model, NET)
    (left, is_left), (right, is_right) = signs(0), signs(1)
    np.savez(tmp_path / "left.npz", inputs=left.numpy(), targets=is_left.numpy())
    table = pl.DataFrame({"target": is_right.numpy(), "a": right[:, 0].numpy(), "b": right[:, 1].numpy()})
    table.write_csv(tmp_path / "right.csv")
    table.write_parquet(tmp_path / "right.parquet")
    return tmp_path


def test_a_dissection_is_printed_and_written(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    page = folder / "dissection.html"
    words = [str(folder / "model"), str(folder / "left.npz"), str(folder / "right.csv"), "--out", str(page)]
    code, out, err = call(capsys, *words, *QUICK)
    assert (code, err) == (0, "")
    assert "chosen on validation" in out
    assert "untrained" in out
    assert "D_abl" in out
    text = page.read_text(encoding="utf-8")
    assert "<svg" in text
    assert "<script" not in text


def test_json_holds_every_mask(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [str(folder / "model"), str(folder / "left.npz"), str(folder / "right.parquet"), "--json", "--no-controls"]
    words += ["--epochs", "2", "--starts", "0,0.1", "--penalties", "0.2", "--rates", "0.05", "--seeds", "1"]
    code, out, _ = call(capsys, *words, "--layers", ".")
    found = json.loads(out)
    assert code == 0
    assert found["subroutines"] == ["left", "right"]
    assert [row["network"] for row in found["networks"]] == ["trained"]
    assert sum(row["role"] == "search" for row in found["masks"]) == 4
    assert len(found["protocol"]["settings"]) == 2


def test_it_searches_as_python_does() -> None:
    told = {name: inspect.signature(command).parameters[name].default for name in ("starts", "penalties")}
    assert {name: _numbers(text, name) for name, text in told.items()} == {"starts": STARTS, "penalties": PENALTIES}


def test_bad_input_is_said_in_one_sentence(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, left, right = str(folder / "model"), str(folder / "left.npz"), str(folder / "right.csv")
    (folder / "model.pt").write_bytes(b"\x80\x04.")
    cases = {
        "is a pickle, which can run any program": [str(folder / "model.pt"), left, right],
        "there are no weights at": [str(folder), left, right],
        "unknown ending of a file of problems '.pt'": [model, str(folder / "model.pt"), right],
        "unknown parameter 'attention'": [model, left, right, "--layers", "attention"],
        "--starts is 'many'; write numbers": [model, left, right, "--starts", "many"],
        "give --learn-target and --learn-other": [model, left, right, "--learn-target", left],
        "--out 'x.doc' cannot be written": [model, left, right, "--out", str(folder / "x.doc")],
        "are not 4 items": [model, right, right, "--items", "4"],
    }
    for words, arguments in cases.items():
        code, out, err = call(capsys, *arguments)
        assert (code, out) == (2, ""), words
        assert words in err
        assert err.count("\n") == 1


def test_a_model_below_the_gate_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    x, targets = signs(0)
    np.savez(folder / "wrong.npz", inputs=x.numpy(), targets=1 - targets.numpy())
    code, _, err = call(capsys, str(folder / "model"), str(folder / "wrong.npz"), str(folder / "right.csv"), *QUICK)
    assert code == 2
    assert "is not dissected at 90% or below" in err


def test_a_saved_model_comes_back_and_other_weights_are_refused(tmp_path: Path) -> None:
    torch.manual_seed(0)
    architecture = OddOneOutNet(encoder=Perceptron(widths=(4, 3), activation="tanh"))
    model = architecture().double()
    save_model(tmp_path, model, architecture)
    read, described_as = load_model(tmp_path)
    assert described_as == architecture
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), read.parameters(), strict=True))
    save_model(tmp_path, nn.Linear(4, 3), architecture)
    with pytest.raises(InputError, match="do not fit the architecture"):
        load_model(tmp_path)
    with pytest.raises(InputError, match="unknown kind of model 'percepton'; did you mean 'perceptron'"):
        described({"kind": "percepton"})
    with pytest.raises(InputError, match="a JSON object with a kind"):
        described([1])


def test_problems_from_files(tmp_path: Path) -> None:
    pl.DataFrame({"a": [1, 2], "target": [0, 3], "b": [3, 4], "c": [5, 6], "d": [7, 8]}).write_csv(tmp_path / "t.csv")
    found = read_problems(tmp_path / "t.csv", items=2)
    assert isinstance(found, Problems)
    assert found.parts[0].tolist() == [[[1, 3], [5, 7]], [[2, 4], [6, 8]]]
    assert found.targets.tolist() == [0, 3]
    np.savez(tmp_path / "o.npz", inputs=np.array([{}], dtype=object), targets=np.array([0]))
    for name, change, words in (
        ("o.npz", None, "cannot be read as arrays"),
        ("p.npz", {"inputs": np.zeros((2, 2))}, "has no array 'targets'"),
        ("q.npz", {"inputs": np.zeros((2, 2)), "targets": np.zeros(2)}, "must be whole numbers"),
        ("r.npz", {"inputs": np.full((2, 2), np.nan), "targets": np.zeros(2, int)}, "and finite"),
    ):
        if change is not None:
            np.savez(tmp_path / name, **change)
        with pytest.raises(InputError, match=words):
            read_problems(tmp_path / name)
    pl.DataFrame({"a": ["x"], "target": [0]}).write_csv(tmp_path / "words.csv")
    with pytest.raises(InputError, match="column 'a' holds no numbers"):
        read_problems(tmp_path / "words.csv")


def test_the_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(ROOT / "examples" / "dissect_model.py"), run_name="__main__")
    shown = capsys.readouterr().out
    assert "first: the best part that these masks found" in shown
    assert (tmp_path / "dissection.html").is_file()
