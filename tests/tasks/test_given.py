"""Rows and losses as people have them become what a task is made of, or are refused in a sentence."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset, TensorDataset, WeightedRandomSampler

from recombine.errors import InputError
from recombine.space import FactorSpace
from recombine.support import full
from recombine.tasks import FixedTask, cross_entropy, squared_error
from recombine.tasks.given import per_example

SPACE = FactorSpace.of(a=2, b=3)
CODES = torch.tensor(SPACE.grid()).repeat(2, 1)
X = torch.randn(12, 4, generator=torch.Generator().manual_seed(0))
Y = torch.arange(12) % 3


def made(inputs: Any, targets: Any, combinations: Any = CODES, loss: Any = cross_entropy, **more: Any) -> FixedTask:
    return FixedTask(SPACE, full(SPACE), full(SPACE), inputs, targets, combinations, loss, held_out=0, **more)


class Named(Dataset[Any]):
    """Items with names, as those of the datasets package."""

    def __len__(self) -> int:
        return 12

    def __getitem__(self, i: int) -> dict[str, Any]:
        return {"words": X[i].tolist(), "mask": [1, 0], "label": int(Y[i])}


@pytest.mark.parametrize(
    ("inputs", "targets"),
    [
        (X, Y),
        (X.numpy(), Y.numpy()),
        (X.double().numpy(), Y.numpy().astype(float)),
        (X.tolist(), Y.tolist()),
        (TensorDataset(X, Y), None),
        (DataLoader(TensorDataset(X, Y), batch_size=5), None),
        ({"x": X}, Y),
    ],
    ids=["tensors", "numpy", "doubles and float labels", "lists", "dataset", "loader", "dictionary"],
)
def test_the_same_rows_however_they_are_given(inputs: Any, targets: Any) -> None:
    task = made(inputs, targets, CODES.numpy())
    x, y = task.whole()
    assert isinstance(x, Tensor)
    assert x.dtype == torch.float32
    torch.testing.assert_close(x, X)
    assert y.tolist() == Y.tolist()
    assert y.dtype == torch.int64
    assert (task.training_rows, task.labels) == (12, (0, 2))


def test_named_inputs_keep_their_names_and_order() -> None:
    task = made(Named(), None)
    inputs, targets = task.whole()
    assert task.input_names == ("words", "mask")
    assert isinstance(inputs, tuple)
    assert [tuple(part.shape) for part in inputs] == [(12, 4), (12, 2)]
    assert targets.tolist() == Y.tolist()


def test_what_cannot_be_read_is_said() -> None:
    class Odd(Named):
        def __getitem__(self, i: int) -> Any:
            return {"words": X[i]}

    for inputs, targets, words in (
        (X, None, "targets are missing"),
        (TensorDataset(X, Y), Y, "a dataset holds its targets"),
        (TensorDataset(X), None, r"an item of a dataset is \(input, target\)"),
        (Odd(), None, "none of label, labels, target"),
        ([["a"], ["b"]], Y, "inputs cannot be read as numbers"),
        (X, Y.float() + 0.5, "labels of classes are whole numbers"),
    ):
        with pytest.raises(InputError, match=words):
            made(inputs, targets)


OUT = torch.randn(12, 3, generator=torch.Generator().manual_seed(1))
ONE = OUT[:, :1]
BITS = (Y > 0).long()
LOSSES: list[tuple[Any, Tensor, Tensor, Any]] = [
    (nn.CrossEntropyLoss(), OUT, Y, nn.CrossEntropyLoss()),
    (nn.CrossEntropyLoss, OUT, Y, nn.CrossEntropyLoss()),
    (nn.CrossEntropyLoss(label_smoothing=0.1), OUT, Y, nn.CrossEntropyLoss(label_smoothing=0.1)),
    (functional.cross_entropy, OUT, Y.int(), lambda o, t: functional.cross_entropy(o, t.long())),
    (partial(functional.cross_entropy, label_smoothing=0.1), OUT, Y, nn.CrossEntropyLoss(label_smoothing=0.1)),
    (nn.CrossEntropyLoss(), OUT, functional.one_hot(Y % 3, 3), lambda o, t: nn.CrossEntropyLoss()(o, t.float())),
    (nn.MSELoss(), OUT, OUT + 1, nn.MSELoss()),
    (nn.MSELoss(), ONE, Y, lambda o, t: functional.mse_loss(o[:, 0], t.float())),
    (squared_error, ONE, Y.float(), lambda o, t: functional.mse_loss(o[:, 0], t)),
    (nn.SmoothL1Loss(reduction="none"), ONE[:, 0], Y, lambda o, t: functional.smooth_l1_loss(o, t.float())),
    (functional.l1_loss, ONE, Y.float()[:, None], nn.L1Loss()),
    (nn.BCEWithLogitsLoss(), ONE, BITS, lambda o, t: nn.BCEWithLogitsLoss()(o[:, 0], t.float())),
    (functional.binary_cross_entropy_with_logits, ONE[:, 0], BITS[:, None],
     lambda o, t: nn.BCEWithLogitsLoss()(o, t[:, 0].float())),
    (nn.BCELoss(), ONE.sigmoid(), BITS, lambda o, t: nn.BCELoss()(o[:, 0], t.float())),
    (lambda o, t: (o - t).abs().sum(-1), OUT, OUT + 1, lambda o, t: (o - t).abs().sum(-1).mean()),
]  # fmt: skip


@pytest.mark.parametrize(("loss", "outputs", "targets", "torchs"), LOSSES)
def test_losses_of_any_make_have_one_number_per_example(
    loss: Any, outputs: Tensor, targets: Tensor, torchs: Any
) -> None:
    found = per_example(loss)(outputs, targets)
    assert found.shape == (12,)
    torch.testing.assert_close(found.mean(), torchs(outputs, targets))


def test_what_a_loss_ignores_costs_nothing_and_is_no_label() -> None:
    most = int(Y.max())
    task = made(X, Y, loss=nn.CrossEntropyLoss(ignore_index=most))
    torch.testing.assert_close(task.losses(OUT, Y), functional.cross_entropy(OUT, Y, reduction="none") * Y.ne(most))
    assert task.labels == (int(Y.min()), most - 1)


def test_losses_whose_reduction_is_not_a_mean_are_refused_where_they_are_given() -> None:
    for loss, words in (
        (nn.CrossEntropyLoss(reduction="sum"), "CrossEntropyLoss sums over the batch; give it with reduction='none'"),
        (partial(functional.mse_loss, reduction="sum"), "mse_loss sums over the batch"),
        (nn.CrossEntropyLoss(weight=torch.ones(3)), "weighs examples"),
        (3, "a loss is a function of"),
    ):
        with pytest.raises(InputError, match=words):
            made(X, Y, loss=loss)
    with pytest.raises(InputError, match=r"needs an output per class, and the model gives \(12, 1\): for two classes"):
        made(X, Y, loss=nn.CrossEntropyLoss()).losses(ONE, Y)
    with pytest.raises(InputError, match=r"outputs have shape \(12, 3\) and targets \(12,\)"):
        made(X, Y, loss=nn.MSELoss()).losses(OUT, Y)


def table() -> pl.DataFrame:
    return pl.DataFrame({
        "shape": ["disc", "disc", "ring", "ring"] * 3, "size": [1, 2, 1, 2] * 3,
        "file": [f"{i}.png" for i in range(12)], "x": [float(i) for i in range(12)], "z": [1] * 12,
        "label": ["b", "a", "a", "a"] * 3,
        "part": ["train", "train", "train", "test"] * 2 + ["train", "test", "train", "test"],
    })  # fmt: skip


@pytest.mark.parametrize("kind", ["polars", "pandas", "csv"])
def test_a_table_becomes_a_task(kind: str, tmp_path: Path) -> None:
    given: Any = table()
    if kind == "pandas":
        given = pd.DataFrame(table().to_dict(as_series=False))
    elif kind == "csv":
        given = tmp_path / "t.csv"
        table().write_csv(given)
    how: dict[str, Any] = {"inputs": ["x", "z"], "split": "part=test", "loss": nn.CrossEntropyLoss()}
    task = FixedTask.from_table(given, ["shape", "size"], "label", **how)
    level = str if kind == "csv" else int
    assert task.space.names == ("shape", "size")
    assert [c["shape"] for c in task.test.explicit().combinations()] == ["ring"]
    assert (
        task.training_rows == 8
    )  # a row of the test part whose combination was trained on is asked about, not trained on
    inputs, targets = task.whole()
    assert isinstance(inputs, Tensor)
    assert inputs[:, 0].tolist() == [0, 1, 2, 4, 5, 6, 8, 10]
    assert targets.tolist() == [1, 0, 0, 1, 0, 0, 1, 0]
    assert level(task.space["size"].levels[1]) == level(2)  # type: ignore[index]
    assert task.held_out()[0][:, 0].tolist() == [9]  # type: ignore[call-overload, index]
    for change, words in (
        ({"split": "part=nothing"}, "must be 'nothing' in some rows and not in others"),
        ({"inputs": ["x", "file"]}, "the column 'file' holds no numbers"),
        ({"inputs": ["w"]}, "unknown column 'w'"),
    ):
        with pytest.raises(InputError, match=words):
            FixedTask.from_table(given, ["shape", "size"], "label", **how | change)


def test_a_column_of_file_names_is_read(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    for i in range(12):
        image.fromarray(np.full((2, 3, 3), i, dtype=np.uint8)).save(tmp_path / f"{i}.png")
    how: dict[str, Any] = {"inputs": "file", "split": "part=test", "loss": nn.CrossEntropyLoss(), "folder": tmp_path}
    task = FixedTask.from_table(table(), ["shape", "size"], "label", **how)
    inputs, _ = task.whole()
    assert isinstance(inputs, Tensor)
    assert inputs.shape == (8, 3, 2, 3)
    assert (inputs[3] * 255).unique().tolist() == [4]
    own = FixedTask.from_table(table(), ["shape", "size"], "label", **how, read=lambda path: [int(path.stem)])
    assert own.whole()[0][:, 0].tolist() == [0, 1, 2, 4, 5, 6, 8, 10]  # type: ignore[call-overload, index]
    (tmp_path / "3.png").unlink()
    with pytest.raises(InputError, match=r"3\.png' cannot be read: No such file"):
        FixedTask.from_table(table(), ["shape", "size"], "label", **how)
    image.fromarray(np.zeros((4, 4), dtype=np.uint8)).save(tmp_path / "3.png")
    with pytest.raises(InputError, match="arrays of one shape"):
        FixedTask.from_table(table(), ["shape", "size"], "label", **how)


def test_a_loader_that_shuffles_is_refused_as_combinations_stand_beside_its_rows() -> None:
    data = TensorDataset(X, Y)
    weighted = WeightedRandomSampler([1.0] * 12, 12)
    for loader in (DataLoader(data, batch_size=5, shuffle=True), DataLoader(data, sampler=weighted)):
        with pytest.raises(InputError, match=r"another order each time .* give loader.dataset"):
            made(loader, None)
    there_and_back = DataLoader(data, sampler=[*range(11, -1, -1)])
    assert made(there_and_back, None, CODES.flip(0)).training_rows == 12  # In an order of one's own, and always that.


def test_combinations_may_be_named_by_their_levels() -> None:
    space = FactorSpace.of(a=["x", "y"], b=["u", "v", "w"])
    records = space.decode(CODES.numpy())
    for named in (records, np.array([[r["a"], r["b"]] for r in records])):
        task = FixedTask(space, full(space), full(space), X, Y, named, cross_entropy, held_out=0)
        assert task._codes.tolist() == CODES.tolist()
    with pytest.raises(InputError, match="unknown level of factor 'a' 'z'"):
        FixedTask(space, full(space), full(space), X, Y, np.array([["z", "u"]] * 12), cross_entropy)
    with pytest.raises(InputError, match="targets are texts: give the number of each class"):
        made(X, np.array(["cat"] * 12))
