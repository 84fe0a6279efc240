"""What cannot be trained is said in one sentence, before training: shapes, labels, types, devices, losses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from trainees import TOY

from recombine.errors import InputError
from recombine.models import ByName, Perceptron
from recombine.space import FactorSpace
from recombine.support import full
from recombine.tasks import FixedTask
from recombine.training import SGD, Validation, pick_device, train

SPACE = FactorSpace.of(a=2, b=2)
X = torch.randn(16, 3, generator=torch.Generator().manual_seed(0))
Y = torch.arange(16) % 3


def rows(inputs: Any = X, targets: Any = Y, loss: Any = nn.CrossEntropyLoss, **more: Any) -> FixedTask:
    return FixedTask(SPACE, full(SPACE), full(SPACE), inputs, targets, SPACE.grid().repeat(4, 0), loss, **more)


def net(out: int = 3, features: int = 3) -> Any:
    return lambda: nn.Sequential(nn.Linear(features, 4), nn.Tanh(), nn.Linear(4, out))


class Returns(nn.Module):
    """Gives what a function makes of the outputs."""

    def __init__(self, made: Any) -> None:
        super().__init__()
        self.layer, self.made = nn.Linear(3, 3), made

    def forward(self, x: Tensor) -> Any:
        return self.made(self.layer(x))


class Words(nn.Module):
    """Takes its inputs by name and gives a dictionary, as models of transformers do."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.last = nn.Embedding(5, 4), nn.Linear(4, 3)

    def forward(self, input_ids: Tensor, labels: Tensor | None = None, mask: Tensor | None = None) -> dict[str, Tensor]:
        assert mask is not None
        return {"logits": self.last((self.table(input_ids) * mask[..., None]).mean(1))}


def go(model: Any, task: Any, **more: Any) -> Any:
    return train(model, task, **{"steps": 2, "batch_size": 4, "members": 2, "device": "cpu", **more})


NAMED = {"mask": torch.ones(16, 2), "input_ids": torch.arange(32).reshape(16, 2) % 5}
BAD: list[tuple[Any, str]] = [
    (lambda: go(net(features=4), rows()), "the model cannot be called with inputs (4, 3) of float32: mat1 and mat2"),
    (lambda: go(net(2), rows()), "labels go from 0 to 2, and the model has outputs 0 to 1"),
    (lambda: go(net(), rows(targets=Y - 1)), "labels go from -1 to 1, and the model has outputs 0 to 2"),
    (lambda: go(net(1), rows()), "needs an output per class, and the model gives (4, 1)"),
    (lambda: go(net(), rows(targets=X[:, :2], loss=nn.MSELoss)), "outputs have shape (4, 3) and targets (4, 2)"),
    (lambda: go(net(), rows(inputs=Y)), "the model cannot be called with inputs (4,) of int64"),
    (lambda: go(lambda: Returns(lambda o: (o, o)), rows()), "the model gives a tuple, and one tensor is trained on"),
    (lambda: go(lambda: Returns(lambda o: {"logits": o}), rows()), "the model gives a dict, and one tensor"),
    (lambda: go(lambda: Returns(lambda o: o.mean()), rows()), "outputs of shape () for 4 examples"),
    (lambda: go(lambda: Returns(lambda o: o.argmax(-1)), rows()), "the model gives torch.int64 outputs"),
    (lambda: go(net(), rows(loss=lambda o, t: functional.cross_entropy(o, t))), "the loss must be one number per ex"),
    (lambda: go(net(), rows(loss=lambda o, t: o.detach().sum(-1))), "does not depend on the outputs"),
    (lambda: go(net(), rows(loss=lambda o, t: o @ t)), "the loss cannot be taken of outputs (4, 3) and targets (4,)"),
    (lambda: go(Words, rows(inputs=NAMED)), "inputs are named mask, input_ids, and forward takes input_ids, labels"),
    (lambda: go(net(), X), "a task is an rc.FixedTask or another rc.Task"),
    (lambda: go("net", rows()), "a model is an nn.Module or a function that builds one"),
    (lambda: go(net(), rows(), members=2.0), "members must be a positive number or distinct member numbers, got 2.0"),
    (lambda: go(net(), rows(), members="2"), "members must be a positive number"),
    (lambda: go(net(), rows(), members=True), "members must be a positive number"),
    (lambda: go(net(), rows(), members=None), "members must be a positive number"),
    (lambda: go(net(), rows(), members=[0, 1.5]), "members must be a positive number"),
    (lambda: go(net(), rows(), steps=2.5), "steps must be a whole number from 0 on, got 2.5"),
    (lambda: go(net(), rows(), steps="9"), "steps must be a whole number from 0 on, got '9'"),
    (lambda: go(net(), rows(), steps=None), "give steps or epochs, and not both"),
    (lambda: go(net(), rows(), epochs=2), "give steps or epochs, and not both"),
    (lambda: go(net(), rows(), steps=None, epochs=-1), "epochs must be a number from 0 on"),
    (lambda: go(Perceptron(widths=(2, 2)), TOY, steps=None, epochs=1), "a ToyTask draws new examples without end"),
    (lambda: go(net(), rows(), batch_size=1.5), "batch_size must be a whole number from 1 on"),
    (lambda: go(net(), rows(), seed=0.5), "seed must be a whole number"),
    (lambda: go(net(), rows(), optimizer=0.1), "optimizer is rc.SGD"),
    (
        lambda: go(net(), rows(), init_scale=float("nan")),
        "init_scale must be a number, or one for each member; got nan",
    ),
    (lambda: go(net(), rows(), init_scale="big"), "init_scale must be a number"),
    (lambda: go(net(), rows(), device="mps"), "Apple's GPU (mps) has no 64-bit numbers"),
    (lambda: go(net(), rows(), device="meta"), "a meta device holds no numbers"),
    (lambda: go(net(), rows(), device=7.5), "there is no device '7.5'"),
    (lambda: go(net(), rows(), validation=Validation(every=0)), "every of a validation must be a whole number"),
    (lambda: go(net(), rows(), validation=Validation(), stop_below=0.1), "by validation or below a loss"),
    (lambda: go(net(), rows(held_out=0), validation=Validation()), "no row of a training combination is held out"),
]


@pytest.mark.parametrize(("call", "words"), BAD, ids=[words[:40] for _, words in BAD])
def test_it_is_said_in_a_sentence_before_training(call: Any, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recombine.training.strategies.Stacked.advance", lambda *_: pytest.fail("trained"))
    with pytest.raises(InputError) as told:
        call()
    assert words in str(told.value)
    assert "\n" not in str(told.value)
    assert str(told.value).endswith(".")


def test_a_cuda_device_that_is_not_among_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert pick_device("cuda:1") == torch.device("cuda:1")
    with pytest.raises(InputError, match="there are 2 CUDA devices here, and no 'cuda:2'"):
        pick_device("cuda:2")


BCE, MSE = functional.binary_cross_entropy_with_logits, functional.mse_loss


@pytest.mark.parametrize(
    ("targets", "loss", "out", "meant"),
    [
        ((Y > 0).long(), nn.BCEWithLogitsLoss, 1, lambda o, t: BCE(o[:, 0], t.to(o))),
        ((Y > 0).float()[:, None], nn.BCEWithLogitsLoss(), 1, lambda o, t: BCE(o, t.to(o))),
        (X[:, 0], nn.MSELoss(), 1, lambda o, t: MSE(o[:, 0], t.to(o))),
        (Y, functional.mse_loss, 1, lambda o, t: MSE(o[:, 0], t.to(o))),
        (Y.int(), functional.cross_entropy, 3, lambda o, t: functional.cross_entropy(o, t.long())),
        (Y.numpy().astype(np.uint8), nn.CrossEntropyLoss, 3, lambda o, t: functional.cross_entropy(o, t.long())),
    ],
    ids=["bce", "bce column", "regression", "whole numbers", "int32 labels", "bytes"],
)
@pytest.mark.parametrize("strategy", ["stacked", "loop"])
def test_one_output_and_whole_targets_are_trained_as_meant(
    targets: Any, loss: Any, out: int, meant: Any, strategy: str
) -> None:
    task = rows(targets=targets, loss=loss)
    how: dict[str, Any] = {"batch_size": None, "optimizer": SGD(0.1), "strategy": strategy, "dtype": torch.float64}
    start, after = go(net(out), task, steps=0, **how), go(net(out), task, steps=1, **how)
    inputs, wanted = task.whole()
    for i in range(2):
        module = start[i]
        found = meant(module(inputs.double()), wanted)  # type: ignore[union-attr]
        found.backward()
        assert float(after.history["loss"][i, 0]) == pytest.approx(float(found.detach()), rel=1e-9)
        weight = module[2].weight  # type: ignore[index]
        torch.testing.assert_close(after[i][2].weight, (weight - 0.1 * weight.grad))  # type: ignore[index, union-attr]


def test_named_inputs_are_handed_over_by_name() -> None:
    task = rows(inputs=NAMED)
    ensemble = go(lambda: ByName(Words(), task.input_names or ()), task)
    inputs, _ = task.whole()
    assert ensemble.predict(inputs).shape == (2, len(inputs[0]), 3)
    expected = ensemble[1].module(input_ids=inputs[1], mask=inputs[0])["logits"]
    torch.testing.assert_close(ensemble(*inputs)[1], expected.detach())


def test_epochs_go_through_the_rows() -> None:
    task = rows(held_out=0)
    assert go(net(), task, steps=None, epochs=3, batch_size=5).history["step"][-1] == 10  # 48 rows of 5
    assert go(net(), task, steps=None, epochs=3, batch_size=None).history["step"][-1] == 3
    same = go(net(), task, steps=10, batch_size=5)
    assert torch.equal(go(net(), task, steps=None, epochs=3, batch_size=5).flat, same.flat)
